# SPDX-License-Identifier: GPL-2.0
"""What a path is, as far as its sender can see it: rate, round-trip time, buffer and loss, each
with its range and with how sure that is.  docs/measure.md has the rules and their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from statistics import median

from longfat.core import units
from longfat.core.errors import LabError
from longfat.measure.path import limits
from longfat.run.result import Json, percentile
from longfat.show import report

WINDOW = 1.0  # seconds of a rate, at least
ROUNDS = 8  # round trips of it, at least
PART = 4  # of a window: a link that is full carries no more in one than in the whole
AGREE = 0.1  # by which rates, or the lengths of queues, differ that are those of one link
RIGHT = 0.03  # to which a rate is right that is sure
SEEN = 3  # packets to which the length of a queue is right
AT_RATE = 0.5  # of the rate: below it a round trip is long for another reason than a queue
STILL = 1e-3  # seconds above the base that are no queue,
SHARE = 0.02  # or this share of it
FULL = 0.7  # of the longest queue: packets may be lost for want of room
EMPTY = 0.5  # of it: below, they are not
SURE = 0.99  # the probability that a share is in its interval
BURST = 2.0  # packets lost at once, from which on they are not lost one by one
CLEARLY = 5  # times as many are lost at a full queue, if that is what loses them
QUIET = 3  # round trips without a packet sent again end a recovery,
LONG = 20  # and these in any case
ENOUGH = 10  # packets lost at random of which a share is known
FACTOR = 1.5  # to which that share is right if it is sure
PACKETS = 1000  # that a contender needs for that, away from a full queue
NONE = 1e-4  # a share that is as good as none


@dataclass(frozen=True)
class Seen:
    """One property of a path."""

    value: float
    low: float
    high: float
    sure: bool
    how: str  # a sentence


@dataclass(frozen=True)
class Path:
    rate: Seen  # bit/s, with headers of IP
    rtt: Seen  # seconds, without a queue
    buffer: Seen  # bytes
    loss: Seen  # of packets, besides those for which the buffer had no room


@dataclass(frozen=True)
class _Sample:
    t: float  # seconds
    queue: float  # seconds above the base RTT
    rtt: float  # seconds
    delivered: float  # packets, from sample to sample
    again: float


@dataclass(frozen=True)
class _Run:
    samples: list[_Sample]
    packet: int  # bytes
    mss: int
    begin: float  # seconds, when its start is over
    label: str  # of whose run it is
    held: bool  # by a host

    def longest(self) -> float:
        return max((one.queue for one in self.samples), default=0.0)


def _added(flow: Json, key: str) -> dict[float, float]:
    """The sum of a counter of all connections, by the times of the samples."""
    found: dict[float, float] = {}
    for connection in flow["connections"]:
        for t, value in zip(connection["t"], connection[key], strict=True):
            found[t] = found.get(t, 0.0) + (value or 0)
    return found


def _run(result: Json, base: float) -> _Run:
    (flow,) = result["flows"]
    # The lab's own results call it otherwise.
    sent_again = "retransmitted" if "path" in result else "retransmissions"
    delivered, again = _added(flow, "delivered"), _added(flow, sent_again)
    rtts: dict[float, list[float]] = {}
    for one in flow["connections"]:
        for t, us in zip(one["t"], one["rtt_us"], strict=True):
            if us:
                rtts.setdefault(t, []).append(us / 1e6)
    samples = []
    for before, t in pairwise(sorted(rtts)):
        rtt = median(rtts[t])
        samples.append(
            _Sample(
                t,
                max(0.0, rtt - base),
                rtt,
                max(0.0, delivered[t] - delivered[before]),
                max(0.0, again[t] - again[before]),
            )
        )
    mtu = result["scenario"]["link"]["mtu"] or 1500
    mss = result["path"]["mss"] if "path" in result else mtu - 52
    held = "path" in result and limits.held(result)
    return _Run(samples, mtu, mss, result["scenario"]["warmup"], report.label(result), held)


def _at_rate(run: _Run, rate: float) -> _Run:
    """The same without queues where the link did not carry much: a timeout, or an acknowledgment
    that was delayed, makes a round trip long, too."""
    found = []
    for place, one in enumerate(run.samples):
        first = place
        while first and run.samples[first].t > one.t - one.rtt:
            first -= 1
        took = one.t - run.samples[first].t
        got = sum(x.delivered for x in run.samples[first + 1 : place + 1]) * run.packet * 8
        queue = one.queue if took and got >= AT_RATE * rate * took else 0.0
        found.append(replace(one, queue=queue))
    return replace(run, samples=found)


def _still(base: float) -> float:
    return max(STILL, SHARE * base)


# --- rate


def _rates(
    run: _Run, base: float, *, busy: bool = False, part: int = 1
) -> Iterator[tuple[float, float]]:
    """Of windows one after the other, the rate, bit/s, and the share of packets lost; with `busy`,
    of those in which a queue stood all the time; with `part`, of windows so many times as short."""
    window: list[_Sample] = []
    for before, one in pairwise(run.samples):
        if busy and min(before.queue, one.queue) <= _still(base):
            window = []
            continue
        window = window or [before]
        window.append(one)
        took = one.t - window[0].t
        if took >= max(WINDOW, ROUNDS * one.rtt) / part:
            arrived = sum(x.delivered for x in window[1:])
            lost = sum(x.again for x in window[1:])
            yield arrived * run.packet * 8 / took, lost / max(1.0, arrived + lost)
            window = []


def _of_two(values: list[float]) -> float:
    """The most that two runs had: a pause of a host may be all that the first one saw."""
    return sorted(values)[-2:][0] if values else 0.0


def _rate(runs: list[_Run], base: float, carried: float) -> Seen:
    best = max([carried, *(rate for run in runs for rate, _ in _rates(run, base))])
    parts = [[rate for rate, _ in _rates(run, base, part=PART)] for run in runs]
    fastest = max(best, _of_two([max(rates) for rates in parts if rates]))
    # A window that a host keeps short is sent in bursts, and these queue.
    free = [run for run in runs if not run.held]
    found = [one for run in free for one in _rates(run, base, busy=True)]
    found = [one for one in found if one[0] >= AT_RATE * best]
    if len(found) >= 3:
        # The link is never faster than it is; it may have been idle for a moment.
        rates = [rate for rate, _ in found]
        low, value, high = (percentile(rates, p) or 0.0 for p in (50, 90, 100))
        if fastest > (1 + AGREE) * value:
            how = "A lower bound: more was carried for a moment than where a queue stood, so that "
            how += "was no full link."
            return Seen(best, carried, fastest, False, how)
        if high - low <= AGREE * value:
            how = f"A queue stood in {len(found)} windows, and their rates agree."
            lost = median(share for _, share in found)
            if lost > RIGHT:
                how += f" The link may have carried the {lost * 100:.2g} % that were lost, too."
            return Seen(value, low, high / (1 - lost), lost <= RIGHT, how)
        how = "Rates differ where a queue stood, as if others sent, too. The highest is written."
    else:
        how = "A lower bound: no queue stood for long, so nothing filled the path."
    return Seen(best, carried, fastest, False, how)


# --- buffer and loss


@dataclass
class _Counts:
    """Packets that arrived, and those that were sent again."""

    delivered: float = 0.0
    again: float = 0.0
    contenders: int = 1
    # Sums over samples, of products of the two.
    squared: float = 0.0
    across: float = 0.0
    squared_again: float = 0.0

    def add(self, one: _Sample) -> None:
        self.delivered += one.delivered
        self.again += one.again
        self.squared += one.delivered**2
        self.across += one.delivered * one.again
        self.squared_again += one.again**2

    def and_of(self, other: _Counts) -> _Counts:
        """Both together."""
        names = [one.name for one in fields(self)]
        return _Counts(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def share(self) -> float:
        """Of packets sent; each that was lost was sent again."""
        return self.again / (self.delivered + self.again) if self.delivered else 0.0

    @property
    def burst(self) -> float:
        """How many are lost at once: the variance of what a sample lost, over what it is where
        packets are lost one by one."""
        if not self.again or not self.delivered:
            return 1.0
        p = self.again / self.delivered
        variance = self.squared_again - 2 * p * self.across + p**2 * self.squared
        return max(1.0, variance / self.again)

    def interval(self) -> tuple[float, float]:
        """That of the share; packets that are lost at once count as one."""
        from scipy.stats import chi2  # a second, which only the answer has to wait

        lost = self.again / self.burst
        packets = max(1.0, (self.delivered + self.again) / self.burst)
        low = float(chi2.ppf((1 - SURE) / 2, 2 * lost)) / 2 / packets if lost else 0.0
        return low, float(chi2.ppf((1 + SURE) / 2, 2 * lost + 2)) / 2 / packets


def _sort(run: _Run, longest: float, full: _Counts, empty: _Counts) -> float:
    """Count a run's packets: those near a full queue with what is sent again for them, and those
    away from it.  The longest queue of this run next to which something was sent again."""
    found, near = 0.0, False
    since = last = begins = 0.0
    peak = 0.0
    for one in run.samples:
        if longest and one.queue >= EMPTY * longest:
            near, since, last = True, one.t, one.t
            peak = max(peak, one.queue)
        elif near:
            # What was lost in a sample must not decide to which side it belongs: then that side
            # would have too much or too little of it.
            if begins - last > QUIET * one.rtt:
                near, peak = False, 0.0
            elif one.again and one.t - since <= LONG * one.rtt:
                last = one.t
        if near:
            if peak >= FULL * longest:
                full.add(one)
                if one.again:
                    found = max(found, peak)
        elif one.t >= run.begin:
            # Slow start fills a buffer and has left it before the next sample.
            empty.add(one)
        begins = one.t
    return found


def _sorted(runs: list[_Run], longest: float) -> tuple[_Counts, dict[str, _Counts], list[float]]:
    """Of all runs: what is near a full queue, what is not, for each contender, and of each run the
    longest queue next to which something was sent again."""
    full, empty = _Counts(), {run.label: _Counts() for run in runs}
    return full, empty, [_sort(run, longest, full, empty[run.label]) for run in runs]


def _longest(runs: list[_Run], base: float) -> float:
    """The longest queue of the runs that had one, in the middle."""
    each = [x for run in runs if (x := run.longest()) > _still(base)]
    return median([x for x in each if x >= EMPTY * _of_two(each)]) if each else 0.0


def _buffer(
    rate: Seen, base: float, longest: float, at_full: list[float], packet: int, *, overflows: bool
) -> Seen:
    if overflows:
        low, middle, high = min(at_full), median(at_full), max(at_full)
        agree = len(at_full) >= 3 and high - low <= 2 * AGREE * middle
        many = f"{len(at_full)} run{'s' if len(at_full) > 1 else ''}"
        how = f"Packets were lost in {many} when the queue was {middle * 1e3:.3g} ms long."
        if not agree:
            how += " These lengths differ." if len(at_full) >= 3 else " That is few."
        if not rate.sure:
            how += " It is that time at a rate that is not sure."
        per, off = rate.value / 8, SEEN * packet
        exact = off <= AGREE * middle * per
        if not exact:
            how += f" A queue is seen to {SEEN} packets only."
        low = max(0.0, low * per - off)
        return Seen(middle * per, low, high * per, agree and exact and rate.sure, how)
    least, bdp = longest * rate.value / 8, base * rate.value / 8
    how = f"No queue was seen to be full; the longest was {longest * 1e3:.3g} ms. "
    how += "A guess: one BDP." if bdp > least else "A guess: that."
    return Seen(max(least, bdp), least, max(least, bdp), False, how)


def _by_chance(of: dict[str, _Counts]) -> _Counts:
    """The counts of the contenders that lost least and as much as each other.  What is lost by
    chance meets all alike; who loses more, or many at once where others do not, fills the buffer
    between two samples."""
    found = _Counts(contenders=0)
    known = [one for one in of.values() if one.delivered >= PACKETS]
    known = [one for one in known if one.burst < BURST] or known
    for one in sorted(known, key=lambda one: one.share):
        if found.delivered and one.interval()[0] > found.interval()[1]:
            break
        found = found.and_of(one)
    return found


def _loss(counts: _Counts, *, apart: bool) -> Seen:
    if not counts.delivered:
        how = "Hardly a packet was seen away from a full queue: nothing is known. A guess: none."
        return Seen(0.0, 0.0, 1.0, False, how)
    low, high = counts.interval()
    lost, packets = round(counts.again), round(counts.delivered + counts.again)
    how = f"{lost} of {packets} packets were sent again away from a full queue."
    if not apart:
        how = f"{lost} of {packets} packets were sent again; which of them for want of room in a "
        how += "buffer is not seen, as no queue was."
    # A handful may be anything: a packet that was late, the last one of a run.
    few = lost < ENOUGH
    known = counts.share <= FACTOR * low and high <= FACTOR * counts.share
    if lost and few:
        how += " That is few: none is written."
    elif counts.contenders < 2:
        how += " All are one contender's, which may fill the buffer between two samples."
    elif counts.burst >= BURST:
        how += " They were lost many at once."
    elif lost and not known:
        how += " That is few."
    # Where so many packets have lost none, there is as good as none.
    sure = apart and (high <= NONE if few else known and counts.contenders > 1)
    return Seen(0.0 if few else counts.share, low, high, sure, how)


def path(results: list[Json]) -> Path:
    """What results of `longfat measure` say of their path; those of the lab can be read, too."""
    bases = [one["flows"][0]["base_rtt_ms"] / 1e3 for one in results]
    bases = [base for base in bases if base]
    base = min(bases, default=0.0)
    runs = [run for run in (_run(one, base) for one in results) if run.samples]
    if not runs:
        raise LabError("too little was seen of the path for a scenario: make longer runs")
    payload = max(one["summary"]["goodput_bps"] for one in results)
    carried = max(payload * run.packet / run.mss for run in runs)
    rate = _rate(runs, base, carried)
    near = [x for x in bases if x - base <= 2 * _still(base)]
    same = len(near) >= max(2, len(bases) / 2)
    how = f"The shortest of {len(near)} of {len(bases)} runs is within {2e3 * _still(base):.3g} ms."
    if not same:
        how += " A queue of others may stand there, or the path changes."
    rtt = Seen(base, base, max(near), same, how)
    runs = [_at_rate(run, rate.value) for run in runs]
    longest = _longest(runs, base)
    full, empty, peaks = _sorted(runs, longest)
    by_chance = _by_chance(empty)
    at_full = [x for x in peaks if x and x >= FULL * longest]
    overflows = bool(at_full) and full.share > CLEARLY * by_chance.share
    if not overflows:
        # No more are lost there than elsewhere, so all are lost by chance.
        by_chance = _by_chance(_sorted(runs, 0.0)[1])
    return Path(
        rate,
        rtt,
        _buffer(rate, base, longest, at_full, runs[0].packet, overflows=overflows),
        _loss(by_chance, apart=longest > 0),
    )


# --- for people


def rows(of: Path) -> list[list[str]]:
    """Property, value, from, to, whether it is sure, how it is known."""
    show = {
        "rate": units.show_rate,
        "rtt": lambda x: f"{x * 1e3:.3g} ms",
        "buffer": lambda x: f"{x / 1e3:.3g} kB",
        "loss": lambda x: f"{x * 100:.2g} %",
    }
    found = []
    for name, text in show.items():
        one: Seen = getattr(of, name)
        sure = "sure" if one.sure else "a guess"
        name = {"rtt": "RTT"}.get(name, name)
        found.append([name, *map(text, (one.value, one.low, one.high)), sure, one.how])
    return found
