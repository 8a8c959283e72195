# SPDX-License-Identifier: GPL-2.0
"""The score cards of what is kept in docs/results, from its tables: each criterion by the profile
that it was measured by."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from longfat.arena import criteria, keep, pages, plan
from longfat.arena.criteria import Criterion, Number
from longfat.arena.pages import Detail, Section
from longfat.arena.plan import Contender
from longfat.arena.score import shown
from longfat.run.result import Json

Row = dict[str, str]
Rows = dict[str, list[Row]]  # criterion -> its rows


@dataclass(frozen=True)
class Cell:
    """A number of an algorithm, as the league has it; see score.Cell."""

    row: Row
    number: Number

    @property
    def cc(self) -> Contender:
        return plan.contender(self.row["algorithm"])

    @property
    def mark(self) -> str:
        return self.row["mark"]

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
    def without(self) -> range:
        """The paths that are not in the number; the tables do not name them."""
        return range(int(self.row["of_paths"]) - int(self.row["paths"]))

    @property
    def whole(self) -> str:
        if not self.row["spread"]:
            return self.row["text"]
        first, *rest = self.row["text"].split(" ", 1)
        return " ".join([first, f"± {shown(float(self.row['spread']), self.number)}", *rest])


def table(where: Path, name: str) -> list[Row]:
    """A table of what is kept."""
    with (where / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _by_criterion(rows: list[Row]) -> Rows:
    found: Rows = {}
    for row in rows:
        found.setdefault(row["criterion"], []).append(row)
    return found


def _details(rows: list[Row], cc: Contender) -> list[Detail]:
    """The runs of a criterion's numbers: of which a number is not, and why."""
    found: dict[tuple[str, str, str], Detail] = {}
    for row in rows:
        if row["algorithm"] != cc.text:
            continue
        for seed, value in zip(row["seeds"].split(), row["values"].split(), strict=True):
            path, file = row["path"], row["scenario"]
            new = Detail(path, row["beside"], int(seed), [], file, "", [])
            one = found.setdefault((file, path, seed), new)
            if row["base_scenario"] and (row["base_scenario"], "") not in one.bases:
                one.bases.append((row["base_scenario"], ""))
            if value == "failed":
                one.failed = row["why"]
            elif value == "-" and row["why"] not in one.left_out:
                one.left_out.append(row["why"])
    return [*found.values()]


def _section(
    criterion: Criterion, part: Json, league: list[Row], paths: list[Row], ccs: list[Contender]
) -> Section:
    of = {(row["number"], row["algorithm"]): row for row in league}
    rows = [
        (
            number.name + (f", {number.unit}" if number.unit else ""),
            [Cell(of[number.name, cc.text], number) for cc in ccs],
        )
        for number in criterion.number
    ]
    sources = criteria.choose(criterion.of_runs)
    shorter = dict.fromkeys(plan.shortened(one, part["profile"]) for one in sources)
    about = f"Profile {part['profile']}"
    if part["kernels"]:
        about += f", Linux {', '.join(part['kernels'])}"
    return Section(
        criterion,
        rows,
        [],
        rows[0][1][0].row["command"],
        " ".join(word for word in (f"{about}.", *shorter) if word),
        _details(paths, ccs[0]),
    )


def cards(found: Path) -> dict[Path, str]:
    """File -> score card, of each algorithm of what is kept in `found`."""
    parts, where = keep.parts(found), found.with_suffix("")
    if not parts:
        return {}
    league, paths = (_by_criterion(table(where, name)) for name in ("league", "paths"))
    known = {one.id: one for one in criteria.load()}
    texts = [*parts[0]["algorithms"], *parts[0]["against"]]
    names = {one.text: one for one in plan.contenders(texts)}
    made = {}
    for text in parts[0]["algorithms"]:
        cc, beside = names[text], [names[x] for x in criteria.marks().in_every_card if x in names]
        others = [one for one in beside if one != cc]
        sections = [
            _section(
                known[one["criterion"]],
                one,
                league[one["criterion"]],
                paths.get(one["criterion"], []),
                [cc, *others],
            )
            for one in parts
            if one["criterion"] in known
        ]
        about = {
            "cc": cc,
            "others": others,
            "sections": sections,
            "counts": pages.counts([one.main[0] for one in sections]),
            "standards": [x for x in names if x in criteria.marks().standards],
            # The first command of a section makes the scenarios of the second.
            "run_again": lambda file: pages.run_again(file, (), pages.AGAIN[1]),
        }
        made[where / f"{cc.file}.md"] = pages.rendered("kept.md", about)
    return made
