# SPDX-License-Identifier: GPL-2.0
"""The pictures of score cards and of the league, as SVG that is the same for the same numbers."""

from __future__ import annotations

import io
import math
import re
from fnmatch import fnmatchcase

from longfat.arena import league
from longfat.arena.criteria import Criterion, Picture
from longfat.arena.plan import Contender, Run, in_words
from longfat.arena.score import Cell, Scores
from longfat.show import report  # noqa: F401 - first: it sets matplotlib up, for repeatable files

# isort: split
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from matplotlib.ticker import NullFormatter, StrMethodFormatter

# Of one algorithm in all pictures of a card: the one it is of first.
COLOURS = ("#cf222e", "#0969da", "#59636e", "#1a7f37", "#9a6700", "#8250df")
MARKERS = "osD^vP"
SERIES = {"rates": "goodput, Mbit/s", "cwnd": "window, packets"}
WIDTH = 8.0


def _svg(figure: Figure) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    text = out.getvalue()
    return text[text.index("<svg") :]


def _logarithmic(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _unit(cell: Cell) -> str:
    unit = f", {cell.number.unit}" if cell.number.unit else ""
    return f"{cell.number.name}{unit}"


def _dots(cells: list[Cell]) -> str:
    """A line for each path, a dot for each algorithm; never is an arrow at the edge."""
    paths = list(dict.fromkeys(path for cell in cells for path in cell.by_path()))
    values = {cell.cc.text: cell.by_path() for cell in cells}
    finite = [
        v for of in values.values() for v in of.values() if v is not None and math.isfinite(v)
    ]
    edge = 1.08 * max(finite, default=1.0) or 1.0
    figure, axes = pyplot.subplots(figsize=(WIDTH, 1.3 + 0.28 * len(paths)), layout="constrained")
    for place, cell in enumerate(cells):
        shift = 0.16 * (place - (len(cells) - 1) / 2)
        colour = COLOURS[place % len(COLOURS)]
        marker = MARKERS[place % len(MARKERS)]
        axes.plot([], [], marker, color=colour, label=cell.cc.text, ms=5)
        for row, path in enumerate(paths):
            value = values[cell.cc.text].get(path)
            if value is not None:
                never = math.isinf(value)
                axes.plot(
                    edge if never else value,
                    row + shift,
                    ">" if never else marker,
                    color=colour,
                    ms=5,
                )
    axes.set_yticks(range(len(paths)), paths, fontsize="small")
    axes.set_ylim(len(paths) - 0.4, -0.6)
    axes.set_xlabel(_unit(cells[0]))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return _svg(figure)


def _amount(text: str) -> float | None:
    found = re.search(r"\d+(\.\d+)?(e-?\d+)?", text)
    return float(found[0]) if found else None


def _curve(cells: list[Cell]) -> str:
    """The number over what varies last; a line for each algorithm, and for each of what else
    varies."""
    figure, axes = pyplot.subplots(figsize=(WIDTH, 4), layout="constrained")
    xs: list[float] = []
    name = ""
    for place, cell in enumerate(cells):
        lines: dict[str, dict[float, list[float]]] = {}
        for point in cell.points:
            if not point.run.at or point.value is None or math.isinf(point.value):
                continue
            *before, (name, last) = point.run.at
            x = _amount(last)
            if x is not None:
                rest = in_words(tuple(before)) if before else ""
                lines.setdefault(rest, {}).setdefault(x, []).append(point.value)
        for number, (rest, line) in enumerate(lines.items()):
            at = sorted(line)
            xs += at
            axes.plot(
                at,
                [sum(line[x]) / len(line[x]) for x in at],
                marker=MARKERS[place % len(MARKERS)],
                color=COLOURS[place % len(COLOURS)],
                ls=("-", "--", ":", "-.")[number % 4],
                lw=1,
                ms=4,
                label=cell.cc.text + (f", {rest}" if rest else ""),
            )
    if xs and min(xs) > 0 and max(xs) / min(xs) > 10:
        _logarithmic(axes)
    unit = {"link.buffer": "buffer", "link.loss": "loss", "case": "load, %"}.get(name, name)
    axes.set_xlabel(unit.rpartition(".")[2])
    axes.set_ylim(bottom=min(0, axes.dataLim.y0))
    axes.set_ylabel(_unit(cells[0]))
    axes.grid(alpha=0.3)
    if xs:
        axes.legend(fontsize="small")
    return _svg(figure)


def _time(scores: Scores, criterion: Criterion, picture: Picture, ccs: list[Contender]) -> str:
    """A series of the first run of a path, of each algorithm."""
    figure, axes = pyplot.subplots(figsize=(WIDTH, 3.5), layout="constrained")
    for place, cc in enumerate(ccs):
        run = _first(scores, criterion, picture.path, cc)
        record = scores.records.get(run.name) if run else None
        if not run or not record:
            continue
        found = record["observed"][picture.series]
        source = next(one for one in scores.of.criteria if one.id == run.criterion)
        groups = [found["groups"].get(str(i), []) for i in source.roles("flow")[0]]
        values = [sum(each) for each in zip(*groups, strict=False)]
        times = [found["dt"] * (i + 1) for i in range(len(values))]
        colour = COLOURS[place % len(COLOURS)]
        axes.plot(times, values, lw=1, color=colour, label=cc.text)
        axes.set_title(run.path, fontsize="medium")
    axes.set_xlabel("time, s")
    axes.set_ylabel(SERIES[picture.series])
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return _svg(figure)


def _first(scores: Scores, criterion: Criterion, pattern: str, cc: Contender) -> Run | None:
    runs = (run for run in scores.of.of(criterion, cc) if fnmatchcase(run.path, pattern))
    return next(runs, None)


def of_criterion(scores: Scores, criterion: Criterion, ccs: list[Contender]) -> list[str]:
    """The pictures that show why these algorithms have what they have; none where nothing was
    measured."""
    found = []
    for picture in criterion.picture:
        cells = [scores.cell(criterion, picture.number, cc) for cc in ccs]
        if picture.draw == "time":
            runs = [_first(scores, criterion, picture.path, cc) for cc in ccs]
            if any(run and run.name in scores.records for run in runs):
                found.append(_time(scores, criterion, picture, ccs))
        elif any(point.value is not None for cell in cells for point in cell.points):
            found.append(_curve(cells) if picture.draw == "curve" else _dots(cells))
    return found


def heat(of: league.Heat) -> str:
    """Who gets what beside whom on a path: the row's flow of both, %."""
    names = [row[0].cc.text for row in of.rows]
    shares = [[math.nan if one.share is None else one.share for one in row] for row in of.rows]
    size = 1.6 + 0.42 * len(names)
    figure, axes = pyplot.subplots(figsize=(size + 0.4, size), layout="constrained")
    axes.imshow(shares, cmap="RdBu", vmin=-20, vmax=120)
    for y, row in enumerate(of.rows):
        for x, one in enumerate(row):
            axes.text(x, y, one.text, ha="center", va="center", fontsize="x-small")
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize="small")
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_xlabel("beside")
    axes.set_title(of.path, fontsize="medium")
    return _svg(figure)


