# SPDX-License-Identifier: GPL-2.0
"""The real iperf3 as a scenario's traffic: the commands, and what it said as the samples that
the lab's own generator would have taken."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import LabError

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


def script(receiver: str, connections: list[Connection], *, text: bool = False) -> str:
    """A shell script: a server for each connection in the namespace `receiver`, the clients when
    all of them listen, and lfgen, which samples the queue.  server-ID and client-ID are what they
    say, as JSON unless as `text`."""
    how = "--forceflush" if text else "--json"
    out = [
        'fail() { echo "x iperf3: $1" >>samples; exit 1; }',
        f'listens() {{ ip netns exec {receiver} ss -Hltn "sport = :$1" | grep -q .; }}',
    ]
    for one in connections:
        out.append(
            f"ip netns exec {receiver} iperf3 --server --one-off --port {one.port} "
            f"--interval {one.interval:g} {how} >server-{one.ident} 2>&1 &"
        )
        out.append(
            f"until listens {one.port}; do kill -0 $! || "
            f'fail "$(cat server-{one.ident})"; sleep 0.01; done'
        )
    out += ["./bin/lfgen traffic >samples 2>&1 &", "running=$!"]
    for one in connections:
        out.append(
            f"(sleep {one.start:.6f}; exec ip netns exec {one.namespace} iperf3 "
            f"--client 10.0.0.2 --port {one.port} --congestion {one.cc} --time {one.seconds} "
            f"--interval {one.interval:g} {how} >client-{one.ident} 2>&1) &"
        )
        out.append('running="$running $!"')
    names = " ".join(f"client-{one.ident}" for one in connections)
    out.append(f'for one in $running; do wait "$one" || fail "$(tail -n 3 {names})"; done')
    out.append("wait")
    return "\n".join(out) + "\n"


def _said(path: Path) -> Any:
    try:
        found = json.loads(path.read_text())
    except ValueError as error:
        raise LabError(f"iperf3: what it said is no JSON: {path.read_text()[:500]}") from error
    if "error" in found:
        raise LabError(f"iperf3: {found['error']}")
    return found


def rows(run: Path, one: Connection) -> tuple[str, list[list[float]]]:
    """The algorithm that a connection's client used, and a row for each of its intervals as
    `result.read_samples` has them: the window in packets, the smoothed RTT, what was sent again,
    and what the server received.  LabError if it failed."""
    client, server = (_said(run / f"{who}-{one.ident}") for who in ("client", "server"))
    mss = client["start"]["tcp_mss_default"]
    found: list[list[float]] = [[one.start, 0, UNSET, 0, 0, 0, 0, 0, 0, 0, 0]]
    again = received = 0
    for sent, got in zip(client["intervals"], server["intervals"], strict=False):
        (stream,) = sent["streams"]
        again += stream["retransmits"]
        received += got["sum"]["bytes"]
        window, arrived = stream["snd_cwnd"] // mss, received // mss
        found.append(
            [one.start + stream["end"], window, UNSET, stream["rtt"], 0, again, received, 0, 0, 0]
            + [arrived]
        )
    return client["end"]["sender_tcp_congestion"], found
