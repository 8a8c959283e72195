# SPDX-License-Identifier: GPL-2.0
"""docs/your-own.md, carried out as the page has it, from an empty directory; what needs another
kernel or an emulator by `make stress` alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
from conftest import linux_tree
from test_bpf import compiled

from examples import examples
from longfat.build import bpf
from longfat.build.modules import ROOT
from longfat.check.times import Clock
from longfat.run import result

PAGE = ROOT / "docs/your-own.md"
NOTEBOOK = ROOT / "docs/your-own.ipynb"
COMMAND = re.compile(r"^    ((?:longfat|python3|clang) .*)$", re.M)
# What takes minutes: another kernel, or an emulator and the object for it.
SLOW = re.compile(r"--kernel|--backend|^clang ")


def say(command: str, where: Path, programs: Path) -> str:
    """What a command of the page prints in a shell; it must end well."""
    done = subprocess.run(
        ["sh", "-ec", command],
        cwd=where,
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "MPLBACKEND": "svg"},
        capture_output=True,
        text=True,
        timeout=1800,  # one that builds kernels
    )
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


def no_clang() -> str:
    """Why the page's compiler cannot be called here."""
    lacking = {"clang": shutil.which("clang"), "libbpf-dev": Path("/usr/include/bpf").is_dir()}
    return ", ".join(f"{package} is not installed" for package in lacking if not lacking[package])


def test_the_page_s_compiler(tmp_path: Path) -> None:
    """What it makes of the page's program the lab takes for a congestion control in BPF."""
    if why := no_clang():
        pytest.skip(why)
    (tmp_path / "mine.bpf.c").write_text(examples(PAGE)["mine.bpf.c"])
    (command,) = [x for x in COMMAND.findall(PAGE.read_text()) if x.startswith("clang ")]
    say(command, tmp_path, tmp_path)
    assert list(bpf.collect(tmp_path / "mine.bpf.o").files) == ["mine.bpf.o"]


def test_the_page(tmp_path: Path) -> None:
    """What the lab's own kernel is enough for."""
    commands = [x for x in COMMAND.findall(PAGE.read_text()) if not SLOW.search(x)]
    carry_out(commands, tmp_path)


@pytest.mark.long
@pytest.mark.usefixtures("machine")
def test_the_whole_page(tmp_path: Path) -> None:
    """Every command.  Without its compiler its program in BPF comes from Debian's.  LONGFAT_TIMES
    names a file for what each took (docs/results/your-own-times.json)."""
    commands = COMMAND.findall(PAGE.read_text())
    own = tmp_path / "own"
    own.mkdir()
    linux_tree(own)
    if no_clang():
        (own / "mine.bpf.c").write_text(examples(PAGE)["mine.bpf.c"])
        compiled(own / "mine.bpf.c")
        commands = [command for command in commands if not command.startswith("clang ")]
    carry_out(commands, tmp_path)
    for where, kernels in (("kernels", {"6.1", "6.12"}), ("patched", {"6.1"})):
        runs = [result.read(path) for path in (own / where).glob("*.json")]
        assert {".".join(one["kernel"].split(".")[:2]) for one in runs} == kernels
        assert all(("-" in one["kernel"]) is (where == "patched") for one in runs)
    assert result.read(own / "bpf/compare-mine_bpf-s1.json")["backend"] == "vm-counted"


def carry_out(commands: list[str], where: Path) -> None:
    """These commands of the page, in the directory `own`, what they make there, and the
    notebook."""
    programs, own = where / "bin", where / "own"
    programs.mkdir()
    own.mkdir(exist_ok=True)
    for name, more in (("longfat", "-m longfat "), ("python3", "")):
        text = f'#!/bin/sh\nPYTHONPATH={ROOT}:$PYTHONPATH exec {sys.executable} {more}"$@"\n'
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    files = examples(PAGE)
    assert list(files) == ["tcp_mine.c", "steps.toml", "mine.bpf.c", "look.py", "steps.py"]
    for name, text in files.items():
        (own / name).write_text(text)
    clock, every, times = Clock(), {}, {}
    for command in commands:
        before = clock.passed()
        every[command] = say(command, own, programs)
        times[command] = round(clock.passed() - before, 1)
    if file := os.environ.get("LONGFAT_TIMES"):
        cores = len(os.sched_getaffinity(0))
        kept = {"empty_cache": clock.empty, "cores": cores, "wall_s": times}
        result.write_whole(json.dumps(kept, indent=1) + "\n", Path(file))
    said = {command.split()[1]: text for command, text in every.items() if not SLOW.search(command)}
    assert list(said) == ["compare", "run", "table", "plot", "export", "look.py", "steps.py"]
    compared = sorted(path.name for path in (own / "compared").iterdir())
    assert len(compared) == 8 and {"compare.html", "compare.toml"} < set(compared)
    beside = result.read(own / "beside/compare-mine-s1.json")
    assert [flow["cc"] for flow in beside["flows"]] == ["mine", "reno"]
    assert "beside it" in said["compare"] and "compare.toml" in said["compare"]
    # The parameter reaches the module: larger steps, more losses.
    lost = [
        result.read(own / f"steps/steps-{step}-s1.json")["summary"]["dropped"] for step in (1, 2, 8)
    ]
    assert lost[0] < lost[1] < lost[2]
    assert (own / "pictures/cwnd.svg").is_file()
    head, *rows = said["look.py"].splitlines()
    assert head.split() == ["cc", "bbr", "cubic", "mine"]
    assert [row.split()[0] for row in rows[1:]] == ["0.5", "2.0"]
    assert all(10 < float(word) < 20 for row in rows[1:] for word in row.split()[1:])
    _, _, *rows = said["steps.py"].splitlines()
    assert [[row.split()[i] for i in (0, 2)] for row in rows] == [
        [str(step), str(dropped)] for step, dropped in zip((1, 2, 8), lost, strict=True)
    ]

    # As Parquet, too; where the kernel has no value yet there is none.
    say("longfat export --parquet compared/*.json -o parquet", own, programs)
    samples = pandas.read_parquet(own / "parquet/samples.parquet")
    for name, most in (("pacing_rate", 1e9), ("min_rtt_us", 1e6)):
        assert samples[name].isna().any() and 0 < samples[name].max() < most

    # The notebook is plain Python, so no program of notebooks is needed to run it.
    cells = [x for x in json.loads(NOTEBOOK.read_text())["cells"] if x["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)
    (own / "cells.py").write_text("\n".join("".join(cell["source"]) for cell in cells))
    say("python3 cells.py", own, programs)
    assert (own / "windows.svg").read_text().count("<svg") == 1
