# SPDX-License-Identifier: GPL-2.0
"""What is looked at in a run that is made on several kernels."""

from __future__ import annotations

from longfat.pages.data import series
from longfat.run.result import Json


def observe(run: Json) -> Json:
    """The window over time, for the picture."""
    return {"cwnd": series(run, 0, "cwnd")}
