# SPDX-License-Identifier: GPL-2.0
"""The plan of a run: what the setup script does, and what the traffic is.

The script is run with stubs in place of ip and tc, so what is looked at is what
they would have been told.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import One, Toml

from longfat.build import modules
from longfat.core.errors import LabError
from longfat.run import plan, scenario
from longfat.run.disciplines import AQMS, DISCIPLINES, MARKING, NEWER
from longfat.run.scenario import Scenario

STUB = """#!/bin/sh
{ printf %s "${0##*/}"; printf '\\037%s' "$@"; echo; } >>"$LOG"
"""

# The commands of a plan's setup script, each a list of words.
Commands = Callable[[plan.Plan], list[list[str]]]

UDP = '[[udp]]\nrate = "8mbit"\nrtt = "50ms"\nsize = 500\n'
SHORT = '[[short]]\ncc = "foo"\nrtt = "30ms"\nper_second = 2.5\nmean_size = "10kB"\n'


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    bin_ = tmp_path / "stubs"
    bin_.mkdir()
    for name in ("ip", "tc", "ethtool", "sysctl", "insmod"):
        (bin_ / name).write_text(STUB)
        (bin_ / name).chmod(0o755)
    log = tmp_path / "commands"

    def run(made: plan.Plan) -> list[list[str]]:
        log.write_text("")
        script = tmp_path / "setup.sh"
        script.write_text(made.setup)
        subprocess.run(["/bin/sh", "-n", str(script)], check=True)
        # An empty working directory: nothing may be written there by accident.
        cwd = tmp_path / "cwd"
        cwd.mkdir(exist_ok=True)
        subprocess.run(
            ["/bin/sh", str(script)],
            env={"PATH": str(bin_), "LOG": str(log)},
            cwd=cwd,
            check=True,
        )
        assert not list(cwd.iterdir())
        return [line.split("\037") for line in log.read_text().splitlines()]

    return run


def make(scenario: Scenario, seed: int = 1, *, virtual: bool = False) -> plan.Plan:
    return plan.make(scenario, seed, prefix="lf", virtual=virtual)


def qdiscs(commands: list[list[str]]) -> dict[tuple[str, str], list[list[str]]]:
    """(namespace, device) -> what was added there, in order."""
    found: dict[tuple[str, str], list[list[str]]] = {}
    for command in commands:
        if command[0] == "tc":
            assert command[1] == "-n" and command[3:6] == ["qdisc", "add", "dev"]
            found.setdefault((command[2], command[6]), []).append(command[7:])
    return found


def spaces(commands: list[list[str]]) -> list[str]:
    return [c[3] for c in commands if c[:3] == ["ip", "netns", "add"]]


def sysctls(commands: list[list[str]], ns: str) -> dict[str, str]:
    """What ends up set in a namespace."""
    return dict(
        word.split("=", 1)
        for c in commands
        if c[:6] == ["ip", "netns", "exec", ns, "sysctl", "-qw"]
        for word in c[6:]
    )


def directives(made: plan.Plan, kind: str) -> list[list[str]]:
    """The words of the traffic's lines of one kind."""
    return [w[1:] for w in map(str.split, made.traffic.splitlines()) if w[0] == kind]


def starts(made: plan.Plan) -> list[float]:
    return [float(words[6]) for words in directives(made, "tcp")]


def test_each_entry_has_a_namespace_of_its_own(one: One, commands: Commands) -> None:
    second = '[[flow]]\ncc = "foo"\nrtt = "80ms"\ncount = 2\n'
    made = make(one(rest=second + UDP + SHORT))
    did = commands(made)
    assert sorted(spaces(did)) == ["lf-d", "lf-r", "lf-s0", "lf-s1", "lf-s2", "lf-s3"]
    sources = [
        (words[0], words[2])
        for words in map(str.split, made.traffic.splitlines())
        if words[0] in ("tcp", "udp", "objects")
    ]
    assert sources == [
        ("tcp", "lf-s0"),
        ("tcp", "lf-s1"),
        ("tcp", "lf-s1"),
        ("udp", "lf-s2"),
        ("objects", "lf-s3"),
    ]
    addresses = [c[5] for c in did if c[3:5] == ["addr", "add"]]
    assert len(set(addresses)) == len(addresses)


def test_rtt_is_all_on_the_way_back(one: One, commands: Commands) -> None:
    """One delay for each sender, on the router's port towards it, and no other."""
    did = qdiscs(commands(make(one(rtt='rtt = "120ms"', rest=UDP + SHORT))))
    delays = {
        where: words[words.index("delay") + 1]
        for where, added in did.items()
        for words in added
        if "delay" in words
    }
    assert delays == {
        ("lf-r", "port0"): "120000.000us",
        ("lf-r", "port1"): "50000.000us",
        ("lf-r", "port2"): "30000.000us",
    }
    for where in delays:
        # Far above any BDP: the delay never drops.
        assert int(did[where][0][-1]) >= 10**6


def test_ports_lead_to_their_senders(one: One, commands: Commands) -> None:
    did = commands(make(one(rest=UDP)))
    wires = [c for c in did if c[:3] == ["ip", "link", "add"]]
    # ip link add name A netns NS type veth peer name B netns NS
    ends = {(c[6], c[4], c[13], c[11]) for c in wires}
    assert ends == {
        ("lf-r", "bottleneck", "lf-d", "eth0"),
        ("lf-s0", "eth0", "lf-r", "port0"),
        ("lf-s1", "eth0", "lf-r", "port1"),
    }


