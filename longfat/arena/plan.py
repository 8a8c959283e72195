# SPDX-License-Identifier: GPL-2.0
"""Which runs an evaluation has: each criterion with each algorithm, and the scenario files that
these are."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from longfat.arena import metrics, toml
from longfat.arena.criteria import BESIDE, CC, PROFILES, Criterion, Part, choose, marks
from longfat.arena.metrics import Roles
from longfat.core import scratch
from longfat.core.errors import LabError
from longfat.run import result, scenario
from longfat.run.scenario import TRAFFIC, Scenario

SCENARIOS, RUNS = "scenarios", "runs"
# Seeds of each run: an algorithm may draw at random where the path does not.
SEEDS = {"smoke": [1], "standard": [1], "full": [1, 2, 3]}
STANDARD = {
    "smoke": ("cubic", "reno"),
    "standard": ("cubic", "reno", "bbr"),
    "full": ("cubic", "reno", "bbr"),
}


@dataclass(frozen=True)
class Contender:
    """An algorithm, perhaps with parameters of its module."""

    text: str  # as it was given: NAME or NAME:PARAMETER=VALUE,...
    cc: str
    parameters: tuple[tuple[str, int | str | bool], ...] = ()

    @property
    def file(self) -> str:
        """In the names of files."""
        return re.sub(r"[^A-Za-z0-9.]+", "_", self.text)


def _word(text: str) -> int | str | bool:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def contender(text: str) -> Contender:
    """`ltcp`, or `ghstcp:mode=hstcp`; LabError if it is neither."""
    cc, _, rest = text.partition(":")
    pairs = [word.partition("=") for word in rest.split(",")] if rest else []
    if not cc or (":" in text and not rest) or any(not (k and is_ and v) for k, is_, v in pairs):
        raise LabError(
            f"{text}: is no algorithm: write its name, or with parameters of its module "
            f"NAME:PARAMETER=VALUE,PARAMETER=VALUE"
        )
    return Contender(text, cc, tuple((key, _word(value)) for key, _, value in pairs))


def listed(text: str) -> list[str]:
    """The words of a list with commas, of algorithms or criteria: what follows a comma is a
    parameter if it has a = before its next : or comma."""
    return [word.strip() for word in re.split(r",(?![^,:]*=)", text) if word.strip()]


def contenders(texts: Sequence[str]) -> list[Contender]:
    """These, each once; LabError if two cannot be told apart."""
    found = [contender(text) for text in dict.fromkeys(texts)]
    names: dict[str, str] = {}
    for one in found:
        other = names.setdefault(one.file.lower(), one.text)
        if other != one.text:
            raise LabError(f"{other} and {one.text}: their files would have the same name")
    return found


def beside_in_words(other: Contender | None) -> str:
    """What follows an algorithm, or a path."""
    return f" beside {other.text}" if other else ""


def in_words(at: tuple[tuple[str, str], ...]) -> str:
    """A path in words, such as "1 to 1, 0.25bdp, from 4s"."""
    words = (f"from {value}" if key.endswith(".start") else value for key, value in at)
    return ", ".join(words) or "the path"


@dataclass(frozen=True)
class Run:
    """One run."""

    criterion: str
    cc: Contender
    beside: Contender | None
    at: tuple[tuple[str, str], ...]  # the path: `case`, and what varies
    scenario: Scenario
    seed: int
    file: str  # of the scenario
    observe: tuple[str, ...] = ()
    counted: bool = False  # on Debian's kernel in an emulator, which takes what is in BPF

    @property
    def name(self) -> str:
        return f"{self.scenario.name}-s{self.seed}"

    def other(self, cc: Contender) -> Contender | None:
        """Who stands beside an algorithm of this run, perhaps itself."""
        return self.cc if self.beside == cc else self.beside

    @property
    def path(self) -> str:
        """The path in words."""
        return in_words(self.at)


@dataclass(frozen=True)
class Skipped:
    """What there is no run of, and why."""

    criterion: str
    cc: Contender
    beside: Contender | None
    why: str
    paths: tuple[str, ...] = ()  # in words; none: of all


@dataclass
class Evaluation:
    """All that is evaluated."""

    contenders: list[Contender]  # for which there are cards
    against: list[Contender]
    profile: str
    kernel: str = ""
    only: list[str] = field(default_factory=list)
    counted: bool = False  # as its runs
    without: Mapping[str, str] = field(default_factory=dict)  # kernels that are not there -> why
    runs: list[Run] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)  # scenario file -> its text

    @property
    def all(self) -> list[Contender]:
        """With those that stand beside them."""
        return list(dict.fromkeys([*self.contenders, *self.against]))

    @cached_property
    def criteria(self) -> list[Criterion]:
        return choose(self.only)

    @property
    def left_out(self) -> list[str]:
        """What there are no runs of, and why, a line for each reason."""
        found: dict[tuple[str, str], list[str]] = {}
        for one in self.criteria:
            if why := one.part(self.profile).skip:
                found.setdefault(("", why), []).append(one.id)
        for skipped in self.skipped:
            who = skipped.cc.text + beside_in_words(skipped.beside)
            found.setdefault((who, skipped.why), []).append(skipped.criterion)
        return [
            f"left out: {f'{who} in ' if who else ''}{', '.join(dict.fromkeys(ids))}: {why}"
            for (who, why), ids in found.items()
        ]

    def roles(self, criterion: Criterion) -> Roles:
        """Who is who in its scenario."""
        return {kind: criterion.roles(kind) for kind in TRAFFIC if kind != "udp"}

    def of(self, criterion: Criterion, cc: Contender) -> list[Run]:
        """The runs that its numbers are made of."""
        # Each of two has a part in both of their runs.
        both = criterion.beside == "all"
        return [
            run
            for run in self.runs
            if run.criterion in criterion.of_runs and (run.cc == cc or (both and run.beside == cc))
        ]


def _filled(value: Any, cc: Contender, beside: Contender | None) -> Any:
    """`value` with the variables in it replaced."""
    if isinstance(value, dict):
        return {key: _filled(one, cc, beside) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, cc, beside) for one in value]
    if value == CC:
        return cc.cc
    if value == BESIDE and beside:
        return beside.cc
    return value


def written(
    criterion: Criterion,
    part: Part,
    cc: Contender,
    beside: Contender | None,
    *,
    kernel: str = "",
    seeds: Sequence[int] = (1,),
) -> dict[str, Any]:
    """The scenario of a criterion for an algorithm, as a file has it."""
    data = copy.deepcopy(criterion.scenario)
    for key, value in part.set.items():
        scenario.put(data, key, value, f"{criterion.id}: set")
    if part.vary:
        data["vary"] = data.get("vary", {}) | part.vary
    if part.cases:
        data["case"] = {name: data["case"][name] for name in part.cases}
    title = f"{criterion.id} {criterion.title}: {cc.text}{beside_in_words(beside)}"
    head: dict[str, Any] = {"title": title}
    if kernel:
        head["kernel"] = kernel
    head["seeds"] = [*seeds]
    settings = {
        one.cc: dict(one.parameters) for one in (cc, beside) if one is not None and one.parameters
    }
    filled: dict[str, Any] = _filled(head | data, cc, beside)
    return filled | ({"module": settings} if settings else {})


def _paths(data: dict[str, Any]) -> Iterator[tuple[tuple[str, str], ...]]:
    """The paths of a scenario file, in the order in which it is read."""
    vary = data.get("vary", {})
    for case, combination in itertools.product(
        data.get("case", {"": {}}), itertools.product(*vary.values())
    ):
        named = [("case", case)] if case else []
        yield (*named, *zip(vary, map(str, combination), strict=True))


def shortened(criterion: Criterion, profile: str) -> str:
    """What a profile leaves out of the paths and the time of `full`, in words; "" if nothing."""
    # It is the same for all.
    who = Contender("reno", "reno")
    whole, here = (written(criterion, criterion.part(x), who, who) for x in ("full", profile))
    some, every = (len([*_paths(x)]) for x in (here, whole))
    words = [f"{some} of {every} paths"] if some < every else []
    if here["duration"] != whole["duration"]:
        words.append(f"{here['duration']} instead of {whole['duration']}")
    for name, case in here.get("case", {}).items():
        mine, its = (x.get("duration", here["duration"]) for x in (case, whole["case"][name]))
        if mine != its and "duration" in whole["case"][name]:
            words.append(f"{mine} instead of {its} of {name}")
    return f"The profile {profile} has {', '.join(words)}." if words else ""


def _others(
    criterion: Criterion, against: list[Contender], every: list[Contender]
) -> list[Contender | None]:
    """Who $beside is, one after the other.  Of two there are both orders, as who begins earlier is
    decided by the order and the seed."""
    found: dict[str, list[Contender | None]] = {"": [None], "against": [*against], "all": [*every]}
    return found[criterion.beside]


def _why_not(cc: Contender, beside: Contender | None) -> str:
    """Why there is no run of these two, or nothing."""
    if beside and cc.cc == beside.cc and cc.parameters != beside.parameters:
        return f"{cc.text} and {beside.text} are one module, which has one setting at a time"
    return ""


def evaluation(
    texts: Sequence[str],
    against: Sequence[str],
    profile: str,
    *,
    only: Sequence[str] = (),
    kernel: str = "",
    counted: bool = False,
    without: Mapping[str, str] | None = None,
) -> Evaluation:
    """All runs of these algorithms; LabError says what is wrong with a word of the command line."""
    if profile not in PROFILES:
        raise LabError(f"--profile {profile}: no such profile; valid: {', '.join(PROFILES)}")
    both = contenders([*texts, *(against or STANDARD[profile])])
    names = {one.text: one for one in both}
    found = Evaluation(
        [names[text] for text in dict.fromkeys(texts)],
        [names[text] for text in dict.fromkeys(against or STANDARD[profile])],
        profile,
        kernel,
        list(only),
        counted,
        without or {},
    )
    every = found.all
    with scratch.directory("run") as where:
        for criterion in found.criteria:
            if criterion.runs_of or criterion.part(profile).skip:
                continue
            observe = {*criterion.observe}
            observe |= {
                name
                for other in found.criteria
                if criterion.id in other.runs_of
                for name in other.observe
            }
            for cc in every:
                for beside in _others(criterion, found.against, every):
                    if why := _why_not(cc, beside):
                        found.skipped.append(Skipped(criterion.id, cc, beside, why))
                        continue
                    _add(found, criterion, cc, beside, tuple(sorted(observe)), where)
    return found


def _not_emulated(one: Scenario) -> str:
    """Why a path is not in the emulator, or nothing."""
    return one.virtual_alone or (f"the emulator has no {one.kernel}" if one.kernel else "")


def _read(
    data: dict[str, Any], path: Path, who: str
) -> list[tuple[Scenario, tuple[tuple[str, str], ...]]]:
    """The runs of a scenario that is written to `path`, and their paths; LabError names `who`."""
    path.write_text(toml.text(data))
    try:
        return list(zip(scenario.load(path), _paths(data), strict=True))
    except LabError as error:
        lines = [line.removeprefix(f"{path}: ") for line in str(error).splitlines()]
        raise LabError("\n".join(f"{who}: {line}" for line in lines)) from error


def _add(
    found: Evaluation,
    criterion: Criterion,
    cc: Contender,
    beside: Contender | None,
    observe: tuple[str, ...],
    where: Path,
) -> None:
    part = criterion.part(found.profile)
    seeds = part.seeds or SEEDS[found.profile]
    data = written(criterion, part, cc, beside, kernel=found.kernel, seeds=seeds)
    name = f"{criterion.id}-{cc.file}" + (f"-beside-{beside.file}" if beside else "")
    path = where / f"{name}.toml"
    who = f"{criterion.id}, {cc.text}{beside_in_words(beside)}"
    on = data.get("kernel", "")
    try:
        if why := found.without.get(on):
            raise LabError(f"no run on {on}: {why}")
        paths = _read(data, path, who)
    except LabError as error:
        # On a kernel that the criterion asks for nobody else is to stop for it.
        if on == found.kernel:
            raise
        why = str(error).splitlines()[0].removeprefix(f"{who}: ")
        found.skipped.append(Skipped(criterion.id, cc, beside, why))
        return
    back = [number.metric for number in criterion.number if number.metric in metrics.BACK]
    if back and not all(one.way_back for one, _ in paths):
        raise LabError(
            f"{who}: {back[0]} is of the way back: something has to go in reverse, over one link "
            f"with a reverse_rate, without reverse_delay, reverse_jitter and an impaired hop"
        )
    if unmarked := [x.cc for x in (cc, beside) if x and x.cc in marks().only_marked]:
        paths = [(one, at) for one, at in paths if one.link.ecn]
        if not paths:
            why = f"{unmarked[0]} is for links that mark"
            found.skipped.append(Skipped(criterion.id, cc, beside, why))
    if found.counted:
        whys = {in_words(at): why for one, at in paths if (why := _not_emulated(one))}
        paths = [(one, at) for one, at in paths if in_words(at) not in whys]
        for why in dict.fromkeys(whys.values()):
            those = tuple(words for words in whys if whys[words] == why) if paths else ()
            found.skipped.append(Skipped(criterion.id, cc, beside, why, those))
    if paths:
        # The file has the cases that are run, and no others.
        if "case" in data:
            there = {dict(at)["case"] for _, at in paths}
            data["case"] = {name: case for name, case in data["case"].items() if name in there}
        found.files[path.name] = toml.text(data)
    for one, at in paths:
        for seed in one.seeds:
            run = Run(criterion.id, cc, beside, at, one, seed, path.name, observe, found.counted)
            found.runs.append(run)


def write_scenarios(of: Evaluation, out: Path) -> None:
    """Write the scenario files, so that whoever sees a number can run what it is of."""
    for name, text in of.files.items():
        path = out / SCENARIOS / name
        if not path.exists() or path.read_text(errors="replace") != text:
            result.write_whole(text, path)
