# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/slow-start.md, from docs/results."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean
from typing import NamedTuple

from longfat.pages.data import Key, grouped, markdown, older
from longfat.pages.shown import dropped
from longfat.pages.tables import picture
from longfat.run.result import Json

FIRST_MINUTE = ("slow-start-50m", "slow-start-1g", "slow-start-10g")
TIMES = ("slow-start-time-50m", "slow-start-time-1g", "slow-start-time-10g")
HELD_OUT = "slow-start-held-out"
ALARMS = ("slow-start-alarm-200m", "slow-start-alarm-1g")
WAYS = {"classic": "classic", "hystart": "hystart++", "limited": "limited", "train": "train"}


class Cell(NamedTuple):
    """A path of the grid."""

    mbit: float
    rtt_ms: float
    buffer: float  # BDP

    @property
    def rate(self) -> str:
        """In the unit that one would say."""
        return f"{self.mbit / 1e3:g} Gbit/s" if self.mbit >= 1e3 else f"{self.mbit:g} Mbit/s"

    @property
    def text(self) -> str:
        """As the name of a number has it."""
        return f"{self.rate} x {self.rtt_ms:g} ms, {self.buffer:g} BDP"


def cell(run: Json) -> Cell:
    """Where a run was."""
    link = run["scenario"]["link"]
    return Cell(link["rate"] / 1e6, run["flows"][0]["base_rtt_ms"], link["buffer"][0])


def who(run: Json) -> str:
    """Whose slow start it is: the parameter's value, or the kernel's own."""
    return str(run["scenario"]["case_name"])


def way(run: Json) -> str:
    """The value of the parameter slow_start."""
    cc = run["flows"][0]["cc"]
    return str(run["scenario"]["module"].get(cc, {}).get("slow_start", cc))


def after(run: Json) -> int:
    """Those that congestion avoidance lost."""
    return round(dropped(run)) - int(run["observed"]["until"])


def over(mine: float, theirs: float) -> float:
    """One count over another that may be 0: over one packet at least."""
    return mine / max(theirs, 1)


def better(by: dict[str, Json]) -> float:
    """Seconds of the better of classic and cubic."""
    return min(float(by[name]["observed"]["completion_s"]) for name in ("classic", "cubic"))


def _whole(name: str, key: Callable[[Json], Key]) -> dict[Key, dict[str, Json]]:
    """The runs of docs/results/NAME.json by `key` and case, where there are those of all cases."""
    found = {at: {who(run): run for run in of} for at, of in grouped(name, key).items()}
    cases = max(map(len, found.values()), default=0)
    return {at: by for at, by in found.items() if len(by) == cases}


def grid(name: str) -> dict[Cell, dict[str, Json]]:
    """The runs of docs/results/NAME.json by cell and case."""
    return _whole(name, cell)


def _label(key: Cell) -> list[str]:
    return [f"{key.rtt_ms:g} ms", f"{key.buffer:g}"]


