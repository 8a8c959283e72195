# SPDX-License-Identifier: GPL-2.0
"""What of an evaluation is committed, in docs/results.  The tables of the pages are made of it
(longfat.pages.tables.evaluation).

evaluation/*.csv are those tables of the evaluation that are not of single runs, evaluation/*.svg
its clouds and heat maps, evaluation/*.md the score cards.  evaluation.json says what they are of:

version, modules    of the tree that it was made with; modules of those that are in it
profile, kernel     how much was run, and on which kernel if one was asked for
kernels             on what
algorithms          those that were evaluated; `against` are those that stood beside them
runs                criterion -> how many, and how many of them failed
titles              criterion -> its title
took                wall and processor seconds of it
clouds, heat        picture -> its criterion and path
cards               algorithm -> file
known               what has to be as it was for the numbers to be current: `texts` are hashes of
                    criteria and of what computes the numbers, `scenarios` is one of all scenario
                    files, `first` is what the first run of each path of each criterion is known by
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from longfat.arena import criteria, league, metrics, observe, pages, pictures, plan, score
from longfat.arena.criteria import Criterion
from longfat.arena.plan import Evaluation, Run
from longfat.arena.score import Scores
from longfat.build import modules
from longfat.core import cache
from longfat.core.errors import LabError
from longfat.run import result
from longfat.run.identity import Platform
from longfat.run.result import Json

NAME = "evaluation"
# What makes numbers of runs.
COMPUTED_BY: tuple[Any, ...] = (
    *(metrics, score, league, result.interval, result.jain, result.percentile),
    *(Evaluation.of, Evaluation.roles, Criterion.roles, Run.other),
)
# What of a criterion are words alone.
WORDS = {"of", "section", "level", "title", "asks", "differs"}
TABLES = ("league.csv", "paths.csv", "heat.csv", "cloud.csv")


def place(of: Evaluation) -> Path:
    """Where it is committed; LabError where there is no such place, or one that has more."""
    path = modules.ROOT / "docs/results"
    if not path.is_dir():
        raise LabError(f"--keep needs the source tree: there is no {path}")
    path /= f"{NAME}.json"
    if not path.exists():
        return path
    try:
        there = json.loads(path.read_text())
        profile, algorithms = criteria.PROFILES.index(there["profile"]), there["algorithms"]
    except (ValueError, LookupError, TypeError) as error:
        raise LabError(f"--keep: {path} is no evaluation ({error!r}): remove it") from error
    more = set(algorithms) - {one.text for one in of.all}
    if profile > criteria.PROFILES.index(of.profile) or more:
        has = ", ".join(sorted(more)) or f"profile {there['profile']}"
        raise LabError(
            f"--keep: {path} has {has}, which this has not: remove it first if this is to take its "
            f"place"
        )
    return path


def _runs(scores: Scores, criterion: Criterion) -> Json:
    names = [run.name for run in scores.of.runs if run.criterion == criterion.id]
    return {"count": len(names), "failed": sum(name in scores.errors for name in names)}


# --- whether it is current


def _bare(text: str) -> str:
    """A program without comments and docstrings."""
    tree = ast.parse(textwrap.dedent(text))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            body[:1] = [] if len(body) > 1 else [ast.Pass()]
    return ast.unparse(tree)


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _texts(every: Iterable[Criterion]) -> dict[str, str]:
    """What decides the numbers and marks of these criteria besides runs -> a hash of it."""
    there = {
        getattr(one, "__qualname__", one.__name__): _bare(inspect.getsource(one))
        for one in COMPUTED_BY
    }
    there["marks"] = json.dumps(tomllib.loads(criteria.MARKS.read_text()), sort_keys=True)
    there |= {one.id: one.model_dump_json(exclude=WORDS) for one in every}
    return {name: cache.digest(text) for name, text in there.items()}


def _scenarios(of: Evaluation) -> str:
    """A hash of all scenario files but their titles."""
    lines = (
        f"{name}: {line}"
        for name, text in sorted(of.files.items())
        for line in text.splitlines()
        if not line.startswith("title = ")
    )
    return cache.digest(*lines)


def _first(scores: Scores) -> list[Json]:
    """What the first run of each path is known by."""
    found: dict[tuple[object, ...], Json] = {}
    for run in scores.of.runs:
        if (there := scores.records.get(run.name)) and (run.criterion, run.at) not in found:
            kept = {key: there[key] for key in ("backend", "identity", "observer")}
            found[run.criterion, run.at] = {"run": run.name} | kept
    return [*found.values()]


def _known(of: Evaluation) -> Json:
    return {"texts": _texts(of.criteria), "scenarios": _scenarios(of)}


def is_older(found: Json, on: Platform) -> bool:
    """Whether one that is committed would have other numbers now, on this platform."""
    known = dict(found["known"])
    first = known.pop("first")
    try:
        now = plan.evaluation(
            found["algorithms"], found["against"], found["profile"], kernel=found["kernel"]
        )
    except LabError:  # one of them, or a criterion, is not what it was
        return True
    runs = {run.name: run for run in now.runs}
    return known != _known(now) or not all(
        (run := runs.get(one["run"]))
        and one["observer"] == observe.VERSION
        and on.knows(one, run.scenario, run.seed)
        for one in first
    )


def _modules(of: Evaluation) -> dict[str, str]:
    """Those of our algorithms that are in it -> a hash of the module's source."""
    used = {name for run in of.runs for name in run.scenario.algorithms}
    return {name: source for name, source in modules.bare_digests().items() if name in used}


def kept(scores: Scores, took: dict[str, float]) -> Json:
    """What is committed besides the tables; LabError if that would not be a whole evaluation."""
    of = scores.of
    made = {*scores.records, *scores.errors}
    missing = [run for run in of.runs if run.name not in made]
    if missing:
        left = f"{len(missing)} of {len(of.runs)} runs are not made"
        raise LabError(f"--keep: {left}: the same command makes them")
    return modules.stamp() | {
        "modules": _modules(of),
        "profile": of.profile,
        "kernel": of.kernel,
        "kernels": pages.kernels(scores),
        "algorithms": [one.text for one in of.contenders],
        "against": [one.text for one in of.against],
        "runs": {one.id: _runs(scores, one) for one in of.criteria if not one.runs_of},
        "titles": {one.id: one.title for one in of.criteria},
        "took": took,
        "known": _known(of) | {"first": _first(scores)},
    }


def write(scores: Scores, took: dict[str, float]) -> Path:
    """Write it into docs/results.  If that ends early there is none, rather than parts of two."""
    path, found = place(scores.of), kept(scores, took)
    tables = pages.tables(scores)
    files = {name: tables[name] for name in TABLES}
    found["clouds"], found["heat"] = {}, {}
    for file, (criterion, of_path, svg) in pages.clouds(scores).items():
        files[Path(file).name] = pages.as_file(svg)
        found["clouds"][Path(file).name] = [criterion.id, of_path]
    for number, one in enumerate(league.heat(scores)):
        name = f"{one.criterion.id}-{number}.svg"
        files[name] = pages.as_file(pictures.heat(one))
        found["heat"][name] = [one.criterion.id, one.path]
    found["cards"] = {cc.text: f"{cc.file}.md" for cc in scores.of.contenders}
    files |= {f"{cc.file}.md": pages.kept_card(scores, cc) for cc in scores.of.contenders}
    path.unlink(missing_ok=True)
    for old in path.with_suffix("").glob("*"):
        old.unlink()
    for name, text in files.items():
        result.write_whole(text, path.with_suffix("") / name)
    result.write_whole(json.dumps(found, indent=0) + "\n", path)
    return path