def test_no_delay_without_an_rtt(one: One, commands: Commands) -> None:
    did = qdiscs(commands(make(one(rtt='rtt = "0s"'))))
    assert ("lf-r", "port0") not in did


def test_senders_pace_and_never_delay(one: One, commands: Commands) -> None:
    did = qdiscs(commands(make(one(rest=UDP + SHORT))))
    assert [did[(f"lf-s{i}", "eth0")] for i in range(3)] == [[["root", "fq"]]] * 3


def test_without_pacing_only_udp_has_fq(one: One, commands: Commands) -> None:
    did = qdiscs(commands(make(one(rest=UDP + SHORT + "[host]\npacing = false"))))
    assert [did[(f"lf-s{i}", "eth0")][0][1] for i in range(3)] == ["pfifo", "fq", "pfifo"]


@pytest.mark.parametrize(
    ("pacing", "child"),
    [("true", "fq limit 100000 flow_limit 100000"), ("false", "pfifo limit 100000")],
)
def test_access_link(one: One, commands: Commands, pacing: str, child: str) -> None:
    """A rate of the entry's own interface, for all its flows, and for no other's."""
    second = '[[flow]]\ncc = "reno"\nrtt = "1ms"\n'
    scenario = one(
        link="mtu = 1000",
        flow='count = 3\nparallel = 2\naccess = "4mbit"',
        rest=f"{second}{UDP}[host]\npacing = {pacing}",
    )
    did = qdiscs(commands(make(scenario)))
    root, inner = did[("lf-s0", "eth0")]
    assert root[:8] == "root handle 1: tbf rate 4056000bit burst 2028".split()
    assert " ".join(inner) == f"parent 1:1 handle 10: {child}"
    assert [len(did[(f"lf-s{i}", "eth0")]) for i in (1, 2)] == [1, 1]
    # The bottleneck is as it was.
    assert did[("lf-r", "bottleneck")] == ["root netem rate 10000000bit -14 limit 100".split()]


def test_fifo_bottleneck(one: One, commands: Commands) -> None:
    """The link's rate to the bit, without the Ethernet header, and the buffer in packets."""
    did = qdiscs(commands(make(one(rate='rate = "10mbit"', buffer='buffer = "77p"'))))
    (words,) = did[("lf-r", "bottleneck")]
    assert " ".join(words) == "root netem rate 10000000bit -14 limit 77"
    assert not any(ns == "lf-d" for ns, _ in did)


# Those that are in a tbf, which has the rate.
QUEUES = sorted(set(AQMS) - {"cake", "police", "sync"})


@pytest.mark.parametrize(
    ("aqm", "ecn"),
    [(aqm, ecn) for aqm in QUEUES for ecn in (False, True) if not ecn or aqm in MARKING],
)
def test_aqm_bottleneck(one: One, commands: Commands, aqm: str, ecn: bool) -> None:
    more = '\naqm_options = { ce_threshold = "2ms" }' if aqm == "fq" else ""
    did = commands(
        make(
            one(
                top='kernel = "debian:7.2"' if aqm in NEWER else "",
                buffer='buffer = "90p"',
                link=f'mtu = 1000\naqm = "{aqm}"\necn = {str(ecn).lower()}{more}',
            )
        )
    )
    added = qdiscs([c for c in did if c[3] == "qdisc"])
    root, child = added[("lf-r", "bottleneck")][:2]
    # A full packet and its Ethernet header in the time of the packet at the link's rate.
    assert root[:6] == ["root", "handle", "1:", "tbf", "rate", "10140000bit"]
    assert child[:2] == ["parent", "1:1"] and child[4] == aqm
    value = dict(zip(child[5::2], child[6::2], strict=False))
    if aqm == "red":
        assert int(value["limit"]) == 90 * 1014
        assert 0 < int(value["min"]) < int(value["max"]) < int(value["limit"])
        assert ("ecn" in child) is ecn
    elif aqm != "drr":
        assert int(value["limit"]) == 90
        if DISCIPLINES[aqm].ecn:
            assert child[-1] == ("ecn" if ecn else "noecn")
    for ns in ("lf-s0", "lf-d"):
        assert sysctls(did, ns)["net.ipv4.tcp_ecn"] == str(int(ecn))


def test_sync_holds_what_its_device_is_told(one: One, commands: Commands) -> None:
    """And an overflow lasts for two of the longest round trips behind the full queue."""
    made = make(one(buffer='buffer = "90p"', link='mtu = 1000\naqm = "sync"'), virtual=True)
    did = commands(made)
    assert "ip -n lf-r link set dev bottleneck txqueuelen 90".split() in did
    root, child = qdiscs([c for c in did if c[3:4] == ["qdisc"]])[("lf-r", "bottleneck")]
    assert (
        root[:4] == ["root", "handle", "1:", "tbf"]
        and " ".join(child) == "parent 1:1 handle 10: lfsync"
    )
    # 20 ms, and 90 packets of 0.8 ms, twice.
    assert "\ninsmod ./sch_lfsync.ko again=184000000\n" in made.setup
    with pytest.raises(LabError, match="link.aqm = sync needs virtual time: use --backend uml"):
        plan.make(one(link='aqm = "sync"'), 1, prefix="lf", virtual=False)


