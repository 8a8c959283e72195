# SPDX-License-Identifier: GPL-2.0
"""The pages of an evaluation: a score card for each algorithm, the league of all, and tables for
other programs.

They name no directory: an evaluation makes the same bytes wherever it is.
"""

from __future__ import annotations

import csv
import io
import json
import math
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import jinja2
from pydantic import BaseModel, ConfigDict

from longfat.arena import criteria, league, pictures
from longfat.arena.criteria import Criterion, marks
from longfat.arena.plan import RUNS, SCENARIOS, STANDARD, Contender, Evaluation, Run, shortened
from longfat.arena.score import Mark, Point, Scores, shown
from longfat.core import data
from longfat.run import result
from longfat.run.backends import Counted

NOT_RUN = Path(__file__).parent / "not_run.toml"
CARDS, IMAGES = "cards", "img"
PAGES = "pages.json"  # the names of all that is written beside the runs and their scenarios
HERE = "DIRECTORY"  # in commands, for that of the evaluation
AGAIN = ("-o", "again")


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


class CardCell(Protocol):
    """What a card has of a number."""

    @property
    def cc(self) -> Contender: ...
    @property
    def mark(self) -> str: ...
    @property
    def value(self) -> float | None: ...
    @property
    def whole(self) -> str: ...
    @property
    def said(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def without(self) -> Sized | bool: ...


@dataclass
class Detail:
    """A run of a criterion, as a card has it."""

    path: str
    beside: str
    seed: int
    values: list[str]
    scenario: str  # relative to the directory of the evaluation
    result: str
    bases: list[tuple[str, str]]  # the same of the runs that it is compared with
    failed: str = ""
    left_out: list[str] = field(default_factory=list)  # why, where a number is not of it


@dataclass
class Section:
    """A criterion, as a card has it."""

    criterion: Criterion
    rows: Sequence[tuple[str, Sequence[CardCell]]]  # the number in words, and the cells of all
    pictures: list[str]
    command: str  # makes it again
    how: str  # by which profile if the card does not say it, and what that leaves out
    details: list[Detail] = field(default_factory=list)

    @property
    def main(self) -> Sequence[CardCell]:
        return self.rows[0][1]

    @property
    def failures(self) -> list[Detail]:
        return [one for one in self.details if one.failed]

    @property
    def left_out(self) -> list[Detail]:
        return [one for one in self.details if one.left_out]

    @property
    def without(self) -> list[str]:
        """Of which paths a number in brackets is not."""
        return list(
            dict.fromkeys(
                f"{cell.cc.text}: {cell.reason}"
                for _, cells in self.rows
                for cell in cells
                if cell.without and cell.value is not None
            )
        )

    @property
    def files(self) -> list[str]:
        """The scenario files of the algorithm's runs, then of those that they are compared with."""
        bases = [scenario for one in self.details for scenario, _ in one.bases]
        return list(dict.fromkeys([*(one.scenario for one in self.details), *bases]))


def _evaluate(
    of: Evaluation, criterion: Criterion, texts: list[str], against: list[str], own: Sequence[str]
) -> str:
    """The command that evaluates these by a criterion, as this evaluation does."""
    words = [data.COMMAND, "evaluate", *texts, "--only", criterion.id, "--profile", of.profile]
    words += ["--against", ",".join(against)] if against != [*STANDARD[of.profile]] else []
    words += ["--kernel", of.kernel] if of.kernel else []
    return shlex.join([*words, *own, *AGAIN])


def again(of: Evaluation, criterion: Criterion, cc: Contender, own: Sequence[str]) -> str:
    """The command that gives the numbers of an algorithm in a criterion."""
    # Those that its marks are by come with it.
    others = [one for one in _others(of, cc) if one not in of.against]
    every = of.contenders if criterion.beside == "all" else [cc, *others]
    against = [one.text for one in of.against]
    return _evaluate(of, criterion, [one.text for one in every], against, own)


def run_again(file: str, own: Sequence[str], there: str = HERE) -> str:
    """The command that runs a scenario file of the evaluation `there`."""
    where = ["--backend", Counted.name] if "--bpf" in own else []
    return shlex.join([data.COMMAND, "run", f"{there}/{file}", *own, *where, *AGAIN])


def _shade(share: float | None) -> str:
    """White where both have the half; red where the row has less, blue where it has more."""
    if share is None:
        return "transparent"
    part = min(1.0, abs(share - 50) / 50)
    weak = round(255 - 150 * part)
    return f"rgb({weak},{weak},255)" if share > 50 else f"rgb(255,{weak},{weak})"


def _environment(*, html: bool) -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    found.filters["shade"] = _shade
    found.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    return found


def rendered(name: str, about: dict[str, Any]) -> str:
    """A page in Markdown or HTML, by the template's name."""
    return _environment(html=name.endswith(".html")).get_template(name).render(about)


def others(
    cc: Contender, every: Iterable[Contender], against: Iterable[Contender]
) -> list[Contender]:
    """Who stands beside an algorithm in its card: those that are in every card, then who else it is
    against."""
    names = {one.text: one for one in every}
    always = [names[name] for name in marks().in_every_card if name in names]
    return [one for one in dict.fromkeys([*always, *against]) if one != cc]


def _others(of: Evaluation, cc: Contender) -> list[Contender]:
    return others(cc, of.all, of.against)


def _detail(scores: Scores, criterion: Criterion, cc: Contender, run: Run) -> Detail:
    cells = [scores.cell(criterion, place, cc) for place in range(len(criterion.number))]
    points = [next((x for x in cell.points if x.run == run), None) for cell in cells]
    there = [point for point in points if point]
    bases = {point.base.name: point.base for point in there if point.base}
    other = run.other(cc)
    return Detail(
        run.path,
        other.text if other else "",
        run.seed,
        [
            shown(point.value, cell.number) if point else ""
            for cell, point in zip(cells, points, strict=True)
        ],
        f"{SCENARIOS}/{run.file}",
        _result(scores, run),
        [(f"{SCENARIOS}/{base.file}", _result(scores, base)) for base in bases.values()],
        next((point.failed for point in there if point.failed), "")
        or scores.errors.get(run.name, ""),
        list(dict.fromkeys(point.why for point in there if point.why)),
    )


def shorter(criterion: Criterion, profile: str) -> str:
    """What a profile leaves out of the runs of a criterion, in words."""
    sources = [one for one in criteria.load() if one.id in criterion.of_runs]
    return " ".join(dict.fromkeys(x for one in sources if (x := shortened(one, profile))))


def sections(scores: Scores, cc: Contender, own: Sequence[str]) -> list[Section]:
    """All criteria, as the card of an algorithm has them."""
    ccs = [cc, *_others(scores.of, cc)]
    found = []
    for criterion in scores.of.criteria:
        rows = [
            (number.label, [scores.cell(criterion, place, one) for one in ccs])
            for place, number in enumerate(criterion.number)
        ]
        details = [_detail(scores, criterion, cc, run) for run in scores.of.of(criterion, cc)]
        drawn = pictures.of_criterion(scores, criterion, ccs)
        command = again(scores.of, criterion, cc, own)
        how = shorter(criterion, scores.of.profile)
        found.append(Section(criterion, rows, drawn, command, how, details))
    return found


def counts(cells: Sequence[CardCell]) -> list[tuple[str, int]]:
    """How many have each mark."""
    there = [cell.mark for cell in cells]
    return [(str(mark), there.count(mark)) for mark in Mark if mark and mark in there]


def kernels(scores: Scores) -> list[str]:
    return sorted({str(one["kernel"]) for one in scores.records.values()})


def _about(scores: Scores, cc: Contender, found: list[Section]) -> dict[str, Any]:
    """What the templates of cards are told."""
    return {
        "cc": cc,
        "others": _others(scores.of, cc),
        "sections": found,
        "counts": counts([one.main[0] for one in found]),
        "profile": scores.of.profile,
        "kernels": kernels(scores),
        "not_run": not_run(),
        "here": HERE,
        "marks": marks(),
        "standards": [x.text for x in scores.of.all if x.text in marks().standards],
    }


def card(scores: Scores, cc: Contender, own: Sequence[str] = ()) -> dict[str, str]:
    """The files of an algorithm's card, by their names below the directory of cards.  `own` is how
    the command line named modules that are none of the tree's."""
    found = sections(scores, cc, own)
    names = {
        (one.criterion.id, place): f"{IMAGES}/{cc.file}-{one.criterion.id}-{place}.svg"
        for one in found
        for place in range(len(one.pictures))
    }
    about = _about(scores, cc, found) | {"names": names}
    about["run_again"] = lambda file: run_again(file, own)
    texts = {
        f"{cc.file}.html": _environment(html=True).get_template("card.html").render(about),
        f"{cc.file}.md": rendered("card.md", about),
    }
    for one in found:
        for place, svg in enumerate(one.pictures):
            texts[names[one.criterion.id, place]] = as_file(svg)
    return texts


def as_file(svg: str) -> str:
    """A picture as a file."""
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg


# --- the league


def clouds(scores: Scores) -> dict[str, tuple[Criterion, str, str]]:
    """File -> criterion, path, and picture."""
    return {
        f"{IMAGES}/{criterion.id}-{number}.svg": (criterion, path, svg)
        for criterion in scores.of.criteria
        if criterion.cloud
        for number, (path, svg) in enumerate(pictures.clouds(scores, criterion).items())
    }


def all_of_them(scores: Scores, own: Sequence[str] = ()) -> dict[str, str]:
    """The files of the page of all algorithms."""
    drawn = clouds(scores)
    rows = [
        (cc, [(scores.cell(one, 0, cc), scores.harms(one, cc)) for one in scores.of.criteria])
        for cc in scores.of.all
    ]
    names = [one.text for one in scores.of.all]
    about = {
        "criteria": scores.of.criteria,
        "rows": rows,
        "names": names,
        "heat": league.heat(scores),
        "worst": scores.worst,
        "clouds": [(criterion, path, file) for file, (criterion, path, _) in drawn.items()],
        "profile": scores.of.profile,
        "by": {},
        "kernels": kernels(scores),
        "not_run": not_run(),
        "marks": marks(),
        "standards": [name for name in names if name in marks().standards],
        "sort": sort,
        "here": HERE,
        "card": lambda cc: f"{CARDS}/{cc.file}.html",
        "section": lambda one: one.id,
        "run_again": lambda run: run_again(f"{SCENARIOS}/{run.file}", own),
        "scenarios": SCENARIOS,
    }
    page = rendered("league.html", about)
    return {"league.html": page} | {file: as_file(svg) for file, (_, _, svg) in drawn.items()}


def sort(cell: CardCell) -> str:
    """By what a column is sorted, nothing where there is no number."""
    value = cell.value
    return "" if value is None else f"{min(value, 1e300):.6g}"


# --- tables for other programs


def _value(value: float | None) -> str:
    if value is None:
        return ""
    return "never" if math.isinf(value) else f"{value:.6g}"


def as_csv(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as a file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return out.getvalue()


def _csv(headings: str, rows: Iterable[Sequence[str]]) -> str:
    return as_csv(headings.split(), rows)


def _result(scores: Scores, run: Run) -> str:
    """The file of a run, whatever came of it."""
    return f"{RUNS}/{run.name}.{'error' if run.name in scores.errors else 'json'}"


def _runs(scores: Scores) -> Iterator[list[str]]:
    for cell in scores.cells.values():
        for one in cell.points:
            state = "failed" if one.failed else str(Mark.NOT_YET) if one.missing else "measured"
            state = "left out" if one.why else state
            run, other = one.run, one.run.other(cell.cc)
            yield [
                *(cell.criterion.id, cell.number.name, cell.number.unit, cell.cc.text),
                *(other.text if other else "", run.path, str(run.seed), _value(one.value), state),
                *(one.why, f"{SCENARIOS}/{run.file}", _result(scores, run)),
                *(
                    (f"{SCENARIOS}/{one.base.file}", _result(scores, one.base))
                    if one.base
                    else ("", "")
                ),
            ]


def _paths(scores: Scores) -> Iterator[list[str]]:
    for cell in scores.cells.values():
        found: dict[tuple[str, str], list[Point]] = {}
        for one in cell.points:
            found.setdefault((one.run.file, one.run.path), []).append(one)
        for (file, path), points in found.items():
            first, other = points[0], points[0].run.other(cell.cc)
            whys = [one.failed.partition("\n")[0] or one.why for one in points]
            yield [
                *(cell.criterion.id, cell.number.name, cell.number.unit, cell.cc.text),
                *(other.text if other else "", path, " ".join(str(one.run.seed) for one in points)),
                " ".join("failed" if one.failed else _value(one.value) or "-" for one in points),
                "\n".join(whys) if any(whys) else "",
                *(f"{SCENARIOS}/{file}", f"{SCENARIOS}/{first.base.file}" if first.base else ""),
            ]


def _cells(scores: Scores, own: Sequence[str]) -> Iterator[list[str]]:
    for cell in scores.cells.values():
        yield [
            *(cell.criterion.id, cell.number.name, cell.number.unit, cell.number.better),
            *(cell.cc.text, cell.text, _value(cell.value), _value(cell.spread), str(cell.mark)),
            cell.reason,
            *("yes" if cell.worst else "", str(len(cell.points)), str(len(cell.failed))),
            *(str(len(cell.every) - len(cell.without)), str(len(cell.every))),
            again(scores.of, cell.criterion, cell.cc, own),
        ]


def _squares(scores: Scores, own: Sequence[str]) -> Iterator[list[str]]:
    for one in league.heat(scores):
        for square in (square for row in one.rows for square in row):
            both = list(dict.fromkeys([square.cc.text, square.beside.text]))
            yield [
                *(one.criterion.id, one.path, square.cc.text, square.beside.text),
                *(_value(square.share), str(len(square.shares)), square.why),
                f"{SCENARIOS}/{square.run.file}" if square.run else "",
                _evaluate(scores.of, one.criterion, both, both[:1], own) if square.run else "",
            ]


def _dots(scores: Scores) -> Iterator[list[str]]:
    for criterion in scores.of.criteria:
        if criterion.cloud:
            for run, (delay, rate) in league.dots(scores, criterion):
                yield [
                    *(criterion.id, run.path, run.cc.text, str(run.seed), _value(delay)),
                    *(_value(rate), f"{SCENARIOS}/{run.file}", _result(scores, run)),
                ]


def tables(scores: Scores, own: Sequence[str] = ()) -> dict[str, str]:
    """File -> CSV: what the league's page shows, and every number of every path and run."""
    head = "criterion number unit"
    return {
        "league.csv": _csv(
            f"{head} better algorithm text value spread mark why worst runs failed paths of_paths "
            "command",
            _cells(scores, own),
        ),
        "runs.csv": _csv(
            f"{head} algorithm beside path seed value state why scenario result base base_result",
            _runs(scores),
        ),
        "paths.csv": _csv(
            f"{head} algorithm beside path seeds values why scenario base_scenario", _paths(scores)
        ),
        "heat.csv": _csv(
            "criterion path algorithm beside share runs why scenario command",
            _squares(scores, own),
        ),
        "cloud.csv": _csv(
            "criterion path algorithm seed queue_ms mbps scenario result", _dots(scores)
        ),
    }


def forget(out: Path) -> None:
    """Take all pages away.  What they show and lead to is to be made again; should that end early,
    they would show an older version's numbers."""
    try:
        names = json.loads((out / PAGES).read_text())
    except (OSError, ValueError):
        return
    for name in [*names, PAGES]:
        (out / name).unlink(missing_ok=True)


def write(scores: Scores, out: Path, own: Sequence[str] = ()) -> list[Path]:
    """Write all pages below `out`; those that a reader begins with.  Those of another evaluation
    that was there go: their marks are by others."""
    texts = tables(scores, own) | all_of_them(scores, own)
    for cc in scores.of.all:
        texts |= {f"{CARDS}/{name}": text for name, text in card(scores, cc, own).items()}
    forget(out)
    # Before them, so that none is forgotten if this is interrupted.
    result.write_whole(json.dumps(sorted(texts), indent=1) + "\n", out / PAGES)
    for name, text in texts.items():
        result.write_whole(text, out / name)
    return [*(out / CARDS / f"{cc.file}.html" for cc in scores.of.contenders), out / "league.html"]
