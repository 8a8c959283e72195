# SPDX-License-Identifier: GPL-2.0
"""The command `scripts/longfat`."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import typer.main
from rich.console import Console
from rich.table import Table

from longfat.build import bpf, given, kernel, modules, tools, trees
from longfat.core import cache, data, errors, process, units
from longfat.core.errors import LabError
from longfat.core.files import check_directory
from longfat.run import comparison, far, result, runner, ss
from longfat.run import iperf3 as programs
from longfat.run import scenario as scenarios
from longfat.run.backends import BACKENDS, Backend, Counted, Ssh, Uml, fill
from longfat.run.kernels import Kernels
from longfat.run.plan import make as make_plan
from longfat.show import watch as watching
from longfat.stress import books, chaos
from longfat.stress.smp import Smp

if TYPE_CHECKING:  # what only a command needs is imported there
    from longfat.measure.path.host import Host

app = typer.Typer(
    help="The longfat lab: congestion control on the real kernel TCP stack, in virtual time.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
console = Console()
notes = Console(stderr=True)

Scenarios = Annotated[list[Path], typer.Argument(help="Scenario files (TOML).")]
Results = Annotated[list[Path], typer.Argument(help="Result files (JSON).")]
WHERE = f"Where to run: {', '.join(BACKENDS)}."
Which = Annotated[str, typer.Option(help=WHERE, autocompletion=lambda: list(BACKENDS))]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Runs at once (0: one a core).")]
Modules = Annotated[
    list[Path] | None,
    typer.Option(
        "--module",
        metavar="PATH",
        help="A module of your own: a .c file, or a directory with a Kbuild or Makefile.",
    ),
]
Objects = Annotated[
    list[Path] | None,
    typer.Option(
        "--bpf",
        metavar="PATH",
        help="A congestion control of your own in BPF: an object file with struct_ops.",
    ),
]
KERNEL = "debian:VERSION, the directory of a Linux tree, or DIRECTORY@COMMIT of a git repository"
Out = Annotated[Path, typer.Option("--out", "-o", help="Directory for what is made.")]


def _algorithms() -> list[str]:
    return sorted(modules.algorithms())


def _backend(name: str) -> Backend:
    if name not in BACKENDS:
        raise LabError(f"no backend {name!r}; valid: {', '.join(BACKENDS)}")
    return BACKENDS[name]()


def _place(
    where: str | Backend, found: list[scenarios.Scenario], kernel: str | None
) -> Backend | Kernels:
    """Where all of these run; LabError if a backend has not the kernel of one.  If this kernel is
    the one that was asked for, others may be left out."""
    backend = _backend(where) if isinstance(where, str) else where
    texts = list(dict.fromkeys(one.kernel for one in found))
    if backend.name == Uml.name and any(texts):
        spared = [] if kernel is None else [text for text in texts if text != kernel]
        return Kernels(texts, spared=spared)
    for one in found:
        backend.on(one)
    return backend


def _prepare(backend: Backend | Kernels | Smp) -> None:
    with notes.status("preparing") as status, runner.terminable():
        backend.prepare(lambda text: status.update(f"preparing: {text}"))


@dataclass
class _Own:
    """Algorithms of one's own: modules, and objects of BPF."""

    modules: list[Path]
    objects: list[Path]
    timeout: float  # wall seconds, of a load

    def __bool__(self) -> bool:
        return bool(self.modules or self.objects)

    @property
    def words(self) -> list[str]:
        """As the command line has them."""
        given = [("--module", path) for path in self.modules]
        given += [("--bpf", path) for path in self.objects]
        return [str(word) for both in given for word in both]


def _take(backend: Backend | Kernels, own: _Own) -> None:
    """Build what is one's own and make known what it registers."""

    def say(text: str) -> None:
        notes.print(text, markup=False, highlight=False, soft_wrap=True)

    with notes.status("building modules"), runner.terminable():
        backend.take(own.modules, say, objects=own.objects, timeout=own.timeout)


Read = Callable[[], list[scenarios.Scenario]]


def _ready(
    place: str | Backend, own: _Own, read: Read, out: Path, kernel: str | None = None
) -> tuple[Backend | Kernels, list[scenarios.Scenario]]:
    """The backend of this name, when it and algorithms of one's own are ready, and the scenarios
    that `read` then gives.  What is wrong in a scenario, and that results cannot be written to
    `out`, is said before anything is built."""
    with given.awaited():
        found = read()
    check_directory(out, "choose a directory by -o")
    backend = _place(place, found, kernel)
    if not own and not any(one.kernel for one in found):
        found = read()
        _prepare(backend)
        return backend, found
    backend.check_takes(own.modules, own.objects)
    for path in own.modules:
        given.collect(path)
    for path in own.objects:
        bpf.collect(path)
    _prepare(backend)
    if own:
        _take(backend, own)
    return backend, read()


def _workers(backend: Backend | Kernels, jobs: int) -> int:
    """How many runs at once."""
    workers = jobs or (len(os.sched_getaffinity(0)) if backend.exact else 1)
    if workers > 1 and not backend.exact:
        raise LabError(f"the {backend.name} backend runs in real time: one run at once (-j 1)")
    return workers


def _load(paths: list[Path], kernel: str = "") -> list[scenarios.Scenario]:
    return [one for path in paths for one in scenarios.load(path, kernel=kernel)]


def _current(job: runner.Job, where: Backend | Kernels) -> bool:
    """Whether a job's result is there, as it would be made now."""
    on = where.on(job.scenario)
    return result.current(job.path, job.scenario, job.seed, on.name, on.platform)


