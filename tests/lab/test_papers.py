# SPDX-License-Identifier: GPL-2.0
"""A committed result is what its run gives again, exactly; iperf3 gives what our traffic gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from lab import kernel, result, runner, scenario
from lab.backends import Uml
from lab.modules import ROOT
from lab.result import Json
from lab.scenario import Scenario
from papers import catalogue, cost, work

Run = tuple[str, Scenario, int, Json]  # paper, scenario, seed, its line


def cheapest(count: int) -> list[Run]:
    """Committed runs with a module of ours that are current, or confirmed: the cheapest of each of
    so many papers."""
    how = work.profile(work.COMMITTED)
    found: dict[str, tuple[float, Run]] = {}
    for figure in catalogue.load().figure:
        for file, runs in work.expected(figure, how, peers=False).items():
            lines = {
                (line["scenario"]["name"], line["seed"]): line
                for line in work.current(work.read(how.results, file), runs)
                if line["modules"]
            }
            for one, seed in runs:
                price = cost.estimate(one, file)
                if (one.name, seed) in lines and (
                    figure.paper not in found or price < found[figure.paper][0]
                ):
                    line = lines[one.name, seed]
                    found[figure.paper] = price, (figure.paper, one, seed, line)
    return [run for _, run in sorted(found.values(), key=lambda entry: entry[0])[:count]]


def test_committed_results_come_out_again(uml: Uml, tmp_path: Path) -> None:
    """Every number of the summary, and what is observed."""
    chosen = cheapest(3)
    assert len(chosen) == 3, "docs/results has current runs of fewer than three papers"
    assert len({name.split("-")[0] for *_, line in chosen for name in line["modules"]}) == 3
    # Debian's version of the package; a result has the kernel's own.
    version = (kernel.build() / "version").read_text().strip().split("-")[0]
    if other := {line["kernel"] for *_, line in chosen} - {version}:
        pytest.skip(f"measured on Linux {', '.join(other)}, this is {version}")
    jobs = [
        runner.Job(one, seed, tmp_path / f"{work.run_name(one, seed)}.json")
        for _, one, seed, _ in chosen
    ]
    runner.run(jobs, uml, workers=2, timeout=900, console=Console(quiet=True))
    for job, (paper, _, _, line) in zip(jobs, chosen, strict=True):
        assert work.differs(job.path, line, paper) == [], job.path.stem


def test_iperf3_gets_what_the_labs_traffic_gets(tmp_path: Path) -> None:
    """For LTCP's Fig. 15, measured with iperf: goodput is the same within 2 %."""
    file = ROOT / "tests/scenarios/ltcp-iperf3.toml"

    def lab(*words: str) -> str:
        command = [sys.executable, "-m", "lab", *words]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT / "scripts", timeout=600
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (one,) = scenario.load(file)
    lab("run", str(file), "-o", str(tmp_path))
    ours = result.read(tmp_path / f"{one.name}-s1.json")["summary"]["goodput_bps"]
    said = lab("iperf3", str(file), "-C", "ltcp", "-t", f"{one.duration:g}", "--json")
    theirs = json.loads(said)["end"]["sum_received"]["bits_per_second"]
    assert theirs == pytest.approx(ours, rel=0.02)
