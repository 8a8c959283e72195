# SPDX-License-Identifier: GPL-2.0
"""The network of most runs against the one that it stands for, of veth, a router and netem."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.run import lflink, plan, result, scenario
from longfat.run.backends import Uml, fill
from longfat.run.result import Json

FLOOD = """
title = "twice what the bottleneck can carry, from two senders, and beside them who asks for little"
duration = "2s"
queue_sample = "1ms"
[link]
rate = "8mbit"
buffer = "50p"
[[flow]]
cc = "reno"
rtt = "30ms"
start = "500ms"
[[udp]]
rate = "8mbit"
rtt = "5ms"
size = 972
duration = "1.5s"
[[udp]]
rate = "8mbit"
rtt = "0s"
size = 972
duration = "1.5s"
"""

DELAYS = """
title = "nothing but handshakes"
duration = "1s"
[link]
rate = "8mbit"
buffer = "50p"
"""

JUMBO = """
title = "frames of 9000 bytes, no batches, no fq, an ACK for each, a flow that ends"
duration = "4s"
[link]
rate = "1gbit"
buffer = "20p"
mtu = 9000
[host]
offload = false
pacing = false
quickack = true
[[flow]]
cc = "ltcp"
rtt = "20ms"
start = "5ms"
bytes = "50MB"
"""


def run(uml: Uml, one: scenario.Scenario, where: Path, *, direct: bool) -> Json:
    where.mkdir()
    made = plan.make(one, 1, prefix="lf", virtual=True)
    assert (lflink.FILE in made.setup) == direct
    fill(where, made, one, uml)
    uml.execute(where, one, 1, timeout=240)
    return result.make(one, 1, "uml", made, where)


def read(tmp_path: Path, text: str) -> scenario.Scenario:
    file = tmp_path / "x.toml"
    file.write_text(text)
    (one,) = scenario.load(file)
    return one


def test_both_networks_agree_to_the_packet(
    uml: Uml, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same windows, losses and packets at each sample, from slow start through an overflow to
    the end.  A router's softirqs take some of the virtual nanoseconds, so round-trip times differ
    by some of them."""
    one = read(tmp_path, JUMBO)
    direct = run(uml, one, tmp_path / "direct", direct=True)
    monkeypatch.setattr(lflink, "carries", lambda scenario: False)
    routed = run(uml, one, tmp_path / "routed", direct=False)
    assert direct["summary"]["dropped"] == routed["summary"]["dropped"] > 20
    mine, others = (found["flows"][0]["connections"][0] for found in (direct, routed))
    assert len(mine["t"]) > 8
    for what in ("t", "cwnd"):
        assert mine[what] == others[what]
    # The handshake takes one round trip in both.
    for a, b in zip(mine["min_rtt_us"], others["min_rtt_us"], strict=True):
        assert a == pytest.approx(b, abs=2)
    assert mine["rtt_us"][1] == pytest.approx(others["rtt_us"][1], abs=20)
    # A sample may come before or behind the end of a packet.
    pairs = zip(mine["received"], others["received"], strict=True)
    assert {abs(a - b) for a, b in pairs} <= {0, 8948}
    ends = [found["flows"][0]["completion_s"] for found in (direct, routed)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)


def test_a_flood_leaves_at_the_rate_and_fills_the_buffer(uml: Uml, tmp_path: Path) -> None:
    """1000 bytes of IP leave each millisecond, 50 packets wait, and what is not there was
    dropped."""
    one = read(tmp_path, FLOOD)
    where = tmp_path / "run"
    run(uml, one, where, direct=True)
    lines = [line.split() for line in (where / "samples").read_text().splitlines()]
    queue = [(float(t), *map(int, rest[:5])) for kind, t, *rest in lines if kind == "q"]
    # Before the flow begins all packets are of one size.
    full = [one for one in queue if 0.1 <= one[0] < 0.5]
    assert len(full) == 400
    assert all(size == 1014 * packets for _, size, packets, *_ in full)
    assert max(packets for _, _, packets, *_ in full) == 50
    assert min(packets for _, _, packets, *_ in full) > 40
    (begin, *_, packets, size), (end, *_, later, more) = full[0], full[-1]
    # A sample may come before or behind the end of a packet.
    assert later - packets == pytest.approx((end - begin) * 1000, abs=1.001)
    assert more - size == 1014 * (later - packets)
    # As many came as two senders' rate is, with what they call a packet's length.
    came = later - packets + full[-1][3] - full[0][3] + full[-1][2] - full[0][2]
    assert came == pytest.approx(2 * 1e6 / 1014 * (end - begin), abs=8)
    # When the flood is over everything drains.
    assert queue[-1][2] < 50


def test_a_round_trip_is_the_delay_and_the_bits_of_a_packet(uml: Uml, tmp_path: Path) -> None:
    """A SYN of 60 bytes at 8 Mbit/s takes 60 us, and its answer no time but the delay.  The
    kernel's clock goes by 256 ns when a program reads it, which rounds to the next microsecond."""
    rtts = ["0s", "1us", "5ms", "33.333333ms", "200ms"]
    flows = [
        f'[[flow]]\ncc = "reno"\nrtt = "{rtt}"\nstart = "{50 * i}ms"\nbytes = "20B"\n'
        for i, rtt in enumerate(rtts)
    ]
    one = read(tmp_path, DELAYS + "".join(flows))
    where = tmp_path / "run"
    run(uml, one, where, direct=True)
    lines = [line.split() for line in (where / "samples").read_text().splitlines()]
    least = {int(line[2]): int(line[6]) for line in lines if line[0] == "f"}
    assert least == {0: 61, 1: 62, 2: 5061, 3: 33394, 4: 200061}
