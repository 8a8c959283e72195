# SPDX-License-Identifier: GPL-2.0
"""Many runs on several cores, with a progress bar, that end cleanly."""

from __future__ import annotations

import math
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from longfat.core import scratch
from longfat.core.errors import Disturbed, LabError, Unwritable
from longfat.run import captures, result
from longfat.run.backends import Backend, fill
from longfat.run.kernels import Kernels
from longfat.run.result import Json
from longfat.run.scenario import Scenario


@dataclass
class Job:
    scenario: Scenario
    seed: int
    path: Path  # the result file
    limit: float = math.inf  # wall seconds, if it has less than the others
    reached: float = 0.0  # virtual seconds
    wall: float = 0.0  # seconds, when done
    packets: int = 0


@dataclass
class Failure:
    job: Job
    said: str
    disturbed: bool = False  # it may end well if it is made again

    @property
    def line(self) -> str:
        """What failed, where all that it left is, if it left anything, and why, in a line."""
        name = f"{self.job.scenario.name}, seed {self.job.seed}"
        why = self.said.removeprefix(f"{name}: ").partition("\n")[0]
        kept = str(_kept(self.job))
        return f"{kept if kept in self.said else name}: {why}"


def _kept(job: Job) -> Path:
    """Where what a failed run left is kept."""
    return job.path.with_suffix(".failed")


def jobs_for(scenarios: list[Scenario], seeds: list[int] | None, out: Path) -> list[Job]:
    """A job for each scenario and seed; result files are named <scenario>-s<seed>.json."""
    jobs = [
        Job(scenario, seed, out / f"{scenario.name}-s{seed}.json")
        for scenario in scenarios
        for seed in (seeds or scenario.seeds)
    ]
    for path, count in Counter(job.path for job in jobs).items():
        if count > 1:
            raise LabError(f"{count} runs would write {path}: rename a scenario or a seed")
    return jobs


@contextmanager
def run_directory() -> Iterator[Path]:
    """A directory for one run, removed afterwards."""
    with scratch.directory("run") as path:
        path.chmod(0o755)
        yield path


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM and SIGHUP end the lab as Ctrl-C does."""

    def stop(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(number)

    kept = {s: signal.signal(s, stop) for s in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _full(run: Path) -> str:
    """What to say of a failed run if there is no space for what a run writes."""
    if shutil.disk_usage(run).free > 1 << 18:
        return ""
    return f"no space is left in {run.parent}: free some, or set TMPDIR to another directory\n"


# What reading a run raises that left something else than a run leaves.
_UNREADABLE = (LookupError, ValueError, ArithmeticError)


def _packets(samples: Path) -> int:
    """How many packets the bottleneck carried."""
    with samples.open(errors="replace") as file:
        last = [line for line in file if line.startswith("q ")][-1]
    return int(last.split()[5])


def _one(
    job: Job,
    where: Backend | Kernels,
    timeout: float,
    cancel: threading.Event,
    keep: Callable[[Json, Path, Path], None],
    stall: float,
) -> None:
    backend = where.on(job.scenario)
    with run_directory() as run:
        plan = backend.plan(job.scenario, job.seed)
        fill(run, plan, job.scenario, backend)
        parts = backend.platform.identity(job.scenario, job.seed, backend.name)
        progress = run / "progress"
        began = moved = time.monotonic()

        def tick() -> None:
            nonlocal moved
            name = f"{job.scenario.name}, seed {job.seed}"
            if full := _full(run):
                raise Unwritable(f"{name}, given up: {full}")
            try:
                before, job.reached = job.reached, float(progress.read_text() or 0)
                moved = time.monotonic() if job.reached > before else moved
            except (OSError, ValueError):
                pass
            if stall and time.monotonic() - moved > stall:
                raise LabError(
                    f"{name}, given up: it hangs: {stall:g} s have passed and nothing of the run, "
                    f"which is at {job.reached:g} s"
                )
            if time.monotonic() - began > job.limit:
                # The machine may be what is slow.
                raise Disturbed(
                    f"{name}, given up: it creeps: after {job.limit:.0f} s it is at "
                    f"{job.reached:g} s of {job.scenario.duration:g}"
                )

        backend.execute(
            run,
            job.scenario,
            job.seed,
            timeout=timeout,
            cancel=cancel,
            tick=tick,
        )
        job.wall = time.monotonic() - began
        try:
            data = backend.outcome(job.scenario, job.seed, plan, run, parts)
            job.packets = _packets(run / "samples")
        except (LabError, *_UNREADABLE) as error:
            kept = _kept(job)
            left = f"all it left: {kept}"
            try:
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(run, kept, ignore=shutil.ignore_patterns("bin", "*.ko", "uml"))
            except OSError as lost:  # copytree's has no errno
                shutil.rmtree(kept, ignore_errors=True)
                left = f"what it left could not be copied to {kept}: {lost}"
            full = _full(run)
            kind = Unwritable if full else LabError
            why = str(error)
            if not isinstance(error, LabError):
                why = f"what it left cannot be read: {error!r}"
            raise kind(f"{job.scenario.name}, seed {job.seed}: {why}\n{full}({left})") from error
        job.reached = job.scenario.duration
        captures.keep(run, job.scenario.captures, job.path)
        keep(data, job.path, run)


def run(
    jobs: list[Job],
    backend: Backend | Kernels,
    *,
    workers: int,
    timeout: float,
    console: Console,
    keep_going: bool = False,
    stall: float = 0,
    keep: Callable[[Json, Path, Path], None] = lambda data, path, _: result.write(data, path),
    failed: Callable[[Failure], None] = lambda _: None,
) -> list[Failure]:
    """Carry out all jobs, `workers` at a time; the first failure ends the others, or, if they
    `keep_going`, is said at once and in the list of all failures at the end.  One in which
    no virtual time passes for `stall` seconds has failed.  `keep` is given each result, where
    it belongs, and the directory of its run; `failed` each failure.  Without space all of them end.

    Ctrl-C ends every run that was started and leaves no process, namespace or
    half-written file.
    """
    cancel = threading.Event()
    failures: list[Failure] = []
    total = sum(job.scenario.duration for job in jobs)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[virtual]}"),
        TextColumn("runs"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    with terminable(), Progress(*columns, console=console, transient=True) as bar:
        seconds = bar.add_task("virtual time", total=total, virtual="", visible=True)
        pool = ThreadPoolExecutor(workers)
        of: dict[Future[None], Job] = {
            pool.submit(_one, job, backend, timeout, cancel, keep, stall): job for job in jobs
        }
        futures = set(of)
        try:
            while futures:
                done, futures = wait(futures, timeout=0.25, return_when=FIRST_COMPLETED)
                reached = sum(job.reached for job in jobs)
                finished = sum(1 for job in jobs if job.wall)
                bar.update(
                    seconds,
                    completed=reached,
                    virtual=f"{reached:.0f} of {total:.0f} virtual s, {finished} of {len(jobs)}",
                )
                for future in done:
                    try:
                        future.result()
                    except LabError as error:
                        if not keep_going or isinstance(error, Unwritable):
                            raise
                        disturbed = isinstance(error, Disturbed)
                        failures.append(Failure(of[future], str(error), disturbed))
                        failed(failures[-1])
                        console.print(
                            failures[-1].said, markup=False, highlight=False, soft_wrap=True
                        )
        except BaseException:
            cancel.set()
            for future in futures:
                future.cancel()
            raise
        finally:
            pool.shutdown(wait=True)
    return sorted(failures, key=lambda one: jobs.index(one.job))
