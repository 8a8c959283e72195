# SPDX-License-Identifier: GPL-2.0
"""Where Debian's packages come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.build import debian
from longfat.core.errors import LabError

DEB822 = """\
Types: deb
# http://snapshot.example/archive/debian/20250101T000000Z
URIs: http://mirror.example/debian
Suites: trixie trixie-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: trixie-security
Components: main
"""

# Writes files below a directory that stands for /etc/apt.
Etc = Callable[..., None]


@pytest.fixture
def etc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Etc:
    monkeypatch.delenv("LONGFAT_DEBIAN_MIRROR", raising=False)
    monkeypatch.setattr(debian, "Path", lambda path: tmp_path / str(path).lstrip("/"))

    def write(**files: str) -> None:
        base = tmp_path / "etc/apt"
        (base / "sources.list.d").mkdir(parents=True)
        for name, text in files.items():
            if name == "list":
                (base / "sources.list").write_text(text)
            else:
                (base / "sources.list.d" / name.replace("_", ".")).write_text(text)

    return write


def test_given(etc: Etc, monkeypatch: pytest.MonkeyPatch) -> None:
    etc(debian_sources=DEB822)
    monkeypatch.setenv("LONGFAT_DEBIAN_MIRROR", "http://mirror.example/debian")
    assert debian.mirror() == "http://mirror.example/debian"


def test_deb822(etc: Etc) -> None:
    etc(debian_sources=DEB822)
    assert debian.mirror() == "http://mirror.example/debian"


@pytest.mark.parametrize(
    ("line", "address"),
    [
        ("deb http://mirror.example/debian bookworm main", "http://mirror.example/debian"),
        ("deb https://other.example/debian/ bookworm main", "https://other.example/debian"),
        (
            "deb [arch=amd64] http://10.0.0.1:3142/debian sid main contrib",
            "http://10.0.0.1:3142/debian",
        ),
    ],
)
def test_one_line(etc: Etc, line: str, address: str) -> None:
    etc(list=f"deb http://security.example/debian-security bookworm-security main\n{line}\n")
    assert debian.mirror().rstrip("/") == address


def test_none(etc: Etc) -> None:
    etc(list="deb http://archive.ubuntu.com/ubuntu noble main\n")
    with pytest.raises(LabError, match="LONGFAT_DEBIAN_MIRROR"):
        debian.mirror()


def test_no_etc_apt(etc: Etc) -> None:
    with pytest.raises(LabError, match="LONGFAT_DEBIAN_MIRROR"):
        debian.mirror()


def test_what_is_commented_out_is_not_taken(etc: Etc) -> None:
    etc(list="# deb http://old.example/debian bookworm main\n", debian_sources=DEB822)
    assert debian.mirror() == "http://mirror.example/debian"


@pytest.mark.parametrize("first", ["aaa_list", "zzz_list"])
def test_packages_of_others_are_no_mirror(etc: Etc, first: str) -> None:
    """Docker's and MySQL's archives end in /debian too."""
    other = (
        "deb [arch=amd64 signed-by=/etc/apt/keyrings/docker.asc] "
        "https://download.docker.com/linux/debian trixie stable\n"
        "deb http://repo.mysql.com/apt/debian/ trixie mysql-8.4-lts\n"
    )
    etc(list="", debian_sources=DEB822, **{first: other})
    assert debian.mirror() == "http://mirror.example/debian"


def test_a_file_in_another_encoding(etc: Etc, tmp_path: Path) -> None:
    etc(debian_sources=DEB822)
    (tmp_path / "etc/apt/sources.list").write_bytes(b"# d\xe9p\xf4t\n")
    assert debian.mirror() == "http://mirror.example/debian"


def test_a_version_that_a_suite_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has is said; packages that are not of a version have no others."""
    names = "linux-source-7.2\nlinux-source\nlinux-source-7.1\nlinux-source-doc\n"
    monkeypatch.setattr(debian, "_apt", lambda suite: [])
    monkeypatch.setattr(
        debian, "_run", lambda command: names if command[-2:-1] == ["pkgnames"] else ""
    )
    with pytest.raises(LabError) as caught:
        debian.version("linux-source-9.9", "sid")
    assert str(caught.value) == (
        "Debian's suite sid has no package linux-source-9.9; it has linux-source-7.1, "
        "linux-source-7.2"
    )
    with pytest.raises(LabError, match="has no package iproute2$"):
        debian.version("iproute2", "sid")
