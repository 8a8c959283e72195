# SPDX-License-Identifier: GPL-2.0
"""The runs behind the figures: which there are to be, one of them, and what came of them.

A run is a scenario and a seed, and one file, out/runs/<scenario>-s<seed>.json, or a .error beside
it with what it said.  What is kept of all runs of a scenario file is one file of summaries, with
what the module of the page observes in them; a run that failed is a line in it too.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache as once
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from longfat.arena.cost import length
from longfat.build import kernel
from longfat.build.modules import ROOT, tree_version
from longfat.core import process
from longfat.core.errors import LabError
from longfat.pages import cost
from longfat.pages.catalogue import PEERS, Figure
from longfat.pages.data import RESULTS
from longfat.pages.verdict import State
from longfat.run import backends, identity, result, runner, scenario, summaries
from longfat.run.identity import Platform
from longfat.run.kernels import Kernels
from longfat.run.result import Json
from longfat.run.scenario import Scenario

PROFILES = Path(__file__).parent / "profiles"
COMMITTED = "committed"
ASIDE = ".older"  # suffix of a result that is being made again


@dataclass(frozen=True)
class Profile:
    """How much of everything is run: profiles/NAME/runs.toml."""

    name: str
    # Figure -> how its runs are named; others are not run.  None: all figures, all runs.
    figures: dict[str, list[str]] | None = None
    seeds: int = 0  # at most; 0: all
    peer_seeds: int = 0  # ... of the kernel's own, if not as many
    peers: tuple[str, ...] = PEERS
    beside: bool = False  # what is to be there from another backend, too
    runs_of: str = ""  # the profile whose runs these are

    @property
    def out(self) -> Path:
        """Where its report is."""
        return ROOT / "out/report" / (self.runs_of or self.name)

    @property
    def runs(self) -> Path:
        """Where runs are, of all profiles: one that two want is made once."""
        return ROOT / "out/runs"

    def has(self, figure: Figure) -> bool:
        """Whether a figure is run."""
        return self.figures is None or figure.id in self.figures

    def wants(self, figure: Figure, one: Scenario) -> bool:
        """Whether a figure is run with this scenario."""
        patterns = ["*"] if self.figures is None else self.figures.get(figure.id, [])
        return any(fnmatchcase(one.name, pattern) for pattern in patterns)

    @property
    def fewer_seeds(self) -> bool:
        """Whether the kernel's own may have fewer than their files say."""
        return bool(self.peer_seeds) or self.name == COMMITTED

    @property
    def results(self) -> Path:
        """Where summaries are."""
        return RESULTS if self.name == COMMITTED else self.out / "results"


def profile(name: str) -> Profile:
    """A profile by its name; `committed` is docs/results as it is."""
    if name == COMMITTED:
        return Profile(name)
    path = PROFILES / name / "runs.toml"
    if not path.exists():
        valid = sorted(one.parent.name for one in PROFILES.glob("*/runs.toml"))
        raise LabError(f"no profile {name!r}; valid: {', '.join([*valid, COMMITTED])}")
    data: dict[str, Any] = tomllib.loads(path.read_text())
    if "peers" in data:
        data["peers"] = tuple(data["peers"])
    return Profile(name, **data)


@once
def _load(name: str) -> tuple[Scenario, ...]:
    return tuple(scenario.load(ROOT / f"tests/scenarios/{name}.toml"))


def peer_of(one: Scenario) -> str:
    """Whose run this is, in a file of peers: the first flow's; nobody's if it has none."""
    return one.flow[0].cc if one.flow else ""


def expected(
    figure: Figure, how: Profile, *, peers: bool = False, under: bool = False, run: str = ""
) -> dict[str, list[tuple[Scenario, int]]]:
    """Scenario file -> the runs that a figure wants of it: its own, those with the kernel's own
    (`peers`), or those under the paper's conditions (`under`).  `run`: only of the files that the
    run of that name may be of, as a run is called as its file, and more."""
    found = {}
    seeds = (peers and how.peer_seeds) or how.seeds
    for name in figure.conditions if under else figure.peers if peers else figure.scenarios:
        if run and not run.startswith(f"{name}-"):
            continue
        wanted = _load(name)
        if peers:
            wanted = tuple(one for one in wanted if peer_of(one) in how.peers)
        runs = [
            (one, seed)
            for one in wanted
            if how.wants(figure, one)
            for seed in one.seeds[: seeds or len(one.seeds)]
        ]
        if runs:
            found[name] = runs
    return found


