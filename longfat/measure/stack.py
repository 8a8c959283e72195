# SPDX-License-Identifier: GPL-2.0
"""What carrying data costs with each congestion control: all that the processor does for it.

Debian's own kernel has sender, path and receiver in one guest with one processor, and says how
long that was idle.  Two guests: one whose clock is the real one, and one whose clock goes by one
for each instruction, so that the time it is busy is a count.  Algorithms take turns, and one that
sends a single byte tells what the guest does anyway.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles

from longfat.build import modules
from longfat.core.errors import LabError
from longfat.machines import suite, vm
from longfat.measure import cost
from longfat.measure.speed import describe, measured_in
from longfat.run import plan, runner
from longfat.run.backends import Vm, fill
from longfat.run.result import Json
from longfat.run.scenario import Scenario

NOTHING = "-"  # the turn that sends one byte
# Cubic where the device takes three packets at a time; composite's bursts are of two or three.
BURSTS, BURST = "cubic, bursts of 3", 3
KINDS = ("counted", "real")

# /proc/timer_list has idle time to the nanosecond.  Files of the host are another machine's work,
# and while the guest waits for one, a clock that jumps when it is idle runs away: so what runs
# between two readings is in memory, or the shell's own.
_MAIN = r"""for cc in {in_tree}; do modprobe -q "tcp_$cc"; done
unset LFGEN_PROGRESS
mkdir turns
cp bin/lfgen /tmp
timers() {{
	while IFS= read -r line; do
		printf '%s\n' "$line"
	done </proc/timer_list
}}
for turn in {turns}; do
	for cc in {names}; do
		cp "traffic$cc" /tmp/plan
		segs=65535
		[ "$cc" != "{bursts}" ] || segs={burst}
		ip -n lf-s0 link set eth0 gso_max_segs "$segs" || exit 1
		sleep 0.5
		timers >/tmp/before
		/tmp/lfgen /tmp/plan >/tmp/samples 2>&1 || {{ cp /tmp/samples .; exit 1; }}
		timers >/tmp/after
		for file in before samples after; do cp /tmp/$file "turns/$turn$cc.$file"; done
		echo "$turn: $cc"
	done
