# SPDX-License-Identifier: GPL-2.0
"""What CW-HSTCP does on the kernel's own TCP, in virtual time: its blocks on the wire."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SCENARIOS, Experiment
from wire import RTT, qdiscs, wire

from longfat.pages.observe import cwhstcp
from longfat.run.backends import Uml

BLOCKS = 3  # floor(10 / s * 250 ms) + 1
GAP = RTT / BLOCKS
LARGEST = 45  # packets of 1448 bytes in 64 KB


@qdiscs
def test_blocks_on_the_wire(uml: Uml, tmp_path: Path, fq: str) -> None:
    """A window that may leave at once, as after a pause, leaves in k blocks, RTT / k from one to
    the next but for the first gap, which the kernel halves.  Then, too, not more than a block
    leaves at once, or two in less than RTT / k; and never more than 64 KB at once."""
    sent = wire(uml, tmp_path / "run", pacing=fq)
    begin = sent.restart()
    bursts = sent.bursts(begin, begin + RTT - GAP / 4, 1e-3)
    window = sent.window[round(begin, 1)]
    assert len(bursts) == BLOCKS, bursts
    assert sum(packets for _, packets in bursts) == window
    for _, packets in bursts:
        assert 0.85 * window / BLOCKS <= packets <= -(-window // BLOCKS), bursts
    for (a, _), (b, _), gap in zip(bursts, bursts[1:], (GAP / 2, GAP), strict=False):
        assert b - a == pytest.approx(gap, rel=0.1), bursts

    # Windows of 80 to 160 packets: blocks below the largest burst, and above.
    assert sent.window[5.5] < 90 and sent.window[9.9] > BLOCKS * LARGEST
    for tenth in range(56, 99):
        t = tenth / 10
        block = -(-sent.window[t] // BLOCKS)
        assert sent.most(t - 0.1 - GAP, t, 0.9 * GAP) <= 2 * block, t
        assert sent.most(t - 0.1, t, 1e-6) <= min(block, LARGEST), t
    # Above, the kernel spreads it: far more bursts than k, in eight tenths of the RTT.
    late = sent.bursts(9.5, 9.5 + RTT, 1e-3)
    assert len(late) > 4 * BLOCKS
    assert late[-1][0] - late[0][0] > 0.8 * RTT


def test_without_blocks_a_window_leaves_at_once(uml: Uml, tmp_path: Path) -> None:
    """Not so without pacing: the test above says something.  And blocks cost nothing: as much
    of each window arrives, but for a block that is to leave yet."""
    off = '{ pacing = "off", slow_start = "classic", rtt_exponent = 1 }'
    without = wire(uml, tmp_path / "off", pacing="false", cwhstcp=off)
    begin = without.restart()
    assert without.most(begin, begin + RTT, RTT / 10) >= 0.9 * without.window[5.5]
    for fq in ("true", "false"):
        paced = wire(uml, tmp_path / fq, pacing=fq)
        assert paced.used(6.0, 14) + 1 / BLOCKS / 14 >= 0.99 * without.used(6.0, 14), fq


def test_smooth_is_single_packets(uml: Uml, tmp_path: Path) -> None:
    """pacing=smooth: single packets, in eight tenths of the round trip: the kernel's rate."""
    smooth = '{ pacing = "smooth", slow_start = "classic", rtt_exponent = 1 }'
    sent = wire(uml, tmp_path / "run", cwhstcp=smooth)
    begin = sent.restart()
    assert sent.most(begin, begin + 4, 1e-6) == 1
    first = [t for t in sent.departures if begin <= t < begin + RTT]
    assert first[-1] - first[0] > 0.8 * RTT


def test_fair_across_round_trip_times(experiment: Experiment) -> None:
    """80, 140 and 200 ms beside Reno, one seed of the page's five: equal shares by default, nearly
    equal ones by the paper's law behind a short queue; HighSpeed TCP's are neither."""
    file = SCENARIOS / "cwhstcp-exponent.toml"
    fair = {
        one["scenario"]["case_name"]: cwhstcp.observe(one)["jain"]
        for one in experiment(file, only="*_80", seeds=[1])
    }
    text = file.read_text().replace("cwhstcp", "ghstcp").split("[case.windows-60]")[0]
    text = text.replace("rtt_exponent = 1\n", "")
    for old, new in (("60ms", "80ms"), ("110ms", "140ms"), ("190ms", "200ms")):
        text = text.replace(f'"{old}"', f'"{new}"')
    (hstcp,) = experiment(text=text + 'mode = "hstcp"\n', seeds=[1])
    assert fair["throughput-80"] > 0.97
    assert fair["windows-80"] > 0.93
    assert cwhstcp.observe(hstcp)["jain"] < 0.85
