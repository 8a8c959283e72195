# SPDX-License-Identifier: GPL-2.0
"""What is looked at in a run of docs/ghstcp.md; the tests look at it too."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from itertools import pairwise

from longfat.build import hstcp
from longfat.core.errors import LabError
from longfat.pages.data import (
    PUBLISHED,
    avoidance,
    bdp_of,
    losses_per_overflow,
    series,
)
from longfat.run import result
from longfat.run.result import Json

HSTCP, RENO = 0, 1


@dataclass
class Modes:
    """Of one connection, from the warm-up on, in congestion avoidance."""

    hstcp_below: float | None  # share of the time below the BDP that is in HSTCP mode
    reno_above: float | None  # of the time above BDP + 20 % of the buffer in Reno mode
    below_s: float  # how long these times were, seconds
    above_s: float
    epochs: int  # from loss event to loss event, the beginning and the end close the others
    switches_mean: float  # changes of mode in an epoch, the one that begins it included
    switches_max: int


def modes(run: Json) -> Modes:
    """The observables of the first flow of a result."""
    link, scenario = run["scenario"]["link"], run["scenario"]
    one = run["flows"][0]["connections"][0]
    base = run["flows"][0]["base_rtt_ms"] / 1e3
    bdp = bdp_of(run)
    amount, unit = link["buffer"]
    buffer = {"bdp": amount * bdp, "b": amount / link["mtu"], "p": amount}[unit]

    changes = [(e["t"], e["mode"]) for e in one["events"] if "mode" in e]
    seconds = {(place, mode): 0.0 for place in ("below", "above") for mode in (HSTCP, RENO)}
    at, mode = 0, HSTCP
    columns = zip(one["t"], one["cwnd"], one["ssthresh"], one["state"], strict=True)
    for t, cwnd, ssthresh, state in columns:
        while at < len(changes) and changes[at][0] <= t:
            mode = changes[at][1]
            at += 1
        if t < scenario["warmup"] or not avoidance(cwnd, ssthresh, state):
            continue
        if cwnd < bdp:
            seconds["below", mode] += scenario["sample"]
        elif cwnd > bdp + 0.2 * buffer:
            seconds["above", mode] += scenario["sample"]
    below = seconds["below", HSTCP] + seconds["below", RENO]
    above = seconds["above", HSTCP] + seconds["above", RENO]

    # A loss event: decreases within one round trip of each other are one.
    losses: list[float] = []
    for event in one["events"]:
        if event["reason"] == "decrease" and (not losses or event["t"] - losses[-1] > base):
            losses.append(event["t"])
    edges = [t for t in losses if t >= scenario["warmup"]]
    edges = [scenario["warmup"], *edges, scenario["duration"] + 1]
    switched = [t for (_, a), (t, b) in pairwise(changes) if a != b]
    counts = [sum(1 for t in switched if a <= t < b) for a, b in pairwise(edges)]
    return Modes(
        hstcp_below=seconds["below", HSTCP] / below if below else None,
        reno_above=seconds["above", RENO] / above if above else None,
        below_s=round(below, 6),
        above_s=round(above, 6),
        epochs=len(counts),
        switches_mean=sum(counts) / len(counts),
        switches_max=max(counts),
    )


FILL_FROM = 0.92  # of the BDP; beside the UDP of the scenarios the window is below it


def fill_seconds(run: Json) -> float:
    """Seconds from FILL_FROM of a BDP to one BDP: the first climb through both in congestion
    avoidance that a loss does not end."""
    bdp = bdp_of(run)
    one = run["flows"][0]["connections"][0]
    since, below = None, False
    columns = zip(one["t"], one["cwnd"], one["ssthresh"], one["state"], strict=True)
    for t, cwnd, ssthresh, state in columns:
        inside = avoidance(cwnd, ssthresh, state)
        if not inside or cwnd < FILL_FROM * bdp:
            since = None
        elif since is None and below and cwnd < bdp:
            since = t
        below = inside and cwnd < FILL_FROM * bdp
        if since is not None and cwnd >= bdp:
            return float(round(t - since, 6))
    raise LabError(f"{run['scenario']['name']}: no climb from {FILL_FROM} BDP to the BDP")


def growth(run: Json) -> float:
    """Growth of the first flow in congestion avoidance between losses, as a multiple of
    RFC 3649's a(W) (longfat/build/hstcp.py)."""
    one = run["flows"][0]["connections"][0]
    sample = run["scenario"]["sample"]
    skip = round(0.75 / sample)  # after a loss: recovery, and RTTs of before
    gained = expected = 0.0
    calm = 0
    for i in range(1, len(one["t"])):
        before, after = one["cwnd"][i - 1], one["cwnd"][i]
        inside = avoidance(before, one["ssthresh"][i], one["state"][i])
        calm = calm + 1 if after >= before and inside and one["rtt_us"][i] else 0
        if calm > skip and one["t"][i] >= run["scenario"]["warmup"]:
            gained += after - before
            expected += hstcp.a(before) * sample * 1e6 / one["rtt_us"][i]
    if not expected:
        raise LabError(f"{run['scenario']['name']}: no congestion avoidance to look at")
    return gained / expected


def fairness(run: Json) -> float:
    """Jain's index over x_i = M_i / C_i of the paper's section 4.2: Flow-1 and the two
    connections of Flow-2."""
    table = tomllib.loads((PUBLISHED / "ghstcp-table1.toml").read_text())
    row = table[f"{run['scenario']['link']['rate'] // 10**6}mbit"]
    fair = row[f"{run['scenario']['flow'][1]['socket_buffer'] // 1024}KiB"]
    measured = [flow["goodput_bps"] / 1e6 for flow in run["flows"]]
    return result.jain([m / c for m, c in zip(measured, fair, strict=True)]) or 0.0


def observe(run: Json) -> Json:
    """What docs/ghstcp.md says of a run, besides its summary."""
    found: Json = {}
    name = run["scenario"]["name"]
    if any("mode" in event for event in run["flows"][0]["connections"][0].get("events", [])):
        found["modes"] = asdict(modes(run))
    if name.startswith("ghstcp-fig6"):
        found["cwnd"] = series(run, 0, "cwnd")
        found["rtt"] = series(run, 0, "rtt_us")
        events = run["flows"][0]["connections"][0]["events"]
        found["modes_at"] = [[round(e["t"], 2), e["mode"]] for e in events if "mode" in e]
    if "-fill-" in name:
        found["fill_s"] = fill_seconds(run)
    if "-gro-" in name:
        found["growth"] = round(growth(run), 4)
    if len(run["flows"]) > 1:
        found["fairness"] = round(fairness(run), 6)
    else:
        found["overflows"], found["lost"] = losses_per_overflow(run)
    return found
