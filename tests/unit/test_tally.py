# SPDX-License-Identifier: GPL-2.0
"""Adding up KTAP: nothing that did not pass may count as passed."""

from __future__ import annotations

import pytest

from longfat.check.tally import Tally, tally

FLAT = """\
KTAP version 1
1..4
ok 1 one
# a diagnostic: not ok 9 this is no result
ok 2 - two
ok 3 three # SKIP no clang: make deps
ok 4
"""

NESTED = """\
KTAP version 1
1..2
    KTAP version 1
    # Subtest: growth
    # module: growth_kunit
    1..2
    ok 1 a
        KTAP version 1
        # Subtest: b
        ok 1 b0
        ok 2 b1
        ok 3 b2 # SKIP not here
    # b: pass:2 fail:0 skip:1 total:3
    ok 2 b
# growth: pass:2 fail:0 skip:0 total:2
# Totals: pass:3 fail:0 skip:1 total:4
ok 1 growth
    KTAP version 1
    1..1
    ok 1 c
ok 2 params
"""


def count(found: Tally) -> tuple[int, int, int]:
    return found.passed, len(found.failed), len(found.skipped)


def test_flat() -> None:
    found = tally(FLAT, 0)
    assert count(found) == (3, 0, 1)
    assert found.skipped == ["three: no clang: make deps"]


def test_nested_counts_leaves() -> None:
    found = tally(NESTED, 0)
    assert count(found) == (4, 0, 1)
    assert found.skipped == ["b2: not here"]


def test_failures_are_named() -> None:
    found = tally(FLAT.replace("ok 2 -", "not ok 2 -"), 1)
    assert count(found) == (2, 1, 1)
    assert found.failed == ["two"]
    found = tally(
        NESTED.replace("    ok 1 c", "    not ok 1 c").replace("ok 2 params", "not ok 2 params"), 1
    )
    assert count(found) == (3, 1, 1)
    assert found.failed == ["c"]


def test_a_nested_failure_counts_if_its_parent_does_not_know() -> None:
    assert count(tally(NESTED.replace("    ok 1 c", "    not ok 1 c"), 0)) == (3, 1, 1)


def test_a_parent_that_failed_though_its_parts_passed() -> None:
    """A suite's init or exit failed: nothing below it says so."""
    found = tally(NESTED.replace("ok 2 params", "not ok 2 params"), 0)
    assert found.passed == 4
    assert found.failed == ["params"]


@pytest.mark.parametrize("line", ["ok 4\n", "ok 2 - two\n"])
def test_plan_not_kept(line: str) -> None:
    found = tally(FLAT.replace(line, ""), 0)
    assert len(found.failed) == 1
    assert "3 results, 4 planned" in found.failed[0]


def test_more_than_planned() -> None:
    found = tally(FLAT + "ok 5 five\n", 0)
    assert len(found.failed) == 1 and "5 results, 4 planned" in found.failed[0]


def test_plan_of_a_subtest_not_kept() -> None:
    found = tally(NESTED.replace("    ok 1 c\n", ""), 0)
    assert len(found.failed) == 1 and "params: 0 results, 1 planned" in found.failed[0]
    found = tally(NESTED.replace("    1..1\n", "    1..3\n"), 0)
    assert len(found.failed) == 1 and "params: 1 results, 3 planned" in found.failed[0]


@pytest.mark.parametrize("cut", range(NESTED.count("\n")))
def test_cut_off_anywhere_is_not_passed(cut: int) -> None:
    """The kernel panicked, or the program was killed: some results, and then nothing."""
    text = "".join(NESTED.splitlines(keepends=True)[:cut])
    assert tally(text, 0).failed


def test_plan_at_the_end() -> None:
    assert count(tally("ok 1 a\nok 2 b\n1..2\n", 0)) == (2, 0, 0)
    assert len(tally("ok 1 a\n1..2\n", 0).failed) == 1


def test_two_documents() -> None:
    assert count(tally(FLAT + NESTED, 0)) == (7, 0, 2)
    cut = FLAT.replace("ok 4\n", "")
    found = tally(cut + NESTED, 0)
    assert count(found) == (6, 1, 2)


@pytest.mark.parametrize("status", [0, 1, 4, 139])
@pytest.mark.parametrize(
    "text", ["", "sh: 1: not found\n", "KTAP version 1\n", "TAP version 13\n1..0\n"]
)
def test_no_results(text: str, status: int) -> None:
    found = tally(text, status)
    assert count(found) == (0, 1, 0)
    assert f"status {status}" in found.failed[0]


@pytest.mark.parametrize("status", [1, 2, -9, 137])
def test_bad_status_without_a_failure(status: int) -> None:
    found = tally(FLAT, status)
    assert found.failed == [f"exit status {status}"]


def test_status_of_a_skip() -> None:
    assert count(tally("1..1\nok 1 a # SKIP no network\n", 4)) == (0, 0, 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ok 1 name # SKIP why it is", "name: why it is"),
        ("ok 1 - name # skip why", "name: why"),
        ("ok 1 name # SKIP", "name: no reason given"),
        ("ok 1 name # SKIP: why", "why"),
        ("not ok 1 name # SKIP why", "name: why"),
        # Without a description, as kselftest's C helpers print it.
        ("ok 1 # SKIP why", "why"),
        ("ok 1 a#b # SKIP why # really", "a#b: why # really"),
    ],
    # A name with a directive in it would be one, where this test is reported in TAP.
    ids=range(7),
)
def test_skip(line: str, said: str) -> None:
    found = tally(f"1..1\n{line}\n", 0)
    assert count(found) == (0, 0, 1)
    assert said in found.skipped[0]


def test_words_are_no_results() -> None:
    found = tally("1..1\nokay, here we go\nnot okay\nlooks ok 1\nok 1 a\n", 0)
    assert count(found) == (1, 0, 0)