def test_drr_has_a_class_for_each_sender(one: One, commands: Commands) -> None:
    """Found by the third byte of the address, from 1 on."""
    link = 'aqm = "drr"\naqm_options = { quantum = 600 }'
    did = [c[3:] for c in commands(make(one(link=link, rest=UDP + SHORT))) if c[0] == "tc"]
    classes = [" ".join(c[6:]) for c in did if c[:2] == ["class", "add"]]
    assert classes == [f"classid 10:{n} drr quantum 600" for n in (1, 2, 3)]
    queues = [" ".join(c[4:]) for c in did if c[5:6] and c[5].startswith("10:") and "pfifo" in c]
    assert queues == [f"parent 10:{n} pfifo limit 100" for n in (1, 2, 3)]
    filters = [" ".join(c[6:]) for c in did if c[:2] == ["filter", "add"]]
    assert filters == [
        "protocol ip prio 1 handle 1 flow map key src and 0xff00 rshift 8 baseclass 10:1",
    ]


def test_cake_and_the_policer_have_the_rate_themselves(one: One, commands: Commands) -> None:
    """CAKE counts IP packets; the policer frames, so its rate is higher."""
    options = 'aqm_options = { rtt = "30ms", isolation = "flows" }'
    did = qdiscs(commands(make(one(buffer='buffer = "90p"', link=f'aqm = "cake"\n{options}'))))
    (cake,) = did[("lf-r", "bottleneck")]
    assert " ".join(cake) == (
        "root handle 1: cake bandwidth 10000000bit overhead 0 memlimit 207360 rtt 30000.000us flows"
    )
    made = commands(make(one(buffer='buffer = "90p"', link='mtu = 1000\naqm = "police"')))
    (police,) = (" ".join(c[7:]) for c in made if c[3:5] == ["filter", "add"])
    assert police == (
        "parent 1: protocol all prio 1 matchall action police rate 10140000bit burst 91260 "
        "mtu 1014 drop"
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("", "min 22710 max 68130 avpkt 1514 burst 26 bandwidth 10093333bit probability 0.1"),
        (
            'min = "9kB", max = "30kB", adaptive = true',
            "min 9000 max 30000 avpkt 1514 burst 11 bandwidth 10093333bit probability 0.1 adaptive",
        ),
        (
            'burst = 7, probability = "2%", nodrop = false',
            "min 22710 max 68130 avpkt 1514 bandwidth 10093333bit burst 7 probability 0.020000000",
        ),
    ],
)
def test_red_s_defaults_and_what_replaces_them(
    one: One, commands: Commands, options: str, told: str
) -> None:
    link = f'aqm = "red"\naqm_options = {{ {options} }}'
    did = qdiscs(commands(make(one(buffer='buffer = "90p"', link=link))))
    assert " ".join(did[("lf-r", "bottleneck")][1]) == (
        f"parent 1:1 handle 10: red limit 136260 {told}"
    )


def test_no_impaired_hop_unless_asked_for(one: One, commands: Commands) -> None:
    made = make(one())
    assert "lf-w" not in spaces(commands(made))
    assert not directives(made, "link")
    assert directives(made, "queue") == [["lf-r", "bottleneck"]]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('loss = "0.01%"', "loss 0.010000000%"),
        ("loss = 1e-7", "loss 0.000010000%"),
        ("duplicate = 0.5", "duplicate 50.000000000%"),
        # Of netem's "reordered" those that are not are late: by ten packets of 10 Mbit/s.
        ("reorder = 0.25", "delay 12000.000us reorder 75.000000000% gap 1"),
        ("reorder = 1", "delay 12000.000us"),
        (
            'reorder = 0.25\nreorder_delay = "40ms"',
            "delay 40000.000us reorder 75.000000000% gap 1",
        ),
        ('jitter = "2ms"', "slot 0us 4000.000us"),
        ('aggregate = "4ms"', "slot 4000.000us 4000.000us"),
        # The bad state has 0.0051 / (0.0051 + 0.25) of all packets, and is left after four.
        ('loss = "2%"\nloss_burst = 4', "loss gemodel 0.510204082% 25.000000000%"),
    ],
)
def test_impaired_hop(one: One, commands: Commands, line: str, words: str) -> None:
    made = make(one(link=line), 7, virtual=True)
    did = commands(made)
    assert sorted(spaces(did)) == ["lf-d", "lf-r", "lf-s0", "lf-w"]
    (netem,) = qdiscs(did)[("lf-w", "east")]
    seed = plan.drawn(7, "hop 0 0")
    assert " ".join(netem) == f"root netem limit 1000000 {words} seed {seed}"
    # Behind the bottleneck, which is as it was.
    assert qdiscs(did)[("lf-r", "bottleneck")] == [
        "root netem rate 10000000bit -14 limit 100".split()
    ]
    assert directives(made, "link") == [["lf-w", "east"]]
    # What may overtake is counted.
    counted = "./bin/lforder lf-d eth0 0.1 order ./bin/lfgen traffic >samples 2>&1\n"
    assert (made.main == counted) is ("reorder" in line or "jitter" in line)


def test_two_hops_where_packets_wait_in_order_and_are_late(one: One, commands: Commands) -> None:
    """As a netem that reorders lets others pass by the slot."""
    made = make(one(link='mtu = 1000\nreorder = 0.25\njitter = "2ms"'), 7, virtual=True)
    did = commands(made)
    assert sorted(spaces(did)) == ["lf-d", "lf-r", "lf-s0", "lf-v", "lf-w"]
    first, second = (qdiscs(did)[(ns, "east")] for ns in ("lf-w", "lf-v"))
    seeds = [plan.drawn(7, f"hop 0 {n}") for n in (0, 1)]
    assert " ".join(first[0]) == f"root netem limit 1000000 slot 0us 4000.000us seed {seeds[0]}"
    assert " ".join(second[0]) == (
        f"root netem limit 1000000 delay 8000.000us reorder 75.000000000% gap 1 seed {seeds[1]}"
    )
    assert directives(made, "link") == [["lf-w", "east"]]
    routes = [" ".join(c[2:]) for c in did if c[3:5] == ["route", "add"]]
    assert routes[:5] == [
        "lf-r route add 10.0.0.0/24 via 10.0.1.2",
        "lf-w route add default via 10.0.1.1",
        "lf-w route add 10.0.0.0/24 via 10.0.2.2",
        "lf-v route add default via 10.0.2.1",
        "lf-d route add default via 10.0.0.1",
    ]


