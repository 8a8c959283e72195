# SPDX-License-Identifier: GPL-2.0
"""The pages of an evaluation: a score card for each algorithm, the league of all, and a table of
every number for other programs."""

from __future__ import annotations

import csv
import io
import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from pydantic import BaseModel, ConfigDict

from longfat.arena import pictures
from longfat.arena.criteria import Criterion, marks
from longfat.arena.plan import RUNS, SCENARIOS, Contender, Evaluation, Run
from longfat.arena.score import Cell, Mark, Scores, shown
from longfat.run import result

NOT_RUN = Path(__file__).parent / "not_run.toml"
CARDS = "cards"


class Item(BaseModel):
    """What the documents ask for and no run shows."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str
    of: str
    title: str
    why: str


def not_run() -> list[Item]:
    found = tomllib.loads(NOT_RUN.read_text())["item"]
    return [Item.model_validate(one) for one in found]


@dataclass
class Detail:
    """A run of a criterion, as a card has it."""

    path: str
    beside: str
    seed: int
    values: list[str]
    scenario: str  # relative to the directory of the evaluation
    result: str
    failed: str = ""


@dataclass
class Section:
    """A criterion, as a card has it."""

    criterion: Criterion
    rows: list[tuple[str, list[Cell]]]  # the number in words, and the cells of all
    pictures: list[str]
    details: list[Detail] = field(default_factory=list)

    @property
    def main(self) -> list[Cell]:
        return self.rows[0][1]

    @property
    def failures(self) -> list[Detail]:
        return [one for one in self.details if one.failed]

    @property
    def files(self) -> list[str]:
        """The scenario files of the algorithm's runs."""
        return list(dict.fromkeys(one.scenario for one in self.details))


def _environment(*, html: bool) -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    found.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    return found


def _others(of: Evaluation, cc: Contender) -> list[Contender]:
    """Who stands beside it in its card: the standards first."""
    standards = marks().standards
    order = sorted(
        of.against,
        key=lambda one: (
            one.text not in standards,
            standards.index(one.text) if one.text in standards else 0,
        ),
    )
    return [one for one in order if one != cc]


def _detail(scores: Scores, criterion: Criterion, cc: Contender, run: Run) -> Detail:
    values, failed = [], ""
    for place, number in enumerate(criterion.number):
        points = [x for x in scores.cell(criterion, place, cc).points if x.run == run]
        values.append(shown(points[0].value, number) if points else "")
        failed = failed or (points[0].failed if points else "")
    suffix = "error" if failed and run.name not in scores.records else "json"
    other = run.other(cc)
    return Detail(
        run.path,
        other.text if other else "",
        run.seed,
        values,
        f"{SCENARIOS}/{run.file}",
        f"{RUNS}/{run.name}.{suffix}",
        failed,
    )


def sections(scores: Scores, cc: Contender) -> list[Section]:
    """All criteria, as the card of an algorithm has them."""
    ccs = [cc, *_others(scores.of, cc)]
    found = []
    for criterion in scores.of.criteria:
        rows = [
            (
                number.name + (f", {number.unit}" if number.unit else ""),
                [scores.cell(criterion, place, one) for one in ccs],
            )
            for place, number in enumerate(criterion.number)
        ]
        details = [_detail(scores, criterion, cc, run) for run in scores.of.of(criterion, cc)]
        found.append(
            Section(criterion, rows, pictures.of_criterion(scores, criterion, ccs), details)
        )
    return found


def _counts(cells: list[Cell]) -> list[tuple[str, int]]:
    """How many have each mark."""
    there = [cell.mark for cell in cells]
    return [(str(mark), there.count(mark)) for mark in Mark if mark and mark in there]


def _kernels(scores: Scores) -> list[str]:
    return sorted({str(one["kernel"]) for one in scores.records.values()})


def card(scores: Scores, cc: Contender, command: str) -> dict[str, str]:
    """The files of an algorithm's card, by their names below the directory of cards."""
    found = sections(scores, cc)
    others = _others(scores.of, cc)
    names = {
        (one.criterion.id, place): f"img/{cc.file}-{one.criterion.id}-{place}.svg"
        for one in found
        for place in range(len(one.pictures))
    }
    about: dict[str, Any] = {
        "cc": cc,
        "others": others,
        "sections": found,
        "counts": _counts([one.main[0] for one in found]),
        "profile": scores.of.profile,
        "kernels": _kernels(scores),
        "not_run": not_run(),
        "command": command,
        "marks": marks(),
        "standards": [x.text for x in scores.of.all if x.text in marks().standards],
        "names": names,
    }
    texts = {
        f"{cc.file}.html": _environment(html=True).get_template("card.html").render(about),
        f"{cc.file}.md": _environment(html=False).get_template("card.md").render(about),
    }
    for one in found:
        for place, svg in enumerate(one.pictures):
            head = '<?xml version="1.0" encoding="utf-8"?>\n'
            texts[names[one.criterion.id, place]] = head + svg
    return texts


