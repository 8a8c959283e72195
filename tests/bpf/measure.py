#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What ltcp and ghstcp cost as BPF, beside the modules, on Debian's kernels.

    scripts/longfat python tests/bpf/measure.py OUT [SUITE|beside|here...]

Each kernel runs in an emulator in which time is counted in instructions: what the verifier looks
at, how long a load takes and what an ACK costs repeat exactly.  "beside" is a scenario of the lab,
with the modules and with BPF, in the same emulator.  "here" is this machine's kernel, in real time
and as root; of it there are no modules to be compared.  A kernel that is measured again replaces
what OUT has of it.  MEGABYTES in the environment makes for shorter recordings
(tests/stock/bpf.sh).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from longfat.build import modules
from longfat.core import root, scratch
from longfat.core.errors import LabError
from longfat.machines import vm
from longfat.measure import cost
from longfat.run import result
from longfat.run.result import Json, write_whole

HERE = Path(__file__).resolve().parent
SUITES = ("bookworm", "trixie", "sid")
ALGORITHMS = ("ghstcp", "ltcp")

BUILD = """set -e
cp -r /lab/source /src
cd /src
make -C /lib/modules/*/build M=/src modules
make -C /lib/modules/*/build M=/src/tests/bench modules
make -C /lib/modules/*/build M=/src/tests/bpf/kernel modules
tests/bpf/build.sh /bpf
cp *.ko tests/bench/ack_cost.ko tests/bpf/kernel/lf_replay.ko /bpf
kernel=$(basename /lib/modules/*)
mkdir /lib/modules/"$kernel"/updates
cp *.ko /lib/modules/"$kernel"/updates
depmod "$kernel"
"""


def source(to: Path) -> None:
    """Copy what is built."""
    parts = ["bpf/**/*", "tests/bpf/**/*", "tests/shim/*/*.h", "tests/stock/*"]
    found = [path for part in parts for path in modules.ROOT.glob(part)]
    modules.copy([*modules.files(tests="bench"), *(p for p in found if p.is_file())], to)


def loads(text: str) -> tuple[Json, Json]:
    """Of each algorithm: the instructions that the verifier looked at, of each hook; and what
    its load took of the processor, the least of all loads, in ms, which are millions of
    instructions where these are counted.  What it waits for others is not in it."""
    verified: Json = {}
    took: Json = {}
    name = ""
    for line in text.splitlines():
        if found := re.fullmatch(r"lf_(\w+): (\d+) instructions verified", line):
            verified[name][found[1]] = int(found[2])
        elif found := re.fullmatch(r"loaded in \d+ ms, (\d+) of them the processor's", line):
            took[name] = min(took.get(name, int(found[1])), int(found[1]))
        else:
            name = line
            verified[name] = {}
    if set(verified) != set(took) or set(took) != set(ALGORITHMS):
        raise LabError(f"longfat-bpf -v load said {text!r}")
    return verified, took