def _results(paths: list[Path]) -> list[result.Json]:
    """The results of these files; a run that failed is only said."""
    found = []
    for path in paths:
        for one in result.read_all(path):
            if "failed" not in one:
                found.append(one)
                continue
            said = f"{one['scenario']['name']}, seed {one['seed']}, failed: {one['failed']}"
            notes.print(f"{path}: {said}", markup=False, highlight=False, soft_wrap=True)
    if not found:
        raise LabError(f"no result in {', '.join(map(str, paths))}")
    return found


def _print_whole(printed: Table) -> None:
    """No number is cut: where the screen is too narrow for that, it breaks the lines."""
    printed.width = console.measure(printed, options=console.options.update(width=1000)).maximum
    console.print(printed, crop=False)


def _print_table(headings: list[str], rows: list[list[str]], to: Console = console) -> None:
    """First column left, the others right."""
    printed = Table(box=None)
    for heading in headings:
        printed.add_column(heading, justify="right" if heading else "left")
    for row in rows:
        printed.add_row(*row)
    to.print(printed)


@app.command()
def run(
    files: Scenarios,
    backend: Which = "uml",
    out: Out = Path("results"),
    seed: Annotated[list[int] | None, typer.Option(help="Seeds, instead of the file's.")] = None,
    jobs: Jobs = 0,
    timeout: Annotated[float, typer.Option(help="Wall seconds for one run.")] = 3600,
    force: Annotated[bool, typer.Option(help="Run again where a current result is there.")] = True,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="After a run has failed, go on with the others.")
    ] = False,
    module: Modules = None,
    objects: Objects = None,
    kernel: Annotated[
        str, typer.Option(metavar="KERNEL", help=f"Instead of the scenarios': {KERNEL}.")
    ] = "",
    hosts: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Of the ssh backend: sender and receiver."),
    ] = None,
    build: Annotated[
        bool, typer.Option("--build", help="Of the ssh backend: build and load modules there.")
    ] = False,
) -> None:
    """Run scenarios and write one result file for each run.

    Example: scripts/longfat run tests/scenarios/demo.toml -o out
    """

    def read() -> list[scenarios.Scenario]:
        found = _load(files, kernel)
        runner.jobs_for(found, seed, out)
        return found

    if backend != Ssh.name and (hosts or build):
        raise LabError("--hosts and --build are of --backend ssh")
    machines = Ssh(far.load(hosts), build=build) if hosts else backend
    where, found = _ready(machines, _Own(module or [], objects or [], timeout), read, out)
    todo = runner.jobs_for(found, seed, out)
    if not force:
        todo = [job for job in todo if not _current(job, where)]
    workers = _workers(where, jobs)
    if isinstance(machines, Ssh):
        much = sum(far.most(job.scenario) for job in todo)
        said = f"This sends up to {much / 1e9:.3g} GB, if the path has the rate of its link."
        if much > machines.hosts.cap:
            limit = f"{machines.hosts.cap / 1e9:.3g} GB"
            raise LabError(f"{said} That is above the cap of {limit} (cap in {hosts})")
        notes.print(said)
    began = time.monotonic()
    failed = runner.run(
        todo, where, workers=workers, timeout=timeout, console=notes, keep_going=keep_going
    )
    wall = time.monotonic() - began
    total, lost = len(todo), {one.job.path for one in failed}
    todo = [job for job in todo if job.path not in lost]
    for job in todo:
        console.print(str(job.path), soft_wrap=True, highlight=False)
    virtual = sum(job.scenario.duration for job in todo)
    notes.print(f"{len(todo)} runs, {virtual:.0f} s of experiment in {wall:.0f} s")
    if failed:
        lines = "\n".join(one.line for one in failed)
        raise LabError(f"{len(failed)} of {total} runs failed:\n{lines}")


_DEFAULT = "ParameterSource.DEFAULT"
# What of `compare` is for a path that was measured, too.
_OF_MEASURED = {"algorithms", "backend", "out", "jobs", "timeout", "module", "objects"}


def _compare_measured(
    path: Path, where: str, own: _Own, out: Path, jobs: int, timeout: float
) -> None:
    """The lab beside what `longfat measure` saw of the path of which this is the scenario."""
    from longfat.measure.path import lab

    found = lab.measured(path)
    backend, scenarios_ = _ready(where, own, lambda: _load([path]), out)
    todo = runner.jobs_for(scenarios_, None, out)
    left = [job for job in todo if not _current(job, backend)]
    workers = _workers(backend, jobs)
    runner.run(left, backend, workers=workers, timeout=timeout, console=notes)
    printed, verdict = lab.table(found, [result.read(job.path) for job in todo])
    _print_whole(printed)
    console.print(verdict, markup=False, highlight=False, soft_wrap=True)


