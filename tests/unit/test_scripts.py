# SPDX-License-Identifier: GPL-2.0
"""The Makefile and the shell scripts beside the lab, as far as they need no kernel and no root."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest

from longfat.build.modules import ROOT


def test_clean_removes_what_a_build_leaves(tmp_path: Path) -> None:
    """And nothing else: what was measured is not built."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("tcp_x.c", "Kbuild", "out/report/full/runs/x.json", "tests/x.o"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    before = sorted(tmp_path.rglob("*"))
    suffixes = ("o", "ko", "mod", "mod.c", "mod.o")
    built = [f"tcp_x.{suffix}" for suffix in suffixes]
    built += [f".{name}.cmd" for name in (*built, "modules.order", "Module.symvers")]
    # The last two are of newer kernels.
    built += ["modules.order", "Module.symvers", ".module-common.o", "..module-common.o.cmd"]
    for name in built:
        (tmp_path / name).touch()
    subprocess.run(["make", "-s", "-C", tmp_path, "clean"], check=True)
    assert sorted(tmp_path.rglob("*")) == before


def results_sh(tmp_path: Path, *pages: str) -> tuple[int, str, list[str]]:
    """The exit status of scripts/results.sh for these pages, in a tree whose programs only say that
    they were called; what it says, and the calls."""
    tree = tmp_path / "tree"
    for name in ("scripts", "docs/results"):
        (tree / name).mkdir(parents=True)
    shutil.copy(ROOT / "scripts/results.sh", tree / "scripts")
    for name in ("longfat", "deps.sh"):
        (tree / f"scripts/{name}").write_text(
            f"""#!/bin/sh
            echo {name} "$@" >>{tmp_path}/calls
            mkdir -p out/results
            case "$*" in
            "stress tests/stress/chaos.toml --smp "*) echo smp >out/results/stress-smp.json;;
            "stress tests/stress/chaos.toml "*) echo uml >out/results/stress-uml.json;;
            esac
            """
        )
        (tree / f"scripts/{name}").chmod(0o755)
    done = subprocess.run(
        [tree / "scripts/results.sh", *pages], capture_output=True, text=True, timeout=20
    )
    calls = tmp_path / "calls"
    said = calls.read_text().splitlines() if calls.exists() else []
    return done.returncode, done.stderr, said


def test_the_pages_of_make_results(tmp_path: Path) -> None:
    """As `make help` has them; a name that is none is refused before anything is done, and be it
    that of a program."""
    listed = re.search(r'^results: .*PAGE="(.*)"$', (ROOT / "Makefile").read_text(), re.M)
    assert listed
    status, said, calls = results_sh(tmp_path, "demo", "ls")
    assert (status, said) == (1, f"results: no page 'ls'; valid: {listed[1]}\n")
    assert calls == []


def test_the_page_of_stress_is_renewed(tmp_path: Path) -> None:
    status, _, calls = results_sh(tmp_path, "stress")
    assert status == 0
    assert [call.split()[:2] for call in calls] == [
        ["deps.sh", "check"],
        ["deps.sh", "stress"],
        ["longfat", "stress"],
        ["longfat", "stress"],
        ["longfat", "python"],
    ]
    made = tmp_path / "tree/docs/results"
    kept = {path.name: path.read_text() for path in made.iterdir()}
    assert kept == {"stress-uml.json": "uml\n", "stress-smp.json": "smp\n"}


def test_every_package_is_pinned() -> None:
    """Of those that these tests run with, which are the lab's and more, each in one list."""
    lists = [
        (ROOT / "longfat" / name).read_text()
        for name in ("requirements.txt", "requirements-check.txt", "constraints.txt")
    ]
    pins = re.findall(r"^([\w.-]+)==(\S+)", "\n".join(lists), re.M)
    assert len(pins) == len(dict(pins))

    def names(of: Iterable[tuple[str, str]]) -> dict[str, str]:
        return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in of}

    there = names((one.metadata["Name"], one.version) for one in metadata.distributions())
    for tool in ("pip", "setuptools"):  # what a virtual environment begins with
        there.pop(tool, None)
    assert there == names(pins)


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = [path for path in sorted((ROOT / "tests").rglob("*.py")) if path.parent.name != "unit"]


@pytest.mark.parametrize("path", PAGES + PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_command_line_has_the_labs_python(path: Path) -> None:
    """A program of tests/ that uses the lab, in a line that one would type or between `` ` ``
    with its arguments."""
    for before, name in re.findall(
        r"(?:^    |`)([^`\n]*?)(tests/\S+\.py) [^`\n]+", path.read_text(), re.M
    ):
        if re.search(r"^(from|import) lab\b", (ROOT / name).read_text(), re.M):
            assert before.endswith("scripts/longfat python "), name