def whole_of(figure: Figure, how: Profile, run: str = "") -> dict[str, list[tuple[Scenario, int]]]:
    """The same of all files of a figure."""
    return (
        expected(figure, how, run=run)
        | expected(figure, how, peers=True, run=run)
        | expected(figure, how, under=True, run=run)
    )


def wanted(
    figures: list[Figure], how: Profile, run: str = ""
) -> dict[str, list[tuple[Scenario, int]]]:
    """Scenario file -> runs, of all of these figures; `run`: as above."""
    found: dict[str, list[tuple[Scenario, int]]] = {}
    for figure in figures:
        for file, runs in whole_of(figure, how, run).items():
            there = found.setdefault(file, [])
            there += [run for run in runs if run not in there]
    return found


def run_of(line: Json) -> str:
    """The name of the run that a line is of."""
    name, seed = _key(line)
    return f"{name}-s{seed}"


def run_name(one: Scenario, seed: int) -> str:
    """What the files of a run are called."""
    return f"{one.name}-s{seed}"


def whole(figure: Figure) -> str:
    """What a figure costs that a first look leaves out, in words."""
    runs = expected(figure, Profile("full"))
    seconds = sum(cost.estimate(one, file) for file, of in runs.items() for one, _ in of)
    return f"{length(seconds)} of CPU time: make report FIGURE={figure.id}"


def path_of(how: Profile, one: Scenario, seed: int, suffix: str = "") -> Path:
    """The file of a run; with its figure's suffix of the one on the backend beside."""
    return how.runs / f"{run_name(one, seed)}{suffix}.json"


@once
def here() -> Platform:
    """What runs are made on here.  Where no kernel is built yet: what the published ones are of."""
    return Platform.here() if kernel.built() else published()


@once
def published() -> Platform:
    """What the results of docs/results are to be of."""
    return Platform.published()


def renew_platform() -> str:
    """Write down that published results are of what is here; whether that is new."""
    now = Platform.here()
    was = published() if identity.PUBLISHED.exists() else None
    new = was.renewed(now) if was else now
    result.write_whole(new.text(), identity.PUBLISHED)
    published.cache_clear()
    how = "as it was" if new == was else "of what is here now"
    return f"{identity.PUBLISHED}: is {how}"


def platform(how: Profile) -> Platform:
    """What a profile's runs are to be of."""
    return published() if how.name == COMMITTED else here()


def is_made(path: Path, one: Scenario, seed: int) -> bool:
    """Whether the result of a run is there, can be read, and is current."""
    try:
        return here().knows(result.read(path), one, seed)
    except (LabError, LookupError, TypeError):
        return False


# --- one run


def to_do(path: Path, one: Scenario, seed: int) -> bool:
    """Whether a run is to be made: there is no result of it as it is, or it failed since."""
    return path.with_suffix(".error").exists() or not is_made(path, one, seed)


def _carry_out(job: runner.Job, where: backends.Backend | Kernels, timeout: float) -> None:
    """One run.  If it fails its .error says why; interrupted, it leaves nothing."""
    error = job.path.with_suffix(".error")
    job.path.parent.mkdir(parents=True, exist_ok=True)
    error.unlink(missing_ok=True)
    try:
        where.prepare(lambda _: None)
        quiet = Console(quiet=True)
        runner.run([job], where, workers=1, timeout=timeout, console=quiet)
    except process.Cancelled:
        raise
    except Exception as failed:
        error.write_text(f"{failed}\n")
        raise
    job.path.with_suffix(ASIDE).unlink(missing_ok=True)
    # What an earlier failure left (longfat.run.runner).
    shutil.rmtree(job.path.with_suffix(".failed"), ignore_errors=True)


def left_beside(
    figures: list[Figure], how: Profile, *, again: bool = False, only: set[str] | None = None
) -> list[tuple[str, runner.Job]]:
    """The runs that are to be there from another backend, too, and are not (`again`: all; `only`:
    these at most), and from which."""
    jobs = [
        (figure.beside, runner.Job(one, seed, path_of(how, one, seed, figure.suffix)))
        for figure in figures
        if figure.beside and how.beside
        for runs in expected(figure, how).values()
        for one, seed in runs
    ]
    return [
        (backend, job)
        for backend, job in jobs
        if (only is None or job.path.stem in only)
        and (again or to_do(job.path, job.scenario, job.seed))
    ]


def beside(jobs: list[tuple[str, runner.Job]], *, timeout: float) -> list[str]:
    """Carry these out on their backends, one after the other: for those in real time nothing else
    must go on on this machine.  Those that failed."""
    failed = []
    for backend, job in jobs:
        print(f"{backend}: {job.path.stem}, {job.scenario.duration:g} s", file=sys.stderr)
        try:
            _carry_out(job, backends.BACKENDS[backend](), timeout)
        except process.Cancelled:
            raise
        except Exception as error:
            failed.append(f"{job.path.stem}: {error}")
    return failed


