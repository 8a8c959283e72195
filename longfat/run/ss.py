# SPDX-License-Identifier: GPL-2.0
"""What ss(8) of iproute2 knows of TCP connections: how it is asked, and what it answers."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, takewhile

from longfat.core.errors import LabError

_RATES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(?:ms)?")
_RATE = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)bps", re.I)


@dataclass(frozen=True)
class Connection:
    """A line of ss."""

    local: str  # address:port
    peer: str
    cc: str
    # By ss's own names: packets, bytes and milliseconds as they are printed, rates in bit/s.  Of
    # "retrans:1/17" the second, which is all of them; of "rtt:120.5/0.25" the first.
    values: dict[str, float]
    app_limited: bool

    @property
    def port(self) -> int:
        """The local one."""
        return int(self.local.rpartition(":")[2])


def _connection(line: str) -> Connection | None:
    words = line.split()
    if len(words) < 5:
        return None
    local, peer, *rest = words[3:]
    # Flags ("ts", "sack") come first, then the algorithm, then "key:value" pairs.
    names = list(takewhile(lambda word: ":" not in word, rest))
    values = {}
    for key, value in (word.split(":", 1) for word in rest if ":" in word):
        # Behind a number may be its share, "16ms(1.0%)".
        number = value.split("/")[-1 if key == "retrans" else 0].partition("(")[0]
        if found := _NUMBER.fullmatch(number):
            values[key] = float(found[1])
    for key, value in pairwise(rest):
        # A second rate is the most that the program allows.
        if (found := _RATE.fullmatch(value.partition("/")[0])) and ":" not in key:
            values[key] = float(found[1]) * _RATES[found[2].upper()]
    if not names or not values:
        return None
    return Connection(local, peer, names[-1], values, "app_limited" in rest)


def parse(text: str) -> list[Connection]:
    """The connections of what `ss -tinHO` printed, or `ss -tinH`, which has a second line for
    each; without those that ss knows no values of."""
    lines = re.sub(r"\n[ \t]+", " ", text).splitlines()
    return [found for line in lines if (found := _connection(line))]


def to(address: str, first: int, last: int) -> list[str]:
    """The filter for connections to these ports there."""
    host = f"[{address}]" if ":" in address else address
    return ["dst", host, "and", "dport", ">=", f":{first}", "and", "dport", "<=", f":{last}"]


def ask(expression: list[str]) -> Callable[[], str]:
    """What asks ss for the connections that match the filter `expression` ("dport = 5201")."""
    if not shutil.which("ss"):
        raise LabError("ss is not installed: apt-get install iproute2")

    def call() -> str:
        done = subprocess.run(["ss", "-tinHO", *expression], capture_output=True, text=True)
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["no reason given"]
            raise LabError(
                f"ss does not take the filter {' '.join(expression)!r}: {said[0]} "
                '(see ss(8); for example: "dst 192.0.2.1", "sport = :443")'
            )
        return done.stdout

    return call
