# SPDX-License-Identifier: GPL-2.0
"""`make check`: run the test suites of tests/suites.toml, each a program that
speaks KTAP, and add up what they say."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from longfat.build import modules
from longfat.core import cache, process
from longfat.core.errors import LabError

LINE = re.compile(r"^( *)(not ok|ok)\b\s*(\d+)?\s*(?:- )?(.*)$")
PLAN = re.compile(r"^( *)1\.\.(\d+)")


@dataclass
class Tally:
    """The leaf results of a suite."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def tally(text: str, status: int) -> Tally:
    """Count a KTAP document (nested or not) that ended with exit status `status`.

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
    close(0, "the document")
    if not (out.passed or out.failed or out.skipped):
        out.failed.append(f"no results (exit status {status})")
    elif status not in (0, 4) and not out.failed:
        out.failed.append(f"exit status {status}")
    return out


def run(names: list[str], console: Console) -> Tally:
    """Run the suites called `names` (all of them if empty), two at a time."""
    suites = tomllib.loads(modules.tests_of("suites.toml").read_text())
    unknown = set(names) - set(suites)
    if unknown:
        raise LabError(f"no suite {', '.join(unknown)}; valid: {', '.join(suites)}")
    logs = cache.directory() / "check"
    logs.mkdir(exist_ok=True)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin",
        "PYTHON": sys.executable,
        "LC_ALL": "C.UTF-8",
    }

    cancel = threading.Event()

    def one(name: str) -> Tally:
        suite = suites[name]
        log = logs / f"{name}.log"
        began = time.monotonic()
        limit = suite.get("timeout", 1800)
        late = ""
        try:
            status = process.run(
                ["sh", "-c", suite["command"]],
                output=log,
                timeout=limit,
                cancel=cancel,
                tick=lambda: None,
                env=environment,
                cwd=modules.ROOT,
                grace=5,
            )
        except process.Cancelled:
            raise
        except LabError as error:
            status, late = 124, str(error)
        text = log.read_text(errors="replace")
        result = tally(text, status)
        if late:
            result.failed.append(late)
        console.print(
            f"{name}: {suite['about']}: {result.passed} passed, {len(result.failed)} failed, "
            f"{len(result.skipped)} skipped ({time.monotonic() - began:.0f} s)",
            highlight=False,
            soft_wrap=True,
        )
        for skipped in result.skipped:
            console.print(f"  skipped: {skipped}", highlight=False, soft_wrap=True, markup=False)
        if result.failed:
            for failed in result.failed:
                console.print(f"  FAILED: {failed}", highlight=False, soft_wrap=True, markup=False)
            console.print(
                "\n".join(text.splitlines()[-60:]),
                highlight=False,
                soft_wrap=True,
                markup=False,
            )
            console.print(f"  (whole output: {log})", highlight=False, soft_wrap=True)
        return result

    total = Tally()
    pool = ThreadPoolExecutor(2)
    try:
        for part in pool.map(one, names or suites):
            total.passed += part.passed
            total.failed += part.failed
            total.skipped += part.skipped
    except BaseException:
        cancel.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return total
