# SPDX-License-Identifier: GPL-2.0
"""What LTCP does on the kernel's own TCP, in exact virtual time."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
from conftest import FAST, PUBLISHED, SCENARIOS, Experiment, cwnd, decreases


@pytest.mark.parametrize(
    ("file", "rows"), [("ltcp-fig7", 3), pytest.param("ltcp-fig7-1g", 1, marks=pytest.mark.long)]
)
def test_fig7_goodput_and_loss(experiment: Experiment, file: str, rows: int) -> None:
    """Full goodput, and the loss rate within 15 % of the paper's, on every row."""
    published = tomllib.loads((PUBLISHED / "ltcp.toml").read_text())["fig7"]["ltcp"]
    results = experiment(SCENARIOS / f"{file}.toml")
    assert len(results) == rows
    for one in results:
        rate = one["scenario"]["link"]["rate"]
        name = "1gbit" if rate == 10**9 else f"{rate // 10**6}mbit"
        summary = one["summary"]
        assert summary["utilisation"] >= 0.999, name
        ours, paper = summary["loss"] * 100, published[name]["loss"]
        assert abs(ours / paper - 1) <= 0.15, f"{name}: {ours:.3g} %, paper {paper:.3g} %"


def test_reno_sawtooth(experiment: Experiment) -> None:
    """Reno on the same path: one packet per round trip up, half of the window down."""
    (one,) = experiment(SCENARIOS / "ltcp-fig6.toml", only="*-reno")
    assert one["flows"][0]["cc"] == "reno"
    _, window = cwnd(one)
    peaks = [i - 1 for i in decreases(window)]
    assert len(peaks) >= 3
    for peak in peaks:
        high, low = max(window[peak - 5 : peak + 1]), min(window[peak : peak + 20])
        assert 0.49 <= low / high <= 0.51
    # Between two decreases: windows per RTT, the RTT taken from the samples.
    connection = one["flows"][0]["connections"][0]
    begin, end = peaks[0] + 30, peaks[1] - 5
    offset = len(connection["t"]) - len(window)
    rounds = sum(
        one["scenario"]["sample"] * 1e6 / connection["rtt_us"][offset + i]
        for i in range(begin, end)
    )
    assert (window[end] - window[begin]) / rounds == pytest.approx(1, abs=0.02)


def test_ltcp_takes_less_off_and_comes_back_faster(experiment: Experiment) -> None:
    """Above W_T: down by 15 %, up by K_R K packets per round trip (Fig. 2, section 3.4)."""
    (one,) = experiment(
        text=SCENARIOS.joinpath("ltcp-fig7.toml").read_text().split("[vary]")[0],
    )
    _, window = cwnd(one)
    falls = decreases(window)
    assert len(falls) >= 10
    for i in falls:
        before, after = max(window[i - 3 : i]), min(window[i : i + 8])
        assert after / before == pytest.approx(0.85, abs=0.01)
    connection = one["flows"][0]["connections"][0]
    offset = len(connection["t"]) - len(window)
    begin, end = falls[0] + 8, falls[1] - 4
    rounds = sum(
        one["scenario"]["sample"] * 1e6 / connection["rtt_us"][offset + i]
        for i in range(begin, end)
    )
    # 1640 to 1925 packets: layer 5 up to 1750, layer 6 above; K_R = 2.466 at 120 ms.
    crossing = next(i for i in range(begin, end) if window[i] >= 1750)
    share = (crossing - begin) / (end - begin)
    expected = 2.466 * (5 * share + 6 * (1 - share))
    assert (window[end] - window[begin]) / rounds == pytest.approx(expected, rel=0.03)


def test_module_parameters_reach_the_module(experiment: Experiment) -> None:
    """beta = 500 halves where the default takes 15 % off."""
    more = "[module.ltcp]\nbeta = 500\none_layer = false"
    (one,) = experiment(link="mtu = 1040", text=FAST, more=more)
    _, window = cwnd(one)
    falls = [i for i in decreases(window) if i + 5 < len(window)]
    assert falls
    for i in falls:
        assert min(window[i : i + 5]) / max(window[i - 3 : i]) == pytest.approx(0.5, abs=0.03)


def test_stretch_acks_do_not_slow_it_down(experiment: Experiment) -> None:
    """Offloads off or on at the sender, the growth between losses is the same."""
    growth = []
    for offload in ("true", "false"):
        (one,) = experiment(
            text=FAST, link="mtu = 1040", more=f"[host]\noffload = {offload}", out=offload
        )
        t, window = cwnd(one)
        falls = decreases(window)
        begin, end = falls[0] + 2, falls[1] - 1
        growth.append((window[end] - window[begin]) / (t[end] - t[begin]))
    assert growth[0] == pytest.approx(growth[1], rel=0.05)


def test_trace_event(experiment: Experiment) -> None:
    """longfat:ltcp tells of decreases and layers, with the layer that the window says."""
    # Windows of 480 to 560 packets: layer 4 begins at 500.
    # A queue lengthens all round trips of the first seconds, so the least one comes later.
    queue = '[[udp]]\nrtt = "1ms"\nrate = "75mbit"\nduration = "5s"'
    text = "trace = true\n" + FAST.replace("50mbit", "73mbit")
    (one,) = experiment(text=text, flow='start = "1s"', more=queue)
    events = one["flows"][0]["connections"][0]["events"]
    assert {event["name"] for event in events} == {"ltcp"}
    assert {"init", "rtt", "layer", "decrease"} <= {event["reason"] for event in events}
    for event in events:
        window, layer = event["cwnd"], event["layer"]

        def start(k: int) -> int:
            return 50 * k * (k + 1) * (k - 1) // 6 if k > 1 else 0

        assert start(layer) <= window < start(layer + 1), event
        if event["reason"] == "decrease":
            assert event["ssthresh"] >= 2


def test_real_iperf3() -> None:
    """iperf3 -C ltcp over the emulated path says that it used ltcp, and moves data."""
    import json

    output = subprocess.run(
        [
            sys.executable,
            "-m",
            "longfat",
            "iperf3",
            str(SCENARIOS / "demo.toml"),
            "-t",
            "2",
            "--json",
        ],
        capture_output=True,
        text=True,
        cwd=SCENARIOS.parents[1],
        timeout=300,
    )
    assert output.returncode == 0, output.stderr
    report = json.loads(output.stdout)["end"]
    assert report["sender_tcp_congestion"] == "ltcp"
    assert report["sum_received"]["bytes"] > 10e6
