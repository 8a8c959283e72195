# SPDX-License-Identifier: GPL-2.0
"""The lab's own traces of links that change, made at random with given statistics:

    scripts/longfat python -m longfat.run.generators

writes them into longfat/run/traces/.  They are models, not recordings.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from longfat.run.changes import OWN

# What each is made for; tests/unit/test_changes.py measures it in the files.
CELLULAR = {"seconds": 60, "least_mbit": 1.0, "most_mbit": 100.0, "correlation_s": 2.0}
WIFI = {"seconds": 30, "step_s": 0.02, "changes_per_s": 5.0}
MCS = (6.5, 13, 19.5, 26, 39, 52, 58.5, 65)  # Mbit/s of 802.11n, 20 MHz, one stream
LEO = {"seconds": 600, "handover_s": 15, "outage_s": 0.1}
LEO_MBIT, LEO_DELAY, LEO_DRIFT = (50.0, 250.0), (5.0, 30.0), 0.3  # ms, and ms in a second


def _table(columns: str, rows: list[tuple[float, ...]]) -> str:
    lines = [",".join(f"{value:.3f}".rstrip("0").rstrip(".") for value in row) for row in rows]
    return "\n".join([columns, *lines]) + "\n"


def _evenly(count: int, least: float, most: float, step: float) -> list[float]:
    """So many numbers over this range, at even distances.  The first few are spread over it, too:
    they are in the order of the multiples of `step`, an irrational number, modulo 1."""
    order = sorted(range(count), key=lambda n: n * step % 1)
    place = {n: rank for rank, n in enumerate(order)}
    return [least + (most - least) * place[n] / (count - 1) for n in range(count)]


def cellular() -> str:
    """A phone that moves: each 100 ms another rate near the one before, each part of a decade as
    often as any other."""
    draw, step = random.Random(28), 0.1
    keep = math.exp(-step / CELLULAR["correlation_s"])
    least, most = CELLULAR["least_mbit"], CELLULAR["most_mbit"]
    normals = [draw.gauss(0, 1)]
    for _ in range(1, round(CELLULAR["seconds"] / step)):
        normals.append(keep * normals[-1] + math.sqrt(1 - keep**2) * draw.gauss(0, 1))
    place = {normal: n / (len(normals) - 1) for n, normal in enumerate(sorted(normals))}
    rates = [least * (most / least) ** place[normal] for normal in normals]
    return _table("time_s,rate_mbit", [(n * step, rate) for n, rate in enumerate(rates)])


def wifi() -> str:
    """A station whose access point goes up and down the rates of 802.11n, one at a time."""
    draw, at = random.Random(29), 4
    rows: list[tuple[float, ...]] = [(0.0, MCS[at])]
    for n in range(1, round(WIFI["seconds"] / WIFI["step_s"])):
        if draw.random() >= WIFI["changes_per_s"] * WIFI["step_s"]:
            continue
        at += draw.choice([way for way in (-1, 1) if 0 <= at + way < len(MCS)])
        rows.append((n * WIFI["step_s"], MCS[at]))
    return _table("time_s,rate_mbit", rows)


def leo() -> str:
    """Low-orbit satellites: another one each 15 s, after an outage, with a rate and a delay of
    its own that grows and falls as it passes."""
    draw = random.Random(30)
    count = round(LEO["seconds"] / LEO["handover_s"])
    rates = _evenly(count, *LEO_MBIT, step=(math.sqrt(5) - 1) / 2)
    delays = _evenly(count, *LEO_DELAY, step=math.sqrt(2))
    rows: list[tuple[float, ...]] = []
    for n, (rate, delay) in enumerate(zip(rates, delays, strict=True)):
        begin, slope = n * LEO["handover_s"], draw.uniform(-LEO_DRIFT, LEO_DRIFT)
        if n:
            rows.append((begin, 0, delay))
        for second in range(round(LEO["handover_s"])):
            late = LEO["outage_s"] if n and not second else 0
            rows.append((begin + second + late, rate, delay + slope * second))
    return _table("time_s,rate_mbit,delay_ms", rows)


TRACES: dict[str, Callable[[], str]] = {"cellular": cellular, "leo": leo, "wifi": wifi}

if __name__ == "__main__":
    OWN.mkdir(exist_ok=True)
    for name, make in TRACES.items():
        (OWN / f"{name}.csv").write_text(make())
