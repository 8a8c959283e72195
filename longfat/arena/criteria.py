# SPDX-License-Identifier: GPL-2.0
"""The criteria: each is a file of data, criteria/ID.toml, in which the algorithm is a variable.

A criterion has a scenario, in the language of docs/lab.md, with `$cc` for the algorithm that is
evaluated and `$beside` for the one that it is put beside.  It says which series of a run are kept,
and which numbers are made of a run.  docs/evaluation.md has every key.
"""

from __future__ import annotations

import math
import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from longfat.arena import metrics, observe
from longfat.core import units
from longfat.core.errors import LabError
from longfat.run.traffic import pareto_mean

WHERE = Path(__file__).parent / "criteria"
MARKS = Path(__file__).parent / "marks.toml"
PROFILES = ("smoke", "standard", "full")

CC, BESIDE = "$cc", "$beside"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Part(_Strict):
    """How much of a criterion a profile has."""

    set: dict[str, Any] = {}  # keys of the scenario, by their paths
    vary: dict[str, list[Any]] = {}  # instead of the scenario's
    cases: list[str] = []  # of the scenario's these alone
    seeds: list[int] = []  # instead of the profile's
    skip: str = ""  # nothing of it, and why


class Load(_Strict):
    """Objects of random sizes that are so much of the link's rate, evenly over these RTTs, and
    evenly over the camps."""

    shares: list[float]
    rtts: list[str]
    camps: list[str] = [CC]
    reverse: bool = False
    min_size: str
    max_size: str
    shape: float

    @property
    def mean(self) -> float:
        """Bytes of an object, in the mean of the bounded Pareto distribution."""
        return pareto_mean(units.size(self.min_size), units.size(self.max_size), self.shape)


class Number(_Strict):
    """One number of a criterion: a metric, over the runs of these paths."""

    name: str
    metric: str
    arguments: dict[str, Any] = {}
    unit: str = ""
    digits: int = 1
    better: Literal["more", "less", ""] = ""  # "": it is neither
    over: Literal["mean", "most", "least"] = "mean"  # of all paths, and of all it is beside
    paths: list[str] = ["*"]  # patterns
    but: list[str] = []  # patterns of paths that are none of its
    beside: list[str] = []  # of the runs beside these alone
    # The run that it is compared with differs in these: cc, beside or case.
    base: dict[Literal["cc", "beside", "case"], str] = {}
    floor: float = -math.inf  # a path with less counts as this
    ceiling: float = math.inf  # a path with more counts as this
    same: float = 0.0  # a difference that is none, in `unit`
    some: bool = False  # of the seeds that have one; else a path has none where a seed has none
    harmful: float | None = None  # beyond this, and worse than the standards
    because: str = ""  # why there

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.metric not in metrics.METRICS:
            raise ValueError(f"no metric {self.metric!r}; valid: {', '.join(metrics.METRICS)}")
        if why := metrics.refusal(self.metric, self.arguments, based=bool(self.base)):
            raise ValueError(why)
        return self

    @property
    def label(self) -> str:
        """With its unit."""
        return f"{self.name}, {self.unit}" if self.unit else self.name

    def has(self, path: str, beside: str) -> bool:
        """Whether it is of the runs on this path, beside this one; "" is nobody."""

        def named(patterns: list[str]) -> bool:
            return any(fnmatchcase(path, pattern) for pattern in patterns)

        return (
            named(self.paths) and not named(self.but) and (not self.beside or beside in self.beside)
        )


class Picture(_Strict):
    """The picture that shows why."""

    draw: Literal["bars", "curve", "time"]
    number: int = 0  # bars, curve: the number that is drawn
    series: str = ""  # time: what is drawn
    path: str = "*"  # time: of which path


class Criterion(_Strict):
    """One criterion."""

    id: str
    of: str  # the document
    section: str
    level: str
    title: str
    asks: str
    differs: str = ""  # from the document
    beside: Literal["", "against", "all"] = ""  # who $beside is
    observe: list[str] = []
    scenario: dict[str, Any] = {}
    load: Load | None = None
    runs_of: list[str] = []  # criteria; instead of runs of its own
    smoke: Part = Part()
    standard: Part = Part()
    full: Part = Part()
    number: list[Number] = Field(min_length=1)
    guard: str = ""  # the name of a number: what is worse in that is better in none of the others
    picture: list[Picture] = []
    cloud: bool = False  # delay against throughput in the league

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if bool(self.scenario) == bool(self.runs_of):
            raise ValueError("scenario, or runs_of")
        if unknown := [name for name in self.observe if name not in observe.SERIES]:
            raise ValueError(f"no series {unknown[0]!r}; valid: {', '.join(observe.SERIES)}")
        if self.cloud and "left" not in self.observe:
            raise ValueError("cloud: needs the series left, in observe")
        if (BESIDE in str(self.scenario)) != bool(self.beside):
            raise ValueError("beside and $beside go together")
        if not self.beside and not self.runs_of and any(one.beside for one in self.number):
            raise ValueError("number.beside: nobody is beside it")
        if self.guard and self.guard not in [one.name for one in self.number]:
            raise ValueError(f"guard: there is no number {self.guard!r}")
        for one in self.picture:
            if one.number >= len(self.number) or (one.draw == "time") != bool(one.series):
                raise ValueError("a picture is of a number, or over time of a series")
        return self

    @property
    def of_runs(self) -> list[str]:
        """The criteria of whose runs its numbers are."""
        return self.runs_of or [self.id]

    def part(self, profile: str) -> Part:
        """What a profile has of it."""
        found: Part = getattr(self, profile)
        return found

    def roles(self, kind: str) -> tuple[list[int], list[int]]:
        """Of the entries of a kind of traffic those of the algorithm, and those of others."""
        entries = self.scenario.get(kind, [])
        ours = [i for i, entry in enumerate(entries) if entry.get("cc") == CC]
        return ours, [i for i in range(len(entries)) if i not in ours]


