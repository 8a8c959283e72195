# SPDX-License-Identifier: GPL-2.0
"""What is looked at in a run of docs/slow-start.md."""

from __future__ import annotations

from longfat.core.errors import LabError
from longfat.pages.data import DISORDER
from longfat.run.result import Json

DRAWN = "-120ms-0.33bdp"  # the cell of the first minute whose beginning is drawn
SHOWN = 6.0  # seconds of it


def over(connection: Json) -> float | None:
    """When all that slow start could lose was lost, seconds; None if it never ended.

    Slow start is over with the first sample whose window has reached ssthresh, or with the first
    loss event.  A loss event within a round trip of its end is its own: the packet was sent
    before.  What it lost is lost two round trips after such an event begins."""
    names = ("t", "cwnd", "ssthresh", "rtt_us", "state")
    end = None
    for t, cwnd, ssthresh, rtt_us, state in zip(*(connection[n] for n in names), strict=True):
        if state > DISORDER:
            return float(t + 2e-6 * rtt_us)
        if end is None and ssthresh is not None and cwnd >= ssthresh:
            end = t, t + rtt_us / 1e6
        if end and t >= end[1]:
            return float(end[0])
    return end and float(end[0])


def dropped(run: Json, until: float) -> int:
    """Packets that the bottleneck has dropped until then."""
    queue = zip(run["queue"]["t"], run["queue"]["dropped"], strict=True)
    return max((int(count) for t, count in queue if t <= until), default=0)


def beginning(run: Json) -> Json:
    """Window and queue in the first seconds, packets."""
    one, queue = run["flows"][0]["connections"][0], run["queue"]
    found: Json = {}
    for name, of, column in (("cwnd", one, "cwnd"), ("queue", queue, "packets")):
        points = [x for x in zip(of["t"], of[column], strict=True) if x[0] <= SHOWN]
        found[name] = [[round(t, 3), value] for t, value in points]
    return found


def ended(run: Json) -> Json:
    """When slow start was over, seconds, and what was lost until then, packets."""
    one = run["flows"][0]["connections"][0]
    end = over(one)
    if end is None:
        return {"over_s": None, "until": run["summary"]["dropped"]}
    until = dropped(run, end) - dropped(run, run["scenario"]["warmup"])
    return {"over_s": round(end - one["t"][0], 3), "until": until}


def observe(run: Json) -> Json:
    """Of a flow of limited size: how long it took.  Of another: when slow start was over, and what
    was lost until then; of one cell, what is drawn."""
    one, name = run["flows"][0], run["scenario"]["name"]
    if run["scenario"]["flow"][0]["bytes"]:
        if one["completion_s"] is None:
            raise LabError(f"{name}: ended before all was transferred")
        return {"completion_s": round(one["completion_s"], 6)}
    found = ended(run)
    if name.startswith("slow-start-1g-") and name.endswith(DRAWN):
        found |= beginning(run)
    return found
