# SPDX-License-Identifier: GPL-2.0
"""From runs to numbers and marks: what each algorithm has in each criterion."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from statistics import fmean

from longfat.arena import carry, metrics
from longfat.arena.criteria import BESIDE, CC, Criterion, Number, marks
from longfat.arena.plan import RUNS, Contender, Evaluation, Run, beside_in_words
from longfat.run.result import Json, interval

Paths = dict[str, float | None]
Values = dict[str, dict[int, float]]  # path -> seed -> value
OVER: dict[str, Callable[[list[float]], float]] = {"mean": fmean, "most": max, "least": min}


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
    value: float | None = None
    failed: str = ""  # what the run said
    missing: bool = False
    why: str = ""  # its path is left out of the number
    base: Run | None = None  # what it is compared with


@dataclass
class Cell:
    """A number of an algorithm over its runs."""

    criterion: Criterion
    number: Number
    cc: Contender
    points: list[Point] = field(default_factory=list)
    why: str = ""  # there is no number, or no better mark
    mark: Mark = Mark.NONE
    worst: bool = False  # of all that were run, and worse than the standards
    every: list[str] = field(default_factory=list)  # the paths of the number
    skipped: dict[str, str] = field(default_factory=dict)  # those that no algorithm has -> why

    @property
    def failed(self) -> list[Point]:
        return [one for one in self.points if one.failed]

    @property
    def missing(self) -> list[Point]:
        return [one for one in self.points if one.missing]

    def _by_seed(self) -> dict[str, dict[int, float | None]]:
        """Path, and who it is beside -> seed -> value."""
        found: dict[str, dict[int, list[float | None]]] = {}
        for one in self.points:
            other = one.run.other(self.cc)
            path = one.run.path + beside_in_words(other)
            found.setdefault(path, {}).setdefault(one.run.seed, []).append(one.value)
        return {
            path: {seed: _mean(values) for seed, values in of.items()} for path, of in found.items()
        }

    def values(self) -> Values:
        """The paths that have a value for each seed, or for `some`."""
        found: Values = {}
        for path, of in self._by_seed().items():
            there = {seed: value for seed, value in of.items() if value is not None}
            if len(there) == len(of) or (self.number.some and there):
                found[path] = there
        return found

    def by_path(self) -> Paths:
        """Path -> the mean over the seeds, which counts as `floor` if it is below, and as `ceiling`
        if it is above; None if a seed has no value."""
        there = self.values()
        return {
            path: _over({path: there[path]}, self.number) if path in there else None
            for path in self._by_seed()
        }

    @property
    def value(self) -> float | None:
        """The number, if all of its runs are there, over the paths that have one."""
        there = self.values()
        if self.failed or self.missing or not there:
            return None
        return _over(there, self.number)

    @property
    def spread(self) -> float | None:
        """Half of the number's 95 % interval over its seeds, if there are several."""
        each = [] if self.value is None else [*_each_seed(self.values(), self.number).values()]
        if len(each) < 2 or any(map(math.isinf, each)):
            return None
        return interval(each)[1]

    @property
    def without(self) -> list[str]:
        """The paths that are not in the number."""
        there = self.by_path()
        return [path for path in self.every if there.get(path) is None]

    @property
    def reason(self) -> str:
        """Why there is no number, or no better mark; over which paths it is not, and why."""
        parts = [self.why] if self.why else []
        if self.points and not self.failed and not self.missing:
            if left := [path for path in self.without if path not in self.skipped]:
                parts += [f"without {_words(left, self.every)}"] if self.value is not None else []
            for why in dict.fromkeys(self.skipped.values()):
                there = [path for path in self.skipped if self.skipped[path] == why]
                parts.append(f"without {_words(there, self.every)}: {why}")
            reasons = list(dict.fromkeys(one.why for one in self.points if one.why))
            parts += reasons[:2] + ([f"and {len(reasons) - 2} more"] if len(reasons) > 2 else [])
        return "; ".join(parts)

    @property
    def said(self) -> str:
        """The mark, and the reason."""
        return ": ".join(part for part in (self.mark, self.reason) if part)

    def _text(self, spread: float | None) -> str:
        if self.failed:
            return f"failed ({len(self.failed)} of {len(self.points)})"
        if self.missing:
            return str(Mark.NOT_YET)
        words = [shown(self.value, self.number)]
        if spread is not None:
            words.append(f"± {shown(spread, self.number)}")
        if self.value is not None and self.without:
            every = len(self.every)
            words.append(f"({every - len(self.without)} of {every} paths)")
        return " ".join(words)

    @property
    def text(self) -> str:
        """As a table of many has it."""
        return self._text(None)

    @property
    def whole(self) -> str:
        """As a card has it, with the spread."""
        return self._text(self.spread)