def _ellipse(axes: Axes, points: list[tuple[float, float]], colour: str) -> None:
    """One standard deviation of the points around their mean."""
    n = len(points)
    mx, my = (sum(p[i] for p in points) / n for i in (0, 1))
    sxx, syy, sxy = (
        sum((p[a] - m) * (p[b] - k) for p in points) / (n - 1)
        for a, b, m, k in ((0, 0, mx, mx), (1, 1, my, my), (0, 1, mx, my))
    )
    middle, root = (sxx + syy) / 2, math.hypot((sxx - syy) / 2, sxy)
    angle = math.degrees(0.5 * math.atan2(2 * sxy, sxx - syy))
    width, height = (2 * math.sqrt(max(0.0, middle + sign * root)) for sign in (1, -1))
    axes.add_patch(Ellipse((mx, my), width, height, angle=angle, color=colour, alpha=0.2))


def clouds(scores: Scores, criterion: Criterion) -> dict[str, str]:
    """Path -> delay against throughput of each algorithm: a dot for each seed, and where there are
    three an ellipse of one standard deviation."""
    there: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for run, point in league.dots(scores, criterion):
        there.setdefault(run.path, {}).setdefault(run.cc.text, []).append(point)
    return {path: _cloud(of) for path, of in there.items()}


def _cloud(of: dict[str, list[tuple[float, float]]]) -> str:
    figure, axes = pyplot.subplots(figsize=(WIDTH, 5), layout="constrained")
    for place, (name, points) in enumerate(of.items()):
        colour = f"C{place % 10}"
        marker = MARKERS[place // 10 % len(MARKERS)]
        axes.plot(*zip(*points, strict=True), marker, color=colour, ms=4)
        if len(points) >= 3:
            _ellipse(axes, points, colour)
        x, y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
        axes.annotate(name, (x, y), xytext=(5, 4), textcoords="offset points", fontsize="small")
    axes.set_xlim(axes.get_xlim()[1], 0)
    low, high = axes.get_ylim()
    axes.set_ylim(0.97 * low, 1.01 * high)
    axes.ticklabel_format(useOffset=False)
    axes.set_xlabel("queue, mean, ms (less is to the right)")
    axes.set_ylabel("throughput of the link, Mbit/s")
    axes.grid(alpha=0.3)
    return _svg(figure)
