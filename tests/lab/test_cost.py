# SPDX-License-Identifier: GPL-2.0
"""What an ACK costs is measured for every congestion control that there is."""

from __future__ import annotations

from statistics import median

from lab import cost, modules


def test_every_algorithm_is_measured() -> None:
    """Ours, the kernel's, and all kinds of ACKs; who has entry points takes time."""
    batches, _ = cost.in_time(rounds=5)
    found = {one.cc for one in batches}
    assert found == modules.algorithms() | {cost.LOOP, cost.CORE}
    kinds = {one.kind for one in batches}
    assert {phase for phase, _, _ in kinds} == set(cost.PHASES)
    assert {window for _, window, _ in kinds} == {10**n for n in range(1, 7)}
    assert {acked for _, _, acked in kinds} == {1, 2, 8, 64}
    assert all(acked <= window for _, window, acked in kinds)
    assert len(batches) == len(found) * len(kinds)
    assert all(0 < one.low <= one.median <= one.high for one in batches)
    # One kind of ACK may be lost in the noise of a busy machine, half of them are not.
    for cc, cells in cost.per_ack(batches).items():
        growing = [
            middle
            for kind, (_, middle, _) in cells.items()
            if kind.split()[0] in ("slow_start", "avoidance")
        ]
        assert median(growing) > 0, cc
