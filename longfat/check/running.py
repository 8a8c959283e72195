# SPDX-License-Identifier: GPL-2.0
"""Run test suites side by side, each on cores of its own, and say as they go what becomes of
them.

A suite is a program; which cores it has is its affinity, which all that it starts inherits.
So no suite has to be told how many runs at once are right.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import filelock
import psutil

from longfat.build import modules
from longfat.check.suites import Suite
from longfat.check.tally import Tally, tally
from longfat.core import cache, process
from longfat.core.errors import LabError

# Seconds from one line about what runs to the next.
EVERY = 60.0

# How many lines of a suite that failed are shown, those about what passed left out.
LAST = 60
PASSED = re.compile(r" *ok\b")

# Says at the end what the command took, as the shell's `times` does: its own, and what it
# waited for, user and system each.
_TIMED = """trap 'times >"$LONGFAT_TIMES"' EXIT
"""


@contextmanager
def _logs() -> Iterator[Path]:
    """A directory for what the suites say, which no other check uses meanwhile."""
    for number in itertools.count(1):
        path = cache.directory() / ("check" if number == 1 else f"check-{number}")
        path.mkdir(exist_ok=True)
        held = filelock.FileLock(path / ".lock", timeout=0)
        try:
            held.acquire()
        except filelock.Timeout:
            continue
        try:
            yield path
        finally:
            held.release()
        return


@dataclass
class Outcome:
    """What became of a suite."""

    result: Tally
    wall: float  # seconds
    cpu: float | None  # of processors, all of them together; None if it was killed
    said: str
    log: Path


@dataclass
class Job:
    """A suite that runs."""

    name: str
    suite: Suite
    cores: set[int]
    log: Path
    began: float

    def widen(self, cores: set[int]) -> None:
        """Give it these cores too: what it starts from now on has them."""
        old, self.cores = self.cores, self.cores | cores
        for one in psutil.Process().children(recursive=True):
            # What has exactly its cores is of this suite.  A virtual kernel that has chosen
            # one of several stays there.  What has ended or is root's is left as it is.
            with suppress(psutil.Error):
                if set(one.cpu_affinity()) == old:
                    one.cpu_affinity(sorted(self.cores))


def _clock(seconds: float) -> str:
    """Minutes and seconds: "12:05"."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _cpu(path: Path) -> float | None:
    """The seconds that `times` wrote there, none if it did not."""
    try:
        found = re.findall(r"(\d+)m([\d.]+)s", path.read_text())
    except OSError:
        return None
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in found) or None


def _environment() -> dict[str, str]:
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin",
        "PYTHON": sys.executable,
        "LC_ALL": "C.UTF-8",
    }


def _one(job: Job, cancel: threading.Event) -> Outcome:
    """Run a suite to its end, on its cores."""
    # Of this thread alone, and of what it starts.
    os.sched_setaffinity(0, job.cores)
    times = job.log.with_suffix(".times")
    times.unlink(missing_ok=True)
    late = ""
    try:
        status = process.run(
            ["sh", "-c", _TIMED + job.suite.command],
            output=job.log,
            timeout=job.suite.timeout,
            cancel=cancel,
            env=_environment() | {"LONGFAT_TIMES": str(times)},
            cwd=modules.ROOT,
            grace=5,
        )
    except process.Cancelled:
        raise
    except LabError:
        status = 124
        late = f"no end after {job.suite.timeout:g} s (timeout, in tests/suites.toml)"
    text = job.log.read_text(errors="replace")
    result = tally(text, status)
    if late:
        result.failed.append(late)
    return Outcome(result, time.monotonic() - job.began, _cpu(times), text, job.log)