def test_lflink_is_the_network_where_it_can_be(one: One) -> None:
    """And has the numbers that tc would be told."""
    rest = UDP + "[host]\nquickack = true\noffload = false"
    made = make(one(link="mtu = 9000", flow='access = "5mbit"', rest=rest), virtual=True)
    assert made.spaces == ["lf-s0", "lf-s1", "lf-d"]
    lines = made.setup.splitlines()
    numbers = "rate=1250000 limit=100 delay=20000000,50000000"
    assert lines[:2] == ["set -e", f"insmod ./lflink.ko {numbers}"]
    assert "link set lf0 netns lf-d name eth0" in lines
    assert "link set lf2 netns lf-s1 name eth0" in lines
    assert lines.count("link set eth0 mtu 9000 gso_max_segs 1 up") == 2
    assert "route add default dev eth0 quickack 1" in lines
    assert "tc -n $ns qdisc add dev $dev root handle 1: tbf rate" in made.setup
    assert directives(made, "queuefile") == [["/sys/module/lflink/parameters/queue"]]
    assert not directives(made, "queue")
    subprocess.run(["/bin/sh", "-n"], input=made.setup, text=True, check=True)


@pytest.mark.parametrize(
    ("link", "rest"),
    [
        ('aqm = "red"', ""),
        ("loss = 0.1", ""),
        ('jitter = "1ms"', ""),
        ("ack_thin = 4", ""),
        ('aggregate = "1ms"', ""),
        ('reverse_rate = "5mbit"', ""),
        ('at = [{ time = "1s", rate = "5mbit" }]', ""),
        ("", UDP + "reverse = true"),
        ("", '[host]\ngro = "1ms"'),
    ],
)
def test_lflink_is_not_where_queue_disciplines_are_needed(one: One, link: str, rest: str) -> None:
    made = make(one(link=link, rest=rest), virtual=True)
    assert "lf-r" in made.spaces and "lflink" not in made.setup + made.traffic


def test_other_kernels_have_no_lflink(one: One) -> None:
    made = make(one())
    assert "lf-r" in made.spaces and "lflink" not in made.setup + made.traffic


def test_seed_is_for_a_netem_that_knows_it(one: One) -> None:
    scenario = one(link="loss = 0.1")
    seventh, eighth = (make(scenario, seed, virtual=True).setup for seed in (7, 8))
    seeds = [re.findall(r" seed (\d+)\n", setup) for setup in (seventh, eighth)]
    assert [len(found) for found in seeds] == [1, 1] and seeds[0] != seeds[1]
    assert seventh.replace(seeds[0][0], seeds[1][0]) == eighth
    assert "seed" not in make(scenario, 7).setup
    assert make(scenario, 7).setup == make(scenario, 8).setup


SERIES = """
title = "two links"
duration = "9s"
[[link]]
rate = "9mbit"
buffer = "9p"
{}
[[link]]
rate = "5mbit"
buffer = "9p"
{}
[[flow]]
cc = "reno"
rtt = "40ms"
"""


def series(where: Path, *links: str) -> plan.Plan:
    """The plan of two links that have this besides."""
    (where / "two.toml").write_text(SERIES.format(*links))
    (found,) = scenario.load(where / "two.toml")
    return make(found, 7, virtual=True)


def test_each_hop_has_random_numbers_of_its_own(tmp_path: Path) -> None:
    """Two links that lose as many lose others; so do the way back and a loss that changes."""
    second = "loss = 0.1\njitter = '1ms'\nreorder = 0.1"
    made = series(tmp_path, "loss = 0.1\nreverse_loss = 0.1", second)
    seeds = re.findall(r"netem .* seed (\d+)", made.setup)
    assert len(seeds) == 4 and len(set(seeds)) == 4
    at = '[[link.at]]\ntime = "1s"\nloss = 0.1'
    made = series(tmp_path, at, at)
    seeds = [made.files[name].splitlines()[0] for name in ("vary-east", "vary-east2")]
    assert seeds[0] != seeds[1] and all(re.fullmatch(r"seed \d+", one) for one in seeds)


def test_what_the_way_back_adds(tmp_path: Path) -> None:
    """A stage each, and the buffer in the last: it holds what waits for the rate alone."""
    setup = series(tmp_path, 'reverse_delay = "20ms"', "").setup
    assert "dev=west\ntc -n $ns qdisc add dev $dev root netem delay 20000.000us limit 10" in setup
    back = 'reverse_rate = "8mbit"\nreverse_buffer = "70p"\nreverse_loss = 0.5'
    back += '\nreverse_delay = "20ms"\nreverse_jitter = "5ms"'
    made = series(tmp_path, back, "")
    seeds = [plan.drawn(7, place) for place in ("back 0", "back jitter 0")]
    add = "tc -n $ns qdisc add dev $dev"
    assert (
        f"ns=lf-r2 dev=west\n"
        f"{add} root handle 1: netem delay 20000.000us limit 1000000\n"
        f"{add} parent 1:1 handle 2: netem slot 0us 10000.000us limit 1000000 seed {seeds[1]}\n"
        f"{add} parent 2:1 handle 3: netem limit 70 rate 8000000bit -14 loss 50.000000000% "
        f"seed {seeds[0]}\n"
    ) in made.setup


