#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Two hosts for a command, and a path between them that needs nothing of the kernel's.

    tests/two_hosts.py [--rate 50mbit] [--rtt 40ms] [--queue 20ms] [--loss 0.1%] COMMAND ...
    tests/two_hosts.py --while FILE [--then-rtt 90ms] [--then-loss 100%] COMMAND ...

The command runs in a network namespace of its own, at 10.9.0.1.  The far one is 10.9.0.2 and has an
iperf3 server.  Each is at one end of a tun device; this program carries the packets from one to the
other, with a rate, a round-trip time, a queue that drops at its end and random loss, in both
directions but the loss.  While FILE is there, it has another round-trip time, and what is lost is
lost in both directions.  All of it is gone when the command has ended.  Needs root, or user
namespaces.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from longfat.core import units

NEAR, FAR = "10.9.0.1", "10.9.0.2"
TUNSETIFF = 0x400454CA  # <linux/if_tun.h>
IFF_TUN, IFF_NO_PI = 1, 0x1000
INSIDE = "LONGFAT_TWO_HOSTS"
FAR_IS = "LONGFAT_FAR"  # for the command: a process on the far host


@dataclass
class Way:
    """One direction: what came in at `into` comes out of `out`."""

    into: int
    out: int
    rate: int  # bit/s
    delay: float  # seconds
    queue: float  # seconds
    loss: float
    free: float = 0.0  # when the link has sent all that it has
    held: deque[tuple[float, bytes]] = field(default_factory=deque)

    def take(self, packet: bytes, now: float, chance: random.Random) -> None:
        self.free = max(self.free, now)
        if self.free - now > self.queue:
            return
        self.free += len(packet) * 8 / self.rate
        if chance.random() >= self.loss:
            self.held.append((self.free + self.delay, packet))

    def give(self, now: float) -> None:
        while self.held and self.held[0][0] <= now:
            _, packet = self.held.popleft()
            try:
                os.write(self.out, packet)
            except OSError:  # the far end is going down
                pass


def change(ways: list[Way], file: Path, delay: float, loss: float) -> None:
    """The path is otherwise while this file is there, for ever."""
    before = [(way.delay, way.loss) for way in ways]
    while True:
        there = file.exists()
        for way, (old_delay, old_loss) in zip(ways, before, strict=True):
            way.delay, way.loss = (delay, loss) if there else (old_delay, old_loss)
        time.sleep(0.05)


def carry(ways: list[Way]) -> None:
    """The path, for ever."""
    chance = random.Random(1)
    by = {way.into: way for way in ways}
    while True:
        due = min((way.held[0][0] for way in ways if way.held), default=None)
        wait = None if due is None else max(0.0, due - time.monotonic())
        ready, _, _ = select.select(list(by), [], [], wait)
        for into in ready:
            while True:
                try:
                    packet = os.read(into, 65536)
                except BlockingIOError:
                    break
                by[into].take(packet, time.monotonic(), chance)
        for way in ways:
            way.give(time.monotonic())


def tun(name: str) -> int:
    """A tun device in this namespace; its packets are read and written here."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    request = struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI)
    fcntl.ioctl(descriptor, TUNSETIFF, request)
    return descriptor


def run(*command: str) -> None:
    subprocess.run(command, check=True)


def inside(options: argparse.Namespace) -> int:
    """The two hosts, in a namespace that has nothing yet."""
    run("ip", "link", "set", "lo", "up")
    here = os.readlink("/proc/self/ns/net")
    far = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    # It has its own a moment after it was started.
    while os.readlink(f"/proc/{far.pid}/ns/net") == here:
        time.sleep(0.01)
    there = ["nsenter", "--target", str(far.pid), "--net"]
    ends = tun("near"), tun("far")
    # A device keeps who reads it when it goes to another namespace.
    run("ip", "link", "set", "far", "netns", str(far.pid))
    for name, where, address in (("near", [], NEAR), ("far", there, FAR)):
        run(*where, "ip", "address", "add", f"{address}/24", "dev", name)
        run(*where, "ip", "link", "set", name, "up")
    run(*there, "ip", "link", "set", "lo", "up")
    rate, delay = units.rate(options.rate), units.seconds(options.rtt) / 2
    queue, loss = units.seconds(options.queue), units.probability(options.loss)
    there_and_back = [
        Way(ends[0], ends[1], rate, delay, queue, loss),
        Way(ends[1], ends[0], rate, delay, queue, 0.0),
    ]
    threading.Thread(target=carry, args=(there_and_back,), daemon=True).start()
    if options.file:
        then = units.seconds(options.then_rtt) / 2, units.probability(options.then_loss)
        words = (there_and_back, Path(options.file), *then)
        threading.Thread(target=change, args=words, daemon=True).start()
    server = [*there, "iperf3", "--server"]
    subprocess.Popen(server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    listening = [*there, "ss", "-Hltn", "sport = :5201"]
    while not subprocess.run(listening, capture_output=True).stdout:
        time.sleep(0.01)
    return subprocess.run(options.command, env={**os.environ, FAR_IS: str(far.pid)}).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description="Two hosts for a command.")
    for name, default in (("rate", "50mbit"), ("rtt", "40ms"), ("queue", "20ms"), ("loss", "0%")):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--while", dest="file", default="")
    for name, default in (("then-rtt", "40ms"), ("then-loss", "0%")):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if os.environ.pop(INSIDE, ""):
        return inside(options)
    # Without the last, /proc names the processes of the namespace outside.
    spaces = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", *user, *spaces, sys.executable, *sys.argv]
    return subprocess.run(command, env=os.environ | {INSIDE: "1"}).returncode


if __name__ == "__main__":
    sys.exit(main())
