# SPDX-License-Identifier: GPL-2.0
"""What is looked at in an experiment that explains a number of the arena."""

from __future__ import annotations

from itertools import pairwise

from longfat.run.result import Json


def observe(run: Json) -> Json:
    """Packets that the bottleneck dropped, and how many of them between two samples with nothing
    in the queue."""
    queue = run["queue"]
    samples = list(zip(queue["packets"], queue["dropped"], strict=True))
    empty = sum(then - now for (a, now), (b, then) in pairwise(samples) if a == b == 0)
    return {"dropped": samples[-1][1], "empty": empty}
