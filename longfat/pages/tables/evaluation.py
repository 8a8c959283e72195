# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/evaluation.md, and the one of docs/use.md that is of the same numbers: from
what `longfat evaluate --keep` has written."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from longfat.arena import cards, cost, criteria, keep, plan
from longfat.arena.cards import Row
from longfat.arena.keep import NAME
from longfat.pages import data
from longfat.pages.data import kept, markdown, measured, older
from longfat.run.result import Json

WHY = Path(__file__).with_name("worst.toml")

# Beside a number; a standard's has none.
SIGNS = {"better": " +", "worse": " -", "harmful": " !"}
COUNTED = ("better", "between", "worse", "harmful", "not harmful", "failed", "")

# What decides which algorithm to take: criterion, place of the number in it, and what it is called.
DECIDING = (
    ("6.1", 0, "alone, wired: utilisation, %"),
    ("nsperf-loss", 0, "random loss: utilisation, %"),
    ("6.4", 3, "losses in bursts: utilisation, %"),
    ("6.4", 2, "a moving phone: utilisation, %"),
    ("7.3", 1, "low orbit: utilisation, %"),
    ("7.5", 0, "600 ms: utilisation, %"),
    ("5.1.2", 2, "its queue, 95 %, ms"),
    ("5.1.3", 0, "loss that it causes, %"),
    ("5.1.4", 0, "among its own: Jain's index"),
    ("5.2", 0, "harm to others' goodput, %"),
    ("5.2.2", 0, "loss of a call beside it, %"),
)


def _parts() -> dict[str, Json]:
    """What is kept of each criterion."""
    kept(NAME)  # the page asks for it
    return {one["criterion"]: one for one in keep.parts(data.RESULTS / f"{NAME}.json")}


def _table(name: str) -> list[Row]:
    """A table of these."""
    parts = _parts()
    return [row for row in cards.table(data.RESULTS / NAME, name) if row["criterion"] in parts]


def _numbers() -> dict[str, list[dict[str, Row]]]:
    """Criterion -> its numbers in order -> algorithm -> its row of the league."""
    found: dict[str, dict[str, dict[str, Row]]] = {}
    for row in _table("league"):
        of = found.setdefault(row["criterion"], {}).setdefault(row["number"], {})
        of[row["algorithm"]] = row
    return {ident: [*numbers.values()] for ident, numbers in found.items()}


def _algorithms() -> list[str]:
    """Those of all criteria."""
    return cards.algorithms([*_parts().values()])


def _first(of: dict[str, Any]) -> Any:
    return next(iter(of.values()))


def _shown(cell: Row) -> str:
    return f"{cell['text']}{SIGNS.get(cell['mark'], '')}"


def _flagged(numbers: list[dict[str, Row]], place: int, cc: str) -> str:
    """The same, and whether another number of the criterion is harmful; nothing of an algorithm
    that is not in it."""
    cell = numbers[place].get(cc)
    if cell is None:
        return "-"
    other = cell["mark"] != "harmful" and any(x[cc]["mark"] == "harmful" for x in numbers)
    return _shown(cell) + (" (!)" if other else "")


def _link(ident: str) -> str:
    """A criterion's id, with a link to its scenario."""
    return f"[{ident}](../longfat/arena/criteria/{ident}.toml)"


def _criterion(ident: str) -> str:
    """A criterion with its title."""
    title = next((one.title for one in criteria.load() if one.id == ident), "")
    return f"{_link(ident)} {title}"


