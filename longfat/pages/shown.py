# SPDX-License-Identifier: GPL-2.0
"""What a figure is made of, before it is a page: numbers with names, tables, pictures."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import hypot, inf
from typing import TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longfat.pages.catalogue import PEERS
from longfat.pages.data import PUBLISHED
from longfat.run.result import Json, interval

Key = TypeVar("Key")


@dataclass(frozen=True)
class Value:
    """A number: ours, over how many seeds, and the paper's if it prints one."""

    ours: float
    half: float = 0.0  # of the 95 % interval
    seeds: int = 1
    paper: float | None = None
    unit: str = ""
    digits: int = 2
    printed: str = ""  # what the paper has, if it is not one number
    each: dict[int, float] = field(default_factory=dict, compare=False)  # seed -> it

    @property
    def beside(self) -> str:
        """What stands beside it, as text."""
        return self.printed or self.show(self.paper)

    @property
    def ratio(self) -> float | None:
        """Ours over the paper's; nothing over nothing is 1."""
        if self.paper is None:
            return None
        if self.paper == 0:
            return inf if self.ours else 1.0
        return self.ours / self.paper

    def show(self, number: float | None) -> str:
        """A number of this kind as text."""
        if number is None:
            return ""
        if number and abs(number) < 10.0**-self.digits:
            return f"{number:.2e}"
        return f"{number:.{self.digits}f}"

    @property
    def text(self) -> str:
        """Ours, with its interval if there is one."""
        if self.seeds == 1 and not self.half:
            return self.show(self.ours)
        small = max(abs(self.ours), self.half) < 10.0**-self.digits
        form = ".2e" if small and self.ours else f"z.{self.digits}f"
        return f"{self.ours:{form}} ± {self.half:{form}}"


def over(
    runs: list[Json],
    of: Callable[[Json], float],
    *,
    paper: float | None = None,
    unit: str = "",
    digits: int = 2,
    printed: str = "",
) -> Value:
    """Mean and interval over the seeds of one case."""
    each = [of(run) for run in runs]
    middle, half = interval(each)
    seeds = dict(zip((int(run["seed"]) for run in runs), each, strict=True))
    return Value(middle, half, len(runs), paper, unit, digits, printed, seeds)


def extreme(
    which: Callable[[list[float]], float],
    runs: list[Json],
    of: Callable[[Json], float],
    *,
    unit: str = "",
    digits: int = 2,
) -> Value:
    """The least (`min`) or the most (`max`) of all runs."""
    return Value(which([of(run) for run in runs]), unit=unit, digits=digits)


def apart(a: Value, b: Value, by: float = 1.0) -> tuple[float, float]:
    """a - by * b, and half of its 95 % interval.  Of the same seeds it is that of the differences
    of each: what a seed draws, such as when flows start, is the same in both where their flows
    are as many.  Else their intervals add as squares; that of one seed is not known, and not in
    it."""
    if len(a.each) > 1 and a.each.keys() == b.each.keys():
        return interval([one - by * b.each[seed] for seed, one in a.each.items()])
    return a.ours - by * b.ours, hypot(a.half, by * b.half)


def minus(a: Value, b: Value, *, unit: str = "", digits: int = 2) -> Value:
    """The difference of two means."""
    return Value(*apart(a, b), min(a.seeds, b.seeds), unit=unit, digits=digits)


def ratio(
    a: Value, b: Value, *, paper: float | None = None, unit: str = "", digits: int = 2
) -> Value:
    """One mean over the other; its interval is that of a - r b at this ratio r, over b."""
    value = a.ours / b.ours
    half = apart(a, b, value)[1] / abs(b.ours)
    return Value(value, half, min(a.seeds, b.seeds), paper, unit, digits)


@dataclass
class Table:
    """Headings, and rows of text."""

    headings: list[str]
    rows: list[list[str]]
    caption: str = ""


@dataclass
class Shown:
    """A figure: what it says in numbers, and how it looks."""

    values: dict[str, Value] = field(default_factory=dict)
    # Those of the runs under the paper's conditions: only criteria of these look at them.
    under: dict[str, Value] = field(default_factory=dict)
    pictures: list[tuple[str, Figure]] = field(default_factory=list)  # (what it shows, it)
    tables: list[Table] = field(default_factory=list)  # of all values, instead of a list of them
    peer_headings: list[str] = field(default_factory=list)
    peers: dict[str, list[str]] = field(default_factory=dict)  # congestion control -> cells


AT_ONCE = "all lose at once: "  # begins what numbers are called of runs in which they do


def prefixed(prefix: str, values: dict[str, Value]) -> dict[str, Value]:
    """These, whose names begin with that."""
    return {prefix + name: value for name, value in values.items()}


def at_once(values: dict[str, Value]) -> dict[str, Value]:
    """These, of such runs."""
    return prefixed(AT_ONCE, values)


# The runs of a scenario file that are there, current or older, by its name.
Runs = Callable[[str], list[Json]]


def public(name: str) -> Json:
    """What a paper prints, of tests/published."""
    return tomllib.loads((PUBLISHED / f"{name}.toml").read_text())


def group(runs: Iterable[Json], key: Callable[[Json], Key]) -> dict[Key, list[Json]]:
    """Runs by what `key` says of each, in their order."""
    found: dict[Key, list[Json]] = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return found


def cc(run: Json) -> str:
    """Of the first flow."""
    return str(run["scenario"]["flow"][0]["cc"])


def case(run: Json) -> str:
    """Of the scenario file."""
    return str(run["scenario"]["case_name"])


def colour(name: str) -> str:
    """Of a line: ours has the first, each of the kernel's own always the same."""
    others = (*(f"C{n}" for n in range(1, 10)), "black")
    return dict(zip(PEERS, others, strict=True)).get(name, "C0")


def legend_beside(axes: Axes) -> None:
    """For more lines than there is room for inside."""
    axes.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))


def goodput(run: Json) -> float:
    """Mbit/s, of all flows."""
    return float(run["summary"]["goodput_bps"]) / 1e6


def loss(run: Json) -> float:
    """Per cent."""
    return float(run["summary"]["loss"]) * 100


def dropped(run: Json) -> float:
    """Packets that the bottleneck dropped, in the measured time."""
    return float(run["summary"]["dropped"])


def losses(flow: int, run: Json) -> float:
    """How often a flow began to recover, in the measured time."""
    return float(run["observed"]["losses"][flow])


def utilisation(run: Json) -> float:
    """Per cent."""
    return float(run["summary"]["utilisation"]) * 100


def rate(run: Json) -> str:
    """The link's, as text."""
    mbit = run["scenario"]["link"]["rate"] / 1e6
    return f"{mbit / 1e3:g} Gbit/s" if mbit >= 1e3 else f"{mbit:g} Mbit/s"
