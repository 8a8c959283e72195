# SPDX-License-Identifier: GPL-2.0
"""How long runs take: as they took, docs/results/costs.json, or else by their packets."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from statistics import mean

from longfat.arena.cost import BOOT_S, COUNTED_US, length
from longfat.pages.data import DOCS
from longfat.run import result
from longfat.run.backends import BACKENDS
from longfat.run.result import Json
from longfat.run.scenario import Scenario

COSTS = DOCS / "results/costs.json"


@cache
def _costs() -> Json:
    found: Json = json.loads(COSTS.read_text())
    return found


def packets(one: Scenario) -> float:
    """What the link can carry in a run, or all there is to be carried: what a run costs goes by
    it."""
    most = one.link.rate / 8 * one.duration
    carried = [flow.bytes * flow.count for flow in one.flow if flow.bytes]
    if carried and len(carried) == len(one.flow):
        most = min(most, sum(carried))
    return most / one.link.mtu


def estimate(one: Scenario, file: str) -> float:
    """CPU seconds of a run: as those of its scenario file took, by their packets, or as all did;
    and what it takes to start the virtual kernel, and the lab before it."""
    costs = _costs()
    known = costs["us_per_packet"]
    start = costs["start_s"] + costs["python_s"]
    return float(start + packets(one) * known.get(file, known["any"]) / 1e6)


def keep(runs: Path, files: dict[str, list[tuple[str, Scenario]]]) -> None:
    """Take what these runs of scenario files cost, by their names, into COSTS; what is not known
    is taken for as much as the mean of what is."""
    costs = _costs()
    for file, of in sorted(files.items()):
        each = []
        for name, one in of:
            spent = runs / f"{name}.cpu"
            if spent.exists() and (runs / f"{name}.json").exists():
                each.append(1e6 * (float(spent.read_text()) - costs["start_s"]) / packets(one))
        if each:
            costs["us_per_packet"][file] = round(max(0.0, mean(each)), 3)
    known = [us for file, us in costs["us_per_packet"].items() if file != "any"]
    costs["us_per_packet"]["any"] = round(mean(known), 3)
    result.write_whole(json.dumps(costs, indent=1, sort_keys=True) + "\n", COSTS)


def total(entries: list[Json], cores: int) -> str:
    """Of planned runs: how many, and how long on so many cores, in words."""
    left = [entry for entry in entries if not entry["done"]]
    seconds = sum(entry["cpu_s"] for entry in left)
    wall = max([seconds / cores, *(entry["cpu_s"] for entry in left)])
    return (
        f"{len(left)} of {len(entries)} runs are left to do: about {length(seconds)} of CPU "
        f"time, {length(wall)} on {cores} core{'s' if cores > 1 else ''}"
    )


def beside(left: list[tuple[str, Scenario]]) -> str:
    """Of runs on other backends that are left to do: how long they take, in words."""
    seconds = sum(
        BOOT_S + (packets(one) * COUNTED_US / 1e6 if BACKENDS[where].exact else one.duration)
        for where, one in left
    )
    names = ", ".join(dict.fromkeys(where for where, _ in left))
    return f"and {len(left)} on other backends ({names}), one after the other: {length(seconds)}"
