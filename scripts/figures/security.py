# SPDX-License-Identifier: GPL-2.0
"""The shares of docs/security.md, which tests/lab/share.py measured."""

from __future__ import annotations

from . import kept, markdown, plus


def shares() -> str:
    rows = []
    for one in kept("security-share"):
        values = [100 * value for value in one["shares"]]
        equal = 100 * one["connections"] / (one["connections"] + 3)
        place = [one["cc"], one["rate"].replace("mbit", "")]
        rows.append([*place, str(one["connections"]), f"{equal:.1f}", plus(values, 1)])
    headings = ["", "Mbit/s", "connections", "an equal part, %", "share, %"]
    return markdown(headings, rows)


PARTS = {"docs/security.md": {"shares": shares}}
