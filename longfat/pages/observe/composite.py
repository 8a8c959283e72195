# SPDX-License-Identifier: GPL-2.0
"""What is looked at in a run of docs/composite.md; the tests look at it too."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from statistics import mean, pstdev

from longfat.core.errors import LabError
from longfat.pages.data import LOSS, PUBLISHED, loss_events, mss_of, rates
from longfat.run.result import Json

PUBLIC = tomllib.loads((PUBLISHED / "composite.toml").read_text())

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
    """Coefficient of variation; none where nothing came."""
    return pstdev(values) / mean(values) if any(values) else 0.0


def streams(run: Json) -> int:
    """N of the first entry: of its name, of the parameter, or of its parallel connections."""
    flow = run["scenario"]["flow"][0]
    cc = str(flow["cc"])
    if cc.startswith("composite-"):
        return int(cc.removeprefix("composite-"))
    if cc == "composite":
        return int(run["scenario"]["module"].get("composite", {}).get("streams", 8))
    return int(flow["parallel"])


def steps(run: Json, connection: Json) -> list[float]:
    """How long what arrived in order stood still before each of its advances, measured time,
    in round trips as the sender saw them then."""
    found = []
    columns = zip(connection["t"], connection["received"], connection["rtt_us"], strict=True)
    since, before, rtt_us = next(columns)
    for t, received, now in columns:
        if received > before:
            if t > run["scenario"]["warmup"] and rtt_us:
                found.append((t - since) / (rtt_us / 1e6))
            since, before, rtt_us = t, received, now
    return found


def longest_step(run: Json, connection: Json) -> float:
    """The longest of them; the measured time, in round trips of the path, if nothing arrived in
    it, as may be in a short run."""
    measured = run["scenario"]["duration"] - run["scenario"]["warmup"]
    path: float = run["flows"][0]["base_rtt_ms"] / 1e3
    return max(steps(run, connection), default=measured / path)


def lost(run: Json, flows: list[Json]) -> float:
    """Packets that these sent again, for each that arrived, in the measured time; or all of them,
    if none did."""
    again = arrived = 0
    for connection in (one for flow in flows for one in flow["connections"]):
        first = next(i for i, t in enumerate(connection["t"]) if t >= run["scenario"]["warmup"])
        again += connection["retransmissions"][-1] - connection["retransmissions"][first]
        arrived += connection["delivered"][-1] - connection["delivered"][first]
    return again / max(1, arrived)


def waiting(run: Json, connections: list[Json]) -> float:
    """The part of the measured time that connections recover from a timeout, in the mean."""
    states = [
        state
        for one in connections
        for t, state in zip(one["t"], one["state"], strict=True)
        if t >= run["scenario"]["warmup"]
    ]
    return states.count(LOSS) / len(states)


SHOWN = (20.0, 25.0)  # seconds of the run whose sequence is shown


def sequence(run: Json, connection: Json) -> Json:
    """What the sender knows to have arrived (SACK says so, too), and what the receiver has in
    order, in packets, at each sample of SHOWN."""
    mss = mss_of(run)
    begin, end = SHOWN
    columns = zip(connection["t"], connection["delivered"], connection["received"], strict=True)
    inside = [(arrived, got // mss) for t, arrived, got in columns if begin <= t < end]
    first = inside[0][1] if inside else 0
    return {
        "arrived": [arrived - first for arrived, _ in inside],
        "in_order": [got - first for _, got in inside],
    }


def windows(run: Json, connection: Json) -> Json:
    """The congestion window at each full second of the measured time, and loss events."""
    columns = zip(connection["t"], connection["cwnd"], strict=True)
    measured = [cwnd for t, cwnd in columns if t >= run["scenario"]["warmup"]]
    step = max(1, round(1 / float(run["scenario"]["sample"])))
    return {"each_second": measured[::step], "losses": loss_events(run, connection)}


def observe(run: Json) -> Json:
    """Of a flow of limited size: how long it took.  Of another: how its throughput varies and
    peaks; throughput is what arrives, `in_order` what the application gets.  If it is alone, its
    windows.  If not, its share and what is due to it, what it and what those beside it lose, how
    long it waits after timeouts, and how those beside it vary, each for itself; if samples show
    steps, these, and of the first seed throughput and sequence over time, of it and of one beside
    it."""
    first, *beside = run["flows"]
    connections, n = first["connections"], streams(run)
    found: Json = {"streams": n}
    if run["scenario"]["flow"][0]["bytes"]:
        if first["completion_s"] is None:
            raise LabError(f"{run['scenario']['name']}: ended before all was transferred")
        return found | {"completion_s": round(first["completion_s"], 6)}
    arrived = per_window(run, connections, "delivered")
    found["variation"] = round(variation(arrived), 5)
    found["peak"] = round(max(arrived) / mean(arrived), 4)
    found["in_order"] = round(variation(per_window(run, connections, "received")), 5)
    if not beside:
        return found | {"windows": windows(run, connections[0])}
    total = sum(flow["goodput_bps"] for flow in run["flows"])
    found["share"] = round(first["goodput_bps"] / total, 5)
    found["due"] = round(n / (n + len(beside)), 5)
    found["lost"] = [round(lost(run, flows), 6) for flows in ([first], beside)]
    found["waiting"] = round(waiting(run, connections), 6)
    others = [per_window(run, flow["connections"], "delivered") for flow in beside]
    found["variation_beside"] = round(mean(variation(one) for one in others), 5)
    # Samples must be closer than a round trip to show steps of it.
    if 4 * run["scenario"]["sample"] <= first["base_rtt_ms"] / 1e3:
        found["step"] = round(max(longest_step(run, one) for one in connections), 3)
        rest = [longest_step(run, flow["connections"][0]) for flow in beside]
        found["step_beside"] = round(max(rest), 3)
        if run["seed"] == run["scenario"]["seeds"][0]:  # the one that is drawn
            shown = run["flows"][:2]
            found["mbps"] = rates(run, WINDOW, flows=2)
            found["sequence"] = [sequence(run, flow["connections"][0]) for flow in shown]
    return found
