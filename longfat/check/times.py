# SPDX-License-Identifier: GPL-2.0
"""How long the test suites take: docs/results/check-times.json, which docs/testing.md shows."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from longfat.check import suites
from longfat.check.running import Outcome
from longfat.core import cache
from longfat.core.errors import LabError
from longfat.run import result

# What a run of all suites is called, beside those of a lane.
ALL = "all"

Json = dict[str, Any]


class Clock:
    """When a run began, and whether it had to make all that the cache keeps."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.empty = not list(cache.directory().glob("kernel-*"))

    def passed(self) -> float:
        """Seconds since then."""
        return time.monotonic() - self.began


def read(path: Path) -> Json:
    """What is written there: nothing of any suite if there is no such file."""
    if not path.exists():
        return {"runs": {}, "suites": {}}
    try:
        found: Json = json.loads(path.read_text())
    except ValueError as error:
        raise LabError(f"{path} is none of `longfat check --out`: {error}") from None
    return found


def write(path: Path, names: list[str], outcomes: dict[str, Outcome], clock: Clock) -> None:
    """Write what these suites took, beside what is there of others; `names` are those that the
    run was asked for."""
    found = read(path)
    known = suites.load()
    for name, one in outcomes.items():
        found["suites"][name] = {
            "passed": one.result.passed,
            "skipped": len(one.result.skipped),
            "wall_s": round(one.wall),
            "cpu_s": None if one.cpu is None else round(one.cpu),
        }
    found["suites"] = {name: found["suites"][name] for name in known if name in found["suites"]}
    asked = names or [ALL]
    if len(asked) == 1 and asked[0] in [ALL, *suites.lanes(known)]:
        found["runs"][asked[0]] = {
            "wall_s": round(clock.passed()),
            "cores": len(os.sched_getaffinity(0)),
            "empty_cache": clock.empty,
        }
    result.write_whole(json.dumps(found, indent=1, sort_keys=False) + "\n", path)
