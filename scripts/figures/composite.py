# SPDX-License-Identifier: GPL-2.0
"""The figures of docs/composite.md.  What is observed in a run is what the tests look at too."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean, pstdev

from matplotlib import pyplot

from lab.result import Json

from . import interval, kept, markdown, save

WINDOW = 0.5  # seconds over which throughput is averaged


def per_window(run: Json, connections: list[Json], counter: str) -> list[int]:
    """What a counter of these together gained in each WINDOW, from the warm-up on."""
    times = connections[0]["t"]
    step = max(1, round(WINDOW / float(run["scenario"]["sample"])))
    first = next(i for i, t in enumerate(times) if t >= run["scenario"]["warmup"])
    shortest = min(len(one["t"]) for one in connections)
    total = [sum(one[counter][i] for one in connections) for i in range(shortest)]
    return [b - a for a, b in pairwise(total[first::step])]


def variation(values: list[int]) -> float:
    """Coefficient of variation."""
    return pstdev(values) / mean(values)


def streams(run: Json) -> int:
    """N of the first entry: of its name, of the parameter, or of its parallel connections."""
    flow = run["scenario"]["flow"][0]
    cc = str(flow["cc"])
    if cc.startswith("composite-"):
        return int(cc.removeprefix("composite-"))
    if cc == "composite":
        return int(run["scenario"]["module"].get("composite", {}).get("streams", 8))
    return int(flow["parallel"])


def observe(run: Json) -> Json:
    """Of the first flow: its share and what is due to it, how its throughput varies and peaks;
    throughput is what arrives, `in_order` what the application gets.  And of those beside it,
    each for itself."""
    first, *beside = run["flows"]
    n = streams(run)
    found: Json = {"streams": n}
    connections = first["connections"]
    arrived = per_window(run, connections, "delivered")
    found["variation"] = round(variation(arrived), 5)
    found["peak"] = round(max(arrived) / mean(arrived), 4)
    found["in_order"] = round(variation(per_window(run, connections, "received")), 5)
    if beside:
        total = sum(flow["goodput_bps"] for flow in run["flows"])
        found["share"] = round(first["goodput_bps"] / total, 5)
        found["due"] = round(n / (n + len(beside)), 5)
        others = [per_window(run, flow["connections"], "delivered") for flow in beside]
        found["variation_beside"] = round(mean(variation(one) for one in others), 5)
    return found
