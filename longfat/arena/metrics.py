# SPDX-License-Identifier: GPL-2.0
"""The numbers of criteria: a function for each, of one run, or of a run and of the one that it is
compared with (`base`).

A run is what is kept of it: its summary, and the series of longfat.arena.observe.  None stands for
"there is nothing to measure", infinity for "not until the end of the run".
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median
from typing import Any, Literal, get_args, get_origin, get_type_hints

from longfat.arena.observe import mss
from longfat.core import units
from longfat.run.result import Json, jain, percentile
from longfat.run.scenario import TRAFFIC, buffered

UDP_HEADERS = 28  # bytes, those of IP with them

Who = Literal["all", "ours", "theirs"]
Camp = Literal["ours", "theirs"]
By = Literal["rate", "bytes"]
At = Literal["mean", "max"]
Roles = dict[str, tuple[list[int], list[int]]]  # kind of traffic -> entries, ours and others'


@dataclass(frozen=True)
class Seen:
    """A run, with who is who in it."""

    run: Json
    roles: Roles

    @property
    def scenario(self) -> Json:
        found: Json = self.run["scenario"]
        return found

    @property
    def capacity(self) -> float:
        """Mbit/s of payload."""
        return float(self.run["summary"]["capacity_bps"]) / 1e6

    @property
    def measured(self) -> float:
        """Seconds."""
        return float(self.scenario["duration"]) - float(self.scenario["warmup"])

    def flows(self, who: Who = "all") -> list[Json]:
        """Bulk flows of the algorithm ("ours"), of others ("theirs"), or all."""
        ours, theirs = self.roles["flow"]
        wanted = {"ours": ours, "theirs": theirs, "all": [*ours, *theirs]}[who]
        return [flow for flow in self.run["flows"] if flow["group"] in wanted]

    def objects(self, who: Camp) -> list[int]:
        """Entries of objects of the algorithm ("ours") or of others ("theirs"), by their places."""
        ours, theirs = self.roles["short"]
        return {"ours": ours, "theirs": theirs}[who]

    def series(self, name: str) -> Any:
        return self.run["observed"][name]


METRICS: dict[str, Callable[..., float | None]] = {}
BASED: set[str] = set()  # those that compare
BACK = {"busy_back", "loss_back", "queue_delay_back"}  # those of the way back


def _metric(function: Callable[..., float | None]) -> Callable[..., float | None]:
    METRICS[function.__name__] = function
    if "base" in inspect.signature(function).parameters:
        BASED.add(function.__name__)
    return function


NOTHING: dict[str, str] = {}  # metric -> why it may be None


def _none(why: str) -> Callable[[Callable[..., float | None]], Callable[..., float | None]]:
    def say(function: Callable[..., float | None]) -> Callable[..., float | None]:
        NOTHING[function.__name__] = why
        return function

    return say


def refusal(name: str, arguments: dict[str, Any], *, based: bool) -> str:
    """Why a metric cannot be asked for so, or nothing."""
    if based != (name in BASED):
        return f"{name}: {'compares with nothing: leave base out' if based else 'needs base'}"
    parameters = [p for p in inspect.signature(METRICS[name]).parameters.values()][1:]
    valid = {p.name for p in parameters} - {"base"}
    if unknown := sorted(set(arguments) - valid):
        return f"{name} has no argument {unknown[0]!r}; valid: {', '.join(sorted(valid)) or 'none'}"
    hints = get_type_hints(METRICS[name])
    for key, value in arguments.items():
        words = get_args(hints[key]) if get_origin(hints[key]) is Literal else (value,)
        if value not in words:
            return f"{name}: {key} is {value!r}; valid: {', '.join(words)}"
    needed = {p.name for p in parameters if p.default is p.empty} - {"base"}
    if missing := sorted(needed - set(arguments)):
        return f"{name} needs {', '.join(missing)}"
    return ""


def nothing(name: str) -> str:
    """Why this metric of a run is None."""
    return NOTHING.get(name, "there is nothing to measure")


def of(name: str, seen: Seen, base: Seen | None, arguments: dict[str, Any]) -> float | None:
    """This metric of a run."""
    more = {"base": base} if name in BASED else {}
    return METRICS[name](seen, **more, **arguments)


# --- what is carried


def _mbit(entries: Iterable[Json]) -> float:
    return sum(float(one["goodput_bps"]) for one in entries) / 1e6


@_metric
def utilisation(seen: Seen) -> float:
    """Payload of bulk flows in the measured time over what the link can carry in it, %.  A packet
    of UDP takes as much of it as its bytes on the wire would as TCP."""
    ahead = [flow for flow in seen.flows() if not _reversed(seen, flow)]
    carried = sum(float(flow["received_bytes"]) for flow in ahead) * 8e-6 / seen.measured
    part = mss(seen.run) / float(seen.scenario["link"]["mtu"])
    for one, spec in zip(seen.run["udp"], seen.scenario["udp"], strict=True):
        wire = 1 + UDP_HEADERS / float(spec["size"])
        carried += float(one["goodput_bps"]) / 1e6 * wire * part
    return 100 * carried / seen.capacity


@_metric
def busy(seen: Seen) -> float:
    """Bytes that left the bottleneck in the measured time over what the link can carry, %: of
    whatever is under way then, with headers, and with what is sent again."""
    full = seen.capacity * float(seen.scenario["link"]["mtu"]) / mss(seen.run)
    return 100 * float(seen.series("left")["bytes"]) * 8e-6 / seen.measured / full


@_metric
def busy_back(seen: Seen) -> float:
    """The same of the way back, with acknowledgments, %."""
    rate = float(seen.scenario["link"]["reverse_rate"])
    return 800 * float(seen.run["way_back"]["sent_bytes"]) / seen.measured / rate


@_metric
def load(seen: Seen) -> float:
    """What objects ask for in the measured time over the rate of the link, %."""
    rate = float(seen.scenario["link"]["rate"]) / 1e6
    return 100 * float(seen.series("asked")) * 8e-6 / seen.measured / rate


def _reversed(seen: Seen, flow: Json) -> bool:
    one = seen.scenario["flow"][flow["group"]]
    return bool(one["reverse"] or one["enter"] > 1)


@_metric
def goodput(seen: Seen, who: Who = "ours") -> float:
    """Mbit/s of bulk flows."""
    return _mbit(seen.flows(who))


@_metric
@_none("they have nothing in the run that it is compared with")
def goodput_part(seen: Seen, base: Seen, who: Who = "ours") -> float | None:
    """What bulk flows have over what as many have in the other run, %: a flow of that has the mean
    of all, as which of them began first is by chance."""
    each = [float(flow["goodput_bps"]) / 1e6 for flow in base.flows()]
    other = mean(each) * len(seen.flows(who)) if each else 0
    return 100 * (goodput(seen, who) or 0) / other if other else None


@_metric
@_none("they have nothing in the run that it is compared with")
def goodput_lost(seen: Seen, base: Seen, who: Who = "ours") -> float | None:
    """How much of what they have in the other run bulk flows have not in this, %."""
    part = goodput_part(seen, base, who)
    return None if part is None else 100 - part


@_metric
@_none("no flow carried anything")
def share(seen: Seen) -> float | None:
    """What ours have of what all bulk flows have, %."""
    total = goodput(seen, "all")
    return 100 * (goodput(seen, "ours") or 0) / total if total else None


@_metric
@_none("no flow carried anything")
def fairness(seen: Seen) -> float | None:
    """Jain's index."""
    return jain([float(flow["goodput_bps"]) for flow in seen.flows()])


