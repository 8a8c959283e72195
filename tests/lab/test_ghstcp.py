# SPDX-License-Identifier: GPL-2.0
"""What gHSTCP, and the HighSpeed TCP in it, do on the kernel's own TCP, in virtual time."""

from __future__ import annotations

import pytest
from conftest import SCENARIOS, Experiment, cwnd, decreases

from longfat.pages.data import losses_per_overflow
from longfat.pages.observe import ghstcp
from longfat.run.result import Json


def by_name(results: list[Json]) -> dict[str, Json]:
    return {one["scenario"]["name"]: one for one in results}


def check_refined(one: Json) -> ghstcp.Modes:
    """The observables of Fig. 6."""
    found = ghstcp.modes(one)
    name = one["scenario"]["name"]
    if found.below_s:
        assert found.hstcp_below is not None and found.hstcp_below >= 0.95, name
    assert found.reno_above is not None and found.reno_above >= 0.95, name
    assert found.switches_max < 10, name
    return found


def test_fig4_and_fig6(experiment: Experiment) -> None:
    """The original rule oscillates about the BDP, the refined one does not; with RTT jitter too."""
    results = by_name(experiment(SCENARIOS / "ghstcp-fig6.toml", seeds=[1]))
    for jitter in ("0ms", "0.2ms"):
        refined = check_refined(results[f"ghstcp-fig6-refined-{jitter}"])
        assert refined.below_s > 10 and refined.above_s > 40 and refined.epochs > 5
        trend = ghstcp.modes(results[f"ghstcp-fig6-trend-{jitter}"])
        assert trend.switches_mean >= 5 * refined.switches_mean
        # What the oscillation costs, section 3.1.
        assert trend.reno_above is not None and trend.reno_above < 0.6


def test_modes_without_sack(experiment: Experiment) -> None:
    """RACK has no RTT then, and the knee is seen all the same."""
    text = (SCENARIOS / "ghstcp-fig6.toml").read_text().split("[vary]")[0]
    (one,) = experiment(text=text.replace("[host]", "[host]\nsack = false"), seeds=[1])
    found = check_refined(one)
    assert found.below_s > 10 and found.above_s > 40


@pytest.mark.parametrize(
    ("path", "buffer"),
    [
        ("1g", "0.2"),
        pytest.param("1g", "1", marks=pytest.mark.long),
        pytest.param("10g", "0.2", marks=pytest.mark.long),
    ],
)
def test_modes_on_faster_paths(experiment: Experiment, path: str, buffer: str) -> None:
    """The same at 1 Gbit/s, both buffers, and at 10 Gbit/s with the smaller one, with jitter;
    all of them are in docs/results."""
    file = SCENARIOS / f"ghstcp-{path}.toml"
    (one,) = experiment(file, only=f"*-{buffer}bdp-refined-0.2ms", seeds=[1])
    found = check_refined(one)
    assert found.above_s > 10
    # Where a loss takes the window below the BDP.
    if (path, buffer) == ("1g", "0.2"):
        assert found.below_s > 1


@pytest.mark.long
def test_hstcp_mode_up_to_the_knee_at_10_gigabit(experiment: Experiment) -> None:
    """The window's own bursts are no knee: below the BDP it stays in HSTCP mode."""
    text = (SCENARIOS / "ghstcp-fill-10g.toml").read_text().split("[case")[0]
    (one,) = experiment(text=text.replace("45s", "24s"))
    found = ghstcp.modes(one)
    assert found.below_s > 5 and found.hstcp_below is not None
    assert found.hstcp_below >= 0.95
    assert found.switches_max < 10


def test_fills_as_fast_and_loses_less(experiment: Experiment) -> None:
    """From the same window to the BDP in the time of forced HSTCP; at the end of the buffer
    a fraction of its losses."""
    results = by_name(experiment(SCENARIOS / "ghstcp-fill-1g.toml"))
    gentle, forced = results["ghstcp-fill-1g-ghstcp"], results["ghstcp-fill-1g-hstcp"]
    assert ghstcp.fill_seconds(gentle) == pytest.approx(ghstcp.fill_seconds(forced), rel=0.05)
    times, lost = losses_per_overflow(gentle)
    often, many = losses_per_overflow(forced)
    assert times >= 1 and often >= 10
    assert lost <= 0.5 * many


def test_growth_is_the_formula_behind_gro(experiment: Experiment) -> None:
    """a(W) whatever acknowledgments are merged; the kernel's own highspeed falls behind."""
    results = by_name(experiment(SCENARIOS / "ghstcp-gro.toml"))
    rate = {name: ghstcp.growth(one) for name, one in results.items()}
    for gro in ("0s", "1ms"):
        assert rate[f"ghstcp-gro-hstcp-{gro}"] == pytest.approx(1, abs=0.03)
    # One packet in two is acknowledged, and it adds a(W) for each acknowledgment only.
    assert rate["ghstcp-gro-highspeed-0s"] < 0.6
    assert rate["ghstcp-gro-highspeed-1ms"] < 0.25


def test_forced_reno_is_reno(experiment: Experiment) -> None:
    """mode=reno grows by one packet per round trip, and never switches."""
    text = SCENARIOS.joinpath("ghstcp-fig6.toml").read_text().split("[vary]")[0]
    (one,) = experiment(text=text + 'mode = "reno"', seeds=[1])
    t, window = cwnd(one)
    falls = decreases(window)
    begin, end = falls[0] + 30, falls[1] - 10
    offset = len(one["flows"][0]["connections"][0]["t"]) - len(window)
    rtt = one["flows"][0]["connections"][0]["rtt_us"]
    rounds = sum(one["scenario"]["sample"] * 1e6 / rtt[offset + i] for i in range(begin, end))
    assert (window[end] - window[begin]) / rounds == pytest.approx(1, abs=0.03)
    reasons = {event["reason"] for event in one["flows"][0]["connections"][0]["events"]}
    assert reasons <= {"init", "decrease", "undo"}


def test_fairness_to_reno(experiment: Experiment) -> None:
    """Fig. 7 with 512 KB, one seed: utilisation above Reno's, the fairest of the fast ones."""
    results = by_name(experiment(SCENARIOS / "ghstcp-fig7.toml", only="*-512KiB", seeds=[1]))
    cases = ("reno", "ghstcp", "hstcp", "parallel")
    runs = {case: results[f"ghstcp-fig7-{case}-512KiB"] for case in cases}
    used = {case: one["summary"]["utilisation"] for case, one in runs.items()}
    fair = {case: ghstcp.fairness(one) for case, one in runs.items()}
    assert used["parallel"] >= used["ghstcp"] > used["reno"]
    assert fair["ghstcp"] > fair["hstcp"] > fair["parallel"]
    assert used["ghstcp"] > used["hstcp"] - 0.01
