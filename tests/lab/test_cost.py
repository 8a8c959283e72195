# SPDX-License-Identifier: GPL-2.0
"""What an ACK, and carrying data, costs is measured for every congestion control that there is."""

from __future__ import annotations

from statistics import median

import pytest
from conftest import SCENARIOS

from longfat.build import modules
from longfat.measure import cost, stack
from longfat.run import scenario

# They do what the core does for others.
CONTROL = {"bbr"} | {
    "composite-1" if cc == "composite" else cc
    for cc, module in modules.owners().items()
    if ".cong_control" in modules.sources()[module].read_text()
}


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
    assert {one.called for one in batches if one.control} == CONTROL | {cost.CORE}
    # One kind of ACK may be lost in the noise of a busy machine, half of them are not.
    for cc, cells in cost.per_ack(batches).items():
        growing = [
            middle
            for kind, (_, middle, _) in cells.items()
            if kind.split()[0] in ("slow_start", "avoidance")
        ]
        assert median(growing) > 0, cc


@pytest.mark.long
def test_instructions_are_counted() -> None:
    """For every algorithm, and as many again: what they take is a count and no time."""
    batches, _ = cost.in_instructions(rounds=3)
    in_tree = {one.cc for one in batches} - set(modules.owners())
    assert in_tree == modules.IN_TREE | {cost.LOOP, cost.CORE}
    same, every = cost.alike(batches)
    assert same > 0.99 * every
    # The loop's own work for an ACK of a phase, whatever the window: to one in a hundred.
    for phase in ("slow_start", "avoidance", "recovery"):
        of = [x for x in batches if x.cc == cost.LOOP and x.phase == phase and x.acks > 1000]
        loop = [one.median / one.acks for one in of]
        assert max(loop) < 1.01 * min(loop), phase


@pytest.mark.long
def test_carrying_data_is_counted() -> None:
    """Every algorithm carries data, and none does so for nothing; bursts of three packets are
    dearer than Cubic's own."""
    said: list[str] = []
    of = scenario.load(SCENARIOS / "stack.toml")
    data = stack.measure(of, 1, said.append, real=False)
    assert set(data["counted"]) == modules.algorithms() | {stack.NOTHING, stack.BURSTS}
    per_byte = {cc: stack.per_byte(data["counted"], cc)[0] for cc in stack.order(data)}
    assert min(per_byte.values()) > 5
    assert per_byte[stack.BURSTS] > per_byte["cubic"]
