# SPDX-License-Identifier: GPL-2.0
"""What the programs of `make check` that are none of pytest say, in KTAP."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Of a program all of whose results were skipped.
SKIPPED = 4


@dataclass(frozen=True)
class Result:
    """One of them."""

    title: str
    good: bool = True
    said: str = ""  # above it
    indent: str = "# "  # of what it said; spaces: it is a subtest
    skip: str = ""  # why it was


def document(planned: int, results: Iterable[Result]) -> int:
    """Print them as they come; the exit status: 0, 1 if one is not good, 4 if all were skipped."""
    print("KTAP version 1", f"1..{planned}", sep="\n", flush=True)
    failed = skipped = number = 0
    for number, one in enumerate(results, 1):
        print("".join(f"{one.indent}{line}\n" for line in one.said.splitlines()), end="")
        why = f" # SKIP {one.skip}" if one.skip else ""
        print(f"{'ok' if one.good else 'not ok'} {number} - {one.title}{why}", flush=True)
        failed += not one.good
        skipped += bool(one.skip)
    return 1 if failed else SKIPPED if number and skipped == number else 0
