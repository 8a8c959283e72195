# SPDX-License-Identifier: GPL-2.0
"""What a scenario says of its network, beside arithmetic and tc's own words."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from conftest import EMPTY, FAST, SMALL, Experiment
from guest import boot

from examples import examples
from longfat.build.modules import ROOT
from longfat.pages.data import loss_events
from longfat.run import disciplines, plan, result, runner, scenario
from longfat.run.backends import Uml, fill
from longfat.run.disciplines import DISCIPLINES, Bottleneck
from longfat.run.result import Json

EXAMPLES = examples(ROOT / "docs/lab.md")


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_page(experiment: Experiment, name: str, tmp_path: Path) -> None:
    """Each runs, and its flows have some of the link."""
    (tmp_path / name).write_text(EXAMPLES[name])
    for one in experiment(tmp_path / name):
        assert all(flow["goodput_bps"] > 0 for flow in one["flows"])


# --- queue disciplines

# Each option with a value that is not its default, and what tc says of it afterwards: a time
# may be a nanosecond less in the kernel's units.
TOLD: dict[str, dict[str, tuple[object, Any]]] = {
    "red": {
        "min": ("30kB", 30000),
        "max": ("90kB", 90000),
        "burst": (40, None),
        "probability": ("2%", None),
        "adaptive": (True, True),
        "harddrop": (True, True),
        "nodrop": (True, True),
    },
    "codel": {
        "target": ("7ms", 7000),
        "interval": ("70ms", 70000),
        "ce_threshold": ("3ms", 3000),
    },
    "pie": {
        "target": ("7ms", 7000),
        "tupdate": ("20ms", 20000),
        "alpha": (3, 3),
        "beta": (21, 21),
        "bytemode": (True, True),
        "dq_rate_estimator": (True, True),
    },
    "cake": {
        "rtt": ("30ms", 30000),
        "memlimit": ("2MB", 2000000),
        "priority": ("diffserv4", "diffserv4"),
        "isolation": ("dual-srchost", "dual-srchost"),
        "ack_filter": ("ack-filter", "enabled"),
    },
    "fq": {
        "flow_limit": (55, 55),
        "quantum": (600, 600),
        "initial_quantum": (700, 700),
        "maxrate": ("3mbit", 375000),
        "orphan_mask": (255, 255),
        "ce_threshold": ("3ms", 3000),
    },
    "drr": {"quantum": (600, None)},
}
_FAIR = {"flows": (64, 64), "quantum": (600, 600), "memory_limit": ("2MB", 2000000)}
TOLD["fq_codel"] = TOLD["codel"] | _FAIR | {"drop_batch": (9, 9)}
TOLD["fq_pie"] = TOLD["pie"] | _FAIR | {"ecn_prob": (30, 30)}
CALLED = {"priority": "diffserv", "isolation": "flowmode", "ack_filter": "ack-filter"}


def test_every_option_reaches_the_kernel(uml: Uml) -> None:
    """What tc shows of each discipline is what the scenario says."""
    tc = uml.seeding_tc()
    files = [tc / "tc"] if tc else []
    lines = ["ip link add name lf0 type veth peer name lf1", "ip link set lf0 up", "dev=lf0"]
    lines.append(f"tc() {{ shift 2; {'./tc' if tc else 'command tc'} \"$@\"; }}")
    lines.append('ip() { shift 2; command ip "$@"; }')
    known = {name: one for name, one in DISCIPLINES.items() if name not in disciplines.NEWER}
    for name, one in known.items():
        asked = {key: value for key, (value, _) in TOLD.get(name, {}).items()}
        if name == "sync":
            lines.append(f"insmod ./{plan.SYNC}")
        assert asked.keys() == one.options.keys(), f"an option of {name} is not tried"
        # Where packets may be marked, red cannot be told not to drop them otherwise.
        disciplines.check(name, asked, ecn=one.marks)
        at = Bottleneck(20_000_000, 1500, 100, senders=2)
        lines += ["ns=x", *disciplines.commands(name, asked, at, ecn=one.marks)]
        lines += ["tc -n x -j qdisc show dev lf0", "tc -n x qdisc del dev lf0 root"]
    shown = boot(uml, "\n".join(lines), [*files, uml.link_file(plan.SYNC)]).splitlines()
    for (name, one), line in zip(known.items(), shown, strict=True):
        root, *children = json.loads(line)
        kinds = [root["kind"], *(child["kind"] for child in children)]
        called = {"fifo": "netem", "police": "prio", "sync": "lfsync"}.get(name, name)
        assert called in kinds
        (of,) = [x for x in (root, *children) if x["kind"] == name] or [{"options": {}}]
        options = of["options"]
        for key, (_, want) in TOLD.get(name, {}).items():
            if isinstance(want, int) and not isinstance(want, bool):
                assert abs(options[key] - want) <= 1, (name, key, options)
            elif want is not None:
                assert options[CALLED.get(key, key)] == want, (name, key, options)
        assert options.get("ecn", False) is (one.ecn == "ecn"), (name, options)


# 20 Mbit/s that are offered 40 and 15: full packets, each 0.6 ms of the link.
OFFERED = SMALL.replace('"10s"', '"6s"') + "\n".join(
    f'[[udp]]\nrtt = "10ms"\nrate = "{rate}mbit"\nsize = 1472' for rate in (40, 15)
)
PACKET = 1472 * 8 / 4  # a packet of 4 seconds, in bits per second
FULL = 1500 * 8


def shares(one: Json) -> list[float]:
    """What of the link each UDP sender had, in bits per second of IP packets."""
    return [udp["goodput_bps"] * 1500 / 1472 for udp in one["udp"]]


@pytest.mark.parametrize(
    ("aqm", "more", "within"),
    [
        ("fq_codel", "", 2),
        # It draws at random which host is given a little more.
        ("cake", "", 20),
        # It drops at the tail of all, or of a flow that has more than its limit.
        ("fq", "aqm_options = { flow_limit = 20 }", 2),
        ("drr", "", 2),
    ],
)
def test_fair_queues_share_equally(
    experiment: Experiment, aqm: str, more: str, within: int
) -> None:
    """Whatever is offered above it, each sender has half of the link, to a few packets."""
    (one,) = experiment(text=OFFERED, flow='duration = "1s"', link=f'aqm = "{aqm}"\n{more}')
    assert shares(one) == [pytest.approx(10e6, abs=within * PACKET)] * 2
    assert sum(shares(one)) == pytest.approx(20e6, abs=2 * PACKET)


# Those that drop at random may let the link run empty.
AT_RANDOM = ("red", "pie", "fq_pie")


@pytest.mark.parametrize("aqm", sorted({*disciplines.AQMS, "fifo"} - {*disciplines.NEWER}))
def test_every_discipline_carries_the_rate_and_loses_nothing_else(
    experiment: Experiment, aqm: str
) -> None:
    """What is offered is carried, waits or is counted as dropped, whatever the discipline; and the
    link carries its rate, to a packet or two."""
    whole = OFFERED.replace('warmup = "2s"', 'warmup = "0s"').replace('"1bdp"', '"60p"')
    whole = whole.replace("size =", 'start = "1s"\nsize =')
    (one,) = experiment(text=whole, flow='bytes = "1kB"', link=f'aqm = "{aqm}"')
    carried = sum(shares(one)) * 6 / FULL
    offered = (40e6 + 15e6) / 8 / 1514 * 5
    waits = one["queue"]["packets"][-1]
    assert carried + waits + one["summary"]["dropped"] == pytest.approx(offered, abs=20)
    burst = 60 if aqm == "police" else 0  # its tokens at the beginning
    room = 20e6 * 5 / FULL + burst
    assert carried <= room + 2
    assert carried >= room * (0.97 if aqm in AT_RANDOM else 1) - 20


def test_drr_s_quantum_is_in_bytes(experiment: Experiment) -> None:
    """Two senders of small and of large packets have as many bytes, not as many packets."""
    small = OFFERED.replace("size = 1472", "size = 200", 1)
    (one,) = experiment(text=small, flow='duration = "1s"', link='aqm = "drr"')
    frames = [
        udp["goodput_bps"] * (size + 42) / size
        for udp, size in zip(one["udp"], (200, 1472), strict=True)
    ]
    assert frames[0] == pytest.approx(frames[1], rel=0.005)


def test_policer_lets_through_its_rate_and_never_queues(experiment: Experiment) -> None:
    """Tokens in place of a queue.  The bucket is full at the beginning: so many packets more."""
    whole = OFFERED.replace('warmup = "2s"', 'warmup = "0s"').replace('"1bdp"', '"200p"')
    whole = whole.replace("size =", 'start = "1s"\nsize =').replace('"10ms"', '"0s"')
    (one,) = experiment(text=whole, flow='bytes = "1kB"', link='aqm = "police"')
    bits = sum(shares(one)) * 6
    assert bits == pytest.approx(20e6 * 5 + 200 * 1500 * 8, abs=5 * 1500 * 8)
    assert max(one["queue"]["packets"]) == 0
    # All that did not come through was dropped, and counted.
    offered = (40e6 + 15e6) / 8 / 1514 * 5
    assert one["summary"]["dropped"] == pytest.approx(offered - bits / 12000, rel=0.01)


@pytest.mark.parametrize("aqm", ["codel", "pie"])
def test_target_of_the_queue(experiment: Experiment, aqm: str) -> None:
    """A flow that fills the link waits as long as the discipline was told, not what it can."""
    delays = []
    for target in ("5ms", "40ms"):
        link = f'aqm = "{aqm}"\naqm_options = {{ target = "{target}" }}'
        text = SMALL.replace('"1bdp"', '"10bdp"').replace('"10s"', '"15s"')
        (one,) = experiment(text=text, cc="cubic", link=link, out=target)
        assert one["summary"]["utilisation"] > 0.8
        delays.append(one["summary"]["queue_delay_ms"]["p50"])
    assert delays[0] < 20 < delays[1] < 80, delays


# --- all flows lose at once

# Each second a burst finds room for ten packets, and for those that leave meanwhile.  20, 30 and
# 40 ms later, when the queue is empty again, three others send a packet, as they do each 50 ms.
# An overflow lasts for 92 ms.
BURSTS = (
    SMALL.replace('"1bdp"', '"10p"')
    + """
