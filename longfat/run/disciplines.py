# SPDX-License-Identifier: GPL-2.0
"""The queue disciplines of a bottleneck: which there are, what each can be told, and the tc
commands that make one.

What a scenario tells one has tc's own names: `link.aqm_options = { target = "5ms" }` is
`codel target 5000us`.  `check` refuses what tc would refuse, before the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from longfat.core import units

ETHERNET = 14  # bytes of header that a qdisc counts and a scenario's rate does not

# "fifo" lets all wait and "police" none; between them are the active ones and the fair ones, and
# "sync", which is the lab's own (guest/sch_lfsync.c).
Aqm = Literal[
    "fifo",
    "red",
    "codel",
    "fq_codel",
    "pie",
    "fq_pie",
    "cake",
    "fq",
    "drr",
    "police",
    "sync",
    "dualpi2",
]
NEWER = ("dualpi2",)  # than the lab's own kernel, and than tc of most systems
AQMS = tuple(name for name in get_args(Aqm) if name != "fifo")

# What a value is checked with, and becomes: words for tc.
Option = Callable[[str, object], str]


def _time(name: str, value: object) -> str:
    return f"{name} {units.seconds(value) * 1e6:.3f}us"


def _size(name: str, value: object) -> str:
    return f"{name} {units.size(value)}"


def _rate(name: str, value: object) -> str:
    return f"{name} {units.rate(value)}bit"


def _share(name: str, value: object) -> str:
    return f"{name} {units.probability(value):.9f}"


def _count(low: int, high: int) -> Option:
    def check(name: str, value: object) -> str:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"{value!r} is not a whole number from {low} to {high}")
        return f"{name} {value}"

    return check


def _decimal(low: float, high: float) -> Option:
    def check(name: str, value: object) -> str:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not low <= float(str(value)) <= high:
            raise ValueError(f"{value!r} is not a number from {low:g} to {high:g}")
        return f"{name} {value}"

    return check


def _flag(yes: str, no: str = "") -> Option:
    """A word of tc's, or the other."""

    def check(_: str, value: object) -> str:
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is neither true nor false")
        return yes if value else no

    return check


def _word(*words: str, before: str = "") -> Option:
    """One of tc's words."""

    def check(_: str, value: object) -> str:
        if value not in words:
            raise ValueError(f"{value!r} is none of {', '.join(words)}")
        return f"{before}{value}"

    return check


_NUMBER = _count(1, 2**31 - 1)
_CODEL: dict[str, Option] = {"target": _time, "interval": _time, "ce_threshold": _time}
_PIE: dict[str, Option] = {
    "target": _time,
    "tupdate": _time,
    "alpha": _count(0, 32),
    "beta": _count(0, 32),
    "bytemode": _flag("bytemode", "nobytemode"),
    "dq_rate_estimator": _flag("dq_rate_estimator", "no_dq_rate_estimator"),
}


@dataclass(frozen=True)
class Discipline:
    """What one of them can be told."""

    options: Mapping[str, Option] = field(default_factory=dict)
    # Whether link.ecn may be asked for; what tc is told then, and otherwise.
    marks: bool = False
    ecn: str = ""
    noecn: str = ""


_ECN: dict[str, Any] = {"marks": True, "ecn": "ecn", "noecn": "noecn"}
_QUANTUM = _count(256, 2**20)

