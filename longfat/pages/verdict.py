# SPDX-License-Identifier: GPL-2.0
"""From numbers and criteria to a verdict, and from runs to what state they are in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import pairwise
from math import inf, isfinite

from longfat.pages.catalogue import Criterion, Figure
from longfat.pages.shown import Value, apart


class Verdict(StrEnum):
    REPRODUCED = "reproduced"
    DIFFERENT = "reproduced with a stated difference"
    # The reason why not, tested: its number is there as soon as the paper's condition is.
    UNDER = "reproduced under the paper's conditions, not on today's stack"
    NOT = "not reproduced"
    OPEN = "not decided"  # by these runs
    # Of a claim that is ours.
    HOLDS = "holds"
    HOLDS_NOT = "does not hold"
    FAILED = "failed"
    MISSING = "missing"
    WHOLE = "needs its whole runs"  # of a figure that a first look leaves out


def versions(of: set[str]) -> str:
    """As "version a" or "versions a, b"; nothing of none."""
    return f"version{'s' if len(of) > 1 else ''} {', '.join(sorted(of))}" if of else ""


@dataclass
class State:
    """The runs of some scenario files: how many there are to be, and what became of them."""

    expected: int = 0
    missing: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)  # -> what it said
    current: list[str] = field(default_factory=list)
    older: dict[str, str] = field(default_factory=dict)  # -> the version that it is of
    kernels: set[str] = field(default_factory=set)

    @property
    def complete(self) -> bool:
        """Whether there are numbers of every run."""
        return not (self.missing or self.failed)

    @property
    def good(self) -> int:
        """Of how many runs there are numbers."""
        return len(self.current) + len(self.older)

    @property
    def versions(self) -> str:
        """Those that the older runs are of, in words."""
        return versions(set(self.older.values()))

    def named(self, end: str) -> State:
        """The same, each run with this end of its name: another file has runs of these names."""
        return State(
            self.expected,
            [run + end for run in self.missing],
            {run + end: said for run, said in self.failed.items()},
            [run + end for run in self.current],
            {run + end: version for run, version in self.older.items()},
            self.kernels,
        )

    def text(self) -> str:
        """How many runs there are, and what is wrong with the others."""
        parts = [f"{self.good} of {self.expected} runs"]
        if self.failed:
            name, said = next(iter(self.failed.items()))
            parts.append(f"{len(self.failed)} failed, first {name}: {said.splitlines()[0]}")
        if self.missing:
            parts.append(f"{len(self.missing)} missing")
        if self.older:
            parts.append(f"{len(self.older)} older, of {self.versions}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Judged:
    """A criterion, and whether it holds."""

    criterion: Criterion
    holds: bool | None  # None: not decided
    by: str  # the numbers that decided
    sure: bool = True  # False: by the means alone, 95 % intervals leave it open

    @property
    def of(self) -> str:
        """What it is a part of, as a table has it."""
        said = "claim" if self.criterion.main else "detail"
        return f"{said}, under the conditions" if self.criterion.under else said

    @property
    def answer(self) -> str:
        """As a table has it."""
        if self.holds is None:
            return "not decided"
        said = "yes" if self.holds else "no"
        return said if self.sure else f"open; by the means {said}"


@dataclass(frozen=True)
class Judgement:
    """Whether something holds of means, and whether it does wherever in their 95 % intervals the
    true ones are, or somewhere in them."""

    holds: bool
    by: str
    surely: bool
    maybe: bool


def _named(pattern: str, values: Mapping[str, Value]) -> dict[str, Value]:
    found = {name: value for name, value in values.items() if fnmatchcase(name, pattern)}
    if not found:
        raise ValueError(f"no number is named like {pattern!r}; there are: {', '.join(values)}")
    for name, value in found.items():
        if not isfinite(value.ours) or not isfinite(value.paper or 0):
            raise ValueError(f"{name} is no number: {value.ours}, beside {value.paper}")
    return found


def _within(found: Mapping[str, Value], within: float) -> Judgement:
    ratios = {name: value.ratio for name, value in found.items() if value.ratio is not None}
    if missing := [name for name in found if name not in ratios]:
        raise ValueError(f"the paper prints no {', '.join(missing)}")
    off = {name: abs(ratio - 1) for name, ratio in ratios.items()}
    half = {name: value.half / value.paper if value.paper else 0 for name, value in found.items()}
    worst = max(off, key=lambda name: off[name] + half[name])
    return Judgement(
        all(off[name] <= within for name in off),
        f"{worst}: ratio {ratios[worst]:.3f}" + (f" ± {half[worst]:.3f}" if half[worst] else ""),
        all(off[name] + half[name] <= within for name in off),
        all(off[name] - half[name] <= within for name in off),
    )


def _between(
    found: Mapping[str, Value], low: float, high: float, share: float | None = None
) -> Judgement:
    def count(slack: float) -> int:
        """With every number off by so many halves of its interval, for the better."""
        return sum(
            low <= value.ours + slack * value.half and value.ours - slack * value.half <= high
            for value in found.values()
        )

    def inside(slack: float) -> bool:
        return count(slack) >= round((share or 1.0) * len(found), 6)

    least = min(found, key=lambda name: found[name].ours - found[name].half)
    most = max(found, key=lambda name: found[name].ours + found[name].half)
    ends = [least] * (low > -inf) + [most] * (high < inf)
    by = "; ".join(f"{name} {found[name].text}" for name in dict.fromkeys(ends))
    if share is not None:
        by = f"{count(0)} of {len(found)}; {by}"
    return Judgement(inside(0), by, inside(-1), inside(1))


def _ordered(chosen: list[tuple[str, Value]], by: float) -> Judgement:
    # The difference of two means has an interval of its own.
    differences = [apart(a, b, by) for (_, a), (_, b) in pairwise(chosen)]

    def holds(slack: float) -> bool:
        return all(difference + slack * half > 0 for difference, half in differences)

    return Judgement(holds(0), "; ".join(f"{n} {v.text}" for n, v in chosen), holds(-1), holds(1))


def judge(criterion: Criterion, values: Mapping[str, Value], *, part: bool = False) -> Judged:
    """Whether a criterion holds of these numbers; ValueError if it names one that is not there,
    or is none.  Of a `part` of a figure's runs those are judged that are there."""
    patterns = criterion.order or criterion.of
    there = [pattern for pattern in patterns if any(fnmatchcase(name, pattern) for name in values)]
    if criterion.peers and there != patterns:
        return Judged(criterion, None, "not all of the kernel's own runs are there")
    if part and len(there) < (2 if criterion.order else 1):
        return Judged(criterion, None, "it needs the whole: make report")
    if part:
        patterns = there
    found: dict[str, Value] = {}
    for pattern in patterns:
        found |= _named(pattern, values)
    if criterion.order:
        made = _ordered([(name, found[name]) for name in patterns], criterion.by)
    elif criterion.within is not None:
        made = _within(found, criterion.within)
    else:
        low, high = criterion.least, criterion.most
        low, high = -inf if low is None else low, inf if high is None else high
        made = _between(found, low, high, criterion.share)
    return Judged(criterion, made.holds, made.by, made.surely == made.maybe)


