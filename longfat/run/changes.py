# SPDX-License-Identifier: GPL-2.0
"""How a link changes in the course of a run: `link.at` and `link.trace` as one list of steps, for
guest/sch_lfvary.c.

A trace is a file of one of two kinds.  A table has a line per change:

    time_s,rate_mbit,delay_ms,loss
    0,40,12,0
    15,25,31,0.01

of which a file may lack any column but the first.  The other kind is Mahimahi's: a line per packet
that the link can deliver, with the millisecond of it, over and over again.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

# What Mahimahi delivers at a time, bytes of IP packets.
DELIVERY = 1500
MOST = 1_000_000  # steps of a run
OWN = Path(__file__).parent / "traces"

# What a column is called, what it is, and how much of that one of the column's is.
_COLUMNS = {"rate_mbit": ("rate", 1e6), "delay_ms": ("delay", 1e-3), "loss": ("loss", 1.0)}


@dataclass(frozen=True)
class Change:
    """What is otherwise from `time` on, in seconds; None: as before."""

    time: float
    rate: float | None = None  # bits per second
    delay: float | None = None  # seconds
    loss: float | None = None
    down: bool | None = None
    deliver: int = 0  # bytes, at once


@dataclass(frozen=True)
class Trace:
    """The changes of a file, which begin again after `period` seconds unless that is 0."""

    changes: tuple[Change, ...]
    period: float = 0.0

    @property
    def says(self) -> set[str]:
        """Of what it has something."""
        has = {name for name, _ in _COLUMNS.values() for one in self.changes if _of(one, name)}
        return has | {"rate"} if self.period else has


def _of(one: Change, name: str) -> bool:
    return getattr(one, name) is not None


def shipped() -> list[str]:
    """The names of the lab's own traces."""
    return sorted(path.stem for path in OWN.glob("*.csv"))