@_metric
@_none("no flow carried anything")
def ratio(seen: Seen) -> float | None:
    """The flow that has most over the one that has least."""
    each = [float(flow["goodput_bps"]) for flow in seen.flows()]
    return (max(each) / min(each) if min(each) else math.inf) if any(each) else None


@_metric
def least_share(seen: Seen, who: Who = "all", group: int | None = None) -> float | None:
    """What the flow with the least has of its even part of the link, %; `group`: of the flows of
    this entry."""
    flows = [one for one in seen.flows(who) if group in (None, one["group"])]
    each = [float(flow["goodput_bps"]) / 1e6 for flow in flows]
    return 100 * min(each) * len(seen.flows()) / seen.capacity if each else None


@_metric
def parking(seen: Seen) -> float | None:
    """What flows over one link have, over what a flow over all links has; where there are no bulk
    flows, how many times as fast their objects are.  One that is not complete is not fast at
    all."""
    kind = "flow" if seen.flows() else "short"
    if kind == "flow":
        each = {flow["group"]: float(flow["goodput_bps"]) for flow in seen.flows()}
    else:
        entries = seen.series("camps")["entries"]
        each = {i: sum(one["sum"]) / max(1, sum(one["begun"])) for i, one in enumerate(entries)}
    last = 1 + len(seen.scenario["links"])
    long: list[float] = []
    single: list[float] = []
    for group, rate in each.items():
        entry = seen.scenario[kind][group]
        whole = entry["enter"] == 1 and entry["leave"] in (None, last)
        (long if whole else single).append(rate)
    if not long or not single:
        return None
    return mean(single) / mean(long) if any(long) else math.inf


