# SPDX-License-Identifier: GPL-2.0
"""iperf3 as traffic: what is asked of it, and what is read of what it said."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import One

from longfat.core.errors import LabError
from longfat.run import backends, iperf3, plan

TRAFFIC = 'traffic = "iperf3"'


@pytest.mark.parametrize(
    ("part", "line", "said"),
    [
        ("flow", 'bytes = "1MB"', "flow[0].bytes"),
        ("top", TRAFFIC + '\nsample = "50ms"', "100ms to 60s"),
        ("flow", 'socket_buffer = "1MB"', "flow[0].socket_buffer"),
        ("flow", 'on = "1s"\noff = "1s"', "flow[0].off"),
        ("duration", 'duration = "9500ms"', "whole seconds"),
        ("flow", 'start = "9500ms"', "whole seconds"),
        ("link", 'aqm = "red"\necn = true', "no udp, short, request, video, trace or ecn"),
        ("rest", '[[udp]]\nrtt = "1ms"\nrate = "1mbit"', "no udp"),
        ("rest", '[[short]]\nrtt = "1ms"\nper_second = 1.0\nmean_size = "1kB"', "no udp, short"),
    ],
)
def test_what_it_cannot(one: One, part: str, line: str, said: str) -> None:
    with pytest.raises(LabError) as caught:
        one(**({"top": TRAFFIC} | {part: line}))
    assert said in str(caught.value)


def test_a_client_and_a_server_for_each_connection(one: One) -> None:
    """On the ports that lfgen would take; what is left of its plan samples the queue."""
    scenario = one(top=TRAFFIC, flow='parallel = 2\nstart = "2s"')
    made = plan.make(scenario, 1, prefix="lf", virtual=False)
    ours = plan.make(one(flow='parallel = 2\nstart = "2s"'), 1, prefix="lf", virtual=False)
    assert made.setup == ours.setup and made.flows == ours.flows
    assert "tcp " not in made.traffic and "queue lf-r bottleneck" in made.traffic
    for port in (5001, 5002):
        assert f"--server --one-off --port {port} --interval 0.1 --json" in made.main
        assert f"--client 10.0.0.2 --port {port} --congestion {scenario.flow[0].cc}" in made.main
    seconds = round(scenario.duration - 2)
    assert made.main.count(f"--time {seconds} ") == 2 and made.main.count("sleep 2.0000") == 2
    assert made.main.count("./bin/lfgen traffic") == 1
    assert "--json" not in iperf3.script("lf-d", made.programs, text=True)


@pytest.mark.parametrize(
    ("server", "client", "lfgen", "said"),
    [
        ("sleep 0.1", "true", "true", ""),
        ("echo error: in use >&2; exit 1", "true", "true", "x iperf3: error: in use"),
        # As 3.12 does: JSON, and 0.
        (
            "sleep 9",
            """echo '{ "error": "refused" }'""",
            "sleep 9",
            'x iperf3: { "error": "refused" }',
        ),
        (
            "sleep 9",
            "echo iperf3: error - refused; exit 1",
            "sleep 9",
            "x iperf3: iperf3: error - refused",
        ),
        ("sleep 0.1", "true", "echo x no queue; exit 1", "x no queue"),
    ],
)
def test_whoever_fails_the_run_fails(
    tmp_path: Path, server: str, client: str, lfgen: str, said: str
) -> None:
    """And says why."""
    bin = tmp_path / "bin"
    bin.mkdir()
    programs = {
        # It listens when it has begun.
        "ip": 'shift 3; case $* in ss*) [ -e listens ] && echo yes;; *) exec "$@";; esac',
        "iperf3": f"case $1 in --server) {'' if 'exit' in server else 'touch listens;'} "
        f"{server};; *) {client};; esac",
        "lfgen": lfgen if "exit" in lfgen else f"echo 0 >progress; {lfgen}",
    }
    for name, text in programs.items():
        (bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (bin / name).chmod(0o755)
    connection = iperf3.Connection(0, "lf-s0", 5001, "reno", 0.0, 1, 1.0)
    done = subprocess.run(
        ["sh", "-c", iperf3.script("lf-d", [connection])],
        cwd=tmp_path,
        env={"PATH": f"{bin}:/usr/bin:/bin"},
        timeout=5,
    )
    assert done.returncode == (1 if said else 0)
    assert (tmp_path / "samples").read_text().strip() == said


def interval(end: float, sent: int, window: int) -> dict[str, Any]:
    stream = {"end": end, "retransmits": 2, "snd_cwnd": window, "rtt": 41000, "bytes": sent}
    return {"streams": [stream], "sum": {"bytes": sent}}


def said(path: Path, client: dict[str, Any], server: dict[str, Any]) -> Path:
    for who, what in (("client", client), ("server", server)):
        (path / f"{who}-3").write_text(json.dumps(what))
    return path


CONNECTION = iperf3.Connection(3, "lf-s0", 5004, "ltcp", 2.5, 2, 1.0)


def test_rows(tmp_path: Path) -> None:
    """What the server had, and the client's window in packets; times from the run's begin."""
    client = {
        "start": {"tcp_mss_default": 1000, "version": "iperf 3.12"},
        "intervals": [interval(1.00007, 9000, 7000), interval(2.00012, 8000, 5500)],
        "end": {"sender_tcp_congestion": "ltcp"},
    }
    server = {"intervals": [interval(1.0, 6000, 0), interval(2.0, 10000, 0), interval(2.1, 1, 0)]}
    found = iperf3.read(said(tmp_path, client, server), CONNECTION)
    assert (found.cc, found.version) == ("ltcp", "iperf 3.12")
    first, *rest = found.rows
    assert first[0] == 2.5 and not any(first[3:])
    assert [(row[0], row[1], row[3], row[5], row[6], row[10]) for row in rest] == [
        (3.5, 7, 41000, 2, 6000, 6),
        (4.5, 5, 41000, 4, 16000, 16),
    ]


def test_what_it_says_of_an_error(tmp_path: Path) -> None:
    (tmp_path / "client-3").write_text('{"error": "unable to connect"}')
    with pytest.raises(LabError, match="unable to connect"):
        iperf3.read(tmp_path, CONNECTION)
    (tmp_path / "client-3").write_text("Segmentation fault")
    with pytest.raises(LabError, match="no JSON: Segmentation fault"):
        iperf3.read(tmp_path, CONNECTION)
    said(tmp_path, {"start": {}}, {})
    with pytest.raises(LabError, match="not that of 3.12 or newer: KeyError"):
        iperf3.read(tmp_path, CONNECTION)


def test_what_measures_with_lfgen_refuses_it(one: One, tmp_path: Path) -> None:
    """It would carry out its own commands and no traffic."""
    scenario = one(top=TRAFFIC)
    made = plan.make(scenario, 1, prefix="lf", virtual=False)
    with pytest.raises(LabError, match="with the lab's traffic, not with iperf3"):
        backends.fill(tmp_path, made, scenario, backends.Uml(), main="true")