@app.command()
def compare(
    context: typer.Context,
    algorithms: Annotated[
        list[str],
        typer.Argument(
            metavar="ALGORITHM...",
            help="What is compared; or the file that `measure --save` wrote.",
            autocompletion=_algorithms,
        ),
    ],
    rate: Annotated[str, typer.Option(help="Of the bottleneck.")] = "100mbit",
    rtt: Annotated[str, typer.Option(help="Round-trip time.")] = "40ms",
    buffer: Annotated[str, typer.Option(help="The bottleneck's.")] = "1bdp",
    loss: Annotated[str, typer.Option(help="Random loss behind the bottleneck.")] = "0",
    flows: Annotated[str, typer.Option(help="How many flows of the algorithm.")] = "1",
    beside: Annotated[
        str, typer.Option(help="One flow of this beside them.", autocompletion=_algorithms)
    ] = "",
    duration: Annotated[str, typer.Option(help="Of each run.")] = "60s",
    warmup: Annotated[str, typer.Option(help="Time at the start that figures leave out.")] = "20s",
    seed: Annotated[
        list[int] | None, typer.Option(help="Seed; repeat for several runs (1).")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="Where the scenario is written.")
    ] = None,
    backend: Which = "uml",
    out: Out = Path("compared"),
    jobs: Jobs = 0,
    timeout: Annotated[float, typer.Option(help="Wall seconds for one run.")] = 3600,
    module: Modules = None,
    objects: Objects = None,
    kernel: Annotated[str, typer.Option(metavar="KERNEL", help=f"Each is {KERNEL}.")] = "",
) -> None:
    """Compare algorithms on every combination of paths: a table, and a page with pictures.

    Of rate, rtt, buffer, loss, flows and kernel several values may be given, with commas.  A run
    with a current result is not repeated.  With the file of a path that was measured, the
    table has what the lab says beside what was measured.

    Example: scripts/longfat compare ltcp cubic --buffer 0.1bdp,1bdp --beside reno
    """
    from longfat.show import compared

    if any(word.endswith(".toml") for word in algorithms):
        given_ = [x for x in context.params if str(context.get_parameter_source(x)) != _DEFAULT]
        if more := sorted({*given_} - _OF_MEASURED):
            raise LabError(f"{algorithms[0]}: says what the path is: leave --{more[0]} out")
        if len(algorithms) > 1:
            raise LabError("compare: one file of `measure --save`, and nothing beside it")
        return _compare_measured(
            Path(algorithms[0]),
            backend,
            _Own(module or [], objects or [], timeout),
            out,
            jobs,
            timeout,
        )
    if save and save.suffix != ".toml":
        raise LabError(f"{save}: the scenario is TOML, so the name must end in .toml")
    what = comparison.Comparison(
        algorithms,
        rate=rate.split(","),
        rtt=rtt.split(","),
        buffer=buffer.split(","),
        loss=loss.split(","),
        flows=flows.split(","),
        kernel=kernel.split(","),
        beside=beside,
        duration=duration,
        warmup=warmup,
        seeds=tuple(seed or [1]),
    )
    name = save.stem if save else "compare"
    own = _Own(module or [], objects or [], timeout)

    def read() -> list[scenarios.Scenario]:
        found = comparison.scenarios(what, name)
        if save:
            comparison.check(what, save)
        return found

    where, _ = _ready(backend, own, read, out)
    file = save or out / f"{name}.toml"
    comparison.write(what, file)
    todo = runner.jobs_for(_load([file]), None, out)

    def done() -> list[runner.Job]:
        return [job for job in todo if _current(job, where)]

    def show() -> None:
        found = [result.read(job.path) for job in done()]
        if not found:
            return
        _print_whole(compared.table(found))
        words = [data.COMMAND, "run", str(file), *own.words]
        words += ["--backend", backend] if backend != Uml.name else []
        page = out / f"{name}.html"
        result.write_whole(compared.page(found, f"{shlex.join(words)} -o {out}"), page)
        for path in (page, file):
            console.print(str(path), soft_wrap=True, highlight=False)

    kept = {job.path for job in done()}
    left = [job for job in todo if job.path not in kept]
    workers = _workers(where, jobs)
    try:
        failed = runner.run(
            left, where, workers=workers, timeout=timeout, console=notes, keep_going=True
        )
    except (KeyboardInterrupt, process.Cancelled):
        show()
        notes.print(
            f"{len(done())} of {len(todo)} runs are done and kept; the same command goes on"
        )
        raise
    show()
    if len(done()) + len(failed) < len(todo):
        raise LabError(
            f"some of the {len(todo)} results in {out} are not of this comparison: another one "
            f"writes there at the same time; choose another directory with -o"
        )
    if failed:
        lines = "\n".join(one.line for one in failed)
        raise LabError(f"{len(failed)} of {len(todo)} runs failed:\n{lines}")


