# SPDX-License-Identifier: GPL-2.0
"""`pcap = true`: the packets of a run, read by another's program, are those that it counted."""

from __future__ import annotations

import socket
from pathlib import Path

import dpkt
import pytest
from rich.console import Console

from longfat.run import captures, result, runner, scenario
from longfat.run.backends import Counted, Uml
from longfat.run.result import Json

# Both end before the run does, so nothing is under way then.
LOSSY = """
title = "losses at the bottleneck, and later at random"
duration = "8s"
{more}
[link]
rate = "20mbit"
buffer = "0.3bdp"
{link}
[[flow]]
cc = "cubic"
rtt = "40ms"
bytes = "3MB"
[[flow]]
cc = "reno"
rtt = "20ms"
bytes = "1MB"
"""

Packets = list[tuple[float, dpkt.ip.IP]]


def frames(result_file: Path, name: str) -> list[tuple[float, dpkt.ethernet.Ethernet]]:
    """Each packet and its time."""
    with captures.place(name, result_file).open("rb") as file:
        return [(t, dpkt.ethernet.Ethernet(data)) for t, data in dpkt.pcapng.Reader(file)]


def read(result_file: Path, name: str) -> Packets:
    """Those of IP."""
    found = frames(result_file, name)
    return [(t, frame.data) for t, frame in found if isinstance(frame.data, dpkt.ip.IP)]


def data(packets: Packets, sender: int) -> list[tuple[int, int]]:
    """Sequence number and payload of each packet with data of a sender."""
    address = socket.inet_aton(f"10.1.{sender}.2")
    of = [packet for _, packet in packets if packet.src == address]
    found = [(one.data.seq, one.len - 4 * one.hl - 4 * one.data.off) for one in of]
    return [(seq, length) for seq, length in found if length]


def forward(packets: Packets) -> int:
    return sum(packet.dst == socket.inet_aton("10.0.0.2") for _, packet in packets)


def captured(
    machine: Uml | Counted, tmp_path: Path, more: str = "", link: str = ""
) -> tuple[Json, Path]:
    file = tmp_path / "one.toml"
    file.write_text(LOSSY.format(more=more, link=link))
    (job,) = runner.jobs_for(scenario.load(file), None, tmp_path)
    runner.run([job], machine, workers=1, timeout=1200, console=Console(quiet=True))
    return result.read(job.path), job.path


def judge(found: Json, file: Path) -> None:
    """What the two sides of the bottleneck have is what the result counted, and the rest is what
    the sender counted."""
    before, behind = read(file, "before"), read(file, "behind")
    assert found["summary"]["dropped"] > 10
    assert forward(before) - forward(behind) == found["summary"]["dropped"]
    assert [t for t, _ in before] == sorted(t for t, _ in before)
    for sender, flow in enumerate(found["flows"]):
        sent = data(before, sender)
        assert len(sent) - len(dict(sent)) == flow["retransmissions"] > 0
        assert sum(dict(sent).values()) == flow["received_bytes"]


def test_what_is_captured_is_what_was_counted(uml: Uml, tmp_path: Path) -> None:
    """Packet by packet, and the same bytes when it is run again."""
    where = 'pcap = true\npcap_at = ["bottleneck", "s1", "d"]'
    found, file = captured(uml, tmp_path, where)
    judge(found, file)
    assert set(found["captures"]) == {"before", "behind", "s1", "d"}
    # What leaves the queue is what arrives, and no wire lost a packet of the sender's.
    assert forward(read(file, "d")) == forward(read(file, "behind"))
    assert data(read(file, "s1"), 1) == data(read(file, "before"), 1)
    # It waits in the queue for its length at most, 20 packets and the one that is being sent.
    left = {(packet.src, packet.id): t for t, packet in read(file, "behind")}
    waits = [
        left[packet.src, packet.id] - t
        for t, packet in read(file, "before")
        if packet.dst == socket.inet_aton("10.0.0.2") and (packet.src, packet.id) in left
    ]
    assert min(waits) > 0 and 19 * 0.6e-3 < max(waits) <= 21 * 0.6e-3 + 1e-6
    names = [captures.place(name, file) for name in found["captures"]]
    first = [path.read_bytes() for path in (file, *names)]
    captured(uml, tmp_path, where)
    assert [path.read_bytes() for path in (file, *names)] == first


def test_random_losses_are_behind_what_was_captured(uml: Uml, tmp_path: Path) -> None:
    found, file = captured(
        uml, tmp_path, 'pcap = true\npcap_at = ["bottleneck", "d"]', "loss = 0.002"
    )
    behind, end = read(file, "behind"), read(file, "d")
    assert forward(behind) - forward(end) == found["impaired_hop"]["dropped"] > 0


def test_whole_packets_of_a_host(uml: Uml, tmp_path: Path) -> None:
    """On the network of one module; the windows are those without a capture."""
    found, file = captured(uml, tmp_path, 'pcap = true\npcap_at = ["d"]\npcap_bytes = 65536')
    packets = frames(file, "d")
    assert len(packets) == found["captures"]["d"]
    assert max(len(packet.data.data) for _, packet in read(file, "d")) == 1448
    plain, _ = captured(uml, tmp_path, "")
    assert plain["summary"]["dropped"] == found["summary"]["dropped"]
    windows = [[flow["connections"][0]["cwnd"] for flow in one["flows"]] for one in (plain, found)]
    assert windows[0] == windows[1]
    assert "captures" not in plain and "pcap" not in plain["scenario"]


@pytest.mark.long
@pytest.mark.usefixtures("machine")
def test_on_a_stock_kernel(tmp_path: Path) -> None:
    """In counted time: in real time a slow machine fills no queue."""
    backend = Counted()
    backend.prepare(lambda _: None)
    found, file = captured(backend, tmp_path, "pcap = true")
    judge(found, file)
