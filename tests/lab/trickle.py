# SPDX-License-Identifier: GPL-2.0
"""A connection that has the path, then for three seconds sends a little each 100 ms, and then has
much to send again: trickle.py send ALGORITHM prints how many seconds that takes, of 10 MB;
trickle.py receive is its other end."""

import socket
import sys
import time

RECEIVER = ("10.0.0.2", 5001)


def receive() -> None:
    """Take messages, each of which begins with its size, and answer each with a byte."""
    with socket.create_server(("", RECEIVER[1])) as server:
        other, _ = server.accept()
        while size := other.recv(8, socket.MSG_WAITALL):
            left = int.from_bytes(size, "big")
            while left:
                left -= len(other.recv(min(left, 1 << 16)))
            other.send(b"!")


def send(algorithm: str) -> None:
    """Print how long the last message took."""
    with socket.socket() as own:
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        own.connect(RECEIVER)
        for size, pause in ((60_000_000, 0.0), *[(100, 0.1)] * 30, (10_000_000, 0.0)):
            began = time.monotonic()
            own.sendall(size.to_bytes(8, "big") + bytes(size))
            own.recv(1)
            took = time.monotonic() - began
            time.sleep(pause)
        print(took)


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive()
    else:
        send(sys.argv[2])
