# SPDX-License-Identifier: GPL-2.0
"""A committed result is what its run gives again, exactly; iperf3 gives what our traffic gives; a
report that was interrupted goes on where it was."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from longfat.build.modules import ROOT
from longfat.pages import catalogue, cost, work
from longfat.run import identity, result, runner, scenario
from longfat.run.backends import Uml
from longfat.run.identity import Platform
from longfat.run.result import Json
from longfat.run.scenario import Scenario

Run = tuple[str, Scenario, int, Json]  # paper, scenario, seed, its line


CORES = len(os.sched_getaffinity(0))


def cheapest(count: int, on: Platform) -> list[Run]:
    """Committed runs with a module of ours that were made on this platform: the cheapest of each
    of so many modules."""
    how = work.profile(work.COMMITTED)
    found: dict[str, tuple[float, Run]] = {}
    for figure in catalogue.load().figure:
        for file, runs in work.expected(figure, how, peers=False).items():
            there = {
                (line["scenario"]["name"], line["seed"]): line
                for line in work.current(work.read(how.results, file), runs, on)
                if line["backend"] == "uml"
            }
            for one, seed in runs:
                if (one.name, seed) not in there:
                    continue
                line, price = there[one.name, seed], cost.estimate(one, file)
                for module in line["identity"]["modules"]:
                    if module not in found or price < found[module][0]:
                        found[module] = price, (figure.paper, one, seed, line)
    return [run for _, run in sorted(found.values(), key=lambda entry: entry[0])[:count]]


def test_committed_results_come_out_again(uml: Uml, tmp_path: Path) -> None:
    """Every number of the summary, and what is observed."""
    chosen = cheapest(3, Platform.here())
    if len(chosen) < 3:
        made = ", ".join(Platform.published().kernels)
        pytest.skip(f"docs/results (Linux {made}) has runs of fewer than three modules made here")
    jobs = [
        runner.Job(one, seed, tmp_path / f"{work.run_name(one, seed)}.json")
        for _, one, seed, _ in chosen
    ]
    runner.run(jobs, uml, workers=CORES, timeout=900, console=Console(quiet=True))
    for job, (paper, _, _, line) in zip(jobs, chosen, strict=True):
        assert work.differs(job.path, line, paper) == [], job.path.stem


def test_the_published_platform_is_what_is_built() -> None:
    """With a compiler whose work it knows: it knows all that is built here."""
    here, published = Platform.here(), Platform.published()
    built = {"programs": here.programs, **here.modules}
    known = {"programs": published.programs, **published.modules}
    right = [name for name, one in built.items() if set(one.objects) & set(known[name].objects)]
    if not right:
        pytest.skip("nothing published is of this compiler")
    assert sorted(right) == sorted(built), f"renew it: {identity.RENEW}"
    configuration = here.kernels[0].split()[1]
    assert configuration in {name.split()[1] for name in published.kernels}, identity.RENEW


def test_iperf3_gets_what_the_labs_traffic_gets(tmp_path: Path) -> None:
    """For LTCP's Fig. 15, measured with iperf: goodput is the same within 2 %."""
    file = ROOT / "tests/scenarios/ltcp-iperf3.toml"

    def lab(*words: str) -> str:
        command = [sys.executable, "-m", "longfat", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (one,) = scenario.load(file)
    lab("run", str(file), "-o", str(tmp_path))
    ours = result.read(tmp_path / f"{one.name}-s1.json")["summary"]["goodput_bps"]
    said = lab("iperf3", str(file), "-C", "ltcp", "-t", f"{one.duration:g}", "--json")
    theirs = json.loads(said)["end"]["sum_received"]["bits_per_second"]
    assert theirs == pytest.approx(ours, rel=0.02)


def test_iperf3_as_the_traffic_of_a_scenario(uml: Uml, tmp_path: Path) -> None:
    """A result as any other: what the server received, the client's windows, the queue; two
    flows, one of which begins later, each with an algorithm of its own; the same again."""
    file = tmp_path / "both.toml"
    file.write_text(
        """
        title = "iperf3"
        duration = "12s"
        sample = "1s"
        traffic = "iperf3"
        link = {rate = "20mbit", buffer = "60p"}
        host = {gro = "0.5ms"}
        flow = [{cc = "ltcp", rtt = "40ms"}, {cc = "reno", rtt = "40ms", start = "4s"}]
        """
    )
    (one,) = scenario.load(file)
    jobs = [runner.Job(one, 1, tmp_path / f"{name}.json") for name in "ab"]
    runner.run(jobs, uml, workers=CORES, timeout=300, console=Console(quiet=True))
    found = result.read(jobs[0].path)
    assert jobs[0].path.read_bytes() == jobs[1].path.read_bytes()
    assert found["iperf3"].startswith("iperf 3.")
    assert found["scenario"]["traffic"] == "iperf3" and uml.platform.knows(found, one, 1)
    assert list(found["identity"]["modules"]) == ["tcp_ltcp"]
    # iperf3 ends its last interval a little late: by 2 to 4 ms on Linux 6.12.117.
    assert 0.95 < found["summary"]["utilisation"] <= 1 + 0.005 / 12
    ltcp, reno = (flow["connections"][0] for flow in found["flows"])
    assert ltcp["t"][0] == 0 and reno["t"][0] == 4
    assert ltcp["t"] == list(range(13)) and reno["t"] == list(range(4, 13))
    received = [flow["received_bytes"] for flow in found["flows"]]
    assert received == [ltcp["received"][-1], reno["received"][-1]]
    # The path holds 67 packets and the queue 60; a window is not more than both.
    assert 30 < max(ltcp["cwnd"][1:]) < 200 and min(ltcp["rtt_us"][1:]) >= 40000
    assert 50 < max(found["queue"]["packets"]) <= 60 and found["summary"]["retransmissions"] > 0
    # Alone, the first has the whole link.
    assert ltcp["received"][4] * 8 / 4 == pytest.approx(one.capacity, rel=0.06)


def test_an_interrupted_report_goes_on(tmp_path: Path) -> None:
    """In a tree of its own: after the first run, it is interrupted.  What is there is not made
    again, nothing is half there, and the whole report comes of it."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "out", "__pycache__"))
    runs = tree / "out/runs"
    command = ["scripts/report.sh", "composite-h2"]
    env = os.environ | {"PROFILE": "quick", "JOBS": "1"}
    with subprocess.Popen(
        command,
        cwd=tree,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        # Whoever started the tests may have it ignored: a shell's background jobs have.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as first:
        assert first.stdout
        said = []
        for line in first.stdout:
            said.append(line)
            if "Finished jobid" in line:
                os.killpg(first.pid, signal.SIGINT)
                break
        said += first.stdout.readlines()
    assert first.returncode, "".join(said)
    made = {path: path.stat().st_mtime_ns for path in runs.glob("*.json")}
    whole = len(work.plan(catalogue.choose(["composite-h2"]), work.profile("quick")))
    assert 1 <= len(made) < whole, "".join(said)
    assert {path.suffix for path in runs.iterdir()} == {".json", ".cpu"}
    again = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, timeout=900)
    assert again.returncode == 0, again.stdout + again.stderr
    assert f"{whole - len(made)} of {whole} runs are left to do" in again.stderr
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert len(list(runs.glob("*.json"))) == whole
    report = (tree / "out/report/quick/report.html").read_text()
    (part,) = re.findall(r'id="composite-h2".*?</article>', report, re.S)
    assert f"{whole} of {whole} runs" in part
