# SPDX-License-Identifier: GPL-2.0
"""What the league has besides the numbers of the criteria: who gets what beside whom, and delay
with throughput."""

from __future__ import annotations

from dataclasses import dataclass, field

from longfat.arena.criteria import Criterion
from longfat.arena.plan import Contender, Evaluation, Run
from longfat.arena.score import Mark, Scores
from longfat.run import result


@dataclass
class Square:
    """What an algorithm has of both beside another on a path."""

    cc: Contender
    beside: Contender
    shares: list[float] = field(default_factory=list)  # %, by seed
    run: Run | None = None  # the first
    why: str = ""  # there is no number

    @property
    def share(self) -> float | None:
        return sum(self.shares) / len(self.shares) if self.shares and not self.why else None

    @property
    def text(self) -> str:
        return "-" if self.share is None else f"{self.share:.0f}"

    @property
    def title(self) -> str:
        """In words."""
        who = f"{self.cc.text} beside {self.beside.text}"
        return f"{who}: {self.why or f'{self.text} % in the mean of {len(self.shares)}'}"


@dataclass
class Heat:
    """Who gets what beside whom on a path: share of the row's flow, %."""

    criterion: Criterion
    path: str
    rows: list[list[Square]]

    @property
    def whys(self) -> list[str]:
        """Why there are squares without a number."""
        squares = [one for row in self.rows for one in row]
        return list(dict.fromkeys(one.why for one in squares if one.why))


def _goodputs(record: result.Json) -> list[float]:
    found = [0.0, 0.0]
    for flow in record["flows"]:
        found[flow["group"]] += flow["goodput_bps"]
    return found


def _no_run(of: Evaluation, criterion: Criterion, a: Contender, b: Contender) -> str:
    """Why there is no run of these two."""
    for one in of.skipped:
        if one.criterion == criterion.id and {one.cc, one.beside} == {a, b}:
            return one.why
    return criterion.part(of.profile).skip or f"it is not in the profile {of.profile}"


def _add(square: Square, scores: Scores, run: Run) -> None:
    """What a run has of it."""
    square.run = square.run or run
    record = scores.records.get(run.name)
    if record is None:
        said = scores.errors.get(run.name)
        # The card has all of it.
        square.why = f"failed: {said.splitlines()[0]}" if said else str(Mark.NOT_YET)
        return
    both = _goodputs(record)
    mine = both[0] if run.cc == square.cc else both[1]
    if run.cc == run.beside:  # as of two others, of which there are both orders
        mine = sum(both) / 2
    if sum(both):
        square.shares.append(100 * mine / sum(both))
    else:
        square.why = "neither carried anything"


def heat(scores: Scores) -> list[Heat]:
    """The heat maps, of the criterion in which all stand beside all."""
    found = []
    for criterion in scores.of.criteria:
        if criterion.beside != "all":
            continue
        runs = [run for run in scores.of.runs if run.criterion == criterion.id]
        for path in dict.fromkeys(run.path for run in runs):
            squares = {(a, b): Square(a, b) for a in scores.of.all for b in scores.of.all}
            for run in runs:
                if run.path == path and run.beside:
                    for both in {(run.cc, run.beside), (run.beside, run.cc)}:
                        _add(squares[both], scores, run)
            for (a, b), one in squares.items():
                one.why = one.why or ("" if one.run else _no_run(scores.of, criterion, a, b))
            rows = [[squares[a, b] for b in scores.of.all] for a in scores.of.all]
            found.append(Heat(criterion, path, rows))
    return found


def _delay_and_rate(record: result.Json) -> tuple[float, float] | None:
    """Mean queue in ms, and Mbit/s that left the bottleneck."""
    delay = record["summary"]["queue_delay_ms"]["mean"]
    measured = record["scenario"]["duration"] - record["scenario"]["warmup"]
    rate = record["observed"]["left"]["bytes"] * 8e-6 / measured
    return None if delay is None else (float(delay), float(rate))


def dots(scores: Scores, criterion: Criterion) -> list[tuple[Run, tuple[float, float]]]:
    """Each run of a criterion with its mean queue in ms and its Mbit/s."""
    return [
        (run, point)
        for cc in scores.of.all
        for run in scores.of.of(criterion, cc)
        if (record := scores.records.get(run.name)) and (point := _delay_and_rate(record))
    ]
