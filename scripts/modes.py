# SPDX-License-Identifier: GPL-2.0
"""What gHSTCP's modes and HighSpeed TCP's growth did in a run: the figures of docs/ghstcp.md,
made from results for the tests and the page.

    scripts/longfat python scripts/modes.py RESULT.json...

prints the observables of the paper's Figs. 4 and 6 for results of scenarios with `trace = true`.
"""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import hstcp_table
from lab import result
from lab.modules import ROOT
from lab.result import Json

HSTCP, RENO = 0, 1
OPEN, DISORDER = 0, 1  # tcpi_ca_state


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


def bdp_of(run: Json) -> float:
    """The bandwidth-delay product of the first flow, packets."""
    link = run["scenario"]["link"]
    return link["rate"] * run["flows"][0]["base_rtt_ms"] / 1e3 / 8 / link["mtu"]


def of(run: Json) -> Modes:
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
        slow_start = ssthresh is None or cwnd < ssthresh
        if t < scenario["warmup"] or state > DISORDER or slow_start:
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
    modes = [(t, m) for t, m in changes if t >= scenario["warmup"]]
    switched = [t for (_, a), (t, b) in pairwise(modes) if a != b]
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


def fill_seconds(run: Json, begin: float = 0.7) -> float:
    """Seconds from the first window of `begin` BDP in congestion avoidance to one BDP: the
    first climb that reaches it without a loss."""
    bdp = bdp_of(run)
    one = run["flows"][0]["connections"][0]
    since = None
    for t, cwnd, ssthresh in zip(one["t"], one["cwnd"], one["ssthresh"], strict=True):
        if ssthresh is None or cwnd < begin * bdp:
            since = None
        elif cwnd >= bdp:
            if since is not None:
                return float(round(t - since, 6))
        elif since is None:
            since = t
    raise ValueError(f"{run['scenario']['name']}: no climb from {begin} BDP to the BDP")


def losses_per_overflow(run: Json) -> tuple[int, float]:
    """(how often the bottleneck's buffer overflowed after the warm-up and the first loss event,
    packets dropped by it each time): drops within two round trips of each other are one."""
    base = run["flows"][0]["base_rtt_ms"] / 1e3
    queue = run["queue"]
    events: list[list[float]] = []  # [time of the last drop, drops]
    for i in range(1, len(queue["t"])):
        lost = queue["dropped"][i] - queue["dropped"][i - 1]
        if not lost:
            continue
        if events and queue["t"][i] - events[-1][0] <= 2 * base + run["scenario"]["sample"]:
            events[-1] = [queue["t"][i], events[-1][1] + lost]
        else:
            events.append([queue["t"][i], lost])
    counted = [lost for t, lost in events[1:] if t >= run["scenario"]["warmup"]]
    if not counted:
        raise ValueError(f"{run['scenario']['name']}: the buffer never overflowed")
    return len(counted), sum(counted) / len(counted)


def growth(run: Json) -> float:
    """Growth of the first flow in congestion avoidance between losses, as a multiple of
    RFC 3649's a(W) (scripts/hstcp_table.py)."""
    one = run["flows"][0]["connections"][0]
    sample = run["scenario"]["sample"]
    skip = round(0.75 / sample)  # after a loss: recovery, and RTTs of before
    gained = expected = 0.0
    calm = 0
    for i in range(1, len(one["t"])):
        before, after = one["cwnd"][i - 1], one["cwnd"][i]
        calm = calm + 1 if after >= before and one["state"][i] <= DISORDER else 0
        if calm > skip and one["t"][i] >= run["scenario"]["warmup"]:
            gained += after - before
            expected += hstcp_table.a(before) * sample * 1e6 / one["rtt_us"][i]
    return gained / expected


def fairness(run: Json) -> float:
    """Jain's index over x_i = M_i / C_i of the paper's section 4.2: Flow-1 and the two
    connections of Flow-2."""
    table = tomllib.loads((ROOT / "tests/published/ghstcp-table1.toml").read_text())
    row = table[f"{run['scenario']['link']['rate'] // 10**6}mbit"]
    fair = row[f"{run['scenario']['flow'][1]['socket_buffer'] // 1024}KiB"]
    measured = [flow["goodput_bps"] / 1e6 for flow in run["flows"]]
    return result.jain([m / c for m, c in zip(measured, fair, strict=True)]) or 0.0


def main() -> int:
    for name in sys.argv[1:]:
        run = result.read(Path(name))
        print(json.dumps({"run": run["scenario"]["name"], **asdict(of(run))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
