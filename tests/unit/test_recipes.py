# SPDX-License-Identifier: GPL-2.0
"""The recipes of docs/contributing.md, carried out as the page has them in a copy of the tree.

A mark above a block, which a reader does not see, says what is done with it:

    <!-- add: FILE -->                       goes to the end of the file, which may be new
    <!-- edit: FILE before: LINE -->         goes before the line that begins so
    <!-- edit: FILE instead of: LINE -->     replaces that line

The algorithm's blocks are whole files; test_sixth.py has them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent

import pytest

from examples import examples
from longfat.build.modules import ROOT
from longfat.core import data

PAGE = ROOT / "docs/contributing.md"
MARK = re.compile(r"( *)<!-- (?:add: (\S+)|edit: (\S+) (before|instead of): (.+)) -->")
COMMAND = re.compile(r"(LONGFAT_CHECK=1 )?(scripts/longfat|make) ")
RECIPES = ("A scenario key", "An AQM", "A backend", "A figure")


def section(recipe: str) -> str:
    """The part of the page below its title."""
    return PAGE.read_text().partition(f"\n## {recipe}\n")[2].partition("\n## ")[0]


def blocks(recipe: str) -> Iterator[tuple[str, str]]:
    """The line above each indented block of a recipe, and the block."""
    lines = section(recipe).splitlines()
    above = ""
    while lines:
        line = lines.pop(0)
        if not line.startswith("    "):
            above = line or above
            continue
        block = [line]
        while lines and (lines[0].startswith("    ") or not lines[0]):
            block.append(lines.pop(0))
        yield above, "\n".join(block).strip("\n") + "\n"
        above = ""


def python(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What Python says in the copy, with the copy's longfat."""
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)


def said(tree: Path, script: str) -> str:
    """What a script prints in the copy."""
    done = python(tree, "-c", script)
    assert done.returncode == 0, done.stderr
    return done.stdout


def carry_out(recipe: str, tree: Path) -> list[str]:
    """Do what a recipe says; its commands."""
    commands = []
    for above, block in blocks(recipe):
        mark = MARK.fullmatch(above)
        if not mark:
            block = dedent(block)
            assert COMMAND.match(block), f"{PAGE}: what is to be done with this?\n{block}"
            commands += block.replace("\\\n", "").splitlines()
            continue
        margin, new, file, how, beginning = mark.groups()
        # As Markdown has it: four more than the text around it.
        block = re.sub(rf"^{margin}    ", "", block, flags=re.M)
        path = tree / (new or file)
        if new:
            path.write_text(f"{path.read_text()}\n{block}" if path.exists() else block)
            continue
        lines = path.read_text().splitlines(keepends=True)
        found = [n for n, line in enumerate(lines) if line.lstrip().startswith(beginning)]
        assert len(found) == 1, f"{file} has {len(found)} lines that begin with {beginning!r}"
        line = lines[found[0]]
        lines[found[0]] = indent(block, line[: len(line) - len(line.lstrip())])
        if how == "before":
            lines[found[0]] += line
        path.write_text("".join(lines))
    return commands


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What the recipes change, and what their tests read."""
    tree = tmp_path / "tree"
    data.copy(tree)
    shutil.copytree(
        ROOT / "longfat", tree / "longfat", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("docs/lab.md", "docs/results/platform.json", "man/longfat.1", "pyproject.toml"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    (tree / "tests/unit").mkdir()
    shutil.copy(ROOT / "tests/reporter.py", tree / "tests")
    for name in ("conftest", "test_described", "test_plan", "test_scenario"):
        shutil.copy(ROOT / f"tests/unit/{name}.py", tree / "tests/unit")
    (tree / "tcp_foo.c").write_text(examples(PAGE)["tcp_foo.c"])
    return tree


def passed(tree: Path, commands: list[str], which: str) -> str:
    """Of the unit tests that the recipe ends with those of this name; all pass in the copy."""
    words = [word for line in commands for word in line.split() if word.startswith("tests/unit/")]
    assert words
    done = python(tree, "-m", "pytest", "-v", "-k", which, *words)
    assert done.returncode == 0, done.stdout
    return done.stdout


PLAN = """
from pathlib import Path
from longfat.run import plan, scenario
(one,) = scenario.load(Path("one.toml"))
print(plan.make(one, 1, prefix="lf", virtual=True).setup)
"""
ONE = """
title = "one"
duration = "9s"
[link]
rate = "20mbit"
buffer = "90p"
{}
[[flow]]
cc = "reno"
rtt = "40ms"
"""


def test_a_scenario_key(copy: Path) -> None:
    tests = passed(copy, carry_out("A scenario key", copy), "corrupt or page")
    assert "::test_impaired_hop[corrupt" in tests
    (copy / "one.toml").write_text(ONE.format('corrupt = "0.5%"'))
    assert "root netem limit 1000000 corrupt 0.500000000% seed " in said(copy, PLAN)


def test_an_aqm(copy: Path) -> None:
    passed(copy, carry_out("An AQM", copy), "sfq or choice")
    (copy / "one.toml").write_text(ONE.format('aqm = "sfq"\naqm_options = { perturb = 10 }'))
    assert "parent 1:1 handle 10: sfq limit 90 perturb 10\n" in said(copy, PLAN)


def test_a_backend(copy: Path) -> None:
    passed(copy, carry_out("A backend", copy), "vm-newest")
    done = python(copy, "-m", "longfat", "run", "tests/scenarios/realtime.toml", "--backend", "no")
    assert done.returncode and "vm-newest" in done.stderr
    script = "from longfat.run.backends import BACKENDS as all\n"
    script += "print(all['vm-newest']().suite, all['vm']().suite)"
    assert said(copy, script) == "sid bookworm\n"


JUDGE = """
import json
from longfat.pages import catalogue, page, work
from longfat.pages.observe import foo
((figure,), _) = catalogue.on_pages(["foo"])
how = work.profile("committed")
for ours in (7e6, 5e6):
    lines = [
        {
            "scenario": json.loads(one.model_dump_json()),
            "seed": seed,
            "kernel": "6.12",
            "flows": [{"goodput_bps": ours + seed}, {"goodput_bps": 6e6}],
            "observed": foo.observe({}),
        }
        for one, seed in work.expected(figure, how, peers=False)["foo-share"]
    ]
    work.write(lines, how.results / "foo-share.json")
    found = page.section(figure, how)
    print(found.verdict, found.seeds, found.numbers.rows, *found.reasons)
"""


def test_a_figure(copy: Path) -> None:
    """It is in the catalogue, and judged by what runs there are."""
    commands = carry_out("A figure", copy)
    assert commands == ["make report FIGURE=foo-share", "make results PAGE=foo"]
    holds, not_so = said(copy, JUDGE).splitlines()
    assert holds == "holds (5, 5) [['share of foo', '0.54 ± 0.00', '']]"
    assert not_so.startswith("does not hold (5, 5) [['share of foo', '0.45 ± 0.00', '']]")


def test_every_recipe_is_tried() -> None:
    """But for the algorithm's, by test_sixth.py, and what is no recipe."""
    titles = re.findall(r"^## (.*)$", PAGE.read_text(), re.M)
    assert titles == ["An algorithm", *RECIPES, "Working here"]
    for recipe in RECIPES:
        marked = [above for above, _ in blocks(recipe) if MARK.fullmatch(above)]
        assert len(marked) == section(recipe).count("<!--") > 0
