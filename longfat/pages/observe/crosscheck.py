# SPDX-License-Identifier: GPL-2.0
"""What is looked at where the lab is compared with other backends."""

from __future__ import annotations

from longfat.pages.data import losses_per_overflow, rates, series
from longfat.run.result import Json


def observe(run: Json) -> Json:
    """Loss events after the warm-up, by the bottleneck's counter of drops, and the window over
    time."""
    losses, _ = losses_per_overflow(run)
    return {"losses": losses, "cwnd": series(run, 0, "cwnd"), "mbps": rates(run, 1.0)}
