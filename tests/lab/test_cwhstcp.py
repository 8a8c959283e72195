# SPDX-License-Identifier: GPL-2.0
"""What CW-HSTCP does on the kernel's own TCP, in virtual time: its blocks on the wire."""

from __future__ import annotations

from itertools import pairwise
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
    off = '{ pacing = "off", slow_start = "classic" }'
    without = wire(uml, tmp_path / "off", pacing="false", cwhstcp=off)
    begin = without.restart()
    assert without.most(begin, begin + RTT, RTT / 10) >= 0.9 * without.window[5.5]
    for fq in ("true", "false"):
        paced = wire(uml, tmp_path / fq, pacing=fq)
        assert paced.used(6.0, 14) >= 0.99 * without.used(6.0, 14), fq


def test_smooth_is_single_packets(uml: Uml, tmp_path: Path) -> None:
    """pacing=smooth: single packets, in nine tenths of the round trip."""
    smooth = '{ pacing = "smooth", slow_start = "classic" }'
    sent = wire(uml, tmp_path / "run", cwhstcp=smooth)
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
    text = file.read_text().replace("cwhstcp", "ghstcp").split("[case.windows-60]")[0]
    for old, new in (("60ms", "80ms"), ("110ms", "140ms"), ("190ms", "200ms")):
        text = text.replace(f'"{old}"', f'"{new}"')
    (hstcp,) = experiment(text=text + 'mode = "hstcp"\n', seeds=[1])
    assert fair["throughput-80"] > 0.97
    assert fair["windows-80"] > 0.93
    assert cwhstcp.observe(hstcp)["jain"] < 0.85
