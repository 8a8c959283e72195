# SPDX-License-Identifier: GPL-2.0
"""A running connection, looked at from outside: what ss knows of it, over time."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from longfat.core import data
from longfat.core.errors import LabError
from longfat.run import ss

# What can be watched -> the axis.
FIELDS = {
    "cwnd": "congestion window, packets",
    "ssthresh": "slow start threshold, packets",
    "unacked": "in flight, packets",
    "rtt": "smoothed RTT, ms",
    "minrtt": "minimum RTT, ms",
    "retrans": "retransmitted, packets",
    "delivery_rate": "delivery rate, Mbit/s",
    "pacing_rate": "pacing rate, Mbit/s",
}
_RATES = {"delivery_rate", "pacing_rate"}
# A plot with more lines is not readable.
MOST = 6


@dataclass
class Line:
    """One connection: a value at each time, in seconds."""

    label: str
    t: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)


def parse(text: str) -> dict[str, dict[str, float]]:
    """Connection ("cc local > peer") -> FIELDS -> value, of what ss printed."""
    found = {}
    for one in ss.parse(text):
        values = {key: value for key, value in one.values.items() if key in FIELDS}
        for key in _RATES & set(values):
            values[key] /= 1e6
        if values:
            found[f"{one.cc} {one.local} > {one.peer}"] = values
    return found


def collect(
    read: Callable[[], str],
    what: str,
    *,
    interval: float,
    seconds: float,
    show: Callable[[list[Line]], None] = lambda lines: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Line]:
    """Sample `what` of every connection that `read` tells of, each `interval`, until
    `seconds` are over (0: never), all are gone for a second, or Ctrl-C; `show` gets them
    as they grow.  Raises LabError if there never was one."""
    lines: dict[str, Line] = {}
    began = clock()
    seen = began
    try:
        while True:
            now = clock()
            for label, values in parse(read()).items():
                if what in values and (label in lines or len(lines) < MOST):
                    line = lines.setdefault(label, Line(label))
                    line.t.append(now - began)
                    line.y.append(values[what])
                    seen = now
            show(list(lines.values()))
            if (seconds and now - began >= seconds) or (lines and now - seen > 1):
                break
            sleep(interval)
    except KeyboardInterrupt:
        pass
    if not lines:
        raise LabError(
            f"no connection with a {what} was seen: does `ss -tin` with this filter show one? "
            f"For one in a network namespace: ip netns exec NAME {data.COMMAND} watch ..."
        )
    return list(lines.values())


def plot(lines: Iterable[Line], what: str, *, colour: bool) -> str:
    """The lines in characters, as large as the terminal."""
    import plotext

    columns, rows = shutil.get_terminal_size((80, 24))
    plotext.clear_figure()
    plotext.theme("clear" if not colour else "dark")
    plotext.plotsize(columns, max(10, rows - 1))
    for line in lines:
        plotext.plot(line.t, line.y, label=line.label)
    plotext.title(FIELDS[what])
    plotext.xlabel("time, s")
    plotext.ylim(lower=0)
    text = str(plotext.build())
    return text if colour else str(plotext.uncolorize(text))


def painter(what: str) -> Callable[[list[Line]], None]:
    """Shows lines in place, over and over, if the output is a terminal."""
    if not sys.stdout.isatty():
        return lambda lines: None

    def show(lines: list[Line]) -> None:
        if lines:
            # Cursor home, the picture, and erase what is below it.
            print(f"\x1b[H{plot(lines, what, colour=True)}\x1b[J", end="", flush=True)

    print("\x1b[2J", end="")
    return show
