# SPDX-License-Identifier: GPL-2.0
"""What docs/performance.md claims of what an ACK, and a byte, costs."""

from __future__ import annotations

from statistics import median

from longfat.measure import stack
from longfat.pages.shown import Runs, Shown, Value
from longfat.pages.tables import performance

COMPOSITES = tuple(f"composite-{n}" for n in (4, 8, 16, 32, 64))


def ack(runs: Runs) -> Shown:
    """An ACK, over Cubic's: instructions of every kind of ACK, and time of the typical one."""
    data = performance.costs()
    shown = Shown()
    for cc in ("ltcp", "ghstcp", "cwhstcp"):
        for phase in performance.GROWING:
            found = performance.ratios(data, cc, phase)
            shown.values[f"{cc}, {phase}: instructions over Cubic's, most"] = Value(max(found))
            shown.values[f"{cc}, {phase}: instructions over Cubic's, least"] = Value(min(found))
            better = 100 * sum(ratio <= 1 for ratio in found) / len(found)
            shown.values[f"{cc}, {phase}: kinds of ACKs that cost no more"] = Value(
                better, unit="%", digits=0
            )
    for cc in ("ltcp", "ghstcp", "sabul", "cwhstcp", *COMPOSITES):
        for phase in performance.GROWING:
            time, _, worst = performance.with_core(data, cc, phase)
            shown.values[f"{cc}, {phase}: time with the core's part, over Cubic's"] = Value(time)
            shown.values[f"{cc}, {phase}: instructions with it, the worst kind"] = Value(worst)
    kind = "avoidance 1000 2"
    for cc in COMPOSITES:
        times = (data["ns"][who][kind][1] for who in (cc, "bbr"))
        mine, bbr = times
        shown.values[f"{cc}: time over BBR's"] = Value(mine / bbr)
    counts = data["instructions"]
    apart = max(
        max(found) / min(found)
        for phase in ("slow_start", "avoidance")
        for acked in (1, 2, 8)
        for window in (10**4, 10**5, 10**6)
        for found in [[counts[cc][f"{phase} {window} {acked}"] for cc in COMPOSITES]]
    )
    shown.values["composite, from 10^4 packets on: most over least of all N"] = Value(
        apart, digits=3
    )
    small = (counts[f"composite-{n}"]["avoidance 100 2"] for n in (64, 8))
    sixty_four, eight = small
    shown.values["composite, 100 packets: N = 64 over N = 8"] = Value(sixty_four / eight)
    same, batches = data["alike"]
    shown.values["batches that were the same again"] = Value(100 * same / batches, unit="%")
    return shown


def carrying(runs: Runs) -> Shown:
    """Instructions for a byte: sender, path and receiver, over Cubic's."""
    data = performance.carrying()
    acks = performance.costs()["instructions"]
    cubic = median(stack.per_byte(data["counted"], "cubic"))
    shown = Shown()
    for cc in [*data["modules"], stack.BURSTS]:
        ratio = median(stack.per_byte(data["counted"], cc)) / cubic
        shown.values[f"{cc}: a byte over Cubic's"] = Value(ratio, digits=3)
    for cc in ("composite-1", *COMPOSITES):
        more = acks[cc]["avoidance 100 2"] - acks["cubic"]["avoidance 100 2"]
        part = 100 * more / (2 * 1448) / cubic
        shown.values[f"{cc}: more for its ACKs, of a byte"] = Value(part, unit="%")
    return shown
