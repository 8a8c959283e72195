# SPDX-License-Identifier: GPL-2.0
"""What the lab has beside its Python, and where: modules' sources, scenarios, what papers print.

    python3 -m longfat.core.data DIRECTORY

copies it to DIRECTORY, for a package.  Needs no more than Python's library.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# How the lab is called: in the tree, which alone has the tests, or where it is installed.
COMMAND = "scripts/longfat" if (PACKAGE.parent / "tests/suites.toml").is_file() else "longfat"
# What belongs to an installed lab.  What else a tree has is for who works on it.
PARTS = (
    "Kbuild",
    "tcp_*.c",
    "include/longfat/*",
    "scripts/bpftrace/*",
    "tests/published/*.toml",
    "tests/scenarios/*.toml",
    "tests/stress/*.toml",
)


def root() -> Path:
    """The directory that has PARTS: the tree, which Debian's /usr/share/longfat looks like, or
    what pip has put into the package."""
    inside = PACKAGE / "share"
    return inside if inside.is_dir() else PACKAGE.parent


def files(tree: Path) -> Iterator[Path]:
    """PARTS of `tree`, without what a build in it has left; paths in it, in a fixed order."""
    for pattern in PARTS:
        found = sorted(path for path in tree.glob(pattern) if path.is_file())
        if not found:
            raise FileNotFoundError(f"{tree} has no {pattern}")
        yield from (path.relative_to(tree) for path in found if ".mod." not in path.name)


def find(path: Path) -> Path:
    """`path`; or the lab's own file of that name where there is none here, so that what the help
    says can be typed anywhere."""
    ours = root() / path
    return ours if not path.exists() and ours.is_file() else path


def copy(to: Path) -> None:
    """Copy PARTS into the directory `to`."""
    for path in files(root()):
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root() / path, to / path)


if __name__ == "__main__":
    copy(Path(sys.argv[1]))
