# SPDX-License-Identifier: GPL-2.0
"""What the composite of N virtual streams does on the kernel's own TCP, in virtual time."""

from __future__ import annotations

import pytest
from conftest import FAST, SCENARIOS, Experiment, cwnd

from figures import composite


def test_share_is_that_of_n_connections(experiment: Experiment) -> None:
    """Hypothesis 1 on the thesis's network, one seed: N / (N + 16), within 3 points."""
    for one in experiment(SCENARIOS / "composite-share-10m.toml", seeds=[1]):
        found = composite.observe(one)
        assert found["share"] == pytest.approx(found["due"], abs=0.03), one["scenario"]["name"]


def test_throughput_is_smoother_than_reno(experiment: Experiment) -> None:
    """Hypothesis 2: it swings less than the Reno connections beside it."""
    file = SCENARIOS / "composite-share-10m.toml"
    for one in experiment(file, only="*composite_[16]*", seeds=[1]):
        found = composite.observe(one)
        assert found["variation"] < found["variation_beside"], one["scenario"]["name"]


def test_one_stream_is_reno(experiment: Experiment) -> None:
    """N = 1: the windows of the kernel's Reno on the same path, mean and extremes within 5 %."""
    top = "[module.composite]\nstreams = 1\n"
    (ours,) = experiment(text=FAST, cc="composite", link="mtu = 1040", more=top)
    (reno,) = experiment(text=FAST, cc="reno", link="mtu = 1040", out="reno")
    _, a = cwnd(ours)
    _, b = cwnd(reno)
    assert sum(a) / len(a) == pytest.approx(sum(b) / len(b), rel=0.05)
    assert max(a) == pytest.approx(max(b), rel=0.05)
    assert min(a) == pytest.approx(min(b), rel=0.1)


def test_events_are_dealt_to_streams(experiment: Experiment) -> None:
    """Every name has its streams, and each of them gets its events."""
    (one,) = experiment(text=FAST, cc="composite-16", top="trace = true", link="mtu = 1040")
    events = one["flows"][0]["connections"][0]["events"]
    assert events[0]["reason"] == "init" and events[0]["streams"] == 16
    for reason in ("success", "decrease"):
        assert {e["stream"] for e in events if e["reason"] == reason} == set(range(16))