def read(name: str, base: Path) -> Trace:
    """A trace by the name of the lab's own, or of a file, relative to `base`; ValueError says what
    is wrong with it, and in which line."""
    path = OWN / f"{name}.csv" if name in shipped() else base / Path(name).expanduser()
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", "") or "it is not text"
        raise ValueError(
            f"{path}: cannot be read: {why}; valid: {', '.join(shipped())}, or a file"
        ) from error
    rows = [(n, line.strip()) for n, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise ValueError(f"{path}: is empty")
    return _deliveries(path, rows) if rows[0][1].isdigit() else _table(path, rows)


def _deliveries(path: Path, rows: Sequence[tuple[int, str]]) -> Trace:
    at = Counter({0: 0})  # until its first line nothing leaves
    last = 0
    for number, text in rows:
        if not text.isdigit() or int(text) < last:
            raise ValueError(
                f"{path}: line {number}: {text!r} is no millisecond at or after the one before"
            )
        last = int(text)
        at[last] += 1
    if not last:
        raise ValueError(f"{path}: its last line is 0: it says how long the trace is, in ms")
    changes = (Change(ms / 1e3, rate=0, deliver=n * DELIVERY) for ms, n in sorted(at.items()))
    return Trace(tuple(changes), last / 1e3)


def _table(path: Path, rows: Sequence[tuple[int, str]]) -> Trace:
    names = [name.strip() for name in rows[0][1].split(",")]
    valid = ["time_s", *_COLUMNS]
    if names[0] != "time_s" or not 1 < len(names) == len(set(names)) or set(names) - set(valid):
        raise ValueError(
            f"{path}: line {rows[0][0]}: begins with neither a millisecond nor a list of columns, "
            f"time_s and one of {', '.join(_COLUMNS)} at least, with commas"
        )
    changes: list[Change] = []
    for number, text in rows[1:]:
        words = next(csv.reader([text]))
        try:
            values = [float(word) if word.strip() else None for word in words]
            if len(values) != len(names) or any(x is not None and not 0 <= x < 1e9 for x in values):
                raise ValueError
            if values[0] is None or (changes and values[0] <= changes[-1].time):
                raise ValueError
        except ValueError:
            raise ValueError(
                f"{path}: line {number}: {text!r}: has to have {len(names)} numbers, of which the "
                f"time is later than in the line before"
            ) from None
        given = {
            _COLUMNS[name][0]: value * _COLUMNS[name][1]
            for name, value in zip(names[1:], values[1:], strict=True)
            if value is not None
        }
        if given.get("loss", 0) > 1:
            raise ValueError(f"{path}: line {number}: a loss is a probability, 0 to 1")
        one = Change(values[0], given.get("rate"), given.get("delay"), given.get("loss"))
        changes.append(one)
    if not changes:
        raise ValueError(f"{path}: has no line but that of its columns")
    return Trace(tuple(changes))


# --- what a run has of it


def repeated(change: Change, every: float, duration: float) -> Iterable[Change]:
    """A change, and again each so many seconds (0: not), before the end of the run."""
    times = math.ceil((duration - change.time) / every) if every else 1
    return (replace(change, time=change.time + n * every) for n in range(times))


def unrolled(trace: Trace, duration: float) -> Iterable[Change]:
    """A trace, over and over again if it has a period."""
    rounds = math.ceil(duration / trace.period) if trace.period else 1
    for n in range(rounds):
        for one in trace.changes:
            time = one.time + n * trace.period
            if time < duration:
                yield replace(one, time=time)


@dataclass(frozen=True)
class Step:
    """The link from a time on, in nanoseconds."""

    at: int
    rate: int  # bits per second; 0: it is down
    delay: int = 0  # ns
    loss: float = 0.0
    deliver: int = 0  # bytes, at `at`


def steps(rate: int, found: Iterable[Change]) -> list[Step]:
    """The steps of a link that begins with `rate` bits per second, and with no delay and loss of
    its own."""
    state, down = Step(0, rate), False
    at = {0: state}
    for one in sorted(found, key=lambda change: change.time):
        ns = round(one.time * 1e9)
        before = at[ns].deliver if ns in at else 0
        state = replace(
            state,
            at=ns,
            rate=state.rate if one.rate is None else round(one.rate),
            delay=state.delay if one.delay is None else round(one.delay * 1e9),
            loss=state.loss if one.loss is None else one.loss,
            deliver=before + one.deliver,
        )
        down = down if one.down is None else one.down
        at[ns] = replace(state, rate=0, deliver=0) if down else state
    return [at[ns] for ns in sorted(at)]


class Carried:
    """What a link can have carried until a time, in bits and seconds."""

    def __init__(self, of: Sequence[Step]) -> None:
        self._steps = of
        self._at = [one.at / 1e9 for one in of]
        self._bits = [0.0]  # until each step, without what is delivered at its time
        for one, after in pairwise(of):
            more = 8 * one.deliver + one.rate * (after.at - one.at) / 1e9
            self._bits.append(self._bits[-1] + more)

    def _before(self, t: float) -> int:
        return max(0, bisect_left(self._at, t) - 1)

    def until(self, t: float) -> float:
        """Bits, without what is delivered at `t`."""
        i = self._before(t)
        bits = self._bits[i] + self._steps[i].rate * max(0.0, t - self._at[i])
        return bits + 8 * self._steps[i].deliver * (t > self._at[i])

    def when(self, bits: float) -> float:
        """When it has carried so many: infinity if it never does."""
        i = max(0, bisect_left(self._bits, bits) - 1)
        one = self._steps[i]
        after = self._at[i + 1] if i + 1 < len(self._at) else math.inf
        rest = bits - self._bits[i] - 8 * one.deliver
        if rest <= 0:
            return self._at[i]
        return min(after, self._at[i] + rest / one.rate) if one.rate else after

    def takes(self, t: float, bits: float) -> float:
        """How long from `t` on it takes to carry so many: infinity if it never does."""
        return max(0.0, self.when(self.until(t) + bits) - t)

    def most(self, seconds: float) -> float:
        """The most bits that it carries in so long a time."""

        def of(begin: float) -> float:
            end = math.nextafter(begin + seconds, math.inf)  # with what is delivered then
            return self.until(end) - self.until(begin)

        return max(max(of(t), of(max(0.0, t - seconds))) for t in self._at)

    def delay(self, t: float) -> float:
        """What a packet that leaves it then takes behind it, seconds."""
        return self._steps[self._before(math.nextafter(t, math.inf))].delay / 1e9


def mean_rate(of: Sequence[Step], begin: float, end: float) -> float:
    """What the link could carry from `begin` to `end` (seconds), in bits per second."""
    carried = Carried(of)
    return (carried.until(end) - carried.until(begin)) / (end - begin)


def whole(rate: int) -> int:
    """A rate in bytes per second.  They are whole ones, as tc's are."""
    return max(1, rate // 8) if rate else 0


def of_rate(of: Sequence[Step]) -> str:
    """The file of the bottleneck."""
    return "".join(f"{one.at} {8 * whole(one.rate)} 0 0 {one.deliver}\n" for one in of)


def of_delay(of: Sequence[Step], seed: int) -> str:
    """The file of the hop behind it."""
    lines = (f"{x.at} -1 {x.delay} {min(2**32 - 1, round(x.loss * 2**32))} 0\n" for x in of)
    return f"seed {seed}\n{''.join(lines)}"
