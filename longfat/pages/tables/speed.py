# SPDX-License-Identifier: GPL-2.0
"""The figures of docs/speed.md."""

from __future__ import annotations

from statistics import median

from longfat.measure import profile, speed
from longfat.pages.data import markdown, measured
from longfat.run.result import Json


def rate(bps: int) -> str:
    """100 Mbit/s, 10 Gbit/s."""
    return f"{bps / 1e9:g} Gbit/s" if bps >= 1e9 else f"{bps / 1e6:g} Mbit/s"


def _range(values: list[float], digits: int) -> str:
    """Median, least and most."""
    low, high = min(values), max(values)
    return f"{median(values):.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def machine() -> str:
    """What it was measured on, and what else that did: wall time is processor time on a machine
    that does nothing else."""
    data = measured("lab-speed")
    cases = data["cases"]
    wall, cpu = (sum(sum(case[key]) for case in cases) for key in ("wall_s", "cpu_s"))
    return (
        f"Measured on: {data['processor']}; Linux {data['kernel']}; runs of each: "
        f"{len(cases[0]['cpu_s'])}, median, least and most in brackets; wall time was "
        f"{wall / cpu:.1f} times processor time."
    )


def full(case: Json) -> float:
    """How much of what the link could carry went through it, slow start included."""
    used: float = case["packets"] * case["mtu"] * 8 / (case["rate_bps"] * case["seconds"])
    return used


def virtual() -> str:
    """What a packet takes, and how fast virtual time goes."""
    data = measured("lab-speed")
    rows = []
    for case in speed.sending(data):
        packet = speed.per_packet(data, case)
        rows.append(
            [
                rate(case["rate_bps"]),
                str(case["mtu"]),
                str(case["flows"]),
                f"{100 * full(case):.0f}",
                _range(packet, 2),
                f"{1e6 / median(packet):.0f}",
                f"{speed.pace(data, case):.2f}",
            ]
        )
    heads = ["link", "MTU", "flows", "full, %", "µs of processor per packet"]
    heads.append("packets per processor s")
    return markdown([*heads, "virtual s of a full link per processor s"], rows)


def _over(data: Json, numerator: Json, denominator: Json) -> list[float]:
    """What a packet costs in cases that have `numerator`, over what it does where only this
    differs and is `denominator`."""
    cost: dict[tuple[int, int, int], float] = {
        (one["rate_bps"], one["mtu"], one["flows"]): median(speed.per_packet(data, one))
        for one in speed.sending(data)
    }
    names = ("rate_bps", "mtu", "flows")
    found = []
    for key, value in cost.items():
        this = dict(zip(names, key, strict=True))
        other = this | denominator
        same = other["rate_bps"], other["mtu"], other["flows"]
        if numerator.items() <= this.items() and same in cost:
            found.append(value / cost[same])
    return found


def of_flows(data: Json) -> list[float]:
    """Sixteen flows over one, each path."""
    return _over(data, {"flows": 16}, {"flows": 1})


def of_rate(data: Json) -> list[float]:
    """10 Gbit/s over 1 Gbit/s, each number of flows."""
    return _over(data, {"rate_bps": 10**10, "mtu": 1500}, {"rate_bps": 10**9})


def differ(data: Json) -> float:
    """How far runs of one case are apart: half of the range over the median, at most."""
    runs = [speed.per_packet(data, one) for one in speed.sending(data)]
    return max((max(each) - min(each)) / 2 / median(each) for each in runs)


def more() -> str:
    """What makes a packet dearer."""
    data = measured("lab-speed")
    flows, faster = of_flows(data), of_rate(data)
    return (
        f"A packet costs {min(flows):.2f} to {max(flows):.2f} times as much with sixteen flows as "
        f"with one,\nand {min(faster):.2f} to {max(faster):.2f} times as much at 10 Gbit/s as at "
        f"1 Gbit/s; runs of the same case\ndiffer by up to {100 * differ(data):.0f} %."
    )


# Virtual seconds per processor second that a run of one flow is to have: bit/s -> MTU -> these.
GOALS = {10**9: {1500: 8.0}, 10**10: {1500: 1.0, 9000: 1.0}}


def goals() -> str:
    """How far the lab is from them."""
    data = measured("lab-speed")
    parts = []
    for case in speed.sending(data):
        goal = GOALS.get(case["rate_bps"], {}).get(case["mtu"])
        if goal and case["flows"] == 1:
            pace = speed.pace(data, case)
            parts.append(
                f"{rate(case['rate_bps'])} with an MTU of {case['mtu']}: {pace:.2f} of {goal:g}, "
                + ("reached" if pace >= goal else "not reached")
            )
    return "; ".join(parts) + "."


def start() -> str:
    """What each run takes before it sends anything."""
    return f"A run takes {speed.idle(measured('lab-speed')):.1f} s of processor without a packet."


# What the profile shows: bit/s and MTU of runs of one flow.
PROFILED = ((10**9, 1500), (10**10, 1500))


