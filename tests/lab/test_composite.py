# SPDX-License-Identifier: GPL-2.0
"""What the composite of N virtual streams does on the kernel's own TCP, in virtual time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import mean, pstdev

import pytest
from conftest import FAST, SCENARIOS, Experiment, cwnd, ends
from wire import RTT, qdiscs, wire

from longfat.pages.observe import composite
from longfat.run.backends import Uml


def test_share_of_n_connections_and_smoother_than_one(experiment: Experiment) -> None:
    """Both hypotheses on the thesis's network, one seed: a share of N / (N + 16), within 3 points;
    it swings at most half as much as the Reno connections beside it do."""
    for one in experiment(SCENARIOS / "composite-share-10m.toml", only="*-reno-*", seeds=[1]):
        found = composite.observe(one)
        assert found["share"] == pytest.approx(found["due"], abs=0.03), one["scenario"]["name"]
        assert found["variation"] <= 0.5 * found["variation_beside"], one["scenario"]["name"]


def test_no_flood_after_recovery(experiment: Experiment) -> None:
    """Figs. 7 to 12: no peak of throughput, no step in the sequence of what is acknowledged, as far
    as samples can tell."""
    (one,) = experiment(SCENARIOS / "composite-flood.toml", only="*composite_32", seeds=[1])
    found = composite.observe(one)
    sample = one["scenario"]["sample"] / (one["flows"][0]["rtt_ms"]["mean"] / 1e3)
    assert found["peak"] <= 1.5 and found["step"] - sample <= 2


def test_one_stream_is_reno(experiment: Experiment) -> None:
    """N = 1: the windows of the kernel's Reno on the same path: mean, largest and least."""
    top = "[module.composite]\nstreams = 1\n"
    (ours,) = experiment(text=FAST, cc="composite", link="mtu = 1040", more=top)
    (reno,) = experiment(text=FAST, cc="reno", link="mtu = 1040", out="reno")
    _, a = cwnd(ours)
    _, b = cwnd(reno)
    assert sum(a) / len(a) == pytest.approx(sum(b) / len(b), rel=0.05)
    assert max(a) == pytest.approx(max(b), rel=0.05)
    assert min(a) == pytest.approx(min(b), rel=0.1)


MARKED = """
title = "test"
duration = "40s"
warmup = "10s"
[link]
rate = "20mbit"
buffer = "0.25bdp"
aqm = "red"
ecn = true
[[flow]]
cc = "composite"
rtt = "60ms"
[[flow]]
cc = "reno"
rtt = "60ms"
parallel = {n}
[module.composite]
streams = {n}
"""


@pytest.mark.parametrize(("n", "least", "most"), [("1", 0.45, 0.55), ("8", 0.35, 0.5)])
def test_marks_beside_n_connections(
    experiment: Experiment, n: str, least: float, most: float
) -> None:
    """One stream has what Reno has.  Eight have no more than eight connections, and less: a mark is
    each stream's, and not each connection's."""
    (one,) = experiment(text=MARKED, n=n)
    ours, beside = one["flows"]
    assert ours["ce_marks"] > 0 and one["summary"]["loss"] < 0.002
    assert least <= ours["goodput_bps"] / (ours["goodput_bps"] + beside["goodput_bps"]) <= most


def test_events_are_dealt_to_streams(experiment: Experiment) -> None:
    """Every name has its streams, and each of them gets its events."""
    (one,) = experiment(text=FAST, cc="composite-16", top="trace = true", link="mtu = 1040")
    events = one["flows"][0]["connections"][0]["events"]
    assert events[0]["reason"] == "init" and events[0]["streams"] == 16
    for reason in ("success", "decrease"):
        assert {e["stream"] for e in events if e["reason"] == reason} == set(range(16))


@pytest.mark.parametrize(("rtt", "streams"), [("20ms", 3), ("120ms", 15), ("600ms", 64)])
def test_streams_from_the_path(experiment: Experiment, rtt: str, streams: int) -> None:
    """streams=0: a stream for each 8 ms of the RTT that the handshake saw, rounded."""
    (one,) = experiment(
        text=FAST.replace("60ms", rtt).replace("40s", "12s"),
        cc="composite",
        top="trace = true",
        flow='count = 2\njitter = "8s"\nbytes = "10kB"',
        more="[module.composite]\nstreams = 0\n",
    )
    starts = [flow["connections"][0]["events"][0] for flow in one["flows"]]
    assert {start["reason"] for start in starts} == {"init"}
    # The first one's SYN also waits for the address of the router, which is as far away.
    last = max(starts, key=lambda start: start["t"])
    assert last["streams"] == streams


@qdiscs
@pytest.mark.parametrize(("pacing", "rate"), [(50, 1.17), (200, 1.7)], ids=["default", "200"])
def test_gaps_are_of_n_senders(uml: Uml, tmp_path: Path, fq: str, pacing: int, rate: float) -> None:
    """A window that may leave at once leaves in bursts with random gaps between them, `rate`
    windows a round trip on average.  At 1.7 all of it leaves within one, at 1.17 nearly all: the
    sum of some 100 gaps has a deviation of 8 %.  fq gets several bursts with one gap, more of them
    with a short one, and so up to twice that rate.  Each packet was acknowledged before, as after a
    pause, so a burst is of one packet or of two."""
    settings = f'{{ slow_start = "classic", pacing = {pacing} }}'
    sent = wire(uml, tmp_path / "run", pacing=fq, cc='"composite-8"', composite=settings)
    begin = sent.restart()
    window = sent.window[round(begin, 1)]
    bursts = sent.bursts(begin, begin + RTT, 1e-6)
    (burst,) = {packets for _, packets in bursts[:-1]}
    assert burst in (1, 2)
    left = sum(packets for _, packets in bursts)
    assert left == pytest.approx(window, rel=0.01 if pacing == 200 else 0.1)
    gaps = [b - a for (a, _), (b, _) in pairwise(bursts)]
    even = burst * RTT / (rate * window)
    if fq == "true":
        assert 0.45 * even <= mean(gaps) <= 1.16 * even
    else:
        # 100 gaps of a coefficient of variation of 0.75 leave their mean 8 % of its own.
        assert mean(gaps) == pytest.approx(even, rel=0.16)
        assert pstdev(gaps) / mean(gaps) == pytest.approx(0.75, abs=0.16)
    assert max(gaps) < 3.5 * even


LOSSY = """
title = "room for more than is asked for"
duration = "1s"
[link]
rate = "100mbit"
buffer = "0.5bdp"
loss = 1e-3
[[flow]]
cc = "composite-64"
rtt = "60ms"
"""


def test_a_pacing_rate_is_reached(uml: Uml, tmp_path: Path) -> None:
    """As 64 connections would, it has the whole of SO_MAX_PACING_RATE, where gaps of random length
    could be cut by that and not made up for."""
    asks = "ask composite-64 SO_MAX_PACING_RATE 10000000 150000000"
    got = ends(uml, tmp_path, LOSSY, "rated.py", "take 150000000", asks)
    assert got == pytest.approx(10e6, rel=0.02)
