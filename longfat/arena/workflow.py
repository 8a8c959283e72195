# SPDX-License-Identifier: GPL-2.0
"""An evaluation on a cluster, by the report's workflow: each run is a job.

    python -m longfat.arena run --out DIRECTORY NAME

is what a job calls.  It finds in DIRECTORY/evaluation.json what is evaluated.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from longfat.arena import carry, cost, plan
from longfat.arena.plan import RUNS, Evaluation, Run
from longfat.build import given
from longfat.core import data, process
from longfat.core.errors import LabError
from longfat.run import result
from longfat.run.backends import Uml
from longfat.run.kernels import Kernels
from longfat.run.runner import terminable

ABOUT, PLAN = "evaluation.json", "plan.json"
# Of the report, which has the workflow; of the tree alone.
SNAKEFILE, PROFILES = data.PACKAGE / "pages/Snakefile", data.PACKAGE / "pages/profiles"

GRACE = 120.0  # seconds in which it takes back its jobs


def local(profile: Path) -> bool:
    """Whether a profile leaves it to us how many runs there are at once."""
    text = (profile / "config.yaml").read_text()
    return not any(line.startswith("executor:") for line in text.splitlines())


def find(name: str) -> Path:
    """The directory of a profile of Snakemake; LabError if there is none."""
    for path in (Path(name), PROFILES / name):
        if (path / "config.yaml").is_file():
            return path.resolve()
    valid = ", ".join(sorted(one.parent.name for one in PROFILES.glob("*/config.yaml")))
    raise LabError(f"--workflow {name}: no such profile; valid: {valid}, or a directory of yours")


def submit(
    of: Evaluation,
    left: list[Run],
    out: Path,
    modules: list[Path],
    profile: Path,
    jobs: int,
    stall: float = carry.STALL_S,
) -> None:
    """Have these runs carried out by Snakemake, with this profile of it."""
    lab = data.PACKAGE.parent / "scripts/longfat"
    if not lab.is_file():
        raise LabError("--workflow needs the source tree, which has the workflow")
    about = {
        "algorithms": [one.text for one in of.contenders],
        "against": [one.text for one in of.against],
        "profile": of.profile,
        "kernel": of.kernel,
        "modules": [str(path.resolve()) for path in modules],
        "stall": stall,
        "runs": {run.name: run.criterion for run in of.runs},
    }
    result.write_whole(json.dumps(about, indent=1, sort_keys=True) + "\n", out / ABOUT)
    carry.forget(left, out)
    runs = [
        {
            "name": run.name,
            "cpu_s": round(cost.seconds(run), 1),
            "mem_mb": cost.memory(run),
        }
        for run in left
    ]
    where = out.resolve()
    planned = {"where": str(where / RUNS), "runs": runs}
    result.write_whole(json.dumps(planned, indent=1) + "\n", out / PLAN)
    step = ["python", "-m", "longfat.arena", "run", "--out", str(where)]
    status = carried_out(
        [
            *(str(lab), "snakemake", "--snakefile", str(SNAKEFILE), "--directory", str(where)),
            *("--profile", str(profile), *(["--cores", str(jobs)] if local(profile) else [])),
            *("--config", f"plan={where / PLAN}", f"out={where}", f"longfat={lab}"),
            f"step={shlex.join(step)}",
        ]
    )
    files = [(carry.file_of(run, out), carry.error_of(run, out)) for run in left]
    done = sum(any(path.exists() for path in both) for both in files)
    if status and done < len(left):
        raise LabError(
            f"the workflow ended early, {done} of {len(left)} runs are done and kept: it said why "
            f"above, and {out}/log has what its jobs said; the same command goes on"
        )


def carried_out(command: list[str]) -> int:
    """The exit status of Snakemake, which says itself how far it is.  What interrupts us, it is
    told, and it takes back its jobs."""
    # Behind a shell's & SIGINT is ignored, and so it would be by what is started.
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    with terminable(), process.started(command, stdin=subprocess.DEVNULL) as program:
        signal.signal(signal.SIGINT, kept)
        try:
            return program.wait()
        except KeyboardInterrupt:
            os.killpg(program.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                program.wait(GRACE)
            raise


def run(name: str, out: Path) -> None:
    """Carry out the run of this name."""
    try:
        about = json.loads((out / ABOUT).read_text())
        criterion = about["runs"][name]
    except (OSError, ValueError, LookupError) as error:
        raise LabError(f"{out / ABOUT}: has no run {name} ({error!r})") from error
    modules = [Path(path) for path in about["modules"]]
    # A criterion may want a kernel, whatever the others run on.
    with given.awaited():
        of = plan.evaluation(
            *(about["algorithms"], about["against"], about["profile"]),
            only=[criterion],
            kernel=about["kernel"],
        )
    (one,) = (one for one in of.runs if one.name == name)
    where = Kernels([one.scenario.kernel]) if one.scenario.kernel else Uml()
    where.prepare(lambda _: None)
    if modules:
        where.take(modules, lambda text: print(text))
    failed = carry.carry_out(
        [one], out, where, workers=1, console=Console(quiet=True), stall=about["stall"]
    )
    for failure in failed:
        raise LabError(failure.said)


def arguments(words: list[str]) -> argparse.Namespace:
    """What a job is called with."""
    parser = argparse.ArgumentParser(prog="python -m longfat.arena", description=__doc__)
    parser.add_argument("step", choices=["run"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("name")
    return parser.parse_args(words)
