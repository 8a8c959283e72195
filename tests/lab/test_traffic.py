# SPDX-License-Identifier: GPL-2.0
"""Objects of a size, against arithmetic: on a path that has nothing else on it."""

from __future__ import annotations

import pytest
from conftest import Experiment

from longfat.run.result import Json

PATH = """
title = "test"
duration = "20s"
[link]
rate = "20mbit"
buffer = "2bdp"
"""
RTT = 0.04


def run(experiment: Experiment, text: str) -> Json:
    (one,) = experiment(text=PATH + text)
    return one


def test_what_is_asked_for_takes_a_round_trip_and_its_bits(experiment: Experiment) -> None:
    """1000 bytes and 52 of headers at 20 Mbit/s, one after the other, without a pause."""
    one = run(
        experiment,
        """
        [[request]]
        rtt = "40ms"
        size = "pareto"
        min_size = "1000B"
        max_size = "1001B"
        shape = 1.0
        """,
    )
    assert one["summary"]["dropped"] == 0
    (found,) = one["request"]
    each = RTT + 1052 * 8 / 20e6
    assert found["completion_s"]["p50"] == pytest.approx(each, rel=1e-4)
    # The first is asked for after the handshake; a connection's first ACKs are not late.
    assert found["completed"] == pytest.approx((20 - RTT) / each, abs=2)
    assert found["by_size"][0]["efficiency"] == pytest.approx((RTT + 8e3 / 20e6) / each, rel=1e-4)
    assert sum(found["completions"]["bytes"]) * 8 / 20 == pytest.approx(
        found["goodput_bps"], rel=1e-5
    )


def test_who_thinks_asks_less_often(experiment: Experiment) -> None:
    one = run(
        experiment,
        '[[request]]\nrtt = "40ms"\ncount = 50\nmean_size = "5kB"\nthink = "1s"',
    )
    (found,) = one["request"]
    each = 1 + found["completion_s"]["mean"]
    # Of 950 that are independent one deviation is 31.
    assert found["completed"] == pytest.approx(50 * (20 - 2 * RTT) / each, abs=93)
    assert found["by_size"][0]["largest"] == 10_000


def test_video_sends_chunks_and_no_more(experiment: Experiment) -> None:
    """8 Mbit/s in chunks of a second: each needs 0.4 s of the link, the first slow start, too."""
    one = run(experiment, '[[video]]\nrtt = "40ms"\nrate = "8mbit"\nchunk = "1s"\ncc = "reno"')
    (found,) = one["video"]
    seconds, sizes = found["completions"]["seconds"], set(found["completions"]["bytes"])
    assert found["completed"] == 20 and sizes == {1_000_000} and found["late"] == 0
    assert found["goodput_bps"] == 8_000_000
    # What the link needs for its packets; data are not delayed, their acknowledgments are.
    least = 8e6 / 20e6 * 1500 / 1448
    assert least < min(seconds) < 1.01 * least
    # Slow start loses some of the first, which is the slowest.
    assert max(seconds[1:]) < seconds[0] < 1.5 * least


def test_a_list_of_arrivals_arrives(experiment: Experiment) -> None:
    """Each in its own connection: a handshake, and what slow start takes for ten packets."""
    one = run(
        experiment,
        """
        [[short]]
        rtt = "40ms"
        arrivals = ["1s", "3s", "5.5s"]
        size = "empirical"
        sizes = [["100B", 0.5], ["14kB", 1.0]]
        start = "2s"
        """,
    )
    (found,) = one["short"]
    done = found["completions"]
    began = [t - s for t, s in zip(done["t"], done["seconds"], strict=True)]
    assert began == pytest.approx([3, 5, 7.5], abs=4e-6)
    for seconds, size in zip(done["seconds"], done["bytes"], strict=True):
        # The handshake, then the first window at once: its bits, and no more of a round trip.
        assert RTT + size * 8 / 20e6 < seconds < RTT + (size + 1100) * 8 / 20e6
    assert one["flows"] == [] and one["summary"]["jain"] is None


def test_kinds_of_traffic_beside_each_other(experiment: Experiment) -> None:
    """A thousand kept connections, short flows and a bulk flow: all get on, and it repeats."""
    text = (
        PATH.replace('"20s"', '"5s"').replace("20mbit", "100mbit")
        + """
        [[flow]]
        cc = "ltcp"
        rtt = "40ms"
        [[request]]
        rtt = "40ms"
        count = 1000
        mean_size = "2kB"
        think = "2s"
        [[short]]
        rtt = "20ms"
        per_second = 20
        size = "lognormal"
        mean_size = "20kB"
        sigma = 1.5
        """
    )
    first, second = (experiment(text=text)[0] for _ in range(2))
    assert first == second
    assert first["request"][0]["completed"] > 1000 and first["short"][0]["completed"] > 60
    assert first["flows"][0]["goodput_bps"] > 20e6