@app.command()
def evaluate(
    algorithms: Annotated[
        list[str],
        typer.Argument(
            metavar="ALGORITHM...",
            help="What is evaluated: NAME, or NAME:PARAMETER=VALUE,... of its module.",
            autocompletion=_algorithms,
        ),
    ],
    against: Annotated[
        str, typer.Option(help="What stands beside them, with commas (by the profile).")
    ] = "",
    only: Annotated[str, typer.Option(help="These criteria, with commas: 5.1.2,tcpeval-4.4.")] = "",
    profile: Annotated[
        str, typer.Option(help="How much of each: smoke, standard or full.")
    ] = "smoke",
    dry: Annotated[bool, typer.Option("--dry", help="Only say what it costs.")] = False,
    workflow: Annotated[
        str,
        typer.Option(
            metavar="PROFILE",
            help="Make each run a job of Snakemake, by this profile of it: slurm, or a directory.",
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Directory [evaluated/PROFILE-CRITERIA-KERNEL]."),
    ] = None,
    jobs: Jobs = 0,
    timeout: Annotated[
        float, typer.Option(min=1, help="Wall seconds in which nothing of a run passes: it hangs.")
    ] = 300,
    retry: Annotated[
        bool, typer.Option("--retry", help="Make the runs again that failed.")
    ] = False,
    module: Modules = None,
    objects: Objects = None,
    kernel: Annotated[str, typer.Option(metavar="KERNEL", help=f"The kernel: {KERNEL}.")] = "",
    keep: Annotated[
        bool, typer.Option("--keep", help="Take the numbers into docs/results, for the pages.")
    ] = False,
) -> None:
    """Evaluate algorithms by every criterion: RFC 9743, the common TCP evaluation suite, nsperf.

    Writes a score card for each, and the league of all.  A run with a current result is not
    repeated, so an interrupted evaluation goes on where it was.

    Example: scripts/longfat evaluate ltcp --only 5.1,tcpeval-6
    """
    from longfat.arena import carry, cost, pages, plan, score
    from longfat.arena import keep as keeping
    from longfat.arena import workflow as jobs_of

    made: list[plan.Evaluation] = []
    without: dict[str, str] = {}

    def read() -> list[scenarios.Scenario]:
        made[:] = [
            plan.evaluation(
                algorithms,
                plan.listed(against),
                profile,
                only=plan.listed(only),
                kernel=kernel,
                counted=bool(objects),
                without=without,
            )
        ]
        if keep:
            keeping.place(made[0])
        return [run.scenario for run in made[0].runs]

    def say(text: str) -> None:
        notes.print(text, markup=False, highlight=False, soft_wrap=True)

    if objects and (keep or workflow or kernel):
        raise LabError("--bpf goes neither with --keep nor with --workflow nor with --kernel")
    if keep and (module or kernel):
        raise LabError("--keep takes what the tree has: leave --module and --kernel out")
    named = re.sub(r"[^A-Za-z0-9.]+", "_", kernel).strip("_")
    if kernel and not kernel.startswith("debian:"):
        # The jobs of a cluster have another current directory.
        path, commit = trees.split(kernel)
        kernel = "@".join(word for word in (str(path.resolve()), commit) if word)

    def say_what_is_left_out() -> None:
        for line in made[0].left_out:
            say(line)
        if not made[0].runs:
            raise LabError("there is nothing to run")

    if dry:
        # A module of one's own is not built, so nothing is known of its parameters.
        with given.awaited() if module or objects else nullcontext():
            read()
        say_what_is_left_out()
        _print_table(*cost.table(made[0].runs))
        say(cost.total(made[0].runs, jobs or len(os.sched_getaffinity(0))))
        return
    by = jobs_of.find(workflow) if workflow else None
    if by and jobs and not jobs_of.local(by):
        raise LabError(f"-j: how many runs there are at once is in {by}/config.yaml (jobs)")
    own = _Own(module or [], objects or [], timeout or 3600)
    parts = [profile, *([only] if only else []), *(["bpf"] if objects else [])]
    parts += [named] if kernel else []
    to = out or Path("evaluated") / "-".join(parts)
    where, _ = _ready(Counted.name if objects else Uml.name, own, read, to, kernel)
    if isinstance(where, Kernels) and where.without:
        without.update(where.without)
        read()
    of = made[0]
    say_what_is_left_out()
    with carry.alone(to):
        plan.write_scenarios(of, to)
        left = carry.left(of, to, where, retry=retry)
        workers = _workers(where, jobs)
        if left:
            _print_table(*cost.table(left), to=notes)
        say(f"{len(left)} of {len(of.runs)} runs are left to do: {cost.total(left, workers)}")

        if any(
            path.exists()
            for run in left
            for path in (carry.file_of(run, to), carry.error_of(run, to))
        ):
            pages.forget(to)
        # Now, so that whatever interrupts the rest shows nothing older.
        carry.forget(left, to)

        def show() -> score.Scores:
            scores = score.score(of, to)
            for path in pages.write(scores, to, own.words):
                console.print(str(path), soft_wrap=True, highlight=False)
            return scores

        try:
            if by and left:
                jobs_of.submit(of, left, to, module or [], by, workers, timeout)
            else:
                with carry.timed(to) if left else nullcontext():
                    carry.carry_out(left, to, where, workers=workers, console=notes, stall=timeout)
        except (KeyboardInterrupt, process.Cancelled):
            show()
            say("what is done is kept; the same command goes on")
            raise
        scores = show()
        if keep:
            console.print(str(keeping.write(scores)), soft_wrap=True, highlight=False)
        failed = [path for run in of.runs if (path := carry.error_of(run, to)).exists()]
        if failed:
            lines = "\n".join(
                f"{path}: {path.read_text(errors='replace').splitlines()[0]}" for path in failed
            )
            what = f"{len(failed)} of {len(of.runs)} runs failed; --retry makes them again"
            raise LabError(f"{what}:\n{lines}")
        if without:
            lines = "\n".join(f"{text}: {why}" for text, why in without.items())
            raise LabError(f"kernels that criteria ask for and that cannot be made ready:\n{lines}")
        if wrong := scores.not_made:
            raise LabError("numbers that cannot be made of their runs:\n" + "\n".join(wrong))


@app.command()
def show(
    files: Scenarios,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Directory for pictures, as SVG.")
    ] = None,
) -> None:
    """Draw the network of scenarios before they are run: links, and what crosses them.

    Example: scripts/longfat show tests/scenarios/demo.toml -o out
    """
    from longfat.show import network

    for one in _load(files):
        if out:
            path = out / f"{one.name}.svg"
            result.write_whole(network.svg(one), path)
            console.print(str(path), soft_wrap=True, highlight=False)
        else:
            print(network.text(one))


@app.command()
def table(
    files: Results,
    flows: Annotated[bool, typer.Option(help="Also each run's flows.")] = False,
) -> None:
    """Print a table of result files, or of lists of summaries as docs/results has them.

    Example: scripts/longfat table out/*.json
    """
    from longfat.show import report

    results = _results(files)
    _print_whole(report.table(results))
    if flows:
        for one in results:
            console.print(report.flow_table(one))


