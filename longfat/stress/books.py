# SPDX-License-Identifier: GPL-2.0
"""What a long run of chaos comes to: said, and kept in a file that docs/stress.md shows."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from longfat.build import modules
from longfat.stress import chaos


def keep(
    mix: chaos.Chaos,
    where: chaos.Place,
    *,
    first: int,
    runs: int,
    seconds: float,
    jobs: int,
    out: Path,
    timeout: float,
    say: Callable[[str], None],
) -> tuple[Counter[str], list[int]]:
    """As chaos.many, with so many jobs at once (0: as many as the cores have room for).  What
    it counted is said at the end and written to `out`."""
    begun, stamp = time.monotonic(), modules.stamp()
    total, failed = chaos.many(
        mix,
        where,
        first=first,
        runs=runs,
        seconds=seconds,
        workers=jobs or max(1, len(os.sched_getaffinity(0)) // where.processors),
        out=out,
        timeout=timeout,
        say=say,
    )
    for key, value in total.items():
        say(f"{key.replace('_', ' ')}: {value}")
    if never := chaos.idle(total):
        say(f"did not happen: {', '.join(never)}")
    found = {
        "kernel": where.name,
        "first": first,
        "wall_s": round(time.monotonic() - begun),
        "failed": failed,
        **stamp,
        "total": total,
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / f"stress-{where.name}.json").write_text(json.dumps(found) + "\n")
    return total, failed
