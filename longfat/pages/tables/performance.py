# SPDX-License-Identifier: GPL-2.0
"""The figures of docs/performance.md."""

from __future__ import annotations

from longfat.measure import cost, stack
from longfat.pages import data as results
from longfat.pages.data import markdown, older
from longfat.pages.tables.speed import rate
from longfat.run.result import Json

# Against this one each of ours is held; kinds of ACKs in which it is.
RIVAL = "cubic"
GROWING = ("slow_start", "avoidance", "recovery")


def costs() -> Json:
    """docs/results/ack-cost.json."""
    return results.measured("ack-cost")


def ours(data: Json) -> list[str]:
    """Our algorithms, as tables call them."""
    return [cc for cc in cost.order(data) if cc in data["modules"] or cc == "composite-1"]


def measured() -> str:
    """What it was measured with."""
    data = costs()
    kernel, repeat = data["kernel"], ""
    if "alike" in data:
        same, batches = data["alike"]
        repeat = f", medians of {cost.COUNTED}, which were the same in {same} of {batches} cases"
    return (
        f"Measured on: {data['processor']}; nanoseconds on Linux {kernel['ns']}, medians of "
        f"{data['rounds']} batches; instructions on Debian's {kernel['instructions']}{repeat}."
    )


def phases() -> str:
    """Time and instructions of all algorithms, at a typical window."""
    return markdown(*cost.table(costs()))


def _counts(cc: str, kinds: list[str]) -> list[str]:
    counts = costs()["instructions"][cc]
    return [f"{counts[kind]:.0f}" if kind in counts else "" for kind in kinds]


def windows() -> str:
    """Instructions in congestion avoidance over the window."""
    data = costs()
    sizes = [10**n for n in range(1, 7)]
    kinds = [f"avoidance {w} {cost.TYPICAL[1]}" for w in sizes]
    rows = [[cc, *_counts(cc, kinds)] for cc in [*ours(data), RIVAL, "reno", "bbr"]]
    return markdown(["window", *(f"10^{n}" for n in range(1, 7))], rows)


def stretch() -> str:
    """Instructions in congestion avoidance over what an ACK acknowledges."""
    data = costs()
    kinds = [f"avoidance {w} {acked}" for w in (100, 10000) for acked in (1, 2, 8, 64)]
    heads = [f"{w}, {acked}" for w in (100, 10000) for acked in (1, 2, 8, 64)]
    rows = [[cc, *_counts(cc, kinds)] for cc in [*ours(data), RIVAL, "reno", "bbr"]]
    return markdown(["window, packets acknowledged", *heads], rows)


def ratios(data: Json, cc: str, phase: str, window: int = 0) -> list[float]:
    """Instructions of an algorithm over those of RIVAL: the kinds of ACKs of a phase, from a
    window on."""
    rival = data["instructions"][RIVAL]
    return [
        count / rival[kind]
        for kind, count in data["instructions"][cc].items()
        if kind.split()[0] == phase and int(kind.split()[1]) >= window
    ]


def goal() -> str:
    """Ours against Cubic: from the best to the worst kind of ACK."""
    data = costs()
    rows = []
    for cc in ours(data):
        row = [cc]
        for phase in GROWING:
            found = ratios(data, cc, phase)
            row.append(f"{min(found):.2f} to {max(found):.2f}")
        rows.append([*row, f"{max(ratios(data, cc, 'avoidance', 10000)):.2f}"])
    heads = ["over Cubic", *(phase.replace("_", " ") for phase in GROWING)]
    return markdown([*heads, "avoidance from 10^4 packets on, worst"], rows)


def with_core(data: Json, cc: str, phase: str) -> tuple[float, float, float]:
    """What the kernel does for an ACK with this algorithm over what it does with RIVAL, where the
    core does its part unless the algorithm has cong_control: nanoseconds and instructions at the
    typical window, and instructions of the worst kind of ACK."""

    def both(table: str, cc: str, kind: str) -> float:
        parts = [cc] if cc in data["control"] else [cc, cost.CORE]
        found = [data[table][part][kind] for part in parts]
        return float(sum(values[1] if table == "ns" else values for values in found))

    def over(table: str, kind: str) -> float:
        return both(table, cc, kind) / both(table, RIVAL, kind)

    typical = f"{phase} {cost.TYPICAL[0]} {cost.TYPICAL[1]}"
    kinds = [kind for kind in data["instructions"][cc] if kind.split()[0] == phase]
    worst = max(over("instructions", kind) for kind in kinds)
    return over("ns", typical), over("instructions", typical), worst


def whole_goal() -> str:
    """Ours and what the core does for them against Cubic and what it does for that."""
    data = costs()
    rows = [
        [cc, *(f"{value:.2f}" for phase in GROWING for value in with_core(data, cc, phase))]
        for cc in ours(data)
    ]
    heads = [
        f"{phase.replace('_', ' ')}, {what}"
        for phase in GROWING
        for what in ("ns", "instr.", "instr., worst")
    ]
    return markdown(["over Cubic, the core's part in both", *heads], rows)


def carrying() -> Json:
    """docs/results/stack-cost.json."""
    return results.measured("stack-cost")


def stack_measured() -> str:
    """What it was measured with, and how busy real time kept the guest."""
    data = carrying()
    parts = [f"Measured with Debian's {data['kernel']}"]
    for kind, what in (("counted", "instructions"), ("real", "real time")):
        if kind not in data:
            parts.append(f"{what}: not measured yet")
            continue
        path, cases = data["paths"][kind], data[kind]
        parts.append(
            f"{what}: {rate(path['rate_bps'])} x {path['rtt_ms']:g} ms, {path['seconds']:g} s, "
            f"turns of each: {max(len(case['bytes']) for case in cases.values())}"
        )
        if kind == "real":
            busy = max(share for case in cases.values() for share in case["busy"])
            how = "KVM" if data["accelerator"] == "kvm" else "emulated"
            parts.append(f"on {data['processor']}, {how}, at most {100 * busy:.0f} % busy")
    return "; ".join(parts) + "."


def whole() -> str:
    """What carrying data costs, each algorithm."""
    return markdown(*stack.table(carrying()))


PARTS = {
    "docs/performance.md": {
        "measured": measured,
        "phases": phases,
        "windows": windows,
        "stretch": stretch,
        "goal": goal,
        "goal-core": whole_goal,
        "stack": whole,
        "stack-measured": stack_measured,
        "older": older,
    }
}
