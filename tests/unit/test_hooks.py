# SPDX-License-Identifier: GPL-2.0
"""`make hooks`: what a commit is refused for, and what it is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOOD = '"""A module."""\n\nx: int = 1\n'
BAD = '"""A module."""\nimport os\nx   = 1\n'

PYTHON = (
    "longfat/a.py",
    "tests/b.py",
    "tests/c.py",
    "tests/unit/d.py",
    "tests/lab/e.py",
    "hatch_build.py",
)

# In place of the lab's: it knows the Python that has the linters.
LONGFAT = f'#!/bin/sh\n[ "$1 $2" = "python -c" ] && echo {sys.executable}\n'


def git(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # A test that runs in a hook has the environment of that one's repository.
    environment = {key: value for key, value in os.environ.items() if key[:4] != "GIT_"}
    for who in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@example.org"}
    line = ["git", "-C", str(tree), *words]
    return subprocess.run(line, env=environment, capture_output=True, text=True)


def commit(tree: Path) -> subprocess.CompletedProcess[str]:
    return git(tree, "commit", "-m", "x")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One with the linters, of which `make hooks` was called."""
    tree = tmp_path / "tree"
    for name in ("tests/lint.sh", "scripts/hooks/pre-commit", "Makefile", "pyproject.toml"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    for name in PYTHON:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(GOOD)
    (tree / "scripts/longfat").write_text(LONGFAT)
    (tree / "scripts/longfat").chmod(0o755)
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    assert not commit(tree).returncode
    subprocess.run(["make", "-s", "-C", tree, "hooks"], check=True)
    return tree


def test_what_is_staged_is_looked_at(repository: Path) -> None:
    """In the linters' words, with the name of the file; nothing is committed."""
    (repository / "longfat/a.py").write_text(BAD)
    (repository / "scripts/new.sh").write_text("#!/bin/sh\necho $1\n")
    git(repository, "add", "-A")
    done = commit(repository)
    assert done.returncode
    assert "longfat/a.py:2:8: F401" in done.stderr
    assert "not ok 4 ruff check" in done.stderr
    assert "not ok 5 ruff format" in done.stderr
    if shutil.which("shellcheck"):
        assert "scripts/new.sh:2:6:" in done.stderr
    assert "--no-verify" in done.stderr
    assert git(repository, "status", "--short").stdout == "M  longfat/a.py\nA  scripts/new.sh\n"


def test_what_is_not_staged_is_not(repository: Path) -> None:
    """Neither another file, nor a change that was made afterwards."""
    (repository / "longfat/a.py").write_text(GOOD.replace("1", "2"))
    git(repository, "add", "-A")
    (repository / "longfat/a.py").write_text(BAD)
    (repository / "tests/b.py").write_text(BAD)
    done = commit(repository)
    assert done.returncode == 0, done.stderr
    assert git(repository, "status", "--short").stdout == " M longfat/a.py\n M tests/b.py\n"


def test_what_is_staged_and_mended_afterwards_is(repository: Path) -> None:
    (repository / "longfat/a.py").write_text(BAD)
    git(repository, "add", "-A")
    (repository / "longfat/a.py").write_text(GOOD)
    assert "longfat/a.py:2:8: F401" in commit(repository).stderr


def test_in_another_worktree(repository: Path) -> None:
    other = repository.parent / "other"
    git(repository, "worktree", "add", "-q", str(other))
    (other / "tests/c.py").write_text('x: int = "a"\n')
    git(other, "add", "-A")
    done = commit(other)
    assert done.returncode
    assert "tests/c.py:1: error: Incompatible types" in done.stderr


@pytest.mark.parametrize("name", ["page.md", "docs/results/x.json"])
def test_a_page_is_committed(repository: Path, name: str) -> None:
    """Nothing but the search for notes is about it; results are not even looked at."""
    (repository / name).parent.mkdir(parents=True, exist_ok=True)
    (repository / name).write_text("words\n")
    git(repository, "add", "-A")
    done = commit(repository)
    assert done.returncode == 0, done.stderr
    git(repository, "rm", "-q", name)
    assert commit(repository).returncode == 0


def test_notes_to_ourselves(repository: Path) -> None:
    (repository / "page.md").write_text("TO" + "DO: words\n")
    git(repository, "add", "-A")
    assert "page.md:1:TO" in commit(repository).stderr
