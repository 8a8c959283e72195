# SPDX-License-Identifier: GPL-2.0
"""In the lab's guest: what a user without privileges gets who wants more than his share.

    greedy.py receive BYTES
    greedy.py send WAY

`receive` counts what arrives at port 6000, a line of seconds and bytes for each half second,
in the file BYTES.  `send` sends there for ever, by composite, and first tries whatever could
raise its share: a line for each, what and the errno.  WAY is `plain`, or `switch`: away
from composite and back every second.
"""

from __future__ import annotations

import select
import socket
import sys
import time
from pathlib import Path

PARAMETERS = Path("/sys/module/tcp_composite/parameters")
SO_SNDBUFFORCE = 32
SO_MAX_PACING_RATE = 47


def receive(out: Path) -> None:
    with socket.create_server(("10.0.0.2", 6000)) as server, out.open("w", buffering=1) as log:
        s, _ = server.accept()
        got, due = 0, 0.0
        while n := s.recv_into(bytearray(1 << 16)):
            got += n
            if time.monotonic() >= due:
                due = time.monotonic() + 0.5
                log.write(f"{time.monotonic()} {got}\n")


def choose(s: socket.socket, name: str) -> None:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())


def attempts(s: socket.socket) -> list[str]:
    said = []

    def attempt(what: str, error: int) -> None:
        said.append(f"{what} {error}")

    for name in ("composite-16", "composite-64", "sabul"):
        try:
            choose(s, name)
            attempt(name, 0)
        except OSError as error:
            attempt(name, error.errno or -1)
    for file in sorted(PARAMETERS.iterdir()):
        try:
            file.write_text("1")
            attempt(file.name, 0)
        except OSError as error:
            attempt(file.name, error.errno or -1)
    try:
        s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 28)
        attempt("SO_SNDBUFFORCE", 0)
    except OSError as error:
        attempt("SO_SNDBUFFORCE", error.errno or -1)
    return said


def send(way: str) -> None:
    s = socket.socket()
    said = attempts(s)
    choose(s, "composite")
    s.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, b"\xff" * 8)
    print(*said, sep="\n", flush=True)
    s.connect(("10.0.0.2", 6000))
    s.setblocking(False)
    block = bytes(1 << 16)
    due = time.monotonic() + 1
    while True:
        select.select([], [s], [], max(0.0, due - time.monotonic()))
        try:
            s.send(block)
        except BlockingIOError:
            pass
        if time.monotonic() >= due:
            due += 1
            if way == "switch":
                choose(s, "reno")
                choose(s, "composite")


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(Path(sys.argv[2]))
    else:
        send(sys.argv[2])
