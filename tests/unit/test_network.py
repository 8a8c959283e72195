# SPDX-License-Identifier: GPL-2.0
"""`longfat show`: the picture of a scenario's network."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import One

from longfat.run import scenario
from longfat.show import network

TWO = """
title = "a < b"
duration = "90s"
[[link]]
rate = "40mbit"
buffer = "100p"
aqm = "codel"
aqm_options = { target = "10ms" }
ecn = true
loss = "0.1%"
loss_burst = 5
jitter = "2ms"
ack_thin = 4
[[link]]
rate = "20mbit"
buffer = "50p"
reverse_rate = "5mbit"
reverse_loss = "2%"
reverse_delay = "20ms"
reverse_jitter = "1500us"
aggregate = "4ms"
[[link.at]]
time = "10s"
delay = "5ms"
every = "20s"
[[flow]]
cc = "cubic"
rtt = "40ms"
count = 3
parallel = 2
access = "9mbit"
[[udp]]
rtt = "2ms"
rate = "1mbit"
leave = 1
start = "2s"
[[short]]
rtt = "1.5s"
per_second = 2.5
mean_size = "20kB"
enter = 2
reverse = true
"""
PICTURE = """\
two: a < b, 90 s

                                                            link 1                        link 2
                                                            40 Mbit/s                     20 Mbit/s
                                                            buffer 100 packets, 30 ms     buffer 50 packets, 30 ms
                                                            codel, target 10ms, ECN       fifo
                                                            loss 0.1 % in bursts of 5     aggregates for 4 ms
                                                            jitter 2 ms                   changes 4 times: delay
                                                            one ACK of 4                  back 5 Mbit/s, 1000 packets
                                                                                          back loss 2 %
                                                                                          back delay 20 ms
                                                                                          back jitter 1.5 ms

s0 3 x cubic of 2 connections, RTT 40 ms, access 9 Mbit/s   -------------------------------------------------------->
s1 udp 1 Mbit/s, RTT 2 ms, from 2 s                         -------------------------->
s2 short cubic, 2.5 a second of 20000 bytes, RTT 1.5 s                                    <--------------------------
"""  # noqa: E501


@pytest.fixture
def two(tmp_path: Path) -> scenario.Scenario:
    (tmp_path / "two.toml").write_text(TWO)
    (found,) = scenario.load(tmp_path / "two.toml")
    return found


def test_as_text(two: scenario.Scenario) -> None:
    assert network.text(two) == PICTURE


def test_one_link_is_the_bottleneck(one: One) -> None:
    assert "  delay 5 ms" in network.text(one(link='delay = "5ms"'))
    assert network.text(one(link="mtu = 9000")).splitlines()[2:] == [
        "                     bottleneck",
        "                     10 Mbit/s",
        "                     buffer 100 packets, 720 ms",
        "                     fifo",
        "                     MTU 9000 bytes",
        "",
        "s0 reno, RTT 20 ms   ------------------------->",
    ]


def test_receivers_that_misbehave(one: One) -> None:
    flow = 'ack_every = "100B"\nack_ahead = "9kB"\necn_echo = false'
    (row,) = network.rows(one(flow=flow))
    assert row.label == (
        "s0 reno, RTT 20 ms, an ACK each 100 bytes, ACKs 9000 bytes ahead, no ECN echo"
    )


def test_as_svg(two: scenario.Scenario) -> None:
    """The same words, and an arrow over the columns that an entry crosses."""
    root = ElementTree.fromstring(network.svg(two))
    name = "{http://www.w3.org/2000/svg}"
    said = [found.text or "" for found in root.iter(f"{name}text")]
    words = [x for line in PICTURE.splitlines() for x in line.split("  ") if x.strip("-<> ")]
    assert sorted(said) == sorted(x.strip() for x in words)
    boxes = [
        (float(x.get("x", 0)), float(x.get("width", "0").rstrip("%")))
        for x in root.iter(f"{name}rect")
    ]
    (first, wide), (second, _) = boxes[1:]
    arrows = [x.get("d", "") for x in root.iter(f"{name}path")]
    ends = [(float(d[1:].split()[0]), float(d.partition("H")[2].partition("M")[0])) for d in arrows]
    assert ends[0][0] < first and ends[0][1] > second + wide
    assert ends[1][0] < first and first + wide < ends[1][1] < second
    assert first + wide < ends[2][0] < second and ends[2][1] > second + wide
    # The tip is where it ends; of one in reverse where it begins.
    for d, (begin, end), reverse in zip(arrows, ends, (False, False, True), strict=True):
        tip = float(d.partition("L")[2].split()[0])
        assert tip == (begin if reverse else end)
