# SPDX-License-Identifier: GPL-2.0
"""What a user without privileges gets beside three Reno senders, by greedy.py.

    scripts/longfat python tests/lab/share.py

measures the shares that docs/security.md has, by nothing but what an algorithm gives, and writes
docs/results/security-share.json.  About five minutes.
"""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

from longfat.build import modules
from longfat.run import plan, result, runner, scenario
from longfat.run.backends import Uml, fill

HERE = Path(__file__).parent
FILE = modules.ROOT / "tests/scenarios/security-share.toml"
KEPT = modules.ROOT / "docs/results/security-share.json"
SEEDS = (1, 2, 3, 4, 5)
FAST, SLOW = "50mbit", "5mbit"
OURS = [module.removeprefix("tcp_") for module in modules.sources()]
# Connections of the user, by algorithm and rate.  What has a(W) near 1 at FAST is held to four:
# one of them, as one of Reno's, has a fifth more or less from seed to seed, four have a fortieth.
# At SLOW a stream of composite has three packets, and SABUL's c is little of its interval.
CASES = {(cc, FAST): 4 for cc in ("reno", *OURS)} | {
    ("ltcp", FAST): 1,
    ("composite", FAST): 1,
    ("sabul", FAST): 1,
    ("reno", SLOW): 1,
    ("composite", SLOW): 1,
    ("sabul", SLOW): 1,
}

# Ways of greedy.py beside "plain" whose share is documented, too.
OTHERS = [
    ("reno", FAST, "seldom"),
    ("reno", FAST, "fresh"),
    ("reno", SLOW, "fresh"),
    ("sabul", SLOW, "loss"),
    ("sabul", SLOW, "switch"),
]

MAIN = """
read up rest </proc/uptime && echo "$up" >began
sysctl -qw net.ipv4.tcp_allowed_congestion_control="reno cubic {cc}"
d="ip netns exec lf-d" s="ip netns exec lf-s0"
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
# On their input: a user may read nothing in this directory.
$d python3 - receive received {way} <greedy.py >said.receive 2>&1 &
sleep 5 && $s $nobody python3 - send {cc} {way} {connections} <greedy.py >said 2>&1 &
./bin/lfgen traffic >samples 2>&1
"""


# Ways of greedy.py to make an algorithm forget.
AGAIN = {"switch", "storm", "loss", "tired"}


def refused(said: str, cc: str) -> int:
    """What only an administrator may was refused; how often he left the algorithm."""
    words = [line.split() for line in said.splitlines()]
    assert all(len(each) == 2 for each in words), said
    errors = {name: int(number) for name, number in words}
    for name in ("composite-16", "composite-64"):
        assert errors.pop(name) == (errno.EPERM if cc == "composite" else errno.ENOENT)
    assert errors.pop("scalable") == errno.EPERM
    assert errors.pop("SO_SNDBUFFORCE") == errno.EPERM
    turns = errors.pop("turns", 0)
    assert set(errors) == (set(modules.parameters(cc)) if cc != "reno" else set())
    assert set(errors.values()) <= {errno.EACCES}
    return turns


def share(uml: Uml, run: Path, cc: str, rate: str, way: str, seed: int) -> float:
    """The user's part of what arrives, on the path of FILE with this rate, after its warmup."""
    run.mkdir()
    name = f"security-share-{rate}-{cc}"
    (one,) = (one for one in scenario.load(FILE) if one.name == name)
    connections = CASES[cc, rate]
    made = plan.make(one, seed, prefix="lf", virtual=True)
    shutil.copy(HERE / "greedy.py", run)
    fill(run, made, one, uml, main=MAIN.format(cc=cc, way=way, connections=connections))
    uml.execute(run, one, seed, timeout=600)
    data = result.make(one, seed, "uml", made, run)
    turns = refused((run / "said").read_text(), cc)
    assert (turns > 0) == (way in AGAIN), f"{way}: away and back {turns} times"
    lines = (run / "received").read_text().splitlines()
    rows = [tuple(map(float, line.split())) for line in lines]
    began = float((run / "began").read_text())
    inside = [row for row in rows if one.warmup <= row[0] - began <= one.duration]
    user = (inside[-1][1] - inside[0][1]) * 8 / (inside[-1][0] - inside[0][0])
    others = sum(flow["goodput_bps"] for flow in data["flows"] if flow["group"] == 1)
    return float(user / (user + others))


def main() -> None:
    uml = Uml()
    uml.prepare(print)
    stamp = modules.stamp()
    found = []
    for cc, rate, way in [*((*case, "plain") for case in CASES), *OTHERS]:
        shares = []
        for seed in SEEDS:
            with runner.run_directory() as run:
                shares.append(round(share(uml, run / "run", cc, rate, way, seed), 5))
        case = {"cc": cc, "rate": rate, "way": way, "connections": CASES[cc, rate]}
        source = {"source": stamp["modules"].get(cc), "version": stamp["version"]}
        found.append({**case, "shares": shares, **source})
        print(found[-1])
    lines = ",\n".join(json.dumps(one, sort_keys=True) for one in found)
    KEPT.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
