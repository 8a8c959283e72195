# SPDX-License-Identifier: GPL-2.0
"""What docs/slow-start.md claims: losses of the first minute, times of files, false alarms."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import StrMethodFormatter

from longfat.pages.data import logarithmic
from longfat.pages.observe.slow_start import DRAWN, SHOWN
from longfat.pages.shown import Runs, Shown, Value, dropped, group, legend_beside, over, ratio
from longfat.pages.tables import slow_start
from longfat.pages.tables.slow_start import (
    ALARMS,
    CONDITIONS,
    FIRST_MINUTE,
    HELD_OUT,
    TIMES,
    WAYS,
    Cell,
    after,
    better,
    cell,
    size,
    way,
    who,
)
from longfat.run.result import Json

COLOURS = {
    "classic": "C3",
    "hystart": "C1",
    "limited": "C2",
    "train": "C0",
    "cubic": "C4",
    "reno": "C5",
    "bbr": "C6",
}


def _cells(runs: list[Json]) -> Iterator[tuple[Cell, dict[str, Json]]]:
    for key, of in group(runs, cell).items():
        yield key, {who(run): run for run in of}


def _count(value: float) -> Value:
    return Value(value, unit="packets", digits=0)


def _over(mine: float, theirs: float) -> Value:
    return Value(slow_start.over(mine, theirs), digits=3)


def losses(runs: Runs) -> Shown:
    """Packets lost in the first minute by cell, all and until slow start was over."""
    shown = Shown()
    figure, places = pyplot.subplots(
        len(FIRST_MINUTE), sharex=True, figsize=(8, 8.5), layout="constrained"
    )
    for axes, name in zip(places, FIRST_MINUTE, strict=True):
        found = dict(_cells(runs(name)))
        for key, by in found.items():
            train, at = by["train"], key.text
            shown.values[f"train, {at}"] = _count(dropped(train))
            for than in ("classic", "cubic"):
                shown.values[f"train over {than}, {at}"] = _over(dropped(train), dropped(by[than]))
            until = (by[one]["observed"]["until"] for one in ("train", "classic"))
            shown.values[f"until slow start was over, train over classic, {at}"] = _over(*until)
            # What no slow start can change, over the same: where it alone is above a mark, the
            # mark cannot be met.
            for than in ("classic", "cubic"):
                shown.values[f"after slow start, train over {than}'s all, {at}"] = _over(
                    after(train), dropped(by[than])
                )
        _lines(axes, found)
    places[-1].set_xticks(*_ticks(found))
    places[-1].set_xlabel("RTT; buffer, BDP")
    legend_beside(places[0])
    shown.pictures.append(("packets lost in the first minute", figure))
    return shown


def _ticks(found: dict[Cell, dict[str, Json]]) -> tuple[range, list[str]]:
    labels = [f"{key.rtt_ms:g} ms\n{key.buffer:g}" for key in found]
    return range(len(labels)), labels


def _lines(axes: Axes, found: dict[Cell, dict[str, Json]]) -> None:
    """A line for each way to end slow start, over the cells of one rate."""
    for name in dict.fromkeys(name for by in found.values() for name in by):
        counts = [dropped(by[name]) for by in found.values()]
        label = WAYS.get(name, name)
        axes.plot(counts, marker="o", ms=3, lw=0.8, color=COLOURS[name], label=label)
    axes.set_yscale("symlog", linthresh=1)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("packets lost")
    axes.set_title(next(iter(found)).text.split(" x")[0], fontsize="small")
    axes.tick_params("x", labelsize="x-small")
    axes.grid(alpha=0.3)


def beginning(runs: Runs) -> Shown:
    """Window and queue over the first seconds of one cell."""
    shown = Shown()
    figure, places = pyplot.subplots(2, sharex=True, figsize=(8, 5), layout="constrained")
    drawn = [run for run in runs("slow-start-1g") if run["scenario"]["name"].endswith(DRAWN)]
    for run in drawn:
        name, seen = who(run), run["observed"]
        if name in ("classic", "hystart", "train", "cubic", "bbr"):
            for axes, column in zip(places, ("cwnd", "queue"), strict=True):
                label = WAYS.get(name, name)
                axes.plot(*zip(*seen[column], strict=True), lw=1, color=COLOURS[name], label=label)
        if seen["over_s"] is not None:
            shown.values[f"{WAYS.get(name, name)}: slow start took"] = Value(
                seen["over_s"], unit="s"
            )
        shown.values[f"{WAYS.get(name, name)}: lost until then"] = _count(seen["until"])
    places[0].set_ylabel("window, packets")
    places[1].set_ylabel("queue, packets")
    places[1].set_xlabel("time, s")
    places[1].set_xlim(0, SHOWN)
    for axes in places:
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    legend_beside(places[0])
    shown.pictures.append(("window and queue in the first seconds", figure))
    return shown


def others(runs: Runs) -> Shown:
    """Losses of the first minute of our other algorithms."""
    shown = Shown()
    for key, by in _cells(runs("slow-start-others")):
        for cc in dict.fromkeys(name.split("-")[0] for name in by):
            classic, train = by[f"{cc}-classic"], by[f"{cc}-train"]
            at = f"{cc}, {key.text}"
            shown.values[f"train, {at}"] = _count(dropped(train))
            shown.values[f"train over classic, {at}"] = _over(dropped(train), dropped(classic))
            shown.values[f"after slow start, train over classic's all, {at}"] = _over(
                after(train), dropped(classic)
            )
            shown.values[f"goodput, train over classic, {at}"] = Value(
                train["summary"]["goodput_bps"] / classic["summary"]["goodput_bps"], digits=3
            )
    return shown


def time(runs: Runs) -> Shown:
    """How long a file takes, over the better of classic and cubic."""
    shown = Shown()
    figure, axes = pyplot.subplots(figsize=(8, 3.4), layout="constrained")
    every = [run for name in TIMES for run in runs(name)]
    ratios: dict[str, list[tuple[float, float]]] = {}
    for (key, bytes_), of in group(every, lambda run: (cell(run), size(run))).items():
        by = {who(run): run for run in of}
        took = float(by["train"]["observed"]["completion_s"])
        value = took / better(by)
        shown.values[f"train over the better, {bytes_}, {key.text}"] = Value(value, digits=3)
        volume = of[0]["scenario"]["flow"][0]["bytes"]
        bdp = key.mbit * 1e6 / 8 * key.rtt_ms / 1e3
        for name, run in by.items():
            taken = float(run["observed"]["completion_s"])
            ratios.setdefault(name, []).append((volume / bdp, taken / better(by)))
    for name, points in ratios.items():
        label = WAYS.get(name, name)
        axes.plot(*zip(*points, strict=True), ls="", marker="o", ms=3, c=COLOURS[name], label=label)
    axes.axhline(1.05, color="grey", lw=0.8, ls="--")
    logarithmic(axes)
    axes.set_xlabel("size of the file, BDP")
    axes.set_ylabel("time over the better\nof classic and cubic")
    axes.grid(alpha=0.3)
    legend_beside(axes)
    shown.pictures.append(("times of files over the better of classic and cubic", figure))
    return shown


def held_out(runs: Runs) -> Shown:
    """What a file loses, and how long it takes, in buffers with little room."""
    shown = Shown()
    found = dict(_cells(runs(HELD_OUT)))
    buffers = sorted({key.buffer for key in found})
    figure, places = pyplot.subplots(
        1, len(buffers), sharey=True, figsize=(8, 3), layout="constrained"
    )
    for key, by in found.items():
        train, axes = by["train"], places[buffers.index(key.buffer)]
        shown.values[f"train over classic, {key.text}"] = _over(
            dropped(train), dropped(by["classic"])
        )
        took = float(train["observed"]["completion_s"]) / better(by)
        shown.values[f"time, train over the better, {key.text}"] = Value(took, digits=3)
        for name, run in by.items():
            label = WAYS.get(name, name) if key == next(iter(found)) else None
            axes.plot(key.rtt_ms, dropped(run), "o", ms=3, c=COLOURS[name], label=label)
    for axes, buffer in zip(places, buffers, strict=True):
        axes.set_yscale("symlog", linthresh=1)
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.set_ylim(bottom=-0.3)
        axes.set_title(f"{buffer:g} BDP", fontsize="small")
        axes.set_xlabel("RTT, ms")
        axes.grid(alpha=0.3)
    places[0].set_ylabel("packets lost")
    places[buffers.index(next(iter(found)).buffer)].legend(fontsize="x-small")
    shown.pictures.append(("packets that a file of 100 MB loses", figure))
    return shown


def alarms(runs: Runs) -> Shown:
    """Goodput and losses of the first 30 s over classic's, where the path lies."""
    shown = Shown()
    figure, places = pyplot.subplots(
        1, len(ALARMS), sharey=True, figsize=(8, 3.8), layout="constrained"
    )
    for axes, name in zip(places, ALARMS, strict=True):
        found = group(runs(name), lambda run: (who(run), way(run)))
        cases = list(dict.fromkeys(case for case, _ in found))
        path = cell(found[cases[0], "classic"][0]).text.split(",")[0]
        for one, colour in (("hystart++", "C1"), ("train", "C0")):
            points = []
            for case in cases:
                mine, theirs = found[case, one], found[case, "classic"]
                goodput = ratio(*(over(of, _goodput) for of in (mine, theirs)), digits=3)
                shown.values[f"{one}: goodput over classic's, {CONDITIONS[case]}, {path}"] = goodput
                points.append(goodput)
                for what, count in (("lost", dropped), ("until slow start was over, lost", _until)):
                    fewer = [over(of, count) for of in (mine, theirs)]
                    shown.values[f"{one}: {what} over classic's, {CONDITIONS[case]}, {path}"] = (
                        ratio(*fewer, digits=3) if fewer[1].ours else _over(fewer[0].ours, 0)
                    )
            middle, half = [v.ours for v in points], [v.half for v in points]
            axes.errorbar(middle, range(len(cases)), xerr=half, ls="", marker="o", ms=3,
                          color=colour, label=one)  # fmt: skip
        axes.axvline(0.95, color="grey", lw=0.8, ls="--")
        axes.set_yticks(range(len(cases)), [CONDITIONS[case] for case in cases], fontsize="x-small")
        axes.set_xlabel("goodput of 30 s over classic's")
        axes.set_title(path, fontsize="small")
        axes.grid(alpha=0.3)
    places[0].invert_yaxis()
    places[0].legend(fontsize="x-small")
    shown.pictures.append(("goodput of the first 30 s over classic's", figure))
    return shown


def _goodput(run: Json) -> float:
    """Mbit/s of ours alone."""
    return float(run["flows"][0]["goodput_bps"]) / 1e6


def _until(run: Json) -> float:
    """Packets lost until slow start was over."""
    return float(run["observed"]["until"])
