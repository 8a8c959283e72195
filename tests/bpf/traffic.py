#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""traffic.py ALGORITHM [MEGABYTES]: connections that meet what a congestion control has to
answer, over the loopback of a network namespace of their own: losses, packets out of order, a
timeout, a spurious one, a pause, other packet sizes, and a change of algorithm in mid-flow.

As root.  Whoever listens to the algorithm's hooks has seen all of them then.
"""

from __future__ import annotations

import array
import fcntl
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

MEGABYTE = b"x" * (1 << 20)


def run(command: str) -> None:
    subprocess.run(command.split(), check=True)


def path(what: str) -> None:
    """What the packets of both directions meet from now on.  They come one by one, or a slow
    machine would have one acknowledgment of many."""
    print(f"{time.monotonic():.1f} s: {what}", flush=True)
    run(f"tc qdisc replace dev lo root netem limit 400 rate 100mbit {what}")


def choose(sock: socket.socket, algorithm: str) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())


def wait_empty(sock: socket.socket) -> None:
    """Until all that was sent is acknowledged."""
    left = array.array("i", [1])
    while left[0]:
        fcntl.ioctl(sock, termios.TIOCOUTQ, left)
        time.sleep(0.002)


def retransmitted(sock: socket.socket) -> int:
    """tcpi_total_retrans"""
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return int(struct.unpack_from("I", info, 100)[0])


def connected() -> socket.socket:
    """A connection to somebody who reads all."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        peer, _ = server.accept()

    def read() -> None:
        with peer:
            while peer.recv(1 << 20):
                pass

    threading.Thread(target=read, daemon=True).start()
    return client


def eventful(algorithm: str, megabytes: int) -> None:
    """One connection from its beginning on."""
    path("delay 5ms")
    with connected() as sock:
        choose(sock, algorithm)
        for what in ("delay 5ms", "delay 5ms loss 1%", "delay 5ms 3ms", "delay 5ms"):
            path(what)
            for _ in range(megabytes):
                sock.sendall(MEGABYTE)
        # Nothing comes through until it has been sent again: a timeout.
        path("delay 5ms loss 100%")
        before = retransmitted(sock)
        sock.sendall(MEGABYTE[: 1 << 16])
        while retransmitted(sock) < before + 2:
            time.sleep(0.01)
        path("delay 5ms")
        sock.sendall(MEGABYTE)
        wait_empty(sock)
        # All of it comes, late: a timeout that is undone.
        sock.sendall(MEGABYTE[: 1 << 17])
        wait_empty(sock)
        path("delay 600ms")
        sock.sendall(MEGABYTE[: 1 << 17])
        wait_empty(sock)
        path("delay 5ms")
        sock.sendall(MEGABYTE)
        wait_empty(sock)
        # Longer than a timeout: the window begins again.
        time.sleep(1.5)
        sock.sendall(MEGABYTE)
        for mtu in (1200, 9000, 1500):
            run(f"ip link set lo mtu {mtu}")
            sock.sendall(MEGABYTE)
        choose(sock, "cubic")
        sock.sendall(MEGABYTE)
        choose(sock, algorithm)
        path("delay 5ms loss 1%")
        sock.sendall(MEGABYTE)
        wait_empty(sock)


def main(algorithm: str, megabytes: str = "42") -> None:
    run("ip link set lo mtu 1500 up")
    run("ethtool -K lo tso off gso off gro off")
    eventful(algorithm, int(megabytes))


if __name__ == "__main__":
    main(*sys.argv[1:])