[[udp]]
rtt = "0s"
rate = "200mbit"
size = 1472
start = "1.5s"
on = "1.2ms"
off = "998.8ms"
"""
    + "".join(
        f'[[udp]]\nrtt = "0s"\nrate = "46720bit"\nsize = 250\nstart = "1.0{n}s"\n'
        for n in (2, 3, 4)
    )
)


def test_an_overflow_takes_a_packet_of_each_flow(experiment: Experiment) -> None:
    """Of each other sender the first packet in it; of the burst only those that find it full."""
    found = {}
    for aqm in ("fifo", "sync"):
        link, flow = f'aqm = "{aqm}"', 'bytes = "1kB"'
        (found[aqm],) = experiment(text=BURSTS, flow=flow, link=link, out=aqm)
    fifo, sync = (
        [
            round(udp["goodput_bps"] / 8 * 8 / of["size"])
            for udp, of in zip(one["udp"], one["scenario"]["udp"], strict=True)
        ]
        for one in found.values()
    )
    # 8 seconds, with a burst and 20 packets of each of the others in each.
    assert fifo[1:] == [160] * 3 and sync[1:] == [152] * 3
    sent = fifo[0] + found["fifo"]["summary"]["dropped"]
    assert sync[0] + found["sync"]["summary"]["dropped"] == sent + 24 > sync[0] + 24


def test_all_flows_lose_as_often(experiment: Experiment) -> None:
    """Behind a FIFO a Reno flow escapes overflows that one of LTCP makes.  If it loses at each, it
    grows from half of its window to the whole of it by as many packets as there are round trips
    between two, but for the one in which it recovers: on average it is 1.5 times that."""
    more = '[[flow]]\ncc = "reno"\nrtt = "60ms"\n'
    text = FAST.replace('"40s"', '"120s"').replace('"10s"', '"40s"')
    counts = {}
    for aqm in ("fifo", "sync"):
        link = f'aqm = "{aqm}"\nmtu = 576'
        (one,) = experiment(text=text, top='sample = "20ms"', link=link, more=more, out=aqm)
        counts[aqm] = [loss_events(one, flow["connections"][0]) for flow in one["flows"]]
    ltcp, reno = counts["sync"]
    assert ltcp == reno > 10
    assert counts["fifo"][1] < counts["fifo"][0]
    flow = one["flows"][1]
    seconds = 80 / reno
    window = 1.5 * (seconds / (flow["rtt_ms"]["mean"] / 1e3) - 1)
    times, windows = (flow["connections"][0][key] for key in ("t", "cwnd"))
    mean = fmean(w for t, w in zip(times, windows, strict=True) if t > 40)
    assert mean == pytest.approx(window, rel=0.15)


# --- changes in the course of a run


def seen(uml: Uml, where: Path, text: str, **parts: str) -> Json:
    """lfgen's samples of the only run of a scenario."""
    file = where / "seen.toml"
    file.write_text(text.format(**EMPTY | parts))
    (one,) = scenario.load(file)
    made = plan.make(one, 1, prefix="lf", virtual=True)
    with runner.run_directory() as run:
        fill(run, made, one, uml)
        uml.execute(run, one, 1, timeout=120)
        error = run / "error"
        assert (run / "status").exists(), error.read_text() if error.exists() else "no status"
        log = (run / "dmesg").read_text()
        assert not result.SPLAT.search(log), log
        return result.read_samples(run / "samples")


