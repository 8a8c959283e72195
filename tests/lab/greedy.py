# SPDX-License-Identifier: GPL-2.0
"""In the lab's guest: what a user without privileges gets who wants more than his share.

    greedy.py receive BYTES WAY
    greedy.py send ALGORITHM WAY CONNECTIONS

`receive` counts what arrives at port 6000, a line of seconds and bytes for each half second,
in the file BYTES.  `send` sends there for ever, by ALGORITHM, and first tries whatever could
raise its share: a line for each, what and the errno; "turns" is how often it left the
algorithm and came back.  WAY is what it does to its sockets:

    plain       nothing more
    switch      away from the algorithm and back, each second
    storm       the same 200 times a second
    loss        the same whenever something was sent again: what the algorithm knew is gone
    tired       the same 100 ms after that: the loss is over, and the answer to it
    small       packets a third as large
    pace        a low SO_MAX_PACING_RATE and none in turns, each second
    fresh       a new connection in the place of one that has run for two seconds
    seldom      its receiver reads when a megabyte is there, and not each 5 ms
"""

from __future__ import annotations

import select
import socket
import struct
import sys
import time
from pathlib import Path

ADDRESS = ("10.0.0.2", 6000)
SO_SNDBUFFORCE = 32
SO_MAX_PACING_RATE = 47
UNLIMITED = (1 << 64) - 1
BLOCK = bytes(1 << 20)
TICK = 0.005  # seconds, an eighth of the round trip without a queue


def receive(out: Path, way: str) -> None:
    with socket.create_server(ADDRESS, backlog=64) as server, out.open("w", buffering=1) as log:
        server.setblocking(False)
        peers: list[socket.socket] = []
        room = bytearray(1 << 20)
        poll = select.poll()
        got = turn = 0
        while True:
            time.sleep(TICK)
            try:
                peers.append(server.accept()[0])
                peers[-1].setblocking(False)
                poll.register(peers[-1], select.POLLIN)
                # Or acknowledgments and the window would wait for the next turn.
                peers[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, len(room))
            except BlockingIOError:
                pass
            full = {fd for fd, _ in poll.poll(0)} if way == "seldom" else set()
            for s in peers:
                if way == "seldom" and s.fileno() not in full:
                    continue
                try:
                    # What is dropped and not copied costs no time.
                    got += s.recv_into(room, 0, socket.MSG_TRUNC)
                except BlockingIOError:
                    pass
            turn += 1
            if turn % 100 == 0:
                log.write(f"{time.monotonic()} {got}\n")


def choose(s: socket.socket, name: str) -> None:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())


def pace(s: socket.socket, rate: int) -> None:
    s.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("=Q", rate))


def resent(s: socket.socket) -> int:
    """Packets sent again: struct tcp_info's tcpi_total_retrans."""
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return int(struct.unpack_from("=I", info, 100)[0])


def attempts(s: socket.socket, algorithm: str) -> list[str]:
    """What nobody may who is no administrator."""
    said = []

    def attempt(what: str, error: int) -> None:
        said.append(f"{what} {error}")

    for name in ("composite-16", "composite-64", "scalable"):
        try:
            choose(s, name)
            attempt(name, 0)
        except OSError as error:
            attempt(name, error.errno or -1)
    for file in sorted(Path(f"/sys/module/tcp_{algorithm}/parameters").glob("*")):
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


class Sender:
    def __init__(self, algorithm: str, way: str) -> None:
        self.algorithm, self.way = algorithm, way
        self.turns = 0
        self.connect()

    def connect(self) -> None:
        self.socket = socket.socket()
        choose(self.socket, self.algorithm)
        if self.way == "small":
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 500)
        pace(self.socket, UNLIMITED)
        self.socket.connect(ADDRESS)
        self.socket.setblocking(False)
        self.known = 0
        self.due = time.monotonic() + 1

    def again(self) -> None:
        """Another algorithm that he may choose, and back."""
        choose(self.socket, "reno" if self.turns % 2 else "cubic")
        choose(self.socket, self.algorithm)
        self.turns += 1
        print("turns", self.turns, flush=True)

    def turn(self, now: float) -> None:
        try:
            self.socket.send(BLOCK)
        except BlockingIOError:
            pass
        if self.way == "storm":
            self.again()
        elif self.way in ("loss", "tired"):
            if self.way == "tired" and now >= self.due:
                self.due = float("inf")
                self.again()
            lost = resent(self.socket)
            if lost > self.known:
                self.known = lost
                if self.way == "loss":
                    self.again()
                else:
                    self.due = now + 0.1
        elif now >= self.due:
            self.turns += 1
            self.due += 1
            if self.way == "switch":
                self.again()
            elif self.way == "pace":
                pace(self.socket, UNLIMITED if self.turns % 2 else 300_000)
            elif self.way == "fresh" and self.turns % 2 == 0:
                self.socket.close()
                self.connect()


def send(algorithm: str, way: str, connections: int) -> None:
    with socket.socket() as s:
        print(*attempts(s, algorithm), sep="\n", flush=True)
    senders = [Sender(algorithm, way) for _ in range(connections)]
    while True:
        time.sleep(TICK)
        for sender in senders:
            sender.turn(time.monotonic())


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(Path(sys.argv[2]), sys.argv[3])
    else:
        send(sys.argv[2], sys.argv[3], int(sys.argv[4]))
