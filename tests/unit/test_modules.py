# SPDX-License-Identifier: GPL-2.0
"""What modules are called and what they take, read from their sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import modules


def test_names(tree: Path) -> None:
    assert modules.sources() == {"tcp_foo": tree / "tcp_foo.c"}
    assert modules.owners() == {"foo": "tcp_foo"}
    assert modules.algorithms() == modules.IN_TREE | {"foo"}


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
    assert set(modules.files(tests=True)) - set(modules.files()) == {
        tree / "tests/kunit/a_kunit.c",
        tree / "tests/kunit/Kbuild",
    }


@pytest.mark.parametrize("file", ["tcp_foo.c", "include/longfat/growth.h"])
def test_source_hash_is_of_the_source_and_what_it_includes(tree: Path, file: str) -> None:
    before = modules.source_hashes(["foo", "reno"])
    assert set(before) == {"foo"}
    assert modules.source_hashes(["foo"]) == before
    (tree / file).write_text((tree / file).read_text() + "\n")
    assert modules.source_hashes(["foo"]) != before


def test_ours_can_be_loaded_by_name() -> None:
    """The kernel autoloads the algorithm X from the module tcp_X."""
    assert modules.owners()
    for name, module in modules.owners().items():
        assert module == f"tcp_{name}" or f"tcp_{name}" not in modules.sources()
    for module in modules.sources():
        assert module.removeprefix("tcp_") in modules.owners()
        assert modules.parameters(module.removeprefix("tcp_"))


def test_every_module_is_built_packaged_and_described() -> None:
    kbuild = (modules.ROOT / "Kbuild").read_text().split()
    dkms = (modules.ROOT / "dkms.conf").read_text()
    readme = (modules.ROOT / "README.md").read_text()
    for number, module in enumerate(sorted(modules.sources())):
        name = module.removeprefix("tcp_")
        assert f"{module}.o" in kbuild
        assert f'="{module}"' in dkms
        assert f"BUILT_MODULE_NAME[{number}]" in dkms
        assert f"DEST_MODULE_LOCATION[{number}]" in dkms
        assert (modules.ROOT / f"docs/{name}.md").is_file()
        assert f"docs/{name}.md" in readme