@pytest.mark.parametrize(
    ("link", "rest", "watched"),
    [
        ('reverse_rate = "5mbit"', UDP + "reverse = true", [["lf-x", "west"]]),
        ('reverse_rate = "5mbit"', UDP, []),
        ("", UDP + "reverse = true", []),
        ('reverse_rate = "5mbit"\nreverse_delay = "1ms"', UDP + "reverse = true", []),
        ('reverse_rate = "5mbit"\nloss = 0.1', UDP + "reverse = true", [["lf-w", "east"]]),
    ],
)
def test_the_way_back_is_watched(one: One, link: str, rest: str, watched: list[list[str]]) -> None:
    """Where something goes over its queue, and there is no impaired hop to be watched."""
    made = make(one(link=link, rest=rest), virtual=True)
    assert directives(made, "link") == watched


def test_receivers_that_misbehave(one: One) -> None:
    """Each sender has a number; the receiver's device has the qdisc, in either network."""
    flow = 'ack_every = "100B"'
    rest = UDP + SHORT + 'ack_ahead = "30kB"\necn_echo = false\n'
    for link in ("", "loss = 0.1"):
        setup = make(one(flow=flow, rest=rest, link=link), virtual=True).setup
        insmod = "insmod ./sch_lfack.ko every=100,0,0 ahead=0,0,30000 silent=0,0,1\n"
        assert f"{insmod}tc -n lf-d qdisc add dev eth0 root lfack\n" in setup
        assert ("lflink" in setup) is (not link)
    with pytest.raises(LabError, match="ack_ahead and ecn_echo need virtual time: use --backend"):
        make(one(flow=flow))
    assert "lfack" not in make(one(), virtual=True).setup


def test_nobody_asks_for_addresses(one: One, commands: Commands) -> None:
    """Without ARP a device sends to its own address: both ends of each wire have it."""
    did = commands(make(one(link="loss = 0.1", rest=UDP)))
    ups = [" ".join(c[5:]) for c in did if c[3:5] == ["link", "set"] and "mtu" in c]
    assert len(ups) == 2 * 4
    assert {words.partition(" ")[2] for words in ups} == {
        "address 02:00:00:00:00:01 arp off mtu 1500 txqueuelen 1000 up"
    }


def test_seed_changes_nothing_where_nothing_is_random(one: One) -> None:
    scenario = one(flow="count = 5\nparallel = 2", rest=UDP)
    assert make(scenario, 1) == make(scenario, 2)


def test_seed_varies_start_times_if_jitter_is_given(one: One) -> None:
    scenario = one(flow='count = 50\nstart = "2s"\njitter = "3s"')
    first, second = starts(make(scenario, 1)), starts(make(scenario, 2))
    assert first == starts(make(scenario, 1))
    assert not set(first) & set(second)
    assert len(set(first)) == 50
    for drawn in (first, second):
        assert all(2 <= start <= 5 for start in drawn)
        # They fill the interval, they are not next to each other.
        assert max(drawn) - min(drawn) > 2
    assert make(scenario, 1).setup == make(scenario, 2).setup


def test_parallel_connections_start_together_and_are_one_flow(one: One) -> None:
    made = make(one(flow='count = 2\nparallel = 3\njitter = "1s"'))
    assert made.flows == {0: (0, 0), 1: (0, 0), 2: (0, 0), 3: (0, 1), 4: (0, 1), 5: (0, 1)}
    drawn = starts(made)
    assert len(set(drawn[:3])) == len(set(drawn[3:])) == 1
    assert drawn[0] != drawn[3]


def test_ids_and_ports_are_different(one: One) -> None:
    made = make(one(flow="count = 3\nparallel = 2", rest=UDP + SHORT))
    lines = [w for k in ("tcp", "udp", "objects") for w in directives(made, k)]
    assert [int(w[0]) for w in lines] == list(range(8))
    assert len({w[4] for w in lines}) == 8
    assert {w[2] for w in lines} == {"lf-d"}
    assert (made.udp, made.objects) == ({6: 0}, {7: ("short", 0)})


def test_tcp_directive(one: One) -> None:
    flow = 'start = "1s"\nduration = "2.5s"\nbytes = "1MB"\nsocket_buffer = "64KiB"\n'
    made = make(one(cc='cc = "foo"', flow=flow + 'on = "1s"\noff = "500ms"'))
    (words,) = directives(made, "tcp")
    assert words[5] == "foo"
    assert [float(w) for w in words[6:]] == [1, 3.5, 10**6, 65536, 65536, 1, 0.5]


def test_a_flow_ends_with_the_run(one: One) -> None:
    made = make(one(flow='start = "9s"\nduration = "5s"'))
    assert [float(w) for w in directives(made, "tcp")[0][6:8]] == [9, 10]


def test_udp_directive(one: One) -> None:
    made = make(one(rest=UDP + 'start = "1s"\non = "1s"\noff = "2s"'))
    (words,) = directives(made, "udp")
    # rate in bytes per second
    assert [float(w) for w in words[5:]] == [10**6, 500, 1, 10, 1, 2]


def test_short_directive(one: One) -> None:
    scenario = one(rest=SHORT)
    (words,) = directives(make(scenario, 1), "objects")
    assert words[5] == "foo" and words[8:] == ["new", "objects-1"]
    assert [float(w) for w in words[6:8]] == [0, 10]
    drawn = {make(scenario, seed).files["objects-1"] for seed in (1, 1, 2, 3)}
    assert len(drawn) == 3


