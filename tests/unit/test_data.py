# SPDX-License-Identifier: GPL-2.0
"""What the lab has beside its Python: in the tree, in a package, and in an installed one."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from longfat.core import data

ROOT = Path(__file__).resolve().parents[2]


def test_the_tree_is_where_its_data_is() -> None:
    assert data.root() == ROOT


def test_of_an_installed_package_it_is_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "longfat/share").mkdir(parents=True)
    monkeypatch.setattr(data, "PACKAGE", tmp_path / "longfat")
    assert data.root() == tmp_path / "longfat/share"


def test_what_a_build_leaves_is_no_data(tmp_path: Path) -> None:
    """And a part that is missing is said: a package without it would run nothing."""
    data.copy(tmp_path)
    assert (tmp_path / "scripts/bpftrace/decisions").stat().st_mode & 0o111
    before = list(data.files(tmp_path))
    assert {Path("Kbuild"), Path("tcp_ltcp.c"), Path("tests/stress/chaos.toml")} <= set(before)
    (tmp_path / "tcp_ltcp.mod.c").write_text("/* made by modpost */\n")
    assert list(data.files(tmp_path)) == before
    (tmp_path / "Kbuild").unlink()
    with pytest.raises(FileNotFoundError, match="has no Kbuild"):
        list(data.files(tmp_path))


def test_copied_without_the_lab_s_packages(tmp_path: Path) -> None:
    """As debian/rules calls it, with the system's Python."""
    command = [sys.executable, "-I", "-S", "-c"]
    command += [f"import sys; sys.path.insert(0, {str(ROOT)!r}); import runpy; sys.argv[1:] = "]
    command[-1] += (
        f"[{str(tmp_path)!r}]; runpy.run_module('longfat.core.data', run_name='__main__')"
    )
    subprocess.run(command, check=True)
    assert (tmp_path / "tcp_ltcp.c").read_text() == (ROOT / "tcp_ltcp.c").read_text()


def test_packages_have_the_pages_that_the_manual_names() -> None:
    """And Debian's says what else the commands of the walk through want."""
    pages = {"docs/lab.md", "docs/your-own.md", "docs/your-own.ipynb"}
    assert set((ROOT / "debian/longfat-tools.docs").read_text().split()) == pages
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    shared = wheel["targets"]["wheel"]["shared-data"]
    assert {x: f"share/doc/longfat/{Path(x).name}" for x in pages}.items() <= shared.items()
    assert all((ROOT / page).is_file() for page in pages)
    tools = (ROOT / "debian/control").read_text().partition("Package: longfat-tools\n")[2]
    (suggested,) = re.findall(r"^Suggests: (.*)$", tools, re.M)
    assert {"clang", "libbpf-dev", "git", "qemu-system-x86"} <= set(suggested.split(", "))


def test_a_file_that_is_here_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = Path("tests/scenarios/demo.toml")
    assert data.find(name) == ROOT / name
    assert data.find(Path("none.toml")) == Path("none.toml")
    name.parent.mkdir(parents=True)
    name.touch()
    assert data.find(name) == name
