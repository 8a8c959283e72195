# SPDX-License-Identifier: GPL-2.0
"""What is looked at in an experiment that explains a number of the arena."""

from __future__ import annotations

from itertools import pairwise

from longfat.pages.data import losses_per_overflow, rates
from longfat.run.result import Json

STEP = 0.1  # seconds, of what is carried


def observe(run: Json) -> Json:
    """Packets that the bottleneck dropped, and how many of them between two samples with nothing
    in the queue; how often it overflowed in the measured time; and what all flows together carried
    in a tenth of a second of it, the least and the most, as a part of the link."""
    queue, begin = run["queue"], run["scenario"]["warmup"]
    samples = list(zip(queue["packets"], queue["dropped"], strict=True))
    empty = sum(then - now for (a, now), (b, then) in pairwise(samples) if a == b == 0)
    overflows, _ = losses_per_overflow(run)
    together = [1e6 * sum(of) for of in zip(*rates(run, STEP), strict=True)][round(begin / STEP) :]
    parts = [one / run["summary"]["capacity_bps"] for one in together]
    carried = {"least": round(min(parts), 4), "most": round(max(parts), 4)}
    return {"dropped": samples[-1][1], "empty": empty, "overflows": overflows, "carried": carried}
