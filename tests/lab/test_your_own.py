# SPDX-License-Identifier: GPL-2.0
"""docs/your-own.md, carried out as the page has it: from an empty directory, every command."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import linux_tree
from test_bpf import compiled

from examples import examples
from longfat.build import bpf, kernel
from longfat.build.modules import ROOT
from longfat.run import result

PAGE = ROOT / "docs/your-own.md"
NOTEBOOK = ROOT / "docs/your-own.ipynb"
COMMAND = re.compile(r"^    ((?:longfat|python3|clang) .*)$", re.M)


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


def slow(command: str) -> bool:
    """Whether a command needs an emulator, or names a kernel that is not in the cache, which takes
    minutes to be built; trees are none of the cache's."""
    if "--backend" in command or command.startswith("clang "):  # which the backend needs
        return True
    named = re.search(r"--kernel (\S+)", command)
    texts = named[1].split(",") if named else []
    return any(
        not text.startswith("debian:") or not kernel.built(kernel.choose(text)) for text in texts
    )


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
    programs, own = tmp_path / "bin", tmp_path / "own"
    programs.mkdir()
    own.mkdir()
    for name, more in (("longfat", "-m longfat "), ("python3", "")):
        text = f'#!/bin/sh\nPYTHONPATH={ROOT}:$PYTHONPATH exec {sys.executable} {more}"$@"\n'
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    files = examples(PAGE)
    assert list(files) == ["tcp_mine.c", "steps.toml", "mine.bpf.c", "look.py", "steps.py"]
    for name, text in files.items():
        (own / name).write_text(text)
    commands = COMMAND.findall(PAGE.read_text())
    if not os.environ.get("LONGFAT_LONG"):
        commands = [command for command in commands if not slow(command)]
    else:
        linux_tree(own)
        if no_clang():
            compiled(own / "mine.bpf.c")
            commands = [command for command in commands if not command.startswith("clang ")]
    every = {command: say(command, own, programs) for command in commands}
    said = {
        command.split()[1]: text
        for command, text in every.items()
        if not re.search(r"--kernel|--backend|^clang ", command)
    }
    assert list(said) == ["compare", "run", "table", "plot", "export", "look.py", "steps.py"]
    # On each kernel both algorithms; what is not in the cache is for `make stress`.
    for where, kernels in (("kernels", {"6.1", "6.12"}), ("patched", {"6.1"})):
        if any(f"-o {where}" in command for command in every):
            runs = [result.read(path) for path in (own / where).glob("*.json")]
            assert {".".join(one["kernel"].split(".")[:2]) for one in runs} == kernels
            assert all(("-" in one["kernel"]) is (where == "patched") for one in runs)

    if any("-o bpf" in command for command in every):
        assert result.read(own / "bpf/compare-mine_bpf-s1.json")["backend"] == "vm-counted"
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

    # The notebook is plain Python, so no program of notebooks is needed to run it.
    cells = [x for x in json.loads(NOTEBOOK.read_text())["cells"] if x["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)
    (own / "cells.py").write_text("\n".join("".join(cell["source"]) for cell in cells))
    say("python3 cells.py", own, programs)
    assert (own / "windows.svg").read_text().count("<svg") == 1
