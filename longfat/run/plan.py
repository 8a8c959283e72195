# SPDX-License-Identifier: GPL-2.0
"""From a scenario and a seed to what a backend carries out: a shell script that
builds the network with ip, tc and sysctl, and the plan of lfgen's traffic.

The network has one sender namespace for each traffic entry, so that each has its own
round-trip time; every namespace name begins with a prefix that the backend chooses.
Where lflink.py can be the network it is.  Otherwise:

    s0 --veth--+                     bottleneck             impaired hop
    s1 --veth--+-- r ------------- rate, buffer, AQM ----+-- w -- loss, jitter ... -- d
     access,   |                                         (only if asked for)
       fq      delay of the whole RTT, on the way back to each sender
"""

from __future__ import annotations

import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from longfat.build import modules
from longfat.core.errors import LabError
from longfat.run import changes, disciplines, iperf3, lflink, traffic
from longfat.run.disciplines import Bottleneck
from longfat.run.scenario import Flow, Group, Link, Request, Scenario, Short, Udp, Video

FIRST_PORT = 5001
LFGEN = "./bin/lfgen traffic"
VARY = "sch_lfvary.ko"
SYNC = "sch_lfsync.ko"
ACK = "sch_lfack.ko"
BEGIN = "/sys/module/sch_lfvary/parameters/begin"
ADDRESS = "02:00:00:00:00:01"  # of Ethernet, of every device
FILES = 1024  # that a process may have open if nobody asks for more
NEARLY = 0.8  # of what a link carries: who offers more may find it overloaded