class Cores:
    """Who has which core."""

    def __init__(self, cores: set[int]) -> None:
        self.all = cores
        self.free = set(cores)

    def take(self, count: int) -> set[int]:
        """So many of the free ones."""
        taken = set(sorted(self.free)[:count])
        self.free -= taken
        return taken

    def begin(self, waiting: dict[str, Suite], idle: bool) -> tuple[str, set[int]] | None:
        """Which suite begins now, and with which cores; None if none does.

        Each gets its part of what is free, and one core at least: many at once with few
        cores each waste less than few with many.  Those that run alone come last, one
        after the other, with all cores.
        """
        for name, suite in waiting.items():
            if not suite.alone and self.free:
                others = sum(not other.alone for other in waiting.values())
                part = max(1, len(self.free) // others)
                return name, self.take(suite.most(part))
        for name, suite in waiting.items():
            if suite.alone and idle:
                return name, self.take(len(self.all))
        return None

    def share_rest(self, jobs: list[Job]) -> None:
        """Give what is free still, which no suite waits for, to suites with a use for it."""
        while self.free:
            wanting = [job for job in jobs if job.suite.most(len(self.all)) > len(job.cores)]
            if not wanting:
                return
            min(wanting, key=lambda job: len(job.cores)).widen(self.take(1))


def _details(outcome: Outcome) -> list[str]:
    """What is to be said of a suite's results, besides how many they are."""
    lines = [f"skipped: {skipped}" for skipped in outcome.result.skipped]
    lines += [f"FAILED: {failed}" for failed in outcome.result.failed]
    if outcome.result.failed:
        said = [line for line in outcome.said.splitlines() if not PASSED.match(line)]
        lines += [f"| {line}" for line in said[-LAST:]]
        lines.append(f"(whole output: {outcome.log})")
    return [f"        {line}" for line in lines]


def _progress(jobs: list[Job], waiting: int) -> str:
    """What runs, and how far each is."""
    parts = []
    for job in jobs:
        so_far = tally(job.log.read_text(errors="replace"), None) if job.log.exists() else Tally()
        parts.append(
            f"{job.name} ({so_far.passed} passed"
            + (f", {len(so_far.failed)} FAILED" if so_far.failed else "")
            + f" in {_clock(time.monotonic() - job.began)})"
        )
    return f"running: {', '.join(parts)}" + (f"; {waiting} more to begin" if waiting else "")


def run(
    suites: dict[str, Suite],
    *,
    cores: set[int] | None = None,
    every: float = EVERY,
    say: Callable[[str], None] = lambda text: print(text, flush=True),
) -> dict[str, Outcome]:
    """Run these suites on `cores` (all that we may use); what became of each.

    `say` is given a line when a suite begins or ends, and `every` so many seconds one about
    those that run.
    """
    with _logs() as logs:
        return _run(suites, logs, cores or os.sched_getaffinity(0), every, say)


def _run(
    suites: dict[str, Suite],
    logs: Path,
    cores: set[int],
    every: float,
    say: Callable[[str], None],
) -> dict[str, Outcome]:
    there = Cores(cores)
    waiting = dict(suites)
    running: dict[Future[Outcome], Job] = {}
    outcomes: dict[str, Outcome] = {}
    cancel = threading.Event()
    began = time.monotonic()
    due = began + every

    def tell(text: str) -> None:
        say(f"[{_clock(time.monotonic() - began):>5}] {text}")

    what = [_count(len(suites), "suite"), _count(len(there.all), "core")]
    tell(f"{' on '.join(what)}; their output goes to {logs}")
    pool = ThreadPoolExecutor(len(suites))
    try:
        while waiting or running:
            while beginning := there.begin(waiting, idle=not running):
                name, own = beginning
                job = Job(name, waiting.pop(name), own, logs / f"{name}.log", time.monotonic())
                job.log.unlink(missing_ok=True)
                running[pool.submit(_one, job, cancel)] = job
                tell(f"{name} began: {job.suite.about}")
            there.share_rest(list(running.values()))
            done, _ = wait(
                running, timeout=max(0, due - time.monotonic()), return_when=FIRST_COMPLETED
            )
            for future in done:
                job = running.pop(future)
                there.free |= job.cores
                ended = outcomes[job.name] = future.result()
                tell(f"{job.name} ended: {ended.result}, after {_clock(ended.wall)}")
                for line in _details(ended):
                    say(line)
            if time.monotonic() >= due:
                due += every
                if running:
                    tell(_progress(list(running.values()), len(waiting)))
    except BaseException:
        cancel.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return {name: outcomes[name] for name in suites}


def total(outcomes: dict[str, Outcome]) -> Tally:
    """The results of all of them together."""
    found = Tally()
    for outcome in outcomes.values():
        found.add(outcome.result)
    return found
