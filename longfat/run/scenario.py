# SPDX-License-Identifier: GPL-2.0
"""Scenario files: what an experiment is, as data.

A scenario is TOML; docs/lab.md describes every key.  `load` reads a file,
multiplies it out over its `case` and `vary` tables and returns validated
scenarios, or raises LabError that names the file, the key, what is wrong and what is valid.
"""

from __future__ import annotations

import copy
import itertools
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from longfat.build import given, modules
from longfat.build import kernel as kernels
from longfat.core import data as own
from longfat.core import units
from longfat.core.errors import LabError
from longfat.run import changes, disciplines
from longfat.run.changes import Change, Step, Trace
from longfat.run.disciplines import Aqm

MAX_CONNECTIONS = 4096  # lfgen's MAX_FLOWS
MAX_QUESTIONS = 1_000_000  # of one entry: they are drawn before the run
MAX_LINKS = 16
BOTTLENECK = "bottleneck"  # where packets are captured, besides hosts

Seconds = Annotated[float, BeforeValidator(units.seconds)]
Rate = Annotated[int, BeforeValidator(units.rate), Field(gt=0)]
Size = Annotated[int, BeforeValidator(units.size), Field(gt=0)]
Probability = Annotated[float, BeforeValidator(units.probability)]
LATE = 10  # packets of the link that overtake one that is late, at least
ACK_THIN = (1, 2, 4, 8, 16, 32, 64)  # powers of two: a mask over the packets' numbers
Buffer = Annotated[tuple[float, str], BeforeValidator(units.buffer)]


def _algorithm(name: object) -> str:
    valid = modules.IN_TREE.union(given.registered(), *kernels.offered().values())
    if isinstance(name, str) and given.may_come() and re.fullmatch(r"[\x21-\x7e]{1,15}", name):
        return name
    if not isinstance(name, str) or name not in valid:
        raise ValueError(f"no congestion control {name!r}; valid: {', '.join(sorted(valid))}")
    return name