def test_times_of_the_run(one: One) -> None:
    made = make(one(top='sample = "50ms"\nqueue_sample = "5ms"'))
    got = [directives(made, kind) for kind in ("end", "sample", "qsample")]
    assert [float(words[0][0]) for words in got] == [10, 0.05, 0.005]


def test_batches_are_cut_before_the_wire(one: One, commands: Commands) -> None:
    """A buffer in packets counts a batch as one: only senders may make batches."""
    did = commands(make(one(link="loss = 0.1")))
    gso = {
        (c[3], c[6]): c[c.index("gso") + 1]
        for c in did
        if c[:3] == ["ip", "netns", "exec"] and c[4] == "ethtool"
    }
    assert {where for where, state in gso.items() if state == "on"} == {("lf-s0", "eth0")}
    assert {where for where, state in gso.items() if state == "off"} == {
        ("lf-r", "bottleneck"),
        ("lf-w", "west"),
        ("lf-w", "east"),
        ("lf-d", "eth0"),
        ("lf-r", "port0"),
    }
    assert all("tso off" in " ".join(c) and "gro off" in " ".join(c) for c in did if "ethtool" in c)
    off = commands(make(one(rest="[host]\noffload = false")))
    assert not any("on" in c for c in off if "ethtool" in c)
    # ... after which TCP makes batches all the same.
    single = [c[2:] for c in off if "gso_max_segs" in c]
    assert single == [["lf-s0", "link", "set", "eth0", "gso_max_segs", "1"]]
    assert not any("gso_max_segs" in c for c in did)


def test_gro_only_at_the_receiver(one: One, commands: Commands) -> None:
    did = commands(make(one(rest='[host]\ngro = "200us"')))
    on = [c for c in did if "gro on" in " ".join(c)]
    assert [c[3:] for c in on] == [["lf-d", "ethtool", "-K", "eth0", "gro", "on"]]
    (hold,) = (c[-1] for c in did if "gro_flush_timeout" in c[-1])
    assert hold.startswith("echo 200000 >/sys/class/net/eth0/gro_flush_timeout")


def test_quickack_only_at_the_receiver(one: One, commands: Commands) -> None:
    on = ["-n", "lf-d", "route", "add", "default", "via", "10.0.0.1"]
    quick = [c for c in commands(make(one(rest="[host]\nquickack = true"))) if "quickack" in c]
    assert [c[1:] for c in quick] == [[*on, "quickack", "1"]]
    assert not [c for c in commands(make(one())) if "quickack" in c]


def _filters(did: list[list[str]]) -> list[list[str]]:
    """The words of the tc filters."""
    return [c for c in did if c[0] == "tc" and c[3:5] == ["filter", "add"]]


def _passes(filters: list[list[str]], packet: bytes) -> bool:
    """Whether tc's filters, in the order of their priority, let an IP packet pass."""
    for words in sorted(filters, key=lambda words: int(words[words.index("prio") + 1])):
        of = words[words.index("u32") : words.index("action")]
        keys = [of[i + 1 : i + 6] for i, word in enumerate(of) if word == "match"]
        if all(
            int.from_bytes(packet[int(at) :][: {"u8": 1, "u16": 2}[kind]]) & int(mask, 0)
            == int(value, 0)
            for kind, value, mask, _, at in keys
        ):
            return words[words.index("action") + 1] == "pass"
    return True


