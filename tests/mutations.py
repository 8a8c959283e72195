#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Put each bug of tests/mutations.toml into a copy of the tree and see its test go red.

    LONGFAT_CHECK=1 scripts/longfat python tests/mutations.py [--all] [--runs N]
        [kunit | fuzz | unit | lab | stock | PART-OF-A-NAME]...

Cases of KUnit run in a program (tests/userspace.py): that takes a second, and they are the
same cases.  Those of the lab build the modules and boot the lab's kernel, those of stock a stock
one, and both are left out without --all (or LONGFAT_MUTATIONS=all) unless they are asked for; tests
that are long want LONGFAT_LONG=1 as well.

KTAP, one result for each bug, "ok" where its test failed, and for the reason that the table
gives.  Exit status 0: every test that is named did; 1: one did not, and so does not test
what it says.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
import userspace
from longfat.build import modules
from longfat.core import process, scratch
from longfat.core.errors import LabError

TABLE = modules.ROOT / "tests/mutations.toml"
KUNIT = modules.ROOT / "tests/kunit"
# What a copy of the tree needs to be built and run.
PARTS = (
    *("tcp_*.c", "include/**/*.*", "bpf/**/*.[chS]", "bpf/Makefile"),
    *("tests/kunit/*", "tests/fuzz/*"),
)
# The same for tests that are Python: all of it, as far as it says what it tests.
SHARES = "docs/results/security-share.json"
TREE = (
    *PARTS,
    "Kbuild",
    "Makefile",
    "pyproject.toml",
    "longfat/**/*",
    "scripts/**/*",
    "tests/**/*",
    SHARES,
)
# And for the stock kernels, where a copy is installed.
STOCK = (*TREE, "dkms.conf", "man/*", "docs/use.md")
# Seeds of the fuzzer that look for one bug, at most.
SEEDS = 5
# Wall seconds for a test in Python, also on a machine that is busy; the lab's take some ten.
SLOWEST = 900


@dataclass
class Bug:
    """One line of the table."""

    name: str
    row: str
    file: str
    changes: list[tuple[str, str]]  # what is there, what it becomes
    kind: str  # kunit, fuzz, unit, lab or stock
    test: str
    says: str  # in what the test says when it fails

    def put_into(self, tree: Path) -> None:
        """Make this change below `tree`; ValueError if it does not fit."""
        path = tree / self.file
        text = path.read_text()
        for good, bad in self.changes:
            if text.count(good) != 1:
                raise ValueError(f"{self.name}: {self.file} has {text.count(good)} times: {good}")
            text = text.replace(good, bad)
        path.write_text(text)


def rows() -> list[str]:
    """What kinds of bugs there are, each of which the table must have."""
    return list(tomllib.loads(TABLE.read_text())["rows"])


def rules() -> list[str]:
    """What the fuzzer must be shown to see."""
    return list(tomllib.loads(TABLE.read_text())["rules"])


def bugs() -> list[Bug]:
    """The table."""
    found = []
    for one in tomllib.loads(TABLE.read_text())["bug"]:
        changes = [one, *([one["more"]] if "more" in one else [])]
        kind, _, test = one["test"].partition(" ")
        pairs = [(change["good"], change["bad"]) for change in changes]
        says = one.get("says", "")
        found.append(Bug(one["name"], one["row"], one["file"], pairs, kind, test, says))
    return found


def included(path: Path) -> set[str]:
    """`path` and all files of the tree that it includes, relative to the tree."""
    found: set[str] = set()
    todo = [path.resolve()]
    while todo:
        file = todo.pop()
        name = str(file.relative_to(modules.ROOT))
        if name in found:
            continue
        found.add(name)
        for quote, what in re.findall(r'^#include (["<])([^">]+)[">]', file.read_text(), re.M):
            near = (file.parent if quote == '"' else modules.ROOT / "include") / what
            if near.exists():
                todo.append(near.resolve())
    return found


def suite_of(case: str) -> Path:
    """The file of tests/kunit that has this case."""
    found = [
        path
        for path in sorted(KUNIT.glob("*_kunit.c"))
        if f"KUNIT_CASE({case})" in path.read_text()
    ]
    if len(found) != 1:
        raise ValueError(f"{len(found)} suites have a case {case}")
    return found[0]