DISCIPLINES: dict[str, Discipline] = {
    "fifo": Discipline(),
    "red": Discipline(
        {
            "min": _size,
            "max": _size,
            "burst": _NUMBER,
            "probability": _share,
            "adaptive": _flag("adaptive"),
            "harddrop": _flag("harddrop"),
            "nodrop": _flag("nodrop"),
        },
        marks=True,
        ecn="ecn",
    ),
    "codel": Discipline(_CODEL, **_ECN),
    "fq_codel": Discipline(
        {
            **_CODEL,
            "flows": _count(1, 65536),
            "quantum": _QUANTUM,
            "memory_limit": _size,
            "drop_batch": _NUMBER,
        },
        **_ECN,
    ),
    "pie": Discipline(_PIE, **_ECN),
    "fq_pie": Discipline(
        {
            **_PIE,
            "flows": _count(1, 65536),
            "quantum": _QUANTUM,
            "memory_limit": _size,
            "ecn_prob": _count(0, 100),
        },
        **_ECN,
    ),
    # It always marks those packets that may be marked.
    "cake": Discipline(
        {
            "rtt": _time,
            "memlimit": _size,
            "priority": _word("besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8"),
            "isolation": _word(
                *("flowblind", "srchost", "dsthost", "hosts", "flows"),
                *("dual-srchost", "dual-dsthost", "triple-isolate"),
            ),
            "ack_filter": _word("no-ack-filter", "ack-filter", "ack-filter-aggressive"),
        },
        marks=True,
    ),
    "fq": Discipline(
        {
            "flow_limit": _NUMBER,
            "quantum": _QUANTUM,
            "initial_quantum": _QUANTUM,
            "maxrate": _rate,
            "orphan_mask": _NUMBER,
            "ce_threshold": _time,
        },
        marks=True,
    ),
    "drr": Discipline({"quantum": _QUANTUM}),
    "police": Discipline(),
    "sync": Discipline(),
    # It always marks those packets that may be marked, too.
    "dualpi2": Discipline(
        {
            "target": _time,
            "tupdate": _time,
            "alpha": _decimal(0, 255),
            "beta": _decimal(0, 255),
            "coupling_factor": _decimal(0, 255),
            "step_thresh": _time,
            "min_qlen_step": _NUMBER,
            "classic_protection": _count(0, 100),
            "memlimit": _size,
            "drop": _word("drop_enqueue", "drop_dequeue"),
            "overload": _word("drop_on_overload", "overflow"),
            "split_gso": _flag("split_gso", "no_split_gso"),
        },
        marks=True,
    ),
}
MARKING = tuple(name for name, one in DISCIPLINES.items() if one.marks)


def check(aqm: str, options: Mapping[str, object], *, ecn: bool) -> None:
    """ValueError if this discipline cannot be told this."""
    known = DISCIPLINES[aqm].options
    for name, value in options.items():
        if name not in known:
            valid = f"valid: {', '.join(sorted(known))}" if known else "it has none"
            raise ValueError(f"aqm_options.{name}: {aqm} has no such option; {valid}")
        try:
            known[name](name, value)
        except ValueError as error:
            raise ValueError(f"aqm_options.{name}: {error}") from error
    if ecn and aqm not in MARKING:
        raise ValueError(f"ecn marks need an AQM: set aqm to {' or '.join(MARKING)}")
    if ecn and aqm == "fq" and "ce_threshold" not in options:
        raise ValueError('fq marks above aqm_options.ce_threshold alone: give it, such as "2ms"')


def words(aqm: str, options: Mapping[str, object]) -> str:
    """What a scenario tells it, as tc reads it."""
    known = DISCIPLINES[aqm].options
    told = (known[name](name, value) for name, value in options.items())
    return "".join(f" {word}" for word in told if word)


@dataclass(frozen=True)
class Bottleneck:
    """Where a discipline is: `rate` in bits per second of IP packets, `limit` in packets of `mtu`
    bytes, from how many senders they come, and whether the rate changes."""

    rate: int
    mtu: int
    limit: int
    senders: int = 1
    varies: bool = False

    @property
    def frame(self) -> int:
        """Bytes of a full packet, as a qdisc counts them."""
        return self.mtu + ETHERNET

    @property
    def raised(self) -> int:
        """The rate with Ethernet headers: full packets then leave at `rate`."""
        return round(self.rate * self.frame / self.mtu)

    @property
    def tbf(self) -> str:
        """A tbf that lets full packets leave at `rate`, as netem does."""
        limit = self.limit * self.frame
        return f"handle 1: tbf rate {self.raised}bit burst {2 * self.frame} limit {limit}"


