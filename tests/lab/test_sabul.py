# SPDX-License-Identifier: GPL-2.0
"""What SABUL does on the kernel's own TCP, in virtual time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from conftest import Experiment, ends

from longfat.run.backends import Uml
from longfat.run.result import Json

PATHS = """
title = "test"
duration = "30s"
warmup = "10s"
trace = true
[link]
rate = "200mbit"
buffer = "0.5bdp"
[[flow]]
cc = "sabul"
rtt = "100ms"
[vary]
"flow.0.rtt" = ["5ms", "100ms"]
{more}
"""

PAPER = "[module.sabul]\ncap = false\nonce = false\nprobe = 0"

PAIR = """
title = "test"
duration = "60s"
warmup = "30s"
[link]
rate = "400mbit"
buffer = "0.5bdp"
[[flow]]
cc = "sabul"
rtt = "20ms"
[[flow]]
cc = "sabul"
rtt = "80ms"
start = "5s"
[vary]
"flow.1.start" = ["4s", "4.5s", "5s", "5.5s", "6s"]
"""

CROWD = """
title = "test"
duration = "60s"
warmup = "20s"
[link]
rate = "20mbit"
buffer = "0.5bdp"
[[flow]]
cc = "sabul"
rtt = "20ms"
count = 4
jitter = "5s"
{more}
"""

START = """
title = "test"
duration = "5s"
trace = true
[link]
rate = "50mbit"
buffer = "0.33bdp"
[[flow]]
cc = "sabul"
rtt = "100ms"
[module.sabul]
slow_start = "{way}"
"""

FLOOD = """
title = "test"
duration = "30s"
trace = true
[link]
rate = "10mbit"
buffer = "1bdp"
[[flow]]
cc = "sabul"
rtt = "50ms"
[[udp]]
rtt = "50ms"
rate = "4gbit"
size = 1472
start = "10s"
duration = "1s"
"""


def events(one: Json) -> list[Json]:
    """Those of the only connection, measured time."""
    found: list[Json] = one["flows"][0]["connections"][0]["events"]
    return [event for event in found if event["t"] >= one["scenario"]["warmup"]]


def answers(one: Json) -> list[float]:
    """When delta grew at the end of an interval, seconds."""
    return [event["t"] for event in events(one) if event["reason"] in ("decrease", "equal")]


def test_whatever_the_rtt(experiment: Experiment) -> None:
    """Utilisation by RTT: at least 92 %, at most 4 points apart; by the paper's law it is not."""
    ours = [one["summary"]["utilisation"] for one in experiment(text=PATHS)]
    assert min(ours) >= 0.92 and max(ours) - min(ours) <= 0.04
    short, long = (one["summary"]["utilisation"] for one in experiment(text=PATHS, more=PAPER))
    assert short - long > 0.04


def test_an_overflow_is_answered_once(experiment: Experiment) -> None:
    """Not sooner than ten T after the last answer, and a round trip; the paper's law does in each
    T."""
    for one in experiment(text=PATHS.replace('"100ms"]', '"250ms"]')):
        apart = [b - a for a, b in pairwise(answers(one))]
        assert apart and min(apart) >= max(0.2, one["flows"][0]["base_rtt_ms"] / 1e3)
    *_, one = experiment(text=PATHS, more=PAPER)
    apart = [b - a for a, b in pairwise(answers(one))]
    assert sum(gap < 0.1 for gap in apart) >= len(apart) / 2


def test_intervals_of_real_time(experiment: Experiment) -> None:
    """An event for each T, 50 in a second, at 5 ms as at 100 ms."""
    for one in experiment(text=PATHS):
        ends = [e for e in events(one) if e["reason"] != "fast"]
        assert 49 <= len(ends) / 20 <= 51, one["scenario"]["name"]


def test_two_flows_become_equal(experiment: Experiment) -> None:
    """20 ms, and 80 ms 5 s later: Jain's index of the second half, and less than 1 % lost.  By when
    the second begins one of five may be at 0.96 or 0.97."""
    found = [one["summary"] for one in experiment(text=PAIR)]
    assert median(one["jain"] for one in found) >= 0.98
    assert min(one["jain"] for one in found) >= 0.95
    assert max(one["loss"] for one in found) < 0.01


def test_slow_flows_answer_more_strongly(experiment: Experiment) -> None:
    """Four at 20 Mbit/s: what c takes there is no answer; the paper's law loses more than twice
    as much."""
    (ours,) = experiment(text=CROWD)
    assert ours["summary"]["loss"] < 0.02
    (paper,) = experiment(text=CROWD, more=PAPER)
    assert paper["summary"]["loss"] > 2 * ours["summary"]["loss"]


@pytest.mark.parametrize("way", ["train", "classic"])
def test_slow_start_ends_before_a_loss(experiment: Experiment, way: str) -> None:
    """By default, and with the kernel's slow start at one that takes a tenth of the BDP or more."""
    (one,) = experiment(text=START.format(way=way))
    rate = next(
        e["t"] for e in one["flows"][0]["connections"][0]["events"] if e["reason"] == "rate"
    )
    queue = one["queue"]
    lost = max(n for t, n in zip(queue["t"], queue["dropped"], strict=True) if t <= rate + 0.2)
    if way == "train":
        assert lost == 0
    else:
        assert lost > 40


def test_a_timeout_is_a_full_back_off(experiment: Experiment) -> None:
    """A flood of UDP for a second: one packet, slow start up to half of the window of before
    (the ceiling is twice that and ten packets), and then the link's rate again."""
    (one,) = experiment(text=FLOOD)
    found: list[Json] = one["flows"][0]["connections"][0]["events"]
    before = [event for event in found if event["t"] < 10]
    timeouts = [i for i, event in enumerate(found) if event["reason"] == "timeout"]
    assert timeouts and all(found[i]["cwnd"] == 1 for i in timeouts)
    back = next(event for event in found[timeouts[-1] :] if event["reason"] == "rate")
    assert back["cwnd"] - 10 <= (max(event["cwnd"] for event in before) - 10) / 2 + 1
    after = [event["rate"] for event in found if event["t"] > 15]
    assert max(after) >= 0.9 * one["scenario"]["link"]["rate"] / 8


# Of which `ends` takes the path and the module.
ENDS = """
title = "ends"
duration = "1s"
[link]
rate = "100mbit"
buffer = "{buffer}"
[[flow]]
cc = "sabul"
rtt = "{rtt}"
"""


def test_a_trickle_does_not_cost_the_rate(uml: Uml, tmp_path: Path) -> None:
    """Three seconds of next to nothing, and the rate is back within a few round trips: 10 MB take
    0.8 s at the link's rate, and four with growth by 1 % in 20 ms."""
    text = ENDS.format(buffer="0.5bdp", rtt="20ms")
    assert ends(uml, tmp_path, text, "trickle.py", "receive", "send sabul") <= 1.1


def test_fq_is_taken_away(uml: Uml, tmp_path: Path) -> None:
    """Nobody tells the connection.  Packets leave before their time then, and have false round
    trips: by these it sent 69 % of its packets again, at the speed of the card."""
    text = ENDS.format(buffer="400p", rtt="50ms")
    assert ends(uml, tmp_path, text, "bare.py", "receive", "send sabul") <= 0.05
