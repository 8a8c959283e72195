# SPDX-License-Identifier: GPL-2.0
"""What of evaluations is committed, in docs/results, a part for each criterion: `--keep` puts those
of an evaluation in the place of what was there.  The tables of the pages are made of it
(longfat.pages.tables.evaluation), and the score cards (longfat.arena.cards).

evaluation/*.csv are those tables of all parts that are not of single runs, evaluation/*.svg clouds
and heat maps.  evaluation.json is a list, which says of each part:

criterion           its id
version, modules    of the tree that it was made with; modules of those that are in it
profile, kernel     how much was run, and on which kernel if one was asked for
kernels             on what
how                 what the profile leaves out, in words
algorithms          those that were evaluated; `against` are those that stood beside them
only                the criterion, and those that its runs are of
runs                criterion -> how many, and how many of them failed
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
# What the pages ask a part for.
KEYS = {
    *("criterion", "version", "profile", "kernels", "how", "algorithms", "against", "only"),
    *("runs", "clouds", "heat", "known", "modules", "kernel"),
}


def parts(path: Path) -> list[Json]:
    """What is committed of each criterion that there is; LabError if that is no such list."""
    if not path.exists():
        return []
    try:
        found: list[Json] = json.loads(path.read_text())
        lacks = [KEYS - one.keys() for one in found]
    except (ValueError, AttributeError, TypeError) as error:
        raise LabError(f"{path} is no evaluation ({error}): restore it") from error
    if not isinstance(found, list) or any(lacks):
        raise LabError(f"{path} is no list of parts with {', '.join(sorted(KEYS))}: restore it")
    there = {one.id for one in criteria.load()}
    return [one for one in found if one["criterion"] in there]


def _ours(of: Evaluation) -> list[Criterion]:
    """The criteria that were named: what others are made of does not come with them."""
    return criteria.named(of.only)


def place(of: Evaluation) -> Path:
    """Where it is committed; LabError where there is no such place, or one that has more."""
    path = modules.ROOT / "docs/results"
    if not path.is_dir():
        raise LabError(f"--keep needs the source tree: there is no {path}")
    path /= f"{NAME}.json"
    ids, here = {one.id for one in _ours(of)}, {one.text for one in of.all}
    for part in parts(path):
        ident, profile = part["criterion"], part["profile"]
        if ident not in ids:
            continue
        has = ""
        if criteria.PROFILES.index(profile) > criteria.PROFILES.index(of.profile):
            has = f"by the profile {profile}, not {of.profile}"
        elif lacks := [x for x in (*part["algorithms"], *part["against"]) if x not in here]:
            has = f"with {', '.join(dict.fromkeys(lacks))}, too"
        if has:
            raise LabError(
                f"--keep: {path} has {ident} {has}: evaluate it so, or name the others with --only"
            )
    return path


def _runs(scores: Scores, criterion: Criterion) -> Json:
    names = [run.name for run in scores.of.runs if run.criterion == criterion.id]
    return {"count": len(names), "failed": sum(name in scores.errors for name in names)}


# --- whether it is current


def _bare(text: str, without: Iterable[str] = ()) -> str:
    """A program without comments, docstrings, and these functions of it."""
    tree = ast.parse(textwrap.dedent(text))
    tree.body = [node for node in tree.body if getattr(node, "name", "") not in without]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            body[:1] = [] if len(body) > 1 else [ast.Pass()]
    return ast.unparse(tree)


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _unused(every: Iterable[Criterion]) -> set[str]:
    """The metrics that no number of these criteria is made with."""
    body = ast.parse(inspect.getsource(metrics)).body
    of = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    used = {number.metric for one in every for number in one.number}
    others = metrics.METRICS.keys() - used
    # What is no metric may use one.
    waiting = [node for node in body if getattr(node, "name", "") not in others]
    while waiting:
        names = {node.id for node in ast.walk(waiting.pop()) if isinstance(node, ast.Name)}
        new = (names & metrics.METRICS.keys()) - used
        used |= new
        waiting += [of[name] for name in new]
    return metrics.METRICS.keys() - used


def _texts(every: list[Criterion]) -> dict[str, str]:
    """What decides the numbers and marks of these criteria besides runs -> a hash of it."""
    there = {
        getattr(one, "__qualname__", one.__name__): _bare(
            inspect.getsource(one), _unused(every) if one is metrics else ()
        )
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


def kept(scores: Scores) -> Json:
    """What is committed besides the tables; LabError if that would not be a whole evaluation."""
    of = scores.of
    made = {*scores.records, *scores.errors}
    missing = [run for run in of.runs if run.name not in made]
    if missing:
        left = f"{len(missing)} of {len(of.runs)} runs of {', '.join(of.only) or 'all criteria'}"
        raise LabError(f"--keep: {left} are not made: the same command makes them")
    return modules.stamp() | {
        "modules": _modules(of),
        "profile": of.profile,
        "kernel": of.kernel,
        "kernels": pages.kernels(scores),
        "algorithms": [one.text for one in of.contenders],
        "against": [one.text for one in of.against],
        "runs": {one.id: _runs(scores, one) for one in of.criteria if not one.runs_of},
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
    clouds = [(path, svg) for of, path, svg in pages.clouds(scores).values() if of == criterion]
    heat = [
        (one.path, pictures.heat(one)) for one in league.heat(scores) if one.criterion == criterion
    ]
    return {
        kind: {f"{criterion.id}-{kind}-{number}.svg": one for number, one in enumerate(drawn)}
        for kind, drawn in (("clouds", clouds), ("heat", heat))
    }


def _with(new: str, ours: set[str], stay: set[str], path: Path) -> str:
    """What the table `new` has of our criteria, and the one in `path` of those that stay."""
    head, *rows = csv.reader(io.StringIO(new))
    rows = [row for row in rows if row[0] in ours]
    if stay:
        with path.open(newline="") as file:
            there, *others = csv.reader(file)
        if there != head:
            raise LabError(f"--keep: {path} has other columns: keep all criteria again")
        rows += [row for row in others if row[0] in stay]
    order = [one.id for one in criteria.load()]
    return pages.as_csv(head, sorted(rows, key=lambda row: order.index(row[0])))


def write(scores: Scores) -> Path:
    """Write it into docs/results, in the place of what is there of its criteria.  If that ends
    early, what was there stays."""
    path = place(scores.of)
    tables, fresh, old = (path.with_suffix(suffix) for suffix in ("", ".new", ".old"))
    for partial in (fresh, old):
        shutil.rmtree(partial, ignore_errors=True)
    try:
        fresh.mkdir()
        _write(scores, path, fresh)
        if tables.exists():
            tables.rename(old)
        fresh.rename(tables)
        (tables / path.name).replace(path)
    except BaseException:
        if old.exists():
            shutil.rmtree(tables, ignore_errors=True)
            old.rename(tables)
        raise
    finally:
        for partial in (fresh, old):
            shutil.rmtree(partial, ignore_errors=True)
    return path


def _write(scores: Scores, path: Path, where: Path) -> None:
    """Write all that there is then into an empty directory."""
    ours, tables = _ours(scores.of), path.with_suffix("")
    found = {one["criterion"]: one for one in parts(path)}
    ids = {one.id for one in ours}
    stay = {*found} - ids
    made = pages.tables(scores)
    for name in TABLES:
        result.write_whole(_with(made[name], ids, stay, tables / name), where / name)
    for ident in stay:
        for name in (*found[ident]["clouds"], *found[ident]["heat"]):
            shutil.copy(tables / name, where / name)
    for criterion in ours:
        of = _of(scores, criterion)
        part: Json = {"criterion": criterion.id, "only": of.of.only} | kept(of)
        part["how"] = pages.shorter(criterion, of.of.profile)
        for kind, drawn in _pictures(of, criterion).items():
            part[kind] = {name: of_path for name, (of_path, _) in drawn.items()}
            for name, (_, svg) in drawn.items():
                result.write_whole(pages.as_file(svg), where / name)
        found[criterion.id] = part
    every = [found[one.id] for one in criteria.load() if one.id in found]
    result.write_whole(json.dumps(every, indent=0) + "\n", where / path.name)