def find(name: str, figures: list[Figure], how: Profile) -> tuple[str, Scenario, int]:
    """(scenario file, scenario, seed) of the run of that name."""
    for file, runs in wanted(figures, how, name).items():
        for one, seed in runs:
            if run_name(one, seed) == name:
                return file, one, seed
    raise LabError(f"no run {name!r} in the profile {how.name}")


def run(name: str, figures: list[Figure], how: Profile, *, timeout: float) -> None:
    """Carry out one run."""
    _, one, seed = find(name, figures, how)
    path = path_of(how, one, seed)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    where = Kernels([one.kernel]) if one.kernel else backends.Uml()
    _carry_out(runner.Job(one, seed, path), where, timeout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    path.with_suffix(".cpu").write_text(f"{spent:.2f}\n")


# --- all runs


def not_current(figures: list[Figure]) -> set[str]:
    """The runs of these figures that docs/results has of older versions, or not at all."""
    return {
        f"{name}{suffix}"
        for file, (_, suffix, runs) in files(figures, profile(COMMITTED)).items()
        for found in [state(read(RESULTS, file), runs, published())]
        for name in (*found.older, *found.missing, *found.failed)
    }


def plan(
    figures: list[Figure], how: Profile, *, again: bool = False, only: set[str] | None = None
) -> list[Json]:
    """The runs that these figures want, longest first; `again`: as if none was there; `only`:
    these at most."""
    out = []
    for file, runs in wanted(figures, how).items():
        for one, seed in runs:
            if only is not None and run_name(one, seed) not in only:
                continue
            out.append(
                {
                    "name": run_name(one, seed),
                    "file": file,
                    "cpu_s": round(cost.estimate(one, file), 1),
                    "mem_mb": 2048 + round(32 * one.bdp / 2**20),
                    "done": not again and not to_do(path_of(how, one, seed), one, seed),
                }
            )
    return sorted(out, key=lambda entry: (-entry["cpu_s"], entry["name"]))


def clear(runs: list[Json], beside: list[tuple[str, runner.Job]], how: Profile) -> None:
    """Put the results of those that are to be made aside, so that they are made; until they are,
    a page shows the older ones."""
    names = [how.runs / f"{entry['name']}.json" for entry in runs if not entry["done"]]
    for path in [*names, *(job.path for _, job in beside)]:
        with suppress(FileNotFoundError):
            path.replace(path.with_suffix(ASIDE))


def _observe(paper: str, run: Json) -> Json:
    found: Json = import_module(f"longfat.pages.observe.{paper}").observe(run)
    return found


def _line(path: Path, paper: str, one: Scenario, seed: int) -> Json | None:
    """What is kept of a run: its summary, or that it failed, or nothing."""
    failed = {"failed": "", "scenario": json.loads(one.model_dump_json()), "seed": seed}
    if path.with_suffix(".error").exists():
        return failed | {"failed": path.with_suffix(".error").read_text().strip() or "no reason"}
    there = [at for at in (path, path.with_suffix(ASIDE)) if at.exists()]
    if not there:
        return None
    try:
        found = result.read(there[0])
        return result.summarise(found) | {"observed": _observe(paper, found)}
    except Exception as error:
        # It cannot be read, or is too short for what is looked for in it; the others are to be
        # summarised all the same.
        return failed | {"failed": f"nothing to be observed: {error!r}"}


def write(lines: list[Json], path: Path) -> None:
    """A file of summaries, in one step."""
    result.write_whole(summaries.text(lines), path)


def files(
    figures: list[Figure], how: Profile
) -> dict[str, tuple[str, str, list[tuple[Scenario, int]]]]:
    """File of summaries -> whose paper it is of, what is behind its runs' names, its runs."""
    found: dict[str, tuple[str, str, list[tuple[Scenario, int]]]] = {}
    for figure in figures:
        for file, runs in whole_of(figure, how).items():
            suffixes = ["", figure.suffix] if figure.beside else [""]
            for suffix in suffixes:
                # Two figures may want different runs of a file; who observes is its first.
                paper, _, there = found.get(file + suffix, (figure.paper, suffix, []))
                new = [run for run in runs if run not in there]
                found[file + suffix] = (paper, suffix, [*there, *new])
    return found


def gather(figures: list[Figure], how: Profile) -> None:
    """Write the summaries of a profile's runs, as far as they are there."""
    how = profile(how.runs_of or how.name)
    for file, (paper, suffix, runs) in files(figures, how).items():
        lines = [_line(path_of(how, one, seed, suffix), paper, one, seed) for one, seed in runs]
        write([line for line in lines if line], how.results / f"{file}.json")


def keep(figures: list[Figure], how: Profile, *, partial: bool = False) -> list[str]:
    """Put what there is beside what docs/results has, where all of it is current then or, if
    `partial`, in any case, and what each scenario file cost; the names of the scenario files that
    are not complete."""
    version = tree_version()
    if how.figures is not None:
        raise LabError(
            f"docs/results holds whole figures; the profile {how.name} has parts of them"
        )
    left, all_runs = [], files(figures, profile(COMMITTED))
    for file, (_, _, runs) in files(figures, how).items():
        lines = merged(read(RESULTS, file), read(how.results, file), all_runs[file][2], version)
        # The published platform knows this machine's by now.
        complete = len(state(lines, runs, published()).current) == len(runs)
        if lines and (complete or partial):
            write(lines, RESULTS / f"{file}.json")
        if not complete:
            left.append(file)
    cost.keep(
        how.runs,
        {f: [(run_name(*r), r[0]) for r in runs] for f, runs in wanted(figures, how).items()},
    )
    return left


def read(where: Path, file: str) -> list[Json]:
    """The summaries of a scenario file, none if there is no file."""
    path = where / f"{file}.json"
    found: list[Json] = summaries.read(path) if path.exists() else []
    return found


def _key(line: Json) -> tuple[str, int]:
    return line["scenario"]["name"], line["seed"]


def state(lines: list[Json], runs: list[tuple[Scenario, int]], on: Platform) -> State:
    """What became of these runs, which are to be of this platform."""
    there = {_key(line): line for line in lines}
    found = State(len(runs))
    for one, seed in runs:
        line, name = there.get((one.name, seed)), run_name(one, seed)
        if line is None:
            found.missing.append(name)
        elif "failed" in line:
            found.failed[name] = str(line["failed"])
        else:
            how = f" ({line['accelerator']})" if "accelerator" in line else ""
            found.kernels.add(f"{line['kernel']}{how}")
            if on.knows(line, one, seed):
                found.current.append(name)
            else:
                found.older[name] = str(line.get("version", "unknown"))
    return found


def there(lines: list[Json], runs: list[tuple[Scenario, int]]) -> list[Json]:
    """Of these lines those that are of these runs and did not fail, current or older."""
    wanted = {(one.name, seed) for one, seed in runs}
    return [line for line in lines if _key(line) in wanted and "failed" not in line]


def current(lines: list[Json], runs: list[tuple[Scenario, int]], on: Platform) -> list[Json]:
    """Of these lines those that are current."""
    wanted = {(one.name, seed): one for one, seed in runs}
    return [line for line in there(lines, runs) if on.knows(line, wanted[_key(line)], line["seed"])]


def merged(
    kept: list[Json], new: list[Json], runs: list[tuple[Scenario, int]], version: str
) -> list[Json]:
    """What docs/results is to have of these runs, in their order: a new failure, or else what was
    made here and is current, which is of this version then, or else what it had."""
    made = [{"version": version} | line for line in current(new, runs, here())]
    # What is there already keeps the version that it was first of.
    had = {_key(line): line for line in kept}
    made = [
        had[key]
        if (key := _key(line)) in had and had[key] | {"version": ""} == line | {"version": ""}
        else line
        for line in made
    ]
    failed = [line for line in new if "failed" in line]
    found = had | {_key(line): line for line in [*made, *failed]}
    return [found[one.name, seed] for one, seed in runs if (one.name, seed) in found]


def _observed(path: Path, paper: str) -> Json:
    """As a file of summaries has it."""
    found: Json = json.loads(json.dumps(_observe(paper, result.read(path))))
    return found


def differs(path: Path, line: Json, paper: str) -> list[str]:
    """The keys of a summary, and of what is observed in it, of which a result gives something
    else.  `of` is left out: it is a hash of columns that a summary does not have."""
    made = result.summarise(result.read(path))
    # Which other seeds there are is none of a run's, nor a title, nor a key that it had not.
    left_out = ("observed", "of", "version", "scenario")
    found = [key for key in made | line if key not in left_out and made.get(key) != line.get(key)]
    observed = _observed(path, paper)
    # Whatever a page reads of the summary is in it.
    found += [
        f"observed {key}" for key, was in line["observed"].items() if observed.get(key) != was
    ]
    return sorted(found)
