# SPDX-License-Identifier: GPL-2.0
"""A connection that asks for a rate by a socket option: rated.py ask ALGORITHM OPTION RATE BYTES;
and its other end, which prints the rate that the second half had: rated.py take BYTES."""

import socket
import sys
import time

# Level and number: of tests/yours/own-option.c, and the kernel's own.
OPTIONS = {"OWN_RATE": (socket.IPPROTO_TCP, 23301), "SO_MAX_PACING_RATE": (socket.SOL_SOCKET, 47)}
RECEIVER = ("10.0.0.2", 5001)


def take(much: int) -> None:
    """Print how many bytes a second come."""
    with socket.create_server(("", RECEIVER[1])) as server:
        other, _ = server.accept()
        count = 0
        while count < much // 2:
            count += len(other.recv(1 << 16))
        begin, half = time.monotonic(), count
        while part := other.recv(1 << 16):
            count += len(part)
        print((count - half) / (time.monotonic() - begin))


def ask(algorithm: str, option: str, rate: int, much: int) -> None:
    """Send as fast as the connection goes when so many bytes a second are asked for."""
    with socket.socket() as own:
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        own.connect(RECEIVER)
        own.setsockopt(*OPTIONS[option], rate.to_bytes(8, sys.byteorder))
        own.sendall(bytes(much))


if __name__ == "__main__":
    if sys.argv[1] == "take":
        take(int(sys.argv[2]))
    else:
        ask(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