# --- the league


@dataclass
class Heat:
    """Who gets what beside whom on a path: share of the row's flow, %."""

    path: str
    rows: list[tuple[str, list[tuple[str, str]]]]  # name, and text and colour of each cell


def _shade(share: float) -> str:
    """White where both have the half; red where the row has less, blue where it has more."""
    part = min(1.0, abs(share - 50) / 50)
    weak = round(255 - 150 * part)
    return f"rgb({weak},{weak},255)" if share > 50 else f"rgb(255,{weak},{weak})"


def _goodputs(record: result.Json) -> list[float]:
    found = [0.0, 0.0]
    for flow in record["flows"]:
        found[flow["group"]] += flow["goodput_bps"]
    return found


def heat(scores: Scores) -> list[Heat]:
    """The heat maps, of the criterion in which all stand beside all."""
    found = []
    for criterion in scores.of.criteria:
        if criterion.beside != "all":
            continue
        shares: dict[tuple[str, str, str], list[float]] = {}
        failed: set[tuple[str, str, str]] = set()
        runs = [run for run in scores.of.runs if run.criterion == criterion.id and run.beside]
        for run in runs:
            a, b = run.cc.text, run.beside.text if run.beside else ""
            record = scores.records.get(run.name)
            both = _goodputs(record) if record else [0.0, 0.0]
            if not sum(both):
                failed |= {(run.path, a, b), (run.path, b, a)}
                continue
            shares.setdefault((run.path, a, b), []).append(100 * both[0] / sum(both))
            if a != b:
                shares.setdefault((run.path, b, a), []).append(100 * both[1] / sum(both))
        names = [one.text for one in scores.of.all]
        for path in dict.fromkeys(run.path for run in runs):
            rows = []
            for row in names:
                cells = []
                for column in names:
                    key = (path, row, column)
                    values = shares.get(key, [])
                    if key in failed or not values:
                        cells.append(("-", "transparent"))
                    else:
                        mean = sum(values) / len(values)
                        cells.append((f"{mean:.0f}", _shade(mean)))
                rows.append((row, cells))
            found.append(Heat(path, rows))
    return found


def league(scores: Scores) -> str:
    """The page of all algorithms."""
    clouds = [
        (criterion, path, svg)
        for criterion in scores.of.criteria
        if criterion.cloud
        for path, svg in pictures.clouds(scores, criterion).items()
    ]
    rows = [
        (cc, [scores.cell(criterion, 0, cc) for criterion in scores.of.criteria])
        for cc in scores.of.all
    ]
    names = [one.text for one in scores.of.all]
    return (
        _environment(html=True)
        .get_template("league.html")
        .render(
            criteria=scores.of.criteria,
            rows=rows,
            names=names,
            heat=heat(scores),
            clouds=clouds,
            profile=scores.of.profile,
            kernels=_kernels(scores),
            not_run=not_run(),
            marks=marks(),
            standards=[name for name in names if name in marks().standards],
            sort=_sort,
            cards=[cc.text for cc in scores.of.contenders],
        )
    )


def _sort(cell: Cell) -> str:
    """By what a column is sorted, nothing where there is no number."""
    value = cell.value
    return "" if value is None else f"{min(value, 1e300):.6g}"


HEADINGS = (
    *("criterion", "number", "unit", "algorithm", "beside", "path", "seed", "value", "state"),
    *("mark", "scenario", "result"),
)


def _rows(scores: Scores) -> Iterator[list[str]]:
    for cell in scores.cells.values():
        for one in cell.points:
            state = "failed" if one.failed else "not measured yet" if one.missing else "measured"
            value = "" if one.value is None else f"{one.value:.6g}"
            run, other = one.run, one.run.other(cell.cc)
            yield [
                cell.criterion.id,
                cell.number.name,
                cell.number.unit,
                cell.cc.text,
                other.text if other else "",
                run.path,
                str(run.seed),
                "never" if one.value is not None and math.isinf(one.value) else value,
                state,
                str(cell.mark),
                f"{SCENARIOS}/{run.file}",
                f"{RUNS}/{run.name}.{'error' if one.failed else 'json'}",
            ]


def table(scores: Scores) -> str:
    """Every number of every run, as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADINGS)
    writer.writerows(_rows(scores))
    return out.getvalue()


def write(scores: Scores, out: Path, command: str) -> list[Path]:
    """Write all pages below `out`; those that a reader begins with."""
    first = []
    for cc in scores.of.contenders:
        for name, text in card(scores, cc, command).items():
            result.write_whole(text, out / CARDS / name)
        first.append(out / CARDS / f"{cc.file}.html")
    result.write_whole(table(scores), out / "league.csv")
    result.write_whole(league(scores), out / "league.html")
    return [*first, out / "league.html"]
