# SPDX-License-Identifier: GPL-2.0
"""Carrying out an evaluation: what is there and current stays, the others are run, and what fails
is written down beside them.

A run is kept as runs/NAME.json: its summary, and the series that its criterion asks for.  One that
failed is runs/NAME.error: all that was said, and a last line by which it is known as a result is.
It is made again if it would be another run now, or on demand.
"""

from __future__ import annotations

import json
import math
import resource
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from rich.console import Console

from longfat.arena import cost, observe
from longfat.arena.plan import RUNS, Evaluation, Run
from longfat.core import cache
from longfat.core.errors import LabError
from longfat.run import result, runner
from longfat.run.backends import Backend
from longfat.run.kernels import Kernels
from longfat.run.result import Json

Where = Backend | Kernels
STALL_S = 300.0  # wall seconds after which a run has failed in which nothing passes
TOOK = "took.json"
KNOWN = "\nknown by: "  # what begins the last line of a failure


def processor_s() -> float:
    """Processor seconds that this process and its children have used."""
    each = [resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in each)


def alone(out: Path) -> AbstractContextManager[None]:
    """No other evaluation writes into `out` meanwhile; LabError if one does."""
    words = "another longfat writes there now: wait for it, or choose another directory with -o"
    return cache.lock(f"evaluation-{cache.digest(str(out.resolve()))}", f"{out}: {words}")


@contextmanager
def timed(out: Path) -> Iterator[None]:
    """Add what this takes to what was written down before, of an evaluation that was
    interrupted."""
    began, used, before = time.monotonic(), processor_s(), took(out)
    try:
        yield
    finally:
        now = {"wall_s": time.monotonic() - began, "cpu_s": processor_s() - used}
        found = {name: round(before.get(name, 0) + value, 1) for name, value in now.items()}
        result.write_whole(json.dumps(found) + "\n", out / TOOK)


def took(out: Path) -> dict[str, float]:
    """Wall and processor seconds of an evaluation, if all of it was made on this machine."""
    try:
        found: dict[str, float] = json.loads((out / TOOK).read_text())
    except (OSError, ValueError):
        return {}
    return found


def file_of(run: Run, out: Path) -> Path:
    """What is kept of a run."""
    return out / RUNS / f"{run.name}.json"


def error_of(run: Run, out: Path) -> Path:
    """Where it is written down that a run failed."""
    return file_of(run, out).with_suffix(".error")


def said(run: Run, out: Path) -> str | None:
    """What a run that failed said, or None if it did not fail."""
    if not error_of(run, out).exists():
        return None
    return _words_and_known(run, out)[0].strip() or "no reason"


def _words_and_known(run: Run, out: Path) -> tuple[str, str]:
    text = error_of(run, out).read_text(errors="replace")
    words, there, known = text.rpartition(KNOWN)
    return (words, known) if there else (text, "")


def kept(run: Run, data: Json, where: Path) -> Json:
    """What is kept of a result, and of what its run left in `where`."""
    try:
        whole = observe.whole(data, run.scenario, run.seed, where / "samples")
        seen = observe.of(whole, list(run.observe))
    except (LookupError, ValueError, TypeError, ArithmeticError) as error:
        raise LabError(f"{run.name}: its samples cannot be read: {error!r}") from error
    return result.summarise(data) | {"observed": seen, "observer": observe.VERSION}


def read(run: Run, out: Path) -> Json | None:
    """What is kept of a run, or None if there is nothing that can be read."""
    try:
        found = result.read(file_of(run, out))
    except LabError:
        return None
    wanted = found.get("observer") == observe.VERSION and set(run.observe) <= set(
        found.get("observed", {})
    )
    return found if wanted else None


def current(run: Run, out: Path, where: Where) -> bool:
    """Whether a run is there, or failed, as it would be made now."""
    if error_of(run, out).exists():
        return _fails_again(run, out, where)
    path = file_of(run, out)
    if not path.exists() or read(run, out) is None:
        return False
    on = where.on(run.scenario)
    return result.current(path, run.scenario, run.seed, on.name, on.platform)


