# SPDX-License-Identifier: GPL-2.0
"""Tables, pictures and the HTML page, made from result files alone."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
import matplotlib

matplotlib.use("svg")
# The same data make the same file: no random identifiers, text as text.
matplotlib.rcParams.update(
    {
        "svg.hashsalt": "longfat",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "text.parse_math": False,  # a $ in a title is a $
    }
)

from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from rich import box  # noqa: E402
from rich.table import Table  # noqa: E402

from longfat.core import units  # noqa: E402
from longfat.core.errors import LabError  # noqa: E402
from longfat.run.result import OBJECTS, Json  # noqa: E402

Name = Callable[[Json], str]


def label(result: Json) -> str:
    """A run as a reader would call it: its case, or its congestion controls, and the kernel if that
    was chosen."""
    kernel = result["scenario"].get("kernel")
    on = f" on {kernel}" if kernel else ""
    if result["scenario"].get("case_name"):
        return str(result["scenario"]["case_name"]) + on
    names = list(dict.fromkeys(flow["cc"] for flow in result["flows"]))
    return (" + ".join(names) or str(result["scenario"].get("name", ""))) + on


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _percent(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value * 100:{form}}"


HEADINGS = (
    "run",
    "cc",
    "goodput\nMbit/s",
    "utilis.\n%",
    "loss\n%",
    "retrans.\npackets",
    "queue ms\nmean",
    "queue ms\n95 %",
    "RTT ms\nmedian",
    "Jain",
)


def row(result: Json) -> list[str]:
    """One run as text, in the order of HEADINGS."""
    summary = result["summary"]
    rtts = [flow["rtt_ms"]["p50"] for flow in result["flows"] if flow["rtt_ms"]["p50"]]
    return [
        f"{result['scenario']['name']} s{result['seed']}",
        label(result),
        f"{summary['goodput_bps'] / 1e6:.2f}",
        # Of a path that was only measured, what is in the middle of it is not known.
        _percent(summary["utilisation"], ".2f"),
        _percent(summary["loss"], ".3g"),
        "-" if summary["retransmissions"] is None else str(summary["retransmissions"]),
        _ms(summary["queue_delay_ms"]["mean"]),
        _ms(summary["queue_delay_ms"]["p95"]),
        _ms(sum(rtts) / len(rtts) if rtts else None),
        "-" if len(result["flows"]) < 2 or summary["jain"] is None else f"{summary['jain']:.3f}",
    ]


def table(results: list[Json]) -> Table:
    """The comparison table for a terminal."""
    title = ", ".join(dict.fromkeys(r["scenario"]["title"] for r in results))
    out = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    # Name the run only if its congestion control does not tell which it is.
    first = 1 if len({label(r) for r in results}) == len(results) else 0
    several = any(len(r["flows"]) > 1 for r in results)
    last = len(HEADINGS) if several else -1  # Jain's index needs several flows
    kernels = len({r["kernel"] for r in results}) > 1
    for number, heading in enumerate(HEADINGS[first:last], first):
        out.add_column(heading, justify="left" if number < 2 else "right", no_wrap=True)
        if number == 1 and kernels:
            out.add_column("kernel", no_wrap=True)
    for result in results:
        cells = row(result)
        on = [result["kernel"]] if kernels else []
        out.add_row(*cells[first:2], *on, *cells[2:last])
    return out


def flow_table(result: Json) -> Table:
    """The flows of one run, and its cross traffic."""
    out = Table(title=f"{result['scenario']['name']}, seed {result['seed']}")
    for heading in (
        "flow",
        "cc",
        "base RTT ms",
        "goodput Mbit/s",
        "retransmissions",
        "RTT ms",
    ):
        out.add_column(heading, justify="right")
    for flow in result["flows"]:
        out.add_row(
            f"{flow['group']}.{flow['number']}",
            flow["cc"],
            f"{flow['base_rtt_ms']:g}",
            f"{flow['goodput_bps'] / 1e6:.2f}",
            "-" if flow["retransmissions"] is None else str(flow["retransmissions"]),
            _ms(flow["rtt_ms"]["p50"]),
        )
    for kind in ("udp", *OBJECTS):
        for entry in result.get(kind, []):
            out.add_row(
                f"{kind} {entry[kind]}",
                "-",
                "-",
                f"{entry['goodput_bps'] / 1e6:.2f}",
                "-",
                "-",
            )
    return out


def _flow_label(result: Json, flow: Json, name: Name | None = None) -> str:
    if len(result["flows"]) == 1:
        return (name or label)(result)
    own = f"{flow['cc']} {flow['group']}.{flow['number']}"
    # A run that has a name of its own: in it there may be flows as in the next one.
    return f"{own} (of {name(result)})" if name else f"{own} ({flow['base_rtt_ms']:g} ms)"


def _series(
    result: Json, what: str, called: Name | None = None
) -> list[tuple[str, list[float], list[Any]]]:
    """(label, x, y) of every flow of a run; y in the unit of the axis."""
    lines = []
    for flow in result["flows"]:
        name = _flow_label(result, flow, called)
        for connection in flow["connections"][:1] if what != "goodput" else flow["connections"]:
            t, y = connection["t"], connection.get(what, [])
            if what == "goodput":
                # Over a second: shorter than a round trip says little.
                stride = max(1, round(1 / result["scenario"]["sample"]))
                received = connection["received"][::stride]
                t = t[::stride]
                y = [
                    (b - a) * 8 / (u - s) / 1e6
                    for a, b, s, u in zip(received, received[1:], t, t[1:], strict=False)
                    if u > s
                ]
                t = [u for s, u in pairwise(t) if u > s]
            elif what == "rtt_us":
                y = [value / 1e3 if value else None for value in y]
            lines.append((name, t, y))
    if what == "queue":
        name = (called or label)(result)
        lines = [(name, result["queue"]["t"], result["queue"]["packets"])]
    return lines


PICTURES = {
    "cwnd": "congestion window, packets",
    "goodput": "goodput, Mbit/s",
    "rtt_us": "smoothed RTT, ms",
    "queue": "bottleneck queue, packets",
}


def _need_samples(results: list[Json]) -> None:
    for result in results:
        if "queue" not in result:
            raise LabError(
                f"{result['scenario']['name']}, seed {result['seed']}: a summary has no "
                f"samples to draw; run the scenario again"
            )


def _svg(figure: Figure, title: str, below: str = "time, s") -> str:
    """The finished picture; its lowest panel is the one that says what the time is."""
    for axes in figure.axes:
        axes.set_ylim(bottom=min(0, axes.dataLim.y0))
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
    figure.axes[0].set_title(title, fontsize="medium")
    figure.axes[0].legend(loc="lower right", fontsize="small")
    figure.axes[-1].set_xlabel(below)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    text = out.getvalue()
    return text[text.index("<svg") :]


def lines_picture(
    lines: list[tuple[str, list[float], list[Any]]],
    unit: str,
    title: str,
    *,
    below: str = "time, s",
    mark: str = "",
) -> str:
    """An SVG of (label, x, y) over what is `below`, y in `unit`; with `mark`, one at each point."""
    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    for name, t, y in lines:
        axes.plot(
            t[: len(y)],
            [float("nan") if v is None else v for v in y],
            label=name,
            lw=1,
            marker=mark,
        )
    axes.set_ylabel(unit)
    return _svg(figure, title, below)


def picture(results: list[Json], what: str, name: Name | None = None) -> str:
    """An SVG of one of PICTURES over time, every flow of every result in it; `name` says what a
    run is called in it."""
    if what not in PICTURES:
        raise ValueError(f"no picture {what!r}; valid: {', '.join(PICTURES)}")
    _need_samples(results)
    lines = [line for result in results for line in _series(result, what, name)]
    return lines_picture(lines, PICTURES[what], results[0]["scenario"]["title"])


def drawn(results: list[Json]) -> list[str]:
    """Those of PICTURES of which the results have something."""
    _need_samples(results)
    empty = not any(result["queue"]["t"] for result in results)
    return [what for what in PICTURES if what != "queue" or not empty]


def event_picture(results: list[Json], field: str) -> str:
    """An SVG of the congestion windows and, beneath, the values that events gave `field`:
    each holds until the next event of its connection that has it."""
    _need_samples(results)
    flows = [
        (_flow_label(result, flow), connection)
        for result in results
        for flow in result["flows"]
        for connection in flow["connections"][:1]
    ]
    events = [event for _, connection in flows for event in connection.get("events", [])]
    valid = {k for event in events for k, v in event.items() if isinstance(v, int)} - {"t"}
    if not valid:
        raise LabError("no result has events: set trace = true in the scenario and run it again")
    if field not in valid:
        raise LabError(f"no event has a number {field!r}; valid: {', '.join(sorted(valid))}")
    figure, (windows, values) = pyplot.subplots(
        2, 1, sharex=True, figsize=(8, 6), layout="constrained"
    )
    for name, connection in flows:
        (line,) = windows.plot(connection["t"], connection["cwnd"], label=name, lw=1)
        seen = (e for e in connection.get("events", []) if isinstance(e.get(field), int))
        points = [(e["t"], e[field]) for e in seen]
        if points:
            points.append((max(points[-1][0], connection["t"][-1]), points[-1][1]))
            t, y = zip(*points, strict=True)
            values.plot(t, y, drawstyle="steps-post", color=line.get_color(), lw=1)
    windows.set_ylabel(PICTURES["cwnd"])
    values.set_ylabel(field)
    return _svg(figure, results[0]["scenario"]["title"])


def page(
    results: list[Json],
    title: str,
    command: str,
    *,
    table: tuple[list[str], list[list[str]]] | None = None,
    parts: dict[str, list[Json]] | None = None,
    name: Name | None = None,
    says: list[str] | None = None,
    first: dict[str, str] | None = None,
) -> str:
    """A self-contained HTML page: table, pictures, and how to make it again.  With `parts`, the
    pictures of each of them below its heading; with `table`, its headings and rows.  `says` are
    paragraphs above the table, `first` pictures before the others, by their headings."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True
    )
    one = results[0]
    link = one["scenario"]["link"]
    rate = units.show_rate(link["rate"]) if link["rate"] else "a path that was measured"
    return environment.get_template("page.html").render(
        title=title,
        command=command,
        link=f"{rate}, MTU {link['mtu']} bytes" + (f", {link['aqm']}" if link["rate"] else ""),
        kernel=", ".join(dict.fromkeys(result["kernel"] for result in results)),
        backend=one["backend"],
        says=says or [],
        first=first or {},
        headings=table[0] if table else HEADINGS,
        rows=table[1] if table else [row(result) for result in results],
        parts={
            part: {PICTURES[what]: picture(of, what, name) for what in drawn(of)}
            for part, of in (parts or {"": results}).items()
        },
    )


def write_pictures(results: list[Json], out: Path, *, event: str | None = None) -> list[Path]:
    """One SVG file for each of PICTURES below `out`, and events.svg of the field `event`."""
    pictures = {what.removesuffix("_us"): picture(results, what) for what in drawn(results)}
    if event:
        pictures["events"] = event_picture(results, event)
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in pictures.items():
        path = out / f"{name}.svg"
        write_svg(text, path)
        paths.append(path)
    return paths


def write_svg(text: str, path: Path) -> None:
    """Write a picture of this module as a file of its own."""
    path.write_text('<?xml version="1.0" encoding="utf-8"?>\n' + text)
