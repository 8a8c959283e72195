# SPDX-License-Identifier: GPL-2.0
"""Experiments that tell why a number of the arena is what it is."""

from __future__ import annotations

from longfat.pages.shown import (
    Runs,
    Shown,
    case,
    cc,
    dropped,
    goodput,
    group,
    loss,
    over,
    utilisation,
)
from longfat.run.result import Json


def _again(run: Json) -> float:
    """Packets sent again, of one flow."""
    return float(run["flows"][0]["retransmissions"])


def _empty(run: Json) -> float:
    """Packets dropped while nothing was in the queue."""
    return float(run["observed"]["empty"])


def red(runs: Runs) -> Shown:
    """What a flow gets through RED that marks, below a shaper, alone and beside a little UDP; what
    is sent again and what is dropped there; and what of a whole run out of an empty queue."""
    shown = Shown()
    for what, of, unit in (
        ("goodput", goodput, "Mbit/s"),
        ("sent again", _again, "packets"),
        ("dropped", dropped, "packets"),
        ("dropped out of an empty queue, from 0 s", _empty, "packets"),
    ):
        found = group(runs("red-shaped"), lambda one: (case(one), cc(one)))
        for (name, who), runs_of in found.items():
            shown.values[f"{what}, {name}, {who}"] = over(runs_of, of, unit=unit, digits=1)
    return shown


def sabul(runs: Runs) -> Shown:
    """What two flows of a data centre use of its link: over ten seconds, and the least and the most
    of a tenth of a second; how often they overflow it, and what they lose."""
    shown = Shown()
    for name, found in group(runs("sabul-data-centre"), case).items():
        shown.values[f"used, {name}"] = over(found, utilisation, unit="%", digits=1)
        for which in ("least", "most"):
            shown.values[f"used in 0.1 s, the {which}, {name}"] = over(
                found,
                lambda run, which=which: 100 * run["observed"]["carried"][which],
                unit="%",
                digits=1,
            )
        shown.values[f"overflows, {name}"] = over(
            found, lambda run: run["observed"]["overflows"] / 10, unit="1/s"
        )
        shown.values[f"lost, {name}"] = over(found, loss, unit="%", digits=4)
    return shown
