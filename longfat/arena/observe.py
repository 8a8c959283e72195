# SPDX-License-Identifier: GPL-2.0
"""What is kept of a run beside its summary: series, thinned out, which criteria ask for by name.

A run is a whole result here, as longfat.run.result makes it, with what its plan and its samples say
besides (`whole`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from longfat.run import plan
from longfat.run.result import CLASSES, Json, carried, percentile
from longfat.run.scenario import Scenario, payload

# Raised when one of these makes something else of the same run.
VERSION = 4
POINTS = 1500  # of a series at most
LOSSY = 0.1  # a second with more than this lost is one in which a circuit breaker would open

LATE = 0.1  # of the measured time, the last: what begins then has no time to be complete

Samples = list[float]


def whole(run: Json, scenario: Scenario, seed: int, samples: Path) -> Json:
    """A result with `asked`: of each `[[short]]` when each object begins, and its bytes; and with
    `left`: packets and bytes that left the bottleneck in the measured time."""
    made = plan.make(scenario, seed, prefix="lf", virtual=True)
    asked: list[list[tuple[float, float]]] = [[] for _ in scenario.short]
    for ident, (kind, entry) in made.objects.items():
        for line in made.files.get(f"objects-{ident}", "").splitlines() if kind == "short" else ():
            time, size = map(float, line.split())
            asked[entry].append((time, size))
    packets, size = carried(samples, scenario.warmup)
    return run | {"asked": asked, "left": {"packets": packets, "bytes": size}}


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
    """The window of the first connection of each `[[flow]]`, packets, and how much it grows
    within a round trip after the warm-up at most, by all samples."""
    step, sample = _step(run), float(run["scenario"]["sample"])
    first = {flow["group"]: flow for flow in reversed(run["flows"]) if flow["connections"]}
    windows = {
        group: [round(x) for x in _column(run, flow["connections"][0], "cwnd")]
        for group, flow in sorted(first.items())
    }
    begin = round(float(run["scenario"]["warmup"]) / sample)
    trips = {
        group: max(1, int(float(run["scenario"]["flow"][group]["rtt"]) / sample + 1e-9))
        for group in windows
    }
    return {
        "dt": step * sample,
        "groups": {str(group): all_of[::step] for group, all_of in windows.items()},
        "growth": {
            str(group): _largest_growth(all_of[begin:], trips[group])
            for group, all_of in windows.items()
        },
    }


def _largest_growth(values: list[int], most: int) -> int:
    """From one to another that is so many later at most."""
    pairs = (zip(values, values[apart:], strict=False) for apart in range(1, most + 1))
    return max((b - a for of in pairs for a, b in of), default=0)


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


def _measured(run: Json) -> tuple[float, float]:
    """When objects begin that are looked at: those that began before are on their way, and may be
    the slow ones alone."""
    begin, end = (float(run["scenario"][key]) for key in ("warmup", "duration"))
    return begin, end - LATE * (end - begin)


def _sizes(run: Json, entry: int) -> list[float]:
    """Bytes of each object of a `[[short]]`, complete or not."""
    begin, end = _measured(run)
    return [size for time, size in run["asked"][entry] if begin <= time < end]


def _done(run: Json, entry: int) -> list[tuple[float, float]]:
    """Bytes and seconds of each that is complete."""
    begin, end = _measured(run)
    found = run["short"][entry]["completions"]
    columns = zip(found["t"], found["seconds"], found["bytes"], strict=True)
    # Times of a result are rounded to a microsecond.
    return [(size, took) for t, took, size in columns if begin - 2e-6 <= t - took < end - 2e-6]


def completions(run: Json) -> Json:
    """Of the objects that go forward, all of them and by classes of size (what is largest in one):
    how many, and percentiles of the seconds that they take.  One that is not complete takes for
    ever; a percentile that is such a one is None."""
    entries = [i for i, one in enumerate(run["scenario"]["short"]) if not one["reverse"]]
    sizes = [size for i in entries for size in _sizes(run, i)]
    done = [one for i in entries for one in _done(run, i)]
    bounds = [0.0, *(float(most) for most in CLASSES if most)]
    classes = {f"{most:.0f}": (least, most) for least, most in pairwise(bounds)}
    found = {}
    for name, (least, most) in {"all": (0.0, math.inf), **classes}.items():
        times = [took for size, took in done if least < size <= most]
        count = sum(least < size <= most for size in sizes)
        times += [math.inf] * (count - len(times))
        each = {f"p{part}": percentile(times, part) for part in (50, 95, 99)}
        if count:
            finite = {key: None if x is None or math.isinf(x) else x for key, x in each.items()}
            found[name] = {"begun": count, **finite}
    return found


def asked(run: Json) -> float:
    """Bytes of the objects that are to cross the bottleneck and begin in the measured time."""
    ahead = [
        i
        for i, one in enumerate(run["scenario"]["short"])
        if not one["reverse"] and one["enter"] == 1
    ]
    begin = float(run["scenario"]["warmup"])
    return float(sum(size for i in ahead for time, size in run["asked"][i] if time >= begin))


def left(run: Json) -> Json:
    """Packets that left the bottleneck in the measured time, and their bytes."""
    found: Json = run["left"]
    return found


def camps(run: Json) -> Json:
    """Of each `[[short]]`, by quartiles of size over all that is asked for: how many objects, the
    sum of their rates in Mbit/s, and the sum of their bytes.  One that is not complete has none of
    either."""
    sizes = [_sizes(run, i) for i in range(len(run["short"]))]
    every = [size for each in sizes for size in each]
    bounds = [percentile(every, part) or 0 for part in (25, 50, 75)]

    def quartile(size: float) -> int:
        return sum(size > bound for bound in bounds)

    found = []
    for entry, each in enumerate(sizes):
        counts, sums, carried = [0] * 4, [0.0] * 4, [0.0] * 4
        for size in each:
            counts[quartile(size)] += 1
        for size, took in _done(run, entry):
            sums[quartile(size)] += size * 8e-6 / max(took, 1e-6)
            carried[quartile(size)] += size
        rates = [round(x, 4) for x in sums]
        found.append({"begun": counts, "sum": rates, "bytes": carried})
    return {"bounds": bounds, "entries": found}


def lossy(run: Json) -> float | None:
    """Share of the seconds from the warm-up on in which more than a tenth of the bulk flows'
    packets was lost at the bottleneck."""
    sample = float(run["scenario"]["sample"])
    stride, first = max(1, round(1 / sample)), round(float(run["scenario"]["warmup"]) / sample)
    arrived = _sum([_of_group(run, group, "delivered") for group in _groups(run)])[first::stride]
    lost = run["queue"]["dropped"][first::stride]
    seconds = [
        (b - a, d - c) for (a, b), (c, d) in zip(pairwise(arrived), pairwise(lost), strict=False)
    ]
    seen = [gone / (came + gone) for came, gone in seconds if came + gone]
    return round(sum(part > LOSSY for part in seen) / len(seen), 6) if seen else None


SERIES: dict[str, Callable[[Json], Any]] = {
    one.__name__: one
    for one in (rates, queue, sent, cwnd, milestones, completions, camps, asked, left, lossy)
}


def of(run: Json, names: list[str]) -> Json:
    """These series of a run."""
    return {name: SERIES[name](run) for name in names}