class Marks(_Strict):
    """When a number is better, worse or harmful."""

    standards: list[str]
    part: float  # of the standard's number: a difference up to this is none
    in_every_card: list[str]  # as far as they were run
    only_marked: list[str]  # algorithms for links that mark alone


_PARTS: dict[str, type[BaseModel]] = {
    **dict.fromkeys(PROFILES, Part),
    "number": Number,
    "picture": Picture,
    "load": Load,
}


def _explain(error: ValidationError, path: Path) -> str:
    lines = []
    for item in error.errors():
        key = ".".join(map(str, item["loc"])) or "criterion"
        said = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            of = _PARTS.get(str(item["loc"][0]), Criterion) if len(item["loc"]) > 1 else Criterion
            said = f"there is no such key; valid: {', '.join(of.model_fields)}"
        lines.append(f"{path}: {key}: {said}")
    return "\n".join(lines)


# What of a criterion are its runs.
OF_RUNS = {"scenario", "load", "runs_of", *PROFILES}


def _like(data: dict[str, Any], where: Path) -> dict[str, Any]:
    """A criterion with what it does not say itself taken from the one that it is like: all but its
    runs.  A number of a name that the other has, too, takes that one's place."""
    path = where / f"{data.pop('like')}.toml"
    if not path.is_file():
        raise ValueError(f"like: there is no {path}")
    other = tomllib.loads(path.read_text())
    if "like" in other:
        raise ValueError(f"like: {path.stem} is like {other['like']}: name that")
    numbers = {one["name"]: one for one in [*other["number"], *data.get("number", [])]}
    taken = {key: value for key, value in other.items() if key not in OF_RUNS}
    return taken | data | {"number": [*numbers.values()]}


def read(path: Path) -> Criterion:
    """The criterion of a file; LabError says what is wrong in it."""
    try:
        data = tomllib.loads(path.read_text())
        if "like" in data:
            data = _like(data, path.parent)
        if "load" in data:
            data["scenario"] = loaded(data["scenario"], Load.model_validate(data["load"]))
        return Criterion.model_validate({"id": path.stem} | data)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"{path}: is not TOML: {error}") from error
    except (KeyError, ValueError) as error:
        if isinstance(error, ValidationError):
            raise LabError(_explain(error, path)) from error
        raise LabError(f"{path}: {error}") from error


def loaded(scenario: dict[str, Any], load: Load) -> dict[str, Any]:
    """The scenario with its traffic, and a case for each load."""
    if both := sorted({"case", "short"} & set(scenario)):
        raise ValueError(f"scenario.{both[0]}: is made of load")
    link = scenario["link"]
    rates = {False: units.rate(link["rate"])}
    if load.reverse:
        rates[True] = units.rate(link["reverse_rate"])
    entries, parts = [], []
    for back, rate in rates.items():
        for camp in load.camps:
            for rtt in load.rtts:
                sizes = {"min_size": load.min_size, "max_size": load.max_size, "shape": load.shape}
                entry = {"cc": camp, "rtt": rtt, "size": "pareto", **sizes}
                entries.append(entry | ({"reverse": True} if back else {}))
                parts.append(rate / 8 / load.mean / len(load.rtts) / len(load.camps))
    cases = {}
    for share in load.shares:
        each = {f"short.{i}.per_second": round(share * part, 4) for i, part in enumerate(parts)}
        cases[f"load {share * 100:g}"] = each
    first = {
        f"short.{i}.per_second": value for i, value in enumerate(cases[next(iter(cases))].values())
    }
    short = [
        entry | {"per_second": value} for entry, value in zip(entries, first.values(), strict=True)
    ]
    return scenario | {"short": short, "case": cases}


def _order(text: str) -> list[tuple[int, str]]:
    return [(int(word) if word.isdigit() else 0, word) for word in re.findall(r"\d+|\D+", text)]


@cache
def load() -> tuple[Criterion, ...]:
    """All criteria: those of RFC 9743, the others behind them."""
    found = [read(path) for path in WHERE.glob("*.toml")]
    return tuple(sorted(found, key=lambda one: (not one.id[0].isdigit(), _order(one.id))))


@cache
def marks() -> Marks:
    return Marks.model_validate(tomllib.loads(MARKS.read_text()))


def named(words: list[str]) -> list[Criterion]:
    """The criteria that these words name, all of them if there are none: an id; else how some begin
    ("tcpeval-4.4", or "5.2." for what is below 5.2), or a section of the RFC that is one of several
    ("6.3")."""
    every = load()

    def by(word: str) -> list[Criterion]:
        return [one for one in every if one.id == word] or [
            one
            for one in every
            if re.match(re.escape(word.rstrip(".-")) + r"[.-]", one.id)
            or (one.id[0].isdigit() and word in one.section.split(", "))
        ]

    for word in words:
        if not by(word):
            ids = ", ".join(one.id for one in every)
            raise LabError(f"--only {word}: no such criterion; valid: {ids}")
    wanted = {one.id for word in words for one in by(word)}
    return [one for one in every if not words or one.id in wanted]


def choose(words: list[str]) -> list[Criterion]:
    """The same, and what those without runs of their own are made of."""
    wanted = {name for one in named(words) for name in (one.id, *one.runs_of)}
    return [one for one in load() if one.id in wanted]
