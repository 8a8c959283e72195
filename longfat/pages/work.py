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
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache as once
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from longfat.build import kernel, modules
from longfat.build.modules import ROOT
from longfat.core import process
from longfat.core.errors import LabError
from longfat.pages import cost
from longfat.pages.catalogue import PEERS, Figure
from longfat.pages.data import RESULTS, confirmations, gave_the_same
from longfat.pages.verdict import State
from longfat.run import backends, result, runner, scenario
from longfat.run.result import Json
from longfat.run.scenario import Scenario

PROFILES = Path(__file__).parent / "profiles"
COMMITTED = "committed"


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
    """Whose run this is, in a file of peers: the first flow's."""
    return one.flow[0].cc


def expected(figure: Figure, how: Profile, *, peers: bool) -> dict[str, list[tuple[Scenario, int]]]:
    """Scenario file -> the runs that a figure wants of it."""
    found = {}
    seeds = (peers and how.peer_seeds) or how.seeds
    for name in figure.peers if peers else figure.scenarios:
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


def wanted(figures: list[Figure], how: Profile) -> dict[str, list[tuple[Scenario, int]]]:
    """Scenario file -> runs, of all of these figures."""
    found: dict[str, list[tuple[Scenario, int]]] = {}
    for figure in figures:
        for peers in (False, True):
            for file, runs in expected(figure, how, peers=peers).items():
                there = found.setdefault(file, [])
                there += [run for run in runs if run not in there]
    return found


def run_name(one: Scenario, seed: int) -> str:
    """What the files of a run are called."""
    return f"{one.name}-s{seed}"


def whole(figure: Figure) -> str:
    """What a figure costs that a first look leaves out, in words."""
    runs = expected(figure, Profile("full"), peers=False)
    seconds = sum(cost.estimate(one, file) for file, of in runs.items() for one, _ in of)
    return f"{cost.length(seconds)} of CPU time: make report FIGURE={figure.id}"


def path_of(how: Profile, one: Scenario, seed: int, suffix: str = "") -> Path:
    """The file of a run; with its figure's suffix of the one on the backend beside."""
    return how.runs / f"{run_name(one, seed)}{suffix}.json"


def sources(one: Scenario) -> dict[str, str]:
    """Hashes of our modules in a scenario as they are."""
    return modules.source_hashes(one.algorithms | set(one.module))


def is_of(found: Json, one: Scenario) -> bool:
    """Whether a result is of this scenario as it is; which other seeds it has does not matter."""
    same = json.loads(one.model_dump_json()) | {"seeds": None}
    return bool(found["scenario"] | {"seeds": None} == same)


def measured_as(found: Json, one: Scenario) -> bool:
    """Whether a result is of this scenario and of our modules as they are."""
    return is_of(found, one) and bool(found["modules"] == sources(one))


@once
def _kernel() -> str:
    """The version of the lab's kernel as a result has it; none if it is not built yet."""
    built = kernel.built()
    # Debian's has the revision of its package, too.
    return (built / "version").read_text().split("-")[0] if built else ""


def of_kernel(found: Json) -> bool:
    """Whether a result in virtual time is of the lab's kernel as it is, as far as that is known."""
    return found.get("backend") != "uml" or found["kernel"] == (_kernel() or found["kernel"])


def is_made(path: Path, one: Scenario) -> bool:
    """Whether the result of a run is there, can be read, and is of this scenario, our modules and
    the lab's kernel as they are."""
    try:
        found = result.read(path)
        return measured_as(found, one) and of_kernel(found)
    except (LabError, LookupError, TypeError):
        return False


CONFIRMED = RESULTS / "confirmed.json"


@once
def _confirmations() -> dict[str, Json]:
    return confirmations()


def confirmed(found: Json, one: Scenario) -> bool:
    """Whether a result of other sources is what the present ones give, by a run of this scenario
    that was made again."""
    return is_of(found, one) and gave_the_same(
        _confirmations().get(one.name), found["modules"], sources(one)
    )


# --- one run


def to_do(path: Path, one: Scenario) -> bool:
    """Whether a run is to be made: there is no result of it as it is, or it failed since."""
    return path.with_suffix(".error").exists() or not is_made(path, one)


def _carry_out(job: runner.Job, where: backends.Backend, timeout: float) -> None:
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
    # What an earlier failure left (lab.runner).
    shutil.rmtree(job.path.with_suffix(".failed"), ignore_errors=True)


def left_beside(
    figures: list[Figure], how: Profile, *, again: bool = False
) -> list[tuple[str, runner.Job]]:
    """The runs that are to be there from another backend, too, and are not (`again`: all), and
    from which."""
    jobs = [
        (figure.beside, runner.Job(one, seed, path_of(how, one, seed, figure.suffix)))
        for figure in figures
        if figure.beside and how.beside
        for runs in expected(figure, how, peers=False).values()
        for one, seed in runs
    ]
    return [(backend, job) for backend, job in jobs if again or to_do(job.path, job.scenario)]


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
    for file, runs in wanted(figures, how).items():
        for one, seed in runs:
            if run_name(one, seed) == name:
                return file, one, seed
    raise LabError(f"no run {name!r} in the profile {how.name}")