Algorithm = Annotated[str, BeforeValidator(_algorithm)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class At(_Strict):
    """From `time` on the link is so, and again each `every`."""

    time: Seconds
    every: Seconds = 0.0
    rate: Rate | None = None
    delay: Seconds | None = None
    loss: Probability | None = None
    down: bool | None = None

    @model_validator(mode="after")
    def _change(self) -> Self:
        if all(x is None for x in (self.rate, self.delay, self.loss, self.down)):
            raise ValueError("nothing changes: give rate, delay, loss or down")
        if self.delay is not None and not 0 <= self.delay <= 10:
            raise ValueError("delay is 0s to 10s")
        if self.every and self.every < 1e-6:
            raise ValueError("every is at least 1us")
        return self

    @property
    def change(self) -> Change:
        return Change(self.time, self.rate, self.delay, self.loss, self.down)


class Link(_Strict):
    """The bottleneck, and the impaired hop behind it if anything random is asked for."""

    rate: Rate
    buffer: Buffer
    mtu: int = Field(default=1500, ge=256, le=9000)
    aqm: Aqm = "fifo"
    aqm_options: dict[str, int | float | bool | str] = {}
    ecn: bool = False
    delay: Seconds = 0.0
    loss: Probability = 0.0
    duplicate: Probability = 0.0
    reorder: Probability = 0.0
    reorder_delay: Seconds | None = None
    jitter: Seconds = 0.0
    loss_burst: float | None = Field(default=None, ge=1, le=10000)
    aggregate: Seconds = 0.0
    ack_thin: int = 1
    reverse_loss: Probability = 0.0
    reverse_delay: Seconds = 0.0
    reverse_jitter: Seconds = 0.0
    reverse_rate: Rate | None = None
    reverse_buffer: Buffer = (1000.0, "p")
    at: list[At] = []
    trace: str = ""
    _trace: Trace = PrivateAttr(Trace(()))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        disciplines.check(self.aqm, self.aqm_options, ecn=self.ecn)
        if self.aqm != "fifo" and self.buffer[0] <= 0:
            raise ValueError("buffer must be above zero")
        if not 0 <= self.jitter <= 1:  # netem's arithmetic ends at 2.1 s
            raise ValueError("jitter is 0s to 1s")
        if not 0 <= self.aggregate <= 1:
            raise ValueError("aggregate is 0s to 1s")
        if self.aggregate and self.jitter:
            raise ValueError("aggregate and jitter both say when packets leave: give one")
        if self.loss_burst:
            if not self.loss:
                raise ValueError("loss_burst needs loss, the mean of all packets")
            if self.loss > self.loss_burst / (1 + self.loss_burst):
                raise ValueError(
                    f"bursts of {self.loss_burst:g} packets cannot be {self.loss * 100:g} % of "
                    f"all: a packet at least is between two; raise loss_burst"
                )
        if self.reorder_delay is not None:
            if not self.reorder:
                raise ValueError("reorder_delay needs reorder, how many packets it is of")
            if not 0 < self.reorder_delay <= 10:
                raise ValueError("reorder_delay is above 0s and at most 10s")
        if not 0 <= self.reverse_jitter <= 1:
            raise ValueError("reverse_jitter is 0s to 1s")
        for name in ("delay", "reverse_delay"):
            if not 0 <= getattr(self, name) <= 10:
                raise ValueError(f"{name} is 0s to 10s")
        if self.ack_thin not in ACK_THIN:
            raise ValueError(f"ack_thin is one of {', '.join(map(str, ACK_THIN))}")
        return self

    @model_validator(mode="after")
    def _changes(self, info: ValidationInfo) -> Self:
        if self.trace:
            # A file is looked for where the scenario is.
            self._trace = changes.read(self.trace, (info.context or {}).get("base", Path()))
        if both := self._trace.says & self._at_says:
            raise ValueError(f"link.at and link.trace both say the {min(both)}")
        if self.loss and "loss" in self.changing:
            raise ValueError("loss and a loss that changes: leave the first one out")
        if self.aqm == "police" and "rate" in self.changing:
            raise ValueError("the rate of a policer does not change: set aqm to another one")
        return self

    @property
    def _at_says(self) -> set[str]:
        named = {"rate": "rate", "down": "rate", "delay": "delay", "loss": "loss"}
        return {
            is_ for one in self.at for key, is_ in named.items() if getattr(one, key) is not None
        }

    @property
    def changing(self) -> set[str]:
        """What of the link changes in the course of a run: rate, delay, loss."""
        # A delay of its own is one from the beginning on.
        return self._trace.says | self._at_says | ({"delay"} if self.delay else set())

    @property
    def other_way(self) -> bool:
        """Whether the way back has anything of its own, besides RTTs."""
        waits = self.reverse_delay or self.reverse_jitter
        return bool(self.reverse_rate or self.reverse_loss or waits)

    @property
    def late(self) -> float:
        """By how much a packet is late that others overtake, seconds; 0 if none is."""
        if not self.reorder:
            return 0.0
        return self.reorder_delay or max(1e-3, LATE * 8 * self.mtu / self.rate)

    @property
    def impaired(self) -> bool:
        return any((self.loss, self.duplicate, self.reorder, self.jitter, self.aggregate))


class _Traffic(_Strict):
    """Sends from `start` for `duration`; with `on` and `off`, in turns of these lengths."""

    rtt: Seconds
    enter: int = Field(default=1, ge=1)
    leave: int | None = Field(default=None, ge=1)
    reverse: bool = False
    start: Seconds = 0.0
    duration: Seconds | None = None
    on: Seconds = 0.0
    off: Seconds = 0.0

    @model_validator(mode="after")
    def _on_off(self) -> Self:
        if bool(self.on) != bool(self.off):
            raise ValueError("on and off go together: so long sending, so long silent")
        return self

    @field_validator("rtt")
    @classmethod
    def _rtt(cls, rtt: float) -> float:
        if not 0 <= rtt <= 10:
            raise ValueError("an RTT is 0s to 10s")
        return rtt


class Tcp(_Traffic):
    """It is acknowledged honestly, unless one of these says otherwise."""

    ack_every: Size | None = None
    ack_ahead: Size | None = None
    ecn_echo: bool = True

    @property
    def misled(self) -> bool:
        """Whether its receiver misbehaves."""
        return bool(self.ack_every or self.ack_ahead or not self.ecn_echo)

    @model_validator(mode="after")
    def _misled(self) -> Self:
        for key in ("ack_every", "ack_ahead"):
            if (getattr(self, key) or 0) > 2**30:
                raise ValueError(f"{key} is 1B to 1GiB")
        if self.misled and self.reverse:
            raise ValueError("ack_every, ack_ahead and ecn_echo are of a receiver behind the link")
        return self


class Flow(Tcp):
    """`count` bulk flows of `parallel` connections each, from one interface of rate `access`."""

    cc: Algorithm
    count: int = Field(default=1, ge=1, le=1000)
    parallel: int = Field(default=1, ge=1, le=256)
    jitter: Seconds = 0.0
    bytes: Size | None = None
    access: Rate | None = None
    socket_buffer: Size | None = None


class Udp(_Traffic):
    """Constant-rate UDP."""

    rate: Rate
    size: int = Field(default=1000, ge=1, le=8900)


# A size, and the part of all objects that are no larger.
Point = Annotated[
    tuple[Size, Probability], BeforeValidator(lambda x: tuple(x) if isinstance(x, list) else x)
]


class Objects(Tcp):
    """Objects of random sizes, each of which has a completion time."""

    cc: Algorithm = "cubic"
    size: Literal["exponential", "lognormal", "pareto", "empirical"] = "exponential"
    mean_size: Size | None = None
    sigma: float | None = Field(default=None, gt=0, le=5)
    shape: float | None = Field(default=None, gt=0, le=10)
    min_size: Size | None = None
    max_size: Size | None = None
    sizes: list[Point] = []

    @model_validator(mode="after")
    def _sized(self) -> Self:
        needed = SIZES[self.size]
        have = {key for keys in SIZES.values() for key in keys if getattr(self, key)}
        if missing := [key for key in needed if key not in have]:
            raise ValueError(f'size = "{self.size}" needs {", ".join(missing)}')
        if more := sorted(have - set(needed)):
            raise ValueError(f'size = "{self.size}" has no {", ".join(more)}')
        if self.min_size and self.max_size and self.min_size >= self.max_size:
            raise ValueError("min_size must be below max_size")
        if self.sizes and (
            sorted(self.sizes) != self.sizes
            or sorted(p for _, p in self.sizes) != [p for _, p in self.sizes]
            or self.sizes[-1][1] != 1
        ):
            raise ValueError(
                "sizes are pairs of a size and the part of the objects that are no larger, both "
                "rising, the last part 1"
            )
        if self.off:
            raise ValueError("objects have no on and off: each is as long as it is")
        return self


# Distribution of sizes -> the keys that it needs.
SIZES = {
    "exponential": ("mean_size",),
    "lognormal": ("mean_size", "sigma"),
    "pareto": ("min_size", "max_size", "shape"),
    "empirical": ("sizes",),
}


class Short(Objects):
    """Short TCP flows, each a connection of its own: Poisson arrivals, or a list of them."""

    per_second: float | None = Field(default=None, gt=0, le=10000)
    arrivals: list[Seconds] = []

    @model_validator(mode="after")
    def _arrive(self) -> Self:
        if bool(self.per_second) == bool(self.arrivals):
            raise ValueError("short flows need per_second or arrivals, and not both")
        return self


class Request(Objects):
    """`count` connections that are kept, on each of which the receiver asks for an object and,
    when it has come and it has thought, for the next."""

    count: int = Field(default=1, ge=1, le=1000)
    request: Size = 200
    think: Seconds = 0.0

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.request > 16384:
            raise ValueError("a request is 1B to 16kB")
        # No answer is there sooner: so many questions at most are drawn before the run.
        if self.rtt < 1e-3:
            raise ValueError("the RTT of a request is 1ms to 10s")
        return self


class Video(Tcp):
    """`count` sources that are limited by themselves: a connection on which every `chunk` seconds
    as much more is to be sent as `rate` asks for."""

    cc: Algorithm = "cubic"
    count: int = Field(default=1, ge=1, le=1000)
    rate: Rate
    chunk: Seconds = 2.0

    @model_validator(mode="after")
    def _chunks(self) -> Self:
        if not 0.01 <= self.chunk <= 60:
            raise ValueError("chunk is 10ms to 60s")
        if self.off:
            raise ValueError("video has no on and off: it sends a chunk at a time")
        return self


class Host(_Strict):
    """The end hosts' settings."""

    timestamps: bool = True
    sack: bool = True
    pacing: bool = True
    offload: bool = True
    gro: Seconds = 0.0
    quickack: bool = False
    sysctl: dict[str, int | str] = {}

    @field_validator("sysctl")
    @classmethod
    def _sysctl(cls, given: dict[str, Any]) -> dict[str, Any]:
        for key in given:
            if not re.fullmatch(r"net\.ipv[46]\.[\w.]+", key):
                raise ValueError(f"{key!r}: only net.ipv4 and net.ipv6 belong to a namespace")
        return given


Group = Flow | Udp | Short | Request | Video  # an entry of traffic


# The tables of traffic.
def buffered(buffer: Buffer, rate: float, rtt: float, mtu: int) -> int:
    """A buffer in packets: one at least, however little is asked for."""
    amount, unit = buffer
    if unit == "bdp":
        amount *= rate / 8 * rtt / mtu
    elif unit == "b":
        amount /= mtu
    return max(1, round(amount))


TRAFFIC = ("flow", "udp", "short", "request", "video")


class Scenario(_Strict):
    title: str
    duration: Seconds
    warmup: Seconds = 0.0
    sample: Seconds = 0.1
    queue_sample: Seconds = 0.01
    seeds: list[int] = Field(default=[1], min_length=1)
    trace: bool = False
    pcap: bool = False
    pcap_at: list[str] = Field(default=[BOTTLENECK], min_length=1)
    pcap_bytes: int = Field(default=128, ge=1, le=65536)
    kernel: Annotated[str, BeforeValidator(kernels.check)] = ""
    traffic: Literal["lfgen", "iperf3"] = "lfgen"
    link: Link
    links: list[Link] = []  # those behind it, of several [[link]]
    host: Host = Host()
    flow: list[Flow] = []
    udp: list[Udp] = []
    short: list[Short] = []
    request: list[Request] = []
    video: list[Video] = []
    module: dict[str, dict[str, int | str | bool]] = {}

    # Set by load(), not by the file.
    name: str = ""
    case_name: str = ""

    @field_validator("seeds")
    @classmethod
    def _seeds(cls, seeds: list[int]) -> list[int]:
        if any(not 0 < seed < 2**31 for seed in seeds) or len(set(seeds)) != len(seeds):
            raise ValueError("seeds are different whole numbers, 1 to 2147483647")
        return seeds

    @field_validator("module")
    @classmethod
    def _module(cls, settings: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for name, parameters in settings.items():
            # It may come yet, also in the place of the tree's.
            if given.may_come() and name not in given.owners():
                continue
            if name in given.owners():
                refused = (given.refusal(name, *setting) for setting in parameters.items())
                if why := next(filter(None, refused), ""):
                    raise ValueError(why)
                continue
            valid = modules.parameters(name)
            for key, value in parameters.items():
                if key not in valid:
                    raise ValueError(
                        f"{name} has no parameter {key!r}; valid: {', '.join(sorted(valid))}"
                    )
                if not modules.accepts(valid[key], value):
                    raise ValueError(f"{name}.{key} = {value!r}: valid is {valid[key]}")
        return settings

    @model_validator(mode="after")
    def _offered(self) -> Self:
        # What the lab's own has is known without it.
        if self.kernel not in kernels.offered() and (self.kernel or given.may_come()):
            return self
        valid = kernels.offered().get(self.kernel, modules.IN_TREE) | set(given.registered())
        if missing := sorted(self.algorithms - valid):
            on = self.kernel or "the lab"
            raise ValueError(
                f"{on}: this kernel has no congestion control {missing[0]!r}; "
                f"valid: {', '.join(sorted(valid))}"
            )
        return self

    @model_validator(mode="after")
    def _series(self) -> Self:
        last = len(self.path)
        for kind in TRAFFIC:
            for i, traffic in enumerate(getattr(self, kind)):
                if not traffic.enter <= (traffic.leave or last) <= last:
                    raise ValueError(
                        f"{kind}[{i}]: enters before link {traffic.enter} and leaves behind link "
                        f"{traffic.leave or last}; valid: 1 to {last}, and enter not after leave"
                    )
                if traffic.reverse and self.traffic == "iperf3":
                    raise ValueError(f"{kind}[{i}].reverse: with lfgen only")
        if last > MAX_LINKS:
            raise ValueError(f"{last} links, at most {MAX_LINKS}")
        if len({link.mtu for link in self.path}) > 1:
            raise ValueError("link.mtu: all links have the same")
        if self.misled and self.reverse:
            raise ValueError(
                "ack_every, ack_ahead and ecn_echo: not beside traffic in reverse, whose sender is "
                "their receiver"
            )
        if any(link.aqm == "dualpi2" for link in self.path) and not self.kernel:
            raise ValueError(
                'link.aqm = "dualpi2": this kernel does not have it, Linux 6.17 and newer do: set '
                'kernel = "debian:7.2"'
            )
        if self.links and (self.traffic == "iperf3" or self.host.gro):
            raise ValueError("several links are neither for traffic = iperf3 nor for host.gro")
        return self

    @model_validator(mode="after")
    def _captures(self) -> Self:
        exits = sorted({f"d{x.leave}" for x in self.groups if x.leave and x.leave < len(self.path)})
        valid = [BOTTLENECK, *(f"s{i}" for i in range(len(self.groups))), *exits, "d"]
        for name in self.pcap_at:
            if name not in valid:
                raise ValueError(f"pcap_at: no place {name!r}; valid: {', '.join(valid)}")
        if len(set(self.pcap_at)) < len(self.pcap_at):
            raise ValueError("pcap_at: a place is named twice")
        if not self.pcap and {"pcap_at", "pcap_bytes"} & self.model_fields_set:
            raise ValueError("pcap_at and pcap_bytes say how to capture: add pcap = true")
        return self

    @model_serializer(mode="wrap")
    def _dump(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without the keys of captures where there are none: such a result is as it was before
        they came."""
        found: dict[str, Any] = dump(self)
        return {key: x for key, x in found.items() if self.pcap or not key.startswith("pcap")}

    @model_validator(mode="after")
    def _times(self) -> Self:
        if self.duration <= 0:
            raise ValueError("duration must be above zero")
        if self.warmup >= self.duration:
            raise ValueError("warmup must be shorter than duration")
        if self.sample < 1e-3 or self.queue_sample < 1e-3:
            raise ValueError("sample and queue_sample must be at least 1ms")
        for n, link in enumerate(self.path):
            self._link_in_time(link, f"link[{n}]" if self.links else "link")
        if self.changing and self.traffic == "iperf3":
            raise ValueError("traffic = iperf3: link.at, trace and delay are with lfgen only")
        for kind in TRAFFIC:
            for i, traffic in enumerate(getattr(self, kind)):
                if traffic.start >= self.duration:
                    raise ValueError(f"{kind}[{i}].start is after the end of the run")
        other_way = [x for x in self.groups if x.reverse]
        if not self.host.pacing and len(other_way) > 1 and any(x in self.udp for x in other_way):
            # Its sender is held back by fq, which paces the others, too.
            raise ValueError("udp.reverse beside other traffic in reverse needs host.pacing")
        if not self.groups:
            raise ValueError(f"no traffic: write one of {', '.join(f'[[{x}]]' for x in TRAFFIC)}")
        for i, short in enumerate(self.short):
            last = min(self.duration, short.start + (short.duration or self.duration))
            if short.arrivals and short.start + max(short.arrivals) >= last:
                raise ValueError(f"short[{i}].arrivals: {max(short.arrivals):g}s is after its end")
        for i, request in enumerate(self.request):
            asks = request.count * self.duration / (request.rtt + request.think)
            if asks > MAX_QUESTIONS:
                raise ValueError(
                    f"request[{i}]: up to {asks:.0f} questions, at most {MAX_QUESTIONS}"
                )
        for i, flow in enumerate(self.flow):
            if flow.reverse and flow.access:
                raise ValueError(f"flow[{i}]: access is of the sender, not of flows in reverse")
            if flow.start + flow.jitter > self.duration:
                raise ValueError(f"flow[{i}]: start and jitter reach to after the end of the run")
        if self.traffic == "iperf3":
            self.for_iperf3()
        if self.connections > MAX_CONNECTIONS:
            raise ValueError(
                f"{self.connections} connections and other traffic, at most {MAX_CONNECTIONS}"
            )
        return self

    def _link_in_time(self, link: Link, called: str) -> None:
        """What is to be known of the run's length, too."""
        for i, at in enumerate(link.at):
            if at.time >= self.duration:
                raise ValueError(f"{called}.at[{i}].time is after the end of the run")
            if at.every and (self.duration - at.time) / at.every > changes.MOST:
                raise ValueError(f"{called}.at[{i}].every: more than {changes.MOST} changes")
        if not self._mean_rate(link):
            raise ValueError(f"{called}: it is down in all of the measured time")
        if link.aqm == "red" and self.packets(link) < 12:
            raise ValueError(f"{called}.aqm = red needs a buffer of at least 12 packets")

    def for_iperf3(self) -> None:
        """ValueError if the real iperf3 cannot be its traffic."""
        if len(self.groups) > len(self.flow) or self.trace or self.link.ecn:
            others = ", ".join(TRAFFIC[1:])
            raise ValueError(f"traffic = iperf3 is bulk flows alone: no {others}, trace or ecn")
        if self.misled:
            raise ValueError("ack_every, ack_ahead and ecn_echo: not with traffic = iperf3")
        if not 0.1 <= self.sample <= 60:
            raise ValueError("traffic = iperf3: sample must be 100ms to 60s")
        for i, flow in enumerate(self.flow):
            for key in ("bytes", "off", "socket_buffer"):
                if getattr(flow, key):
                    raise ValueError(f"flow[{i}].{key}: with lfgen only")
            end = min(self.duration, flow.start + (flow.duration or self.duration))
            seconds = end - flow.start
            if seconds < 1 or (not flow.jitter and abs(seconds - round(seconds)) > 1e-6):
                raise ValueError(f"flow[{i}]: {seconds:g} s; iperf3 sends for whole seconds")

    # --- what follows from it

    @property
    def path(self) -> list[Link]:
        """All links, in the order in which packets cross them."""
        return [self.link, *self.links]

    @property
    def changing(self) -> bool:
        """Whether any link changes in the course of the run."""
        return any(link.changing for link in self.path)

    @property
    def synchronised(self) -> bool:
        """Whether all flows lose at once at the overflows of any link."""
        return any(link.aqm == "sync" for link in self.path)

    @property
    def misled(self) -> bool:
        """Whether any receiver misbehaves."""
        return any(isinstance(group, Tcp) and group.misled for group in self.groups)

    @property
    def virtual_alone(self) -> str:
        """What of it only the virtual-time kernel has, in words; "" if other backends carry it."""
        if self.changing:
            return "link.at, trace and delay need virtual time"
        if self.synchronised:
            return "link.aqm = sync needs virtual time"
        if self.misled:
            return "ack_every, ack_ahead and ecn_echo need virtual time"
        return ""

    @property
    def captures(self) -> list[str]:
        """The files of captured packets: two of the bottleneck, one of a host."""
        if not self.pcap:
            return []
        sides = ("before", "behind")
        return [x for at in self.pcap_at for x in (sides if at == BOTTLENECK else (at,))]

    @property
    def max_rtt(self) -> float:
        """The longest RTT of the bulk flows, of the other traffic where there are none, seconds:
        the BDP is taken with it."""
        return max(group.rtt for group in self.flow or self.groups)

    @property
    def groups(self) -> list[Group]:
        """All traffic: each entry has a sender of its own."""
        return [*self.flow, *self.udp, *self.short, *self.request, *self.video]

    @property
    def reverse(self) -> bool:
        """Whether anything goes the other way."""
        return any(x.reverse for x in self.groups)

    @property
    def way_back(self) -> bool:
        """Whether the queue of the way back is watched: the only link has one, something goes that
        way, and no impaired hop is watched instead."""
        link, waits = self.link, self.link.reverse_delay or self.link.reverse_jitter
        hop = link.impaired or link.changing - {"rate"}
        return bool(self.reverse and link.reverse_rate and not (self.links or waits or hop))

    @property
    def algorithms(self) -> set[str]:
        """The congestion controls of the flows."""
        return {group.cc for group in self.groups if not isinstance(group, Udp)}

    @property
    def connections(self) -> int:
        """Bulk and kept connections, and the entries of other traffic."""
        bulk = sum(flow.count * flow.parallel for flow in self.flow)
        kept = sum(x.count for x in self.request) + sum(x.count for x in self.video)
        return bulk + kept + len(self.udp) + len(self.short)

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product, bytes."""
        return self.link.rate / 8 * self.max_rtt

    @property
    def buffer_packets(self) -> int:
        """The bottleneck buffer in packets of the link's MTU."""
        return self.packets(self.link)

    def packets(self, link: Link, *, reverse: bool = False) -> int:
        """The buffer of a link, or of its other direction, in packets of its MTU."""
        rate = link.reverse_rate if reverse and link.reverse_rate else link.rate
        buffer = link.reverse_buffer if reverse else link.buffer
        return buffered(buffer, rate, self.max_rtt, link.mtu)

    @property
    def most_in_flight(self) -> float:
        """What may be in flight and queued, bytes, however links change."""
        rtt = max(group.rtt for group in self.groups)
        rtt += sum(self._longest_wait(link) for link in self.path)
        queued = sum(self.packets(link) * link.mtu for link in self.path)
        if self.reverse:
            back = [link for link in self.path if link.reverse_rate]
            queued += sum(self.packets(link, reverse=True) * link.mtu for link in back)
        return max(self._most_carried(link, rtt) for link in self.path) + queued

    def _longest_wait(self, link: Link) -> float:
        """What a link adds to the RTT at most, without its queue, seconds."""
        delays = [step.delay / 1e9 for step in self.steps(link)] if link.changing else [0.0]
        back = link.reverse_delay + 2 * link.reverse_jitter
        return max(delays) + 2 * link.jitter + link.aggregate + link.late + back

    def _most_carried(self, link: Link, seconds: float) -> float:
        """Bytes at most in so long a time, in either direction."""
        most = link.rate * seconds
        if "rate" in link.changing:
            most = changes.Carried(self.steps(link)).most(seconds)
        return max(most, (link.reverse_rate or 0) * seconds) / 8

    def steps(self, link: Link) -> list[Step]:
        """How a link is in the course of the run."""
        found = [Change(0.0, delay=link.delay)] if link.delay else []
        found += changes.unrolled(link._trace, self.duration)
        for at in link.at:
            found += changes.repeated(at.change, at.every, self.duration)
        return changes.steps(link.rate, found)

    @property
    def mean_rate(self) -> float:
        """The rate of the link in the measured time, bits per second."""
        return self._mean_rate(self.link)

    def _mean_rate(self, link: Link) -> float:
        if "rate" not in link.changing:
            return link.rate
        return changes.mean_rate(self.steps(link), self.warmup, self.duration)

    @property
    def mss(self) -> int:
        """TCP payload bytes per full packet."""
        return payload(self.link.mtu, timestamps=self.host.timestamps)

    @property
    def capacity(self) -> float:
        """Payload capacity of the link, bits per second: the most goodput there can be."""
        return self.mean_rate * self.mss / self.link.mtu


def payload(mtu: int, *, timestamps: bool) -> int:
    """Bytes of TCP payload in a full packet of `mtu` bytes of IP."""
    return mtu - 40 - (12 if timestamps else 0)


def _explain(error: ValidationError, path: Path, *, several: bool) -> str:
    """What is wrong, with each link's number if there are several."""
    lines = []
    for item in error.errors():
        if item["loc"][:1] == ("links",) and len(item["loc"]) > 1:
            item["loc"] = ("link", int(item["loc"][1]) + 1, *item["loc"][2:])
        elif item["loc"][:1] == ("link",) and several:
            item["loc"] = ("link", 0, *item["loc"][1:])
        key = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in item["loc"]).lstrip(".")
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            message = f"unknown key; valid here: {', '.join(_keys(item['loc']))}"
        elif item["type"] == "missing":
            message = "is missing"
        lines.append(f"{path}: {key or 'scenario'}: {message}")
    return "\n".join(dict.fromkeys(lines))


def _keys(loc: tuple[int | str, ...]) -> list[str]:
    """The keys that are valid where the unknown key at `loc` stands."""
    tables: dict[str, type[BaseModel]] = {"link": Link, "host": Host}
    tables |= {"flow": Flow, "udp": Udp, "short": Short, "request": Request, "video": Video}
    model = tables.get(str(loc[0]), Scenario) if len(loc) > 1 else Scenario
    if "at" in loc[:-1]:
        model = At
    return sorted(set(model.model_fields) - {"name", "case_name", "links"}) + (
        ["case", "like", "vary"] if model is Scenario else []
    )


def put(data: dict[str, Any], key: str, value: Any, where: str) -> None:
    """data[a][0][b] = value for the key "a.0.b", which stands `where`."""
    at: Any = data
    *parents, last = key.split(".")
    try:
        for part in parents:
            at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
        at[last] = value
    except (AttributeError, IndexError, ValueError, TypeError) as error:
        raise LabError(f"{where}: no place {key!r} in this scenario") from error


def in_name(value: str) -> str:
    """How the name of a scenario has a value by which it is told from others."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", value)


def _read(path: Path) -> dict[str, Any]:
    """What a scenario file says."""
    try:
        return tomllib.loads(own.find(path).read_text())
    except OSError as error:
        raise LabError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"{path}: is not TOML: {error}") from error


def _like(own_keys: dict[str, Any], path: Path) -> dict[str, Any]:
    """What the file says that this one is like, with the keys of this one, which are paths as
    those of a case, in their place."""
    name = own_keys.pop("like")
    if not isinstance(name, str) or Path(name).name != name:
        raise LabError(f"{path}: like: is the name of a file in the same directory")
    other = path.parent / name
    if not own.find(other).is_file():
        raise LabError(f"{path}: like: there is no {other}")
    data = _read(other)
    if "like" in data:
        raise LabError(f"{path}: like: {name} is like {data['like']}: name that")
    for key, value in own_keys.items():
        put(data, key, value, f"{path}: like")
    return data


def load(path: Path, *, kernel: str = "") -> list[Scenario]:
    """The scenarios of a file: one, or one for each of its `case` tables, and of each one
    for each combination of its `vary` table; on this kernel, if one is named."""
    data = _read(path)
    if "like" in data:
        data = _like(data, path)
    cases, vary = data.pop("case", {"": {}}), data.pop("vary", {})
    for key in {"name", "case_name"} & set(data):
        raise LabError(f"{path}: {key}: is taken from the file")
    tables = cases.values() if isinstance(cases, dict) else [None]
    if not tables or any(
        # Keys without quotes make tables of tables.
        not isinstance(table, dict)
        or any(isinstance(value, dict) and "." not in key for key, value in table.items())
        for table in tables
    ):
        raise LabError(f'{path}: case: is tables, such as [case.old] with "flow.0.cc" = "reno"')
    if not isinstance(vary, dict) or not all(isinstance(v, list) and v for v in vary.values()):
        raise LabError(f'{path}: vary: is a table of lists, such as "flow.0.cc" = ["reno"]')
    if kernel:
        if any("kernel" in table for table in (vary, *tables)):
            raise LabError(
                f"{path}: kernel: case or vary of the file choose it already: leave --kernel out"
            )
        data["kernel"] = kernel
    scenarios = []
    for (case, settings), combination in itertools.product(
        cases.items(), itertools.product(*vary.values())
    ):
        varied = dict(zip(vary, combination, strict=True))
        for key in set(settings) & set(varied):
            raise LabError(f"{path}: {key}: is in case.{case} and in vary")
        one = copy.deepcopy(data)
        for key, value in (settings | varied).items():
            put(one, key, value, f"{path}: case or vary")
        words = [*([case] if case else []), *map(str, combination)]
        one["name"] = "-".join([path.stem, *map(in_name, words)])
        one["case_name"] = case
        if "links" in one:
            valid = ", ".join(_keys(("links",)))
            raise LabError(f"{path}: links: unknown key; valid here: {valid}")
        if isinstance(one.get("link"), list) and one["link"]:
            one["link"], *one["links"] = one["link"]
        try:
            scenarios.append(Scenario.model_validate(one, context={"base": path.parent}))
        except ValidationError as error:
            raise LabError(_explain(error, path, several=bool(one.get("links")))) from error
    if len({s.name for s in scenarios}) != len(scenarios):
        raise LabError(f"{path}: case and vary: two combinations have the same name")
    return scenarios
