# SPDX-License-Identifier: GPL-2.0
"""What of an evaluation is committed: docs/results/evaluation.json, of which the tables of the
pages are made (longfat.pages.tables.evaluation).

version, modules    of the tree that it was made with
profile, kernels    how much was run, and on what
algorithms          those that were evaluated; `against` are those that stood beside them
runs                criterion -> how many, and a hash of what their results are known by
criteria            id -> title, and its numbers: what each algorithm has, with its mark
pairs               path -> algorithm -> what it has beside each, %
"""

from __future__ import annotations

import json
from pathlib import Path

from longfat.arena import pages
from longfat.arena.criteria import Criterion
from longfat.arena.score import Cell, Scores
from longfat.build import modules
from longfat.core import cache
from longfat.core.errors import LabError
from longfat.run import result
from longfat.run.result import Json

NAME = "evaluation"


def place() -> Path:
    """Where it is committed; LabError where there is no such place."""
    path = modules.ROOT / "docs/results"
    if not path.is_dir():
        raise LabError(f"--keep needs the source tree: there is no {path}")
    return path / f"{NAME}.json"


def _cell(cell: Cell) -> Json:
    found: Json = {"text": cell.text, "mark": str(cell.mark)}
    found |= {"why": cell.reason} if cell.reason else {}
    return found | ({"worst": True} if cell.worst else {})


def _numbers(scores: Scores, criterion: Criterion) -> list[Json]:
    return [
        {
            "name": number.name,
            "unit": number.unit,
            "better": number.better,
            "cells": {cc.text: _cell(scores.cell(criterion, place, cc)) for cc in scores.of.all},
        }
        for place, number in enumerate(criterion.number)
    ]


def _runs(scores: Scores, criterion: Criterion) -> Json:
    names = [run.name for run in scores.of.runs if run.criterion == criterion.id]
    known = [
        (name, scores.records[name]["identity"]["id"]) for name in names if name in scores.records
    ]
    failed = sum(name in scores.errors for name in names)
    return {"count": len(names), "failed": failed, "id": cache.digest(sorted(known))}


def kept(scores: Scores) -> Json:
    """What is committed; LabError if that would not be a whole evaluation."""
    of = scores.of
    missing = [run for run in of.runs if not {run.name} & {*scores.records, *scores.errors}]
    if missing:
        raise LabError(f"--keep: {len(missing)} of {len(of.runs)} runs are not made")
    return modules.stamp() | {
        "profile": of.profile,
        "kernels": pages.kernels(scores),
        "algorithms": [one.text for one in of.contenders],
        "against": [one.text for one in of.against],
        "runs": {one.id: _runs(scores, one) for one in of.criteria if not one.runs_of},
        "criteria": {
            one.id: {"title": one.title, "numbers": _numbers(scores, one)} for one in of.criteria
        },
        "pairs": {
            heat.path: {
                row[0].cc.text: {square.beside.text: square.text for square in row}
                for row in heat.rows
            }
            for heat in pages.heat(scores)
        },
    }


def write(scores: Scores) -> Path:
    """Write it into docs/results."""
    path = place()
    result.write_whole(json.dumps(kept(scores), indent=0) + "\n", path)
    return path
