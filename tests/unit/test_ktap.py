# SPDX-License-Identifier: GPL-2.0
"""KTAP of the programs that are none of pytest."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
from longfat.check import tally as check


def test_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    results = [
        ktap.Result("one"),
        ktap.Result("two", False, "why\nwhere"),
        ktap.Result("three", skip="no such thing"),
        ktap.Result("four", said="1..2\nok 1 - a\nok 2 - b", indent="    "),
    ]
    assert ktap.document(4, results) == 1
    said = capsys.readouterr().out
    assert said.splitlines() == [
        "KTAP version 1",
        "1..4",
        "ok 1 - one",
        "# why",
        "# where",
        "not ok 2 - two",
        "ok 3 - three # SKIP no such thing",
        "    1..2",
        "    ok 1 - a",
        "    ok 2 - b",
        "ok 4 - four",
    ]
    tally = check.tally(said, 1)
    assert (tally.passed, tally.failed, len(tally.skipped)) == (3, ["two"], 1)


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ([ktap.Result("a"), ktap.Result("b")], 0),
        ([ktap.Result("a"), ktap.Result("b", skip="why")], 0),
        ([ktap.Result("a", skip="why"), ktap.Result("b", skip="why")], ktap.SKIPPED),
        ([ktap.Result("a", False), ktap.Result("b", skip="why")], 1),
    ],
)
def test_a_status(results: list[ktap.Result], status: int) -> None:
    assert ktap.document(2, results) == status


def test_what_is_missing_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    """A program that was to have two results and has one says so itself."""
    ktap.document(2, [ktap.Result("a")])
    assert check.tally(capsys.readouterr().out, 0).failed
