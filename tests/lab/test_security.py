# SPDX-License-Identifier: GPL-2.0
"""No more than the documented share for someone without privileges (docs/security.md).

Composite is the one algorithm that has a number of shares; who may choose which algorithm is
in tests/stock.
"""

from __future__ import annotations

import errno
import shutil
import threading
from pathlib import Path

import pytest

from lab import plan, result, scenario
from lab.backends import Uml, fill

HERE = Path(__file__).parent
STREAMS = 8  # of plain composite

# The smallest path of docs/composite.md, beside 16 senders.  The second flow only has composite
# loaded, and a sender for the user to be on.
PATH = """
title = "test"
duration = "100s"
warmup = "15s"
[link]
rate = "10mbit"
buffer = "250p"
mtu = 552
[host]
timestamps = false
[[flow]]
cc = "reno"
rtt = "90ms"
count = 16
jitter = "2s"
[[flow]]
cc = "composite"
rtt = "90ms"
start = "99s"
"""

MAIN = """
sysctl -qw net.ipv4.tcp_allowed_congestion_control="reno cubic composite"
d="ip netns exec lf-d" s="ip netns exec lf-s1"
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
# On their input: a user may read nothing in this directory.
$d python3 - receive received <greedy.py >said.receive 2>&1 &
sleep 5 && $s $nobody python3 - send {way} <greedy.py >said 2>&1 &
./bin/lfgen traffic >samples 2>&1
"""


def share(uml: Uml, run: Path, way: str, seed: int) -> float:
    """The user's part of what arrives."""
    run.mkdir()
    file = run / "x.toml"
    file.write_text(PATH)
    (one,) = scenario.load(file)
    made = plan.make(one, seed, prefix="lf", seeded=True)
    shutil.copy(HERE / "greedy.py", run)
    fill(run, made, one, uml, main=MAIN.format(way=way))
    uml.execute(run, one, seed, timeout=240, cancel=threading.Event(), tick=lambda: None)
    data = result.make(one, seed, "uml", made, run)
    said = [line.split() for line in (run / "said").read_text().splitlines()]
    assert all(len(words) == 2 for words in said), said
    refused = {name: int(number) for name, number in said}
    assert refused.pop("sabul") == errno.ENOENT, "not loaded"
    for name in ("composite-16", "composite-64", "SO_SNDBUFFORCE"):
        assert refused.pop(name) == errno.EPERM
    assert {"streams", "pacing"} <= set(refused)
    assert set(refused.values()) == {errno.EACCES}
    lines = (run / "received").read_text().splitlines()
    rows = [tuple(map(float, line.split())) for line in lines]
    # It began at 5 s.
    inside = [row for row in rows if 10 <= row[0] - rows[0][0] <= 93]
    user = (inside[-1][1] - inside[0][1]) * 8 / (inside[-1][0] - inside[0][0])
    others = sum(flow["goodput_bps"] for flow in data["flows"] if flow["group"] == 0)
    return float(user / (user + others))


@pytest.mark.parametrize("way", ["plain", "switch"])
def test_a_user_has_the_share_of_the_algorithm(uml: Uml, tmp_path: Path, way: str) -> None:
    """Composite is allowed, its larger names are not: N shares, whatever the user does."""
    due, twice = (n / (n + 16) for n in (STREAMS, 2 * STREAMS))
    # Nearer to that of N connections than to that of the next name.
    assert due / 2 < share(uml, tmp_path / "run", way, 1) < (due + twice) / 2