def _packet(
    ident: int, *, options: int = 12, flags: int = 0x10, data: int = 0, proto: int = 6
) -> bytes:
    length = 40 + options + data
    ip = bytes([0x45, 0, *length.to_bytes(2), *ident.to_bytes(2), 0x40, 0, 64, proto, *[0] * 10])
    return ip + bytes([*[0] * 12, (20 + options) // 4 << 4, flags]) + bytes(6 + options + data)


def test_acknowledgments_are_thinned(one: One, commands: Commands) -> None:
    """One of eight passes where the receiver's packets come in, and all of what is more."""
    did = commands(make(one(link="ack_thin = 8")))
    assert ["tc", "-n", "lf-r", "qdisc", "add", "dev", "bottleneck", "ingress"] in did
    filters = _filters(did)
    assert all(
        c[:9] == ["tc", "-n", "lf-r", "filter", "add", "dev", "bottleneck", "parent", "ffff:"]
        for c in filters
    )
    idents = range(65520, 65536)
    for options in (0, 12):
        passed = [n for n in idents if _passes(filters, _packet(n, options=options))]
        assert passed == [65520, 65528]
    # Data, SACK blocks, SYN, FIN, a datagram of the same length.
    for more in ({"data": 1}, {"options": 24}, {"flags": 0x12}, {"flags": 0x11}, {"proto": 17}):
        assert all(_passes(filters, _packet(n, **more)) for n in idents)


def test_acknowledgments_that_nobody_thins(one: One) -> None:
    """The default leaves the files as they were."""
    assert make(one(link="ack_thin = 1")) == make(one())


def test_mtu_everywhere(one: One, commands: Commands) -> None:
    did = commands(make(one(link="mtu = 1040\nloss = 0.1")))
    devices = [c for c in did if c[3:5] == ["link", "set"] and c[5] != "lo"]
    assert len(devices) == 6
    assert all(c[c.index("mtu") + 1] == "1040" for c in devices)


def test_host_settings(one: One, commands: Commands) -> None:
    did = commands(
        make(
            one(
                rest="[host]\ntimestamps = false\nsack = false\n"
                '[host.sysctl]\n"net.ipv4.tcp_sack" = 1\n"net.ipv4.tcp_reordering" = "3"'
            )
        )
    )
    for ns in ("lf-s0", "lf-d"):
        have = sysctls(did, ns)
        assert have["net.ipv4.tcp_timestamps"] == "0"
        assert have["net.ipv4.tcp_no_metrics_save"] == "1"
        # The file's own settings come last.
        assert have["net.ipv4.tcp_sack"] == "1"
        assert have["net.ipv4.tcp_reordering"] == "3"


CAPTURED = "./bin/lfcap 64 {} -- ./bin/lfgen traffic >samples 2>&1\n"


@pytest.mark.parametrize(
    ("at", "words", "module"),
    [
        (["s1", "d"], "s1.pcapng lf-s1 eth0 d.pcapng lf-d eth0", True),
        (
            ["bottleneck"],
            "before.pcapng lf-r port0 lf-r port1 behind.pcapng lf-r bottleneck",
            False,
        ),
    ],
)
def test_captures(one: One, at: list[str], words: str, module: bool) -> None:
    """At the bottleneck, which is a device of the network with a router alone; or of hosts."""
    scenario = one(
        top=f"pcap = true\npcap_bytes = 64\npcap_at = {at}",
        rest='[[flow]]\ncc = "reno"\nrtt = "1ms"\n',
    )
    made = make(scenario, 1, virtual=True)
    assert made.main == CAPTURED.format(words)
    assert ("lflink" in made.setup) is module


def test_iperf3_is_captured_as_lfgen_is(one: One) -> None:
    program = make(one(top='pcap = true\ntraffic = "iperf3"'), 1, virtual=True)
    assert "\n./bin/lfcap 128 before.pcapng lf-r port0 behind" in program.main


@pytest.mark.parametrize("value", ["a'b", "'; echo >pwned; '", "$(echo >pwned)", 'x" y', "a\\b"])
def test_a_setting_is_data(one: One, commands: Commands, value: str) -> None:
    """Whatever a scenario says, the shell sees one word."""
    scenario = one()
    host = scenario.host.model_copy(update={"sysctl": {"net.x": value}})
    did = commands(make(scenario.model_copy(update={"host": host})))
    assert sysctls(did, "lf-s0")["net.x"] == value


def test_socket_buffers_hold_what_is_in_flight(one: One, commands: Commands) -> None:
    scenario = one(rate='rate = "1gbit"', rtt='rtt = "120ms"', buffer='buffer = "1bdp"')
    have = sysctls(commands(make(scenario)), "lf-d")
    for name in ("rmem", "wmem"):
        limit = int(have[f"net.ipv4.tcp_{name}"].split()[2])
        assert 4 * scenario.bdp < limit < 2**31
    vast = one(rate='rate = "100gbit"', rtt='rtt = "10s"')
    have = sysctls(commands(make(vast)), "lf-d")
    assert have["net.ipv4.tcp_rmem"].split()[2] == str(2**31 - 1)


def test_prefix_begins_every_namespace(one: One, commands: Commands) -> None:
    made = plan.make(one(link="loss = 0.1"), 1, prefix="lf4711", virtual=False)
    assert all(ns.startswith("lf4711-") for ns in spaces(commands(made)))
    assert "lf4711-w east" in made.traffic


def test_too_many_entries(one: One) -> None:
    entry = '[[flow]]\ncc = "reno"\nrtt = "1ms"\n'
    assert make(one(rest=entry * 199)).setup.count("ip netns add") == 202
    with pytest.raises(LabError, match="one: at most 200"):
        make(one(rest=entry * 200))


@pytest.mark.parametrize(
    ("flow", "rest", "files"),
    [
        ("count = 320", "", 0),
        ("count = 400", "", 1264),
        ("count = 1000\nparallel = 4", "", 12064),
        ("", '[[short]]\nrtt = "20ms"\nper_second = 100.0\nmean_size = "20kB"', 2068),
    ],
)
def test_as_many_files_as_there_are_connections(one: One, flow: str, rest: str, files: int) -> None:
    """Where they are more than a process has without asking."""
    main = make(one(flow=flow, rest=rest)).main
    assert main.startswith(f"ulimit -n {files} || ") if files else "ulimit" not in main
    assert main.endswith("./bin/lfgen traffic >samples 2>&1\n")


SLOW_BACK = 'reverse_rate = "400kbit"\nreverse_buffer = "9p"'


@pytest.mark.parametrize(
    ("back_is", "there", "back", "all_of"),
    [
        ("", 14.0, 0.0, ""),
        ("", 22.0, 0.0, "there"),
        ("", 0.0, 22.0, "back"),
        ("", 14.0, 14.0, ""),  # each direction has a link of its own
        (SLOW_BACK, 14.0, 11.0, "back"),
        (SLOW_BACK, 22.0, 11.0, "there back"),
    ],
)
def test_all_short_flows_of_an_overloaded_link_may_be_there_at_once(
    one: One, back_is: str, there: float, back: float, all_of: str
) -> None:
    """It serves them late or never: tcpeval-4.4.6 at a load of 110 % had over a thousand.  Of a
    direction that is not overloaded ten times a second's may be there."""
    short = '[[short]]\nrtt = "20ms"\nmean_size = "5kB"\nper_second = '
    ways = {"there": (there, ""), "back": (back, "\nreverse = true")}
    entries = {way: f"{short}{rate}{of}\n" for way, (rate, of) in ways.items() if rate}
    scenario = one(
        rate=f'rate = "800kbit"\n{back_is}',
        duration='duration = "300s"',
        rest="".join(entries.values()),
    )
    made = make(scenario)
    lines = dict(zip(entries, made.files.values(), strict=True))
    of_way = {
        way: 2 * lines[way].count("\n") if way in all_of else 20 * ways[way][0] for way in entries
    }
    need = round(64 + 3 * scenario.flow[0].count + len(entries) + sum(of_way.values()))
    assert made.main.startswith(f"ulimit -n {need} || ") if all_of else "ulimit" not in made.main


# --- several links, and the other direction

TWO_LINKS = """
title = "two"
duration = "9s"
[[link]]
rate = "9mbit"
buffer = "9p"
loss = "1%"
[[link]]
rate = "5mbit"
buffer = "7p"
reverse_rate = "1mbit"
reverse_buffer = "3p"
reverse_loss = "2%"
[[flow]]
cc = "reno"
rtt = "40ms"
[[flow]]
cc = "reno"
rtt = "1ms"
leave = 1
[[udp]]
rtt = "2ms"
rate = "1mbit"
enter = 2
reverse = true
"""


@pytest.fixture
def two_links(tmp_path: Path) -> plan.Plan:
    (tmp_path / "two.toml").write_text(TWO_LINKS)
    (one,) = scenario.load(tmp_path / "two.toml")
    return make(one)


@pytest.mark.parametrize("cc", ["dctcp", "foo", "reno"])
def test_who_may_need_ecn_is_set_at_both_ends(
    tree: Path,
    tmp_path: Path,
    toml: Toml,
    commands: Commands,
    monkeypatch: pytest.MonkeyPatch,
    cc: str,
) -> None:
    """By the accepting host's route, whatever the network: dctcp, and what no tree has."""
    path = tmp_path / "two.toml"
    udp = '[[udp]]\nrtt = "2ms"\nrate = "1mbit"'
    text = TWO_LINKS.replace(udp, f'[[flow]]\ncc = "{cc}"\nrtt = "2ms"')
    path.write_text(text.replace('"reno"', f'"{cc}"'))
    (two,) = scenario.load(path)
    path.write_text(toml(cc=f'cc = "{cc}"'))
    (single,) = scenario.load(path)
    monkeypatch.setattr(modules, "algorithms", lambda: modules.IN_TREE)
    did = [" ".join(command[1:]) for command in commands(make(two))]
    direct = make(single, virtual=True).setup.splitlines()
    there = [
        f"-n lf-d route add 10.1.0.0/24 via 10.0.0.1 congctl {cc}",
        f"-n lf-d1 route add 10.1.1.0/24 via 10.2.1.1 congctl {cc}",
        f"-n lf-s2 route add default via 10.1.2.1 congctl {cc}",
        f"route add 10.1.0.0/24 dev eth0 congctl {cc}",
    ]
    found = [line for line in [*did, *direct] if "congctl" in line]
    assert found == ([] if cc == "reno" else there)


def test_who_enters_later_does_not_arrive_at_the_first_link(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(f"pcap = true\n{TWO_LINKS}")
    (one,) = scenario.load(tmp_path / "two.toml")
    first = [i for i, group in enumerate(one.groups) if group.enter == 1]
    assert len(first) < len(one.groups)
    ports = " ".join(f"lf-r port{i}" for i in first)
    assert f" before.pcapng {ports} behind.pcapng lf-r bottleneck -- " in make(one).main


def test_each_link_has_a_router(two_links: plan.Plan, commands: Commands) -> None:
    did = commands(two_links)
    added = qdiscs(did)
    assert " ".join(added[("lf-r", "bottleneck")][0]) == "root netem rate 9000000bit -14 limit 9"
    assert " ".join(added[("lf-r2", "bottleneck2")][0]) == "root netem rate 5000000bit -14 limit 7"
    # The way back of the second one, before the receiver.
    assert " ".join(added[("lf-x", "west")][0]) == (
        "root netem limit 3 rate 1000000bit -14 loss 2.000000000%"
    )
    assert "loss 1.000000000%" in " ".join(added[("lf-w", "east")][0])
    # Who enters later is at a later router; who leaves earlier, too.
    assert {(ns, dev) for ns, dev in added if dev.startswith("port")} == {
        ("lf-r", "port0"),
        ("lf-r", "port1"),
        ("lf-r2", "port2"),
    }
    wires = {(c[4], c[6], c[11], c[13]) for c in did if c[:3] == ["ip", "link", "add"]}
    assert ("exit", "lf-r2", "eth0", "lf-d1") in wires
    routes = [" ".join(c[2:]) for c in did if c[3:5] == ["route", "add"]]
    assert [x for x in routes if "10.2.1." in x] == [
        "lf-d1 route add default via 10.2.1.1",
        "lf-r route add 10.2.1.0/24 via 10.0.1.2",
        "lf-w route add 10.2.1.0/24 via 10.0.2.2",
    ]
    # The receiver sends, too: as a sender does.
    assert added[("lf-d", "eth0")] == [["root", "fq"]]


def test_who_sends_to_whom(two_links: plan.Plan) -> None:
    tcp = [words[1:4] for words in directives(two_links, "tcp")]
    assert tcp == [["lf-s0", "lf-d", "10.0.0.2"], ["lf-s1", "lf-d1", "10.2.1.2"]]
    (udp,) = directives(two_links, "udp")
    assert udp[1:4] == ["lf-d", "lf-s2", "10.1.2.2"]
    assert directives(two_links, "queue") == [["lf-r", "bottleneck"]]
    assert directives(two_links, "link") == [["lf-w", "east"]]
