#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""docs/report.md's instructions for a cluster, carried out on one: Slurm of two nodes, from
Debian's packages, on this machine (cluster/login.sh).

    scripts/longfat python tests/cluster.py

A report is interrupted, goes on, and loses a node; an evaluation is made.  Speaks KTAP.  Exit
status 0: all passed; 4: all skipped; 1: something failed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psutil

import examples
import ktap
import packages
from longfat.build import modules
from longfat.core import root, scratch
from longfat.core.errors import LabError
from longfat.core.process import closing
from longfat.machines import suite

LOGIN = modules.ROOT / "tests/cluster/login.sh"
PAGE = modules.ROOT / "docs/report.md"
NODES = ("n1", "n2")

# What is another than the page says: few runs, and how soon Slurm is asked what became of them.
FEW = "seeds = 1\n"
ASKED = "slurm-init-seconds-before-status-checks"

# One criterion, two algorithms, two paths; some seconds a run.
EVALUATE = "scripts/longfat evaluate reno --against cubic --only 7.7 --profile smoke"

# A mount and process namespace of its own, which ends with its first process.
PRIVATE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]

# As root, on what is a machine of its own for it and its descendants: "n1", and slurmd's core.
NODE = 'hostname "$1"; exec taskset -c "$2" slurmd -D -N "$1"'


class Failed(Exception):
    """A step did not come out as it should; says how."""


def require(holds: bool, said: str) -> None:
    if not holds:
        raise Failed(said)


def until(there: Callable[[], bool], what: str, seconds: float = 300) -> None:
    """Wait for it."""
    end = time.monotonic() + seconds
    while not there():
        require(time.monotonic() < end, f"not within {seconds:g} s: {what}")
        time.sleep(0.1)


