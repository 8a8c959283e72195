# SPDX-License-Identifier: GPL-2.0
"""What `longfat measure --save` says of a path, on paths of which everything is known, in exact
virtual time: within the bounds of docs/measure.md, wherever it says that it is sure."""

from __future__ import annotations

import pytest
from conftest import Experiment

from longfat.measure.path import seen
from longfat.run.result import Json

PATH = """
title = "a path that is known"
duration = "15s"
warmup = "5s"
[link]
rate = "{rate}mbit"
buffer = "{buffer}bdp"
loss = {loss}
[[flow]]
cc = "{cc}"
rtt = "{rtt}ms"
"""

# docs/measure.md has these.
RATE, BUFFER, LOSS = 0.03, 0.1, 1.5
ROUNDS = 3


def rounds(experiment: Experiment, *contenders: str, **path: float) -> list[Json]:
    """Rounds of all of them; without losses one, as all are the same."""
    values = {key: f"{value}" for key, value in path.items()}
    found = []
    for number, cc in enumerate(contenders, 1):
        # A path loses other packets in each run; so does the lab if the seed is another.
        seeds = [number + len(contenders) * n for n in range(ROUNDS if path["loss"] else 1)]
        found += experiment(text=PATH, cc=cc, out=cc, seeds=seeds, **values)
    return as_seen(found)


def as_seen(results: list[Json]) -> list[Json]:
    """With the base RTT as a sender has it, and not as it was set."""
    for one in results:
        (flow,) = one["flows"]
        least = (us for us in flow["connections"][0]["min_rtt_us"] if us)
        flow["base_rtt_ms"] = min(least) / 1e3
    return results


@pytest.mark.parametrize(
    ("rate", "rtt", "buffer", "loss"),
    [
        *[(50, 60, buffer, loss) for buffer in (0.25, 1) for loss in (0, 1e-3)],
        *[(20, 20, 2, 0), (20, 150, 0.5, 1e-4), (200, 100, 0.5, 0)],
        *[(10, 40, 1, 5e-3), (25, 90, 0.75, 2e-3), (40, 30, 0.6, 2e-2)],
        *[(80, 120, 0.3, 0), (120, 25, 1.5, 5e-4)],
    ],
)
def test_what_is_sure_is_so(
    experiment: Experiment, rate: int, rtt: int, buffer: float, loss: float
) -> None:
    path = {"rate": rate, "rtt": rtt, "buffer": buffer, "loss": loss}
    of = seen.path(rounds(experiment, "cubic", "ltcp", "bbr", **path))
    said = "\n".join(" ".join(row) for row in seen.rows(of))
    size = buffer * rate * 1e6 / 8 * rtt / 1e3
    assert abs(of.rate.value / (rate * 1e6) - 1) <= RATE, said
    assert of.rtt.sure and abs(of.rtt.value * 1e3 - rtt) <= 1, said
    if of.buffer.sure:
        assert abs(of.buffer.value / size - 1) <= BUFFER, said
    if of.loss.sure:
        assert of.loss.low <= loss <= of.loss.high, said
        assert loss / LOSS <= of.loss.value <= loss * LOSS, said
    # Of each of them something is sure, or the test says nothing.
    assert of.loss.sure or of.buffer.sure, said
    if not loss:
        assert of.rate.sure and of.buffer.sure, said


def test_a_path_that_nothing_filled(experiment: Experiment) -> None:
    """Cubic and a packet of a hundred lost: what is in the scenario is called a guess."""
    of = seen.path(rounds(experiment, "cubic", "reno", rate=50, rtt=60, buffer=1, loss=1e-2))
    assert not of.rate.sure and of.rate.value < 50e6
    assert not of.buffer.sure and "one BDP" in of.buffer.how
    assert of.loss.sure and of.loss.low <= 1e-2 <= of.loss.high
