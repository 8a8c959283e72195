# SPDX-License-Identifier: GPL-2.0
"""The real iperf3 as a scenario's traffic: the commands, and what it said as the samples that
the lab's own generator would have taken."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat.core import process
from longfat.core.errors import LabError

UNSET = 2**31 - 1  # ssthresh, which iperf3 does not tell


@dataclass(frozen=True)
class Connection:
    """One bulk flow's connection: a client in a namespace, and a server for it alone."""

    ident: int
    namespace: str
    port: int
    cc: str
    start: float  # seconds
    seconds: int
    interval: float  # seconds from sample to sample


def installed() -> str:
    """The version of this system's own, as its JSON has it; none if there is none."""
    try:
        said = process.call(["iperf3", "--version"])
    except OSError:
        return ""
    return " ".join(said.stdout.split()[:2])


def script(receiver: str, connections: list[Connection], *, text: bool = False) -> str:
    """A shell script: a server for each connection in the namespace `receiver`, the clients when
    all of them listen, and lfgen, which samples the queue.  server-ID and client-ID are what they
    say, as JSON unless as `text`.  The first that fails ends it; samples say why."""
    how = "--forceflush" if text else "--json"
    out = [
        # It makes a file with a random name: in virtual kernels, whose random numbers are the same,
        # the same name, and /tmp is the one that all of them see.
        "export TMPDIR=/run",
        # With --json it may fail and exit with 0.
        'good() { ! grep -q \'"error"\\|iperf3: error\' "$1"; }',
        'fail() { echo "x iperf3: $(grep -h error "$@" | head -n 1)" >>samples; exit 1; }',
        f'listens() {{ ip netns exec {receiver} ss -Hltn "sport = :$1" | grep -q .; }}',
    ]
    for one in connections:
        server = f"server-{one.ident}"
        out += [
            f"ip netns exec {receiver} iperf3 --server --one-off --port {one.port} "
            f"--interval {one.interval:g} {how} >{server} 2>{server}.err &",
            f"until listens {one.port}; do "
            f"kill -0 $! || fail {server} {server}.err; sleep 0.01; done",
        ]
    out += ["./bin/lfgen traffic >>samples 2>&1 &", "sampling=$!"]
    # It begins at a full second, and says so.
    out += ['until [ -s progress ]; do kill -0 "$sampling" || exit 1; sleep 0.001; done']
    for one in connections:
        client = f"client-{one.ident}"
        out += [
            f"(sleep {one.start:.6f}; ip netns exec {one.namespace} iperf3 "
            f"--client 10.0.0.2 --port {one.port} --congestion {one.cc} --time {one.seconds} "
            f"--interval {one.interval:g} {how} >{client} 2>{client}.err && good {client}) &",
            f"client_{one.ident}=$!",
        ]
    for one in connections:
        client = f"client-{one.ident}"
        out.append(
            f'wait "$client_{one.ident}" || {{ kill "$sampling"; fail {client} {client}.err; }}'
        )
    # What it has to say of a failure is in the samples.
    out += ['wait "$sampling" || exit 1', "wait"]
    return "\n".join(out) + "\n"


def said(text: str) -> Any:
    """Its JSON; LabError with its own words if it failed."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise LabError(f"iperf3: what it said is no JSON: {text[:500]}") from error
    if "error" in found:
        raise LabError(f"iperf3: {found['error']}")
    return found


@dataclass(frozen=True)
class Said:
    """What is known of a connection afterwards."""

    version: str
    cc: str
    # As `result.read_samples` has them: the window in packets, the smoothed RTT, what was sent
    # again, what the server received; what iperf3 does not tell is unset or 0.
    rows: list[list[float]]


def read(run: Path, one: Connection) -> Said:
    """What a connection's client and server said of each interval; LabError if they failed."""
    client, server = (
        said((run / f"{who}-{one.ident}").read_text()) for who in ("client", "server")
    )
    rows: list[list[float]] = [[one.start, 0, UNSET, *[0] * 8]]
    again = received = 0
    try:
        mss = client["start"]["tcp_mss_default"]
        intervals = zip(client["intervals"], server["intervals"], strict=False)
        for number, (sent, got) in enumerate(intervals, 1):
            (stream,) = sent["streams"]
            again += stream["retransmits"]
            received += got["sum"]["bytes"]
            # An interval ends a few microseconds late.
            t, window = one.start + number * one.interval, stream["snd_cwnd"] // mss
            row = [t, window, UNSET, stream["rtt"], 0, again, received, 0, 0, 0]
            rows.append([*row, received // mss])
        return Said(client["start"]["version"], client["end"]["sender_tcp_congestion"], rows)
    except (KeyError, TypeError, ValueError) as error:
        raise LabError(f"iperf3: its JSON is not that of 3.12 or newer: {error!r}") from error
