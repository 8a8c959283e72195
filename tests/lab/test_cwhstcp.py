# SPDX-License-Identifier: GPL-2.0
"""What CW-HSTCP does on the kernel's own TCP, in virtual time: its blocks on the wire."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import SCENARIOS, Experiment

from figures import cwhstcp
from lab import plan, result, scenario
from lab.backends import Uml, fill

RTT = 0.25
BLOCKS = 3  # floor(10 / s * 250 ms) + 1
GAP = RTT / BLOCKS
ON, OFF = 4.5, 1.0  # the flow sends, and is silent
LARGEST = 45  # packets of 1448 bytes in 64 KB

# Everything that the sender's interface begins to send, at the time when it does.
DEPARTURES = """
tracing=/sys/kernel/tracing/instances/departures
mkdir "$tracing" && echo 65536 >"$tracing/buffer_size_kb" && cd "$tracing" || exit 1
echo mono >trace_clock
echo 'name == "eth0" && len > 1400' >events/net/net_dev_start_xmit/filter
echo 1 >events/net/net_dev_start_xmit/enable
cd "$OLDPWD" && ./bin/lfgen traffic >samples 2>&1 || exit 1
cat "$tracing/per_cpu/cpu0/stats" "$tracing/trace" >departures
rmdir "$tracing"
"""


@dataclass
class Wire:
    """A flow as it leaves the sender; times as in samples."""

    departures: list[float]
    window: dict[float, int]  # tenths of seconds -> packets
    received: dict[float, int]  # bytes

    def bursts(self, begin: float, end: float, apart: float) -> list[tuple[float, int]]:
        """(time, packets) of what leaves with less than `apart` between two packets."""
        found: list[list[float]] = []
        for t in self.departures:
            if found and t - found[-1][-1] < apart:
                found[-1].append(t)
            else:
                found.append([t])
        return [(burst[0], len(burst)) for burst in found if begin <= burst[0] < end]

    def most(self, begin: float, end: float, span: float) -> int:
        """The most packets that leave within `span`."""
        times = [t for t in self.departures if begin <= t < end]
        most = last = 0
        for first in range(len(times)):
            while last < len(times) and times[last] < times[first] + span:
                last += 1
            most = max(most, last - first)
        return most

    def used(self, begin: float, trips: int) -> float:
        """The part of its windows that arrived in so many round trips."""
        windows = [self.window[round(begin + i * RTT, 1)] for i in range(trips)]
        arrived = self.received[round(begin + trips * RTT, 1)] - self.received[begin]
        return arrived / 1448 / sum(windows)

    def restart(self) -> float:
        """When it sends again after the silence, which is not that of the handshake."""
        late = self.departures[0] + ON
        return next(b for a, b in pairwise(self.departures) if b > late and b - a > RTT)


def wire(uml: Uml, run: Path, **parts: str) -> Wire:
    """Run cwhstcp-wire.toml with parts of it replaced, and read what left the sender."""
    text = (SCENARIOS / "cwhstcp-wire.toml").read_text()
    for old, new in parts.items():
        assert f"{old} = " in text
        text = re.sub(rf"^{old} = .*$", f"{old} = {new}", text, flags=re.M)
    run.mkdir()
    file = run.with_suffix(".toml")
    file.write_text(text)
    (one,) = scenario.load(file)
    made = plan.make(one, 1, prefix="lf", seeded=True)
    fill(run, made, one, uml, main=DEPARTURES)
    uml.execute(run, one, 1, 0, timeout=240, cancel=threading.Event(), tick=lambda: None)
    flow = result.make(one, 1, "uml", made, run)["flows"][0]["connections"][0]
    traced = (run / "departures").read_text()
    assert re.search(r"^overrun: 0$", traced, re.M), "the buffer for departures overflowed"
    times = [float(t) for t in re.findall(r" (\d+\.\d+): net_dev_start_xmit: dev=eth0 ", traced)]
    sent = Wire(
        times,
        dict(zip(flow["t"], flow["cwnd"], strict=True)),
        dict(zip(flow["t"], flow["received"], strict=True)),
    )
    # It sends again as soon as it has data: the two clocks at one event.
    late = sent.restart() - ON - OFF
    sent.departures = [t - late for t in times]
    return sent


qdiscs = pytest.mark.parametrize("fq", ["true", "false"], ids=["fq", "tcp"])


@qdiscs
def test_blocks_on_the_wire(uml: Uml, tmp_path: Path, fq: str) -> None:
    """A window that may leave at once leaves in k bursts, RTT / k apart, none above a block;
    and at no time does more than a block leave in RTT / k, or more than 64 KB at once."""
    sent = wire(uml, tmp_path / "run", pacing=fq)
    begin = sent.restart()
    for trip in range(5):
        start = begin + trip * RTT - GAP / 4
        bursts = sent.bursts(start, start + RTT + GAP / 2, GAP / 4)
        assert len(bursts) == BLOCKS + 1, bursts
        for (a, packets), (b, _) in pairwise(bursts):
            assert b - a == pytest.approx(GAP, rel=0.1), bursts
            block = -(-sent.window[round(a + 0.1, 1)] // BLOCKS)
            assert packets >= 0.85 * block, bursts
            assert sent.most(a, a + GAP / 2, GAP / 16) <= block, bursts

    # Windows of 80 to 160 packets: blocks below the largest burst, and above.
    assert sent.window[5.5] < 90 and sent.window[9.9] > BLOCKS * LARGEST
    for tenth in range(56, 99):
        t = tenth / 10
        block = -(-sent.window[t] // BLOCKS)
        assert sent.most(t - 0.1 - GAP, t, 0.9 * GAP) <= 1.15 * block, t
        assert sent.most(t - 0.1, t, 1e-6) <= min(block, LARGEST), t
    # Above, it is spread evenly: far more bursts than k, in nine tenths of the RTT.
    late = sent.bursts(9.5, 9.5 + RTT, 1e-3)
    assert len(late) > 4 * BLOCKS
    assert late[-1][0] - late[0][0] > 0.9 * RTT


def test_without_blocks_a_window_leaves_at_once(uml: Uml, tmp_path: Path) -> None:
    """Not so without pacing: the test above says something.  And blocks cost nothing: as much
    of each window arrives."""
    without = wire(uml, tmp_path / "off", pacing="false", cwhstcp='{ pacing = "off" }')
    begin = without.restart()
    assert without.most(begin, begin + RTT, RTT / 10) >= 0.9 * without.window[5.5]
    for fq in ("true", "false"):
        paced = wire(uml, tmp_path / fq, pacing=fq)
        assert paced.used(6.0, 14) >= 0.99 * without.used(6.0, 14), fq


def test_smooth_is_single_packets(uml: Uml, tmp_path: Path) -> None:
    """pacing=smooth: single packets, in nine tenths of the round trip."""
    sent = wire(uml, tmp_path / "run", cwhstcp='{ pacing = "smooth" }')
    begin = sent.restart()
    assert sent.most(begin, begin + 4, 1e-6) == 1
    first = [t for t in sent.departures if begin <= t < begin + RTT]
    assert first[-1] - first[0] > 0.9 * RTT


def test_fair_across_round_trip_times(experiment: Experiment) -> None:
    """80, 140 and 200 ms beside Reno, one seed of the page's five: nearly equal shares behind a
    short queue, equal ones with rtt_exponent=2; HighSpeed TCP's are neither."""
    file = SCENARIOS / "cwhstcp-exponent.toml"
    fair = {
        one["scenario"]["case_name"]: cwhstcp.observe(one)["jain"]
        for one in experiment(file, only="*_80", seeds=[1])
    }
    text = file.read_text().replace('"cwhstcp"', '"ghstcp"').split("[case.windows-60]")[0]
    for old, new in (("60ms", "80ms"), ("110ms", "140ms"), ("190ms", "200ms")):
        text = text.replace(f'"{old}"', f'"{new}"')
    (hstcp,) = experiment(text=text + '[module.ghstcp]\nmode = "hstcp"\n', seeds=[1])
    assert fair["throughput-80"] > 0.97
    assert fair["windows-80"] > 0.93
    assert cwhstcp.observe(hstcp)["jain"] < 0.85