def about() -> str:
    """Which evaluations it is of."""
    parts = _parts()
    kernels = sorted({kernel for one in parts.values() for kernel in one["kernels"]})
    versions = dict.fromkeys(one["version"] for one in parts.values())
    says = [f"Linux {', '.join(kernels)}, version {', '.join(versions)}."]
    # Those of a criterion that is made of others' are theirs, perhaps by another profile.
    runs = {
        (ident, one["profile"]): counted
        for one in parts.values()
        for ident, counted in one["runs"].items()
    }
    of = {ident: one["profile"] for ident, one in parts.items() if any(_counts(one))}
    for profile in criteria.PROFILES:
        count, failed = (
            sum(each[name] for (_, by), each in runs.items() if by == profile)
            for name in ("count", "failed")
        )
        if count:
            ids = [_link(ident) for ident, by in of.items() if by == profile]
            which = ": all others" if len(ids) > len(of) / 2 else f": {', '.join(ids)}"
            lost = f", of which {failed:,} failed" if failed else ""
            which = "" if len(ids) == len(of) else which
            says.append(f"By the profile {profile}, {count:,} runs{lost}{which}.")
    missing = [one.id for one in criteria.load() if one.id not in of]
    return " ".join([*says, f"Not measured yet: {', '.join(missing)}."] if missing else says)


def _counts(part: Json) -> list[int]:
    """How many runs it has of each criterion."""
    return [each["count"] for each in part["runs"].values()]


def league() -> str:
    """The first number of each criterion."""
    parts, numbers, names = _parts(), _numbers(), _algorithms()
    rows = [
        [
            _criterion(ident),
            part["profile"] if any(_counts(part)) else "",
            cards.label(_first(numbers[ident][0])),
            *(_flagged(numbers[ident], 0, cc) for cc in names),
        ]
        for ident, part in parts.items()
    ]
    with_card = cards.algorithms([*parts.values()], "algorithms")
    of = {one.text: f"{one.file}.md" for one in plan.contenders(with_card)}
    shown = [f"[`{cc}`](results/{NAME}/{of[cc]})" if cc in of else f"`{cc}`" for cc in names]
    return markdown(["criterion", "profile", "number", *shown], rows, prose=(1, 2))


def counts() -> str:
    """How many of the first numbers have each mark."""
    firsts = [numbers[0] for numbers in _numbers().values()]
    rows = []
    for cc in _algorithms():
        there = [number[cc]["mark"] for number in firsts if cc in number]
        if "standard" not in there:
            rows.append([f"`{cc}`", *(str(there.count(mark)) for mark in COUNTED)])
    return markdown(["", *(mark or "none" for mark in COUNTED)], rows)


def worst() -> str:
    """Numbers in which none is worse than one of those that were evaluated."""
    rows = [
        [f"`{cell['algorithm']}`", _criterion(ident), cards.label(cell), _shown(cell)]
        for ident, numbers in _numbers().items()
        for number in numbers
        for cell in number.values()
        if cell["worst"]
    ]
    if not rows:
        return "None of them is the worst of all in any number."
    return markdown(["", "criterion", "number", ""], sorted(rows), prose=(1, 2))


def why() -> str:
    """Why ours are the worst of all, by worst.toml."""
    rows = []
    for one in tomllib.loads(WHY.read_text())["worst"]:
        who = ", ".join(f"`{cc}`" for cc in one["who"])
        where = "; ".join(
            f"{_link(ident)}: {', '.join(f'*{name}*' for name in names)}"
            for ident, names in one["numbers"].items()
        )
        rows.append([who, where, " ".join(one["why"].split()), " ".join(one["shown"].split())])
    return markdown(["who", "where", "why", "shown by"], rows, prose=(1, 2, 3))


def pairs() -> str:
    """Who gets what beside whom, a table for each path."""
    found, names, table = _parts(), _algorithms(), _table("heat")
    parts = []
    for ident, path in dict.fromkeys((one["criterion"], one["path"]) for one in table):
        here = [one for one in table if (one["criterion"], one["path"]) == (ident, path)]
        squares = {
            (one["algorithm"], one["beside"]): f"{float(one['share']):.0f}" if one["share"] else "-"
            for one in here
        }
        rows = [[f"`{cc}`", *(squares.get((cc, x), "-") for x in names)] for cc in names]
        text = markdown(["", *(f"`{cc}`" for cc in names)], rows)
        whys = dict.fromkeys(one["why"] for one in here if not one["share"])
        dashes = f"\n\nA dash: {'; '.join(whys)}." if whys else ""
        drawn = [file for file, of in found[ident]["heat"].items() if of == path]
        image = "".join(f"![{ident}, {path}](results/{NAME}/{file})\n\n" for file in drawn)
        parts.append(f"{_criterion(ident)}, {path}:\n\n{image}{text}{dashes}")
    return "\n\n".join(parts)


