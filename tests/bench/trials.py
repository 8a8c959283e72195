# SPDX-License-Identifier: GPL-2.0
"""What might make the lab faster, tried: processor time of a packet for each of trials.toml.

    scripts/longfat python tests/bench/trials.py [TIMES]

runs every case of tests/scenarios/trials.toml TIMES times (4) with every trial, in turns, and
writes docs/results/lab-trials.json, with which docs/speed.md is made.  Wants a machine that does
nothing else.  A trial that cannot be made here, for want of a package say, is left out, and said.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import tomllib
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from longfat.build import kernel, modules
from longfat.core.errors import LabError
from longfat.measure import speed
from longfat.measure.cost import processor
from longfat.run import plan, runner, scenario
from longfat.run.backends import Uml
from longfat.run.result import Json
from longfat.run.scenario import Scenario

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
    router: bool = False  # the network of other backends

    def boots(self) -> kernel.Kernel:
        """The lab's, or another one."""
        return replace(kernel.LAB, package=self.package, suite=self.suite, flags=self.flags)


class Tried(Uml):
    """The virtual-time kernel of a trial."""

    def __init__(self, trial: Trial, huge: Path) -> None:
        super().__init__(trial.boots())
        self.trial = trial
        self._huge = huge

    def memory(self) -> Path:
        return self._huge if self.trial.huge else super().memory()

    def boot(self, run: Path, seed: int, **options: Any) -> int:
        return super().boot(run, seed, arguments=tuple(self.trial.arguments), **options)


def once(backend: Tried, one: Scenario) -> Json:
    """Processor seconds of a run, the packets through its bottleneck, what its samples are."""
    made = plan.make(one, one.seeds[0], prefix="lf", virtual=not backend.trial.router)
    made = replace(made, setup=made.setup + backend.trial.setup + "\n")
    with runner.run_directory() as run:
        cpu, packets = speed.spent(backend, run, made, one)
        return {
            "cpu_s": round(cpu, 3),
            "packets": packets,
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
            backend = Tried(trial, huge)
            try:
                backend.prepare(lambda text: None)
            except LabError as error:
                print(f"{name} is left out: {error}", flush=True)
            else:
                backends[name] = backend
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
                        raise LabError(f"{name}, {one.name}: a run did not repeat")
                    print(f"{turn + 1} {one.name} {name}: {seen['cpu_s']} s", flush=True)
    return {
        "processor": processor(),
        "times": times,
        "cases": [speed.describe(one) for one in scenarios],
        "trials": list(found.values()),
    }


# What is mounted is mounted for this program alone, and goes with it.
ALONE = "LONGFAT_TRIALS_ALONE"


def main(words: list[str]) -> int:
    """The status to exit with."""
    times = int(words[0]) if words and words[0].isdecimal() else 4 if not words else 0
    if not 1 <= times <= 100:
        print(f"trials: {' '.join(words)}: how often, 1 to 100", file=sys.stderr)
        return 2
    if ALONE not in os.environ:
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        os.environ[ALONE] = "1"
        command = ["unshare", "--mount", *user, sys.executable, __file__, *words]
        os.execvp(command[0], command)
    try:
        speed.write(measure(times), KEPT, "trials")
    except LabError as error:
        print(f"trials: {error}", file=sys.stderr)
        return 1
    print(KEPT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