# --- queue, loss, marks


@_metric
def loss(seen: Seen) -> float:
    """Packets that the bottleneck dropped, % of those offered to it."""
    return 100 * float(seen.run["summary"]["loss"])


@_metric
def loss_back(seen: Seen) -> float:
    """The same of the way back, acknowledgments among them."""
    return 100 * float(seen.run["way_back"]["loss"])


def _buffer_ms(seen: Seen) -> float:
    """How long a full buffer takes."""
    link = seen.scenario["link"]
    entries = seen.scenario["flow"] or [one for kind in TRAFFIC for one in seen.scenario[kind]]
    rtt = max(float(one["rtt"]) for one in entries)
    packets = buffered(link["buffer"], link["rate"], rtt, link["mtu"])
    return packets * float(link["mtu"]) * 8e3 / float(link["rate"])


@_metric
def queue_delay(seen: Seen, at: str = "p95", of: str = "") -> float | None:
    """How long the bottleneck's queue takes, ms, or % of what the full buffer takes: `at` is mean,
    p50, p95, p99 or max."""
    found = seen.run["summary"]["queue_delay_ms"][at]
    if found is None:
        return None
    return 100 * float(found) / _buffer_ms(seen) if of == "buffer" else float(found)


@_metric
def queue_delay_back(seen: Seen, at: str = "p95") -> float | None:
    """How long the queue of the way back takes, ms."""
    found = seen.run["way_back"]["queue_delay_ms"][at]
    return None if found is None else float(found)


@_metric
def queue_more(seen: Seen, base: Seen, at: str = "p95") -> float | None:
    """How much longer it is than in the other run, ms."""
    both = queue_delay(seen, at), queue_delay(base, at)
    return both[0] - both[1] if both[0] is not None and both[1] is not None else None


def _packets(seen: Seen, flow: Json) -> float:
    return float(flow["received_bytes"]) / mss(seen.run)


@_metric
@_none("nothing arrived")
def resent(seen: Seen, who: Who = "ours") -> float | None:
    """Packets of bulk flows that were sent again, % of those that arrived."""
    flows = seen.flows(who)
    packets = sum(_packets(seen, flow) for flow in flows)
    again = sum(float(flow["retransmissions"]) for flow in flows)
    return 100 * again / packets if packets else None


@_metric
@_none("nothing arrived")
def needless(seen: Seen) -> float | None:
    """Packets of bulk flows that were sent again, more than the bottleneck dropped, % of those that
    arrived.  The flows are all that there is."""
    flows = seen.flows()
    packets = sum(_packets(seen, flow) for flow in flows)
    lost = float(seen.run["summary"]["dropped"])
    again = max(0.0, sum(float(flow["retransmissions"]) for flow in flows) - lost)
    return 100 * again / packets if packets else None


