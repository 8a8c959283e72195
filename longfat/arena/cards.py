# SPDX-License-Identifier: GPL-2.0
"""The score cards of what is kept in docs/results, from its tables: each criterion by the profile
that it was measured by."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path

from longfat.arena import criteria, keep, pages, plan
from longfat.arena.criteria import Criterion
from longfat.arena.pages import Detail, Section
from longfat.arena.plan import Contender
from longfat.arena.score import Mark
from longfat.run.result import Json

Row = dict[str, str]
Rows = dict[str, list[Row]]  # criterion -> its rows


@dataclass(frozen=True)
class Cell:
    """A number of an algorithm, as the league has it; see score.Cell."""

    row: Row

    @property
    def cc(self) -> Contender:
        return plan.contender(self.row["algorithm"])

    @property
    def mark(self) -> str:
        return self.row["mark"]

    @property
    def text(self) -> str:
        return self.row["text"]

    @property
    def reason(self) -> str:
        return self.row["why"]

    @property
    def said(self) -> str:
        return ": ".join(part for part in (self.mark, self.reason) if part)

    @property
    def value(self) -> float | None:
        text = self.row["value"]
        return math.inf if text == "never" else float(text) if text else None

    @property
    def without(self) -> bool:
        """Whether a path is not in the number."""
        return self.row["paths"] != self.row["of_paths"]

    @property
    def whole(self) -> str:
        if not self.row["spread"]:
            return self.row["text"]
        first, *rest = self.row["text"].split(" ", 1)
        digits = len(first.partition(".")[2])
        return " ".join([first, f"± {float(self.row['spread']):.{digits}f}", *rest])


def table(where: Path, name: str) -> list[Row]:
    """A table of what is kept."""
    with (where / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _by_criterion(rows: list[Row]) -> Rows:
    found: Rows = {}
    for row in rows:
        found.setdefault(row["criterion"], []).append(row)
    return found


def label(row: Row) -> str:
    """A number with its unit."""
    return ", ".join(word for word in (row["number"], row["unit"]) if word)


def _details(rows: list[Row]) -> list[Detail]:
    """The runs of a criterion's numbers: of which a number is not, and why."""
    found: dict[tuple[str, str, str], Detail] = {}
    for row in rows:
        seeds, values = row["seeds"].split(), row["values"].split()
        whys = row["why"].split("\n") if row["why"] else [""] * len(seeds)
        for seed, value, why in zip(seeds, values, whys, strict=True):
            path, file = row["path"], row["scenario"]
            new = Detail(path, row["beside"], int(seed), [], file, "", [])
            one = found.setdefault((file, path, seed), new)
            if row["base_scenario"] and (row["base_scenario"], "") not in one.bases:
                one.bases.append((row["base_scenario"], ""))
            if value == "failed":
                one.failed = why
            elif why and why not in one.left_out:
                one.left_out.append(why)
    return [*found.values()]


def _section(
    criterion: Criterion, part: Json, league: list[Row], paths: list[Row], ccs: list[Contender]
) -> Section:
    rows: dict[str, list[Cell]] = {}
    for cc in ccs:
        for row in league:
            if row["algorithm"] == cc.text:
                rows.setdefault(label(row), []).append(Cell(row))
    how = f"Profile {part['profile']}"
    if part["kernels"]:
        how += f", Linux {', '.join(part['kernels'])}"
    return Section(
        criterion,
        [*rows.items()],
        [],
        next(iter(rows.values()))[0].row["command"],
        " ".join(words for words in (f"{how}.", part["how"]) if words),
        _details([row for row in paths if row["algorithm"] == ccs[0].text]),
    )


def algorithms(parts: list[Json], *which: str) -> list[str]:
    """Those of all parts that were evaluated, and stood `against` them; or either."""
    keys = which or ("algorithms", "against")
    return list(dict.fromkeys(cc for one in parts for key in keys for cc in one[key]))


def league(parts: list[Json], where: Path) -> str:
    """The page of all algorithms: the first number of each criterion, by the profile that it was
    measured by; clouds and heat maps."""
    known = {one.id: one for one in criteria.load()}
    with_card = algorithms(parts, "algorithms")
    there: dict[tuple[str, str], list[Cell]] = {}
    for row in table(where, "league"):
        there.setdefault((row["criterion"], row["algorithm"]), []).append(Cell(row))

    def cell(cc: Contender, ident: str) -> tuple[Cell | None, list[str]]:
        """The first number if it is in that criterion, and the names of those that are harmful."""
        cells = there.get((ident, cc.text), [])
        return next(iter(cells), None), [x.row["number"] for x in cells if x.mark == Mark.HARMFUL]

    rows = [
        (cc, [cell(cc, one["criterion"]) for one in parts])
        for cc in plan.contenders(algorithms(parts))
    ]
    drawn = [
        (f"{known[one['criterion']].title}, {path}", file)
        for one in parts
        for file, path in (one["heat"] | one["clouds"]).items()
    ]
    about = {
        "criteria": [known[one["criterion"]] for one in parts],
        "by": {one["criterion"]: one["profile"] for one in parts},
        "rows": rows,
        "drawn": drawn,
        "marks": criteria.marks(),
        "standards": criteria.marks().standards,
        "sort": pages.sort,
        "card": lambda cc: f"{cc.file}.md" if cc.text in with_card else "",
        "section": lambda one: re.sub(r"[^\w -]", "", f"{one.id} {one.title}".lower()).replace(
            " ", "-"
        ),
    }
    return pages.rendered("kept_league.html", about)


def cards(found: Path) -> dict[Path, str]:
    """File -> score card, of each algorithm of what is kept in `found`, and the league."""
    parts, where = keep.parts(found), found.with_suffix("")
    if not parts:
        return {}
    numbers, paths = (_by_criterion(table(where, name)) for name in ("league", "paths"))
    known = {one.id: one for one in criteria.load()}
    every = plan.contenders(algorithms(parts))
    names = {one.text: one for one in every}
    against = [names[text] for text in algorithms(parts, "against")]
    made = {}
    for text in algorithms(parts, "algorithms"):
        cc = names[text]
        beside = pages.others(cc, every, against)
        sections = [
            _section(
                known[one["criterion"]],
                one,
                numbers[one["criterion"]],
                paths.get(one["criterion"], []),
                [cc, *beside],
            )
            for one in parts
            if text in algorithms([one])
        ]
        about = {
            "cc": cc,
            "others": beside,
            "sections": sections,
            "counts": pages.counts([one.main[0] for one in sections]),
            "standards": [x for x in names if x in criteria.marks().standards],
            # The first command of a section makes the scenarios of the second.
            "run_again": lambda file: pages.run_again(file, (), pages.AGAIN[1]),
        }
        made[where / f"{cc.file}.md"] = pages.rendered("kept.md", about)
    return made | {where / "league.html": league(parts, where)}
