# SPDX-License-Identifier: GPL-2.0
"""What a gHSTCP flow's mode was worth: the observables of the paper's Figs. 4 and 6.

    scripts/longfat python scripts/modes.py RESULT.json...

A result must come from a scenario with `trace = true`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from lab import result
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


def of(run: Json, flow: int = 0, connection: int = 0) -> Modes:
    """The observables of one connection of a result."""
    link, scenario = run["scenario"]["link"], run["scenario"]
    one = run["flows"][flow]["connections"][connection]
    base = run["flows"][flow]["base_rtt_ms"] / 1e3
    bdp = link["rate"] * base / 8 / link["mtu"]
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


def main() -> int:
    for name in sys.argv[1:]:
        run = result.read(Path(name))
        print(json.dumps({"run": run["scenario"]["name"], **asdict(of(run))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