@app.command()
def plot(
    files: Results,
    out: Out = Path("out"),
    event: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Also events.svg: cwnd, and this field of events."),
    ] = None,
) -> None:
    """Draw cwnd, goodput, RTT and queue over time, as SVG, from result files.

    Example: scripts/longfat plot out/demo-*.json -o pictures
    """
    from longfat.show import report

    results = _results(files)
    for path in report.write_pictures(results, out, event=event):
        console.print(str(path), soft_wrap=True, highlight=False)


@app.command()
def page(
    files: Results,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")],
    title: Annotated[str, typer.Option(help="Its heading.")] = "longfat",
) -> None:
    """Write an HTML page with table and pictures from result files.

    Example: scripts/longfat page out/*.json -o out/page.html
    """
    from longfat.show import report

    results = _results(files)
    command = f"{data.COMMAND} page " + " ".join(path.name for path in files)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(report.page(results, title, command))
    console.print(str(out), soft_wrap=True, highlight=False)


@app.command()
def export(
    files: Results,
    out: Out = Path("tables"),
    csv: Annotated[bool, typer.Option("--csv", help="As CSV (the default).")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="As Parquet; needs pyarrow.")] = False,
    flent: Annotated[bool, typer.Option("--flent", help="A data file of flent's a run.")] = False,
) -> None:
    """Write runs, settings, flows, samples, queue and events as tables, for other programs.

    Such as pandas, R or a spreadsheet.  A row for each observation, which says of which run, flow
    and connection it is.

    Example: scripts/longfat export out/*.json -o tables
    """
    from longfat.show import export as tables
    from longfat.show import flent as flents

    results = _results(files)
    asked = {"csv": csv or not (parquet or flent), "parquet": parquet}
    written = [tables.write(results, out, form) for form, wanted in asked.items() if wanted]
    written += [flents.write(results, out)] if flent else []
    for path in (path for paths in written for path in paths):
        console.print(str(path), soft_wrap=True, highlight=False)


@app.command()
def summarise(files: Results, out: Out) -> None:
    """Write result files without their samples, small enough to be committed.

    Example: scripts/longfat summarise out/*.json -o docs/results
    """
    for path in files:
        result.write(result.summarise(result.read(path)), out / path.name)
        console.print(str(out / path.name), soft_wrap=True, highlight=False)


@app.command()
def bench(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
    backend: Annotated[
        str,
        typer.Option(help="uml or vm.", autocompletion=lambda: ["uml", "vm"]),
    ] = "uml",
    repeat: Annotated[int, typer.Option(help="How often.")] = 3,
    profile: Annotated[
        bool, typer.Option("--profile", help="Once, below perf: where the time of a packet goes.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write all that was measured (JSON).")
    ] = None,
) -> None:
    """Say how fast the lab runs: virtual seconds and packets for each second of one core.

    With --backend vm: how much of its rate the bottleneck holds in real time, and the
    highest rate that it holds within 1 %.  With --profile: what the core does for a packet.

    Example: scripts/longfat bench tests/scenarios/bench.toml
    """
    from longfat.measure import profile as profiles
    from longfat.measure import speed

    if not 1 <= repeat <= 100:
        raise LabError(f"{repeat} times: valid is 1 to 100")
    if backend not in ("uml", "vm"):
        raise LabError(f"bench measures the backends uml and vm, not {backend!r}")

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True, markup=False)

    if profile:
        if backend != "uml":
            raise LabError("--profile is of virtual time: --backend uml")
        data = profiles.profile(scenarios.load(file), say)
    elif backend == "uml":
        data = speed.virtual(scenarios.load(file), repeat, notes, say)
    else:
        with notes.status("measuring in a virtual machine"):
            data = speed.real(scenarios.load(file), repeat, say)
        for flows, best in speed.highest(data["cases"]).items():
            say(f"highest rate held with flows {flows}: {best / 1e6:g} Mbit/s")
    if out:
        speed.write(data, out)
        console.print(str(out), soft_wrap=True, highlight=False)


@app.command()
def cost(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write all that was measured (JSON).")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Batches of each kind, for the median.")] = 51,
) -> None:
    """Say what an ACK costs in each congestion control: nanoseconds and instructions.

    Takes five minutes.  Instructions need what the vm backend needs.  Needs the source tree.

    Example: scripts/longfat cost
    """
    from longfat.measure import cost as costs

    if not 1 <= rounds <= 1001:
        raise LabError(f"{rounds} rounds: valid is 1 to 1001")
    modules.tests_of("bench")
    with notes.status("measuring what an ACK costs"), runner.terminable():
        data = costs.measure(rounds, lambda text: notes.print(text, markup=False))
    window, acked = costs.TYPICAL
    console.print(f"an ACK for {acked} packets, window {window}; a loss, without ACKs")
    _print_table(*costs.table(data, quartiles=False))
    if out and not data["instructions"]:
        raise LabError(f"{out} is not written: instructions were not counted, see above")
    if out:
        costs.write(data, out)
        console.print(str(out), soft_wrap=True, highlight=False)