def slurm(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def last_job() -> int:
    """Its number; Slurm forgets jobs after a while, and counts on."""
    return int(slurm("scontrol", "show", "config").split("NEXT_JOB_ID")[1].split()[1]) - 1


class Node:
    """A machine of the cluster."""

    def __init__(self, name: str) -> None:
        self.name = name
        cores = sorted(os.sched_getaffinity(0))
        self.core = cores[NODES.index(name) % len(cores)]

    def start(self) -> None:
        line = ["unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
        line += ["sh", "-c", NODE, "sh", self.name, str(self.core)]
        with open(f"/var/log/slurm/{self.name}.out", "ab") as out:
            self.process = subprocess.Popen(line, stdout=out, stderr=out, start_new_session=True)
        until(lambda: self.state() == "idle", f"{self.name} is idle")

    def state(self) -> str:
        return slurm("sinfo", "--noheader", "-n", self.name, "-o", "%T")

    def lose(self) -> None:
        """As if its plug was pulled: what ran there is gone, and nobody is told."""
        (first,) = psutil.Process(self.process.pid).children()
        first.kill()
        self.process.wait()

    def running(self) -> str | None:
        """The run whose kernel is up here."""
        run, booted = None, False
        for one in psutil.Process(self.process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # or a zombie
                words = one.cmdline()
                if words[1:4] == ["-m", "longfat.pages", "run"]:
                    run = words[-1]
                booted |= words[0].endswith("/linux") if words else False
        return run if booted else None


class Report:
    """The tree, as the user who owns it sees it, and its report."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.profile = tree / "longfat/pages/profiles/mine"
        self.out = tree / "out/report/mine"
        self.runs = tree / "out/runs"
        self.config = ""  # of the profile, as the page makes it
        self.page = examples.examples(PAGE)
        self.log = Path(os.environ["TMPDIR"]) / "log"

    def configure(self, *lines: str, without: str = "") -> None:
        """The profile's configuration as it was, with these lines."""
        if not self.config:
            self.config = (self.profile / "config.yaml").read_text()
        require(without in self.config, f"the profile does not have '{without}'")
        text = "\n".join([self.config.replace(without, ""), *lines, ""])
        (self.profile / "config.yaml").write_text(text)

    def start(self, script: str) -> subprocess.Popen[bytes]:
        owner = self.tree.stat()
        line = ["sh", "-euc", script]
        if owner.st_uid:
            who = [f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--init-groups"]
            line = ["setpriv", *who, *line]
        out: IO[bytes]
        with self.log.open("wb") as out:
            return subprocess.Popen(
                line,
                cwd=self.tree,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                # Whoever started this may have it ignored: a shell's background jobs have.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def ended(self, process: subprocess.Popen[bytes], status: int) -> str:
        """What it said, when it has ended with this status."""
        found = process.wait(timeout=300)
        require(found == status, f"exit status {found}, not {status}")
        return self.log.read_text()

    def carry_out(self, script: str) -> None:
        self.ended(self.start(script), 0)

    def made(self) -> dict[str, tuple[int, bytes]]:
        """The runs that are there: when each was made, and its bytes."""
        return {p.stem: (p.stat().st_mtime_ns, p.read_bytes()) for p in self.runs.glob("*.json")}

    def says(self, figure: str) -> str:
        """The part of the page about it, without its tags."""
        text = (self.out / "report.html").read_text()
        (part,) = re.findall(rf'id="{figure}".*?</article>', text, re.S)
        return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", part))


class Cluster:
    """The nodes, a report on them, and the steps that are tested, one after the other."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.nodes = [Node(name) for name in NODES]
        (self.figure,) = re.findall(r"FIGURE=(\S+)", report.page["report"])

    def both_run(self) -> None:
        until(lambda: all(node.running() for node in self.nodes), "a run on each node")

    def set_up(self) -> None:
        for node in self.nodes:
            node.start()
        self.report.carry_out(self.report.page["node"])
        self.report.carry_out(self.report.page["profile"])
        (self.report.profile / "runs.toml").write_text(FEW)

    def interrupted(self) -> None:
        """After the first job, before Snakemake has heard of it: what it made stays, what is not
        done is cancelled, and nothing is half there."""
        self.report.configure(f"{ASKED}: 20")
        process = self.report.start(self.report.page["report"])
        self.both_run()
        said = slurm("squeue", "--noheader", "--states=R", "-o", "%P %m %l").splitlines()
        until(lambda: bool(slurm("squeue", "--noheader", "--states=CD")), "the first job is done")
        # What a job that goes on has just made may go with it.
        ended = len(slurm("squeue", "--noheader", "--states=CD").splitlines())
        done = self.report.made()
        os.killpg(process.pid, signal.SIGINT)
        require(process.wait(timeout=60) != 0, "an interrupted report has the exit status 0")
        until(lambda: not slurm("squeue", "--noheader"), "no job is left", 30)
        until(lambda: not any(node.running() for node in self.nodes), "no run is left", 30)
        self.before = self.report.made()
        kept = done.items() & self.before.items()
        require(len(kept) >= ended, f"{ended} ended; of {list(done)} are {list(self.before)} left")
        log = self.report.log.read_text()
        (whole,) = re.findall(r"(\d+) of \1 runs are left to do", log)
        self.whole = int(whole)
        require(0 < len(self.before) < self.whole, f"{list(self.before)} of {whole} are made")
        left = {path.suffix for path in self.report.runs.glob("[!.]*")}
        require(left == {".json", ".cpu"}, f"what is left is {left}")
        # What the plan says that a run of this figure needs.
        want = set(re.findall(r"mem_mb=(\d+).*?slurm_partition=(\w+).*?runtime=(\d+)", log))
        got = {tuple(line.split()) for line in said}
        require(
            got == {(place, f"{memory}M", f"{time}:00") for memory, place, time in want},
            f"Slurm was told {got}; the workflow said {want}",
        )

    def goes_on(self) -> None:
        """What is there is not made again.  A node is lost: its run begins again on the other."""
        self.report.configure(f"{ASKED}: 1")
        process = self.report.start(self.report.page["report"])
        self.both_run()
        lost = self.nodes[0].running()
        self.nodes[0].lose()
        said = self.report.ended(process, 0)
        left = self.whole - len(self.before)
        require(f"{left} of {self.whole} runs are left to do" in said, "another number is left")
        self.made = self.report.made()
        require(len(self.made) == self.whole, f"only {list(self.made)} are made")
        require(self.before.items() <= self.made.items(), "what was there was made again")
        jobs = slurm("scontrol", "show", "job", "--oneliner").splitlines()
        again = [job for job in jobs if " Restarts=1 " in job]
        require(len(again) == 1 and " NodeList=n2 " in again[0], f"{lost} was to be made on n2")
        says = f"{self.whole} of {self.whole} runs"
        require(says in self.report.says(self.figure), f"the report does not say '{says}'")

    def loses_a_run(self) -> None:
        """Where Slurm may not do so, the run is lost and the other is not; the status and the page
        say so; called again, the lost one is made, and the bytes are those of the first time."""
        self.nodes[0].start()
        self.report.configure(
            f"{ASKED}: 1", "slurm-no-requeue: true", without="slurm-requeue: true"
        )
        for name in list(self.made)[:2]:
            (self.report.runs / f"{name}.json").unlink()
        process = self.report.start(self.report.page["report"])
        self.both_run()
        lost = self.nodes[0].running()
        self.nodes[0].lose()
        said = self.report.ended(process, 2)  # make's own
        require("node failure" in said, "nothing is said of the node")
        require(set(self.made) - set(self.report.made()) == {lost}, f"not {lost} alone is lost")
        require(not list(self.report.runs.glob("*.error")), "a lost run has failed")
        says = f"{self.whole - 1} of {self.whole} runs; 1 missing"
        require(says in self.report.says(self.figure), f"the report does not say '{says}'")
        self.report.carry_out(self.report.page["report"])
        for name, (_, content) in self.report.made().items():
            require(content == self.made[name][1], f"{name} has other bytes than the first time")
        require(set(self.report.made()) == set(self.made), "the lost run was not made")

    def evaluates(self) -> None:
        """An evaluation's runs are jobs, and have the bytes that they have without a cluster."""
        self.nodes[0].start()
        self.report.configure(f"{ASKED}: 1")
        before, made, jobs = last_job(), {}, {}
        for where, how in (("there", "--workflow mine"), ("here", "")):
            self.report.carry_out(f"{EVALUATE} {how} -o out/{where}")
            runs = (self.report.tree / f"out/{where}/runs").glob("*.json")
            made[where] = {path.name: path.read_bytes() for path in runs}
            require((self.report.tree / f"out/{where}/league.html").exists(), "there is no page")
            jobs[where] = last_job() - before
        require(len(made["here"]) == 4, f"not four runs: {list(made['here'])}")
        require(made["there"] == made["here"], "the cluster's runs have other bytes")
        require(jobs == {"there": 4, "here": 4}, f"four runs, and jobs: {jobs}")

    def results(self) -> Iterator[ktap.Result]:
        good = True
        for step, title in (
            (self.set_up, "the cluster and the profile are set up"),
            (self.interrupted, "an interrupted report"),
            (self.goes_on, "it goes on, and loses a node"),
            (self.loses_a_run, "a run is lost, and not the sweep"),
            (self.evaluates, "an evaluation"),
        ):
            began = time.monotonic()
            if not good:
                yield ktap.Result(title, False, "a step before it failed")
                continue
            try:
                step()
                yield ktap.Result(f"{title} ({time.monotonic() - began:.0f} s)")
            except (Failed, OSError, subprocess.SubprocessError) as error:
                good = False
                logs = [self.report.log, *Path("/var/log/slurm").iterdir()]
                ends = [f"{log}:\n{log.read_text()[-4000:]}" for log in logs if log.exists()]
                yield ktap.Result(title, False, "\n".join([str(error), *ends]))


def inside(tree: Path) -> int:
    """On the login node."""
    return ktap.document(5, Cluster(Report(tree)).results())


def main() -> int:
    if not shutil.which("apt-get"):
        return ktap.document(1, [ktap.Result("a cluster", skip="this is not Debian or Ubuntu")])
    with ExitStack() as stack:
        directory = stack.enter_context(scratch.directory("test"))
        tree, mount = directory / "tree", directory / "mount"
        modules.copy(packages.tree(), tree)
        mount.mkdir()
        # What is fetched once: the cluster's network is its own.
        for words in (["build"], ["snakemake", "--version"]):
            subprocess.run([tree / "scripts/longfat", *words], check=True, stdout=sys.stderr)
        line = [*PRIVATE, "sh", str(LOGIN), str(mount), sys.executable, __file__, str(tree)]
        try:
            line = suite.tied(line, env=dict(os.environ))
        except root.Unavailable as error:
            return ktap.document(1, [ktap.Result("a cluster", skip=str(error))])
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, text=True)
        with closing(process):
            return process.wait()


if __name__ == "__main__":
    try:
        sys.exit(inside(Path(sys.argv[1])) if sys.argv[1:] else main())
    except (LabError, subprocess.CalledProcessError) as error:
        sys.exit(f"cluster: {error}")
