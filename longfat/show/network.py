# SPDX-License-Identifier: GPL-2.0
"""A picture of a scenario's network before it is run, as text and as SVG: a column for each link,
a row for each entry of traffic with an arrow over the links that it crosses."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from longfat.core import units
from longfat.run.scenario import (
    Flow,
    Group,
    Link,
    Objects,
    Request,
    Scenario,
    Short,
    Tcp,
    Udp,
    Video,
)

ROW, COLUMN, CHARACTER, MARGIN = 20, 190, 7.3, 16  # of the SVG, pixels


@dataclass(frozen=True)
class Row:
    """An entry: what it is, and from which link to which it goes, from 0 on."""

    label: str
    first: int
    last: int
    reverse: bool


def _time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1e3:g} ms"


def facts(scenario: Scenario, link: Link) -> list[str]:
    """What a link is, a line each; what is as by default is not said."""
    packets = scenario.packets(link)
    waits = _time(float(f"{packets * link.mtu * 8 / link.rate:.3g}"))
    lines = [units.show_rate(link.rate), f"buffer {packets} packets, {waits}"]
    named = {key: value for key, value in link.aqm_options.items()}
    told = "".join(f", {key} {value}" for key, value in named.items())
    lines.append(f"{link.aqm}{told}{', ECN' if link.ecn else ''}")
    if link.mtu != 1500:
        lines.append(f"MTU {link.mtu} bytes")
    for name in ("loss", "duplicate", "reorder"):
        if value := getattr(link, name):
            burst = (
                f" in bursts of {link.loss_burst:g}" if name == "loss" and link.loss_burst else ""
            )
            lines.append(f"{name} {value * 100:g} %{burst}")
    if link.jitter:
        lines.append(f"jitter {_time(link.jitter)}")
    if link.aggregate:
        lines.append(f"aggregates for {_time(link.aggregate)}")
    if link.ack_thin > 1:
        lines.append(f"one ACK of {link.ack_thin}")
    if link.delay:
        lines.append(f"delay {_time(link.delay)}")
    if link.changing and (count := len(scenario.steps(link)) - 1):
        lines.append(f"changes {count} times: {', '.join(sorted(link.changing))}")
    if link.reverse_rate:
        back = scenario.packets(link, reverse=True)
        lines.append(f"back {units.show_rate(link.reverse_rate)}, {back} packets")
    if link.reverse_loss:
        lines.append(f"back loss {link.reverse_loss * 100:g} %")
    for name in ("delay", "jitter"):
        if value := getattr(link, f"reverse_{name}"):
            lines.append(f"back {name} {_time(value)}")
    return lines


def _sizes(entry: Objects) -> str:
    if entry.mean_size:
        return f"of {entry.mean_size} bytes"
    low, high = (entry.min_size or 1, entry.max_size or max(size for size, _ in entry.sizes))
    return f"of {low} to {high} bytes"


def _what(entry: Group) -> str:
    if isinstance(entry, Udp):
        return f"udp {units.show_rate(entry.rate)}"
    if isinstance(entry, Short):
        often = f"{entry.per_second:g} a second" if entry.per_second else f"{len(entry.arrivals)}"
        return f"short {entry.cc}, {often} {_sizes(entry)}"
    count = f"{entry.count} x " if entry.count > 1 else ""
    if isinstance(entry, Request):
        return f"{count}request {entry.cc}, {_sizes(entry)}"
    if isinstance(entry, Video):
        return f"{count}video {entry.cc}, {units.show_rate(entry.rate)}"
    parallel = f" of {entry.parallel} connections" if entry.parallel > 1 else ""
    return f"{count}{entry.cc}{parallel}"


def _misled(entry: Tcp) -> list[str]:
    """What its receiver does that it should not."""
    words = [f"an ACK each {entry.ack_every} bytes"] if entry.ack_every else []
    words += [f"ACKs {entry.ack_ahead} bytes ahead"] if entry.ack_ahead else []
    return words + ([] if entry.ecn_echo else ["no ECN echo"])


def rows(scenario: Scenario) -> list[Row]:
    """The entries, in the order of their senders."""
    found = []
    for n, entry in enumerate(scenario.groups):
        words = [f"s{n} {_what(entry)}", f"RTT {_time(entry.rtt)}"]
        if isinstance(entry, Flow) and entry.access:
            words.append(f"access {units.show_rate(entry.access)}")
        if isinstance(entry, Tcp):
            words += _misled(entry)
        if entry.start:
            words.append(f"from {_time(entry.start)}")
        last = entry.leave or len(scenario.path)
        found.append(Row(", ".join(words), entry.enter - 1, last - 1, entry.reverse))
    return found


def _titles(scenario: Scenario) -> list[list[str]]:
    """The lines above each column."""
    many = len(scenario.path) > 1
    return [
        [*([f"link {n}"] if many else ["bottleneck"]), *facts(scenario, link)]
        for n, link in enumerate(scenario.path, 1)
    ]


def text(scenario: Scenario) -> str:
    """The picture for a terminal."""
    titles, found = _titles(scenario), rows(scenario)
    width = max(len(line) for of in titles for line in of) + 3
    left = max(len(row.label) for row in found) + 3
    out = [f"{scenario.name}: {scenario.title}, {_time(scenario.duration)}", ""]
    for n in range(max(map(len, titles))):
        cells = "".join(f"{of[n] if n < len(of) else '':{width}}" for of in titles)
        out.append(f"{'':{left}}{cells}".rstrip())
    out.append("")
    for row in found:
        length = (row.last - row.first + 1) * width - 3
        line = "-" * (length - 1)
        arrow = f"<{line}" if row.reverse else f"{line}>"
        out.append(f"{row.label:{left}}{'':{row.first * width}}{arrow}")
    return "\n".join(out) + "\n"


def svg(scenario: Scenario) -> str:
    """The same as an SVG file."""
    titles, found = _titles(scenario), rows(scenario)
    column = max(COLUMN, round(max(len(x) for of in titles for x in of) * CHARACTER) + 2 * MARGIN)
    left = round(max(len(row.label) for row in found) * CHARACTER) + 2 * MARGIN
    top = ROW * (max(map(len, titles)) + 3)
    width, height = left + column * len(titles) + MARGIN, top + ROW * (len(found) + 1)
    head = f"{scenario.name}: {scenario.title}, {_time(scenario.duration)}"
    width = max(width, round(len(head) * CHARACTER) + 2 * MARGIN)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="12">',
        f"<title>{escape(head)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{MARGIN}" y="{ROW}" font-weight="bold">{escape(head)}</text>',
    ]
    for n, of in enumerate(titles):
        x = left + n * column
        out.append(
            f'<rect x="{x}" y="{1.5 * ROW:g}" width="{column - MARGIN}" '
            f'height="{height - 2 * ROW}" fill="#eef3f8" stroke="#8aa"/>'
        )
        for i, line in enumerate(of):
            y = round((2.5 + i) * ROW)
            out.append(f'<text x="{x + MARGIN / 2:g}" y="{y}">{escape(line)}</text>')
    for i, row in enumerate(found):
        y = top + ROW * i
        begin = left + row.first * column - 6
        end = left + (row.last + 1) * column - MARGIN + 6
        tip, way = (begin, 6) if row.reverse else (end, -6)
        out += [
            f'<text x="{MARGIN}" y="{y + 4}">{escape(row.label)}</text>',
            f'<path d="M{begin} {y}H{end}M{tip + way} {y - 4}L{tip} {y}L{tip + way} {y + 4}" '
            f'fill="none" stroke="#246" stroke-width="1.5"/>',
        ]
    return "\n".join([*out, "</svg>"]) + "\n"
