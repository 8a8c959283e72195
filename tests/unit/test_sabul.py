# SPDX-License-Identifier: GPL-2.0
"""SABUL's law in double precision: the data of tests/kunit/sabul_kunit.c."""

from __future__ import annotations

import pytest

import sabul_table
from longfat.build import modules


def test_the_table_is_what_the_script_makes() -> None:
    made = (modules.ROOT / "tests/kunit/sabul_table.h").read_text()
    assert made == sabul_table.header() + "\n"


@pytest.mark.parametrize(
    ("lost", "sent", "cap", "after"),
    [
        (0, 100, False, 0.99 * 1e5),
        (1, 2000, False, 0.995 * 1e5),
        (1, 1000, False, 1e5 + 100),
        (11, 1000, False, 1e5 * 1.00125 + 2000),
        (11, 1000, True, 1e5 * 1.00125 + 2000),
    ],
)
def test_law(lost: int, sent: int, cap: bool, after: float) -> None:
    """Table 2's constants at 100 us between packets."""
    assert sabul_table.law(1e5, lost, sent, cap) == pytest.approx(after)


@pytest.mark.parametrize(("lost", "share"), [(1, 1 / 120), (2, 1 / 6 + 0.125e-3)])
def test_cap(lost: int, share: float) -> None:
    """At 10 Gbit/s a step takes what it takes at 1 Gbit/s."""
    assert sabul_table.law(1200, lost, 1000, True) == pytest.approx(1200 * (1 + share))
