# SPDX-License-Identifier: GPL-2.0
"""The same path on the lab's own backend and on another.  "paper" is the latter here."""

from __future__ import annotations

from functools import partial
from statistics import mean

from matplotlib import pyplot

from longfat.pages.shown import Runs, Shown, Value, cc, goodput


def _both(runs: Runs, name: str, backend: str) -> Shown:
    """Goodput and loss events of both."""
    shown = Shown()
    real = {cc(run): run for run in runs(f"{name}-{backend}")}
    virtual = {cc(run): run for run in runs(name)}
    figure, places = pyplot.subplots(
        len(virtual), 1, sharex=True, figsize=(7, 6), layout="constrained"
    )
    for place, (who, run) in zip(places, virtual.items(), strict=True):
        shown.values[f"goodput, {who}"] = Value(
            goodput(run), paper=goodput(real[who]), unit="Mbit/s"
        )
        losses = [float(one["observed"]["losses"]) for one in (run, real[who])]
        shown.values[f"loss events, {who}"] = Value(losses[0], paper=losses[1], digits=0)
        windows = [mean(one["observed"]["cwnd"]["cwnd"]) for one in (run, real[who])]
        shown.values[f"mean window, {who}"] = Value(windows[0], paper=windows[1], unit="packets")
        shown.values[f"loss events more, {who}"] = Value(losses[0] - losses[1], digits=0)
        shown.values[f"goodput that the stock kernel lacks, {who}"] = Value(
            100 * (1 - goodput(real[who]) / goodput(run)), unit="%"
        )
        for one, label in ((run, "uml"), (real[who], backend)):
            place.plot(
                one["observed"]["cwnd"]["t"], one["observed"]["cwnd"]["cwnd"], lw=1, label=label
            )
        place.set_title(who, fontsize="small")
        place.set_ylabel("cwnd, packets")
        place.grid(alpha=0.3)
    places[0].legend(fontsize="x-small")
    places[-1].set_xlabel("time, s")
    shown.pictures.append(("congestion windows over time", figure))
    return shown


crosscheck = partial(_both, name="crosscheck", backend="vm")
crosscheck_counted = partial(_both, name="crosscheck", backend="vm-counted")
crosscheck_50m_bdp = partial(_both, name="crosscheck-50m-bdp", backend="vm")