@_metric
@_none("nothing arrived")
def resent_more(seen: Seen, base: Seen) -> float | None:
    """The same of others' flows, more than all flows of the other run, percentage points."""
    here, there = resent(seen, "theirs"), resent(base, "all")
    return here - there if here is not None and there is not None else None


@_metric
@_none("nothing arrived")
def marked(seen: Seen) -> float | None:
    """Packets of our bulk flows that were acknowledged as marked, %.  By RFC 3168 that is all that
    is acknowledged from a mark on until its sender has answered."""
    flows = seen.flows("ours")
    packets = sum(_packets(seen, flow) for flow in flows)
    return 100 * sum(float(flow["ce_marks"]) for flow in flows) / packets if packets else None


@_metric
def lossy_seconds(seen: Seen) -> float | None:
    """Seconds in which more than a tenth of the packets was lost, %."""
    found = seen.series("lossy")
    return None if found is None else 100 * float(found)


def _datagrams(seen: Seen) -> float:
    """UDP packets that arrived in the measured time."""
    both = zip(seen.run["udp"], seen.scenario["udp"], strict=True)
    each = (float(one["goodput_bps"]) / 8 / float(spec["size"]) for one, spec in both)
    return sum(each) * seen.measured


@_metric
@_none("no packet of UDP arrives where nothing else is on the path")
def datagrams_lost(seen: Seen, base: Seen, count: bool = False) -> float | None:
    """UDP packets that arrive in the other run, in which nothing is beside them, and not in this,
    % of those or how many."""
    sent = _datagrams(base)
    lost = max(0.0, sent - _datagrams(seen))
    return (lost if count else 100 * lost / sent) if sent else None


# --- time


def _at(seen: Seen, time: float, key: str) -> float:
    """Rate or delay of the link at this time, as `link.at` says."""
    link = seen.scenario["link"]
    known = [one[key] for one in link["at"] if one[key] is not None and one["time"] <= time + 1e-9]
    return float(known[-1] if known else link[key])


def _rate(seen: Seen, time: float) -> float:
    """Mbit/s of the link at this time."""
    return _at(seen, time, "rate") / 1e6


def _ours(seen: Seen) -> tuple[float, list[float]]:
    """Mbit/s of ours in each step of so many seconds."""
    found = seen.series("rates")
    groups = [found["groups"].get(str(i), []) for i in seen.roles["flow"][0]]
    return float(found["dt"]), [sum(each) for each in zip(*groups, strict=False)]


@_metric
def seconds_to(
    seen: Seen,
    part: float = 0.9,
    after: str = "0s",
    until: str = "",
    begun: bool = False,
) -> float | None:
    """Seconds from `after` until ours have so large a part of the link as it is then, for half a
    second, and for two of its round trips, as what pauses in each has less.  `begun`: from the end
    of the last pause of a second before that."""
    step, each = _ours(seen)
    full = mss(seen.run) / float(seen.scenario["link"]["mtu"])
    want = part * _rate(seen, units.seconds(after)) * full
    longest = max(float(seen.scenario["flow"][i]["rtt"]) for i in seen.roles["flow"][0])
    trips = 2 * (longest + _at(seen, units.seconds(after), "delay"))
    width = max(1, math.ceil(max(0.5, trips) / step - 1e-9))
    first = round(units.seconds(after) / step)
    last = min(len(each), round(units.seconds(until) / step) if until else len(each))
    for place in range(first, last - width + 1):
        if mean(each[place : place + width]) >= want:
            # It may begin with the end of a pause.
            begins = next((at for at in range(place, last) if each[at] > 0), place)
            since = _after_pauses(each, first, begins, step) if begun else first
            return max(0, place - since) * step
    return math.inf