@app.command()
def stack(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
    turns: Annotated[int, typer.Option(help="Turns of each algorithm, for the median.")] = 2,
    counted: Annotated[
        bool, typer.Option("--counted", help="Not in real time, which other work disturbs.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write all that was measured (JSON).")
    ] = None,
) -> None:
    """Say what carrying data costs with each congestion control: sender, path and receiver.

    Instructions for a byte and emulated seconds for a GB; needs what the vm backend needs.

    Example: scripts/longfat stack tests/scenarios/stack.toml --counted
    """
    from longfat.measure import stack as stacks

    if not 1 <= turns <= 100:
        raise LabError(f"{turns} turns: valid is 1 to 100")
    with notes.status("measuring what carrying data costs") as status:
        data = stacks.measure(
            scenarios.load(file),
            turns,
            lambda text: status.update(f"measuring: {text}"),
            real=not counted,
        )
    _print_table(*stacks.table(data))
    if out:
        stacks.write(data, out)
        console.print(str(out), soft_wrap=True, highlight=False)


@app.command()
def iperf3(
    file: Annotated[Path, typer.Argument(help="Scenario file (TOML) with the path.")],
    cc: Annotated[
        str, typer.Option("--cc", "-C", help="Congestion control.", autocompletion=_algorithms)
    ] = "ltcp",
    seconds: Annotated[int, typer.Option("--time", "-t", min=1, help="Virtual seconds.")] = 3,
    json: Annotated[bool, typer.Option(help="iperf3's JSON output.")] = False,
) -> None:
    """Run the real iperf3 over the path of a scenario, in virtual time.

    Example: scripts/longfat iperf3 tests/scenarios/demo.toml -C ltcp
    """
    tools.need("iperf3")
    one = scenarios.load(file)[0]
    if cc not in modules.algorithms():
        raise LabError(f"no congestion control {cc!r}; valid: {sorted(modules.algorithms())}")
    if not one.flow:
        raise LabError(f"{file}: has no [[flow]], whose path iperf3 would take")
    flow = scenarios.Flow.model_construct(cc=cc, rtt=one.flow[0].rtt, access=one.flow[0].access)
    update: dict[str, object] = {kind: [] for kind in scenarios.TRAFFIC} | {"flow": [flow]}
    update |= {"duration": float(seconds), "sample": 1.0}
    one = one.model_copy(update=update | {"traffic": "iperf3", "trace": False, "pcap": False})
    where = Uml()
    _prepare(where)
    made = make_plan(one, 1, prefix="lf", virtual=True)
    if not json:
        made.main = programs.script("lf-d", made.programs, text=True)
    with runner.run_directory() as scratch, runner.terminable():
        fill(scratch, made, one, where)
        where.execute(
            scratch,
            one,
            1,
            timeout=600,
        )
        client, failed = scratch / f"client-{made.programs[0].ident}", scratch / "error"
        print(client.read_text() if client.exists() else "", end="")
        if failed.exists():
            raise LabError(failed.read_text().strip())


@app.command(context_settings={"ignore_unknown_options": True})
def watch(
    expression: Annotated[
        list[str] | None, typer.Argument(metavar="[FILTER]...", help="A filter of ss(8).")
    ] = None,
    what: Annotated[
        str, typer.Option("--field", "-f", help=f"What to draw: {', '.join(watching.FIELDS)}.")
    ] = "cwnd",
    interval: Annotated[float, typer.Option(help="Seconds from sample to sample.")] = 0.2,
    seconds: Annotated[float, typer.Option("--time", "-t", help="Seconds (0: to the end).")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write a picture (SVG) at the end.")
    ] = None,
) -> None:
    """Draw the congestion window of running connections of this machine, as they run.

    Ends with the last of them, or by Ctrl-C.  Needs no root.

    Example: scripts/longfat watch dst 192.0.2.1 dport = :5201
    """
    if what not in watching.FIELDS:
        raise LabError(f"no field {what!r}; valid: {', '.join(watching.FIELDS)}")
    if interval < 0.01:
        raise LabError(f"an interval of {interval:g} s: 0.01 s is the shortest")
    if out and out.suffix != ".svg":
        raise LabError(f"{out}: the picture is SVG, so the name must end in .svg")
    lines = watching.collect(
        ss.ask(expression or []),
        what,
        interval=interval,
        seconds=seconds,
        show=watching.painter(what),
    )
    if not sys.stdout.isatty():
        print(watching.plot(lines, what, colour=False))
    if out:
        from longfat.show import report

        drawn = [(line.label, line.t, line.y) for line in lines]
        unit = watching.FIELDS[what]
        report.write_svg(report.lines_picture(drawn, unit, "ss -tin"), out)
        notes.print(f"wrote {out}", soft_wrap=True, highlight=False)


