# SPDX-License-Identifier: GPL-2.0
"""What a comparison gives: a table, and a page with pictures of each path."""

from __future__ import annotations

from collections.abc import Callable

from rich import box
from rich.table import Table

from longfat.core import units
from longfat.run.result import Json
from longfat.show import report

# What the path of a scenario may differ in, and how it is shown.
_PATH: dict[str, Callable[[Json], str]] = {
    "rate": lambda of: units.show_rate(of["link"]["rate"]),
    "RTT": lambda of: f"{of['flow'][0]['rtt'] * 1e3:g} ms",
    "buffer": lambda of: "{:g} {}".format(*of["link"]["buffer"]),
    "loss": lambda of: f"{of['link']['loss'] * 100:g} %",
    "flows": lambda of: str(of["flow"][0]["count"]),
}
# What it was on, too.
_KEYS = (*_PATH, "kernel")


def algorithm(result: Json) -> str:
    """What is compared in a run."""
    return str(result["scenario"]["flow"][0]["cc"])


def _path(result: Json, keys: list[str]) -> tuple[str, ...]:
    return tuple(
        str(result["kernel"]) if key == "kernel" else _PATH[key](result["scenario"]) for key in keys
    )


def _varied(results: list[Json]) -> list[str]:
    return [key for key in _KEYS if len({_path(one, [key]) for one in results}) > 1]


def _goodput(result: Json, group: int) -> str:
    flows = (flow["goodput_bps"] for flow in result["flows"] if flow["group"] == group)
    return f"{sum(flows) / 1e6:.2f}"


def rows(results: list[Json]) -> tuple[list[str], list[list[str]]]:
    """Headings, and a row for each run: what its path is, the algorithm and what it had."""
    keys = _varied(results)
    seeds = len({one["seed"] for one in results}) > 1
    beside = [flow["cc"] for flow in results[0]["scenario"]["flow"][1:]]
    # Of the columns of every run's table those behind the goodput.
    several = any(len(one["flows"]) > 1 for one in results)
    last = len(report.HEADINGS) if several else -1
    headings = [*keys, *(["seed"] if seeds else []), "cc", "goodput\nMbit/s"]
    headings += [f"{name}\nbeside it" for name in beside] + list(report.HEADINGS[3:last])
    found = [
        [
            *_path(one, keys),
            *([str(one["seed"])] if seeds else []),
            algorithm(one),
            *(_goodput(one, group) for group in range(1 + len(beside))),
            *report.row(one)[3:last],
        ]
        for one in results
    ]
    return headings, found


def table(results: list[Json]) -> Table:
    """For a terminal, with a line between paths."""
    headings, found = rows(results)
    out = Table(title=results[0]["scenario"]["title"], box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    left = headings.index("cc")
    for number, heading in enumerate(headings):
        out.add_column(heading, justify="left" if number == left else "right", no_wrap=True)
    before: list[str] = []
    for row in found:
        if before and row[:left] != before:
            out.add_section()
        before = row[:left]
        out.add_row(*row)
    return out


def page(results: list[Json], command: str) -> str:
    """An HTML page: the table, and for each path pictures of all algorithms on it."""
    keys = _varied(results)
    parts: dict[tuple[str, ...], list[Json]] = {}
    for one in results:
        seed = [f"seed {one['seed']}"] if len({x["seed"] for x in results}) > 1 else []
        named = [f"{key} {value}" for key, value in zip(keys, _path(one, keys), strict=True)]
        parts.setdefault((*named, *seed), []).append(one)
    return report.page(
        results,
        results[0]["scenario"]["title"],
        command,
        table=rows(results),
        parts={", ".join(words): of for words, of in parts.items()},
        name=algorithm,
    )
