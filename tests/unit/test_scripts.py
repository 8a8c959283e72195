# SPDX-License-Identifier: GPL-2.0
"""The Makefile and the shell scripts beside the lab, as far as they need no kernel and no root."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest

from longfat.build.modules import ROOT
from longfat.core.errors import LabError
from longfat.pages import __main__ as main
from longfat.pages import catalogue


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


def test_make_evaluate() -> None:
    """Of the league's algorithms, or of others.  A compiler in CC, which make has itself, is
    none."""

    def evaluates(*words: str) -> tuple[set[str], str]:
        command = ["make", "-n", "-C", str(ROOT), "evaluate", *words]
        env = os.environ | {"CC": "gcc"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        (names,) = re.findall(r"^scripts/longfat evaluate (.*) --profile ", done.stdout, re.M)
        return {*names.split()}, done.stdout.rpartition("--profile ")[2].split()[0]

    for one in json.loads((ROOT / "docs/results/evaluation.json").read_text()):
        assert evaluates() == ({*one["algorithms"], *one["against"]}, "smoke")
    assert evaluates("ALGORITHMS=mine reno", "PROFILE=full") == ({"mine", "reno"}, "full")


def results_sh(tmp_path: Path, listed: str, *pages: str) -> list[str]:
    """The calls of scripts/results.sh for these pages, of which there are the figures `listed`."""
    tree = tmp_path / "tree"
    (tree / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/results.sh", tree / "scripts")
    for name in ("longfat", "report.sh"):
        (tree / f"scripts/{name}").write_text(
            f"""#!/bin/sh
            echo {name} "$@" >>{tmp_path}/calls
            case " $* " in *" list "*) echo {listed};; esac
            """
        )
        (tree / f"scripts/{name}").chmod(0o755)
    subprocess.run([tree / "scripts/results.sh", *pages], check=True, timeout=20)
    return (tmp_path / "calls").read_text().splitlines()


def test_the_pages_of_make_results() -> None:
    """As `make help` has them; a name that is none is refused."""
    listed = re.search(r'^results: .*PAGE="(.*)"$', (ROOT / "Makefile").read_text(), re.M)
    assert listed and tuple(listed[1].split()) == catalogue.load().pages
    with pytest.raises(LabError, match=rf"^no page 'ls'; valid: {listed[1]}$"):
        catalogue.on_pages(["ltcp", "ls"])


@pytest.mark.parametrize("figures", ["", "ltcp-fig6 ltcp-10g"])
def test_the_steps_of_make_results(tmp_path: Path, figures: str) -> None:
    """The report's runs, if there are any, kept; then what is not of runs, and the pages."""
    step = "longfat python -m longfat.pages"
    runs = [f"report.sh {figures}", f"{step} keep {figures}"] if figures else []
    assert results_sh(tmp_path, figures, "ltcp") == [
        f"{step} list ltcp",
        *runs,
        f"{step} measure ltcp",
        f"{step} pages",
    ]


def test_what_is_not_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands are carried out in their order, and the first that fails is named."""
    commands = ["echo a >>said", "echo b >>said", "exit 3", "echo c >>said"]
    one = catalogue.Measurement(page="speed", commands=commands)
    monkeypatch.setattr(catalogue, "on_pages", lambda pages: ([], [one]))
    monkeypatch.setattr(main, "ROOT", tmp_path)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/deps.sh").write_text("#!/bin/sh\necho deps $1 >>said\n")
    (tmp_path / "scripts/deps.sh").chmod(0o755)
    assert main.main(["measure", "speed"]) == 1
    assert (tmp_path / "said").read_text() == "deps check\na\nb\n"


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
