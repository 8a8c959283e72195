# SPDX-License-Identifier: GPL-2.0
"""What of an evaluation is committed, in docs/results.  The tables of the pages are made of it
(longfat.pages.tables.evaluation).

evaluation/*.csv are those tables of the evaluation that are not of single runs.  evaluation.json
says what they are of:

version, modules    of the tree that it was made with
profile, kernel     how much was run, and on which kernel if one was asked for
kernels             on what
algorithms          those that were evaluated; `against` are those that stood beside them
runs                criterion -> how many, and how many of them failed
titles              criterion -> its title
known               what has to be as it was for the numbers to be current: `texts` are hashes of
                    criteria and of what computes the numbers; `first` is what the first run of
                    each criterion is known by
"""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterable
from pathlib import Path

from longfat.arena import criteria, metrics, observe, pages, plan, score
from longfat.arena.criteria import Criterion
from longfat.arena.score import Scores
from longfat.build import modules
from longfat.core import cache
from longfat.core.errors import LabError
from longfat.run import result
from longfat.run.identity import Platform
from longfat.run.result import Json

NAME = "evaluation"
TABLES = ("league.csv", "paths.csv", "heat.csv", "cloud.csv")


def place() -> Path:
    """Where it is committed; LabError where there is no such place."""
    path = modules.ROOT / "docs/results"
    if not path.is_dir():
        raise LabError(f"--keep needs the source tree: there is no {path}")
    return path / f"{NAME}.json"


def _runs(scores: Scores, criterion: Criterion) -> Json:
    names = [run.name for run in scores.of.runs if run.criterion == criterion.id]
    return {"count": len(names), "failed": sum(name in scores.errors for name in names)}


# --- whether it is current


def _bare(path: Path) -> str:
    """A text without its comments."""
    text = path.read_text()
    if path.suffix == ".toml":
        return json.dumps(tomllib.loads(text), sort_keys=True)
    return ast.unparse(ast.parse(text))


def _texts(ids: Iterable[str]) -> dict[str, str]:
    """What decides the numbers and marks of these criteria besides runs -> a hash of it."""
    paths = [Path(str(module.__file__)) for module in (metrics, score)] + [criteria.MARKS]
    paths += [path for one in ids if (path := criteria.WHERE / f"{one}.toml").exists()]
    return {path.name: cache.digest(_bare(path)) for path in paths}


def _first(scores: Scores) -> dict[str, Json]:
    """Criterion -> what the first of its runs is known by."""
    found: dict[str, Json] = {}
    for run in scores.of.runs:
        if (there := scores.records.get(run.name)) and run.criterion not in found:
            kept = {key: there[key] for key in ("backend", "identity", "observer")}
            found[run.criterion] = {"run": run.name} | kept
    return found


def is_older(found: Json, on: Platform) -> bool:
    """Whether one that is committed would have other numbers now, on this platform."""
    known = found["known"]
    now = plan.evaluation(
        found["algorithms"], found["against"], found["profile"], kernel=found["kernel"]
    )
    runs = {run.name: run for run in now.runs}
    return _texts(one.id for one in now.criteria) != known["texts"] or not all(
        (run := runs.get(one["run"]))
        and one["observer"] == observe.VERSION
        and on.knows(one, run.scenario, run.seed)
        for one in known["first"].values()
    )


def kept(scores: Scores) -> Json:
    """What is committed besides the tables; LabError if that would not be a whole evaluation."""
    of = scores.of
    missing = [run for run in of.runs if not {run.name} & {*scores.records, *scores.errors}]
    if missing:
        left = f"{len(missing)} of {len(of.runs)} runs are not made"
        raise LabError(f"--keep: {left}: the same command makes them")
    return modules.stamp() | {
        "profile": of.profile,
        "kernel": of.kernel,
        "kernels": pages.kernels(scores),
        "algorithms": [one.text for one in of.contenders],
        "against": [one.text for one in of.against],
        "runs": {one.id: _runs(scores, one) for one in of.criteria if not one.runs_of},
        "titles": {one.id: one.title for one in of.criteria},
        "known": {"texts": _texts(one.id for one in of.criteria), "first": _first(scores)},
    }


def write(scores: Scores) -> Path:
    """Write it into docs/results."""
    path, found = place(), kept(scores)
    tables = pages.tables(scores)
    for name in TABLES:
        result.write_whole(tables[name], path.with_suffix("") / name)
    result.write_whole(json.dumps(found, indent=0) + "\n", path)
    return path
