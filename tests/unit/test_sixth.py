# SPDX-License-Identifier: GPL-2.0
"""What a sixth algorithm costs: one file to be built, packed and run, and what a test asks for
by name before it is merged.  docs/contributing.md has that file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples import examples
from longfat.build import modules

PAGE = modules.ROOT / "docs/contributing.md"
OURS = [module.removeprefix("tcp_") for module in modules.sources()]
# Those without a KUnit suite, a corpus, ... are none: every one of ours has each of these files.
FILES = {
    "docs/{}.md": "what it does, its differences from the paper, its measurements",
    "tests/kunit/{}_kunit.c": "its arithmetic and its hooks, in the kernel",
    "tests/fuzz/{}.corpus": "inputs that reach its branches: tests/fuzz.py --renew {}",
    "tests/lab/test_{}.py": "what it claims, shown in virtual time",
}


def lacks(root: Path, name: str) -> Iterator[str]:
    """What the algorithm `name` of the tree `root` is without, a sentence each."""
    for pattern, what in FILES.items():
        if not (root / pattern.format(name)).is_file():
            yield f"there is no {pattern.format(name)}: {what.format(name)}"
    readme = (root / "README.md").read_text()
    if f"(docs/{name}.md)" not in readme:
        yield f"README.md: the table of algorithms has no row with docs/{name}.md"
    line = re.search(r"^ +sudo modprobe -a (.*)$", readme, re.M)
    if not line or f"tcp_{name}" not in line[1].split():
        yield f"README.md: `sudo modprobe -a` does not load tcp_{name}"
    bugs = tomllib.loads((root / "tests/mutations.toml").read_text())["bug"]
    if f"tcp_{name}.c" not in {bug["file"] for bug in bugs}:
        yield f"tests/mutations.toml: no [[bug]] is put into tcp_{name}.c, so no test is tested"
    scenario = tomllib.loads((root / "tests/scenarios/security-share.toml").read_text())
    if name not in scenario["vary"]["flow.0.cc"]:
        yield f'tests/scenarios/security-share.toml: "flow.0.cc" does not have {name}'
    shares = json.loads((root / "docs/results/security-share.json").read_text())
    if (name, "plain") not in {(one["cc"], one["way"]) for one in shares}:
        yield f"docs/results/security-share.json: no share of {name}: run tests/lab/share.py"
    words, _, table = (root / "docs/use.md").read_text().partition("<!-- begin deciding -->")
    if f"\n| `{name}" not in words:
        yield f"docs/use.md: the table of what is for which path has no row for {name}"
    row = re.search(rf"^\| `{name}\b.*?\|(.*)$", table, re.M)
    if not row or not re.search(r"\d", row[1]):
        yield (
            f"docs/use.md: {name} has no row in the second table: evaluate it with the others, "
            f"with --keep (docs/evaluation.md)"
        )
    catalogue = tomllib.loads((root / "tests/published/figures.toml").read_text())
    papers = {key for key, paper in catalogue["paper"].items() if paper["page"] == f"{name}.md"}
    if not papers & {figure["paper"] for figure in catalogue["figure"]}:
        yield f'tests/published/figures.toml: no [[figure]] of a paper with page = "{name}.md"'


@pytest.mark.parametrize("name", OURS)
def test_nothing_is_forgotten(name: str) -> None:
    missing = list(lacks(modules.ROOT, name))
    assert not missing, "\n".join(missing)


@pytest.fixture
def sixth(tmp_path: Path) -> Path:
    """A tree with the algorithm foo of docs/contributing.md, and nothing else about it."""
    root = tmp_path / "tree"
    root.mkdir()
    for path in modules.ROOT.iterdir():
        # What finds its tree by where it is, and may leave files there, is copied.
        if path.name in ("longfat", "scripts"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, root / path.name, ignore=ignored)
        elif not path.name.startswith(".") and path.name != "out":
            (root / path.name).symlink_to(path)
    (root / "tcp_foo.c").write_text(examples(PAGE)["tcp_foo.c"])
    return root


def test_what_is_left_out_is_named(sixth: Path) -> None:
    """By its file, for each thing that the others have."""
    named = [
        sentence.removeprefix("there is no ").split(":")[0] for sentence in lacks(sixth, "foo")
    ]
    assert named == [
        "docs/foo.md",
        "tests/kunit/foo_kunit.c",
        "tests/fuzz/foo.corpus",
        "tests/lab/test_foo.py",
        "README.md",
        "README.md",
        "tests/mutations.toml",
        "tests/scenarios/security-share.toml",
        "docs/results/security-share.json",
        "docs/use.md",
        "docs/use.md",
        "tests/published/figures.toml",
    ]


@pytest.mark.parametrize("where", ["", "tests/kunit"])
def test_kbuild_finds_every_module(sixth: Path, tmp_path: Path, where: str) -> None:
    """Both ways in which kernels say where the sources are: absolutely, and from here."""
    # As the kernel's makefiles include it; a build has left its files.
    ask = "include $(src)/Kbuild\nall:\n\t@echo $(obj-m)\n"
    (tmp_path / "kbuild.mk").write_text(ask)
    (sixth / "tcp_foo.mod.c").write_text("/* made by modpost */\n")
    place = sixth / where
    pattern = "*_kunit.c" if where else "tcp_*.c"
    wanted = {path.stem for path in place.glob(pattern)} - {"tcp_foo.mod"}
    assert ("tcp_foo" in wanted) == (where == "")
    for src in (str(place), "."):
        done = subprocess.run(
            ["make", "-s", "-f", tmp_path / "kbuild.mk", f"src={src}", "CONFIG_64BIT=y"],
            cwd=place,
            capture_output=True,
            text=True,
            check=True,
        )
        assert sorted(done.stdout.split()) == sorted(f"{name}.o" for name in wanted)


def test_kunit_of_a_32_bit_kernel(tmp_path: Path) -> None:
    """Without the suite that computes in 128 bits."""
    (tmp_path / "kbuild.mk").write_text("include $(src)/Kbuild\nall:\n\t@echo $(obj-m)\n")
    kunit = modules.ROOT / "tests/kunit"
    done = subprocess.run(
        ["make", "-s", "-f", tmp_path / "kbuild.mk", f"src={kunit}"],
        capture_output=True,
        text=True,
        check=True,
    )
    built = {name.removesuffix(".o") for name in done.stdout.split()}
    assert {path.stem for path in kunit.glob("*_kunit.c")} - built == {"ghstcp_kunit"}


def test_the_lab_knows_it(sixth: Path) -> None:
    """In a scenario with its parameter, in DKMS, in its manual page and as a bpftrace script."""
    scenario = sixth / "foo.toml"
    scenario.write_text(examples(PAGE)["foo.toml"])
    script = (
        "from pathlib import Path\n"
        "from longfat.build import modules\n"
        "from longfat.run import plan, scenario\n"
        "(one,) = scenario.load(Path('foo.toml'))\n"
        "print(modules.sources()[modules.owners()['foo']].name, modules.parameters('foo'))\n"
        "print('foo' in plan.make(one, 1, prefix='lf', virtual=True).traffic)\n"
    )

    def said(*command: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(sixth)}
        done = subprocess.run(command, cwd=sixth, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert said(sys.executable, "-c", script) == "tcp_foo.c {'beta': '1 to 999'}\nTrue\n"
    dkms = said("bash", "-uc", ". ./dkms.conf; echo ${BUILT_MODULE_NAME[@]}")
    assert dkms.split() == sorted(f"tcp_{name}" for name in [*OURS, "foo"])
    assert ".It Cm beta Pq 1 to 999, default 500\n" in said("scripts/man.sh", "tcp_foo.c")
    script = said("scripts/bpftrace/decisions", "-p", "foo")
    assert "tracepoint:longfat:foo\n" in script and "args->beta" in script
