# SPDX-License-Identifier: GPL-2.0
"""Files of summaries: a run in each line, and of its scenario only what is not the default.

A file of 500 runs is a quarter smaller without the defaults.  What is read has them again.
"""

from __future__ import annotations

import json
from functools import cache as once
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from longfat.run.scenario import Scenario

Json = dict[str, Any]


def _table(annotation: Any) -> type[BaseModel] | None:
    """The model of a key that is a table, or a list of tables."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _table(one))), None)


@once
def _keys(model: type[BaseModel]) -> tuple[Json, dict[str, type[BaseModel]]]:
    """(the defaults of a table's keys as JSON has them, the models of those that are tables)."""
    fields = model.model_fields
    blank = model.model_construct().model_dump(mode="json", warnings=False)
    tables = {key: found for key, one in fields.items() if (found := _table(one.annotation))}
    return blank, tables


def _brief(said: Json, model: type[BaseModel]) -> Json:
    """A table without the keys that are as by default."""
    defaults, tables = _keys(model)
    found = {}
    for key, value in said.items():
        if key in defaults and value == defaults[key]:
            continue
        if one := tables.get(key):
            value = (
                [_brief(x, one) for x in value] if isinstance(value, list) else _brief(value, one)
            )
        found[key] = value
    return found


def _full(said: Any, model: type[BaseModel]) -> Any:
    """The same table with all keys; one that is no key any more stays, and what is no table."""
    if not isinstance(said, dict):
        return said
    defaults, tables = _keys(model)
    found = defaults | said
    for key, one in tables.items():
        if isinstance(value := said.get(key), list):
            found[key] = [_full(x, one) for x in value]
        elif key in said:
            found[key] = _full(value, one)
    return found


def text(lines: list[Json]) -> str:
    """What a file of summaries is to have."""
    briefs = [
        line | {"scenario": _brief(line["scenario"], Scenario)} if "scenario" in line else line
        for line in lines
    ]
    texts = [json.dumps(line, separators=(",", ":"), sort_keys=True) for line in briefs]
    return "[\n" + ",\n".join(texts) + "\n]\n"


def read(path: Path) -> Any:
    """What a file has: summaries, one result, or a measurement that is no run."""
    found = json.loads(path.read_text())
    for line in found if isinstance(found, list) else []:
        if isinstance(line, dict) and "scenario" in line:
            line["scenario"] = _full(line["scenario"], Scenario)
    return found
