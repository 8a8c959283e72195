# SPDX-License-Identifier: GPL-2.0
"""The table of docs/use.md."""

from __future__ import annotations

from longfat.pages.tables import figure

PARTS = {"docs/use.md": {"measured": figure("which-algorithm")}}