def replayed(text: str) -> Json:
    """Of each algorithm and of who did its recorded calls again: how many there were, of each
    hook.  That all of them did what they did is what the case asserts."""
    found: Json = {}
    names = re.findall(r"^ok \d+ - same (\w+)$", text, re.M)
    said = re.findall(r"^# (\w+): (\d+) calls equal: (.*), \d+ connections$", text, re.M)
    if len(said) != 3 * len(ALGORITHMS) or tuple(names) != ALGORITHMS:
        raise LabError(f"the case same said {text!r}")
    for at, (who, calls, hooks) in enumerate(said):
        words = hooks.split()
        counts = {"calls": int(calls)} | dict(zip(words[::2], map(int, words[1::2]), strict=True))
        found.setdefault(names[at // 3], {})[who] = counts
    return found


def instructions(file: Path) -> Json:
    """Of each algorithm what an ACK takes; the kernel's Reno is "reno" in both files, also where
    its hooks are BPF."""
    found = cost.per_ack(cost.parse(file.read_text()))
    found["reno"] = found.pop("reno_by_bpf", found["reno"])
    return {
        cc: {phase: values[1] for phase, values in found[cc].items()}
        for cc in (*ALGORITHMS, "reno")
    }


def nanoseconds(text: str) -> Json:
    """Algorithm -> what a call of cong_avoid takes, of the connection where it took least: what
    else this machine does is in the others."""
    found: Json = {}
    for line in text.splitlines():
        cc, calls, ns = line.split()
        found.setdefault(cc, []).append(int(ns) / int(calls))
    return {cc: round(min(values)) for cc, values in found.items()}


def read(run: Path) -> tuple[str, Json]:
    """What measure.sh left there: the kernel, and what is known of it."""
    verified, took = loads((run / "loads").read_text())
    rows = dict(line.split() for line in (run / "writable").read_text().splitlines())
    writable = {name.removeprefix("writable-"): said == "yes" for name, said in rows.items()}
    if not writable["snd_cwnd"]:
        raise LabError("BPF cannot even write snd_cwnd: what is wrong?")
    found: Json = {"verified": verified, "load": took, "writable": writable}
    if (run / "timed").exists():
        found["ns"] = nanoseconds((run / "timed").read_text())
    if (run / "module").exists():
        found["replayed"] = replayed((run / "same").read_text())
        found["instructions"] = {kind: instructions(run / kind) for kind in ("module", "bpf")}
        found["alike"] = {
            kind: cost.alike(cost.parse((run / kind).read_text())) for kind in ("module", "bpf")
        }
    return (run / "kernel").read_text().strip(), found


def counted(name: str) -> tuple[str, Json]:
    """The kernel of Debian's suite `name`."""
    megabytes = os.environ.get("MEGABYTES", "")
    with scratch.directory("stock") as run:
        source(run / "source")
        done = vm.run(
            f"MEGABYTES={megabytes} sh /lab/source/tests/bpf/measure.sh /bpf /lab",
            suite=name,
            setup=BUILD,
            binds=[(run, "/lab")],
            timeout=3000,
            **vm.COUNTED,
        )
        if done.returncode:
            raise LabError(f"{name}: {done.stdout[-2000:]}")
        return read(run)


def windows(run: Json) -> dict[int, tuple[int, int]]:
    """Packets that were acknowledged -> window and ssthresh then, as the samples show them."""
    seen = run["flows"][0]["connections"][0]
    rows = zip(seen["delivered"], seen["cwnd"], seen["ssthresh"], strict=True)
    return {delivered: (cwnd, ssthresh) for delivered, cwnd, ssthresh in rows}


def compared(a: Json, b: Json) -> Json:
    """At how many acknowledgments both runs were seen, at how many of them with the same window,
    and by how many packets it differed at most."""
    one, other = windows(a), windows(b)
    seen = one.keys() & other.keys()
    return {
        "acknowledgments": len(seen),
        "same": sum(one[at] == other[at] for at in seen),
        "most": max(abs(one[at][0] - other[at][0]) for at in seen),
    }


def beside() -> Json:
    """One scenario with the modules, with the modules once more, and with BPF, on the same
    kernel.  What two runs of a module differ by is the emulator's."""
    found: Json = {}
    with scratch.directory("stock") as run:
        make = ["make", "-C", str(modules.ROOT / "bpf"), f"B={run / 'built'}"]
        given = [f"--bpf={run / 'built' / f'{cc}.bpf.o'}" for cc in ALGORITHMS]
        lab = [str(modules.ROOT / "scripts/longfat"), "run", str(HERE / "beside.toml")]
        lab += ["--backend", "vm-counted", "--timeout", "3000", "-o"]
        kinds = {"module": [], "again": [], "bpf": given}
        for command in (make, *([*lab, str(run / kind), *kinds[kind]] for kind in kinds)):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise LabError(f"beside: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        files = [sorted((run / kind).glob("*.json")) for kind in kinds]
        for several in zip(*files, strict=True):
            of = dict(zip(kinds, map(result.read, several), strict=True))
            flow = of["module"]["flows"][0]
            found[flow["cc"]] = {
                "again": compared(of["module"], of["again"]),
                "bpf": compared(of["module"], of["bpf"]),
                "retransmissions": {
                    kind: one["flows"][0]["retransmissions"] for kind, one in of.items()
                },
            }
            found["kernel"] = of["module"]["kernel"]
    return found


def here() -> tuple[str, Json]:
    """This machine's kernel."""
    with scratch.directory("stock") as run:
        source(run / "source")
        for command in (
            [str(run / "source/tests/bpf/build.sh"), str(run / "bpf")],
            root.as_root(["sh", str(HERE / "measure.sh"), str(run / "bpf"), str(run)]),
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise LabError(f"here: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        kernel, found = read(run)
        found |= {"processor": cost.processor(), "modules": Path("/proc/modules").exists()}
        # What else whoever built it calls it is of no use to others.
        return kernel.partition("-")[0], found


def main(out: Path, names: list[str]) -> int:
    data: Json = json.loads(out.read_text()) if out.exists() else {"kernels": {}}
    stamp = modules.stamp()
    stamp["modules"] = {cc: stamp["modules"][cc] for cc in ALGORITHMS}
    if data.get("modules") not in (None, stamp["modules"]):
        data = {"kernels": {}}  # of other modules
    data |= stamp
    for name in names:
        if name == "beside":
            data["beside"] = beside()
            write_whole(json.dumps(data, indent=1) + "\n", out)
            continue
        kernel, found = here() if name == "here" else counted(name)
        data["kernels"] = {
            known: what for known, what in data["kernels"].items() if what["of"] != name
        }
        data["kernels"][kernel] = {"of": name, **found}
        write_whole(json.dumps(data, indent=1) + "\n", out)
        print(f"{name}: {kernel}", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), sys.argv[2:] or [*SUITES, "beside"]))
    except (IndexError, LabError) as error:
        sys.exit(f"measure: {error if isinstance(error, LabError) else __doc__}")
