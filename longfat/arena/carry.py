# SPDX-License-Identifier: GPL-2.0
"""Carrying out an evaluation: what is there and current stays, the others are run, and what fails
is written down beside them.

A run is kept as runs/NAME.json: its summary, and the series that its criterion asks for.  One that
failed is runs/NAME.error, with all that was said; it is made again the next time.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from rich.console import Console

from longfat.arena import cost, observe
from longfat.arena.plan import RUNS, Evaluation, Run
from longfat.core.errors import LabError
from longfat.run import result, runner
from longfat.run.backends import Backend
from longfat.run.kernels import Kernels
from longfat.run.result import Json

Where = Backend | Kernels
# Wall seconds after which a run has failed in which nothing passes, and in any case: a machine that
# has other things to do is slow, and what hangs stands still.
STALL_S, TIMEOUT_S = 300.0, 6 * 3600.0


def file_of(run: Run, out: Path) -> Path:
    """What is kept of a run."""
    return out / RUNS / f"{run.name}.json"


def error_of(run: Run, out: Path) -> Path:
    """What a run that failed said."""
    return file_of(run, out).with_suffix(".error")


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
    """Whether a run is there as it would be made now."""
    path = file_of(run, out)
    if not path.exists() or error_of(run, out).exists() or read(run, out) is None:
        return False
    on = where.on(run.scenario)
    return result.current(path, run.scenario, run.seed, on.name, on.platform)


def left(of: Evaluation, out: Path, where: Where) -> list[Run]:
    """The runs that are to be made, the longest first."""
    found = [run for run in of.runs if not current(run, out, where)]
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


def _never_sent(run: Run, data: Json) -> list[str]:
    """The algorithms of a run of which nothing arrived, and nothing was sent again: what only
    loses does send."""
    return [cc for cc in sorted(run.scenario.algorithms) if _sent_nothing(run, data, cc)]


def _sent_nothing(run: Run, data: Json, cc: str) -> bool:
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
    return asked and not came and not any(one["completed"] for one in objects)


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
    jobs = [runner.Job(run.scenario, run.seed, file_of(run, out)) for run in runs]
    of = {job.path: run for job, run in zip(jobs, runs, strict=True)}

    def keep(data: Json, path: Path, where: Path) -> None:
        run = of[path]
        if names := _never_sent(run, data):
            raise LabError(f"{run.name}: {' and '.join(names)} never sent anything")
        result.write(kept(run, data, where), path)

    return runner.run(
        jobs,
        where,
        workers=workers,
        timeout=TIMEOUT_S,
        stall=stall,
        console=console,
        keep_going=True,
        keep=keep,
        failed=lambda failure: _say(failure, of[failure.job.path], out),
    )


def _say(failure: runner.Failure, run: Run, out: Path) -> None:
    """Write down why a run failed."""
    _forget_what_it_left(run, out)
    said = failure.said.partition("\n(all it left")[0]
    result.write_whole(said.rstrip("\n") + "\n", error_of(run, out))
