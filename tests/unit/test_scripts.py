# SPDX-License-Identifier: GPL-2.0
"""The Makefile and the shell scripts beside the lab, as far as they need no kernel and no root."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.modules import ROOT


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
