# SPDX-License-Identifier: GPL-2.0
"""One run over a path: an iperf3 to the server at the far end, and what ss tells of its connections
meanwhile."""

from __future__ import annotations

import math
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from longfat.core import process
from longfat.core.errors import LabError
from longfat.run import iperf3, ss
from longfat.run.result import percentile

SAMPLE = 0.1  # seconds from sample to sample
LATE = 0.3  # seconds that ss may take for one, at least
SHARE = 1 / 30  # or this of a run, whose rate is then right to a twentieth and mostly far better
START = 1 / 3  # of a run of seconds, the part before its figures begin: its start has to be over
SPAN = 0.8  # of the time after that, which samples have to span
WORDS = 10_000  # bytes; what controls a test says less before there is data
CONNECT = 10  # seconds in which the server has to answer
STALL = 20  # seconds without a byte after which a run is given up; above CONNECT


class Failed(LabError):
    """A run that failed for what may be over when it is tried again.  What it moved counts."""

    def __init__(self, text: str, moved: int = 0) -> None:
        super().__init__(text)
        self.moved = moved  # bytes


class Late(Failed):
    """ss was not there in time, which says nothing against the server."""


class Closed(Failed):
    """The server ended it before there was data, as it does where it may not choose the
    algorithm."""


class Capped(LabError):
    """It was ended at the limit of bytes."""


@dataclass(frozen=True)
class Contender:
    """What is compared: an algorithm, on so many connections at once."""

    cc: str
    parallel: int = 1

    @property
    def label(self) -> str:
        return self.cc if self.parallel == 1 else f"{self.cc} x{self.parallel}"


@dataclass(frozen=True)
class Path:
    """Where the far end is, and what is sent in each run."""

    host: str  # as it was given
    address: str
    port: int = 5201
    seconds: int = 15
    size: int = 0  # bytes, instead of seconds
    reverse: bool = False

    @property
    def begin(self) -> float:
        """Seconds of a run before its figures begin; of a number of bytes all count."""
        return 0.0 if self.size else self.seconds * START

    @property
    def where(self) -> str:
        return f"{self.host}, port {self.port}"


@dataclass(frozen=True)
class Run:
    """What is known of a run afterwards."""

    contender: Contender
    said: Any  # iperf3's JSON
    # Of each connection of data: (seconds, what ss said).
    samples: list[list[tuple[float, ss.Connection]]]


def command(path: Path, contender: Contender) -> list[str]:
    """The iperf3 of a run."""
    much = ["--bytes", str(path.size)] if path.size else ["--time", str(path.seconds)]
    return [
        *("iperf3", "--json", "--client", path.address, "--port", str(path.port)),
        *("--connect-timeout", str(CONNECT * 1000), "--congestion", contender.cc),
        *("--parallel", str(contender.parallel), *much),
        *(["--reverse"] if path.reverse else []),
    ]


def need() -> None:
    """LabError if this system's iperf3 is not there, or too old."""
    if not iperf3.installed():
        raise LabError("iperf3 is not installed: apt-get install iperf3")
    known = process.call(["iperf3", "--help"]).stdout
    for option in ("--connect-timeout", "--congestion"):
        if option not in known:
            raise LabError(
                f"this iperf3 is too old: it has no {option}; install 3.12, of which this was tried"
            )


def explain(error: str, path: Path, cc: str, moved: int = 0) -> LabError:
    """What iperf3 said of its failure after so many bytes, as what is to be done."""
    found = _sentence(error, path, cc, begun=moved >= WORDS)
    if isinstance(found, Failed):
        found.moved = moved
    return found


def _sentence(error: str, path: Path, cc: str, *, begun: bool) -> LabError:
    start = f"`iperf3 -s -p {path.port}`"
    if "Connection refused" in error:
        return Failed(f"{path.where}: nothing listens there: start {start} at the far end")
    if "timed out" in error or "in progress" in error:
        return Failed(
            f"{path.where}: no answer: the host is down, or a firewall drops what comes to TCP "
            f"port {path.port}: open it, or give the port of a server elsewhere by --port"
        )
    if "unreachable" in error or "No route to host" in error:
        return Failed(f"{path.where}: there is no way to it: {error.rpartition(': ')[2]}")
    if "busy running a test" in error:
        return Failed(
            f"{path.where}: the server is busy with another test, and takes one at a time: "
            "wait, or start a second one there on another port, and give that by --port"
        )
    if "TCP_CONGESTION" in error:
        return LabError(
            f"-C {cc}: one of the two ends has no such congestion control or does not allow it: "
            "see net.ipv4.tcp_allowed_congestion_control"
        )
    if "control socket has closed" in error and not begun:
        return Closed(
            f"{path.where}: the server ended it before there was data: it was stopped, or its user "
            f"may not choose {cc} there: see `sysctl net.ipv4.tcp_allowed_congestion_control` at "
            "the far end, or run the server as root"
        )
    if "control socket has closed" in error or "unable to" in error or "terminated" in error:
        return Failed(f"{path.where}: the server, or the path to it, went away: {error}")
    return LabError(f"{path.where}: iperf3 failed: {error}")


