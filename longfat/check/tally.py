# SPDX-License-Identifier: GPL-2.0
"""What a program that speaks KTAP says, added up."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LINE = re.compile(r"^( *)(not ok|ok)\b\s*(\d+)?\s*(?:- )?(.*)$")
PLAN = re.compile(r"^( *)1\.\.(\d+)")


@dataclass
class Tally:
    """The leaf results of a suite."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count those of `other` as well."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self) -> str:
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def tally(text: str, status: int | None) -> Tally:
    """Count a KTAP document (nested or not) that ended with exit status `status`, or one
    that is not at its end yet (None).

    A result that closes a subtest is not counted again, it only must agree.  No
    results, fewer than planned, or a bad exit status without a failed result
    count as a failure: a suite that dies is never a suite that passed.
    """
    out = Tally()
    seen: dict[int, int] = {}  # results so far at each open depth
    planned: dict[int, int] = {}
    settled: dict[int, int] = {}  # failures up to the last result at each depth

    def close(depth: int, what: str) -> None:
        """The documents at `depth` and deeper are over: did they keep their plans?"""
        for d in sorted(set(seen) | set(planned)):
            if d >= depth:
                count = seen.pop(d, 0)
                want = planned.pop(d, count)
                if count != want:
                    out.failed.append(f"{what}: {count} results, {want} planned")

    for line in text.splitlines():
        if line == "KTAP version 1":
            close(0, "the document before this one")
        if found := PLAN.match(line):
            planned[len(found[1])] = int(found[2])
            continue
        found = LINE.match(line)
        if not found:
            continue
        depth = len(found[1])
        parent = any(d > depth for d in seen)
        close(depth + 1, found[4])
        seen[depth] = seen.get(depth, 0) + 1
        name, _, directive = (part.strip() for part in f" {found[4]}".partition(" # "))
        if parent:
            # Did something below it fail since the result before it at this depth?
            if found[2] == "not ok" and len(out.failed) == settled.get(depth, 0):
                out.failed.append(name)
            settled[depth] = len(out.failed)
            continue
        if directive.upper().startswith("SKIP"):
            out.skipped.append(f"{name}: {directive[4:].strip() or 'no reason given'}")
        elif found[2] == "ok":
            out.passed += 1
        else:
            out.failed.append(name)
        settled[depth] = len(out.failed)
    if status is None:
        return out
    close(0, "the document")
    if not (out.passed or out.failed or out.skipped):
        out.failed.append(f"no results (exit status {status})")
    elif status not in (0, 4) and not out.failed:
        out.failed.append(f"exit status {status}")
    return out
