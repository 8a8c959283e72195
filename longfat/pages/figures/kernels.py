# SPDX-License-Identifier: GPL-2.0
"""The same flows on several kernels, side by side."""

from __future__ import annotations

from matplotlib import pyplot

from longfat.pages.shown import Runs, Shown, Table, Value, cc, dropped, goodput, group
from longfat.run.result import Json

HEADINGS = ["", "kernel", "goodput, Mbit/s", "lost, packets", "queue, ms", "RTT, ms"]


def _queue(run: Json) -> float:
    return float(run["summary"]["queue_delay_ms"]["mean"])


def _cells(run: Json) -> list[str]:
    numbers = [f"{goodput(run):.2f}", f"{dropped(run):.0f}", f"{_queue(run):.2f}"]
    rtt = run["flows"][0]["rtt_ms"]["p50"]
    return [f"`{cc(run)}`", run["kernel"], *numbers, f"{rtt:.1f}"]


def kernels(runs: Runs) -> Shown:
    """A row and a line for each kernel; how far goodput is apart, by the least."""
    found = group(runs("kernels"), cc)
    shown = Shown(tables=[Table(HEADINGS, [])])
    figure, places = pyplot.subplots(
        len(found), 1, sharex=True, figsize=(8, 7), layout="constrained"
    )
    for place, (who, of) in zip(places, found.items(), strict=True):
        rates = [goodput(run) for run in of]
        apart = 100 * (max(rates) / min(rates) - 1)
        shown.values[f"{who}: goodput apart"] = Value(apart, unit="%")
        waits = [_queue(run) for run in of]
        shown.values[f"{who}: queue apart"] = Value(max(waits) - min(waits), unit="ms")
        for run in of:
            shown.tables[0].rows.append(_cells(run))
            seen = run["observed"]["cwnd"]
            place.plot(seen["t"], seen["cwnd"], lw=1, label=run["kernel"])
        place.set_title(who, fontsize="small")
        place.set_ylabel("cwnd, packets")
        place.set_ylim(bottom=0)
        place.grid(alpha=0.3)
    places[0].legend(fontsize="x-small")
    places[-1].set_xlabel("time, s")
    shown.pictures.append(("congestion windows over time, by kernel", figure))
    return shown