# Full packets, offered at twice the link's rate.  The flow is over before anything is looked at.
CHANGING = """
title = "a link that changes"
duration = "{duration}"
sample = "7ms"
[link]
rate = "20mbit"
buffer = "40p"
{link}
[[flow]]
cc = "reno"
rtt = "1ms"
bytes = "1kB"
[[udp]]
rtt = "0s"
rate = "{offered}mbit"
size = 1472
start = "100ms"
{more}
"""


def packets(samples: Json) -> list[tuple[float, int]]:
    """(seconds, full packets that have arrived)."""
    (rows,) = samples["u"].values()
    return [(t, received // 1472) for t, received in rows]


@pytest.mark.parametrize("aqm", ["fifo", "drr"])
def test_a_changing_rate_is_exact(uml: Uml, tmp_path: Path, aqm: str) -> None:
    """At each sample as many packets have arrived as the rates until then have room for, and no
    packet more or less, also where one is half sent as the rate changes, or the link goes down."""
    link = f"""aqm = "{aqm}"
[[link.at]]
time = "700.1234ms"
rate = "3mbit"
[[link.at]]
time = "1.3s"
rate = "50mbit"
every = "1s"
[[link.at]]
time = "1.45s"
down = true
every = "1s"
[[link.at]]
time = "1.6000007s"
down = false
rate = "7654321bit"
every = "1s"
"""
    found = packets(seen(uml, tmp_path, CHANGING, link=link, duration="4s", offered="100"))
    rates = [(0, 20e6), (0.7001234, 3e6)]
    for n in range(3):
        rates += [(1.3 + n, 50e6), (1.45 + n, 0), (1.6000007 + n, 7654321)]
    first = next(i for i, (t, n) in enumerate(found) if t > 0.3)
    t0, n0 = found[first]

    def carried(t: float) -> float:
        ends = [at for at, _ in rates[1:]] + [9.0]
        return sum(
            max(0.0, min(t, end) - max(t0, at)) * rate
            for (at, rate), end in zip(rates, ends, strict=True)
        )

    for t, n in found[first:]:
        # At t0 a packet was on its way, and at t there is one.
        assert -1e-6 <= n - n0 - carried(t) / FULL + 1 <= 2 + 1e-6, t
    assert found[-1][1] - n0 > 3000


def test_a_trace_of_deliveries_is_replayed_to_the_packet(uml: Uml, tmp_path: Path) -> None:
    """Mahimahi's: where there always is one to deliver, a packet for each line, over and over."""
    draw = random.Random(5)
    lines = sorted(draw.randint(0, 900) for _ in range(1500))
    lines += [*range(905, 1000), 1000, 1000]
    (tmp_path / "x.mahi").write_text("".join(f"{ms}\n" for ms in lines))
    text = CHANGING.replace('"40p"', '"4000p"')
    found = packets(seen(uml, tmp_path, text, link='trace = "x.mahi"', duration="3s", offered="40"))

    def lines_until(t: float) -> int:
        ms = round(t * 1000)
        return sum((ms - one) // 1000 + 1 for one in lines if ms >= one)

    # From when the queue is never empty again.
    first = next(i for i, (t, _) in enumerate(found) if t > 1.0)
    t0, n0 = found[first]
    got = [n - n0 for _, n in found[first:]]
    # A sample at a millisecond is before or after its deliveries.
    for (t, _), n in zip(found[first:], got, strict=True):
        before, after = (lines_until(at) - lines_until(t0) for at in (t - 1e-3, t + 1e-3))
        assert before - 10 <= n <= after + 10
        exact = lines_until(t) - lines_until(t0)
        assert n == exact or round(t * 1000) in {x % 1000 for x in lines}, (t, n, exact)
    assert got[-1] > 3000


def test_delay_and_loss_change(uml: Uml, tmp_path: Path) -> None:
    """The RTT is the longer one to the microsecond; one packet in four is lost while it is so."""
    link = """[[link.at]]
time = "1s"
delay = "30ms"
[[link.at]]
time = "2s"
delay = "5ms"
[[link.at]]
time = "3s"
loss = "25%"
[[link.at]]
time = "5s"
loss = 0
"""
    small = CHANGING.replace('bytes = "1kB"', 'socket_buffer = "4kB"').replace('"1ms"', '"20ms"')
    small = small.replace('rate = "20mbit"', 'rate = "1gbit"')
    samples = seen(uml, tmp_path, small, link=link, duration="6s", offered="10")
    received = dict(packets(samples))
    at = {second: received[min(received, key=lambda t: abs(t - second))] for second in range(1, 7)}
    full = 10e6 / 8 / 1514
    assert at[2] - at[1] == pytest.approx(full, abs=30)  # 30 ms of them are on the way
    assert at[3] - at[2] == pytest.approx(full, abs=30)
    assert (at[5] - at[3]) / (2 * full) == pytest.approx(0.75, abs=0.03)
    assert at[6] - at[5] == pytest.approx(full, abs=4)
    (rows,) = samples["f"].values()
    rtt = {second: min(rows, key=lambda row: abs(row[0] - second))[3] for second in (1, 2, 3)}
    assert rtt[2] - rtt[1] == pytest.approx(30000, abs=400)
    assert rtt[3] - rtt[1] == pytest.approx(5000, abs=400)


def test_a_link_s_own_delay_is_of_who_crosses_it(experiment: Experiment) -> None:
    """In every RTT from the handshake on, and not of the flow that leaves before."""
    more = '[[link]]\nrate = "20mbit"\nbuffer = "1bdp"\ndelay = "25ms"\n'
    text = SMALL.replace("[link]", "[[link]]").replace("{link}", more)
    first = '[[flow]]\ncc = "reno"\nrtt = "40ms"\nleave = 1\nsocket_buffer = "30kB"'
    (one,) = experiment(text=text, flow='socket_buffer = "30kB"', more=first)
    least = [flow["connections"][0]["min_rtt_us"][-1] for flow in one["flows"]]
    assert 65_000 <= least[0] <= 66_500 and 40_000 <= least[1] <= 41_500


def test_what_a_change_leaves_as_it_was(experiment: Experiment) -> None:
    """A link that changes to what it is gives what one gives that does not change."""
    same = '[[link.at]]\ntime = "3s"\nrate = "20mbit"\nevery = "0.37s"'
    (plain,) = experiment(link='aqm = "drr"', cc="cubic", out="plain")
    (still,) = experiment(link=f'aqm = "drr"\n{same}', cc="cubic", out="still")
    for key in ("goodput_bps", "dropped"):
        assert still["summary"][key] == pytest.approx(plain["summary"][key], rel=0.01)
    assert still["summary"]["capacity_bps"] == plain["summary"]["capacity_bps"]


# --- several links, and the other direction

# Each link is offered more than it carries, by senders of one rate and size.
LOT = """
title = "a parking lot"
duration = "8s"
warmup = "4s"
[[link]]
rate = "20mbit"
buffer = "60p"
aqm = "drr"
[[link]]
rate = "12mbit"
buffer = "60p"
aqm = "drr"
[[link]]
rate = "16mbit"
buffer = "60p"
aqm = "drr"
[[flow]]
cc = "reno"
rtt = "1ms"
bytes = "1kB"
"""
ONE_UDP = """
[[udp]]
rtt = "0s"
rate = "30mbit"
size = 1472
{}
"""


def test_parking_lot_s_shares_are_exact(experiment: Experiment) -> None:
    """Of what enters a link each sender has its fair share, and goes on with that."""
    ends = ["", "leave = 1", "enter = 2\nleave = 2", "enter = 3", "enter = 2"]
    (one,) = experiment(text=LOT + "".join(ONE_UDP.format(x) for x in ends))
    # 20 for two; 12 for three, each 4; 16 for three, of which two have no more than 4.
    want = [4e6, 10e6, 4e6, 8e6, 4e6]
    assert shares(one) == [pytest.approx(rate, abs=3 * PACKET) for rate in want]


def test_the_way_back_has_a_rate_of_its_own(experiment: Experiment) -> None:
    """Data in reverse have that rate, and leave the other direction alone."""
    udp = ONE_UDP.format("reverse = true") + ONE_UDP.format("")
    text = SMALL.replace('"10s"', '"6s"') + udp
    (one,) = experiment(text=text, link='reverse_rate = "5mbit"', flow='bytes = "1kB"')
    assert shares(one) == [pytest.approx(5e6, abs=2 * PACKET), pytest.approx(20e6, abs=2 * PACKET)]


def test_a_flow_in_reverse(experiment: Experiment) -> None:
    """It fills the way back, is not counted for the link, and has the RTT."""
    more = '[[flow]]\ncc = "cubic"\nrtt = "40ms"\nreverse = true'
    (one,) = experiment(
        cc="cubic", link='reverse_rate = "10mbit"\nreverse_buffer = "30p"', more=more
    )
    ahead, back = one["flows"]
    # Some of it is for the other flow's ACKs.
    assert 0.8 * 10e6 < back["goodput_bps"] < 10e6 * 1448 / 1500
    assert 40 <= back["rtt_ms"]["p50"] <= 40 + 30 * 1.2 + 36 + 1
    assert one["summary"]["goodput_bps"] == ahead["goodput_bps"]
    assert one["summary"]["utilisation"] > 0.8
    # What it lost was lost there.  Beside its data there are the other's ACKs of 52 bytes, and more
    # where they have SACK blocks, which wait behind them.
    way, data = one["way_back"], back["received_bytes"] / 1448
    assert 0 < back["retransmissions"] <= way["dropped"] < 2 * back["retransmissions"]
    assert way["loss"] == way["dropped"] / (way["sent"] + way["dropped"])
    size = 1500 * data + 52 * (way["sent"] - data)
    assert way["sent_bytes"] == pytest.approx(size, rel=0.01)
    assert 10 < way["queue_delay_ms"]["max"] <= 36


# --- impairments


def test_losses_in_bursts(uml: Uml, tmp_path: Path) -> None:
    """As many as asked for, in bursts of the mean length asked for."""
    text = CHANGING.replace('sample = "7ms"', 'sample = "7ms"\nqueue_sample = "1ms"')
    text = text.replace('"20mbit"', '"8mbit"')
    link = 'loss = "10%"\nloss_burst = 8'
    rows = seen(uml, tmp_path, text, link=link, duration="40s", offered="6")["l"]
    # A packet takes 1.5 ms, so each sample has one at most: what became of it.
    dropped = [after[3] - before[3] for before, after in pairwise(rows) if before[0] > 0.2]
    sent = [after[4] - before[4] for before, after in pairwise(rows) if before[0] > 0.2]
    assert max(lost + passed for lost, passed in zip(dropped, sent, strict=True)) == 1
    fates = "".join("x" * lost + "." * passed for lost, passed in zip(dropped, sent, strict=True))
    bursts = re.findall("x+", fates)
    assert fates.count("x") / len(fates) == pytest.approx(0.1, rel=0.2)
    assert fates.count("x") / len(bursts) == pytest.approx(8, rel=0.2)


def test_aggregates_leave_together(uml: Uml, tmp_path: Path) -> None:
    """All that comes in 20 ms arrives at once, with nothing lost or late."""
    text = CHANGING.replace('"7ms"', '"1ms"')
    found = packets(
        seen(uml, tmp_path, text, link='aggregate = "20ms"', duration="5s", offered="6")
    )
    later = [(t, n) for t, n in found if t > 1]
    steps = [after - before for (_, before), (_, after) in pairwise(later)]
    releases = [n for n in steps if n]
    gap = 1514 * 8 / 6e6
    assert 4 / (0.02 + gap) - 2 <= len(releases) <= 4 / 0.02
    assert sum(releases) == pytest.approx(4 / gap, abs=15)


def test_loss_on_the_way_back(experiment: Experiment) -> None:
    """One in ten of what goes that way; ACKs are cumulative, so the link stays full."""
    udp = ONE_UDP.format("reverse = true").replace('"30mbit"', '"5mbit"')
    (one,) = experiment(link='reverse_loss = "10%"', cc="cubic", more=udp)
    assert one["udp"][0]["goodput_bps"] == pytest.approx(0.9 * 5e6 * 1472 / 1514, rel=0.02)
    assert one["summary"]["utilisation"] > 0.9


# --- the way back, and receivers that misbehave


def test_the_way_back_delays_acknowledgments(experiment: Experiment) -> None:
    """Its delay is in every RTT, and its jitter adds up to twice of what it is, in order: nothing
    is sent again."""
    link = 'reverse_delay = "20ms"\nreverse_jitter = "5ms"'
    (late,) = experiment(flow='socket_buffer = "30kB"', link=link)
    of = late["flows"][0]["connections"][0]
    assert late["summary"]["retransmissions"] == 0
    assert 60_000 <= of["min_rtt_us"][-1] <= 61_500
    rtts = [x for x in of["rtt_us"] if x]
    # Smoothed: not all of 10 ms more.
    assert min(rtts) > 60_000 and 65_000 < max(rtts) < 75_000


def test_the_way_back_s_buffer_holds_no_delay(experiment: Experiment) -> None:
    """Twenty packets of 2 ms each, whatever is delayed behind them: what waits longer is lost."""
    link = 'reverse_rate = "6mbit"\nreverse_buffer = "20p"\nreverse_delay = "500ms"'
    udp = ONE_UDP.format("reverse = true")
    (one,) = experiment(text=SMALL + udp, link=link, flow='bytes = "1kB"')
    assert shares(one) == [pytest.approx(6e6, abs=3 * PACKET)]


def told(uml: Uml, where: Path, text: str, device: str = "eth0") -> tuple[Json, int]:
    """The result of the only run of a scenario, and how many packets left the receiver's device."""
    file = where / "told.toml"
    file.write_text(text)
    (one,) = scenario.load(file)
    made = plan.make(one, 1, prefix="lf", virtual=True)
    run = where / "run"
    run.mkdir()
    count = f"tc -n lf-d -j -s qdisc show dev {device} >counted\n"
    fill(run, made, one, uml, main=made.main + count)
    uml.execute(run, one, 1, timeout=120)
    found = result.make(one, 1, "uml", made, run)
    (qdisc,) = json.loads((run / "counted").read_text())
    assert qdisc["kind"] == "lfack"
    return found, qdisc["packets"]


DIVIDED = """
title = "an acknowledgment for each so many bytes"
duration = "5s"
[link]
rate = "20mbit"
buffer = "4000p"
[host]
quickack = true
timestamps = {timestamps}
[[flow]]
cc = "reno"
rtt = "20ms"
bytes = "{bytes}B"
{flow}
"""


@pytest.mark.parametrize("timestamps", [True, False])
def test_ack_division_to_the_packet(uml: Uml, tmp_path: Path, timestamps: bool) -> None:
    """Each full packet has as many acknowledgments as it has pieces; and Linux, which counts what
    was acknowledged, is as fast as before."""
    mss = 1448 if timestamps else 1460
    parts = {"timestamps": str(timestamps).lower(), "bytes": str(1000 * mss)}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    # It tells of an echo, of which there is none here, so that the device has the qdisc.
    text = DIVIDED.format(**parts, flow="ecn_echo = false")
    honest, before = told(uml, tmp_path / "a", text)
    divided, after = told(uml, tmp_path / "b", DIVIDED.format(**parts, flow='ack_every = "100B"'))
    # The handshake, an ACK a packet, and the end.
    assert 1000 <= before <= 1006
    assert after - before == 1000 * (-(-mss // 100) - 1)
    ends = [one["flows"][0]["completion_s"] for one in (honest, divided)]
    assert ends[0] == pytest.approx(ends[1], rel=0.02)


def test_who_acknowledges_ahead_hears_of_no_loss(experiment: Experiment) -> None:
    """Its sender never backs off; the honest one starves beside it."""
    more = '[[flow]]\ncc = "reno"\nrtt = "40ms"\nstart = "1s"'
    (fair,) = experiment(cc="reno", more=more, out="fair")
    (one,) = experiment(cc="reno", flow='ack_ahead = "60kB"', more=more, out="ahead")
    liar, honest = one["flows"]
    assert liar["retransmissions"] == 0 < honest["retransmissions"]
    assert one["summary"]["dropped"] > 10 * max(1, fair["summary"]["dropped"])
    windows = [x for x in liar["connections"][0]["cwnd"] if x]
    assert windows == sorted(windows)
    assert honest["goodput_bps"] < 0.2 * fair["flows"][1]["goodput_bps"]


def test_acknowledgments_ahead_are_early(uml: Uml, tmp_path: Path) -> None:
    """The sender's window is as before, so fifty packets that it believes to have arrived are in
    the queue besides."""
    queues = []
    for n, flow in enumerate(("ecn_echo = false", f'ack_ahead = "{50 * 1448}B"')):
        (tmp_path / str(n)).mkdir()
        flow += '\nsocket_buffer = "300kB"'
        parts = {"timestamps": "true", "bytes": "14480000", "flow": flow}
        found, _ = told(uml, tmp_path / str(n), DIVIDED.format(**parts))
        assert found["summary"]["dropped"] == found["summary"]["retransmissions"] == 0
        queues.append(fmean(found["queue"]["packets"][10:]))
    assert queues[1] - queues[0] == pytest.approx(50, abs=5)


def test_who_echoes_no_mark_is_told_of_none(experiment: Experiment) -> None:
    """The sender does not slow down for CoDel's marks if it is not told of them; the other does."""
    more = '[[flow]]\ncc = "reno"\nrtt = "40ms"'
    link = 'aqm = "codel"\necn = true'
    (one,) = experiment(link=link, flow="ecn_echo = false", more=more)
    silent, honest = one["flows"]
    assert silent["ce_marks"] == 0 < honest["ce_marks"]
    assert honest["goodput_bps"] < 0.4 * silent["goodput_bps"]
