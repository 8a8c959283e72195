# SPDX-License-Identifier: GPL-2.0
"""The catalogue, tests/published/figures.toml: which figures there are, checked."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from longfat.build.modules import ROOT
from longfat.core.errors import LabError
from longfat.pages.data import PUBLISHED
from longfat.run.backends import BACKENDS

CATALOGUE = PUBLISHED / "figures.toml"
# The kernel's own, which stand beside the figures that compare.
PEERS = tuple("reno cubic bic htcp highspeed scalable illinois yeah westwood bbr".split())


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Criterion(_Strict):
    """What is to hold of the numbers of a figure; they are named as its module does, `*` stands
    for anything."""

    says: str
    of: list[str] = []
    within: float | None = None  # ours / paper - 1, at most that far from 0
    least: float | None = None
    most: float | None = None
    share: float | None = None  # so much of the numbers is to be in these bounds; else all
    order: list[str] = []  # each more than the next
    by: float = 1.0  # ... that many times
    main: bool = True  # the claim itself; else a detail of it
    peers: bool = False  # with numbers of the kernel's own: not decided without all of their runs
    under: bool = False  # of the runs under the paper's conditions
    why: str = ""  # it does not hold

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = [self.within is not None, bool(self.order)]
        forms.append(self.least is not None or self.most is not None)
        if sum(forms) != 1 or bool(self.of) == bool(self.order):
            raise ValueError("a criterion is `of` with within, least or most, or `order`")
        if self.share is not None and not (0 < self.share <= 1 and forms[2]):
            raise ValueError("share is above 0 and at most 1, and with least or most")
        return self


class Headline(_Strict):
    """The number of a figure by which ours and the kernel's own stand side by side."""

    says: str  # what it is, with its unit
    ours: str  # its name among the figure's
    peers: str  # the heading of its column in the table of the kernel's own


class Paper(_Strict):
    """One of the five papers, or a page of our own claims: what a figure belongs to."""

    title: str
    page: str


class Figure(_Strict):
    """One figure or table of a paper, or several of the same runs."""

    id: str
    paper: str
    number: str
    claim: str
    topology: str
    draw: str  # function of the paper's module
    scenarios: list[str] = []  # without .toml; none if it is arithmetic
    peers: list[str] = []
    no_peers: str = ""  # why there are none
    headline: Headline | None = None
    beside: str = ""  # its runs are to be there from this backend, too
    differs: str = ""  # of the experiment, whatever comes out
    # What the paper's numbers would want that our experiment has not, and the files that have it.
    under: str = ""
    conditions: list[str] = []
    came_out: str = ""  # where `under`: what came out, in a sentence or two
    reference: str = "paper"  # what numbers stand beside: "equation", "real time"
    ours: bool = False  # the claim is ours, and not the paper's
    section: str = ""  # where its page has it ("#behind-gro"); a paper's own has none
    measured: str = ""  # what it is of if not of runs: docs/results/NAME.json
    criterion: list[Criterion]

    @property
    def where(self) -> str:
        """Where it is shown, as from docs/."""
        return f"figures/{self.paper}.md#{self.id}"

    @property
    def suffix(self) -> str:
        """What is behind the names of its runs on the backend beside, and of their file."""
        return f"-{self.beside}"

    @model_validator(mode="after")
    def _peers(self) -> Self:
        if bool(self.peers) == bool(self.no_peers) and not self.section:
            raise ValueError(f"{self.id}: peers, or no_peers and why")
        judged = any(one.under and one.main for one in self.criterion)
        if not bool(self.under) == bool(self.conditions) == judged or (self.under and self.ours):
            raise ValueError(
                f"{self.id}: a paper's figure may have under, conditions, and a criterion of its "
                "claim with under = true, all three"
            )
        if self.came_out and not self.under:
            raise ValueError(f"{self.id}: came_out says what came out where `under`: give that")
        if self.beside and self.beside not in BACKENDS:
            raise ValueError(f"{self.id}: beside is one of {', '.join(BACKENDS)}")
        return self


class Measurement(_Strict):
    """What a page shows that is not of runs: of this machine's time, or of many kernels."""

    page: str
    needs: str = "check"  # what scripts/deps.sh is to install for it
    commands: list[str]


class Catalogue(_Strict):
    """All of it, in the order of the report."""

    paper: dict[str, Paper]
    figure: list[Figure]
    measurement: dict[str, Measurement]

    @property
    def pages(self) -> tuple[str, ...]:
        """What `make results PAGE=` takes."""
        of_runs = (figure.paper for figure in self.figure if figure.scenarios)
        return tuple(dict.fromkeys([*of_runs, *(one.page for one in self.measurement.values())]))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [figure.id for figure in self.figure]
        if len(set(ids)) != len(ids):
            raise ValueError("two figures have the same id")
        for figure in self.figure:
            if figure.paper not in self.paper:
                raise ValueError(f"{figure.id}: no paper {figure.paper!r}")
            for name in (*figure.scenarios, *figure.peers, *figure.conditions):
                if not (ROOT / f"tests/scenarios/{name}.toml").exists():
                    raise ValueError(f"{figure.id}: there is no tests/scenarios/{name}.toml")
        return self


@cache
def load() -> Catalogue:
    """The catalogue; LabError if it is not one."""
    try:
        return Catalogue.model_validate(tomllib.loads(CATALOGUE.read_text()))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise LabError(f"{CATALOGUE}: {error}") from error


def on_pages(pages: list[str]) -> tuple[list[Figure], list[Measurement]]:
    """What is to be run for these pages (all of them if there are none): figures, and the rest."""
    every = load()
    if unknown := [page for page in pages if page not in every.pages]:
        raise LabError(f"no page {unknown[0]!r}; valid: {' '.join(every.pages)}")
    figures = [f for f in every.figure if f.scenarios and (not pages or f.paper in pages)]
    rest = [m for m in every.measurement.values() if not pages or m.page in pages]
    return figures, rest


def where() -> dict[str, str]:
    """Figure -> where it is shown, as from docs/."""
    return {figure.id: figure.where for figure in load().figure}


def choose(ids: list[str]) -> list[Figure]:
    """The figures of these ids, all of them if there are none."""
    figures = load().figure
    unknown = set(ids) - {figure.id for figure in figures}
    if unknown:
        valid = ", ".join(figure.id for figure in figures)
        raise LabError(f"no figure {', '.join(sorted(unknown))}; valid: {valid}")
    return [figure for figure in figures if not ids or figure.id in ids]
