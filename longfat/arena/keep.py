# SPDX-License-Identifier: GPL-2.0
"""What of evaluations is committed, in docs/results, a part for each criterion: `--keep` puts those
of an evaluation in the place of what was there.  The tables of the pages are made of it
(longfat.pages.tables.evaluation), and the score cards (longfat.arena.cards).

evaluation/*.csv are those tables of all parts that are not of single runs, evaluation/*.svg clouds
and heat maps.  evaluation.json is a list of what the parts are of:

criterion           its id
version, modules    of the tree that it was made with; modules of those that are in it
profile, kernel     how much was run, and on which kernel if one was asked for
kernels             on what
algorithms          those that were evaluated; `against` are those that stood beside them
only, titles        the criteria of whose runs it is, and itself; their titles
runs                criterion -> how many, and how many of them failed
took                wall and processor seconds of the evaluation that it is from; `of` is of which
                    criteria that was
clouds, heat        picture -> its path
known               what has to be as it was for the numbers to be current: `texts` are hashes of
                    criteria and of what computes the numbers, `scenarios` is one of all scenario
                    files, `first` is what the first run of each path of each criterion is known by
"""

from __future__ import annotations

import ast
import csv
import inspect
import io
import json
import shutil
import textwrap
import tomllib
from collections.abc import Iterable
from dataclasses import replace
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


def parts(path: Path) -> list[Json]:
    """What is committed of each criterion; LabError if that is no such list."""
    if not path.exists():
        return []
    try:
        found: list[Json] = json.loads(path.read_text())
        if not isinstance(found, list):
            raise TypeError("no list")
        for one in found:
            criteria.PROFILES.index(one["profile"])
            one["criterion"], one["algorithms"] + one["against"], one["clouds"], one["heat"]
    except (ValueError, LookupError, TypeError) as error:
        raise LabError(f"{path} is no evaluation ({error!r}): remove it") from error
    return found


def place(of: Evaluation) -> Path:
    """Where it is committed; LabError where there is no such place, or one that has more."""
    path = modules.ROOT / "docs/results"
    if not path.is_dir():
        raise LabError(f"--keep needs the source tree: there is no {path}")
    path /= f"{NAME}.json"
    replaced = {one.id for one in of.criteria}
    here = {one.text for one in of.all}
    for part in parts(path):
        ident, profile = part["criterion"], part["profile"]
        has = f"--keep: {path} has {ident} "
        if ident not in replaced:
            there = {*part["algorithms"], *part["against"]}
            if there != here and ident in {one.id for one in criteria.load()}:
                others = ", ".join(sorted(there ^ here))
                raise LabError(f"{has}of other algorithms ({others}): evaluate that with it")
        elif criteria.PROFILES.index(profile) > criteria.PROFILES.index(of.profile):
            raise LabError(f"{has}by the profile {profile}: leave it out with --only, or remove it")
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
            *(found["algorithms"], found["against"], found["profile"]),
            only=found.get("only", []),
            kernel=found["kernel"],
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


def _of(scores: Scores, criterion: Criterion) -> Scores:
    """What there is of one criterion."""
    of, ids = scores.of, {criterion.id, *criterion.runs_of}
    runs = [run for run in of.runs if run.criterion in ids]
    files = {run.file: of.files[run.file] for run in runs}
    return replace(
        scores,
        of=replace(of, only=sorted(ids), runs=runs, files=files),
        records={run.name: scores.records[run.name] for run in runs if run.name in scores.records},
    )


def _pictures(scores: Scores, criterion: Criterion) -> dict[str, dict[str, tuple[str, str]]]:
    """Clouds and heat maps of a criterion: file -> its path, and the picture."""
    return {
        "clouds": {
            Path(file).name: (path, svg)
            for file, (of, path, svg) in pages.clouds(scores).items()
            if of == criterion
        },
        "heat": {
            f"{criterion.id}-{number}.svg": (one.path, pictures.heat(one))
            for number, one in enumerate(league.heat(scores))
            if one.criterion == criterion
        },
    }


def _with(of: set[str], new: str, path: Path) -> str:
    """The table `new`, and what the one in `path` has of other criteria that there are."""
    (head, *rows), place = csv.reader(io.StringIO(new)), "criterion"
    if path.exists():
        with path.open(newline="") as file:
            there, *others = csv.reader(file)
        if there != head and any(row[0] not in of for row in others):
            raise LabError(f"--keep: {path} has other columns: evaluate all criteria again")
        rows += [row for row in others if row[0] not in of]
    assert head[0] == place
    order = [one.id for one in criteria.load()]
    rows = sorted((row for row in rows if row[0] in order), key=lambda row: order.index(row[0]))
    return pages.as_csv(head, rows)


def write(scores: Scores, took: dict[str, float]) -> Path:
    """Write it into docs/results, in the place of what is there of these criteria.  If that ends
    early, what was there stays."""
    path = place(scores.of)
    tables, fresh = path.with_suffix(""), path.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        shutil.copytree(tables, fresh) if tables.exists() else fresh.mkdir()
        _write(scores, took, parts(path), fresh)
        shutil.rmtree(tables, ignore_errors=True)
        fresh.rename(tables)
        (tables / path.name).rename(path)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return path


def _write(scores: Scores, took: dict[str, float], there: list[Json], where: Path) -> None:
    """Put it into a copy of what is there."""
    ids, made = [one.id for one in scores.of.criteria], pages.tables(scores)
    for name in TABLES:
        result.write_whole(_with({*ids}, made[name], where / name), where / name)
    found = {one["criterion"]: one for one in there}
    for criterion in scores.of.criteria:
        of, was = _of(scores, criterion), found.get(criterion.id, {"clouds": {}, "heat": {}})
        for name in (*was["clouds"], *was["heat"]):
            (where / name).unlink(missing_ok=True)
        part: Json = {"criterion": criterion.id, "only": of.of.only} | kept(of, took)
        part["took"] = took | {"of": ids} if took else {}
        for kind, drawn in _pictures(of, criterion).items():
            part[kind] = {name: of_path for name, (of_path, _) in drawn.items()}
            for name, (_, svg) in drawn.items():
                result.write_whole(pages.as_file(svg), where / name)
        found[criterion.id] = part
    every = [found[one.id] for one in criteria.load() if one.id in found]
    result.write_whole(json.dumps(every, indent=0) + "\n", where / f"{NAME}.json")
