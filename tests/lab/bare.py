# SPDX-License-Identifier: GPL-2.0
"""A connection from under which fq is taken away after three seconds: bare.py send ALGORITHM prints
which part of its packets it sends again in the four seconds after the next one; bare.py receive is
its other end."""

import socket
import struct
import subprocess
import sys
import threading
import time

RECEIVER = ("10.0.0.2", 5001)


def receive() -> None:
    """Take what comes."""
    with socket.create_server(("", RECEIVER[1])) as server:
        other, _ = server.accept()
        while other.recv(1 << 16):
            pass


def sent(own: socket.socket) -> tuple[int, int]:
    """Packets that were sent again, and all: struct tcp_info's total_retrans and segs_out."""
    info = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 144)
    return struct.unpack_from("I", info, 100)[0], struct.unpack_from("I", info, 136)[0]


def send(algorithm: str) -> None:
    """Send for as long as it takes, and look."""
    with socket.socket() as own:
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        own.connect(RECEIVER)
        threading.Thread(target=flood, args=[own], daemon=True).start()
        time.sleep(3)
        (device,) = (name for _, name in socket.if_nameindex() if name != "lo")
        assert "qdisc fq " in tc("show", device)
        tc("replace", device, "root", "pfifo", "limit", "100000")
        time.sleep(1)
        before = sent(own)
        time.sleep(4)
        again, packets = (after - was for was, after in zip(before, sent(own), strict=True))
        print(again / packets)


def tc(verb: str, device: str, *words: str) -> str:
    return subprocess.check_output(["tc", "qdisc", verb, "dev", device, *words], text=True)


def flood(own: socket.socket) -> None:
    block = bytes(1 << 20)
    while True:
        own.sendall(block)


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive()
    else:
        send(sys.argv[2])
