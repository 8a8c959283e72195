# SPDX-License-Identifier: GPL-2.0
"""A scenario as a TOML file: Python's library reads TOML and does not write it."""

from __future__ import annotations

import json
import re
from typing import Any

Table = dict[str, Any]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.A) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        pairs = (f"{_key(name)} = {_value(one)}" for name, one in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return repr(value)


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, dict) for x in value)


def _lines(table: Table, prefix: str, *, flat: bool) -> list[str]:
    """`flat`: what is in it stays in its line, as in a case."""
    inner = {} if flat else {k: v for k, v in table.items() if isinstance(v, dict) or _tables(v)}
    lines = [f"{_key(name)} = {_value(one)}" for name, one in table.items() if name not in inner]
    for name, one in inner.items():
        where = f"{prefix}{_key(name)}"
        if isinstance(one, list):
            for each in one:
                lines += ["", f"[[{where}]]", *_lines(each, f"{where}.", flat=False)]
        elif where == "case":
            for case, settings in one.items():
                lines += ["", f"[case.{_key(case)}]", *_lines(settings, "", flat=True)]
        else:
            lines += ["", f"[{where}]", *_lines(one, f"{where}.", flat=where in ("vary", "host"))]
    return lines


def text(scenario: Table) -> str:
    """The file."""
    return "\n".join(_lines(scenario, "", flat=False)) + "\n"