done
"""


def clocks(text: str) -> tuple[int, int]:
    """Nanoseconds that passed and that its only processor was idle, of /proc/timer_list."""
    now = re.search(r"^now at (\d+) nsecs", text, re.M)
    idle = re.findall(r"^\s*\.(?:idle|iowait)_sleeptime\s*: (\d+) nsecs", text, re.M)
    if not now or len(idle) != 2:
        raise LabError("/proc/timer_list of the guest does not say how long it was idle")
    return int(now[1]), sum(map(int, idle))


def busy(before: str, after: str) -> tuple[int, int]:
    """Nanoseconds between the two that the processor was busy, and all."""
    (began, idle), (ended, later) = clocks(before), clocks(after)
    return ended - began - (later - idle), ended - began


def received(samples: Path) -> int:
    """Bytes that the receiver got, in order; what is sent again counts once."""
    rows = [line.split() for line in samples.read_text().splitlines() if line.startswith("f ")]
    return int(rows[-1][8])


def observe(run: Path, names: list[str], turns: int, seconds: float) -> Json:
    """Name -> nanoseconds busy, which share of the time that was, bytes carried; each turn.

    Where the guest's clock went on by more than a second beyond `seconds` of traffic it waited
    for its host, and what it does meanwhile would count as carrying data: such a turn is left
    out.  LabError for a name that has no other.
    """
    found: Json = {}
    for name in names:
        case = found[name] = {"busy_ns": [], "busy": [], "bytes": []}
        passed = 0
        for turn in range(turns):
            stem = f"{turn}-{name}"
            before, after = (
                (run / f"turns/{stem}.{when}").read_text() for when in ("before", "after")
            )
            used, passed = busy(before, after)
            if passed > (seconds + 1) * 1e9:
                continue
            case["busy_ns"].append(used)
            case["busy"].append(round(used / passed, 4))
            case["bytes"].append(received(run / f"turns/{stem}.samples"))
        if not case["bytes"]:
            raise LabError(
                f"{name}: the guest's clock went on by {passed / 1e9:.1f} s in {seconds:g} s "
                f"of traffic, in each of {turns} turns, so it waited for its host: measure again"
            )
    return found


def _guest(one: Scenario, turns: int, say: Callable[[str], None], *, counted: bool) -> Json:
    """All turns in one guest; `counted`: in the one whose clock counts instructions."""
    backend = Vm()
    backend.prepare(say)
    (flow,) = one.flow
    algorithms = sorted(modules.algorithms())
    names = [NOTHING, *algorithms, BURSTS]
    # A guest loads the modules of its flows.
    every = one.model_copy(
        update={"flow": [flow.model_copy(update={"cc": cc}) for cc in algorithms]}
    )
    with runner.run_directory() as run, runner.terminable():
        main = _MAIN.format(
            in_tree=" ".join(sorted(modules.IN_TREE - {"reno"})),
            turns=" ".join(map(str, range(turns))),
            names=" ".join(shlex.quote(f"-{name}") for name in names),
            bursts=f"-{BURSTS}",
            burst=BURST,
        )
        fill(run, plan.make(one, 1, prefix="lf", virtual=False), every, backend, main=main)
        for name in names:
            special: Json = {NOTHING: {"bytes": 1}, BURSTS: {"cc": "cubic"}}
            limit = special.get(name, {"cc": name})
            this = one.model_copy(update={"flow": [flow.model_copy(update=limit)]})
            made = plan.make(this, 1, prefix="lf", virtual=False)
            (run / f"traffic-{name}").write_text(made.traffic)
        measured_in(
            backend,
            run,
            output=lambda line: say(line.strip()),
            timeout=900 + 4 * turns * len(names) * (one.duration + 5),
            **(vm.COUNTED if counted else {"cpus": 1}),
        )
        return observe(run, names, turns, one.duration)


def measure(
    scenarios: list[Scenario], turns: int, say: Callable[[str], None], *, real: bool = True
) -> Json:
    """All of it, as docs/results/stack-cost.json has it, of the cases `counted` and `real`; the
    latter, which other work on the machine disturbs, only if asked for."""
    cases = {one.case_name: one for one in scenarios}
    if sorted(cases) != sorted(KINDS):
        raise LabError(f"what carrying data costs needs the cases {' and '.join(KINDS)}")
    for one in scenarios:
        traffic = [flow.count * flow.parallel for flow in one.flow] + [1] * len(one.udp + one.short)
        if traffic != [1]:
            raise LabError(f"{one.name}: all that is sent must be one flow's, whose cost it is")
    stamp = modules.stamp()
    return {
        "processor": cost.processor(),
        "kernel": suite.kernel(Vm.suite),
        "accelerator": "kvm" if vm.kvm_works(suite.image(Vm.suite)) else "tcg",
        **stamp,
        "paths": {kind: describe(cases[kind]) for kind in KINDS},
        **{
            kind: _guest(cases[kind], turns, say, counted=kind == "counted")
            for kind in KINDS
            if real or kind == "counted"
        },
    }


def write(data: Json, path: Path) -> None:
    """As what an ACK costs."""
    cost.write(data, path, KINDS)


# --- tables


def quartiles(values: list[float]) -> list[float]:
    """Lower quartile, median, upper quartile."""
    return quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def per_byte(cases: Json, cc: str) -> list[float]:
    """Nanoseconds, or instructions, for each byte that arrived, without what the guest does
    anyway: turn by turn.  They are seconds for a GB, too."""
    nothing = quartiles(cases[NOTHING]["busy_ns"])[1]
    case = cases[cc]
    return [
        (used - nothing) / carried
        for used, carried in zip(case["busy_ns"], case["bytes"], strict=True)
    ]


def order(data: Json) -> list[str]:
    """Ours, and the kernel's."""
    names = sorted(cc for cc in data["counted"] if cc != NOTHING)
    return sorted(names, key=lambda cc: cc not in data["modules"])


def goodput(data: Json, kind: str, cc: str) -> float:
    """Mbit/s of payload, median."""
    seconds: float = data["paths"][kind]["seconds"]
    return quartiles(data[kind][cc]["bytes"])[1] * 8e-6 / seconds


def table(data: Json) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: for a byte, in instructions and, if measured, in emulated time."""
    rival = quartiles(per_byte(data["counted"], "cubic"))[1]
    rows = []
    for cc in order(data):
        count = per_byte(data["counted"], cc)
        middle = quartiles(count)[1]
        row = [
            cc,
            f"{goodput(data, 'counted', cc):.1f}",
            f"{middle:.2f}" + f" ({min(count):.2f}-{max(count):.2f})" * (len(count) > 1),
            f"{100 * (middle / rival - 1):+.1f}",
        ]
        if "real" in data:
            first, second, third = quartiles(per_byte(data["real"], cc))
            row.append(f"{second:.1f} ({first:.1f}-{third:.1f})")
        rows.append(row)
    heads = ["", "Mbit/s", "instructions\nfor a byte", "% over\nCubic"]
    return heads + ["emulated s\nfor a GB"] * ("real" in data), rows
