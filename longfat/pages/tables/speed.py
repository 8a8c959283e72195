# SPDX-License-Identifier: GPL-2.0
"""The figures of docs/speed.md."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from longfat.measure import profile, speed
from longfat.pages.data import markdown, measured
from longfat.run.result import Json

ROUTER = "-router"  # what was measured before lflink was the network

Path = tuple[int, int, int]  # bit/s, MTU, flows


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


def _path(case: Json) -> Path:
    """What cases of two measurements are the same by."""
    return case["rate_bps"], case["mtu"], case["flows"]


def _costs(data: Json) -> dict[Path, list[float]]:
    """Path -> what a packet takes in each run, microseconds."""
    return {_path(case): speed.per_packet(data, case) for case in speed.sending(data)}


def virtual() -> str:
    """What a packet takes, what it took when the network was a router and qdiscs, and how fast
    virtual time goes."""
    data, before = measured("lab-speed"), _costs(measured(f"lab-speed{ROUTER}"))
    rows = []
    for case in speed.sending(data):
        packet = speed.per_packet(data, case)
        was = before.get(_path(case))
        rows.append(
            [
                rate(case["rate_bps"]),
                str(case["mtu"]),
                str(case["flows"]),
                f"{100 * full(case):.0f}",
                _range(packet, 2),
                f"{median(was):.2f}" if was else "",
                f"{1e6 / median(packet):.0f}",
                f"{speed.pace(data, case):.2f}",
            ]
        )
    heads = ["link", "MTU", "flows", "full, %", "µs of processor per packet", "with a router"]
    heads.append("packets per processor s")
    return markdown([*heads, "virtual s of a full link per processor s"], rows)


def _over(data: Json, numerator: Json, denominator: Json) -> list[float]:
    """What a packet costs in cases that have `numerator`, over what it does where only this
    differs and is `denominator`."""
    cost = {path: median(each) for path, each in _costs(data).items()}
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


def of_many(data: Json) -> list[float]:
    """A thousand flows over one."""
    return _over(data, {"flows": 1000}, {"flows": 1})


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


# Virtual seconds of a full link per processor second that one flow is to have.
GOALS: Mapping[Path, float] = {
    (10**9, 1500, 1): 8.0,
    (10**10, 1500, 1): 0.8,
    (10**10, 9000, 1): 3.0,
    (10**11, 9000, 1): 0.2,
}
MANY = 2.0  # what a packet of a thousand flows may cost, over one of one flow


def goals() -> str:
    """How far the lab is from them."""
    data = measured("lab-speed")
    lines = []
    for case in speed.sending(data):
        if goal := GOALS.get(_path(case)):
            pace = speed.pace(data, case)
            lines.append(
                f"- {rate(case['rate_bps'])} with an MTU of {case['mtu']}: {pace:.2f} of {goal:g}, "
                + ("reached." if pace >= goal else "not reached.")
            )
    for over in of_many(data):
        lines.append(
            f"- A packet of a thousand flows costs {over:.1f} times as much as one of one flow; "
            f"it was to be {MANY:g} times: {'reached' if over <= MANY else 'not reached'}."
        )
    return "\n".join(lines)


def start() -> str:
    """What each run takes before it sends anything."""
    return f"A run takes {speed.idle(measured('lab-speed')):.1f} s of processor without a packet."


def seen() -> str:
    """How much of the processor time perf's samples are."""
    shares = [
        100 * sum(case["seconds_of"].values()) / case["cpu_s"]
        for case in speed.sending(measured("lab-profile"))
    ]
    return (
        f"Of the processor time of a whole run, perf's own included, samples are "
        f"{min(shares):.0f} to {max(shares):.0f} %."
    )


def _called(path: Path) -> str:
    bps, mtu, flows = path
    more = [f"MTU {mtu}"] if mtu != 1500 else []
    more += [f"{flows} flows"] if flows > 1 else []
    return ", ".join([rate(bps), *more])


def where() -> str:
    """What a packet's microseconds are spent on, and what they were with a router."""
    data, before = measured("lab-profile"), measured(f"lab-profile{ROUTER}")
    was = {_path(case): profile.per_packet(before, case) for case in speed.sending(before)}
    heads, columns = [], []
    for case in speed.sending(data):
        if old := was.get(_path(case)):
            heads.append(f"{_called(_path(case))}, with a router")
            columns.append(old)
        heads.append(_called(_path(case)))
        columns.append(profile.per_packet(data, case))
    rows = [[name, *(f"{found[name]:.2f}" for found in columns)] for name in profile.ORDER]
    rows.append(["all", *(f"{sum(found.values()):.2f}" for found in columns)])
    return markdown(["µs of processor per packet", *heads], rows)


def budget() -> str:
    """What a goal leaves for a packet, and what stands in its way if it is missed."""
    data = measured("lab-profile")
    parts = []
    for case in speed.sending(data):
        bps, mtu, _ = _path(case)
        goal = GOALS.get(_path(case))
        if not goal:
            continue
        room = 1e6 / (goal * bps / 8 / mtu)
        spent = profile.per_packet(data, case)
        taken = sum(spent.values())
        largest = sorted(spent, key=lambda name: -spent[name])[:3]
        names = ", ".join(f"{name} {spent[name]:.2f}" for name in largest)
        parts.append(
            f"- {goal:g} virtual s of {_called(_path(case))} in a second are {room:.2f} µs for a "
            f"packet. Below perf it takes {taken:.2f}, most of it {names}."
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
        "budget": budget,
        "real": real,
        "highest": highest,
    }
}