def _over(values: Values, number: Number) -> float:
    """The number over paths of which each has a value."""
    means = [min(number.ceiling, max(number.floor, fmean(of.values()))) for of in values.values()]
    return OVER[number.over](means)


def _each_seed(values: Values, number: Number) -> dict[int, float]:
    """The number of each seed that all of these paths have.  Their mean is the number itself only
    where that is a mean: else each seed has its own most, or least, or what counts as the floor."""
    seeds = set.intersection(*(set(of) for of in values.values()))
    return {
        seed: _over({path: {seed: of[seed]} for path, of in values.items()}, number)
        for seed in sorted(seeds)
    }


def _mean(values: list[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there and len(there) == len(values) else None


def _words(paths: list[str], every: list[str]) -> str:
    """Some of all paths: by what they alone have, if that is all of them."""
    of = {path: re.split(r", | (?=beside )", path) for path in every}
    others = {word for path in every if path not in paths for word in of[path]}
    common = (word for word in of[paths[0]] if all(word in of[path] for path in paths))
    return next((word for word in common if word not in others), " and ".join(paths))


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

    def harms(self, criterion: Criterion, cc: Contender) -> list[str]:
        """The numbers of a criterion in which an algorithm is harmful."""
        there = [self.cell(criterion, place, cc) for place in range(len(criterion.number))]
        return [cell.number.name for cell in there if cell.mark is Mark.HARMFUL]

    @property
    def worst(self) -> list[Cell]:
        """The cells of those that were evaluated than which none is worse."""
        return [cell for cell in self.cells.values() if cell.worst]

    @property
    def not_made(self) -> list[str]:
        """What is wrong where a run ended well and a number cannot be made of it."""
        return [
            f"{point.run.name}: {cell.number.name}: {point.failed}"
            for cell in self.cells.values()
            for point in cell.failed
            if point.run.name not in self.errors
        ]


def _substituted(word: str, run: Run) -> str:
    return {CC: run.cc.text, BESIDE: run.beside.text if run.beside else ""}.get(word, word)


def _error(run: Run) -> str:
    """Where the words are of a run that failed."""
    return f"{RUNS}/{run.name}.error"


class _Runs:
    """The runs of an evaluation by who and where they are, and what there is of them."""

    def __init__(self, of: Evaluation, records: dict[str, Json], errors: dict[str, str]) -> None:
        self._of = {self._key(run): run for run in of.runs}
        self._roles = {one.id: of.roles(one) for one in of.criteria}
        self._both_orders = {one.id: one.beside == "all" for one in of.criteria}
        self._records, self._errors = records, errors
        self._fails_beside_itself = {
            (run.criterion, run.cc, run.at): _error(run)
            for run in of.runs
            if run.beside == run.cc and run.name in errors
        }

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

    def point(self, run: Run, number: Number, cc: Contender) -> Point:
        """What an algorithm has in a run."""
        base = self.base(run, number) if number.base else None
        if number.base and base is None:
            return Point(run, why="there is no run that it is compared with")
        other = run.other(cc) or cc
        # Whatever came of this one: for all that stand beside it the path is the same.
        if other != cc and (error := self._fails_beside_itself.get((run.criterion, other, run.at))):
            return Point(run, why=f"{other.text} fails beside itself: {error}", base=base)
        if run.name in self._errors:
            return Point(run, failed=self._errors[run.name], base=base)
        if base and base.name in self._errors:
            if base.cc == cc and base.beside in (None, cc):
                return Point(run, failed=self._errors[base.name], base=base)
            return Point(run, why=f"what it is compared with failed: {_error(base)}", base=base)
        wanted = [run, base] if base else [run]
        if any(one.name not in self._records for one in wanted):
            return Point(run, missing=True, base=base)
        roles = self._roles[run.criterion]
        other_way = {kind: (theirs, ours) for kind, (ours, theirs) in roles.items()}
        ways = [roles if run.cc == cc else other_way]
        if self._both_orders[run.criterion] and run.cc == run.beside:
            ways = [roles, other_way]  # as it has of others' runs both orders
        values = []
        for way in ways:
            seen = [metrics.Seen(self._records[one.name], way) for one in wanted]
            try:
                than = seen[1] if base else None
                values.append(metrics.of(number.metric, seen[0], than, number.arguments))
            except (LookupError, ArithmeticError, TypeError, ValueError) as error:
                return Point(run, failed=f"{number.metric}: {error!r}", base=base)
        value = _mean(values)
        why = metrics.nothing(number.metric) if value is None else ""
        return Point(run, value, why=why, base=base)


def _text(who: Contender | None) -> str:
    return who.text if who else ""


def _gain(value: float, other: float, number: Number) -> float:
    """How much better a value is than another; a difference that counts as none is 0."""
    if value == other:
        return 0
    none = 0 if math.isinf(other) else max(number.same, marks().part * abs(other))
    sign = 1 if number.better == "more" else -1
    return sign * (value - other) if abs(value - other) > none else 0


def _beyond_chance(mine: Values, theirs: Values, number: Number) -> bool:
    """Whether they differ by more than their seeds do: the 95 % interval of the difference has no
    zero in it.  Where one is never, it is one sign in all seeds.  One seed says nothing of it."""
    here, there = _each_seed(mine, number), _each_seed(theirs, number)
    each = [
        0.0 if here[seed] == there[seed] else here[seed] - there[seed]
        for seed in here
        if seed in there
    ]
    if any(map(math.isinf, each)):
        return min(each) > 0 or max(each) < 0
    middle, half = interval(each) if each else (0.0, 0.0)
    return len(each) < 2 or abs(middle) > half


def _compare(mine: Values, theirs: Values, number: Number, *, chance: bool = False) -> float | None:
    """How much better an algorithm is than another, on the paths that both have; `chance`: even if
    that is no more than their seeds differ."""
    both = [path for path in mine if path in theirs]
    if not both or not number.better:
        return None
    here, there = ({path: of[path] for path in both} for of in (mine, theirs))
    gain = _gain(_over(here, number), _over(there, number), number)
    return gain if not gain or chance or _beyond_chance(here, there, number) else 0


def _judge(value: float | None, gains: list[float], number: Number) -> Mark:
    """The mark of a value that is so much better than each of the standards."""
    if value is None or not number.better:
        return Mark.NONE
    sign = 1 if number.better == "more" else -1
    beyond = number.harmful is not None and sign * value < sign * number.harmful
    if not gains:
        return Mark.NONE if number.harmful is None else Mark.HARMFUL if beyond else Mark.HARMLESS
    if max(gains) < 0:
        return Mark.HARMFUL if beyond else Mark.WORSE
    # Nothing is good that does harm, though the standards do more.
    return Mark.BETTER if min(gains) > 0 and not beyond else Mark.BETWEEN


def score(of: Evaluation, out: Path) -> Scores:
    """What there is of an evaluation in `out`."""
    records: dict[str, Json] = {}
    errors: dict[str, str] = {}
    for run in of.runs:
        if said := carry.said(run, out):
            errors[run.name] = said
        elif (found := carry.read(run, out)) is not None:
            records[run.name] = found
    runs = _Runs(of, records, errors)
    cells = {}
    for criterion in of.criteria:
        for place, number in enumerate(criterion.number):
            for cc in of.all:
                cell = Cell(criterion, number, cc, why=_why(of, criterion, cc))
                there = [
                    run
                    for run in of.of(criterion, cc)
                    if number.has(run.path, _text(run.other(cc)))
                ]
                # What is compared with itself says nothing.
                other = [run for run in there if not number.base or runs.base(run, number) != run]
                cell.points = [runs.point(run, number, cc) for run in other]
                if not cell.points and not cell.why:
                    cell.why = (
                        "it is what the others are compared with"
                        if there
                        else _skipped(of, criterion, cc)
                        or _nobody_beside(of, criterion, number)
                        or f"no run of it is in the profile {of.profile}"
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
    return _skipped(of, criterion, cc)


def _skipped(of: Evaluation, criterion: Criterion, cc: Contender) -> str:
    """Why there is no run of some of its paths."""
    reasons = (one.why for one in of.skipped if one.criterion in criterion.of_runs and one.cc == cc)
    return next(reasons, "")


def _nobody_beside(of: Evaluation, criterion: Criterion, number: Number) -> str:
    """That a number is beside some alone, and none of them is evaluated."""
    if not number.beside or not any(run.criterion in criterion.of_runs for run in of.runs):
        return ""
    return f"it is beside {' and '.join(number.beside)}, which are not evaluated"


def _left_out(of: Evaluation, criterion: Criterion, number: Number) -> dict[str, str]:
    """The paths of a number that no algorithm has here -> why."""
    return {
        path + beside_in_words(one.beside): one.why
        for one in of.skipped
        if one.criterion in criterion.of_runs
        for path in one.paths
        if number.has(path, _text(one.beside))
    }


def _mark(of: Evaluation, cells: list[Cell], number: Number) -> None:
    """The marks of a number: what it is beside those of the standards that were run, and whether
    no other is worse."""
    standards = [cell for cell in cells if cell.cc.text in marks().standards]
    whole = not any(cell.failed or cell.missing for cell in standards)
    values = {cell.cc.text: cell.values() for cell in cells}
    paths = {cell.cc.text: [*cell.by_path()] for cell in cells}
    skipped = _left_out(of, cells[0].criterion, number)
    every = list(dict.fromkeys([*(path for of_one in paths.values() for path in of_one), *skipped]))
    for cell in cells:
        cell.every, cell.skipped = every, skipped
        mine = values[cell.cc.text]
        gains = {
            one.cc.text: gain
            for one in cells
            if one is not cell and (gain := _compare(mine, values[one.cc.text], number)) is not None
        }
        left_out = [path for path in paths[cell.cc.text] if path not in mine]
        if cell.failed:
            cell.mark = Mark.FAILED
        elif cell.missing:
            cell.mark = Mark.NOT_YET
        elif not cell.points:
            cell.mark = Mark.NONE
        elif cell.cc.text in marks().standards:
            cell.mark = Mark.STANDARD
        elif not whole:
            cell.why = "a run of a standard failed, or is missing"
        elif any(path in values[one.cc.text] for one in standards for path in left_out):
            cell.why = "a standard has a number on a path that is left out here"
        else:
            there = [one.cc.text for one in standards if one.cc.text in gains]
            cell.mark = _judge(cell.value, [gains[one] for one in there], number)
            if cell.mark is Mark.BETWEEN and there and min(gains[one] for one in there) > 0:
                cell.why = "better, and beyond the threshold"
            plain = [_compare(mine, values[one], number, chance=True) or 0 for one in there]
            if (else_it_is := _judge(cell.value, plain, number)) is not cell.mark:
                cell.why = f"{else_it_is} by no more than the seeds differ"
        if cell.mark in (Mark.WORSE, Mark.HARMFUL) and cell.cc in of.contenders and gains:
            cell.worst = max(gains.values()) <= 0


def _guard(of: Evaluation, criterion: Criterion, cells: dict[tuple[str, int, str], Cell]) -> None:
    """What is harmful in one number, or worse in the number that guards the others, is better in
    none of them."""
    for cc in of.all:
        mine = [cells[criterion.id, place, cc.text] for place in range(len(criterion.number))]
        bad = [
            cell
            for cell in mine
            if cell.mark is Mark.HARMFUL
            or (cell.mark is Mark.WORSE and cell.number.name == criterion.guard)
        ]
        for cell in mine:
            if bad and cell.mark is Mark.BETTER:
                cell.mark = Mark.BETWEEN
                cell.why = f"it is {bad[0].mark} in: {bad[0].number.name}"