@app.command()
def measure(
    host: Annotated[str, typer.Argument(help="The far end, which runs `iperf3 -s`.")],
    cc: Annotated[
        str,
        typer.Option("--cc", "-C", help="Algorithms, with commas (all that you may choose)."),
    ] = "",
    minutes: Annotated[float, typer.Option(help="About how long.")] = 10,
    rounds: Annotated[int, typer.Option(help="So many rounds, instead (0: --minutes).")] = 0,
    seconds: Annotated[int, typer.Option(min=1, max=3600, help="Of each run.")] = 15,
    size: Annotated[
        str, typer.Option("--bytes", help="Each run sends so much, instead; how long does it take?")
    ] = "",
    parallel: Annotated[str, typer.Option(help="Connections of a run, with commas.")] = "1",
    reverse: Annotated[bool, typer.Option("--reverse", help="The far end sends.")] = False,
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="There.")] = 5201,
    cap: Annotated[str, typer.Option(help="Bytes at which it ends.")] = "20GB",
    seed: Annotated[int, typer.Option(help="Of the order of the runs.")] = 1,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Also write the path, as a scenario for the lab."),
    ] = None,
    out: Out = Path("measured"),
) -> None:
    """Say which algorithm is best on the path to another machine, which needs iperf3 alone.

    Runs of all algorithms take turns, in rounds of random order.  Prints medians with
    intervals, which differences are real, and what else limits; writes results and a page.

    Example: scripts/longfat measure host.example -C ltcp,cubic,bbr --minutes 10
    """
    from longfat.measure.path import client, lab
    from longfat.measure.path import host as ends
    from longfat.measure.path import rounds as turns

    def say(text: str) -> None:
        notes.print(text, markup=False, highlight=False, soft_wrap=True)

    if rounds < 0 or rounds > 10000 or not 0 < minutes <= 10080:
        raise LabError("--rounds is 1 to 10000, --minutes up to 10080, a week")
    many = parallel.split(",")
    if not all(word.isascii() and word.isdigit() and 1 <= int(word) <= 128 for word in many):
        raise LabError(f"--parallel {parallel}: is numbers from 1 to 128, with commas: 1,8")
    if len({*map(int, many)}) < len(many):
        raise LabError(f"--parallel {parallel}: a number is given twice")
    try:
        much, most = (units.size(size) if size else 0), units.size(cap)
    except ValueError as error:
        raise LabError(f"--bytes or --cap: {error}") from error
    if save and save.suffix != ".toml":
        raise LabError(f"{save}: the scenario is TOML, so the name must end in .toml")
    for file in (save, lab.measured_file(save)) if save else ():
        if file.exists():
            raise LabError(f"{file}: is there: choose another name by --save")
    if save and reverse:
        raise LabError("--save: with --reverse the path's RTT and losses are not seen here")
    for directory in (out, *([save.parent] if save else [])):
        check_directory(directory, "choose another one by -o or --save")
    if sorted(out.glob("measured-*.json")):
        raise LabError(
            f"{out}: has the results of another measurement: choose another directory by -o"
        )
    client.need()

    found: list[result.Json] = []

    def keep(one: result.Json) -> None:
        result.write(one, out / f"{one['scenario']['name']}-s{one['seed']}.json")
        found.append(one)

    wanted = cc.split(",") if cc else []
    with runner.terminable(), ends.unloading(wanted, say):
        chosen = ends.algorithms(wanted)
        if save and (lacking := lab.lacking(chosen, modules.algorithms())):
            say(f"--save: the lab has no {', '.join(lacking)}: the scenario will be without")
        contenders = tuple(client.Contender(one, int(n)) for one in chosen for n in many)
        path = client.Path(host, ends.resolve(host), port, seconds, much, reverse)
        here = ends.look(path.address)
        if not rounds and not much:
            rounds = turns.fitting(minutes, len(contenders) * (seconds + turns.BETWEEN))
        plan = turns.Plan(path, contenders, rounds, seed, most, minutes)
        for line in turns.announce(plan, here):
            say(line)
        try:
            turns.carry_out(plan, here, keep, say)
        except (KeyboardInterrupt, process.Cancelled, LabError) as error:
            ended = f"{len(found)}{f' of {plan.runs}' if plan.runs else ''} runs are done"
            if found:
                ended += f" and kept in {out}"
                try:
                    _show_measured(found, here, out, save)
                except LabError as wrong:  # it must not hide what ended the measurement
                    say(str(wrong))
                if isinstance(error, LabError):
                    raise LabError(f"{error}\n{ended}") from error
            if not isinstance(error, LabError):
                say(ended)
            raise
        if found:
            _show_measured(found, here, out, save)


def _show_measured(found: list[result.Json], here: Host, out: Path, save: Path | None) -> None:
    """What these runs between this host and another say, on the terminal and as a page; and the
    path as a scenario, if `save` names a file."""
    from longfat.measure.path import answer, lab, limits, seen

    made = answer.make(found)
    _print_whole(answer.table(made, found[0]["scenario"]["title"]))
    for text in [
        *answer.of_the_best(made),
        *answer.summary(found, here),
        answer.recommendation(made, here.default),
    ]:
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    words = [data.COMMAND, *sys.argv[1:]]
    result.write_whole(answer.page(found, here, shlex.join(words)), out / "measured.html")
    written = [out / "measured.html"]
    if save:
        of = seen.path(found)
        _print_whole(answer.path_table(of))
        for text in answer.path_reasons(of):
            console.print(text, markup=False, highlight=False, soft_wrap=True)
        hard = [one.text for one in limits.find(found, here) if one.hard]
        written += lab.save(found, save, modules.algorithms(), hard)
    for file in written:
        console.print(str(file), soft_wrap=True, highlight=False)


SHELLS = ("bash", "zsh", "fish")


def command() -> Callable[..., object]:
    """The parser of the command line.  Of typer's completion it has what a shell calls, and not
    the two options, one of which writes to the user's home: `completion` is in their place."""
    made = typer.main.get_command(app)
    made.params = [one for one in made.params if not str(one.name).endswith("_completion")]
    for one in getattr(made, "commands", {}).values():
        one.help = one.help.replace("scripts/longfat", data.COMMAND)
    return made


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(help=f"One of {', '.join(SHELLS)}.")],
) -> None:
    """Print what makes a shell complete this command's line.

    Example: eval "$(scripts/longfat completion bash)"
    """
    if shell not in SHELLS:
        raise LabError(f"no completion for {shell!r}; valid: {', '.join(SHELLS)}")
    # So the shells' completion calls a program.
    os.environ["_LONGFAT_COMPLETE"] = f"source_{shell}"
    try:
        command()(prog_name="longfat")
    finally:
        del os.environ["_LONGFAT_COMPLETE"]