def _memory(mtu: int) -> int:
    """What the kernel counts for a full packet that a veth carries, in bytes."""
    return (1 << (mtu + 400).bit_length()) + 256


def _red(at: Bottleneck, options: Mapping[str, object], ecn: str) -> str:
    low, high = at.limit // 6 * at.frame, at.limit // 2 * at.frame
    low, high = (
        units.size(options[name]) if name in options else value
        for name, value in (("min", low), ("max", high))
    )
    rest = {name: value for name, value in options.items() if name not in ("min", "max")}
    told = f"min {low} max {high} avpkt {at.frame}"
    if "burst" not in options:
        told += f" burst {(2 * low + high) // (3 * at.frame) + 1}"
    told += f" bandwidth {at.raised}bit"
    if "probability" not in options:
        told += " probability 0.1"
    return f"red limit {at.limit * at.frame} {told}{ecn}{words('red', rest)}"


def _drr(at: Bottleneck, options: Mapping[str, object]) -> list[str]:
    """A class for each sender, told by the third byte of its address, and a queue in each."""
    of = "dev $dev parent 10:"
    classes = [
        line
        for n in range(1, at.senders + 1)
        for line in (
            f"tc -n $ns class add {of} classid 10:{n:x} drr{words('drr', options)}",
            f"tc -n $ns qdisc add {of}{n:x} pfifo limit {at.limit}",
        )
    ]
    key = "handle 1 flow map key src and 0xff00 rshift 8 baseclass 10:1"
    return [*classes, f"tc -n $ns filter add {of} protocol ip prio 1 {key}"]


def commands(aqm: str, options: Mapping[str, object], at: Bottleneck, *, ecn: bool) -> list[str]:
    """tc commands for a bottleneck on device $dev of namespace $ns."""
    add = "tc -n $ns qdisc add dev $dev"
    if at.varies:
        # Exact to the bit; its steps are in a file.
        root = "handle 1: lfvary"
        if aqm == "fifo":
            return [f"{add} root {root}", f"{add} parent 1:1 handle 10: pfifo limit {at.limit}"]
    else:
        root = at.tbf
    if aqm == "fifo":
        return [f"{add} root netem rate {at.rate}bit -{ETHERNET} limit {at.limit}"]
    if aqm == "police":
        # prio counts what its filter drops, and lets the rest pass at once.
        burst = max(1, at.limit) * at.frame
        police = f"police rate {at.raised}bit burst {burst} mtu {at.frame} drop"
        return [
            f"{add} root handle 1: prio",
            f"tc -n $ns filter add dev $dev parent 1: protocol all prio 1 matchall action {police}",
        ]
    if aqm == "cake":
        # It has a rate of its own.  "overhead 0": it counts IP packets.
        memory = "" if "memlimit" in options else f" memlimit {at.limit * _memory(at.mtu)}"
        told = f"{memory}{words(aqm, options)}"
        if at.varies:
            return [f"{add} root {root}", f"{add} parent 1:1 handle 10: cake unlimited{told}"]
        return [f"{add} root handle 1: cake bandwidth {at.rate}bit overhead 0{told}"]
    one = DISCIPLINES[aqm]
    mark = f" {one.ecn if ecn else one.noecn}".rstrip()
    more: list[str] = []
    if aqm == "sync":
        # tc knows none of its words: it holds what its device's txqueuelen says.
        length = f"ip -n $ns link set dev $dev txqueuelen {at.limit}"
        return [length, f"{add} root {root}", f"{add} parent 1:1 handle 10: lfsync"]
    if aqm == "red":
        child = _red(at, options, mark)
    elif aqm == "drr":
        child, more = "drr", _drr(at, options)
    else:
        child = f"{aqm} limit {at.limit}{mark}{words(aqm, options)}"
    return [f"{add} root {root}", f"{add} parent 1:1 handle 10: {child}", *more]
