#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a user installs: DKMS, `make install`, the Debian packages, each put into a
Debian of its own (a chroot), looked at there and taken out again.

    tests/packages.py [CASE:SUITE...]

The cases are the scripts in packages/.  Speaks KTAP.  Exit status 0: all passed or
skipped; 4: all skipped; 1: something failed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from lab import modules, scratch, suite
from lab.errors import LabError

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


def main(wanted: list[str]) -> int:
    print("KTAP version 1", f"1..{len(wanted)}", sep="\n", flush=True)
    failed, skipped = 0, 0
    for number, what in enumerate(wanted, 1):
        case, _, name = what.partition(":")
        try:
            title = f"{case}, {name} {suite.kernel(name)}"
            status, said = run(case, name)
        except suite.Unavailable as error:
            print(f"ok {number} - {case}, {name} # SKIP {error}", flush=True)
            skipped += 1
            continue
        except LabError as error:
            title, status, said = f"{case}, {name}", 1, str(error)
        if status:
            failed += 1
            print("\n".join(f"# {line}" for line in said.splitlines()[-60:]))
        print(f"{'not ok' if status else 'ok'} {number} - {title}", flush=True)
    return 1 if failed else 4 if skipped == len(wanted) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(CASES)))
