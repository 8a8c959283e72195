# SPDX-License-Identifier: GPL-2.0
"""The test suites of docs/testing.md: what each is for, by tests/suites.toml, and what it costs, by
docs/results/check-times.json."""

from __future__ import annotations

from longfat.check import suites, times
from longfat.pages.data import RESULTS, markdown

FILE = RESULTS / "check-times.json"


def _minutes(seconds: float | None) -> str:
    """Minutes and seconds, "not measured" of None."""
    if seconds is None:
        return "not measured"
    return f"{round(seconds) // 60}:{round(seconds) % 60:02}"


def _cores(suite: suites.Suite) -> str:
    if suite.alone:
        return "alone"
    return str(suite.cores or "any")


def table() -> str:
    """A row for each suite."""
    measured = times.read(FILE)["suites"]
    rows = []
    for name, suite in suites.load().items():
        one = measured.get(name, {})
        results = one["passed"] + one["skipped"] if one else None
        rows.append(
            [
                f"`{name}`",
                suite.about,
                ", ".join(sorted(suite.lanes)),
                _cores(suite),
                "not measured" if results is None else str(results),
                _minutes(one.get("wall_s")),
                _minutes(one.get("cpu_s")),
            ]
        )
    headings = ["suite", "what it is for", "lane", "cores", "results", "time", "processor time"]
    return markdown(headings, rows, prose=(1, 2))


def whole() -> str:
    """What all of it takes, and each lane."""
    runs = times.read(FILE)["runs"]
    names = {times.ALL: "make check"} | {
        lane: f"make check SUITE={lane}" for lane in suites.lanes(suites.load())
    }
    rows = []
    for name, command in names.items():
        one = runs.get(name, {})
        cache = "with an empty cache" if one.get("empty_cache") else "with a warm cache"
        rows.append(
            [
                f"`{command}`",
                _minutes(one.get("wall_s")),
                f"{one['cores']} cores, {cache}" if one else "",
            ]
        )
    return markdown(["command", "time", "where"], rows, prose=(2,))


PARTS = {"docs/testing.md": {"suites": table, "whole": whole}}
