# SPDX-License-Identifier: GPL-2.0
"""From runs to numbers and marks: what each algorithm has in each criterion."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import mean

from longfat.arena import carry, metrics
from longfat.arena.criteria import BESIDE, CC, Criterion, Number, marks
from longfat.arena.plan import Contender, Evaluation, Run
from longfat.run.result import Json

OVER: dict[str, Callable[[list[float]], float]] = {"mean": mean, "most": max, "least": min}


class Mark(StrEnum):
    """What a number is, beside those of the standards."""

    BETTER = "better"
    BETWEEN = "between"
    WORSE = "worse"
    HARMFUL = "harmful"
    HARMLESS = "not harmful"  # there is no standard's to compare it with
    STANDARD = "standard"
    FAILED = "failed"
    NOT_YET = "not measured yet"
    NONE = ""


@dataclass(frozen=True)
class Point:
    """A number of one run, or why there is none."""

    run: Run
    value: float | None
    failed: str = ""  # what the run said
    missing: bool = False


@dataclass
class Cell:
    """A number of an algorithm over its runs."""

    criterion: Criterion
    number: Number
    cc: Contender
    points: list[Point] = field(default_factory=list)
    why: str = ""  # there is none
    mark: Mark = Mark.NONE
    worst: bool = False  # of all that were run

    @property
    def failed(self) -> list[Point]:
        return [one for one in self.points if one.failed]

    @property
    def missing(self) -> list[Point]:
        return [one for one in self.points if one.missing]

    def by_path(self) -> dict[str, float | None]:
        """Path, and who it is beside -> the mean over the seeds; None where one failed."""
        found: dict[str, list[float | None]] = {}
        for one in self.points:
            other = one.run.other(self.cc)
            beside = f" beside {other.text}" if other else ""
            found.setdefault(one.run.path + beside, []).append(
                None if one.failed or one.missing else one.value
            )
        return {path: _mean(values) for path, values in found.items()}

    @property
    def value(self) -> float | None:
        """The number, if all of its runs are there."""
        if self.failed or self.missing:
            return None
        each = [value for value in self.by_path().values() if value is not None]
        if not each:
            return None
        return OVER[self.number.over](each)

    @property
    def said(self) -> str:
        """The mark, and why it is none or not a better one."""
        return f"{self.mark}: {self.why}" if self.mark and self.why else self.mark or self.why

    @property
    def text(self) -> str:
        """As a table has it."""
        if self.failed:
            return f"failed ({len(self.failed)} of {len(self.points)})"
        if self.missing:
            return str(Mark.NOT_YET)
        return shown(self.value, self.number)


def _mean(values: list[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return mean(there) if there and len(there) == len(values) else None


def shown(value: float | None, number: Number) -> str:
    """A value as a table has it."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "never" if number.unit in ("s", "ms") else "no end"
    text = f"{value:.{number.digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


@dataclass
class Scores:
    """All numbers of an evaluation."""

    of: Evaluation
    cells: dict[tuple[str, int, str], Cell]  # criterion, number, algorithm
    records: dict[str, Json]  # run -> what is kept of it
    errors: dict[str, str] = field(default_factory=dict)  # run -> what one that failed said

    def cell(self, criterion: Criterion, number: int, cc: Contender) -> Cell:
        return self.cells[criterion.id, number, cc.text]

    @property
    def worst(self) -> list[Cell]:
        """The cells of those that were evaluated than which none is worse."""
        return [cell for cell in self.cells.values() if cell.worst]


def _substituted(word: str, run: Run) -> str:
    return {CC: run.cc.text, BESIDE: run.beside.text if run.beside else ""}.get(word, word)


class _Runs:
    """The runs of an evaluation by who and where they are."""

    def __init__(self, of: Evaluation) -> None:
        self._of = {self._key(run): run for run in of.runs}

    @staticmethod
    def _key(run: Run) -> tuple[object, ...]:
        beside = run.beside.text if run.beside else ""
        return run.criterion, run.cc.text, beside, run.at, run.seed

    def base(self, run: Run, number: Number) -> Run | None:
        """The run that another is compared with."""
        beside = run.beside.text if run.beside else ""
        wanted = {"cc": run.cc.text, "beside": beside} | {
            key: _substituted(word, run) for key, word in number.base.items()
        }
        at = tuple(
            (key, wanted.get("case", value) if key == "case" else value) for key, value in run.at
        )
        return self._of.get((run.criterion, wanted["cc"], wanted["beside"], at, run.seed))


def _gain(value: float, other: float, number: Number) -> float:
    """How much better a value is than another; a difference that counts as none is 0."""
    if value == other:
        return 0
    none = 0 if math.isinf(other) else max(number.same, marks().part * abs(other))
    sign = 1 if number.better == "more" else -1
    return sign * (value - other) if abs(value - other) > none else 0


Paths = dict[str, float | None]


def _compare(mine: Paths, theirs: Paths, number: Number) -> float | None:
    """How much better an algorithm is than another, on the paths that both have."""
    both = [
        (value, there)
        for path, value in mine.items()
        if value is not None and (there := theirs.get(path)) is not None
    ]
    if not both or not number.better:
        return None
    over = OVER[number.over]
    return _gain(over([one for one, _ in both]), over([one for _, one in both]), number)