def run(name: str, figures: list[Figure], how: Profile, *, timeout: float) -> None:
    """Carry out one run."""
    _, one, seed = find(name, figures, how)
    path = path_of(how, one, seed)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _carry_out(runner.Job(one, seed, path), backends.Uml(), timeout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    path.with_suffix(".cpu").write_text(f"{spent:.2f}\n")


# --- all runs


def plan(figures: list[Figure], how: Profile, *, again: bool = False) -> list[Json]:
    """The runs that these figures want, longest first; `again`: as if none was there."""
    out = []
    for file, runs in wanted(figures, how).items():
        for one, seed in runs:
            out.append(
                {
                    "name": run_name(one, seed),
                    "file": file,
                    "cpu_s": round(cost.estimate(one, file), 1),
                    "mem_mb": 2048 + round(32 * one.bdp / 2**20),
                    "done": not again and not to_do(path_of(how, one, seed), one),
                }
            )
    return sorted(out, key=lambda entry: (-entry["cpu_s"], entry["name"]))


def clear(runs: list[Json], beside: list[tuple[str, runner.Job]], how: Profile) -> None:
    """Remove the results of those that are to be made, so that they are."""
    names = [how.runs / f"{entry['name']}.json" for entry in runs if not entry["done"]]
    for path in [*names, *(job.path for _, job in beside)]:
        path.unlink(missing_ok=True)


def _observe(paper: str, run: Json) -> Json:
    found: Json = import_module(f"longfat.pages.observe.{paper}").observe(run)
    return found


def _line(path: Path, paper: str, one: Scenario, seed: int) -> Json | None:
    """What is kept of a run: its summary, or that it failed, or nothing."""
    failed = {"failed": "", "scenario": json.loads(one.model_dump_json()), "seed": seed}
    if path.with_suffix(".error").exists():
        return failed | {"failed": path.with_suffix(".error").read_text().strip() or "no reason"}
    if not path.exists():
        return None
    try:
        found = result.read(path)
        return result.summarise(found) | {"observed": _observe(paper, found)}
    except Exception as error:
        # It cannot be read, or is too short for what is looked for in it; the others are to be
        # summarised all the same.
        return failed | {"failed": f"nothing to be observed: {error!r}"}


def write_lines(lines: list[Json], path: Path) -> None:
    """A file of summaries, a run in each line."""
    texts = [json.dumps(line, separators=(",", ":"), sort_keys=True) for line in lines]
    result.write_whole("[\n" + ",\n".join(texts) + "\n]\n", path)


def files(
    figures: list[Figure], how: Profile
) -> dict[str, tuple[str, str, list[tuple[Scenario, int]]]]:
    """File of summaries -> whose paper it is of, what is behind its runs' names, its runs."""
    found: dict[str, tuple[str, str, list[tuple[Scenario, int]]]] = {}
    for figure in figures:
        for file, runs in (
            expected(figure, how, peers=False) | expected(figure, how, peers=True)
        ).items():
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
        write_lines([line for line in lines if line], how.results / f"{file}.json")


def keep(figures: list[Figure], how: Profile, *, partial: bool = False) -> list[str]:
    """Put what there is beside what docs/results has, where that makes it complete or, if
    `partial`, in any case, and what each scenario file cost; the names of the scenario files that
    are not complete."""
    if how.figures is not None:
        raise LabError(
            f"docs/results holds whole figures; the profile {how.name} has parts of them"
        )
    left, all_runs = [], files(figures, profile(COMMITTED))
    for file, (_, _, runs) in files(figures, how).items():
        lines = merged(read(RESULTS, file), read(how.results, file), all_runs[file][2])
        complete = state(lines, runs).complete
        if lines and (complete or partial):
            write_lines(lines, RESULTS / f"{file}.json")
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
    found: list[Json] = json.loads(path.read_text()) if path.exists() else []
    return found


def state(lines: list[Json], runs: list[tuple[Scenario, int]]) -> State:
    """What became of these runs."""
    there = {(line["scenario"]["name"], line["seed"]): line for line in lines}
    found = State(len(runs))
    for one, seed in runs:
        line = there.get((one.name, seed))
        if line is None:
            found.missing.append(run_name(one, seed))
        elif "failed" in line:
            found.failed[run_name(one, seed)] = str(line["failed"])
        elif not (measured_as(line, one) or confirmed(line, one)):
            found.stale.append(run_name(one, seed))
        else:
            how = f" ({line['accelerator']})" if "accelerator" in line else ""
            found.kernels.add(f"{line['kernel']}{how}")
            now = sources(one)
            found.sources |= {
                f"{name} {of}{'' if now.get(name) == of else ' (earlier)'}"
                for name, of in line["modules"].items()
            }
            if measured_as(line, one):
                found.measured.append(run_name(one, seed))
            else:
                found.earlier.append(run_name(one, seed))
                # That another seed, of the present sources by now, was made again is said of that.
                if seed in _confirmations()[one.name]["seeds"]:
                    found.again.add(run_name(one, seed))
    return found


def current(lines: list[Json], runs: list[tuple[Scenario, int]]) -> list[Json]:
    """Of these lines those that are of these runs, are not stale, and did not fail."""
    wanted = {(one.name, seed): one for one, seed in runs}
    found = []
    for line in lines:
        one = wanted.get((line["scenario"]["name"], line["seed"]))
        if one and "failed" not in line and (measured_as(line, one) or confirmed(line, one)):
            found.append(line)
    return found


def merged(kept: list[Json], new: list[Json], runs: list[tuple[Scenario, int]]) -> list[Json]:
    """Of both what is current, of a run what is of the present sources or else new, and the new
    failures instead of anything; in the order of the runs."""
    wanted = {(one.name, seed): one for one, seed in runs}

    def key(line: Json) -> tuple[str, int]:
        return line["scenario"]["name"], line["seed"]

    good = [*current(kept, runs), *current(new, runs)]
    good.sort(key=lambda line: measured_as(line, wanted[key(line)]))
    failed = [line for line in new if "failed" in line]
    there = {key(line): line for line in [*good, *failed]}
    return [there[name] for name in wanted if name in there]


# --- results of other sources

# CPU seconds within which all seeds of a scenario are run again, and not the first alone; to start
# takes four of each.
ALL_SEEDS = 60


def _stale(figures: list[Figure]) -> dict[str, list[tuple[str, runner.Job, Json]]]:
    """Scenario -> paper, run and committed summary of those that are of other sources; all seeds
    of a cheap one, else the first."""
    found: dict[str, list[tuple[str, runner.Job, Json]]] = {}
    costs: dict[str, float] = {}
    for file, (paper, suffix, runs) in files(figures, profile(COMMITTED)).items():
        if suffix:
            continue
        there = {(line["scenario"]["name"], line["seed"]): line for line in read(RESULTS, file)}
        for one, seed in runs:
            line = there.get((one.name, seed))
            if line is None or "failed" in line or not is_of(line, one):
                continue
            if not (measured_as(line, one) or confirmed(line, one)):
                job = runner.Job(one, seed, Path(f"{run_name(one, seed)}.json"))
                found.setdefault(one.name, []).append((paper, job, line))
                costs[one.name] = costs.get(one.name, 0) + cost.estimate(one, file)
    return {name: of if costs[name] < ALL_SEEDS else of[:1] for name, of in found.items()}


def confirm(figures: list[Figure], how: Profile, *, workers: int, timeout: float) -> list[str]:
    """Make runs again of which the committed results are of other module sources: all seeds of a
    cheap scenario, one of another.  If they give exactly the same, CONFIRMED says so of that
    scenario; the names of those that do not."""
    stale = _stale(figures)
    for of in stale.values():
        for _, job, _ in of:
            job.path = how.runs / job.path
    jobs = [job for of in stale.values() for _, job, _ in of]
    todo = [job for job in jobs if not is_made(job.path, job.scenario)]
    if todo:
        where = backends.Uml()
        where.prepare(lambda _: None)
        runner.run(todo, where, workers=workers, timeout=timeout, console=Console(stderr=True))
    entries, others = dict(_confirmations()), []
    for name, of in stale.items():
        differences = {job.path.stem: differs(job.path, line, paper) for paper, job, line in of}
        if any(differences.values()):
            others += [f"{run}: {', '.join(keys)}" for run, keys in differences.items() if keys]
            continue
        _, job, line = of[0]
        new = {key for paper, job, line in of for key in unknown(job.path, line, paper)}
        entries[name] = {
            "scenario": name,
            "seeds": [job.seed for _, job, _ in of],
            "was": line["modules"],
            "now": sources(job.scenario),
            # Observed now, and not when the summary was made: no page can read these of it.
            "not_compared": sorted(new),
        }
    write_lines([entries[name] for name in sorted(entries)], CONFIRMED)
    return others


def _observed(path: Path, paper: str) -> Json:
    """As a file of summaries has it."""
    found: Json = json.loads(json.dumps(_observe(paper, result.read(path))))
    return found


def differs(path: Path, line: Json, paper: str) -> list[str]:
    """The keys of a summary, and of what is observed in it, of which a result gives something
    else; the sources may be others.  `of` is left out: it is a hash of columns that a summary
    does not have."""
    made = result.summarise(result.read(path) | {"modules": line["modules"]})
    # Which other seeds there are is none of a run's.
    made, line = ({**one, "scenario": {**one["scenario"], "seeds": None}} for one in (made, line))
    left_out = ("observed", "of")
    found = [key for key in made | line if key not in left_out and made.get(key) != line.get(key)]
    observed = _observed(path, paper)
    # Whatever a page reads of the summary is in it.
    found += [
        f"observed {key}" for key, was in line["observed"].items() if observed.get(key) != was
    ]
    return sorted(found)


def unknown(path: Path, line: Json, paper: str) -> list[str]:
    """What is observed in a result and is not in its older summary."""
    return sorted(_observed(path, paper).keys() - line["observed"].keys())
