# SPDX-License-Identifier: GPL-2.0
"""What modules are called and what they take, read from their sources."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from longfat.build import modules
from longfat.core.errors import LabError


def test_names(tree: Path) -> None:
    assert modules.sources() == {"tcp_foo": tree / "tcp_foo.c"}
    assert modules.owners() == {"foo": "tcp_foo"}
    assert modules.algorithms() == modules.IN_TREE | {"foo"}


def test_what_a_build_leaves_is_no_source(tree: Path) -> None:
    (tree / "tcp_foo.mod.c").write_text("/* made by modpost */\n")
    modules.sources.cache_clear()
    assert modules.sources() == {"tcp_foo": tree / "tcp_foo.c"}


def page(name: str) -> str:
    """The module's manual page, as made from its source."""
    return subprocess.run(
        [modules.ROOT / "scripts/man.sh", modules.sources()[name]],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("name", modules.sources())
def test_manual_page(name: str) -> None:
    text = page(name)
    source = modules.sources()[name].read_text()
    algorithm = name.removeprefix("tcp_")
    # Parameters, with what is valid.
    for parameter, valid in modules.parameters(algorithm).items():
        entry = re.search(rf"^\.It Cm {parameter} Pq (.*)\n(.+)$", text, re.M)
        assert entry, parameter
        if "true" in valid:
            valid = "Y or N"
        assert entry[1].startswith(valid)
        assert (", default " in entry[1]) or ", default " in entry[2]
    # Trace event: the reasons, and every field.
    reasons = re.findall(rf"\{{ {algorithm.upper()}\w+, \"(\w+)\" }}", source)
    assert reasons
    assert [line for line in re.findall(r"^\.It Cm (\w+)$", text, re.M)] == reasons
    fields = re.findall(r"\bF\([us]\d+, (\w+)\)", source)
    assert f"{', '.join(fields)}:\n" in text
    # Nothing of the header comment is lost.
    header = source.partition("/*\n")[2].partition(" */")[0]
    words = re.findall(r"[A-Za-z]{4,}", header)
    shown = text.replace("DIFFERENCES FROM THE PAPER", "Differences from the paper")
    shown = shown.replace("DIFFERENCES FROM THE THESIS", "Differences from the thesis")
    shown = shown.replace(".Sh NOTES", "Notes")
    assert [word for word in words if word not in shown] == []


def decisions(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = modules.ROOT / "scripts/bpftrace/decisions"
    return subprocess.run([program, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("name", modules.sources())
def test_bpftrace_script(name: str) -> None:
    """It knows the event's reasons by their numbers, and shows every field."""
    source = modules.sources()[name].read_text()
    algorithm = name.removeprefix("tcp_")
    script = decisions("-p", algorithm).stdout
    assert f"tracepoint:longfat:{algorithm}\n" in script
    reasons = re.findall(rf"\{{ {algorithm.upper()}\w+, \"(\w+)\" }}", source)
    constants = re.findall(rf"\{{ ({algorithm.upper()}\w+), \"", source)
    order = re.findall(
        r"^\t([A-Z0-9_]+),",
        source.partition(f"enum {algorithm}_reason {{")[2].partition("};")[0],
        re.M,
    )
    assert order == constants
    named = re.findall(r'@why\[(\d+)\] = "(\w+)";', script)
    assert named == [(str(number), reason) for number, reason in enumerate(reasons)]
    common = set(
        re.findall(
            r"__(?:field|array)\(\w+, (\w+)", (modules.ROOT / "include/longfat/trace.h").read_text()
        )
    )
    fields = set(re.findall(r"\bF\([us]\d+, (\w+)\)", source))
    used = set(re.findall(r"args->(\w+)", script))
    assert fields and fields <= used <= fields | common
    # A title for each column, a value for each format.
    for call in re.findall(r"printf\((.*?)\);", script, re.S):
        text, *values = re.split(r",\s*(?![^\[]*\])", call)
        assert text.count("%") == len(values), call


def test_bpftrace_script_of_no_module() -> None:
    done = decisions("-p", "bar")
    assert (done.returncode, done.stdout) == (1, "")
    known = " ".join(module.removeprefix("tcp_") for module in modules.sources())
    assert done.stderr == f"decisions: no module of ours is 'bar'; there are: {known}\n"


def test_several_in_one_module(tree: Path) -> None:
    (tree / "tcp_two.c").write_text('\t.name = "two",\n.name\t= "two-ecn",\n// .name = "no",\n')
    assert modules.owners() == {"foo": "tcp_foo", "two": "tcp_two", "two-ecn": "tcp_two"}


def test_parameters(tree: Path) -> None:
    assert set(modules.parameters("foo")) == {"beta", "gentle", "mode"}


@pytest.mark.parametrize(
    ("valid", "good", "bad"),
    [
        ("1 to 500", [1, 500], [0, 501, "1", True, ""]),
        ("true, false", [True, False], [0, 1, "Y", "true"]),
        ("0, 1/3, 1", [0, "0", "1/3", 1], ["1/7", 2, True, ""]),
    ],
)
def test_accepts(valid: str, good: list[int | str | bool], bad: list[int | str | bool]) -> None:
    assert all(modules.accepts(valid, value) for value in good)
    assert not any(modules.accepts(valid, value) for value in bad)


@pytest.mark.parametrize("name", ["bar", "cubic", "tcp_foo", ""])
def test_no_such_module(tree: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"no module of ours is .*; valid: foo"):
        modules.parameters(name)


def test_files(tree: Path) -> None:
    assert modules.files() == [
        tree / "tcp_foo.c",
        tree / "Kbuild",
        tree / "include/longfat/growth.h",
    ]
    (tree / "tests/kunit/a_kunit.c").write_text("")
    (tree / "tests/kunit/Kbuild").write_text("")
    assert set(modules.files(tests="kunit")) - set(modules.files()) == {
        tree / "tests/kunit/a_kunit.c",
        tree / "tests/kunit/Kbuild",
    }


def test_what_needs_the_source_tree(tree: Path) -> None:
    assert modules.tests_of("kunit") == tree / "tests/kunit"
    with pytest.raises(LabError, match=rf"{tree}/tests/bench is missing: .* longfat's source tree"):
        modules.files(tests="bench")


@pytest.mark.parametrize("file", ["tcp_foo.c", "include/longfat/growth.h"])
def test_a_measurement_is_of_the_sources_and_what_they_include(tree: Path, file: str) -> None:
    """Without the comments."""
    before = modules.stamp()["modules"]
    assert set(before) == {"foo"}
    (tree / file).write_text("/* why */\n" + (tree / file).read_text())
    assert modules.stamp()["modules"] == before
    (tree / file).write_text((tree / file).read_text() + "int more;\n")
    assert modules.stamp()["modules"] != before


def test_ours_can_be_loaded_by_name() -> None:
    """The kernel autoloads the algorithm X by the name tcp_X: a module's own, or an alias."""
    assert modules.owners()
    for name, module in modules.owners().items():
        alias = f'MODULE_ALIAS("tcp_{name}");'
        assert module == f"tcp_{name}" or alias in modules.sources()[module].read_text()
    for module in modules.sources():
        assert module.removeprefix("tcp_") in modules.owners()
        assert modules.parameters(module.removeprefix("tcp_"))


def dkms() -> dict[str, list[str]]:
    """What dkms.conf sets, as the shell that DKMS is sees it: it is somewhere else, and may read
    it twice."""
    conf = modules.ROOT / "dkms.conf"
    script = (
        f"set -a; . {conf}; . {conf}; "
        'for name in PACKAGE_NAME "BUILT_MODULE_NAME[@]" "DEST_MODULE_LOCATION[@]" '
        "BUILD_EXCLUSIVE_KERNEL_MIN BUILD_EXCLUSIVE_KERNEL AUTOINSTALL; do "
        'echo "$name" "${!name}"; done'
    )
    done = subprocess.run(
        ["bash", "-uc", script], cwd="/", capture_output=True, text=True, check=True
    )
    return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}


def test_the_version_is_one() -> None:
    """That of DKMS, of the packages, of the modules, and the newest in the changelog and the
    citation."""
    found = {
        re.findall(pattern, (modules.ROOT / name).read_text(), re.M)[0]
        for name, pattern in (
            ("dkms.conf", r'^PACKAGE_VERSION="(.*)"'),
            ("debian/changelog", r"^longfat \((.*)\)"),
            ("include/longfat/version.h", r'^#define LF_VERSION\s+"(.*)"'),
            ("CHANGELOG.md", r"^## \[(\d.*)\] - "),
            ("CITATION.cff", r"^version: (.*)"),
        )
    }
    assert len(found) == 1


def test_dkms_builds_every_module() -> None:
    conf = dkms()
    assert sorted(conf["BUILT_MODULE_NAME[@]"]) == sorted(modules.sources())
    assert conf["DEST_MODULE_LOCATION[@]"] == ["/updates/dkms"] * len(modules.sources())
    assert conf["AUTOINSTALL"] == ["yes"]


@pytest.mark.parametrize(
    ("release", "good"),
    [
        ("4.19.0-27-amd64", False),
        ("5.4.0-200-generic", False),
        ("5.9.16", False),
        ("5.10.0-46-amd64", True),
        ("6.1.0-56-amd64", True),
        ("7.2.13+deb14-amd64", True),
        ("10.0.1", True),
    ],
)
def test_dkms_pattern_is_its_oldest_kernel(release: str, good: bool) -> None:
    """Older DKMS reads the pattern, newer one the number too: they must say the same."""
    conf = dkms()
    (pattern,), (oldest,) = conf["BUILD_EXCLUSIVE_KERNEL"], conf["BUILD_EXCLUSIVE_KERNEL_MIN"]
    newer = [int(n) for n in release.split(".")[:2]] >= [int(n) for n in oldest.split(".")]
    assert newer == good
    assert bool(re.search(pattern, release)) == good