def _judge(value: float | None, gains: list[float], number: Number) -> Mark:
    """The mark of a value that is so much better than each of the standards."""
    if value is None or not number.better:
        return Mark.NONE
    sign = 1 if number.better == "more" else -1
    beyond = number.harmful is not None and sign * value < sign * number.harmful
    if not gains:
        return Mark.NONE if number.harmful is None else Mark.HARMFUL if beyond else Mark.HARMLESS
    if min(gains) > 0:
        return Mark.BETTER
    if max(gains) < 0:
        return Mark.HARMFUL if beyond else Mark.WORSE
    return Mark.BETWEEN


def score(of: Evaluation, out: Path) -> Scores:
    """What there is of an evaluation in `out`."""
    records: dict[str, Json] = {}
    errors: dict[str, str] = {}
    for run in of.runs:
        if said := carry.said(run, out):
            errors[run.name] = said
        elif (found := carry.read(run, out)) is not None:
            records[run.name] = found
    runs = _Runs(of)
    of_id = {one.id: one for one in of.criteria}
    cells = {}
    for criterion in of.criteria:
        for place, number in enumerate(criterion.number):
            for cc in of.all:
                cell = Cell(criterion, number, cc, why=_why(of, criterion, cc))
                there = [
                    run
                    for run in of.of(criterion, cc)
                    if any(fnmatchcase(run.path, pattern) for pattern in number.paths)
                ]
                # What is compared with itself says nothing.
                other = [run for run in there if not number.base or runs.base(run, number) != run]
                cell.points = [
                    _point(of, of_id, run, number, runs, records, errors) for run in other
                ]
                if not cell.points and not cell.why:
                    cell.why = (
                        "it is what the others are compared with"
                        if there
                        else f"no run of it is in the profile {of.profile}"
                    )
                cells[criterion.id, place, cc.text] = cell
            _mark(of, [cells[criterion.id, place, cc.text] for cc in of.all], number)
        _guard(of, criterion, cells)
    return Scores(of, cells, records, errors)


def _why(of: Evaluation, criterion: Criterion, cc: Contender) -> str:
    """Why an algorithm has no runs of a criterion, if it has none."""
    if of.of(criterion, cc):
        return ""
    if skip := criterion.part(of.profile).skip:
        return skip
    reasons = (one.why for one in of.skipped if one.criterion == criterion.id and one.cc == cc)
    return next(reasons, "")


def _point(
    of: Evaluation,
    of_id: dict[str, Criterion],
    run: Run,
    number: Number,
    runs: _Runs,
    records: dict[str, Json],
    errors: dict[str, str],
) -> Point:
    wanted = [run]
    if number.base:
        base = runs.base(run, number)
        if base is None:
            return Point(run, None)
        wanted.append(base)
    roles = of.roles(of_id[run.criterion])
    seen = []
    for one in wanted:
        if one.name in errors:
            return Point(run, None, failed=errors[one.name])
        if one.name not in records:
            return Point(run, None, missing=True)
        seen.append(metrics.Seen(records[one.name], roles))
    try:
        value = metrics.of(
            number.metric, seen[0], seen[-1] if number.base else None, number.arguments
        )
    except (LookupError, ArithmeticError, TypeError, ValueError) as error:
        return Point(run, None, failed=f"{number.metric}: {error!r}")
    return Point(run, value)


def _mark(of: Evaluation, cells: list[Cell], number: Number) -> None:
    """The marks of a number: what it is beside those of the standards that were run, and whether
    no other is worse."""
    standards = [cell for cell in cells if cell.cc.text in marks().standards]
    whole = not any(cell.failed or cell.missing for cell in standards)
    paths = {cell.cc.text: cell.by_path() for cell in cells}
    for cell in cells:
        gains = {
            one.cc.text: gain
            for one in cells
            if one is not cell
            and (gain := _compare(paths[cell.cc.text], paths[one.cc.text], number)) is not None
        }
        if cell.failed:
            cell.mark = Mark.FAILED
        elif cell.missing:
            cell.mark = Mark.NOT_YET
        elif not cell.points:
            cell.mark = Mark.NONE
        elif cell.cc.text in marks().standards:
            cell.mark = Mark.STANDARD
        elif whole:
            beside = [gains[one.cc.text] for one in standards if one.cc.text in gains]
            cell.mark = _judge(cell.value, beside, number)
        else:
            cell.why = "a run of a standard failed, or is missing"
        if cell.cc in of.contenders and cell.value is not None and gains:
            cell.worst = max(gains.values()) <= 0 and min(gains.values()) < 0


def _guard(of: Evaluation, criterion: Criterion, cells: dict[tuple[str, int, str], Cell]) -> None:
    """What is worse in the number that guards the others is better in none of them."""
    if not criterion.guard:
        return
    names = [number.name for number in criterion.number]
    guards = names.index(criterion.guard)
    for cc in of.all:
        if cells[criterion.id, guards, cc.text].mark in (Mark.WORSE, Mark.HARMFUL):
            for place in range(len(names)):
                cell = cells[criterion.id, place, cc.text]
                if cell.mark is Mark.BETTER:
                    cell.mark = Mark.BETWEEN
                    cell.why = f"it is worse in: {criterion.guard}"
