# SPDX-License-Identifier: GPL-2.0
"""What is looked at in an experiment that explains a number of the arena."""

from __future__ import annotations

from itertools import pairwise

from longfat.pages.data import losses_per_overflow, rates
from longfat.run.result import Json

STEP = 0.1  # seconds, of what is carried


def out_of_an_empty_queue(run: Json) -> int:
    """Packets of the whole run that the bottleneck dropped between two samples with nothing in its
    queue."""
    samples = zip(run["queue"]["packets"], run["queue"]["dropped"], strict=True)
    return sum(then - now for (a, now), (b, then) in pairwise(samples) if a == b == 0)


def carried(run: Json) -> Json:
    """What all flows together carry in a tenth of a second, as a part of the link: the least and
    the most from the warm-up on."""
    first = round(run["scenario"]["warmup"] / STEP)
    together = [1e6 * sum(of) for of in zip(*rates(run, STEP), strict=True)][first:]
    capacity = run["summary"]["capacity_bps"]
    return {
        "least": round(min(together) / capacity, 4),
        "most": round(max(together) / capacity, 4),
    }


def after_outage(run: Json) -> Json:
    """Of a flow, after the outage of its link: `back`, seconds until it has 90 % of the rate in a
    tenth of a second, or the run ends; `still`, how long nothing arrives at most; `window`, its
    window in packets half a second after the outage."""
    (end,) = (one["time"] for one in run["scenario"]["link"]["at"] if one["down"] is False)
    (carries,) = rates(run, STEP)
    enough = 0.9 * run["summary"]["capacity_bps"] / 1e6
    first = round(end / STEP)
    back = next((at for at in range(first, len(carries)) if carries[at] >= enough), len(carries))
    (connection,) = run["flows"][0]["connections"]
    later = next(at for at, time in enumerate(connection["t"]) if time >= end + 0.5)
    counts = pairwise([0, *connection["delivered"]])
    came = [
        time
        for time, (before, now) in zip(connection["t"], counts, strict=True)
        if time > end and now > before
    ]
    still = max(b - a for a, b in pairwise([end, *came, connection["t"][-1]]))
    return {
        "back": round((back - first) * STEP, 1),
        "still": round(still, 1),
        "window": connection["cwnd"][later],
    }


def observe(run: Json) -> Json:
    """Of a link that was down how soon a flow is back; of RED what it drops; of others what is
    carried and how often they overflow; of objects nothing, which a summary has."""
    if not run["flows"]:
        return {}
    if run["scenario"]["link"]["at"]:
        return after_outage(run)
    if run["scenario"]["link"]["aqm"] == "red":
        return {"empty": out_of_an_empty_queue(run)}
    return {"carried": carried(run), "overflows": losses_per_overflow(run)[0]}