def _after_pauses(each: list[float], first: int, last: int, step: float) -> int:
    """Where the last pause of a second ends, between these places; the first if there is none."""
    found = since = first
    for place in range(first, last + 1):
        if each[place] > 0:
            found = place if (place - since) * step >= 1 - 1e-9 else found
            since = place + 1
    return found


@_metric
def silent(seen: Seen, after: str) -> float | None:
    """Seconds from `after` until the last pause of a second of ours is over."""
    step, each = _ours(seen)
    first = round(units.seconds(after) / step)
    rest = next((n for n, value in enumerate(reversed(each)) if value > 0), math.inf)
    if rest * step >= 1 - 1e-9:
        return math.inf
    return (_after_pauses(each, first, len(each) - 1, step) - first) * step


@_metric
@_none("no flow carried anything")
def rate_ratio(seen: Seen) -> float | None:
    """What the first entry's flows have of the bottleneck after the warm-up over what the second's
    have.  The first's receiver may lie, and its sender believe it.  So what left the bottleneck and
    did not arrive at the second's, which is honest, is the first's."""
    left = seen.series("left")
    payload = left["bytes"] - left["packets"] * (seen.scenario["link"]["mtu"] - mss(seen.run))
    other = sum(flow["received_bytes"] for flow in seen.run["flows"] if flow["group"] == 1)
    if not payload:
        return None
    return float(payload - other) / other if other else math.inf


def _between(seen: Seen, name: str, column: str, after: str, until: str) -> list[float]:
    found = seen.series(name)
    ends = [round(units.seconds(one) / float(found["dt"])) for one in (after, until)]
    values: list[float] = found[column][ends[0] : ends[1] + 1]
    return values


@_metric
def queue_between(seen: Seen, after: str, until: str, at: At = "mean") -> float | None:
    """The queue between two times, its mean or the most, ms of the link as it is from the first
    on."""
    there = _between(seen, "queue", "packets", after, until)
    if not there:
        return None
    packets = max(there) if at == "max" else mean(there)
    rate = _rate(seen, units.seconds(after))
    return packets * float(seen.scenario["link"]["mtu"]) * 8e-3 / rate


@_metric
def dropped(seen: Seen, after: str, until: str) -> float | None:
    """Packets that the bottleneck dropped between two times."""
    there = _between(seen, "queue", "dropped", after, until)
    return there[-1] - there[0] if there else None


@_metric
def sent_per_rtt(seen: Seen, after: str, until: str) -> float | None:
    """Packets that ours sent in a round trip between two times, those that were lost with them."""
    came = _between(seen, "sent", "delivered", after, until)
    again = _between(seen, "sent", "retransmissions", after, until)
    if len(came) < 2:
        return None
    trips = (units.seconds(until) - units.seconds(after)) / seen.scenario["flow"][0]["rtt"]
    return (came[-1] - came[0] + again[-1] - again[0]) / float(trips)


# Samples.  Gaps that double from a sample on add up to less before one is long enough to measure.
CLOSE = 20


@_metric
@_none("too few packets were sent again")
def spacing(seen: Seen, after: str, until: str) -> float | None:
    """From one retransmission to the next between two times: how many times as long as the time
    before it, in the median.  2 is doubling; the first are left out, which are in flight.  1 where
    they go on so close together that the samples do not tell them apart."""
    again = _between(seen, "sent", "retransmissions", after, until)
    places = [i for i, (a, b) in enumerate(pairwise(again)) if b > a]
    gaps = [b - a for a, b in pairwise(places)]
    # Shorter than some samples is no measure.
    ratios = [b / a for a, b in pairwise(gaps) if a >= 3]
    if not ratios and sum(gap for gap in gaps if gap < 3) >= CLOSE:
        return 1.0
    return median(ratios) if ratios else None


@_metric
def milestone(seen: Seen, power: int, group: int = 0) -> float | None:
    """Seconds until byte 1500 x 10^power of an entry's flows has arrived."""
    times = seen.series("milestones")[str(group)]
    return float(times[power]) if len(times) > power else math.inf


