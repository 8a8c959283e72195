# SPDX-License-Identifier: GPL-2.0
"""The shares of docs/security.md, which tests/lab/share.py measured."""

from __future__ import annotations

from . import kept, markdown, plus


def shares() -> str:
    rows = []
    for one in kept("security-share"):
        values = [100 * value for value in one["shares"]]
        equal = 100 * one["connections"] / (one["connections"] + 3)
        rows.append([one["cc"], str(one["connections"]), f"{equal:.1f}", plus(values, 1)])
    return markdown(["", "connections", "an equal part, %", "share, %"], rows)


PARTS = {"docs/security.md": {"shares": shares}}