def _moved(connections: list[ss.Connection]) -> int:
    return int(
        sum(
            one.values.get("bytes_acked", 0) + one.values.get("bytes_received", 0)
            for one in connections
        )
    )


def enough(path: Path, times: list[float], late: float) -> bool:
    """Whether samples at these seconds tell of the measured time.  At either end of it one may be
    missing that came just in time."""
    if path.size:  # of which there may be but one
        return bool(times)
    begin, end = path.begin, path.seconds - SAMPLE
    inside = [t for t in times if begin <= t <= end]
    needed = min(SPAN * (end - begin), end - begin - 2 * late)
    return len(inside) > 1 and inside[-1] - inside[0] >= needed


def _too_late(path: Path, took: list[float]) -> str:
    """That samples are missing, of which each took so many seconds, and what helps."""
    text = f"{path.where}: ss was not there in time: this machine is too busy to measure"
    if path.size or not took:
        return f"{text}, unless runs are longer"
    often = percentile(took, 90) or 0.0
    longer = max(path.seconds + 1, math.ceil(often / SHARE))
    return f"{text}, unless runs are longer: ss takes {often:.2g} s, as --seconds {longer} allows"


def run(path: Path, contender: Contender, *, most: float) -> Run:
    """Carry it out.  Failed, Capped after `most` bytes, or LabError if that cannot be."""
    ask = ss.ask(ss.to(path.address, path.port, path.port))
    seen: list[tuple[float, list[ss.Connection]]] = []
    took: list[float] = []
    # Of an earlier run, which the kernel has not done with.
    before = {one.local for one in ss.parse(ask())}
    late = LATE if path.size else max(LATE, SHARE * path.seconds)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as wrong:
        # It tells the server that it ends, which then takes the next test.
        with process.started(
            command(path, contender), grace=2, stdin=subprocess.DEVNULL, stdout=out, stderr=wrong
        ) as program:
            moved_at = time.monotonic()
            moved = 0
            while program.poll() is None:
                now = time.monotonic()
                connections = [one for one in ss.parse(ask()) if one.local not in before]
                # When ss looked is known to within this; on a busy machine too badly to count.
                took.append(time.monotonic() - now)
                if connections and took[-1] < late:
                    seen.append((now + took[-1] / 2, connections))
                if (total := _moved(connections)) > moved:
                    moved, moved_at = total, now
                if total > most:
                    raise Capped("all is used")
                if now - moved_at > STALL:
                    raise Failed(
                        f"{path.where}: no byte has passed for {STALL} s: the path is down, or "
                        "what listens there is no iperf3",
                        moved,
                    )
                time.sleep(max(0.0, SAMPLE - (time.monotonic() - now)))
        out.seek(0)
        wrong.seek(0)
        text = (out.read() or wrong.read()).decode(errors="replace")
    try:
        said = iperf3.said(text)
    except LabError as error:
        why = str(error).removeprefix("iperf3: ")
        raise explain(why, path, contender.cc, moved) from error
    try:
        # The connection that controls the test is none of them.
        ports = [one["local_port"] for one in said["start"]["connected"]]
    except (KeyError, TypeError) as error:
        raise LabError(f"iperf3's JSON names no connection: {error!r}") from error
    first = min((t for t, all in seen for one in all if one.port in ports), default=0.0)
    samples = [
        [(t - first, one) for t, all in seen for one in all if one.port == port] for port in ports
    ]
    if not all(enough(path, [t for t, _ in rows], late) for rows in samples):
        raise Late(
            _too_late(path, took),
            max(moved, int(said["end"].get("sum_sent", {}).get("bytes", 0))),
        )
    used = said["end"].get("sender_tcp_congestion", contender.cc)
    if used != contender.cc:
        raise LabError(f"asked for {contender.cc}, iperf3 used {used}")
    return Run(contender, said, samples)