@dataclass
class Plan:
    setup: str
    traffic: str
    spaces: list[str]  # the names of the namespaces
    # The commands that carry both out.
    main: str = f"{LFGEN} >samples 2>&1\n"
    # lfgen's flow id -> (group, flow) of a bulk flow; several ids if parallel
    flows: dict[int, tuple[int, int]] = field(default_factory=dict)
    udp: dict[int, int] = field(default_factory=dict)
    # lfgen's id of a source of objects -> (kind, entry)
    objects: dict[int, tuple[str, int]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # what else a run has
    programs: list[iperf3.Connection] = field(default_factory=list)


def _buffers(scenario: Scenario) -> int:
    """Socket buffer limit, bytes: room for what is in flight and queued, with the
    kernel's overhead per packet (up to five times the payload of a small one)."""
    return min(2**31 - 1, max(4 << 20, round(8 * scenario.most_in_flight)))


def _place(scenario: Scenario, rate: int, limit: int) -> Bottleneck:
    return Bottleneck(rate, scenario.link.mtu, limit, len(scenario.groups))


def bottleneck(scenario: Scenario, link: Link | None = None) -> list[str]:
    """tc commands for the bottleneck, or another link, on device $dev of namespace $ns."""
    link = link or scenario.link
    at = _place(scenario, link.rate, scenario.packets(link))
    at = replace(at, varies="rate" in link.changing)
    return disciplines.commands(link.aqm, link.aqm_options, at, ecn=link.ecn)


def _sender(scenario: Scenario, group: Group) -> list[str]:
    """tc commands for the interface $dev of the sender $ns."""
    add = "tc -n $ns qdisc add dev $dev"
    fq = scenario.host.pacing or isinstance(group, Udp)
    if not isinstance(group, Flow) or not group.access:
        return [f"{add} root {'fq' if fq else 'pfifo limit 100000'}"]
    # tbf cuts TCP's batches up before they come to its child.  fq's own limits would drop some
    # there, so they are raised.  What waits still belongs to its socket, and holds TCP back.
    child = "fq limit 100000 flow_limit 100000" if fq else "pfifo limit 100000"
    return [
        f"{add} root {_place(scenario, group.access, 1000).tbf}",
        f"{add} parent 1:1 handle 10: {child}",
    ]


def _bursts(loss: float, length: float) -> str:
    """Gilbert's model for netem: all packets of a bad state are lost, which is left with the
    probability 1/length, and is entered so often that `loss` of all packets are in it."""
    leave = 1 / length
    enter = leave * loss / (1 - loss)
    return f"loss gemodel {enter * 100:.9f}% {leave * 100:.9f}%"


def _slots(jitter: float) -> str:
    """Jitter that keeps packets in order, for netem.  Its delay draws one for each packet, so they
    overtake.  A slot holds all that come before it: the first that finds none waits for 0 to
    2 x jitter."""
    return f"slot 0us {2e6 * jitter:.3f}us"


def _impairments(link: Link) -> list[list[str]]:
    """What netem does on each impaired hop, if any: two of them if packets are held in order and
    reordered too, as a netem that reorders lets packets pass by all that it holds."""
    hops: list[list[str]] = [[]]
    if link.jitter:
        hops[0].append(_slots(link.jitter))
    if link.aggregate:
        hops[0].append(f"slot {1e6 * link.aggregate:.3f}us {1e6 * link.aggregate:.3f}us")
    if link.loss_burst:
        hops[0].append(_bursts(link.loss, link.loss_burst))
    for name, value in (("loss", link.loss), ("duplicate", link.duplicate)):
        if value and not (name == "loss" and link.loss_burst):
            hops[0].append(f"{name} {value * 100:.9f}%")
    if link.reorder:
        # To netem those are "reordered" that pass at once.  Here that is the rule, and the
        # others are late.
        if link.jitter or link.aggregate:
            hops.append([])
        some = f" reorder {(1 - link.reorder) * 100:.9f}% gap 1" if link.reorder < 1 else ""
        hops[-1].append(f"delay {link.late * 1e6:.3f}us{some}")
    return hops if link.impaired else []


def drawn(seed: int, place: str) -> int:
    """The seed of one hop's random numbers: each has its own."""
    return random.Random(f"{place} {seed}").getrandbits(31)


def _seeded(seed: int | None, place: str) -> str:
    """The same, as netem is told."""
    return "" if seed is None else f" seed {drawn(seed, place)}"


def _hops(link: Link, n: int, seed: int | None) -> list[list[str]]:
    """What is added to the device of each hop behind the bottleneck of link `n`."""
    found = [
        [f"root netem {' '.join(['limit 1000000', *parts])}{_seeded(seed, f'hop {n} {hop}')}"]
        for hop, parts in enumerate(_impairments(link))
    ]
    if link.changing - {"rate"}:
        # The counts of a run are those of the first hop, so that is where losses are.
        vary = ["root handle 1: lfvary", "parent 1:1 handle 10: pfifo limit 1000000"]
        found.insert(0 if "loss" in link.changing else len(found), vary)
    return found


def _changes(scenario: Scenario, seed: int) -> dict[str, str]:
    """The files that guest/sch_lfvary.c reads, by their names."""
    found = {}
    for n, link in enumerate(scenario.path):
        if "rate" in link.changing:
            found[f"vary-{_device('bottleneck', n)}"] = changes.of_rate(scenario.steps(link))
        if link.changing - {"rate"}:
            own = drawn(seed, f"change {n}")
            found[f"vary-{_device('east', n)}"] = changes.of_delay(scenario.steps(link), own)
    return found


def _device(name: str, n: int) -> str:
    """What a device of link `n` is called, from 0 on."""
    return f"{name}{n + 1}" if n else name


def _back(scenario: Scenario, link: Link, n: int, seed: int | None) -> list[str]:
    """tc commands for the way back on device $dev of namespace $ns."""
    add = "tc -n $ns qdisc add dev $dev"
    limit, words = 1000000, ""
    if link.reverse_rate:
        limit = scenario.packets(link, reverse=True)
        words = f" rate {link.reverse_rate}bit -{disciplines.ETHERNET}"
    if link.reverse_loss:
        words += f" loss {link.reverse_loss * 100:.9f}%"
        words += _seeded(seed, f"back {n}")
    # A netem's limit counts what its child holds, too: what has a buffer is the last.
    stages = []
    if link.reverse_delay:
        stages.append(f"delay {link.reverse_delay * 1e6:.3f}us limit 1000000")
    if link.reverse_jitter:
        own = _seeded(seed, f"back jitter {n}")
        stages.append(f"{_slots(link.reverse_jitter)} limit 1000000{own}")
    if words or not stages:
        stages.append(f"limit {limit}{words}")
    if len(stages) == 1:
        return [f"{add} root netem {stages[0]}"]
    places = ["root handle 1:", "parent 1:1 handle 2:", "parent 2:1 handle 3:"]
    return [f"{add} {place} netem {stage}" for place, stage in zip(places, stages, strict=False)]


def _misled(scenario: Scenario) -> str:
    """The command that loads the module by which receivers misbehave, with what each sender is
    told."""
    words = {
        "every": [getattr(group, "ack_every", None) or 0 for group in scenario.groups],
        "ahead": [getattr(group, "ack_ahead", None) or 0 for group in scenario.groups],
        "silent": [int(not getattr(group, "ecn_echo", True)) for group in scenario.groups],
    }
    told = (f"{name}={','.join(map(str, values))}" for name, values in words.items())
    return f"insmod ./{ACK} {' '.join(told)}"


@dataclass
class _Node:
    """A router on the way: what its device towards the receiver is called and has."""

    space: str
    device: str
    add: list[str]  # for $dev of $ns
    reverse: list[str] = field(default_factory=list)  # for the device at the wire's other end


def _way(scenario: Scenario, prefix: str, seed: int | None) -> tuple[list[_Node], list[int]]:
    """The routers between the senders and the receiver, and which of them begin a link."""
    nodes: list[_Node] = []
    begins = []
    for n, link in enumerate(scenario.path):
        begins.append(len(nodes))
        more = _thin_acks(link.ack_thin) if link.ack_thin > 1 else []
        add = [*bottleneck(scenario, link), *more]
        nodes.append(_Node(f"{prefix}-{_device('r', n)}", _device("bottleneck", n), add))
        for letter, hop in zip("wvu", _hops(link, n, seed), strict=False):
            commands = [f"tc -n $ns qdisc add dev $dev {x}" for x in hop]
            space = f"{prefix}-{letter}{n + 1 if n else ''}"
            nodes.append(_Node(space, _device("east", n), commands))
        if link.other_way:
            nodes[-1].reverse = _back(scenario, link, n, seed)
            # In a host netem would take packets from the sockets that count them.
            if n + 1 == len(scenario.path):
                nodes.append(_Node(f"{prefix}-x", "last", []))
    return nodes, begins


def _thin_acks(keep: int) -> list[str]:
    """tc commands for the router's port $dev behind which the receiver is: one of `keep`
    acknowledgments passes.

    A connection numbers its packets in the IPv4 identification, so it tells which one.  Those
    with SACK blocks all pass, as with the filters of real devices, and so does what is more than
    an acknowledgment.
    """
    add = "tc -n $ns filter add dev $dev parent ffff: protocol ip"
    drop = [
        # An IP header without options; TCP's is without any, or has timestamps alone.
        f"{add} prio 2 u32 match u8 0x45 0xff at 0 match u8 6 0xff at 9 "
        f"match u16 {length} 0xffff at 2 match u8 {(length - 20) // 4 << 4:#x} 0xf0 at 32 "
        "match u8 0x10 0xff at 33 action drop"
        for length in (40, 52)
    ]
    return [
        "tc -n $ns qdisc add dev $dev ingress",
        f"{add} prio 1 u32 match u16 0 {keep - 1:#06x} at 4 action pass",
        *drop,
    ]


def _again(scenario: Scenario) -> int:
    """How long an overflow lasts that all flows are to lose a packet in, ns: until the last of them
    has answered.  That takes two of the longest round trips behind full queues: in one it learns of
    the loss, and over the other the kernel spreads the decrease."""
    full = sum(8 * link.mtu * scenario.packets(link) / link.rate for link in scenario.path)
    return round(2 * (scenario.max_rtt + full) * 1e9)


def _short_files(scenario: Scenario, arriving: Sequence[tuple[Short, list[str]]]) -> int:
    """Files of the short flows that may be there at once, each with both ends: ten times a
    second's, or all of a list.  All, too, where the short flows of one direction are nearly as much
    as a link carries, or more: it serves them late or never.  `arriving` has the lines of each
    entry.  Their sender's namespace is a file."""
    files = float(len(scenario.short))
    for way in (False, True):
        entries = [(short, lines) for short, lines in arriving if short.reverse is way]
        few = sum(20 * (short.per_second or 0) + 2 * len(short.arrivals) for short, _ in entries)
        every = [int(line.split()[1]) for _, lines in entries for line in lines]
        rate = min((way and link.reverse_rate) or link.rate for link in scenario.path)
        overloaded = sum(every) > NEARLY * rate / 8 * scenario.duration
        files += max(few, 2 * len(every)) if overloaded else few
    return round(files)


def _files(scenario: Scenario, short: int) -> str:
    """A line that lets lfgen have as many files as it needs, if they are many: a bulk connection is
    three, with its listener; `short` are those of short flows."""
    bulk = 3 * sum(flow.count * flow.parallel for flow in scenario.flow)
    kept = sum(x.count for x in scenario.request) + sum(x.count for x in scenario.video)
    need = 64 + bulk + 2 * len(scenario.udp) + short + 3 * kept
    if need <= FILES:
        return ""
    remedy = "raise the hard limit (ulimit -Hn) and fs.nr_open"
    said = f"x the flows need {need} open files, this process may not have them: {remedy}"
    return f"ulimit -n {need} || {{ echo {shlex.quote(said)} >samples; exit 1; }}\n"


def veth(*ends: tuple[str, str, str], mtu: int, batches: bool = False) -> list[str]:
    """Commands for two devices that are one wire, each (namespace, device, address or "").

    A buffer in packets would count a batch as one packet.  So devices do not batch; with
    `batches` the first end may, and cuts batches up before they reach the wire.

    Nobody asks whose an address is: that would cost each first packet a round trip, and be lost
    in an outage.  Without ARP a device sends to its own address, so all have the same.
    """
    (a, dev_a, _), (b, dev_b, _) = ends
    out = [f"ip link add name {dev_a} netns {a} type veth peer name {dev_b} netns {b}"]
    for ns, dev, address in ends:
        offload = "on" if batches and (ns, dev) == (a, dev_a) else "off"
        if address:
            out.append(f"ip -n {ns} addr add {address}/24 dev {dev}")
        out.append(f"ip netns exec {ns} ethtool -K {dev} tso off gso {offload} gro off >/dev/null")
        words = f"address {ADDRESS} arp off mtu {mtu} txqueuelen 1000"
        out.append(f"ip -n {ns} link set {dev} {words} up")
    return out


@dataclass
class _Ends:
    """The hosts of a network, and what is the same for all of them."""

    receiver: str
    senders: list[str]
    groups: list[Group]
    settings: dict[str, int | str]  # of sysctl
    exits: dict[int, tuple[str, str]]  # behind which link -> the namespace there, its address

    def exit_of(self, group: Group) -> tuple[str, str]:
        """The other end of an entry."""
        return self.exits[group.leave or max(self.exits)]


def _for_both(group: Group) -> str:
    """Words for the route of who accepts an entry's connections, if that host is to have the
    algorithm, too: DCTCP's receivers have a part of their own, and who needs ECN marks its SYN,
    which others take no ECN up with.  What is none of the kernel's or ours may be such."""
    cc = getattr(group, "cc", "reno")
    known = modules.algorithms() - {"dctcp"}
    return "" if cc in known else f" congctl {cc}"


def _settings(scenario: Scenario) -> dict[str, int | str]:
    """What sysctl is told on each host."""
    limit = _buffers(scenario)
    return {
        "net.ipv4.tcp_rmem": f"4096 {limit} {limit}",
        "net.ipv4.tcp_wmem": f"4096 262144 {limit}",
        "net.ipv4.tcp_no_metrics_save": 1,
        "net.ipv4.tcp_timestamps": int(scenario.host.timestamps),
        "net.ipv4.tcp_sack": int(scenario.host.sack),
        "net.ipv4.tcp_ecn": int(any(link.ecn for link in scenario.path)),
        **scenario.host.sysctl,
    }


def _direct(scenario: Scenario, ends: _Ends) -> tuple[list[str], list[str], list[str]]:
    """The network as lflink has it: its commands, its namespaces, lfgen's directives for queues."""
    pairs = zip(ends.senders, ends.groups, strict=True)
    senders = {ns: _sender(scenario, group) for ns, group in pairs}
    rtts = [group.rtt for group in ends.groups]
    routes = [_for_both(group) for group in ends.groups]
    out = lflink.setup(scenario, ends.receiver, senders, rtts, routes, ends.settings)
    return out, [*ends.senders, ends.receiver], [f"queuefile {lflink.QUEUE}"]


def _routed(
    scenario: Scenario, ends: _Ends, prefix: str, seed: int | None
) -> tuple[list[str], list[str], list[str]]:
    """The same with routers and queue disciplines, netem's random numbers drawn from `seed`."""
    receiver, senders, mtu = ends.receiver, ends.senders, scenario.link.mtu
    nodes, begins = _way(scenario, prefix, seed)
    routers = [node.space for node in nodes]
    exits = {n: space for n, (space, _) in ends.exits.items() if space != receiver}
    spaces = [*senders, *routers, *exits.values(), receiver]
    out: list[str] = []

    def pair(*of: tuple[str, str, str]) -> None:
        batches = scenario.host.offload and of[0][0] in senders
        out.extend(veth(*of, mtu=mtu, batches=batches))

    for ns in spaces:
        out.append(f"ip netns add {ns}")
        out.append(f"ip -n {ns} link set lo up")
        # Nor does IPv6 ask for routers, where there is any (-e).
        quiet = "net.ipv4.ip_forward=1 net.ipv6.conf.default.disable_ipv6=1"
        out.append(f"ip netns exec {ns} sysctl -qwe {quiet}")
    # First the way: 10.0.0.0/24 is the receiver's.
    nets = [*(f"10.0.{i}" for i in range(1, len(nodes))), "10.0.0"]
    path = [*routers, receiver]
    for node, (west, east), net in zip(nodes, pairwise(path), nets, strict=True):
        right = "eth0" if east == receiver else "west"
        pair((west, node.device, f"{net}.1"), (east, right, f"{net}.2"))
    for (west, east), net in zip(pairwise(routers), nets[:-1], strict=True):
        out.append(f"ip -n {west} route add 10.0.0.0/24 via {net}.2")
        out.append(f"ip -n {east} route add default via {net}.1")
    if scenario.changing:
        out.append(f"insmod ./{VARY}")
    if scenario.synchronised:
        out.append(f"insmod ./{SYNC} again={_again(scenario)}")
    quick = " quickack 1" if scenario.host.quickack else ""
    out.append(f"ip -n {receiver} route add default via 10.0.0.1{quick}")
    # Who leaves before the end does so at the router that begins the next link.
    for n, space in exits.items():
        at = begins[n]
        pair((routers[at], "exit", f"10.2.{n}.1"), (space, "eth0", f"10.2.{n}.2"))
        out.append(f"ip -n {space} route add default via 10.2.{n}.1{quick}")
        for west, net in zip(routers[:at], nets, strict=False):
            out.append(f"ip -n {west} route add 10.2.{n}.0/24 via {net}.2")
    for i, group in enumerate(ends.groups):
        there, address = ends.exit_of(group)
        if (words := _for_both(group)) and not group.reverse:
            via = f"{address.rpartition('.')[0]}.1{quick}{words}"
            out.append(f"ip -n {there} route add 10.1.{i}.0/24 via {via}")
    if scenario.host.gro:
        # The device holds what arrives for this time and hands it to TCP as one packet, as the
        # interrupts of a busy interface do.  TCP answers with one acknowledgment for all of it.
        eth0 = "/sys/class/net/eth0"
        hold = f"echo {round(scenario.host.gro * 1e9)} >{eth0}/gro_flush_timeout"
        defer = f"echo 1000000 >{eth0}/napi_defer_hard_irqs"
        out.append(f"ip netns exec {receiver} ethtool -K eth0 gro on")
        out.append(f"ip netns exec {receiver} sh -ec '{hold}; {defer}'")
    for node, east in zip(nodes, path[1:], strict=True):
        if node.add:
            out += [f"ns={node.space} dev={node.device}", *node.add]
        if node.reverse:
            out += [f"ns={east} dev=west", *node.reverse]
    # What the other end sends waits as at a sender.
    back = {ends.exit_of(group)[0]: group for group in ends.groups if group.reverse}
    for ns, group in back.items():
        out += [f"ns={ns} dev=eth0", *_sender(scenario, _without_access(group))]
    for i, (group, ns) in enumerate(zip(ends.groups, senders, strict=True)):
        router = routers[begins[group.enter - 1]]
        pair((ns, "eth0", f"10.1.{i}.2"), (router, f"port{i}", f"10.1.{i}.1"))
        if not scenario.host.offload:
            # Without the device's offloads TCP makes batches all the same, cut up behind the qdisc.
            out.append(f"ip -n {ns} link set eth0 gso_max_segs 1")
        words = _for_both(group) if group.reverse else ""
        out.append(f"ip -n {ns} route add default via 10.1.{i}.1{words}")
        out.append(f"ns={ns} dev=eth0")
        out += _sender(scenario, group)
        if group.rtt:
            out.append(
                f"tc -n {router} qdisc add dev port{i} root "
                f"netem delay {group.rtt * 1e6:.3f}us limit 10000000"
            )
    told = " ".join(shlex.quote(f"{key}={value}") for key, value in ends.settings.items())
    for ns in [*senders, *exits.values(), receiver]:
        out.append(f"ip netns exec {ns} sysctl -qw {told}")
    queues = [f"queue {routers[0]} bottleneck"]
    if len(nodes) > 1 and nodes[1].device == "east":
        queues.append(f"link {nodes[1].space} east")
    elif scenario.way_back:
        queues.append(f"link {path[1]} west")
    return out, spaces, queues


def _capture(scenario: Scenario, prefix: str) -> str:
    """The command line that begins with lfcap, before that of what it waits for."""
    router = f"{prefix}-r"
    ports = [f"port{i}" for i, group in enumerate(scenario.groups) if group.enter == 1]
    devices = {"before": [(router, port) for port in ports], "behind": [(router, "bottleneck")]}
    words = ["./bin/lfcap", str(scenario.pcap_bytes)]
    for name in scenario.captures:
        words.append(f"{name}.pcapng")
        words += [x for at in devices.get(name, [(f"{prefix}-{name}", "eth0")]) for x in at]
    return " ".join([*words, "--"])


def _without_access(group: Group) -> Group:
    """The same, as the other end sends it."""
    return group.model_copy(update={"access": None}) if isinstance(group, Flow) else group


def _objects(
    group: Short | Request | Video, start: float, stop: float, rng: random.Random
) -> tuple[str, list[str]]:
    """What becomes of the objects of one source, and a line for each."""
    if isinstance(group, Short):
        return "new", traffic.short(group, start, stop, rng)
    if isinstance(group, Request):
        return "asked", traffic.request(group, start, stop, rng)
    return "kept", traffic.video(group, start, stop)


def make(scenario: Scenario, seed: int, *, prefix: str, virtual: bool) -> Plan:
    """The plan of one run.

    `prefix` begins every namespace's name; `virtual` says that it is for the virtual-time kernel,
    which has lflink, and whose tc knows netem's `seed`.
    """
    rng = random.Random(seed)
    groups = scenario.groups
    if len(groups) > 200:
        raise LabError(f"{scenario.name}: at most 200 entries of traffic")
    receiver, senders = f"{prefix}-d", [f"{prefix}-s{i}" for i in range(len(groups))]
    last = len(scenario.path)
    exits = {
        n: (f"{prefix}-d{n}", f"10.2.{n}.2") for n in sorted({x.leave for x in groups if x.leave})
    }
    exits[last] = receiver, "10.0.0.2"
    if scenario.virtual_alone and not virtual:
        raise LabError(f"{scenario.name}: {scenario.virtual_alone}: use --backend uml")
    ends = _Ends(receiver, senders, groups, _settings(scenario), exits)
    if virtual and lflink.carries(scenario):
        out, spaces, queues = _direct(scenario, ends)
    else:
        out, spaces, queues = _routed(scenario, ends, prefix, seed if virtual else None)

    lines = [
        f"end {scenario.duration:.9f}",
        f"sample {scenario.sample:.9f}",
        f"qsample {scenario.queue_sample:.9f}",
        *queues,
    ]
    if scenario.misled:
        out.append(_misled(scenario))
        for ns, _ in exits.values():
            out.append(f"tc -n {ns} qdisc add dev eth0 root lfack")
    plan = Plan("\n".join(["set -e", *out]) + "\n", "", spaces)
    if scenario.changing:
        plan.files = _changes(scenario, seed)
        lines.append(f"begin {BEGIN}")
    arriving: list[tuple[Short, list[str]]] = []
    ident = 0
    for i, (group, ns) in enumerate(zip(groups, senders, strict=True)):
        end = scenario.duration
        for n in range(1 if isinstance(group, Udp | Short) else group.count):
            start = group.start
            if isinstance(group, Flow):
                start += rng.uniform(0, group.jitter)
            stop = end if group.duration is None else min(end, start + group.duration)
            for _ in range(group.parallel if isinstance(group, Flow) else 1):
                there, address = ends.exit_of(group)
                between = f"{there} {ns} 10.1.{i}.2" if group.reverse else f"{ns} {there} {address}"
                where = f"{ident} {between} {FIRST_PORT + ident}"
                times = f"{start:.9f} {stop:.9f}"
                if isinstance(group, Flow) and scenario.traffic == "iperf3":
                    port, seconds = FIRST_PORT + ident, max(1, int(stop - start + 1e-6))
                    plan.programs.append(
                        iperf3.Connection(
                            ident, ns, port, group.cc, start, seconds, scenario.sample
                        )
                    )
                    plan.flows[ident] = (i, n)
                elif isinstance(group, Flow):
                    size = group.socket_buffer or 0
                    lines.append(
                        f"tcp {where} {group.cc} {times} {group.bytes or 0} {size} {size} "
                        f"{group.on:.9f} {group.off:.9f}"
                    )
                    plan.flows[ident] = (i, n)
                elif isinstance(group, Udp):
                    lines.append(
                        f"udp {where} {group.rate / 8:.3f} {group.size} {times} "
                        f"{group.on:.9f} {group.off:.9f}"
                    )
                    plan.udp[ident] = i - len(scenario.flow)
                else:
                    how, objects = _objects(group, start, stop, rng)
                    number = sum(isinstance(other, type(group)) for other in groups[:i])
                    plan.objects[ident] = (type(group).__name__.lower(), number)
                    if isinstance(group, Short):
                        arriving.append((group, objects))
                    if objects:
                        name = f"objects-{ident}"
                        lines.append(f"objects {where} {group.cc} {times} {how} {name}")
                        plan.files[name] = "".join(f"{line}\n" for line in objects)
                ident += 1
    plan.traffic = "\n".join(lines) + "\n"
    if plan.programs:
        plan.main = iperf3.script(receiver, plan.programs)
    if any(link.jitter or link.reorder for link in scenario.path):
        watch = f"./bin/lforder {receiver} eth0 {scenario.sample:g} order {LFGEN}"
        plan.main = plan.main.replace(LFGEN, watch)
    if scenario.captures:
        plan.main = plan.main.replace(LFGEN, f"{_capture(scenario, prefix)} {LFGEN}")
    plan.main = _files(scenario, _short_files(scenario, arriving)) + plan.main
    return plan
