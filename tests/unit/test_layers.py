# SPDX-License-Identifier: GPL-2.0
"""The picture of docs/design.md is the order of longfat's packages; every import keeps to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from longfat.build.modules import ROOT

PAGE = ROOT / "docs/design.md"
GUEST = "guest"  # C and shell, which runs inside


def rows() -> list[list[str]]:
    """The layers of the picture, from top to bottom, those of one height together."""
    picture = PAGE.read_text().partition("```\n")[2].partition("```")[0]
    lines = [line for line in picture.splitlines() if "|" in line]
    return [re.findall(r"\w+", line) for line in lines]


def below() -> dict[str, set[str]]:
    """Layer -> what it may import from."""
    found: dict[str, set[str]] = {}
    under: set[str] = set()
    for row in reversed(rows()):
        found |= {layer: set(under) for layer in row}
        under |= set(row)
    return found


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each module of longfat that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # What is imported may be a module of that package, or a name in that module.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            place = ROOT / name.replace(".", "/")
            if name.startswith("longfat."):
                module = place.is_dir() or place.with_suffix(".py").is_file()
                yield node.lineno, name if module else name.rpartition(".")[0]


def layer(module: str) -> str:
    """The layer of longfat.LAYER.something; what starts the command is the command line's."""
    name = module.split(".")[1]
    return "cli" if name == "__main__" else name


def sources() -> dict[str, Path]:
    """Module -> its file."""
    found = {}
    for path in sorted((ROOT / "longfat").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    found.pop("longfat", None)  # the package itself, which has nothing
    return found


def against() -> Iterator[str]:
    """Every import that goes against the picture, in a sentence."""
    allowed = below()
    for module, path in sources().items():
        here = layer(module)
        for line, name in imported(path):
            if layer(name) != here and layer(name) not in allowed[here]:
                yield (
                    f"{path.relative_to(ROOT)}:{line}: {here} imports {name}, which is not "
                    f"below it in docs/design.md: move what is needed down, or what needs it up"
                )


def test_every_package_is_in_the_picture() -> None:
    there = {layer(module) for module in sources()}
    assert there == set(below()), "the packages of longfat/ and the picture of docs/design.md"


def test_every_layer_has_a_paragraph() -> None:
    text = PAGE.read_text()
    told = re.findall(r"^\*\*`longfat/(\w+)(?:/|\.py)`\*\*", text, re.M)
    assert sorted(told) == sorted([*below(), GUEST])


def test_imports_go_down() -> None:
    found = list(against())
    assert not found, "\n".join(found)


def test_no_two_modules_import_each_other() -> None:
    graph = {module: {name for _, name in imported(path)} for module, path in sources().items()}
    for module, names in graph.items():
        names.discard(module)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(error.args[1])}")


def test_an_import_that_goes_up_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wrong = tmp_path / "longfat/core/wrong.py"
    wrong.parent.mkdir(parents=True)
    wrong.write_text("def late():\n    from longfat.build import modules\n    return modules\n")
    for name in ("build", "run"):
        (tmp_path / "longfat" / name).mkdir()
    (tmp_path / "longfat/build/modules.py").touch()
    (tmp_path / "longfat/run/same.py").write_text("import longfat.build.modules\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (said,) = against()
    assert said.startswith("longfat/core/wrong.py:2: core imports longfat.build.modules, which")
