# SPDX-License-Identifier: GPL-2.0
"""A connection of tests/yours/own-option.c that asks for a rate by the option: rated.py ask RATE;
and its other end, which prints the rate that it had: rated.py take."""

import socket
import sys
import time

OWN_RATE = 23301
RECEIVER = ("10.0.0.2", 5001)
MUCH = 1_000_000


def take() -> None:
    """Print how many bytes a second come."""
    with socket.create_server(("", RECEIVER[1])) as server:
        other, _ = server.accept()
        begin, count = time.monotonic(), 0
        while part := other.recv(1 << 16):
            count += len(part)
        print(count / (time.monotonic() - begin))


def ask(rate: int) -> None:
    """Send as fast as the connection goes when so many bytes a second are asked for."""
    with socket.socket() as own:
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"own")
        own.connect(RECEIVER)
        own.setsockopt(socket.IPPROTO_TCP, OWN_RATE, rate.to_bytes(8, sys.byteorder))
        own.sendall(bytes(MUCH))


if __name__ == "__main__":
    if sys.argv[1] == "take":
        take()
    else:
        ask(int(sys.argv[2]))
