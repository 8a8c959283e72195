# SPDX-License-Identifier: GPL-2.0
"""How fast the lab is: processor time in virtual time, the rate that is held in real time."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from longfat.core.errors import LabError
from longfat.machines import suite, vm
from longfat.measure.cost import processor
from longfat.run import plan, result, runner
from longfat.run.backends import Uml, Vm, fill
from longfat.run.disciplines import ETHERNET
from longfat.run.result import Json
from longfat.run.scenario import Scenario

PRESSURE = Path("/proc/pressure/cpu")
TOLERANCE = 0.01  # a rate is held that is met within this


def describe(scenario: Scenario) -> Json:
    """What a row of a table is called by."""
    return {
        "name": scenario.name,
        "rate_bps": scenario.link.rate,
        "mtu": scenario.link.mtu,
        "cc": scenario.flow[0].cc,
        "flows": sum(flow.count * flow.parallel for flow in scenario.flow),
        "rtt_ms": round(scenario.flow[0].rtt * 1e3, 3),
        "seconds": scenario.duration,
    }


# --- virtual time


def children() -> float:
    """Processor seconds of the programs that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spent(backend: Uml, run: Path, made: plan.Plan, one: Scenario) -> tuple[float, int]:
    """Carry out a scenario by this plan of it in the empty directory `run`: processor seconds,
    from the boot of its kernel to its end, and packets through the bottleneck; LabError if it
    failed there."""
    fill(run, made, one, backend)
    before = children()
    backend.execute(run, one, one.seeds[0], timeout=3600)
    after = children()
    if (run / "error").exists():
        raise LabError(f"{one.name}: {(run / 'error').read_text().strip()}")
    return after - before, result.read_samples(run / "samples")["q"][-1][4]


def virtual(
    scenarios: list[Scenario], repeat: int, console: Console, say: Callable[[str], None]
) -> Json:
    """Run each scenario `repeat` times, in turns, one at once: processor and wall seconds of
    the whole run, from the boot of its kernel to its end."""
    backend = Uml()
    backend.prepare(lambda text: None)
    cases = {one.name: describe(one) | {"cpu_s": [], "wall_s": []} for one in scenarios}
    release = None
    with runner.run_directory() as scratch:
        for _ in range(repeat):
            for one in scenarios:
                (job,) = runner.jobs_for([one], one.seeds[:1], scratch)
                before = children()
                runner.run([job], backend, workers=1, timeout=3600, console=console)
                case = cases[one.name]
                case["cpu_s"].append(round(children() - before, 2))
                case["wall_s"].append(round(job.wall, 2))
                if case.setdefault("packets", job.packets) != job.packets:
                    raise LabError(f"{one.name}: {job.packets} packets, {case['packets']} before")
                release = result.read(job.path)["kernel"]
                say(
                    f"{one.name}: {one.duration / case['cpu_s'][-1]:.2f} virtual s and "
                    f"{job.packets / case['cpu_s'][-1]:.0f} packets per processor s "
                    f"({one.duration:.0f} virtual s, {case['cpu_s'][-1]:.1f} s of processor, "
                    f"{job.wall:.1f} s of wall)"
                )
    return {"processor": processor(), "kernel": release, "cases": list(cases.values())}


def sending(data: Json) -> list[Json]:
    """The cases that send; another is over before it does."""
    return [case for case in data["cases"] if case["seconds"] >= 1]


def starting(data: Json) -> Json | None:
    """The case that is over before it sends: the boot of its kernel, the making of its network."""
    return next((case for case in data["cases"] if case["seconds"] < 1), None)


def idle(data: Json) -> float:
    """Processor seconds of a run that sends nothing; 0 if none was measured."""
    found = starting(data)
    return median(found["cpu_s"]) if found else 0.0


def per_packet(data: Json, case: Json) -> list[float]:
    """Microseconds of processor time for each packet through the bottleneck, without what a run
    takes that sends nothing."""
    return [(cpu - idle(data)) / case["packets"] * 1e6 for cpu in case["cpu_s"]]


def pace(data: Json, case: Json) -> float:
    """Virtual seconds of a full link in a second of one core, median."""
    full: float = case["rate_bps"] / 8 / case["mtu"]
    return 1e6 / median(per_packet(data, case)) / full


# --- real time

# A network takes an emulated guest a minute to build: it is built once, and only its bottleneck
# replaced.  Files of the host are another machine's work, so what is measured writes to memory.
_MAIN = """unset LFGEN_PROGRESS
ns=lf-r dev=bottleneck
cp bin/lfgen /tmp
for case in case-*; do
	tc -n $ns qdisc del dev $dev root
	. "./$case/bottleneck"
	cp "$case/traffic" /tmp/plan
	cat /proc/stat >/tmp/stat.before
	/tmp/lfgen /tmp/plan >/tmp/samples 2>&1 || { cp /tmp/samples .; exit 1; }
	cat /proc/stat >/tmp/stat.after
	cp /tmp/samples /tmp/stat.* "$case"
	echo "$case"
	sleep 1
done
"""


def network(one: Scenario) -> Json:
    """What a scenario needs besides its bottleneck and its traffic."""
    flows = [{"rtt": flow.rtt, "access": flow.access} for flow in one.flow]
    link = one.link.model_dump(exclude={"rate", "buffer"})
    rest = one.model_dump(include={"host", "udp", "short", "module"})
    return {"link": link, "flow": flows, "algorithms": sorted(one.algorithms), **rest}


