# SPDX-License-Identifier: GPL-2.0
"""What is kept of a run beside its summary: series, thinned out, which criteria ask for by name.

A run is a whole result here, as longfat.run.result makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from longfat.run.result import Json, percentile
from longfat.run.scenario import payload

# Raised when one of these makes something else of the same run.
VERSION = 1
POINTS = 1500  # of a series at most
LOSSY = 0.1  # a second with more than this lost is one in which a circuit breaker would open

Samples = list[float]


def _step(run: Json) -> int:
    """Samples to a point."""
    samples = float(run["scenario"]["duration"]) / float(run["scenario"]["sample"])
    return max(1, -(-round(samples) // POINTS))


def _column(run: Json, connection: Json, name: str) -> Samples:
    """A column from the beginning of the run, whenever the connection began: zeros before that."""
    if not connection["t"]:
        return []
    before = round(float(connection["t"][0]) / float(run["scenario"]["sample"]))
    return [0.0] * before + [value or 0 for value in connection[name]]


def _sum(columns: list[Samples]) -> Samples:
    """These added up; one that ends before the others stays as it was."""
    longest = max(map(len, columns), default=0)
    whole = [[*one, *[one[-1]] * (longest - len(one))] for one in columns if one]
    return [sum(each) for each in zip(*whole, strict=True)]


def _of_group(run: Json, group: int, name: str) -> Samples:
    flows = [flow for flow in run["flows"] if flow["group"] == group]
    return _sum([_column(run, one, name) for flow in flows for one in flow["connections"]])


def _groups(run: Json) -> list[int]:
    return sorted({flow["group"] for flow in run["flows"]})


def mss(run: Json) -> int:
    """Payload of a full packet, bytes."""
    one = run["scenario"]
    return payload(one["link"]["mtu"], timestamps=one["host"]["timestamps"])


def rates(run: Json) -> Json:
    """Mbit/s that arrived, in whatever order, of each `[[flow]]`."""
    step, sample = _step(run), float(run["scenario"]["sample"])
    found = {}
    for group in _groups(run):
        counts = _of_group(run, group, "delivered")[::step]
        gains = [(b - a) * mss(run) * 8e-6 / (step * sample) for a, b in pairwise(counts)]
        found[str(group)] = [round(gain, 3) for gain in gains]
    return {"dt": step * sample, "groups": found}


def queue(run: Json) -> Json:
    """Packets in the bottleneck, and those that it dropped until then."""
    step, sample = _step(run), float(run["scenario"]["sample"])
    columns = {name: run["queue"][name][::step] for name in ("packets", "dropped")}
    return {"dt": step * sample, **columns}


def sent(run: Json) -> Json:
    """Packets that arrived, and packets that were sent again, of the first `[[flow]]`."""
    step, sample = _step(run), float(run["scenario"]["sample"])
    columns = {
        name: [round(x) for x in _of_group(run, 0, name)[::step]]
        for name in ("delivered", "retransmissions")
    }
    return {"dt": step * sample, **columns}


def cwnd(run: Json) -> Json:
    """The window of the first connection of each `[[flow]]`, packets."""
    step, sample = _step(run), float(run["scenario"]["sample"])
    first = {flow["group"]: flow for flow in reversed(run["flows"]) if flow["connections"]}
    return {
        "dt": step * sample,
        "groups": {
            str(group): [round(x) for x in _column(run, flow["connections"][0], "cwnd")[::step]]
            for group, flow in sorted(first.items())
        },
    }


def milestones(run: Json) -> Json:
    """Of each `[[flow]]`: seconds from its start until 1500, 15 000, 150 000 ... bytes had
    arrived."""
    found = {}
    for group in _groups(run):
        start = float(run["scenario"]["flow"][group]["start"])
        sample = float(run["scenario"]["sample"])
        times, want = [], 1500
        for number, received in enumerate(_of_group(run, group, "received")):
            while received >= want:
                times.append(round(number * sample - start, 6))
                want *= 10
        found[str(group)] = times
    return found


def camps(run: Json) -> Json:
    """Of each `[[short]]`, by quartiles of size over all of them: how many objects, and the sum of
    their rates in Mbit/s."""
    entries = [one["completions"] for one in run["short"]]
    sizes = [float(size) for one in entries for size in one["bytes"]]
    bounds = [percentile(sizes, part) or 0 for part in (25, 50, 75)]
    found = []
    for one in entries:
        counts, sums = [0] * 4, [0.0] * 4
        for size, seconds in zip(one["bytes"], one["seconds"], strict=True):
            place = sum(size > bound for bound in bounds)
            counts[place] += 1
            sums[place] += size * 8e-6 / max(seconds, 1e-6)
        found.append({"count": counts, "sum": [round(x, 4) for x in sums]})
    return {"bounds": bounds, "entries": found}


def lossy(run: Json) -> float | None:
    """Share of the seconds in which more than a tenth of the bulk flows' packets was lost at the
    bottleneck."""
    stride = max(1, round(1 / float(run["scenario"]["sample"])))
    arrived = _sum([_of_group(run, group, "delivered") for group in _groups(run)])[::stride]
    lost = run["queue"]["dropped"][::stride]
    seconds = [
        (b - a, d - c) for (a, b), (c, d) in zip(pairwise(arrived), pairwise(lost), strict=False)
    ]
    seen = [gone / (came + gone) for came, gone in seconds if came + gone]
    return round(sum(part > LOSSY for part in seen) / len(seen), 6) if seen else None


SERIES: dict[str, Callable[[Json], Any]] = {
    one.__name__: one for one in (rates, queue, sent, cwnd, milestones, camps, lossy)
}


def of(run: Json, names: list[str]) -> Json:
    """These series of a run."""
    return {name: SERIES[name](run) for name in names}