def _answer(one: Judged) -> str:
    """How a reason begins."""
    if one.holds is None:
        answer = "Not decided"
    elif not one.sure:
        answer = f"Left open by the intervals, {'so' if one.holds else 'not so'} by the means"
    else:
        answer = "Not so"
    return answer if one.criterion.main else f"{answer}, a detail"


def _reason(one: Judged, begins: str) -> str:
    """Why it does not hold, or is open."""
    by_intervals = "The mean holds; the interval of the seeds reaches beyond."
    unsaid = by_intervals if one.holds else "Unexplained."
    why = "" if one.holds is None else f" {one.criterion.why or unsaid}"
    return f"{begins}: {one.criterion.says} ({one.by}).{why}"


def _conditions(figure: Figure, judged: list[Judged]) -> tuple[bool, list[str]]:
    """Whether the claim holds under the paper's conditions, and what is to be said of them."""
    under = [one for one in judged if one.criterion.under]
    if not under:
        return False, []
    if all(one.holds is None for one in under):
        return False, [f"Not measured yet where {figure.under}: {under[0].by}."]
    held = [one.criterion.says for one in under if one.holds and one.sure]
    said = [f"Where {figure.under}: {'; '.join(held)}."] if held else []
    said += [
        _reason(one, f"{_answer(one)} where {figure.under}")
        for one in under
        if not (one.holds and one.sure)
    ]
    return all(one.holds and one.sure for one in under if one.criterion.main), said


def decide(figure: Figure, state: State, judged: list[Judged]) -> tuple[Verdict, list[str]]:
    """The verdict on a figure, and its reasons.  `judged` is looked at if all runs are there."""
    if state.failed:
        return Verdict.FAILED, [state.text()]
    if state.missing:
        return Verdict.MISSING, [state.text()]
    reasons = [f"The experiment: {figure.differs}"] if figure.differs else []
    today = [one for one in judged if not one.criterion.under]
    reasons += [
        _reason(one, _answer(one))
        for one in sorted(today, key=lambda one: not one.criterion.main)
        if not (one.holds and one.sure)
    ]
    under, said = _conditions(figure, judged)
    claim = [one for one in today if one.criterion.main]
    if any(one.holds is False and one.sure for one in claim):
        if figure.ours:
            return Verdict.HOLDS_NOT, reasons
        return (Verdict.UNDER if under else Verdict.NOT), reasons + said
    if not all(one.holds and one.sure for one in claim):
        return Verdict.OPEN, reasons + said
    if figure.ours:
        return Verdict.HOLDS, reasons
    return (Verdict.DIFFERENT if reasons else Verdict.REPRODUCED), reasons + said
