# SPDX-License-Identifier: GPL-2.0
"""What might make the lab faster, tried: processor time of a packet for each of trials.toml.

    scripts/longfat python tests/bench/trials.py [TIMES]

runs every case of tests/scenarios/trials.toml TIMES times (4) with every trial, in turns, and
writes docs/results/lab-trials.json, with which docs/speed.md is made.  Wants a machine that does
nothing else, and root for huge pages; takes half an hour, the kernels that it builds included.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import tomllib
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from lab import kernel, modules, plan, runner, scenario, speed
from lab.backends import Uml, fill
from lab.cost import processor
from lab.result import Json, read_samples
from lab.scenario import Scenario

HERE = Path(__file__).parent
FILE = modules.ROOT / "tests/scenarios/trials.toml"
KEPT = modules.ROOT / "docs/results/lab-trials.json"


class Trial(BaseModel):
    """What differs from the lab as it is."""

    model_config = ConfigDict(extra="forbid")

    about: str
    package: str = kernel.LAB.package
    suite: str = kernel.LAB.suite
    flags: str = ""
    arguments: list[str] = []
    huge: bool = False
    setup: str = ""
    two_hosts: bool = False

    def boots(self) -> kernel.Kernel:
        """The lab's, or another one."""
        other = replace(kernel.LAB, package=self.package, suite=self.suite, flags=self.flags)
        if other == kernel.LAB:
            return other
        name = f"uml-{self.package}{self.flags}".replace("=", "-")
        return replace(other, name=name)


class Tried(Uml):
    """The virtual-time kernel of a trial."""

    def __init__(self, trial: Trial, huge: Path) -> None:
        super().__init__(what=trial.boots())
        self.trial = trial
        self._huge = huge

    def memory(self) -> Path:
        return self._huge if self.trial.huge else super().memory()

    def boot(self, run: Path, seed: int, **options: Any) -> int:
        return super().boot(run, seed, arguments=tuple(self.trial.arguments), **options)


def two_hosts(made: plan.Plan, one: Scenario) -> plan.Plan:
    """The network without its router: what the bottleneck does is done where packets leave the
    sender, the delay where acknowledgments leave the receiver.  TCP there sees the queue."""
    (flow,) = one.flow
    sender, receiver = "lf-s0", "lf-d"
    settings = [x for x in made.setup.splitlines() if "sysctl" in x and "net.ipv4.tcp_" in x]
    lines = ["set -e"]
    for ns in (sender, receiver):
        lines += [f"ip netns add {ns}", f"ip -n {ns} link set lo up"]
    ends = ((sender, "bottleneck", "10.0.0.1"), (receiver, "eth0", "10.0.0.2"))
    lines.append(
        f"ip link add name bottleneck netns {sender} type veth peer name eth0 netns {receiver}"
    )
    for ns, dev, address in ends:
        lines += [
            f"ip -n {ns} addr add {address}/24 dev {dev}",
            f"ip netns exec {ns} ethtool -K {dev} tso off gso off gro off >/dev/null",
            f"ip -n {ns} link set {dev} mtu {one.link.mtu} txqueuelen 1000 up",
        ]
    lines += [f"ns={sender} dev=bottleneck", *plan.bottleneck(one)]
    delay = f"netem delay {flow.rtt * 1e6:.3f}us limit 10000000"
    lines.append(f"tc -n {receiver} qdisc add dev eth0 root {delay}")
    traffic = made.traffic.replace("queue lf-r bottleneck", f"queue {sender} bottleneck")
    return replace(made, setup="\n".join([*lines, *settings]) + "\n", traffic=traffic)


def once(backend: Tried, one: Scenario) -> Json:
    """Processor seconds of a run, the packets through its bottleneck, what its samples are."""
    made = plan.make(one, one.seeds[0], prefix="lf", seeded=True)
    if backend.trial.two_hosts:
        made = two_hosts(made, one)
    made = replace(made, setup=made.setup + backend.trial.setup + "\n")
    with runner.run_directory() as run:
        fill(run, made, one, backend)
        before = speed.children()
        backend.execute(run, one, one.seeds[0], timeout=3600)
        return {
            "cpu_s": round(speed.children() - before, 3),
            "packets": read_samples(run / "samples")["q"][-1][4],
            "samples": hashlib.sha256((run / "samples").read_bytes()).hexdigest()[:12],
            "kernel": (run / "kernel").read_text().strip(),
        }


def measure(times: int) -> Json:
    """All of it, as docs/results/lab-trials.json has it."""
    trials = {
        name: Trial.model_validate(keys)
        for name, keys in tomllib.loads((HERE / "trials.toml").read_text()).items()
    }
    scenarios = scenario.load(FILE)
    found: dict[str, Json] = {}
    with ExitStack() as until:
        until.enter_context(runner.terminable())
        huge = Path(until.enter_context(tempfile.TemporaryDirectory()))
        mount = ["mount", "-t", "tmpfs", "-o", "huge=always,size=8g", "longfat", str(huge)]
        subprocess.run(mount, check=True)
        until.callback(subprocess.run, ["umount", str(huge)], check=True)
        backends = {}
        for name, trial in trials.items():
            backends[name] = Tried(trial, huge)
            backends[name].prepare(lambda text: None)
        for turn in range(times):
            # Each is the first of a turn now and then.
            names = list(backends)[turn % len(backends) :] + list(backends)[: turn % len(backends)]
            for one in scenarios:
                for name in names:
                    seen = once(backends[name], one)
                    of = found.setdefault(name, {"name": name, "about": trials[name].about})
                    of["kernel"] = seen["kernel"]
                    case = of.setdefault(one.name, {"cpu_s": [], "packets": seen["packets"]})
                    case["cpu_s"].append(seen["cpu_s"])
                    if case.setdefault("samples", seen["samples"]) != seen["samples"]:
                        raise SystemExit(f"{name}, {one.name}: a run did not repeat")
                    print(f"{turn + 1} {one.name} {name}: {seen['cpu_s']} s", flush=True)
    return {
        "processor": processor(),
        "times": times,
        "cases": [speed.describe(one) for one in scenarios],
        "trials": [found[name] for name in trials],
    }


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    speed.write(measure(times), KEPT, "trials")
    print(KEPT)


if __name__ == "__main__":
    main()
