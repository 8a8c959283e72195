# SPDX-License-Identifier: GPL-2.0
"""The picture of docs/design.md is the order of longfat's packages; every import keeps to it, and
what is not longfat's is Python's or in requirements.txt."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from longfat.build.modules import ROOT

REQUIREMENTS = ROOT / "longfat/requirements.txt"
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


def named(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of all that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # What is imported may be a module of that package, or a name in that module.
            package = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{package}.{alias.name}") for alias in node.names)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each module of longfat that a file imports."""
    for line, name in named(path):
        if name.startswith("longfat."):
            place = ROOT / name.replace(".", "/")
            module = place.is_dir() or place.with_suffix(".py").is_file()
            yield line, name if module else name.rpartition(".")[0]


def required() -> set[str]:
    """The modules of the packages in requirements.txt."""
    pinned = re.findall(r"^([\w-]+)==", REQUIREMENTS.read_text(), re.M)
    return {
        module
        for module, packages in packages_distributions().items()
        if {package.lower() for package in packages} & set(pinned)
    }


def unknown() -> Iterator[str]:
    """Every import of what longfat does not have where only its package and its requirements are
    installed, in a sentence."""
    known = sys.stdlib_module_names | required() | {"longfat"}
    for path in sources().values():
        for line, name in named(path):
            if (top := name.partition(".")[0]) not in known:
                yield (
                    f"{path.relative_to(ROOT)}:{line}: imports {top or 'a relative name'}, which "
                    f"is neither Python's nor longfat's: pin it in {REQUIREMENTS.name}, or move it"
                )


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


def test_everything_else_is_required() -> None:
    found = list(unknown())
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


def test_an_unknown_import_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wrong = tmp_path / "longfat/core/wrong.py"
    wrong.parent.mkdir(parents=True)
    wrong.write_text("import json\nimport pydantic\nimport sabul_table\nfrom . import same\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    table, same = unknown()
    assert table.startswith("longfat/core/wrong.py:3: imports sabul_table, which is neither")
    assert same.startswith("longfat/core/wrong.py:4: imports a relative name, which")
