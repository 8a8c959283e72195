# SPDX-License-Identifier: GPL-2.0
"""How fast the lab is: processor time in virtual time, the rate that is held in real time."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from pathlib import Path
from statistics import median

from rich.console import Console

from . import modules, plan, result, runner, suite, vm
from .backends import Uml, Vm, fill
from .cost import processor
from .errors import LabError
from .result import Json
from .scenario import Scenario

TOLERANCE = 0.01  # a rate is held that is met within this


def _describe(scenario: Scenario) -> Json:
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


def _children() -> float:
    """Processor seconds of the programs that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def virtual(
    scenarios: list[Scenario], repeat: int, console: Console, say: Callable[[str], None]
) -> Json:
    """Run each scenario `repeat` times, in turns, one at once: processor and wall seconds of
    the whole run, from the boot of its kernel to its end."""
    backend = Uml()
    backend.prepare(lambda text: None)
    cases = {one.name: _describe(one) | {"cpu_s": [], "wall_s": []} for one in scenarios}
    release = None
    with runner.run_directory() as scratch:
        for _ in range(repeat):
            for one in scenarios:
                (job,) = runner.jobs_for([one], one.seeds[:1], scratch)
                before = _children()
                runner.run([job], backend, workers=1, timeout=3600, console=console)
                case = cases[one.name]
                case["cpu_s"].append(round(_children() - before, 2))
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


def idle(data: Json) -> float:
    """Processor seconds of a run that is over before it sends anything: the boot of its kernel,
    the making of its network; 0 if none was measured."""
    found = [case for case in data["cases"] if case["seconds"] < 1]
    return median(found[0]["cpu_s"]) if found else 0.0


def per_packet(data: Json, case: Json) -> list[float]:
    """Microseconds of processor time for each packet through the bottleneck, without what a run
    takes that sends nothing."""
    return [(cpu - idle(data)) / case["packets"] * 1e6 for cpu in case["cpu_s"]]


def pace(data: Json, case: Json) -> float:
    """Virtual seconds of a full link in a second of one core, median."""
    full: float = case["rate_bps"] / 8 / case["mtu"]
    return 1e6 / median(per_packet(data, case)) / full


# --- real time

# What the guest's processor did, from before the traffic to after it.
_MAIN = """cat /proc/stat >stat.before
./bin/lfgen traffic >samples 2>&1 || exit
cat /proc/stat >stat.after
"""

# In the chroot, where a compiler is fast.
_BUILD = """set -e
cd /lab/source
make -C /lib/modules/*/build M=/lab/source
for run in /lab/run-*; do cp ./*.ko "$run"; done
"""


def ticks(text: str) -> tuple[int, int]:
    """Busy and all ticks of the first line of /proc/stat."""
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, text.split()[1:9])
    busy = user + nice + system + irq + softirq
    return busy, busy + idle + iowait + steal


def output(scenario: Scenario, samples: Path) -> tuple[int, float]:
    """What left the bottleneck in the measured time: bytes of IP, and over what it should."""
    rows = [row for row in result.read_samples(samples)["q"] if row[0] >= scenario.warmup - 1e-9]
    first, last = rows[0], rows[-1]
    sent = last[5] - first[5] - plan.ETHERNET * (last[4] - first[4])
    return sent, sent * 8 / (last[0] - first[0]) / scenario.link.rate


def _observe(scenario: Scenario, run: Path) -> Json:
    if not (run / "status").exists():
        error = (run / "error").read_text() if (run / "error").exists() else "no result"
        raise LabError(f"{scenario.name}: {error}")
    _, held = output(scenario, run / "samples")
    last = result.read_samples(run / "samples")["q"][-1]
    before, after = (ticks((run / f"stat.{when}").read_text()) for when in ("before", "after"))
    busy, passed = after[0] - before[0], after[1] - before[1]
    return {
        "held": round(held, 4),
        "busy": round(busy / passed, 4),
        "busy_s_per_gb": round(busy / 100 / (last[5] / 1e9), 3),
    }


def real(scenarios: list[Scenario], repeat: int, say: Callable[[str], None]) -> Json:
    """Run each scenario `repeat` times, in turns, in one virtual machine with Debian's own
    kernel: how much of its rate the bottleneck held, what the guest's processor did."""
    backend = Vm()
    backend.prepare(say)
    cases = {
        one.name: _describe(one) | {"held": [], "busy": [], "busy_s_per_gb": []}
        for one in scenarios
    }
    turns = [one for _ in range(repeat) for one in scenarios]
    with runner.run_directory() as scratch, runner.terminable():
        directories = []
        for number, one in enumerate(turns):
            run = scratch / f"run-{number:03}"
            run.mkdir()
            made = plan.make(one, one.seeds[0], prefix="lf", seeded=False)
            fill(run, made, one, backend, main=_MAIN)
            directories.append(run)
        modules.copy(modules.files(), scratch / "source")
        done = vm.run(
            'for run in /lab/run-*; do echo "$run"; sh "$run/run.sh" "$run"; done',
            suite=backend.suite,
            setup=_BUILD,
            binds=[(scratch, "/lab")],
            output=lambda line: say(line.strip()) if not line.startswith("/lab") else None,
            timeout=300 + 5 * sum(one.duration + 20 for one in turns),
        )
        if found := [line for line in done.dmesg.splitlines() if result.SPLAT.search(line)]:
            raise LabError(f"the kernel complained: {found[0]}")
        for one, run in zip(turns, directories, strict=True):
            observed = _observe(one, run)
            for key, value in observed.items():
                cases[one.name][key].append(value)
            say(
                f"{one.name}: {observed['held'] * 100:.1f} % of the rate, "
                f"processor {observed['busy'] * 100:.0f} % busy"
            )
    kvm = vm.kvm_works(suite.image(backend.suite))
    return {
        "processor": processor(),
        "kernel": suite.kernel(backend.suite),
        "accelerator": "kvm" if kvm else "tcg",
        "cases": list(cases.values()),
    }


def highest(cases: list[Json]) -> int:
    """The highest rate that was held in every run, as were all below it; 0 if none was."""
    best = 0
    for case in sorted(cases, key=lambda case: case["rate_bps"]):
        if any(abs(held - 1) > TOLERANCE for held in case["held"]):
            break
        best = case["rate_bps"]
    return best


def write(data: Json, path: Path) -> None:
    """Readable by people too: a line for each scenario."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(f"  {json.dumps(case)}" for case in data["cases"])
    head = "".join(
        f" {json.dumps(key)}: {json.dumps(value)},\n"
        for key, value in data.items()
        if key != "cases"
    )
    path.write_text(f'{{\n{head} "cases": [\n{rows}\n ]\n}}\n')