@app.command()
def check(
    suites: Annotated[
        list[str] | None, typer.Argument(help="Suites, or fast: those of some minutes (all).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write how long each took (JSON).")
    ] = None,
) -> None:
    """Run the test suites; `make check` calls this with the test tools in place.

    Needs the source tree.

    Example: LONGFAT_CHECK=1 scripts/longfat check unit lint
    """
    from longfat.check import running, times
    from longfat.check.suites import choose

    chosen = choose(suites or [])
    clock = times.Clock()
    with runner.terminable():
        outcomes = running.run(chosen)
    total = running.total(outcomes)
    print(total, flush=True)
    if total.failed:
        sys.exit(1)
    if out:
        times.write(out, suites or [], outcomes, clock)
        console.print(str(out), soft_wrap=True, highlight=False)


@app.command()
def stress(
    file: Annotated[Path, typer.Argument(help="What may be mixed (TOML).")],
    minutes: Annotated[float, typer.Option(help="Wall minutes in which seeds are begun.")] = 0,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 1,
    runs: Annotated[int, typer.Option(help="Seeds at least.")] = 1,
    jobs: Jobs = 0,
    out: Out = Path("out"),
    timeout: Annotated[float, typer.Option(help="Wall seconds for one run.")] = 1800,
    sanitizers: Annotated[bool, typer.Option(help="On the kernel with sanitizers.")] = True,
    smp: Annotated[
        bool, typer.Option(help="In an emulator with two processors, in real time, for races.")
    ] = False,
) -> None:
    """Connections that everything happens to, seed after seed; says what held at the end.

    Example: scripts/longfat stress tests/stress/chaos.toml --minutes 30
    """
    mix = chaos.load(file)
    if smp and not sanitizers:
        raise LabError("--smp is a kernel with sanitizers of its own: leave out --no-sanitizers")
    how = " --smp" if smp else "" if sanitizers else " --no-sanitizers"
    where = Smp() if smp else Uml(kernel.SANITIZERS if sanitizers else kernel.LAB)
    _prepare(where)
    with runner.terminable():
        total, failed = books.keep(
            mix,
            where,
            first=seed,
            runs=runs,
            seconds=60 * minutes,
            jobs=jobs,
            out=out,
            timeout=timeout,
            say=lambda text: console.print(text, highlight=False, soft_wrap=True, markup=False),
        )
    if failed:
        raise LabError(
            f"{len(failed)} of {total['runs']} runs failed, seeds {', '.join(map(str, failed))}; "
            f"one again: {data.COMMAND} stress {file}{how} --seed {failed[0]}"
        )


@app.command()
def kunit(
    sanitizers: Annotated[bool, typer.Option(help="On the kernel with sanitizers.")] = False,
    other: Annotated[
        str, typer.Option("--kernel", help="On another one, such as debian:7.2.", metavar="KERNEL")
    ] = "",
) -> None:
    """Run the KUnit suites on the virtual-time kernel; prints their KTAP.

    Needs the source tree.

    Example: scripts/longfat kunit
    """
    from longfat.check import kunit as suites

    if sanitizers and other:
        raise LabError("--sanitizers and --kernel do not go together: that is a kernel of its own")
    what = kernel.choose(other) if other else kernel.SANITIZERS if sanitizers else kernel.LAB
    where = Uml(what, other)
    modules.tests_of("kunit")
    _prepare(where)
    lines, quiet = suites.run(what, where)
    print("\n".join(lines))
    if not quiet:
        raise LabError("the kernel complained during the KUnit suites, see above")


@app.command()
def build() -> None:
    """Build the virtual-time kernel and the modules, if the cache lacks them.

    Example: scripts/longfat build
    """
    where = Uml()
    _prepare(where)
    version = (kernel.build() / "version").read_text().strip()
    console.print(f"kernel {version} and modules are in {cache.directory()}")


@app.command()
def clean() -> None:
    """Remove the cache: kernels, modules, chroots (the next run builds them again).

    Example: scripts/longfat clean
    """
    from longfat.machines import suite

    suite.remove()
    cache.remove(cache.directory())


def main() -> None:
    """Entry point: errors for people on one screen, exit status 1, 130 after Ctrl-C."""
    # ip, tc and sysctl are there, and not on every user's PATH.
    places = os.environ.get("PATH", "/usr/bin:/bin").split(":")
    os.environ["PATH"] = ":".join(dict.fromkeys([*places, "/usr/sbin", "/sbin"]))
    try:
        status = command()(prog_name="longfat", standalone_mode=False)
        # typer swallows Ctrl-C and returns what its status would be.
        if status == 130:
            raise KeyboardInterrupt
    except (KeyboardInterrupt, process.Cancelled):
        notes.print("interrupted; everything that was started has been ended")
        sys.exit(130)
    except LabError as error:
        notes.print(f"longfat: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
    except typer.Abort:
        sys.exit(130)
    except OSError as error:
        if error.errno not in errors.UNWRITABLE:
            raise
        notes.print(
            f"longfat: {error.filename2 or error.filename or 'a file'}: {error.strerror} "
            f"(results go to --out, temporary files to {tempfile.gettempdir()}, or TMPDIR if "
            f"it is set, and what is kept to {cache.directory()}, or below XDG_CACHE_HOME)",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
        sys.exit(1)
    except Exception as error:
        # A wrong command line, reported by the parser with how it should be.
        if hasattr(error, "show"):
            error.show()
            sys.exit(getattr(error, "exit_code", 2))
        raise