def waited() -> float | None:
    """Seconds since the boot in which a program of this machine waited for a processor."""
    if not PRESSURE.exists():
        return None
    return int(PRESSURE.read_text().split("total=")[1].split()[0]) / 1e6


def ticks(text: str) -> tuple[int, int]:
    """Busy and all ticks of the first line of /proc/stat."""
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, text.split()[1:9])
    busy = user + nice + system + irq + softirq
    return busy, busy + idle + iowait + steal


def output(scenario: Scenario, samples: Path) -> tuple[int, float]:
    """What left the bottleneck in the measured time: bytes of IP, and over what it should."""
    rows = [row for row in result.read_samples(samples)["q"] if row[0] >= scenario.warmup - 1e-9]
    first, last = rows[0], rows[-1]
    sent = last[5] - first[5] - ETHERNET * (last[4] - first[4])
    return sent, sent * 8 / (last[0] - first[0]) / scenario.link.rate


def _observe(scenario: Scenario, case: Path) -> Json:
    _, held = output(scenario, case / "samples")
    last = result.read_samples(case / "samples")["q"][-1]
    before, after = (ticks((case / f"stat.{when}").read_text()) for when in ("before", "after"))
    busy, passed = after[0] - before[0], after[1] - before[1]
    return {
        "held": round(held, 4),
        "busy": round(busy / passed, 4),
        "busy_s_per_gb": round(busy / 100 / (last[5] / 1e9), 3),
    }


def measured_in(backend: Vm, run: Path, **options: Any) -> None:
    """Carry out `run` in a virtual machine; LabError if something went wrong there."""
    done = backend.boot(run, **options)
    if not (run / "status").exists():
        error = (run / "error").read_text().strip() if (run / "error").exists() else ""
        raise LabError(f"nothing was measured: {(error or done.stdout)[-2000:]}")
    if found := [line for line in done.dmesg.splitlines() if result.SPLAT.search(line)]:
        raise LabError(f"the kernel complained: {found[0]}")


def real(scenarios: list[Scenario], repeat: int, say: Callable[[str], None]) -> Json:
    """Run each scenario `repeat` times, in turns, on one network in one virtual machine with
    Debian's own kernel: how much of its rate the bottleneck held, what the guest's processor
    did."""
    backend = Vm()
    backend.prepare(say)
    widest = max(scenarios, key=lambda one: one.bdp + one.buffer_packets * one.link.mtu)
    for one in scenarios:
        if network(one) != network(widest):
            raise LabError(
                f"{one.name}, {widest.name}: the network is built once, so only link.rate, "
                f"link.buffer and the number of flows may differ"
            )
    cases = {
        one.name: describe(one) | {"held": [], "busy": [], "busy_s_per_gb": []} for one in scenarios
    }
    turns = [one for _ in range(repeat) for one in scenarios]
    with runner.run_directory() as run, runner.terminable():
        made = plan.make(widest, 1, prefix="lf", virtual=False)
        fill(run, made, widest, backend, main=_MAIN)
        for number, one in enumerate(turns):
            case = run / f"case-{number:03}"
            case.mkdir()
            (case / "bottleneck").write_text("\n".join(plan.bottleneck(one)) + "\n")
            traffic = plan.make(one, one.seeds[0], prefix="lf", virtual=False).traffic
            (case / "traffic").write_text(traffic)
        began, pressed = time.monotonic(), waited()
        measured_in(backend, run, timeout=600 + 2 * sum(one.duration + 10 for one in turns))
        ended = waited()
        for number, one in enumerate(turns):
            observed = _observe(one, run / f"case-{number:03}")
            for key, value in observed.items():
                cases[one.name][key].append(value)
            say(
                f"{one.name}: {observed['held'] * 100:.1f} % of the rate, "
                f"processor {observed['busy'] * 100:.0f} % busy"
            )
    pressure = None
    if pressed is not None and ended is not None:
        pressure = round((ended - pressed) / (time.monotonic() - began), 3)
    kvm = vm.kvm_works(suite.image(backend.suite))
    return {
        "processor": processor(),
        "kernel": suite.kernel(backend.suite),
        "accelerator": "kvm" if kvm else "tcg",
        "waited": pressure,
        "cases": list(cases.values()),
    }


def highest(cases: list[Json]) -> dict[int, int]:
    """Number of flows -> the highest rate in bit/s that was held in every run of so many, as were
    all below it; 0 if none was."""
    best = dict.fromkeys(sorted(case["flows"] for case in cases), 0)
    failed: set[int] = set()
    for case in sorted(cases, key=lambda case: case["rate_bps"]):
        if any(abs(held - 1) > TOLERANCE for held in case["held"]):
            failed.add(case["flows"])
        elif case["flows"] not in failed:
            best[case["flows"]] = case["rate_bps"]
    return best


def write(data: Json, path: Path, *tables: str) -> None:
    """Readable by people too: a line for each entry of the lists `tables` ("cases")."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for key, value in data.items():
        text = json.dumps(value)
        if key in (tables or ("cases",)):
            text = "[\n" + ",\n".join(f"  {json.dumps(entry)}" for entry in value) + "\n ]"
        lines.append(f" {json.dumps(key)}: {text}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