def _ratio(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def first_minute(name: str) -> str:
    """Packets lost, and until slow start was over."""
    found = grid(name)
    names = list(next(iter(found.values()))) if found else []
    rows = []
    for key, by in found.items():
        counts = []
        for one in names:
            ended = by[one]["observed"]["over_s"] is not None
            until = f" ({by[one]['observed']['until']})" if ended else ""
            counts.append(f"{dropped(by[one]):.0f}{until}")
        train = by["train"]
        goodput = train["summary"]["goodput_bps"] / by["classic"]["summary"]["goodput_bps"]
        rows.append(
            [
                *_label(key),
                *counts,
                *(_ratio(over(dropped(train), dropped(by[than]))) for than in ("classic", "cubic")),
                f"{goodput:.3f}",
            ]
        )
    heads = [WAYS.get(one, f"`{one}`") for one in names]
    ratios = ["train / classic", "train / cubic", "goodput, train / classic"]
    return markdown(["RTT", "buffer, BDP", *heads, *ratios], rows)


def others() -> str:
    """The same of our other algorithms."""
    rows = []
    for key, by in grid("slow-start-others").items():
        row = _label(key)
        for cc in dict.fromkeys(name.split("-")[0] for name in by):
            classic, train = by[f"{cc}-classic"], by[f"{cc}-train"]
            goodput = train["summary"]["goodput_bps"] / classic["summary"]["goodput_bps"]
            row += [
                f"{dropped(classic):.0f} ({classic['observed']['until']})",
                f"{dropped(train):.0f} ({train['observed']['until']})",
                f"{goodput:.3f}",
            ]
        rows.append(row)
    heads = [
        head
        for cc in ("ghstcp", "cwhstcp", "composite")
        for head in (f"`{cc}`, classic", "train", "goodput, train / classic")
    ]
    return markdown(["RTT", "buffer, BDP", *heads], rows)


SIZES = {10**6: "1 MB", 10**7: "10 MB", 10**8: "100 MB", 10**9: "1 GB"}


def size(run: Json) -> str:
    """What is sent."""
    return SIZES[run["scenario"]["flow"][0]["bytes"]]


def times(name: str) -> dict[tuple[Cell, str], dict[str, Json]]:
    """The runs of docs/results/NAME.json by cell, size and case."""
    return _whole(name, lambda run: (cell(run), size(run)))


def completion() -> str:
    """Seconds for a file of each size: with train, and over the better of classic and cubic."""
    rows: dict[Cell, dict[str, str]] = {}
    for name in TIMES:
        for (key, bytes_), by in times(name).items():
            took = float(by["train"]["observed"]["completion_s"])
            rows.setdefault(key, {})[bytes_] = f"{took:.2f} ({took / better(by):.3f})"
    table = []
    for key, of in rows.items():
        table.append([key.rate, *_label(key), *(of.get(bytes_, "") for bytes_ in SIZES.values())])
    return markdown(["rate", "RTT", "buffer, BDP", *SIZES.values()], table)


CONDITIONS = {
    "clean": "nothing",
    "jitter-1ms": "jitter of 1 ms",
    "jitter-5ms": "jitter of 5 ms",
    "jitter-20ms": "jitter of 20 ms",
    "loss": "random loss 1e-5",
    "gro": "GRO of 1 ms",
    "acks": "every eighth ACK",
    "unpaced": "no pacing",
    "no-timestamps": "no timestamps",
    "single": "single packets",
    "policer": "a policer",
    "aggregate": "aggregates of 4 ms",
    "faster": "four times faster after five RTTs",
    "longer": "a third longer after five RTTs",
    "cubic": "beside cubic",
    "reno": "beside reno",
    "ltcp": "beside its own kind",
}


def alarms(name: str) -> str:
    """Goodput of the first 30 s over classic's, and what was lost."""
    found = grouped(name, lambda run: (who(run), way(run)))
    rows = []
    for case in dict.fromkeys(case for case, _ in found):
        goodput, counts = {}, []
        for one in WAYS.values():
            runs = found.get((case, one), [])
            if runs:
                goodput[one] = mean(run["flows"][0]["goodput_bps"] / 1e6 for run in runs)
                until = mean(run["observed"]["until"] for run in runs)
                counts.append(f"{mean(map(dropped, runs)):.0f} ({until:.0f})")
        if len(counts) < 3:
            continue
        classic = goodput.pop("classic")
        ratios = [f"{value / classic:.3f}" for value in goodput.values()]
        rows.append([CONDITIONS[case], f"{classic:.1f}", *ratios, *counts])
    heads = ["classic, Mbit/s", "hystart++ / classic", "train / classic"]
    return markdown(["", *heads, "lost: classic", "hystart++", "train"], rows)


PARTS = {
    "docs/slow-start.md": {
        "first-minute-50m": lambda: first_minute("slow-start-50m"),
        "first-minute-1g": lambda: first_minute("slow-start-1g"),
        "first-minute-10g": lambda: first_minute("slow-start-10g"),
        "first-minute": lambda: picture("slow-start-losses"),
        "beginning": lambda: picture("slow-start-beginning"),
        "others": others,
        "completion": completion,
        "time": lambda: picture("slow-start-time"),
        "held-out": lambda: picture(HELD_OUT),
        "alarms-200m": lambda: alarms("slow-start-alarm-200m"),
        "alarms-1g": lambda: alarms("slow-start-alarm-1g"),
        "alarms": lambda: picture("slow-start-alarms"),
        "older": older,
    }
}
