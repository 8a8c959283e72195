# SPDX-License-Identifier: GPL-2.0
"""The table of docs/lab.md."""

from __future__ import annotations

from longfat.pages.tables import figure

PARTS = {"docs/lab.md": {"kernels": figure("kernels")}}