def _fails_again(run: Run, out: Path, where: Where) -> bool:
    """Whether one that failed would be the same run now.  What a job of a cluster says that it did
    not end by itself is known by nothing."""
    on = where.on(run.scenario)
    try:
        found = json.loads(_words_and_known(run, out)[1])
        same = (found["observer"], found["backend"]) == (observe.VERSION, on.name)
        return same and on.platform.knows(found, run.scenario, run.seed)
    except (ValueError, LookupError, TypeError):
        return False


def left(of: Evaluation, out: Path, where: Where, *, retry: bool = False) -> list[Run]:
    """The runs that are to be made, the longest first; to `retry` those that failed is to make them
    again, too."""
    found = [
        run
        for run in of.runs
        if not current(run, out, where) or (retry and error_of(run, out).exists())
    ]
    return sorted(found, key=lambda run: (-cost.seconds(run), run.name))


def forget(runs: list[Run], out: Path) -> None:
    """Take away what there is of these runs, which are to be made: should they not be, a page would
    show an older version's numbers as those of now."""
    for run in runs:
        file_of(run, out).unlink(missing_ok=True)
        error_of(run, out).unlink(missing_ok=True)
        _forget_what_it_left(run, out)


def _forget_what_it_left(run: Run, out: Path) -> None:
    """The directory of a run that failed: its words are enough."""
    shutil.rmtree(file_of(run, out).with_suffix(".failed"), ignore_errors=True)


def _nothing_came(run: Run, data: Json) -> list[str]:
    """Which algorithms of a run never sent anything, or completed no object."""
    return [why for cc in sorted(run.scenario.algorithms) if (why := _nothing_of(run, data, cc))]


def _nothing_of(run: Run, data: Json, cc: str) -> str:
    """That nothing of an algorithm arrived, and nothing was sent again: what only loses does send.
    Of an object that is not complete nobody knows."""
    connections = [one for flow in data["flows"] if flow["cc"] == cc for one in flow["connections"]]
    columns = [one[name] for one in connections for name in ("received", "retransmissions")]
    objects = [
        one
        for kind in result.OBJECTS
        for one in data.get(kind, [])
        if getattr(run.scenario, kind)[one[kind]].cc == cc
    ]
    asked = bool(connections) or any(one["begun"] for one in objects)
    came = any(max(column, default=0) for column in columns)
    if not asked or came or any(one["completed"] for one in objects):
        return ""
    return f"{cc} never sent anything" if connections else f"{cc} completed no object"


def carry_out(
    runs: list[Run],
    out: Path,
    where: Where,
    *,
    workers: int,
    console: Console,
    stall: float = STALL_S,
) -> list[runner.Failure]:
    """Make these runs; those that failed.  What ends all of them, such as a full disk, is
    raised."""
    forget(runs, out)
    job_of = {
        run.name: runner.Job(run.scenario, run.seed, file_of(run, out), cost.limit(run))
        for run in runs
    }
    of = {job_of[run.name].path: run for run in runs}

    def keep(data: Json, path: Path, where: Path) -> None:
        run = of[path]
        if why := _nothing_came(run, data):
            raise LabError(f"{run.name}: {' and '.join(why)}")
        result.write(kept(run, data, where), path)

    failed = []
    for some, many in cost.parts(runs, workers):
        failed += runner.run(
            [job_of[run.name] for run in some],
            where,
            workers=many,
            timeout=math.inf,
            stall=stall,
            console=console,
            keep_going=True,
            keep=keep,
            failed=lambda failure: _say(failure, of[failure.job.path], out, where),
        )
    return failed


def _say(failure: runner.Failure, run: Run, out: Path, where: Where) -> None:
    """Write down why a run failed, and of what it is known."""
    _forget_what_it_left(run, out)
    said = failure.said.partition("\n(all it left")[0]
    on = where.on(run.scenario)
    known: Json = {"backend": on.name, "observer": observe.VERSION}
    # Known by nothing is a module that was not built, and a run that something else ended.
    with suppress(LabError, LookupError):
        if not failure.disturbed:
            known["identity"] = on.platform.identity(run.scenario, run.seed, on.name)
    text = f"{said.rstrip()}{KNOWN}{json.dumps(known, sort_keys=True)}\n"
    result.write_whole(text, error_of(run, out))