def copy(to: Path, kind: str) -> None:
    """A copy of the tree, as far as a test of this kind needs it."""
    parts = {"kunit": PARTS, "fuzz": PARTS, "stock": STOCK}.get(kind, TREE)
    found = {path for part in parts for path in modules.ROOT.glob(part) if path.is_file()}
    modules.copy((x for x in sorted(found) if "__pycache__" not in x.parts), to)


def run_python(tree: Path, out: Path, *words: str) -> tuple[int, str]:
    """Run Python with `words` in `tree`, its output in the file `out`; its status, and what it
    says.  LabError if it has no end."""
    status = process.run(
        [sys.executable, *words],
        output=out,
        timeout=SLOWEST,
        cwd=tree,
    )
    return status, out.read_text(errors="replace")


def run_fuzz(tree: Path, out: Path, module: str, runs: int) -> tuple[int, str]:
    """Fuzz that module of `tree`; the status, and what is said.

    The fuzzer is not the same twice, and one seed in some hundred misses a bug that is rarely
    reached.  So what one seed does not see the next ones look for.
    """
    script = modules.ROOT / "tests/fuzz.py"
    words = [str(script), "--runs", str(runs), "--tree", str(tree), module]
    for seed in range(1, SEEDS + 1):
        status, said = run_python(tree, out, *words, "--seed", str(seed))
        if status:
            break
    return status, said


def run_pytest(tree: Path, out: Path, kind: str, test: str) -> tuple[int, str]:
    """Run this test of `tree`, which is FILE::CASE in tests/unit or tests/lab."""
    # pyproject.toml puts the copy's own directories before any other.
    return run_python(tree, out, "-m", "pytest", "-q", "-x", f"tests/{kind}/{test}")


def survives(bug: Bug, runs: int) -> str:
    """What is wrong with the test of `bug`; nothing if it went red."""
    with scratch.directory("mutations") as directory:
        tree, out = directory / "tree", directory / "said"
        copy(tree, bug.kind)
        try:
            bug.put_into(tree)
            if bug.kind == "kunit":
                suite = suite_of(bug.test).stem.removesuffix("_kunit")
                status, said = userspace.run_suite(tree, suite, bug.test)
                # What a sanitizer stops does not come to its end.
                red = f"not ok 1 {bug.test}\n" in said or "SUMMARY: Undefined" in said
            elif bug.kind == "fuzz":
                status, said = run_fuzz(tree, out, bug.test, runs)
                red = "# input: " in said
            elif bug.kind == "stock":
                status, said = run_python(tree, out, "tests/stock.py", bug.test)
                red = "\n    not ok " in said
            else:
                status, said = run_pytest(tree, out, bug.kind, bug.test)
                red = "\n1 failed" in said
        except (ValueError, LabError) as error:
            return f"{bug.test}: {error}"
    if red and bug.says in said:
        return ""
    what = f"failed and did not say {bug.says}" if red else "did not see it"
    return f"{bug.test} {what} (status {status}):\n{said}"


def main() -> int:
    parser = argparse.ArgumentParser(description="See the tests fail.")
    parser.add_argument("--runs", type=int, default=20000, help="inputs for a fuzzer")
    parser.add_argument("--all", action="store_true", help="with those that need a kernel")
    parser.add_argument("which", nargs="*", help="kunit, fuzz, ... or a part of a bug's name")
    arguments = parser.parse_args()
    whole = arguments.all or os.environ.get("LONGFAT_MUTATIONS") == "all"
    chosen = [
        bug
        for bug in bugs()
        if (not arguments.which and (whole or bug.kind not in ("lab", "stock")))
        or any(word == bug.kind or word in bug.name for word in arguments.which)
    ]
    if not chosen:
        parser.error(f"no bug is named so; there are: {', '.join(bug.name for bug in bugs())}")
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        verdicts = pool.map(lambda bug: survives(bug, arguments.runs), chosen)
        return ktap.document(
            len(chosen),
            (
                ktap.Result(f"{bug.kind} {bug.test}: {bug.name}", not wrong, wrong)
                for bug, wrong in zip(chosen, verdicts, strict=True)
            ),
        )


if __name__ == "__main__":
    sys.exit(main())
