# SPDX-License-Identifier: GPL-2.0
"""What `longfat watch` reads from ss and draws."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from longfat.core.errors import LabError
from longfat.show import watch

ROOT = Path(__file__).resolve().parents[2]

# As iproute2 6.1 prints it: established, without an ACK yet, listening, IPv6.
SS = """\
ESTAB 0 2562560 10.0.0.1:40404 10.0.0.2:5201 ts sack ltcp wscale:7,7 rto:324 rtt:120.512/0.25 \
mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:1766 ssthresh:1500 bytes_sent:103408644 \
segs_out:71417 send 169Mbps lastsnd:4 pacing_rate 203Mbps delivery_rate 168.9Mbps \
delivered:70137 busy:5240ms unacked:1282 retrans:3/17 rcv_space:14480 minrtt:120.1
SYN-SENT 0 1 192.0.2.1:55 192.0.2.2:9 cubic rto:1000 mss:524 cwnd:10 segs_out:1
LISTEN 0 4096 *:22 *:* cubic cwnd:10
ESTAB 0 0 [::1]:5000 [::1]:5001 ts sack ecn ecnseen bbr wscale:7,7 rtt:0.03/0.01 cwnd:10 \
bbr:(bw:1Gbps,mrtt:0.02) pacing_rate 900Kbps
"""


def test_parse() -> None:
    found = watch.parse(SS)
    assert list(found) == [
        "ltcp 10.0.0.1:40404 > 10.0.0.2:5201",
        "cubic 192.0.2.1:55 > 192.0.2.2:9",
        "cubic *:22 > *:*",
        "bbr [::1]:5000 > [::1]:5001",
    ]
    assert found["ltcp 10.0.0.1:40404 > 10.0.0.2:5201"] == {
        "cwnd": 1766,
        "ssthresh": 1500,
        "rtt": 120.512,
        "minrtt": 120.1,
        "unacked": 1282,
        "retrans": 17,
        "pacing_rate": 203,
        "delivery_rate": 168.9,
    }
    assert found["bbr [::1]:5000 > [::1]:5001"]["pacing_rate"] == 0.9


@pytest.mark.parametrize(
    "text", ["", "\n", "nonsense", "ESTAB 0 0 a:1 b:2", "ESTAB 0 0 a:1 b:2 ts"]
)
def test_nothing_to_parse(text: str) -> None:
    assert watch.parse(text) == {}


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def collect(texts: Iterator[str], *, seconds: float = 0, what: str = "cwnd") -> list[watch.Line]:
    clock = Clock()

    def read() -> str:
        try:
            return next(texts)
        except StopIteration:
            raise KeyboardInterrupt from None

    return watch.collect(read, what, interval=0.5, seconds=seconds, clock=clock, sleep=clock.sleep)


def one(cwnd: int, port: int = 1) -> str:
    return f"ESTAB 0 0 a:{port} b:2 sack ltcp wscale:7,7 cwnd:{cwnd}\n"


def test_a_line_for_each_connection() -> None:
    (first, second) = collect(iter([one(10), one(20) + one(5, 9), one(30)]))
    assert (first.label, first.t, first.y) == ("ltcp a:1 > b:2", [0, 0.5, 1], [10, 20, 30])
    assert (second.label, second.t, second.y) == ("ltcp a:9 > b:2", [0.5], [5])


def test_ends_after_the_last_connection() -> None:
    def texts() -> Iterator[str]:
        yield ""  # not yet
        yield one(10)
        yield from [""] * 3
        raise AssertionError("asked again more than a second after the end")

    (line,) = collect(texts())
    assert line.y == [10]


def test_ends_in_time() -> None:
    (line,) = collect(iter([one(n) for n in range(1, 100)]), seconds=2)
    assert line.t == [0, 0.5, 1, 1.5, 2]


def test_no_more_lines_than_can_be_read() -> None:
    many = "".join(one(10, port) for port in range(50))
    assert len(collect(iter([many]))) == watch.MOST


def test_nothing_seen() -> None:
    with pytest.raises(LabError, match="no connection with a cwnd was seen: .*ip netns exec"):
        collect(iter([""] * 3))
    with pytest.raises(LabError, match="no connection with a ssthresh"):
        collect(iter([one(10)] * 3), what="ssthresh")


@pytest.mark.parametrize("colour", [False, True])
def test_plot(monkeypatch: pytest.MonkeyPatch, colour: bool) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("LINES", "20")
    text = watch.plot(
        [watch.Line("ltcp a:1 > b:2", [0, 1, 2], [10, 900, 40])], "cwnd", colour=colour
    )
    assert "congestion window, packets" in text and "ltcp a:1" in text and "900" in text
    assert ("\x1b" in text) == colour
    if not colour:
        assert max(map(len, text.splitlines())) <= 70
        assert len(text.splitlines()) <= 19


@pytest.mark.skipif(not shutil.which("ss"), reason="ss is not installed (iproute2)")
def test_a_running_connection(tmp_path: Path) -> None:
    """The command beside a real transfer: plot on its output, picture in its file."""
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    client = socket.create_connection(("127.0.0.1", port))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    accepted, _ = server.accept()
    done = threading.Event()

    def send() -> None:
        while not done.wait(0.01):
            client.sendall(b"x" * 100000)

    def receive() -> None:
        while accepted.recv(1 << 20):
            pass

    threads = [threading.Thread(target=send), threading.Thread(target=receive)]
    for thread in threads:
        thread.start()
    try:
        picture = tmp_path / "cwnd.svg"
        command = f"watch dport = :{port} -t 1 --interval 0.1 -o {picture}".split()
        ran = subprocess.run(
            [sys.executable, "-m", "longfat", *command],
            capture_output=True, text=True, timeout=60, cwd=ROOT,
        )  # fmt: skip
    finally:
        done.set()
        threads[0].join()
        client.close()
        threads[1].join()
        accepted.close()
        server.close()
    assert ran.returncode == 0, ran.stderr
    assert "congestion window, packets" in ran.stdout
    assert f"reno 127.0.0.1:{client_port(ran.stdout)} > 127.0.0.1:{port}" in ran.stdout
    assert "<svg" in picture.read_text() and str(port) in picture.read_text()


def client_port(text: str) -> str:
    """Of the legend."""
    return text.partition("reno 127.0.0.1:")[2].partition(" ")[0]