def clouds() -> str:
    """Delay against throughput, a picture for each path."""
    return "\n\n".join(
        f"{_criterion(ident)}, {path}:\n\n![{ident}, {path}](results/{NAME}/{file})"
        for ident, part in _parts().items()
        for file, path in part["clouds"].items()
    )


def deciding() -> str:
    """The numbers by which a user chooses; those that have none of them are named."""
    numbers = _numbers()
    cells = {
        cc: [of[cc] for ident, place, _ in DECIDING if cc in (of := numbers[ident][place])]
        for cc in _algorithms()
    }
    without = {
        cc: of[0]["why"] for cc, of in cells.items() if of and all(x["text"] == "-" for x in of)
    }
    rows = [
        [f"`{cc}`", *(_flagged(numbers[ident], place, cc) for ident, place, _ in DECIDING)]
        for cc in cells
        if cc not in without
    ]
    where = "../longfat/arena/criteria"
    headings = [f"[{text}]({where}/{ident}.toml)" for ident, _, text in DECIDING]
    said = "".join(f"\n\n`{cc}` has none of them: {why}." for cc, why in without.items())
    return markdown(["", *headings], rows) + said


def thresholds() -> str:
    """All of them, and why."""
    rows = []
    for one in criteria.load():
        for number in one.number:
            if number.harmful is not None:
                unit = f" {number.unit}" if number.unit else ""
                side = "below" if number.better == "more" else "above"
                rows.append(
                    [
                        _criterion(one.id),
                        number.name,
                        f"{side} {number.harmful:g}{unit}",
                        number.because,
                    ]
                )
    return markdown(["criterion", "number", "harmful", "because"], rows, prose=(1, 2, 3))


def costs() -> str:
    """What a profile costs for one algorithm, by estimate."""
    rows = []
    for profile in criteria.PROFILES:
        runs = plan.evaluation(["ltcp"], [], profile).runs
        seconds = sum(map(cost.seconds, runs))
        rows.append(
            [
                f"`{profile}`",
                f"{len(runs):,}",
                cost.length(seconds),
                cost.length(seconds / 2),
                f"{max(map(cost.memory, runs)) / 1000:.1f} GB",
            ]
        )
    headings = ["", "runs", "processor time", "on two cores", "memory of a run, at most"]
    return markdown(headings, rows)


def _took(profile: str) -> str:
    """What all of a profile took, in a sentence or two."""
    found = measured(profile)
    runs = sum(one["count"] for one in found["runs"].values())
    seconds = found["took"] | {"estimate_s": found["estimate_s"]}
    wall, cpu, estimate = (
        f"{seconds[name] / 60:.1f}" for name in ("wall_s", "cpu_s", "estimate_s")
    )
    text = (
        f"All of `{profile}` for `{found['algorithms'][0]}`, {runs:,} runs, took {wall} minutes on "
        f"{found['cores']} cores: {cpu} minutes of processor time, where the estimate was "
        f"{estimate}."
    )
    if "size" in found:
        text += f" What it left has {found['size'] / 1e6:.0f} MB."
    *before, last = found["days"]
    return (
        f"{text} On {' and '.join(before)} and {last} its results were the same bytes."
        if before
        else text
    )


def took() -> str:
    """What all of a profile took, of those that were measured whole."""
    there = (one for one in criteria.PROFILES if (data.RESULTS / f"{one}.json").exists())
    return "\n\n".join(_took(profile) for profile in there)


PARTS = {
    "docs/evaluation.md": {
        "about": about,
        "league": league,
        "counts": counts,
        "worst": worst,
        "why": why,
        "pairs": pairs,
        "clouds": clouds,
        "thresholds": thresholds,
        "costs": costs,
        "took": took,
        "older": older,
    },
    "docs/use.md": {"deciding": deciding, "older": older},
}