def _window(seen: Seen, of: str) -> Any:
    """A part of the series of windows that is of ours."""
    return seen.series("cwnd")[of][str(seen.roles["flow"][0][0])]


def _bdp(seen: Seen) -> float:
    """Packets."""
    link, ours = seen.scenario["link"], seen.scenario["flow"][seen.roles["flow"][0][0]]
    return float(link["rate"] / 8 * ours["rtt"] / link["mtu"])


@_metric
def window_growth(seen: Seen) -> float:
    """The largest growth of the window within a round trip after the warm-up, % of a BDP."""
    return 100 * float(_window(seen, "growth")) / _bdp(seen)


@_metric
def window_seconds(seen: Seen, part: float, after: str) -> float:
    """Seconds from `after` until the window of ours is so large a part of a BDP."""
    step, want = float(seen.series("cwnd")["dt"]), part * _bdp(seen)
    there = enumerate(_window(seen, "groups")[round(units.seconds(after) / step) :])
    return next((place * step for place, window in there if window >= want), math.inf)


# --- objects


@_metric
@_none("no object was begun")
def unfinished(seen: Seen) -> float | None:
    """Objects, whichever way they go, that were not complete when the run ended, % of those that
    were begun."""
    begun = sum(one["begun"] for one in seen.run["short"])
    completed = sum(one["completed"] for one in seen.run["short"])
    return 100 * (1 - completed / begun) if begun else None


@_metric
@_none("no object of the class was begun")
def completion(seen: Seen, at: str = "p95", largest: int | None = None) -> float | None:
    """How long objects take, ms, at a percentile of all of them; `largest` is the class of sizes,
    by its upper bound.  One that is not complete takes for ever."""
    row = seen.series("completions").get(str(largest or "all"))
    if row is None:
        return None
    return math.inf if row[at] is None else 1e3 * float(row[at])


@_metric
@_none("no object of the class was complete, here or where it is alone")
def completion_times(
    seen: Seen, base: Seen, at: str = "p95", largest: int | None = None
) -> float | None:
    """How many times as long as in the other run objects take."""
    here, there = completion(seen, at, largest), completion(base, at, largest)
    return here / there if here is not None and there and math.isfinite(there) else None


def _transfer(seen: Seen, who: Camp, quartile: int | None, by: By) -> float | None:
    """Of objects, whichever way they go: by "rate" the mean of size over time, Mbit/s, by "bytes"
    the sum of their sizes.  One that is not complete has none."""
    entries = [seen.series("camps")["entries"][i] for i in seen.objects(who)]
    places = range(4) if quartile is None else [quartile - 1]
    count, rates, carried = (
        sum(one[key][place] for one in entries for place in places)
        for key in ("begun", "sum", "bytes")
    )
    if not count:
        return None
    return float(carried if by == "bytes" else rates / count)


@_metric
@_none("no object was complete, here or in the run that it is compared with")
def gain(
    seen: Seen, base: Seen, who: Camp = "ours", quartile: int | None = None, by: By = "rate"
) -> float | None:
    """The mean rate of a camp's objects over that in the other run; by "bytes" what it carried over
    what it carried there."""
    here, there = (_transfer(one, who, quartile, by) for one in (seen, base))
    return here / there if here is not None and there else None


@_metric
def flows_done(seen: Seen, percent: float = 99) -> float | None:
    """How long bulk flows of limited size take, ms; never, if one of them has not ended."""
    times = [flow["completion_s"] for flow in seen.flows("ours")]
    if not times or None in times:
        return math.inf if times else None
    found = percentile([float(one) for one in times], percent)
    return None if found is None else 1e3 * found


@_metric
def flows_rate(seen: Seen) -> float | None:
    """All that such flows carried, Mbit/s until the last had ended."""
    last = flows_done(seen, 100)
    specs = [seen.scenario["flow"][flow["group"]]["bytes"] for flow in seen.flows("ours")]
    return sum(specs) * 8e-3 / last if last and specs else None