def _profiled(data: Json) -> dict[tuple[int, int], Json]:
    cases = {(one["rate_bps"], one["mtu"]): one for one in speed.sending(data)}
    return {path: cases[path] for path in PROFILED}


def seen() -> str:
    """How much of the processor time perf's samples are."""
    shares = [
        100 * sum(case["seconds_of"].values()) / case["cpu_s"]
        for case in _profiled(measured("lab-profile")).values()
    ]
    return (
        f"Of the processor time of the whole run, perf's own included, samples are "
        f"{' and '.join(f'{share:.0f} %' for share in shares)}."
    )


def where() -> str:
    """What a packet's microseconds are spent on."""
    data = measured("lab-profile")
    cases = _profiled(data)
    columns = {path: profile.per_packet(data, case) for path, case in cases.items()}
    totals = {path: sum(found.values()) for path, found in columns.items()}
    rows = [
        [name, *(f"{found[name]:.2f}" for found in columns.values())]
        + [f"{100 * found[name] / totals[path]:.0f} %" for path, found in columns.items()]
        for name in profile.ORDER
    ]
    rows.append(["all", *(f"{total:.2f}" for total in totals.values()), *[""] * len(totals)])
    heads = [rate(bps) for bps, _ in columns]
    return markdown(["µs of processor per packet", *heads, *(f"of it, {x}" for x in heads)], rows)


def tried(data: Json, trial: Json, case: Json) -> list[float]:
    """Microseconds of processor time for each packet, turn by turn, without the median of what
    this trial takes to begin."""
    boot = speed.starting(data)
    start = median(trial[boot["name"]]["cpu_s"]) if boot else 0.0
    of = trial[case["name"]]
    return [(cpu - start) / of["packets"] * 1e6 for cpu in of["cpu_s"]]


def over_the_first(data: Json, trial: Json) -> list[float]:
    """What a packet takes in this trial over what it does in the lab as it is, each case."""
    cases = speed.sending(data)
    first = data["trials"][0]
    return [median(tried(data, trial, case)) / median(tried(data, first, case)) for case in cases]


def trials() -> str:
    """What was tried to make it faster."""
    data = measured("lab-trials")
    cases = speed.sending(data)
    first = data["trials"][0]
    rows = []
    for trial in data["trials"]:
        row = [trial["about"]]
        for case, over in zip(cases, over_the_first(data, trial), strict=True):
            row += [_range(tried(data, trial, case), 2), f"{over:.2f}"]
        alike = all(trial[one["name"]]["samples"] == first[one["name"]]["samples"] for one in cases)
        rows.append([*row, "the same" if alike else "others"])
    heads = ["µs of processor per packet"]
    for case in cases:
        heads += [f"{rate(case['rate_bps'])}, one flow", "over the first"]
    table = markdown([*heads, "samples"], rows)
    return f"{table}\n\nMedian, least and most of {data['times']}, in turns; {data['processor']}."


def budget() -> str:
    """What a goal leaves for a packet, and which parts of it are more than that by themselves."""
    data = measured("lab-profile")
    parts = []
    for (bps, mtu), case in _profiled(data).items():
        goal = GOALS[bps][mtu]
        room = 1e6 / (goal * bps / 8 / mtu)
        taken, names = 0.0, []
        for name, spent in sorted(profile.per_packet(data, case).items(), key=lambda one: -one[1]):
            if taken <= room:
                taken += spent
                names.append(name)
        parts.append(
            f"- {goal:g} virtual s of {rate(bps)} in a second are {room:.2f} µs for a packet; "
            f"{', '.join(names)} alone take {taken:.2f}."
        )
    return "\n".join(parts)


def real() -> str:
    """What the vm backend holds."""
    data = measured("vm-speed")
    rows = [
        [
            rate(case["rate_bps"]),
            str(case["flows"]),
            _range([100 * held for held in case["held"]], 1),
            f"{100 * median(case['busy']):.0f}",
        ]
        for case in data["cases"]
    ]
    return markdown(["link", "flows", "held, %", "guest's processor busy, %"], rows)


def highest() -> str:
    """The highest rate that is held within 1 %, for each number of flows."""
    data = measured("vm-speed")
    parts = []
    for flows, best in speed.highest(data["cases"]).items():
        what = "flow" if flows == 1 else "flows"
        parts.append(f"{rate(best) if best else 'none'} with {flows} {what}")
    how = "KVM" if data["accelerator"] == "kvm" else "emulated"
    if data["waited"] is not None:
        how += f", a program waited for a processor in {100 * data['waited']:.0f} % of the time"
    return f"Highest rate held within 1 % (Linux {data['kernel']}, {how}): {', '.join(parts)}."


PARTS = {
    "docs/speed.md": {
        "machine": machine,
        "virtual": virtual,
        "goals": goals,
        "start": start,
        "more": more,
        "profile": where,
        "seen": seen,
        "trials": trials,
        "budget": budget,
        "real": real,
        "highest": highest,
    }
}
