#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a user installs: DKMS, `make install`, the Debian packages, each put into a
Debian of its own (a chroot), looked at there and taken out again.

    scripts/longfat python tests/packages.py [CASE:SUITE...]

The cases are the scripts in packages/.  Speaks KTAP.  Exit status 0: all passed or
skipped; 4: all skipped; 1: something failed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
from longfat.build import modules
from longfat.core import root, scratch
from longfat.core.errors import LabError
from longfat.machines import suite

CASES = ("dkms:bookworm", "dkms:sid", "install:bookworm", "deb:bookworm")


def tree() -> list[Path]:
    """The tree's files, with what is new and without what is ignored."""
    git = ["git", "-C", str(modules.ROOT), "ls-files", "-z", "--cached", "--others"]
    done = subprocess.run([*git, "--exclude-standard"], capture_output=True, text=True)
    if done.returncode == 0:
        found = [modules.ROOT / name for name in done.stdout.split("\0") if name]
    else:  # an unpacked archive
        found = list(modules.ROOT.rglob("*"))
    return [path for path in found if path.is_file()]


def run(case: str, name: str) -> tuple[int, str]:
    """Run `case` in suite `name`: its status, and what it said."""
    with scratch.directory("packages") as directory:
        modules.copy(tree(), directory)
        algorithms = " ".join(sorted(modules.owners()))
        result = suite.run(
            name,
            # Copied inside too: what root makes there, we could not remove here.
            f"cp -r /mnt/tree /src && cd /src && MODULES='{' '.join(modules.sources())}' "
            f"ALGORITHMS='{algorithms}' sh -eu tests/packages/{case}.sh",
            binds=[(directory, "/mnt/tree")],
            timeout=1200,
        )
    return result.returncode, result.stdout


def carried_out(what: str) -> ktap.Result:
    """The result of "CASE:SUITE"."""
    case, _, name = what.partition(":")
    title = f"{case}, {name}"
    try:
        title += f" {suite.kernel(name)}"
        status, said = run(case, name)
    except root.Unavailable as error:
        return ktap.Result(title, skip=str(error))
    except LabError as error:
        return ktap.Result(title, False, str(error))
    return ktap.Result(title, not status, "\n".join(said.splitlines()[-60:]) if status else "")


def main(wanted: list[str]) -> int:
    return ktap.document(len(wanted), map(carried_out, wanted))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(CASES)))
