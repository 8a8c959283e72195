# SPDX-License-Identifier: GPL-2.0
"""The shares of docs/security.md, which tests/lab/share.py measured."""

from __future__ import annotations

from longfat.pages.data import kept, markdown, older, plus
from longfat.run.result import Json


def _row(one: Json) -> list[str]:
    equal = 100 * one["connections"] / (one["connections"] + 3)
    values = [100 * value for value in one["shares"]]
    place = [one["cc"], one["rate"].replace("mbit", ""), str(one["connections"])]
    return [*place, f"{equal:.1f}", plus(values, 1)]


def shares() -> str:
    return markdown(
        ["", "Mbit/s", "connections", "an equal part, %", "share, %"],
        [_row(one) for one in kept("security-share") if one["way"] == "plain"],
    )


# What the user does, by greedy.py's word for it.
DOES = {
    "fresh": "new connections in place of old ones",
    "seldom": "its receiver reads when a megabyte is there",
    "loss": "selected again after each loss",
    "switch": "selected again each second",
}


def others() -> str:
    return markdown(
        ["", "does", "Mbit/s", "connections", "an equal part, %", "share, %"],
        [
            [_row(one)[0], DOES[one["way"]], *_row(one)[1:]]
            for one in kept("security-share")
            if one["way"] != "plain"
        ],
    )


PARTS = {"docs/security.md": {"shares": shares, "others": others, "older": older}}
