# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/evaluation.md, and the one of docs/use.md that is of the same numbers: from
what `longfat evaluate --keep` has written."""

from __future__ import annotations

from longfat.arena.keep import NAME
from longfat.pages.data import markdown, measured, older
from longfat.run.result import Json

# Beside a number; a standard's has none.
SIGNS = {"better": " +", "worse": " -", "harmful": " !"}
COUNTED = ("better", "between", "worse", "harmful", "failed")

# What decides which algorithm to take: criterion, place of the number in it, and what it is called.
DECIDING = (
    ("6.1", 0, "alone, any wired path: utilisation, %"),
    ("nsperf-loss", 0, "random loss: utilisation, %"),
    ("6.4", 0, "wireless: utilisation, %"),
    ("7.3", 0, "low orbit: utilisation, %"),
    ("7.5", 1, "600 ms: until 90 % of the rate, s"),
    ("5.1.2", 2, "its queue, 95 %, ms"),
    ("5.1.3", 0, "loss that it causes, %"),
    ("5.1.4", 0, "among its own: Jain's index"),
    ("5.2", 0, "harm to others' goodput, %"),
    ("5.2.2", 0, "loss of a call beside it, %"),
)


def _algorithms(found: Json) -> list[str]:
    return list(dict.fromkeys([*found["algorithms"], *found["against"]]))


def _unit(number: Json) -> str:
    return f"{number['name']}, {number['unit']}" if number["unit"] else str(number["name"])


def _shown(number: Json, cc: str) -> str:
    cell = number["cells"][cc]
    return f"{cell['text']}{SIGNS.get(cell['mark'], '')}"


def about() -> str:
    """Which evaluation it is."""
    found = measured(NAME)
    runs = found["runs"].values()
    failed = sum(one["failed"] for one in runs)
    text = (
        f"Profile {found['profile']}, Linux {', '.join(found['kernels'])}, version "
        f"{found['version']}: {sum(one['count'] for one in runs):,} runs"
    )
    return f"{text}, of which {failed:,} failed." if failed else f"{text}."


def league() -> str:
    """The first number of each criterion."""
    found = measured(NAME)
    names = _algorithms(found)
    rows = [
        [f"{ident} {one['title']}", _unit(one["numbers"][0])]
        + [_shown(one["numbers"][0], cc) for cc in names]
        for ident, one in found["criteria"].items()
    ]
    headings = ["criterion", "number", *(f"`{cc}`" for cc in names)]
    return markdown(headings, rows, prose=(1,))


def counts() -> str:
    """How many of the first numbers have each mark."""
    found = measured(NAME)
    firsts = [one["numbers"][0] for one in found["criteria"].values()]
    rows = []
    for cc in _algorithms(found):
        there = [number["cells"][cc]["mark"] for number in firsts]
        if "standard" not in there:
            rows.append([f"`{cc}`", *(str(there.count(mark)) for mark in COUNTED)])
    return markdown(["", *COUNTED], rows)


def worst() -> str:
    """Numbers in which none is worse than one of those that were evaluated."""
    rows = [
        [f"`{cc}`", f"{ident} {one['title']}", _unit(number), _shown(number, cc)]
        for ident, one in measured(NAME)["criteria"].items()
        for number in one["numbers"]
        for cc, cell in number["cells"].items()
        if cell.get("worst")
    ]
    if not rows:
        return "None of them is the worst of all in any number."
    return markdown(["", "criterion", "number", ""], sorted(rows), prose=(1, 2))


def pairs() -> str:
    """Who gets what beside whom, a table for each path."""
    parts = []
    for path, found in measured(NAME)["pairs"].items():
        rows = [[f"`{cc}`", *beside.values()] for cc, beside in found.items()]
        headings = ["", *(f"`{cc}`" for cc in found)]
        parts.append(f"A buffer of {path}:\n\n{markdown(headings, rows)}")
    return "\n\n".join(parts)


def deciding() -> str:
    """The numbers by which a user chooses."""
    found = measured(NAME)
    columns = [
        (found["criteria"][ident]["numbers"][place], f"[{text}](evaluation.md#the-league)")
        for ident, place, text in DECIDING
    ]
    rows = [
        [f"`{cc}`", *(_shown(number, cc) for number, _ in columns)] for cc in _algorithms(found)
    ]
    return markdown(["", *(heading for _, heading in columns)], rows)


PARTS = {
    "docs/evaluation.md": {
        "about": about,
        "league": league,
        "counts": counts,
        "worst": worst,
        "pairs": pairs,
        "older": older,
    },
    "docs/use.md": {"deciding": deciding},
}
