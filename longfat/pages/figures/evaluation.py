# SPDX-License-Identifier: GPL-2.0
"""Experiments that tell why a number of the arena is what it is."""

from __future__ import annotations

from functools import partial

from longfat.pages.observe.sabul import equation16
from longfat.pages.shown import (
    Runs,
    Shown,
    Value,
    case,
    cc,
    dropped,
    extreme,
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


def _seen(which: str, run: Json) -> float:
    return float(run["observed"][which])


def _less(run: Json) -> float:
    """Packets dropped, less those sent again: 0 where the same are dropped that are sent again."""
    return dropped(run) - _again(run)


def red(runs: Runs) -> Shown:
    """What a flow gets through RED that marks, below a shaper, alone and beside a little UDP; what
    is sent again and what is dropped there; and what of a whole run out of an empty queue."""
    shown = Shown()
    found = group(runs("red-shaped"), lambda one: (case(one), cc(one)))
    for what, of, unit in (
        ("goodput", goodput, "Mbit/s"),
        ("sent again", _again, "packets"),
        ("dropped", dropped, "packets"),
        ("dropped less sent again", _less, "packets"),
        ("dropped out of an empty queue, from 0 s", partial(_seen, "empty"), "packets"),
    ):
        for (name, who), runs_of in found.items():
            shown.values[f"{what}, {name}, {who}"] = over(runs_of, of, unit=unit, digits=1)
    return shown


def outage(runs: Runs) -> Shown:
    """How soon a flow is back after an outage, and its window half a second after the outage."""
    shown = Shown()
    found = group(runs("bbr-outage"), lambda one: (case(one), cc(one)))
    for what, of, unit in (
        ("back after", partial(_seen, "back"), "s"),
        ("window", partial(_seen, "window"), "packets"),
    ):
        for (name, who), runs_of in found.items():
            shown.values[f"{what}, {name}, {who}"] = over(runs_of, of, unit=unit, digits=1)
    return shown


def recovery(runs: Runs) -> Shown:
    """After how many of the outages a flow stands still for more than two seconds, and for how long
    at most."""
    shown = Shown()
    for who, found in group(runs("outage-recovery"), cc).items():
        still = partial(_seen, "still")
        count = sum(still(run) > 2 for run in found)
        shown.values[f"stands still, {who}"] = Value(
            count, unit=f"of {len(found)} outages", digits=0
        )
        shown.values[f"at most, {who}"] = extreme(max, found, still, unit="s", digits=1)
    return shown


def _full(run: Json) -> float:
    """The queue's median, % of the buffer."""
    bdps, _ = run["scenario"]["link"]["buffer"]
    whole = float(bdps) * float(run["flows"][0]["base_rtt_ms"])
    return 100 * float(run["summary"]["queue_delay_ms"]["p50"]) / whole


def causes(runs: Runs) -> Shown:
    """Of LTCP and SABUL the queue of one flow in four BDP of buffer, by what makes it smaller; of
    Composite what many flows lose, by how many streams each has."""
    shown = Shown()
    for beta, found in group(
        runs("worst-ltcp"), lambda run: int(run["scenario"]["module"]["ltcp"]["beta"])
    ).items():
        shown.values[f"ltcp, queue, beta of {beta / 1000:g}"] = over(
            found, _full, unit="% of the buffer", digits=1
        )
    for once, found in group(
        runs("worst-sabul"), lambda run: run["scenario"]["module"]["sabul"]["once"]
    ).items():
        how = "answers an overflow once" if once else "answers each loss report"
        shown.values[f"sabul, queue, {how}"] = over(found, _full, unit="% of the buffer", digits=1)
        shown.values[f"sabul, utilisation, {how}"] = over(found, utilisation, unit="%", digits=1)
        shown.values[f"sabul, loss, {how}"] = over(found, loss, unit="%", digits=2)
    for (streams, count), found in group(
        runs("worst-composite"),
        lambda run: (run["scenario"]["module"]["composite"]["streams"], len(run["flows"])),
    ).items():
        shown.values[f"composite, loss, {count} flows of {streams}"] = over(
            found, loss, unit="%", digits=2
        )
    return shown


def _median(run: Json) -> float:
    """Seconds that half of the objects take at most."""
    return float(run["short"][0]["completion_s"]["p50"])


def objects(runs: Runs) -> Shown:
    """Objects on two overloaded links: what they lose, and how long half of them take, by what
    makes ours lose."""
    shown = Shown()
    for link in ("access", "satellite"):
        for who, found in group(runs(f"worst-{link}"), case).items():
            shown.values[f"loss, {link}, {who}"] = over(found, loss, unit="%", digits=2)
            shown.values[f"half end within, {link}, {who}"] = over(found, _median, unit="s")
    return shown


def phone(runs: Runs) -> Shown:
    """What a flow uses and loses on a moving phone's link."""
    shown = Shown()
    for who, found in group(runs("worst-phone"), case).items():
        shown.values[f"used, {who}"] = over(found, utilisation, unit="%", digits=1)
        shown.values[f"loss, {who}"] = over(found, loss, unit="%", digits=2)
    return shown


def _last(run: Json) -> float:
    """Milliseconds until the last of all flows has ended, or the run has."""
    ends = (flow["completion_s"] for flow in run["flows"])
    return 1e3 * float(max(run["scenario"]["duration"] if one is None else one for one in ends))


def incast(runs: Runs) -> Shown:
    """Until the last of 32 senders has ended, by the least timeout of a retransmission."""
    shown = Shown()
    for (who, least), found in group(
        runs("worst-incast"), lambda run: (cc(run), case(run))
    ).items():
        shown.values[f"last ends after, {who}, least timeout of {least}"] = extreme(
            max, found, _last, unit="ms", digits=1
        )
    return shown


def _tenth(which: str, run: Json) -> float:
    """Per cent of the link, carried in the `least` or the `most` of all 0.1 s."""
    return 100 * float(run["observed"]["carried"][which])


def _overflows(run: Json) -> float:
    """Overflows in a second of the measured time."""
    measured = float(run["scenario"]["duration"]) - float(run["scenario"]["warmup"])
    return float(run["observed"]["overflows"]) / measured


def sabul(runs: Runs) -> Shown:
    """What two flows of a data centre use of its link, beside (16): over ten seconds, and the least
    and the most of a tenth of a second; how often they overflow it, and what they lose."""
    shown = Shown()
    for name, found in group(runs("sabul-data-centre"), case).items():
        by_16 = round(100 * equation16(found[0]), 2)
        shown.values[f"used, {name}"] = over(found, utilisation, paper=by_16, unit="%", digits=1)
        for what, of, unit, digits in (
            ("used in 0.1 s, the least", partial(_tenth, "least"), "%", 1),
            ("used in 0.1 s, the most", partial(_tenth, "most"), "%", 1),
            ("overflows", _overflows, "1/s", 2),
            ("lost", loss, "%", 4),
        ):
            shown.values[f"{what}, {name}"] = over(found, of, unit=unit, digits=digits)
    return shown
