# SPDX-License-Identifier: GPL-2.0
"""What is looked at in a run of docs/cwhstcp.md; the tests look at it too."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from statistics import mean

from longfat.core.errors import LabError
from longfat.pages.data import (
    OPEN,
    PUBLISHED,
    avoidance,
    bdp_of,
    loss_events,
    mss_of,
    series,
)
from longfat.run import result
from longfat.run.result import Json

PUBLIC = tomllib.loads((PUBLISHED / "cwhstcp.toml").read_text())


def fast_flows(run: Json) -> list[Json]:
    """The flows that are compared: of the scenario's entries those that are one flow each."""
    entries = run["scenario"]["flow"]
    return [flow for flow in run["flows"] if entries[flow["group"]]["count"] == 1]


def background(run: Json) -> list[Json]:
    """The others."""
    return [flow for flow in run["flows"] if flow not in fast_flows(run)]


def mean_window(run: Json, flow: Json) -> float:
    """Of a flow's only connection, from the warm-up on, packets."""
    one = flow["connections"][0]
    columns = zip(one["t"], one["cwnd"], strict=True)
    return float(mean(w for t, w in columns if t >= warm(run)))


def warm(run: Json) -> float:
    """When the measured time begins, seconds."""
    return float(run["scenario"]["warmup"])


def loss(run: Json, flows: list[Json]) -> float:
    """Packets sent again over packets sent, measured time."""
    again = sum(flow["retransmissions"] for flow in flows)
    sent = sum(flow["received_bytes"] for flow in flows) / mss_of(run)
    return float(again / (again + sent))


def shares_at(run: Json, flows: list[Json], begin: float, end: float) -> list[float]:
    """What the flows' only connections got in order from `begin` to `end`, seconds, of what the
    link could carry."""
    capacity = run["summary"]["capacity_bps"] * (end - begin) / 8
    found = []
    for flow in flows:
        one = flow["connections"][0]
        counts = [
            got for t, got in zip(one["t"], one["received"], strict=True) if begin <= t <= end
        ]
        found.append(round((counts[-1] - counts[0]) / capacity, 5))
    return found


SCALES = (1, 10)  # seconds over which fairness is looked at, besides the whole


def jain_over(run: Json, flows: list[Json], seconds: int) -> float | None:
    """Mean of Jain's index of what each of the flows' only connections got in order in each
    `seconds` of the measured time; None if there is no such time."""
    step = round(seconds / float(run["scenario"]["sample"]))
    got = []
    for flow in flows:
        one = flow["connections"][0]
        columns = zip(one["t"], one["received"], strict=True)
        counts = [count for t, count in columns if t >= warm(run)][::step]
        got.append([after - before for before, after in pairwise(counts)])
    each = [list(window) for window in zip(*got, strict=False)]
    return mean(result.jain(shares) or 0 for shares in each) if each else None


def burst_queue(run: Json) -> tuple[float, float]:
    """(mean, peak) packets in the bottleneck's queue that a window of that size, sent evenly,
    would not have there: backlog - max(0, cwnd - BDP), of the first flow, in congestion avoidance
    and half a second after a loss."""
    bdp = bdp_of(run)
    one = run["flows"][0]["connections"][0]
    at = dict(zip(run["queue"]["t"], run["queue"]["packets"], strict=True))
    found, calm = [], 0.0
    columns = zip(one["t"], one["cwnd"], one["ssthresh"], one["state"], strict=True)
    for t, cwnd, ssthresh, state in columns:
        if state != OPEN or not avoidance(cwnd, ssthresh, state):
            calm = t + 0.5
        if t >= max(warm(run), calm) and t in at:
            found.append(at[t] - max(0.0, cwnd - bdp))
    if not found:
        raise LabError(f"{run['scenario']['name']}: no congestion avoidance to look at")
    return mean(found), max(found)


SOON = 0.5  # seconds from one decrease to the next, for them to be of the same congestion


def decreases(run: Json, flow: Json) -> tuple[int, int]:
    """How often a flow backed off in the measured time, by its trace events; and how often of these
    soon after it did before."""
    events, begin = flow["connections"][0]["events"], run["scenario"]["warmup"]
    at = [event["t"] for event in events if event.get("reason") == "decrease"]
    measured = [t for t in at if t >= begin]
    return len(measured), sum(b - a < SOON for a, b in pairwise(measured))


def observe(run: Json) -> Json:
    """What docs/cwhstcp.md says of a run, besides its summary."""
    fast, rest = fast_flows(run), background(run)
    windows = [mean_window(run, flow) for flow in fast]
    found: Json = {"windows": [round(w, 1) for w in windows]}
    if len(fast) == 1:
        queue = burst_queue(run)
        found["burst_queue"] = {"mean": round(queue[0], 2), "max": round(queue[1], 1)}
        return found
    capacity = run["summary"]["capacity_bps"]
    found["shares"] = [round(flow["goodput_bps"] / capacity, 5) for flow in fast]
    found["jain"] = round(result.jain([flow["goodput_bps"] for flow in fast]) or 0, 5)
    found["jain_windows"] = round(result.jain(windows) or 0, 5)
    over = {str(seconds): jain_over(run, fast, seconds) for seconds in SCALES}
    found["jain_over"] = {seconds: round(j, 5) for seconds, j in over.items() if j is not None}
    if rest:
        share = sum(flow["goodput_bps"] for flow in rest) / capacity
        found["background"] = {"share": round(share, 5), "loss": round(loss(run, rest), 8)}
    if run["scenario"]["name"] in ("cwhstcp-table2", "cwhstcp-table2-sync", "cwhstcp-table2-ns2"):
        found["losses"] = [loss_events(run, flow["connections"][0]) for flow in fast]
        # Of 200 s; a run that was cut has them at the same parts of it.
        part = run["scenario"]["duration"] / 200
        times = ((50, 100), (100, 150), (150, 200))
        found["shares_at"] = {
            f"{b}-{e}": shares_at(run, fast, b * part, e * part) for b, e in times
        }
    if run["scenario"]["trace"]:
        found["decreases"], found["soon"] = map(
            list, zip(*(decreases(run, f) for f in fast), strict=True)
        )
    # The pictures of windows, of the first seed.
    drawn = run["scenario"]["name"] in ("cwhstcp-table2", "cwhstcp-fig6")
    if drawn and run["seed"] == run["scenario"]["seeds"][0]:
        found["cwnd"] = [series(run, i, "cwnd") for i in range(len(fast))]
    return found
