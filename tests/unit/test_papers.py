# SPDX-License-Identifier: GPL-2.0
"""`make report`: the catalogue is whole, a verdict follows from the numbers, and what is not there
shows as what it is."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from html.parser import HTMLParser
from importlib import import_module
from math import hypot
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot

from longfat.build import modules
from longfat.build.modules import ROOT, algorithms
from longfat.core.errors import CANNOT_WRITE, LabError
from longfat.pages import __main__ as main
from longfat.pages import catalogue, cost, data, page, work
from longfat.pages.catalogue import PEERS, Criterion, Figure
from longfat.pages.data import RESULTS
from longfat.pages.figures import ltcp, use
from longfat.pages.observe import crosscheck
from longfat.pages.observe.ltcp import WINDOW
from longfat.pages.shown import Runs, Shown, Table, Value, apart, colour, minus, over, ratio
from longfat.pages.tables import readme
from longfat.pages.verdict import Judged, State, Verdict, decide, judge
from longfat.run import backends, identity, result, runner, scenario
from longfat.run.identity import Platform
from longfat.run.result import interval

FIGURES = catalogue.load().figure
IDS = [figure.id for figure in FIGURES]

# What is to be in it: LTCP Figs. 2, 4, 6 to 15; gHSTCP Figs. 4 to 8 with Table 1; CW-HSTCP Tables 1
# to 3, Figs. 2, 6, 7; the thesis's Figs. 7 to 21; SABUL Figs. 1 to 4.
NUMBERS = {
    "ltcp": [f"Fig. {n}" for n in (2, 4, *range(6, 16))],
    "ghstcp": [*(f"Fig. {n}" for n in range(4, 9)), "Table 1"],
    "cwhstcp": ["Table 1", "Table 2", "Table 3", "Fig. 2", "Fig. 6", "Fig. 7"],
    "sabul": [f"Fig. {n}" for n in range(1, 5)],
}


@pytest.mark.parametrize("paper", NUMBERS)
def test_every_figure_is_in_the_catalogue(paper: str) -> None:
    numbers = [f.number for f in FIGURES if f.paper == paper and not f.section]
    assert sorted(numbers) == sorted(NUMBERS[paper])


def test_every_figure_of_the_thesis_is_in_the_catalogue() -> None:
    found: set[int] = set()
    for figure in FIGURES:
        if figure.paper == "composite" and not figure.section:
            for first, last in re.findall(
                r"\b(\d+)(?: to (\d+))?", figure.number.split("Figs.")[1]
            ):
                found |= set(range(int(first), int(last or first) + 1))
    assert found == set(range(7, 22))


@pytest.mark.parametrize("figure", FIGURES, ids=IDS)
def test_a_figure_can_be_drawn_and_its_scenarios_load(figure: Figure) -> None:
    assert callable(getattr(import_module(f"longfat.pages.figures.{figure.paper}"), figure.draw))
    runs = work.expected(figure, work.profile("full"), peers=False)
    assert set(runs) == set(figure.scenarios) and all(runs.values())
    assert figure.claim.endswith(".") and figure.criterion


def test_all_peers_stand_beside_a_figure_that_compares() -> None:
    full = work.profile("full")
    assert set(PEERS) <= algorithms()
    for figure in FIGURES:
        if figure.peers:
            there = {
                work.peer_of(one)
                for peers in (False, True)
                for runs in work.expected(figure, full, peers=peers).values()
                for one, _ in runs
            }
            assert there >= set(PEERS), figure.id


def test_seeds_where_something_is_random() -> None:
    """Five at least where start times, short flows, or what a link does to packets are; three of
    the kernel's own."""
    papers = [figure for figure in FIGURES if not figure.section]
    peers = {file for figure in papers for file in figure.peers}
    for file, runs in work.wanted(papers, work.profile("full")).items():
        for one, _ in runs:
            link = one.link
            random = any(flow.jitter for flow in one.flow) or bool(one.short)
            random |= any((link.loss, link.jitter, link.duplicate, link.reorder))
            assert not random or len(one.seeds) >= (3 if file in peers else 5), file


# Figures of a paper's page that are about what a user gets who sets nothing.
AS_IT_COMES = {"cwhstcp-fair", "cwhstcp-fair-fast"}


def test_as_it_comes_is_without_parameters() -> None:
    figures = [figure for figure in FIGURES if figure.id in AS_IT_COMES]
    assert len(figures) == len(AS_IT_COMES)
    for runs in work.wanted(figures, work.profile("full")).values():
        assert all(not one.module for one, _ in runs)


@pytest.mark.parametrize("paper", [*NUMBERS, "composite", "crosscheck"])
def test_slow_start_is_that_of_the_papers(paper: str) -> None:
    """In each run with a module of ours, but for those that are about another, or of the arena."""
    held_out = {"cwhstcp-held-out", "cwhstcp-held-out-nine"}
    other = AS_IT_COMES | held_out | {"cwhstcp-fair-sooner", "sabul-start", "sabul-deep"}
    other |= {"composite-little", "cwhstcp-slow"}
    of_paper = [figure for figure in FIGURES if figure.paper == paper and figure.id not in other]
    ways = set()
    for file, runs in work.wanted(of_paper, work.profile("full")).items():
        for one, _ in runs:
            for module in identity.loaded(one):
                name = module.removeprefix("tcp_")
                if "slow_start" in modules.parameters(name):
                    way = one.module.get(name, {}).get("slow_start")
                    assert way == "classic", f"{file}.toml: module.{name}.slow_start of {one.name}"
                    ways.add(way)
    assert ways


def test_the_demo_shows_what_a_user_gets() -> None:
    for one in scenario.load(ROOT / "tests/scenarios/demo.toml"):
        assert not any("slow_start" in settings for settings in one.module.values())


def test_choosing() -> None:
    assert [figure.id for figure in catalogue.choose(["sabul-fig1", "ltcp-fig2"])] == [
        "ltcp-fig2",
        "sabul-fig1",
    ]
    with pytest.raises(LabError, match=r"no figure ltcp-fig1; valid: ltcp-fig2, "):
        catalogue.choose(["ltcp-fig1"])


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"of": ["a"]},
        {"of": ["a"], "within": 0.1, "least": 1.0},
        {"order": ["a", "b"], "of": ["a"]},
        {"within": 0.1},
    ],
)
def test_a_criterion_has_one_form(form: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a criterion is"):
        Criterion(says="so", **form)


# --- verdicts

NUMBERS_OF_ONE = {
    "a 1": Value(1.05, paper=1.0),
    "a 2": Value(0.8, paper=1.0),
    "b": Value(3.0),
    "c": Value(1.0),
    "none 1": Value(0.0, paper=0.0),
    "none 2": Value(3.0, paper=0.0),
    "d": Value(float("nan")),
    "e": Value(1.0, paper=float("inf")),
}


@pytest.mark.parametrize(
    ("form", "holds", "by"),
    [
        ({"of": ["a *"], "within": 0.21}, True, "a 2: ratio 0.800"),
        ({"of": ["a *"], "within": 0.19}, False, "a 2: ratio 0.800"),
        ({"of": ["a 1"], "within": 0.06}, True, "a 1: ratio 1.050"),
        ({"of": ["b", "c"], "least": 1.0}, True, "c 1.00"),
        ({"of": ["b", "c"], "least": 1.1}, False, "c 1.00"),
        ({"of": ["b", "c"], "most": 2.9}, False, "b 3.00"),
        ({"of": ["b", "c"], "least": 1.0, "most": 3.0}, True, "c 1.00; b 3.00"),
        ({"of": ["b", "c"], "most": 2.9, "share": 0.5}, True, "1 of 2; b 3.00"),
        ({"of": ["b", "c"], "most": 2.9, "share": 0.51}, False, "1 of 2; b 3.00"),
        ({"of": ["b", "c"], "most": 3.0, "share": 1.0}, True, "2 of 2; b 3.00"),
        ({"order": ["b", "a 1", "c"]}, True, "b 3.00; a 1 1.05; c 1.00"),
        ({"order": ["b", "c"], "by": 2.9}, True, "b 3.00; c 1.00"),
        ({"order": ["b", "c"], "by": 3.0}, False, "b 3.00; c 1.00"),
        ({"of": ["none 1"], "within": 0.1}, True, "none 1: ratio 1.000"),
        ({"of": ["none 1", "none 2"], "within": 0.1}, False, "none 2: ratio inf"),
        ({"of": ["b"], "least": 1.0, "peers": True}, True, "b 3.00"),
        (
            {"of": ["b", "over bic's*"], "least": 1.0, "peers": True},
            None,
            "not all of the kernel's own runs are there",
        ),
        (
            {"order": ["b", "bic"], "peers": True},
            None,
            "not all of the kernel's own runs are there",
        ),
    ],
)
def test_criteria(form: dict[str, Any], holds: bool | None, by: str) -> None:
    found = judge(Criterion(says="so", **form), NUMBERS_OF_ONE)
    assert (found.holds, found.by) == (holds, by)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"of": ["f"], "least": 1.0}, "no number is named like 'f'; there are: a 1, a 2, b, c"),
        ({"of": ["d"], "least": 1.0}, "d is no number: nan, beside None"),
        ({"order": ["b", "d"]}, "d is no number"),
        ({"of": ["e"], "within": 1.0}, "e is no number: 1.0, beside inf"),
        ({"of": ["a *", "b"], "within": 1.0}, "the paper prints no b"),
        ({"order": ["b", "f"]}, "no number is named like 'f'"),
    ],
)
def test_a_criterion_of_what_is_not_there(form: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        judge(Criterion(says="so", **form), NUMBERS_OF_ONE)


def figure_of(**more: Any) -> Figure:
    return Figure(
        id="x-fig1",
        paper="x",
        number="Fig. 1",
        claim="It does.",
        topology="none",
        draw="fig1",
        no_peers="none",
        criterion=[Criterion(says="so", of=["a"], least=1.0), *more.pop("more", [])],
        **more,
    )


def judged(holds: bool | None, *, main: bool = True, why: str = "") -> Judged:
    return Judged(Criterion(says="so", of=["a"], least=1.0, main=main, why=why), holds, "a 0.50")


@pytest.mark.parametrize(
    ("differs", "all_of_them", "verdict", "said"),
    [
        ("", [judged(True)], Verdict.REPRODUCED, []),
        ("A link.", [judged(True)], Verdict.DIFFERENT, ["The experiment: A link."]),
        (
            "",
            [judged(True), judged(False, main=False, why="Rain.")],
            Verdict.DIFFERENT,
            ["Not so, a detail: so (a 0.50). Rain."],
        ),
        ("", [judged(False)], Verdict.NOT, ["Not so: so (a 0.50). Unexplained."]),
        (
            "A link.",
            # The claim comes first.
            [judged(False, main=False), judged(False, why="Rain."), judged(True)],
            Verdict.NOT,
            [
                "The experiment: A link.",
                "Not so: so (a 0.50). Rain.",
                "Not so, a detail: so (a 0.50). Unexplained.",
            ],
        ),
    ],
)
def test_verdict_of_whole_runs(
    differs: str, all_of_them: list[Judged], verdict: Verdict, said: list[str]
) -> None:
    assert decide(figure_of(differs=differs), State(1), all_of_them) == (verdict, said)


UNDER = {"under": "it rains", "conditions": ["demo"]}


def under(
    holds: bool | None, *, main: bool = True, sure: bool = True, why: str = "", by: str = "b 1.00"
) -> Judged:
    """A criterion under the paper's conditions."""
    wet = Criterion(says="wet", of=["b"], least=1.0, main=main, under=True, why=why)
    return Judged(wet, holds, by, sure)


@pytest.mark.parametrize(
    ("all_of_them", "verdict", "said"),
    [
        (
            [judged(False), under(True)],
            Verdict.UNDER,
            ["Not so: so (a 0.50). Unexplained.", "Where it rains: wet."],
        ),
        # The reason was another one.
        (
            [judged(False), under(False, why="Snow.")],
            Verdict.NOT,
            ["Not so: so (a 0.50). Unexplained.", "Not so where it rains: wet (b 1.00). Snow."],
        ),
        (
            [judged(False), under(True, sure=False)],
            Verdict.NOT,
            [
                "Not so: so (a 0.50). Unexplained.",
                "Left open by the intervals, so by the means where it rains: wet (b 1.00). "
                "The mean holds; the interval of the seeds reaches beyond.",
            ],
        ),
        (
            [judged(False), under(True), under(False, main=False, why="Snow.")],
            Verdict.UNDER,
            [
                "Not so: so (a 0.50). Unexplained.",
                "Where it rains: wet.",
                "Not so, a detail where it rains: wet (b 1.00). Snow.",
            ],
        ),
        # There are no runs of it yet: that changes nothing of the verdict.
        (
            [judged(False), under(None, by="0 of 2 runs; 2 missing")],
            Verdict.NOT,
            [
                "Not so: so (a 0.50). Unexplained.",
                "Not measured yet where it rains: 0 of 2 runs; 2 missing.",
            ],
        ),
        # What holds today needs no conditions, and what is open today stays so.
        ([judged(True), under(False)], Verdict.REPRODUCED, None),
        ([judged(True), under(None)], Verdict.REPRODUCED, None),
        ([judged(None), under(True)], Verdict.OPEN, None),
    ],
)
def test_verdict_under_the_paper_s_conditions(
    all_of_them: list[Judged], verdict: Verdict, said: list[str] | None
) -> None:
    found = decide(
        figure_of(**UNDER, more=[one.criterion for one in all_of_them[1:]]), State(1), all_of_them
    )
    assert found[0] is verdict
    assert said is None or found[1] == said


@pytest.mark.parametrize(
    "form",
    [
        {"under": "it rains"},
        UNDER,
        {"more": [under(True).criterion]},
        UNDER | {"more": [under(True, main=False).criterion]},
        UNDER | {"more": [under(True).criterion], "ours": True},
    ],
)
def test_conditions_are_whole(form: dict[str, Any]) -> None:
    """Words, runs and a criterion of the claim, of a paper's figure."""
    with pytest.raises(
        ValueError, match="may have under, conditions, and a criterion of its claim"
    ):
        figure_of(**form)


def test_runs_under_the_paper_s_conditions(
    alone: work.Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are runs of their figure.  It is judged without them until all of them are there; then
    its verdict is of theirs, too, and as old as they are."""
    (figure,) = catalogue.choose(["ltcp-fig6"])
    dry = Criterion(says="so", of=["a"], least=1.0)
    update = UNDER | {"peers": [], "criterion": [dry, under(True).criterion]}
    wet = figure.model_copy(update=update)
    runs = work.whole_of(wet, alone)
    assert list(runs) == [*figure.scenarios, "demo"]
    assert set(work.wanted([wet], alone)) == set(work.files([wet], alone)) == set(runs)

    def drawn(of: Runs) -> Shown:
        return Shown({"a": Value(0.5)}, {"b": Value(2.0)} if of("demo") else {})

    lines = {file: [line_of(*run) for run in of] for file, of in runs.items()}
    many = len(lines["demo"])
    monkeypatch.setattr(import_module("longfat.pages.figures.ltcp"), wet.draw, drawn)
    monkeypatch.setattr(work, "read", lambda _, file: lines.get(file, []))
    whole = page.section(wet, alone)
    assert whole.verdict is Verdict.UNDER and not whole.older
    assert "Where it rains: wet." in whole.reasons
    text = page.html([whole], alone)
    assert f"Under the paper's conditions {many} of {many} runs" in text
    assert "claim, under the conditions" in text
    first, *rest = lines["demo"]
    lines["demo"] = [older(first), *rest]
    assert page.section(wet, alone).older == "version v1"
    lines["demo"] = rest
    less = page.section(wet, alone)
    assert less.verdict is Verdict.NOT and not less.older
    said = f"Not measured yet where it rains: {many - 1} of {many} runs; 1 missing."
    assert less.reasons[-1] == said


def made_up(one: scenario.Scenario, seed: int) -> dict[str, Any]:
    """A summary as a run of this scenario may have it."""
    flows: list[dict[str, Any]] = [
        {
            "cc": flow.cc,
            "group": i,
            "base_rtt_ms": 1e3 * flow.rtt,
            "rtt_ms": {"mean": 1e3 * flow.rtt + 4},
            "goodput_bps": 1e7 * (1 + i + n + seed),
            "received_bytes": 10**9,
        }
        for i, flow in enumerate(one.flow)
        for n in range(flow.count)
    ]
    each: list[float] = [flow["goodput_bps"] for flow in flows]
    seconds = round(one.duration / 5)
    return {
        "scenario": json.loads(one.model_dump_json()),
        "seed": seed,
        "flows": flows,
        "summary": {
            "goodput_bps": sum(each),
            "capacity_bps": 1e9,
            "utilisation": 0.9,
            "loss": 1e-4,
            "jain": result.jain(each),
        },
        "observed": {
            "windows": [1000.0 + i for i, _ in enumerate(flows)],
            "cwnd": {"t": [0.0, 100.0, 200.0, 300.0], "cwnd": [10, 5, 10, 5]},
            "losses": [3 + i for i, _ in enumerate(flows)],
            "mbps": [[mbps / 1e6] * seconds for mbps in each],
            "shares": [mbps / 1e9 for mbps in each],
            "shares_at": {
                seconds: [mbps / 1e9 for mbps in each]
                for seconds in ("50-100", "100-150", "150-200")
            },
            "jain": result.jain(each),
            "background": {"share": 0.1, "loss": 1e-4},
            "step": 0.1,
        },
    }


@pytest.mark.parametrize(
    "figure", [figure for figure in FIGURES if figure.under], ids=lambda figure: str(figure.id)
)
def test_the_paper_s_conditions_are_looked_at(figure: Figure) -> None:
    """Each file of them has numbers, and each criterion of them finds its own; today's criteria do
    not see these."""
    how = work.profile(work.COMMITTED)
    wet = {
        name: [made_up(*run) for run in runs]
        for name, runs in work.expected(figure, work.profile("full"), under=True).items()
    }
    assert list(wet) == figure.conditions
    draw = getattr(import_module(f"longfat.pages.figures.{figure.paper}"), figure.draw)

    def drawn(there: dict[str, list[dict[str, Any]]]) -> Shown:
        def runs(name: str) -> list[dict[str, Any]]:
            return there.get(name, []) if name in wet else work.read(how.results, name)

        shown: Shown = draw(runs)
        for _, picture in shown.pictures:
            pyplot.close(picture)
        return shown

    dry, whole = drawn({}), drawn(wet)
    assert not dry.under and whole.under and dry.values == whole.values
    for name in wet:
        assert len(drawn({name: wet[name]} | with_its_pair(name, wet)).under) > 0, name
    for criterion in figure.criterion:
        if criterion.under:
            assert judge(criterion, whole.under).holds is not None


def with_its_pair(name: str, of: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Table 2's three flows are shown beside its five."""
    return {other: of[other] for other in of if {name, other} <= set(TABLE_2)}


TABLE_2 = ("cwhstcp-table2-sync", "cwhstcp-stcp-sync")


def test_arithmetic_of_the_hosts_of_2004() -> None:
    """Without a queue of acknowledgments, and with a round trip of no length, the link is full; a
    TCP flow of 120 ms grows from 1000 packets by half a packet in each round trip, and by less
    when its window has more acknowledgments than the queue."""
    assert ltcp.hosts_of_2004(1e-3, ltcp=True) == pytest.approx(785 * 1448 / 1500, rel=0.01)
    trips = 900 / 0.12
    slow = 2000  # from there on 1000 / W in each round trip
    first = 2 * (slow - 1000)
    last = (slow**2 + 2 * 1000 * (trips - first)) ** 0.5
    mean = (1500 * first + (last**3 - slow**3) / (3 * 1000)) / trips
    assert ltcp.hosts_of_2004(0.12, ltcp=False) == pytest.approx(
        mean * 1448 * 8 / 0.12 / 1e6, rel=0.01
    )


def test_verdict_of_what_is_not_decided() -> None:
    detail = judged(None, main=False)
    said = ["Not decided, a detail: so (a 0.50)."]
    assert decide(figure_of(), State(1), [detail]) == (Verdict.DIFFERENT, said)
    said = ["Not decided: so (a 0.50)."]
    # The claim itself.
    assert decide(figure_of(), State(1), [judged(None)]) == (Verdict.OPEN, said)
    assert decide(figure_of(ours=True), State(1), [judged(None)]) == (Verdict.OPEN, said)
    assert decide(figure_of(), State(1), [judged(None), judged(False)])[0] is Verdict.NOT


@pytest.mark.parametrize(
    ("form", "clear", "vague", "not_so"),
    [
        (
            {"order": ["a", "b"]},
            # A difference of 1 ± 0.78, and of 1 ± 1.03.
            {"a": Value(3, 0.6, 5), "b": Value(2, 0.5, 5)},
            {"a": Value(3, 0.9, 5), "b": Value(2, 0.5, 5)},
            {"a": Value(2, 0.9, 5), "b": Value(3, 0.5, 5)},
        ),
        (
            {"of": ["*"], "least": 1.0},
            {"a": Value(3, 1.9, 5), "b": Value(2, 0.9, 5)},
            {"a": Value(3, 1.9, 5), "b": Value(2, 1.1, 5)},
            {"a": Value(3, 1.9, 5), "b": Value(0.9, 0.2, 5)},
        ),
        (
            {"of": ["*"], "most": 3.0},
            {"a": Value(2.9, 0.05, 5)},
            {"a": Value(2.9, 0.2, 5)},
            {"a": Value(3.1, 0.2, 5)},
        ),
        (
            {"of": ["*"], "within": 0.1},
            {"a": Value(10.5, 0.4, 5, paper=10)},
            {"a": Value(9.5, 0.6, 5, paper=10)},
            {"a": Value(11.5, 0.6, 5, paper=10)},
        ),
    ],
)
def test_by_the_means_alone(
    form: dict[str, Any],
    clear: dict[str, Value],
    vague: dict[str, Value],
    not_so: dict[str, Value],
) -> None:
    """It is said where the seeds do not decide, and of what is not so, too."""
    criterion = Criterion(says="so", **form)
    found = judge(criterion, clear)
    assert (found.holds, found.sure) == (True, True)
    assert decide(figure_of(), State(1), [found]) == (Verdict.REPRODUCED, [])
    found = judge(criterion, vague)
    assert (found.holds, found.sure) == (True, False)
    verdict, (said,) = decide(figure_of(), State(1), [found])
    assert verdict is Verdict.OPEN
    assert said.startswith("Left open by the intervals, so by the means: so (") and "±" in said
    assert found.answer == "open; by the means yes"
    found = judge(criterion, not_so)
    assert (found.holds, found.sure) == (False, False)
    verdict, (said,) = decide(figure_of(), State(1), [found])
    assert verdict is Verdict.OPEN
    assert said.startswith("Left open by the intervals, not so by the means: so (")
    assert found.answer == "open; by the means no"


def test_runs_that_are_too_short_for_a_number() -> None:
    """A first look leaves it open; whole runs must have it."""
    criterion = Criterion(says="so", of=["b"], least=1.0)
    assert judge(criterion, {"a": Value(1)}, part=True).holds is None
    assert judge(criterion, {"b": Value(1)}, part=True).holds
    order = Criterion(says="so", order=["a", "b", "c"])
    assert judge(order, {"a": Value(2), "c": Value(1)}, part=True).holds
    assert judge(order, {"a": Value(2)}, part=True).holds is None
    with pytest.raises(ValueError, match="no number is named"):
        judge(criterion, {"a": Value(1)})


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ({"order": ["a", "b"]}, {"a": Value(2, 0.1, 5), "b": Value(3, 0.1, 5)}),
        ({"of": ["*"], "least": 1.0}, {"a": Value(3, 1, 5), "b": Value(0.5, 0.2, 5)}),
        ({"of": ["*"], "within": 0.1}, {"a": Value(12, 0.1, 5, paper=10)}),
    ],
)
def test_surely_not_so(form: dict[str, Any], values: dict[str, Value]) -> None:
    found = judge(Criterion(says="so", **form), values)
    assert (found.holds, found.sure) == (False, True)
    assert decide(figure_of(), State(1), [found])[1][0].startswith("Not so: so (")


def test_ratio_of_two_means() -> None:
    """Relative intervals of 3 and 4 per cent make one of 5."""
    found = ratio(Value(200, 6, 5), Value(100, 4, 3))
    assert (found.ours, found.seeds) == (2, 3) and found.half == pytest.approx(0.1)
    # Of one seed there is no interval; the other's is there all the same.
    assert ratio(Value(200, 6, 5), Value(100)).text == "2.00 ± 0.06"
    assert ratio(Value(2), Value(4)).text == "0.50"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Value(8e-5), "8.00e-05"),
        (Value(8e-5, 1e-5, 5), "8.00e-05 ± 1.00e-05"),
        (Value(-0.004, 1.3, 5), "0.00 ± 1.30"),
        (Value(0.0, 0.0, 5), "0.00 ± 0.00"),
    ],
)
def test_a_small_number(value: Value, text: str) -> None:
    """It is shown by its power of ten, unless its interval is not small."""
    assert value.text == text


def _of_seeds(*numbers: float, first: int = 1) -> Value:
    runs = [{"seed": first + i, "x": x} for i, x in enumerate(numbers)]
    return over(runs, lambda run: float(run["x"]))


def test_difference_of_the_same_seeds() -> None:
    """What both have of a seed is not in the interval of their difference, nor of their ratio."""
    a, b = _of_seeds(10, 20, 33), _of_seeds(8, 18, 32)
    middle, half = interval([2, 2, 1])
    assert apart(a, b) == (middle, half)
    assert (minus(a, b).ours, minus(a, b).half) == (middle, half)
    assert b.half > 10 * half
    criterion = Criterion(says="so", order=["a", "b"])
    assert judge(criterion, {"a": a, "b": b}).sure
    assert not judge(criterion, {"a": a, "b": _of_seeds(8, 18, 32, first=4)}).sure
    twice = _of_seeds(16, 36, 64)
    assert ratio(twice, b).ours == 2 and ratio(twice, b).half == 0
    # With others: a's and b's own.
    assert apart(a, _of_seeds(8, 18, 32, first=4))[1] == hypot(a.half, b.half)


def test_what_is_left_unused_of_a_link() -> None:
    """Seconds of the whole link, in the minute after each of these times."""
    flows = [[50.0] * 40, [50.0] * 20 + [0.0, 25.0]]
    run = {"summary": {"capacity_bps": 100e6}, "observed": {"mbps": flows}}
    assert ltcp._unused(run, 0) == 0
    assert ltcp._unused(run, 100) == WINDOW * (0.5 + 0.25 + 10 * 0.5)
    assert ltcp._unused(run, 0, 100) == ltcp._unused(run, 100)
    # More than the link carries, out of a queue, makes up for nothing.
    run["observed"] = {"mbps": [[120.0, 80.0, *[100.0] * 10]]}
    assert ltcp._unused(run, 0) == pytest.approx(WINDOW * 0.2)


def test_how_long_until_a_newcomer_has_its_share() -> None:
    """Of those that are there then; all of the time to the next if never."""
    first = [100.0] * 60 + [90.0, 70.0, 50.0] + [50.0] * 57 + [40.0] * 60
    second = [0.0] * 60 + [10.0, 30.0, 50.0] + [50.0] * 57 + [50.0] * 60
    run = {
        "scenario": {"flow": [{"start": 0.0}, {"start": 300.0}, {"start": 600.0}]},
        "observed": {"mbps": [first, second, [0.0] * 120 + [10.0] * 60]},
    }
    assert ltcp._fair_after(run) == [15.0, 300.0]


def test_verdict_of_a_claim_of_ours() -> None:
    """Nothing of a paper is reproduced by it."""
    assert decide(figure_of(ours=True), State(1), [judged(True)]) == (Verdict.HOLDS, [])
    assert decide(figure_of(ours=True), State(1), [judged(False)])[0] is Verdict.HOLDS_NOT
    ours = [figure.id for figure in FIGURES if figure.ours and not figure.section]
    hypotheses = ["composite-h1", "composite-h2"]
    crosschecks = ["crosscheck", "crosscheck-counted", "crosscheck-50m-bdp"]
    assert ours == [*hypotheses, "composite-flood", *crosschecks]


@pytest.mark.parametrize(
    ("state", "verdict", "said"),
    [
        (State(3, missing=["r"], current=["s", "t"]), Verdict.MISSING, "2 of 3 runs; 1 missing"),
        (
            State(3, older={"r": "v2", "t": "v1"}, failed={"s": "no kernel\nat all"}),
            Verdict.FAILED,
            "2 of 3 runs; 1 failed, first s: no kernel; 2 older, of versions v1, v2",
        ),
    ],
)
def test_verdict_without_all_runs(state: State, verdict: Verdict, said: str | None) -> None:
    """Whatever the numbers are that are there."""
    found, reasons = decide(figure_of(), state, [judged(True)])
    assert found is verdict
    if said:
        assert reasons == [said]


# --- what is there of a figure's runs


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> work.Profile:
    """A profile whose directory is empty."""
    monkeypatch.setattr(work, "ROOT", tmp_path)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    return work.profile("full")


def one_run() -> tuple[scenario.Scenario, int]:
    return scenario.load(ROOT / "tests/scenarios/crosscheck.toml")[0], 1  # reno: no module


def line_of(one: scenario.Scenario, seed: int) -> dict[str, Any]:
    return {
        "scenario": json.loads(one.model_dump_json()),
        "seed": seed,
        "backend": "uml",
        "kernel": "6.12",
        "identity": identity.whole(work.published().identity(one, seed, "uml"), "6.12"),
    }


def older(line: dict[str, Any], **other: Any) -> dict[str, Any]:
    """Of other programs."""
    return line | {"identity": line["identity"] | {"programs": "0"}, "version": "v1"} | other


def test_state() -> None:
    one, seed = one_run()
    line = line_of(one, seed)
    on = work.published()
    good = work.state([line], [(one, seed)], on)
    assert good.complete and good.kernels == {"6.12"} and good.current == ["crosscheck-reno-s1"]
    tcg = work.state([line | {"accelerator": "tcg"}], [(one, seed)], on)
    assert tcg.kernels == {"6.12 (tcg)"}
    assert work.state([], [(one, seed)], on).missing == ["crosscheck-reno-s1"]
    failed = work.state([line | {"failed": "why"}], [(one, seed)], on)
    assert failed.failed == {"crosscheck-reno-s1": "why"} and not failed.complete
    other = one.model_copy(update={"duration": 61.0})
    found = work.state([line], [(other, seed)], on)
    assert found.older == {"crosscheck-reno-s1": "unknown"} and found.complete
    assert work.state([older(line)], [(one, seed)], on).versions == "version v1"
    assert work.current([line], [(one, seed)], on) == [line]
    assert work.current([line | {"failed": "why"}, older(line)], [(one, seed)], on) == []
    assert work.there([older(line), line | {"failed": "why"}], [(one, seed)]) == [older(line)]
    assert work.there([line], [(one, seed + 1)]) == []


def test_what_is_kept_is_merged() -> None:
    """A run made now is beside those of docs/results, in the order of the scenario file, and in
    the place of its own, older or not; a failure is not hidden by an older result."""
    one, _ = one_run()
    runs = [(one, seed) for seed in (1, 2, 3)]
    kept = [line_of(one, 3) | {"version": "v1"}, line_of(one, 1), older(line_of(one, 2))]
    new = [line_of(one, 1) | {"summary": 2}, line_of(one, 3), older(line_of(one, 2), version="v9")]
    found = work.merged(kept, new, runs, "v2")
    # What gives the same is not of another version; what is not current is not taken.
    assert [(line["seed"], line["version"]) for line in found] == [(1, "v2"), (2, "v1"), (3, "v1")]
    assert found[0]["summary"] == 2
    assert work.state(found, runs, work.published()).older == {"crosscheck-reno-s2": "v1"}
    (line, *_) = work.merged(kept, [line_of(one, 2)], [runs[1]], "v2")
    assert line == line_of(one, 2) | {"version": "v2"}
    found = work.merged(kept, [line_of(one, 3) | {"failed": "why"}], runs, "v2")
    assert work.state(found, runs, work.published()).failed == {"crosscheck-reno-s3": "why"}


def test_what_is_older_is_shown_and_not_counted(
    alone: work.Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its numbers and a verdict, and the version beside it; the headline has none of it."""
    (figure,) = catalogue.choose(["ltcp-fig11"])
    how = work.profile(work.COMMITTED)
    # Whatever became of the committed results: all are current but those of "v1.2".
    monkeypatch.setattr(Platform, "knows", lambda _, line, *__: line.get("version") != "v1.2")
    before = page.section(figure, how)
    assert before.judged and not before.older
    name = figure.scenarios[0]
    lines = [older(line, version="v1.2") for line in work.read(RESULTS, name)]
    with pytest.MonkeyPatch.context() as patch:
        read = work.read
        patch.setattr(work, "read", lambda at, file: lines if file == name else read(at, file))
        found = page.section(figure, how)
    assert (found.verdict, found.numbers) == (before.verdict, before.numbers)
    assert found.older == "version v1.2" and found.pictures and found.holds == before.holds
    verdict, holds = before.verdict, before.holds
    text = page.html([found], how)
    assert text.count("v1.2") >= 3 and f"1 {verdict}" not in text
    assert "1 more is shown from older versions" in text
    files = page.markdown([found], how)
    text = files[ROOT / "docs/results.md"]
    assert f"| {verdict} (older: of version v1.2) | {holds} |" in text
    text = files[ROOT / "docs/figures/ltcp.md"]
    assert f"**{verdict.capitalize()}, {holds} criteria hold.** Older: of version v1.2" in text
    assert f"1 {verdict}" in page.html([before], how)


def test_keep_takes_what_makes_a_file_complete(
    alone: work.Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    monkeypatch.setattr(work, "RESULTS", kept)
    monkeypatch.setattr(cost, "keep", lambda *_: None)
    figures = [figure_of(scenarios=["crosscheck"])]
    runs = [(one, 1) for one in scenario.load(ROOT / "tests/scenarios/crosscheck.toml")]
    monkeypatch.setattr(work, "tree_version", lambda: "v1")
    lines = [line_of(*run) | {"version": "v1"} for run in runs]
    work.write(lines[:1], alone.results / "crosscheck.json")
    assert work.keep(figures, alone) == ["crosscheck"] and not kept.exists()
    assert work.keep(figures, alone, partial=True) == ["crosscheck"]
    assert work.read(kept, "crosscheck") == lines[:1]
    (kept / "crosscheck.json").unlink()
    work.write(lines[1:], kept / "crosscheck.json")
    assert work.keep(figures, alone) == [] and work.read(kept, "crosscheck") == lines
    # Nothing is taken beside what is older, unless that is asked for.
    was = [older(line) for line in lines]
    work.write(was, kept / "crosscheck.json")
    work.write(lines[:1], alone.results / "crosscheck.json")
    assert work.keep(figures, alone) == ["crosscheck"] and work.read(kept, "crosscheck") == was
    assert work.keep(figures, alone, partial=True) == ["crosscheck"]
    assert work.read(kept, "crosscheck") == [*lines[:1], *was[1:]]


def test_a_run_that_failed_is_kept_as_failed(alone: work.Profile) -> None:
    """Though an older result of it may be there."""
    figures = catalogue.choose(["crosscheck"])
    runs = alone.runs
    runs.mkdir(parents=True)
    (runs / "crosscheck-reno-s1.json").write_text("{}")
    (runs / "crosscheck-reno-s1.error").write_text("the kernel complained\n")
    work.gather(figures, alone)
    (line,) = work.read(alone.results, "crosscheck")
    assert line["failed"] == "the kernel complained"
    found = page.section(figures[0], alone)
    assert found.verdict is Verdict.FAILED and not found.numbers and not found.pictures


def test_runs_of_two_backends_are_counted_apart(alone: work.Profile) -> None:
    """They have the same names, in two files."""
    (figure,) = catalogue.choose(["crosscheck"])
    runs = [(one, 1) for one in scenario.load(ROOT / "tests/scenarios/crosscheck.toml")]
    for file in ("crosscheck", f"crosscheck{figure.suffix}"):
        work.write([older(line_of(*run)) for run in runs], alone.results / f"{file}.json")
    found = page.section(figure, alone)
    assert found.state.expected == found.state.good == len(found.state.older) == 2 * len(runs)


def test_a_figure_without_runs_is_missing(alone: work.Profile) -> None:
    """... and is on the page, with each of the kernel's own."""
    (figure,) = catalogue.choose(["ltcp-fig7"])
    found = page.section(figure, alone)
    assert found.verdict is Verdict.MISSING and not found.numbers and not found.pictures
    assert found.peers and [row[:2] for row in found.peers.rows] == [
        [name, "missing"] for name in PEERS
    ]
    text = page.html([found], alone)
    assert 'id="ltcp-fig7"' in text and "5 missing" in text


def test_a_peer_that_failed_shows_so() -> None:
    """And so does one of which some runs are good."""
    (figure,) = catalogue.choose(["ltcp-fig6"])
    state = State(9, failed={"a": "x", "d": "x"}, missing=["b"], older={"e": "v1"})
    runs = {
        "bbr": ["a"],
        "bic": ["b"],
        "cubic": ["c", "c2", "d", "e"],
        "reno": ["r"],
        "htcp": ["h"],
    }
    shown = Shown(peer_headings=["h", "i"], peers={"reno": ["1", "2"], "cubic": ["3", "4"]})
    table = page._peer_table(figure, shown, state, runs)
    assert table
    rows = {row[0]: row[1:] for row in table.rows}
    assert (rows["reno"], rows["bbr"], rows["bic"]) == (["1", "2"], ["failed", ""], ["missing", ""])
    assert rows["cubic (3 of 4, failed: 1) (older)"] == ["3", "4"]
    assert rows["yeah"] == ["not run", ""]
    # Without the figure itself.
    table = page._peer_table(figure, None, state, runs)
    assert table and ["htcp", "1 of 1"] in table.rows
    shown.peers["reno"] = ["1"]
    with pytest.raises(ValueError, match="ltcp-fig6: reno has 1 cells"):
        page._peer_table(figure, shown, state, runs)


def test_reno_of_the_figure_itself_is_a_peer() -> None:
    """LTCP's Fig. 15: it is not in the file beside."""
    (figure,) = catalogue.choose(["ltcp-fig15"])
    runs = page._peer_runs(figure, work.profile("full"))
    assert set(PEERS) <= set(runs)
    names = [f"{file}-reno-{rtt}ms-s1" for file in figure.scenarios for rtt in (20, 60, 120)]
    assert runs["reno"] == names


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), TypeError("x"), LabError("x")])
def test_a_figure_that_cannot_be_drawn_has_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    """The others are on the page, and the exit status says so."""
    figures = catalogue.choose(["ltcp-fig2", "cwhstcp-table1"])

    def broken(runs: object) -> Shown:
        raise error

    monkeypatch.setattr(import_module("longfat.pages.figures.ltcp"), "fig2", broken)
    how = work.profile(work.COMMITTED)
    first, second = page.sections(figures, how)
    assert first.verdict is Verdict.FAILED and first.reasons == [f"cannot be judged ({error!r})"]
    assert not first.numbers and not first.tables and not first.pictures and not first.judged
    assert second.verdict is Verdict.DIFFERENT
    assert "cannot be judged" in page.html([first, second], how)
    assert main._status([first, second]) == 1 and main._status([second]) == 0
    assert "report: ltcp-fig2: cannot be judged" in capsys.readouterr().err


def test_plan_makes_what_is_older_again(alone: work.Profile) -> None:
    figures = catalogue.choose(["crosscheck"])
    one, seed = one_run()
    path = work.path_of(alone, one, seed)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(line_of(one, seed) | {"longfat": 1}))
    assert {run["name"]: run["done"] for run in work.plan(figures, alone)} == {
        "crosscheck-reno-s1": True,
        "crosscheck-cubic-s1": False,
        "crosscheck-ltcp-s1": False,
    }
    error = path.with_suffix(".error")
    error.write_text("the kernel complained\n")
    assert not any(run["done"] for run in work.plan(figures, alone))
    error.unlink()
    path.write_text(json.dumps(older(line_of(one, seed)) | {"longfat": 1}))
    runs = work.plan(figures, alone)
    assert not any(run["done"] for run in runs)
    assert path.exists(), "a plan changes nothing"
    work.clear(runs, [], alone)
    assert not path.exists()
    # Interrupted now, a page still has the older numbers.
    assert path.with_suffix(".older").exists()
    assert work._line(path, "crosscheck", one, seed) is not None


def test_the_version_of_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of git, changed or not; of the package where there is no git."""
    monkeypatch.setattr(modules, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name in ("debian/changelog", "docs/page.md", "tcp_foo.c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("longfat (1.2) unstable\n")
    assert modules.tree_version() == "1.2"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"], ["tag", "-am", "a", "v3"]):
        subprocess.run([*git, *words], check=True)
    assert modules.tree_version() == "v3"
    (tmp_path / "docs/page.md").write_text("other\n")
    assert modules.tree_version() == "v3"
    (tmp_path / "tcp_foo.c").write_text("other\n")
    assert modules.tree_version() == "v3+"


def test_only_what_is_older_or_missing_is_made(
    alone: work.Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On each backend what docs/results has of older versions, failed or not at all."""
    figures = catalogue.choose(["crosscheck"])
    read = work.read

    def lines(where: Path, file: str) -> list[dict[str, Any]]:
        (first, second, third) = read(where, file)
        return {
            "crosscheck": [older(first), second, third],
            "crosscheck-vm": [first, second | {"failed": "in vain"}],
        }[file]

    # Whatever has changed since these were made.
    monkeypatch.setattr(Platform, "knows", lambda on, run, *_: run["identity"]["programs"] != "0")
    assert not work.not_current(figures)
    monkeypatch.setattr(work, "read", lines)
    only = work.not_current(figures)
    assert [run["name"] for run in work.plan(figures, alone, only=only)] == ["crosscheck-reno-s1"]
    left = work.left_beside(figures, work.profile("full"), only=only)
    names = {job.path.stem for _, job in left}
    assert only == {"crosscheck-reno-s1", *names} and len(names) == 2


def test_again_makes_what_is_there(
    alone: work.Profile, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the figures that are named, on both backends; only asked about, nothing goes."""
    one, seed = one_run()
    paths = [work.path_of(alone, one, seed, suffix) for suffix in ("", "-vm")]
    paths[0].parent.mkdir(parents=True)
    for path in paths:
        path.write_text(json.dumps(line_of(one, seed) | {"longfat": 1}))
    other = alone.runs / "ltcp-fig6-ltcp-s1.json"
    other.write_text("{}")
    monkeypatch.setattr(work, "profile", lambda name: alone)
    plan = ["plan", "--again", "crosscheck"]
    assert main.main([*plan, "--dry"]) == 0 and all(path.exists() for path in paths)
    assert "crosscheck-reno-s1" in capsys.readouterr().out
    assert main.main(["plan", "crosscheck"]) == 0 and all(path.exists() for path in paths)
    assert main.main(plan) == 0 and not any(path.exists() for path in paths)
    assert other.exists()


def test_dry_changes_nothing(
    alone: work.Profile, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one, seed = one_run()
    path = work.path_of(alone, one, seed)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(older(line_of(one, seed)) | {"longfat": 1}))
    monkeypatch.setattr(work, "profile", lambda name: alone)
    assert main.main(["plan", "--dry", "crosscheck"]) == 0
    assert "crosscheck-reno-s1" in capsys.readouterr().out and path.exists()


def test_beside_one_failure_does_not_stop_the_others(
    alone: work.Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each leaves its .error, and is made the next time."""
    made: list[str] = []

    def run(jobs: list[Any], where: object, **how: Any) -> None:
        (job,) = jobs
        made.append(job.path.stem)
        if job.scenario.flow[0].cc != "reno":
            raise LabError("no kernel")
        job.path.write_text(json.dumps(line_of(job.scenario, job.seed) | {"longfat": 1}))

    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(backends.Vm, "prepare", lambda self, say: None)
    figures = catalogue.choose(["crosscheck"])
    bad = ["crosscheck-cubic-s1-vm", "crosscheck-ltcp-s1-vm"]
    left = work.left_beside(figures, alone)
    assert work.beside(left, timeout=1) == [f"{name}: no kernel" for name in bad]
    assert made == ["crosscheck-reno-s1-vm", *bad]
    errors = sorted(path.stem for path in alone.runs.glob("*.error"))
    assert errors == sorted(bad)
    work.gather(figures, alone)
    assert [line.get("failed") for line in work.read(alone.results, "crosscheck-vm")][1:] == [
        "no kernel"
    ] * 2
    assert [job.path.stem for _, job in work.left_beside(figures, alone)] == bad
    said = cost.beside([(of, job.scenario) for of, job in left])
    assert said == "and 3 on other backends (vm), one after the other: 16 min"
    counted = [("vm-counted", job.scenario) for _, job in left]  # 15 million packets
    assert cost.beside([*counted, ("vm", one_run()[0])]).endswith(
        "(vm-counted, vm), one after the other: 67 min"
    )


def test_which_profiles_are_on_other_backends_too(alone: work.Profile) -> None:
    """Not a first look, and not what a cluster does; and only the figure that asks for it."""
    figures = catalogue.choose(["crosscheck"])
    for name in ("quick", "slurm"):
        assert work.left_beside(figures, work.profile(name)) == []
    for name in ("full", "peers-once"):
        assert work.profile(name).beside
    assert work.left_beside(catalogue.choose(["ltcp-fig2", "ltcp-fig6"]), alone) == []


def report_sh(
    tmp_path: Path, profile: str, *, left: str = "", fails: str = "", **variables: str
) -> tuple[int, dict[str, str]]:
    """The exit status of scripts/report.sh in a tree whose programs only say that they were
    called, and the steps with their arguments; what is `left` to do on other backends; which step
    `fails`.  Beside the profiles there is `mine`, a copy of `slurm`."""
    tree = tmp_path / "tree"
    profiles = tree / "longfat/pages/profiles"
    shutil.copytree(work.PROFILES, profiles)
    shutil.copytree(work.PROFILES / "slurm", profiles / "mine")
    (tree / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/report.sh", tree / "scripts")
    # longfat python -m longfat.pages STEP, longfat STEP, deps.sh vm
    for name, step in (("longfat", '"${4:-$1}"'), ("deps.sh", '"deps$1"')):
        (tree / f"scripts/{name}").write_text(
            f"""#!/bin/sh
            step={step}
            case " $* " in
            " snakemake "*) step=snakemake;;
            *" beside --dry "*) echo {left}; exit;;
            *" where "*) echo {tmp_path}/out-of/"$6";;
            esac
            echo "$step" "$@" >>{tmp_path}/calls
            [ "$step" != "{fails}" ]
            """
        )
        (tree / f"scripts/{name}").chmod(0o755)
    env = os.environ | {"PROFILE": profile, "JOBS": "1"} | variables
    done = subprocess.run([tree / "scripts/report.sh", "x"], env=env, timeout=20)
    calls = (tmp_path / "calls").read_text().splitlines()
    return done.returncode, dict((f"{call} ").split(" ", 1) for call in calls)


@pytest.mark.parametrize("profile", ["full", "quick", "slurm"])
@pytest.mark.parametrize("fails", ["", "depsvm", "snakemake", "beside", "gather", "html"])
@pytest.mark.parametrize("left", ["", "a-run-vm"])
def test_the_steps_of_a_report(tmp_path: Path, profile: str, left: str, fails: str) -> None:
    """Real time comes after all runs, what it needs before them; whatever fails, all the other
    steps are taken, and the status says so."""
    status, calls = report_sh(tmp_path, profile, left=left, fails=fails)
    first, needs = ["deps", "where", "build", "plan"], ["depsvm"] if left else []
    assert list(calls) == [*first, *needs, "snakemake", "beside", "gather", "html"]
    assert status == (1 if fails in calls else 0)


@pytest.mark.parametrize(
    ("profile", "cores"), [("full", True), ("peers-once", True), ("slurm", False), ("mine", False)]
)
def test_a_profile_says_itself_who_carries_its_runs_out(
    tmp_path: Path, profile: str, cores: bool
) -> None:
    """A copy of one of another name, too: where its runs are, and whether it has our cores."""
    status, calls = report_sh(tmp_path, profile)
    assert status == 0
    assert f"--directory {tmp_path}/out-of/{profile} " in calls["snakemake"]
    assert f"/longfat/pages/profiles/{profile} " in calls["snakemake"]
    assert ("--cores 1" in calls["snakemake"]) is cores


@pytest.mark.parametrize(
    ("profile", "variables", "steps"),
    [
        ("full", {"DRY": "1"}, ["plan"]),
        (work.COMMITTED, {}, ["html"]),
        (work.COMMITTED, {"DRY": "1"}, ["plan"]),
    ],
)
def test_nothing_is_installed_without_runs(
    tmp_path: Path, profile: str, variables: dict[str, str], steps: list[str]
) -> None:
    status, calls = report_sh(tmp_path, profile, **variables)
    assert (status, list(calls)) == (0, steps)


def snakefile_shell(tmp_path: Path, command: str, *, minutes: int = 10) -> tuple[int, str | None]:
    """What the workflow's rule does with a run that is this command, and may take so many minutes:
    status, and its .error."""
    text = (ROOT / "longfat/pages/Snakefile").read_text().split('"""')[1]
    text = re.sub(
        r"\{config\[longfat\]\} .*?>\{log\}", f"{command} >{tmp_path}/log", text, flags=re.S
    )
    text = text.replace("{log}", f"{tmp_path}/log").replace("{params.error}", f"{tmp_path}/e")
    text = text.replace("{resources.runtime}", str(minutes))
    text = text.replace("{{", "{").replace("}}", "}")
    done = subprocess.run(["bash", "-c", "set -euo pipefail;" + text], timeout=20)
    error = tmp_path / "e"
    return done.returncode, error.read_text() if error.exists() else None


@pytest.mark.parametrize(
    ("command", "status", "error"),
    [
        ("true", 0, None),
        (
            "sh -c 'echo last words; kill -9 $$'",
            137,
            "exit status 137; its log ends:\nlast words\n",
        ),
        ("sh -c 'exit 130'", 130, None),
        ("sh -c 'exit 129'", 129, None),
        # It could not write: that is no fault of what it ran.
        (f"sh -c 'exit {CANNOT_WRITE}'", CANNOT_WRITE, None),
    ],
)
def test_what_was_killed_has_failed(
    tmp_path: Path, command: str, status: int, error: str | None
) -> None:
    found = snakefile_shell(tmp_path, command)
    assert found == (status, error and f"ended with {error}")


@pytest.mark.parametrize("command", ["sh -c 'exit 143'", "sh -c 'kill -TERM $PPID; exit 143'"])
def test_a_clusters_limit_is_no_cancellation(tmp_path: Path, command: str) -> None:
    """Both are a TERM; near its limit a run has failed, before it is only to be made."""
    assert snakefile_shell(tmp_path, command, minutes=10) == (143, None)
    found = snakefile_shell(tmp_path, command, minutes=5)
    assert found == (143, "ended with exit status 143; its log ends:\n")


def test_on_a_full_disk_no_word_is_half_written(tmp_path: Path) -> None:
    (tmp_path / "e.part").symlink_to("/dev/full")
    assert snakefile_shell(tmp_path, "false") == (1, None)
    assert not (tmp_path / "e.part").is_symlink()


def test_what_a_run_said_itself_stays(tmp_path: Path) -> None:
    (tmp_path / "e").write_text("the kernel complained\n")
    assert snakefile_shell(tmp_path, "false") == (1, "the kernel complained\n")


def test_loss_events_are_counted_by_the_bottleneck() -> None:
    """However seldom it is looked at: drops within two round trips are one event."""
    one, _ = one_run()
    flow = {"base_rtt_ms": 50.0, "connections": [{"t": [], "cwnd": [], "received": []}]}
    t = [i / 10 for i in range(120, 160)]
    dropped = [0] * 5 + [3] * 2 + [4] * 10 + [9] * 23
    run = {
        "scenario": json.loads(one.model_dump_json()),
        "flows": [flow],
        "queue": {"t": t, "dropped": dropped},
    }
    assert crosscheck.observe(run)["losses"] == 2


def test_what_a_rerun_gives_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the summary, and in what is observed."""
    monkeypatch.setattr(work, "_observe", lambda paper, run: {"peak": run["peak"], "late": (1, 2)})
    made = {"longfat": 1, "identity": {"id": "1"}, "flows": [], "summary": {"loss": 0.1}}
    made |= {"peak": 1.5, "scenario": {"seeds": [1, 2]}}
    line = result.summarise(made | {"scenario": {"seeds": [1]}}) | {"version": "v1"}
    line["observed"] = {"peak": 1.5}
    path = tmp_path / "run.json"

    def differs(**other: Any) -> list[str]:
        path.write_text(json.dumps(made | other))
        # Besides what is observed in it, what a summary keeps of a result as it is.
        return [key for key in work.differs(path, line, "ltcp") if key != "peak"]

    assert differs() == []
    assert differs(summary={"loss": 0.1000001}) == ["summary"]
    assert differs(peak=1.5000001) == ["observed peak"]
    line["observed"]["late"] = [1, 2]
    assert differs() == []
    assert differs(identity={"id": "2"}) == ["identity"]
    line["observed"]["gone"] = 1
    assert differs() == ["observed gone"]


def test_only_whole_runs_are_kept() -> None:
    with pytest.raises(LabError, match="the profile quick has parts of them"):
        work.keep([], work.profile("quick"))


# --- profiles


def test_quick_is_within_ten_minutes_on_two_cores() -> None:
    runs = work.plan(FIGURES, work.profile("quick"))
    assert sum(run["cpu_s"] for run in runs) / 2 <= 10 * 60


QUICK = work.profile("quick")


def test_quick_is_of_whole_runs_of_figures_that_there_are() -> None:
    """Those of the full report: nothing is run that it would not run, nor twice."""
    assert QUICK.figures and set(QUICK.figures) <= set(IDS)
    whole = work.wanted(FIGURES, work.profile("full"))
    for figure in FIGURES:
        wanted = work.wanted([figure], QUICK)
        for file, runs in wanted.items():
            assert [run for run in runs if run not in whole[file]] == []
        for pattern in QUICK.figures.get(figure.id, []):
            names = [one.name for runs in wanted.values() for one, _ in runs]
            assert any(fnmatchcase(name, pattern) for name in names), pattern
    assert QUICK.runs == work.profile("full").runs


@pytest.mark.parametrize("figure", FIGURES, ids=IDS)
def test_a_first_look_does_not_contradict_the_whole(
    figure: Figure, committed: list[page.Section]
) -> None:
    """By the committed results of its runs alone: its verdict is that of all of them, or that it
    needs the whole."""
    seen = page.section(figure, replace(QUICK, name=work.COMMITTED))
    whole = next(one for one in committed if one.figure is figure)
    if figure.id in (QUICK.figures or {}):
        assert seen.verdict is whole.verdict, seen.reasons
    else:
        assert seen.verdict is Verdict.WHOLE
        assert f"make report FIGURE={figure.id}" in seen.reasons[0]


def test_a_figure_has_a_picture(committed: list[page.Section]) -> None:
    """Where all of its runs are there; a table of the paper need not."""
    for found in committed:
        of_a_paper = "Table" not in found.figure.number and not found.figure.section
        if found.state.complete and of_a_paper:
            assert found.pictures, f"{found.figure.id}: {found.reasons}"


def test_lines_have_colours_of_their_own() -> None:
    """The kernel's ten and ours, wherever they are drawn."""
    assert len({colour(name) for name in ("ltcp", *PEERS)}) == 11
    assert colour("cwhstcp") == colour("ltcp")


def test_recovery_below_layers_is_that_of_tcp() -> None:
    """Where 0.85 of the window is below W_T."""
    assert ltcp._recovering(2) == 1
    assert ltcp._recovering(3) == pytest.approx(2 * 0.5 / 0.15)


@pytest.mark.parametrize(
    ("losses", "queue", "expected"),
    [((10, 10), 0, 4), ((20, 10), 0, 4 / 2**1.5), ((10, 10), 40, (1 / 2) ** 0.5 * 1.5**2.5)],
)
def test_ltcp_by_its_law(losses: tuple[int, int], queue: float, expected: float) -> None:
    """Flows of 40 and 80 ms: the inverse square where they lose alike and there is no queue."""
    flows = [{"base_rtt_ms": rtt, "rtt_ms": {"mean": rtt + queue}} for rtt in (40.0, 80.0)]
    run = {"flows": flows, "observed": {"losses": losses}}
    assert ltcp._by_its_law(run) == pytest.approx(expected)


def test_fewer_seeds_of_the_kernels_own() -> None:
    figures = catalogue.choose(["ghstcp-fig7"])
    all_of_them = work.wanted(figures, work.profile("full"))
    some = work.wanted(figures, work.profile("peers-once"))
    assert some["ghstcp-fig7"] == all_of_them["ghstcp-fig7"]
    peers = all_of_them["ghstcp-fig7-peers"]
    assert some["ghstcp-fig7-peers"] == [(one, seed) for one, seed in peers if seed == 1]
    assert work.profile("peers-once").out == work.profile("full").out


def test_seeds_that_are_not_there_are_said() -> None:
    """Instead of missing runs, if each run of the others is there."""
    (file,) = work.expected(catalogue.choose(["ghstcp-fig7"])[0], work.profile("full"), peers=True)
    runs = work.expected(catalogue.choose(["ghstcp-fig7"])[0], work.profile("full"), peers=True)[
        file
    ]
    later = [work.run_name(one, seed) for one, seed in runs if seed > 1]
    first = [work.run_name(one, seed) for one, seed in runs if seed == 1]
    state = State(len(runs), missing=list(later), current=first)
    assert page._fewer_seeds(state, runs) == "1 seed of 3"
    assert state.complete and state.text() == f"{len(runs) // 3} of {len(runs) // 3} runs"
    for missing in (later[1:], later + [work.run_name(*runs[0])], []):
        state = State(len(runs), missing=list(missing))
        assert page._fewer_seeds(state, runs) == ""
        assert state.missing == missing and state.expected == len(runs)


def test_profiles() -> None:
    assert work.profile("slurm").out == work.profile("full").out
    assert work.profile("quick").out != work.profile("full").out
    every = ("quick", "full", "slurm", "peers-once", work.COMMITTED)
    asks = [name for name in every if work.profile(name).fewer_seeds]
    assert asks == ["peers-once", work.COMMITTED]
    with pytest.raises(
        LabError, match="no profile 'fast'; valid: full, peers-once, quick, slurm, committed"
    ):
        work.profile("fast")


def test_where_a_copy_of_a_profile_has_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the one has it that it was copied from; scripts/report.sh asks for it."""
    shutil.copytree(work.PROFILES / "slurm", tmp_path / "mine")
    monkeypatch.setattr(work, "PROFILES", tmp_path)
    assert main.main(["where", "--profile", "mine"]) == 0
    assert capsys.readouterr().out == f"{ROOT}/out/report/full\n"
    assert main.main(["where", "--profile", "slurm"]) == 1
    assert "no profile 'slurm'; valid: mine, committed" in capsys.readouterr().err


# --- how long


def test_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """By packets, as those of the same file took, or as all did."""
    monkeypatch.setattr(
        cost,
        "_costs",
        lambda: {"start_s": 2.0, "python_s": 1.0, "us_per_packet": {"any": 5.0, "known": 10.0}},
    )
    one, _ = one_run()  # 200 Mbit/s, 1500 bytes, 300 s: five million packets
    assert cost.estimate(one, "other") == pytest.approx(3 + 25)
    assert cost.estimate(one, "known") == pytest.approx(3 + 50)
    # A flow that ends costs what it carries; beside one that does not it is as without.
    file = one.flow[0].model_copy(update={"bytes": 15_000_000, "count": 2})
    ends = one.model_copy(update={"flow": (file,)})
    assert cost.estimate(ends, "other") == pytest.approx(3 + 0.1)
    both = one.model_copy(update={"flow": (file, one.flow[0])})
    assert cost.estimate(both, "other") == pytest.approx(3 + 25)
    # So is a run of short flows alone, which has no flow.
    assert cost.estimate(one.model_copy(update={"flow": ()}), "other") == pytest.approx(3 + 25)


def test_what_runs_cost_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By packets, the mean of those that came to an end; what was known of others stays."""
    known = {"start_s": 2.0, "python_s": 1.0, "us_per_packet": {"any": 5.0, "other": 7.0}}
    monkeypatch.setattr(cost, "_costs", lambda: known)
    monkeypatch.setattr(cost, "COSTS", tmp_path / "costs.json")
    one, _ = one_run()
    for name, spent in (("a", "27"), ("b", "37")):
        (tmp_path / f"{name}.cpu").write_text(f"{spent}\n")
        (tmp_path / f"{name}.json").write_text("{}")
    (tmp_path / "cut-off.cpu").write_text("1\n")
    cost.keep(tmp_path, {"file": [(name, one) for name in ("a", "b", "cut-off", "missing")]})
    kept = json.loads((tmp_path / "costs.json").read_text())
    assert kept["us_per_packet"] == {"any": 6.5, "other": 7.0, "file": 6.0}


def test_total() -> None:
    runs = [
        {"cpu_s": 7200.0, "done": False},
        {"cpu_s": 3600.0, "done": False},
        {"cpu_s": 3600.0, "done": True},
    ]
    assert cost.total(runs, 2) == (
        "2 of 3 runs are left to do: about 3.0 h of CPU time, 2.0 h on 2 cores"
    )
    assert "60 min on 2 cores" in cost.total(runs[1:], 2)


# --- pages


class Loads(HTMLParser):
    """What a page would load, and the anchors in it."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if tag == "a" and name == "href":
                self.links.append(value or "")
            elif name in ("src", "href", "xlink:href", "srcset", "data", "poster"):
                if not (value or "").startswith("#"):
                    self.loads.append(f"{tag} {value}")
            elif name == "id":
                self.ids.append(value or "")
        if tag in ("script", "link", "iframe", "object", "embed"):
            self.loads.append(tag)


@pytest.fixture(scope="module")
def committed() -> list[page.Section]:
    return page.sections(FIGURES, work.profile(work.COMMITTED))


def test_html_loads_nothing(committed: list[page.Section]) -> None:
    text = page.html(committed, work.profile(work.COMMITTED))
    found = Loads()
    found.feed(text)
    assert found.loads == []
    assert not re.search(r"@import|url\((?!#)", text)
    assert {link.removeprefix("#") for link in found.links} == set(IDS) <= set(found.ids)


def test_every_figure_is_on_both_pages(committed: list[page.Section]) -> None:
    how = work.profile(work.COMMITTED)
    whole, files = page.html(committed, how), page.markdown(committed, how)
    for one in committed:
        name, _, anchor = one.figure.where.partition("#")
        text = files[ROOT / "docs" / name]
        assert f"\n## {anchor}\n" in text
        for where in (html.unescape(whole), text):
            assert f"make report FIGURE={one.figure.id}" in where
            assert str(one.verdict) in where.lower()
        if one.figure.peers and not one.figure.section:
            assert one.peers and [row[0].split()[0] for row in one.peers.rows] == list(PEERS)
        # Numbers and pictures if and only if all runs are there.
        assert bool(one.numbers or one.tables) == one.state.complete


def test_the_page_begins_with_what_holds(committed: list[page.Section]) -> None:
    """Counts by paper, each claim that is not shown with what is not so, and the kernel's own."""
    text = page.markdown(committed, work.profile(work.COMMITTED))[ROOT / "docs/results.md"]
    begins, _, _ = text.partition("\n## All figures\n")
    for one in committed:
        row = f"([{one.figure.id}]({one.figure.where})) |"
        assert begins.count(row) == (one.verdict in page.UNMET)
        if one.verdict in page.UNMET:
            said, why = one.shortly
            assert said in {x.criterion.says for x in one.judged if not (x.holds and x.sure)}
            assert why
    # A reason that was tested says what came out, and where to find the runs.
    for one in committed:
        if one.figure.under and one.under_state.complete and one.verdict in page.UNMET:
            assert one.figure.came_out and f"Tested: {one.figure.came_out}" in begins
            assert all(f"(../tests/scenarios/{x}.toml)" in begins for x in one.figure.conditions)
    counted = page._counts([one for one in committed if not one.figure.ours], page.OF_PAPERS)
    total = re.search(r"\*\*Of (\d+) figures and tables of four papers (\d+) are", begins)
    assert total and int(total[1]) == sum(int(row[1]) for row in counted.rows)
    numbers = [int(cell.split()[0]) for row in counted.rows for cell in row[2:] if cell != "-"]
    assert sum(numbers) == sum(int(row[1]) for row in counted.rows)
    assert [row[0] for row in counted.rows] == [
        f"[{name}]({name}.md)" for name in ("ltcp", "ghstcp", "cwhstcp", "sabul")
    ]


def test_a_headline_number_is_one_of_the_figure(committed: list[page.Section]) -> None:
    """Ours and all ten of the kernel's own; a figure of which runs are missing has none."""
    those = [one for one in committed if one.figure.headline]
    assert len(those) > 10
    for one in those:
        cells = one.beside()
        assert len(cells) == (1 + len(PEERS) if one.state.complete else 0)
        assert not any("±" in cell or "(" in cell for cell in cells)
    (one,) = (x for x in those if x.figure.id == "ltcp-fig10")
    assert one.peers and one.peers.rows[0][3].startswith(one.beside()[1])


def test_what_does_not_hold_surely_is_said_first() -> None:
    def judged(says: str, holds: bool | None, *, sure: bool = True, why: str = "") -> Judged:
        return Judged(Criterion(says=says, of=["x"], least=1, why=why), holds, "x 0", sure)

    figure = FIGURES[0]
    open_, unmet = judged("a", True, sure=False), judged("b", False, why="As 1.2 is less. And so.")
    for all_of, said in (
        ([open_, unmet], ("b", "As 1.2 is less.")),
        ([judged("c", True), open_], ("a", "open; by the means yes: x 0")),
        ([judged("c", None)], ("c", "not decided: x 0")),
        ([judged("c", False)], ("c", "no: x 0")),
    ):
        assert page.Section(figure, Verdict.NOT, [], all_of).shortly == said
    # Where the reason was tested the row says what came out.
    figure = figure.model_copy(update={"under": "it rains", "conditions": ["wet"]})
    one = page.Section(figure, Verdict.NOT, [], [unmet], under_state=State(missing=["x"]))
    assert one.shortly[1] == "As 1.2 is less. Not measured yet: where it rains."
    figure = figure.model_copy(update={"came_out": "It is 3 in the rain."})
    one = page.Section(figure, Verdict.NOT, [], [unmet])
    wet = "([wet](../tests/scenarios/wet.toml))"
    assert one.shortly[1] == f"As 1.2 is less. Tested: It is 3 in the rain. {wet}"


def test_the_committed_page_is_what_is_made(committed: list[page.Section]) -> None:
    """`scripts/longfat python -m longfat.pages pages` renews it."""
    made = page.markdown(committed, work.profile(work.COMMITTED))
    for path, text in made.items():
        assert path.read_text() == text, f"{path} is not what `longfat.pages pages` makes"
    pictures = {path.name for path in (ROOT / "docs/img").glob("report-*.svg")}
    # TeX on an axis is not read: figures.logarithmic.
    assert not [name for name in pictures if "$" in (ROOT / "docs/img" / name).read_text()]
    assert pictures == {path.name for path in made if path.suffix == ".svg"}


def test_the_readme_counts_as_the_page_does(committed: list[page.Section]) -> None:
    """What is shown from older versions is not reproduced."""
    papers = [one for one in committed if not one.figure.ours]
    verdicts = [one.verdict for one in papers if not one.older]
    good = verdicts.count(Verdict.REPRODUCED) + verdicts.count(Verdict.DIFFERENT)
    assert f"**{good} of {len(papers)} figures" in readme.headline()
    for made in (readme.headline(), readme.beside()):
        assert f"\n{made}\n" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("ident", ["ack-cost", "carrying"])
def test_a_measurement_of_older_modules_is_older(
    ident: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its figure is shown and not counted."""
    how = work.profile(work.COMMITTED)
    (figure,) = catalogue.choose([ident])
    found = data.measured(figure.measured)
    monkeypatch.setattr(data, "bare_digests", lambda: found["modules"])
    current = page.section(figure, how)
    assert not current.older
    monkeypatch.setattr(data, "bare_digests", lambda: found["modules"] | {"ltcp": "0"})
    one = page.section(figure, how)
    assert one.older == f"version {found['version']}" and one.verdict is current.verdict
    text = page.markdown([one], how)[ROOT / "docs/results.md"]
    assert f"{one.verdict} (older: of version {found['version']})" in text
    assert "| [performance](performance.md) | 1 | 1 (1) |" in text


def test_older_numbers_are_marked() -> None:
    """One older run marks the mean of all."""
    lines = [
        {"flows": [{"cc": cc}, {"cc": "reno", "goodput_bps": 2e6}], "older": older}
        | {"scenario": {"link": {"rate": 10**9}}}
        for cc, older in (("ltcp", False), ("ltcp", True), ("bbr", False))
    ]
    found = use.found(use.one_reno(lambda name: lines if name == "ltcp-fig12" else []))
    assert {cc: use.cell(one, 1) for cc, one in found.items()} == {"ltcp": "2.0†", "bbr": "2.0"}
    assert use.cell(found["ltcp"], 0, bold=True) == "**2**†"


def test_cells_do_not_break_a_table() -> None:
    text = page.table(Table(["", "ours"], [["a|b", "1"]], "Of both."))
    assert text == "|  | ours |\n| --- | ---: |\n| a\\|b | 1 |\n\nOf both."


@pytest.fixture
def chromium(tmp_path: Path) -> Callable[..., str]:
    """A real browser without a window, on a page: what it says."""
    browser = shutil.which("chromium")
    if not browser:
        pytest.skip("chromium is not installed")

    def look(text: str, *options: str) -> str:
        (tmp_path / "report.html").write_text(text)
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", *options]
            + [f"--user-data-dir={tmp_path}/profile", f"file://{tmp_path}/report.html"],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return look


@pytest.mark.parametrize("width", [400, 900, 1400])
def test_nothing_is_wider_than_the_window(
    committed: list[page.Section], width: int, chromium: Callable[..., str]
) -> None:
    """In a real browser, and pictures have a size; what is wide is scrolled in its own box."""
    measure = (
        "<script>document.title = [document.documentElement.scrollWidth, innerWidth, Math.min("
        "...[...document.querySelectorAll('.picture svg')].map(x => x.getBoundingClientRect()"
        ".height))].join(' ')</script></body>"
    )
    text = page.html(committed, work.profile(work.COMMITTED)).replace("</body>", measure)
    said = chromium(text, f"--window-size={width},900", "--dump-dom")
    found = re.search(r"<title>(\d+) (\d+) ([\d.]+)</title>", said)
    assert found, said[:2000]
    assert int(found[1]) <= int(found[2])
    assert float(found[3]) > 100


@pytest.mark.parametrize(("width", "dark"), [(400, True), (1400, False)])
def test_a_screenshot(
    committed: list[page.Section],
    width: int,
    dark: bool,
    chromium: Callable[..., str],
    tmp_path: Path,
) -> None:
    """It is drawn from top to bottom, in the colours that the reader asks for, and nothing is cut
    off at the right."""
    text = page.html(committed, work.profile(work.COMMITTED))
    chromium(
        text,
        f"--screenshot={tmp_path}/shot.png",
        f"--window-size={width},3000",
        "--hide-scrollbars",
        f"--blink-settings=preferredColorScheme={int(not dark)}",
    )
    shot = pyplot.imread(tmp_path / "shot.png")[:, :, :3]
    assert shot.shape == (3000, width, 3)
    background = shot[5, 1]
    assert (background.mean() < 0.3) == dark
    for top in range(0, 3000, 500):
        part = shot[top : top + 500]
        inked = (abs(part - background).max(axis=2) > 0.3).mean()
        assert 0.005 < inked < 0.9, f"{100 * inked:.1f} % of the rows from {top} on"
    assert (shot[:, -2:] == background).all()


def test_what_ltcp_prints_of_each_rate() -> None:
    """A key with a point in it is two keys, if nobody quotes it."""
    for name, rows in ltcp.PAPER["fig7"].items():
        assert list(rows) == list(ltcp.RATES.values()), name


# --- what is current, and what cannot be read


def test_a_run_of_another_kernel_is_made_again(alone: work.Profile) -> None:
    """In virtual time."""
    one, seed = one_run()
    path = work.path_of(alone, one, seed)
    path.parent.mkdir(parents=True)

    def made(kernel: str) -> bool:
        line = line_of(one, seed)
        line["identity"]["kernel"] = kernel
        path.write_text(json.dumps(line | {"longfat": 1}))
        return work.is_made(path, one, seed)

    (known, *_) = work.published().kernels
    assert made(known) and not made(known.replace("6.12", "6.13")) and not made(known + "0")


@pytest.mark.parametrize("text", ["", '{"longfat": 1', "[]", '{"longfat": 1}', '{"longfat": 0}'])
def test_a_result_that_cannot_be_read(alone: work.Profile, text: str) -> None:
    """... is to be made; until then it has failed, and stops none of the others."""
    figures = catalogue.choose(["crosscheck"])
    one, seed = one_run()
    path = work.path_of(alone, one, seed)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert not any(run["done"] for run in work.plan(figures, alone))
    work.gather(figures, alone)
    (line,) = work.read(alone.results, "crosscheck")
    assert line["failed"].startswith("nothing to be observed: ")
    section = page.section(figures[0], alone)
    assert section.verdict is Verdict.FAILED
    assert main._status([section]) == 1


@pytest.mark.parametrize("error", [StopIteration(), TypeError("x"), LabError("x")])
def test_a_result_that_cannot_be_observed(
    alone: work.Profile, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    one, seed = one_run()
    path = work.path_of(alone, one, seed)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(line_of(one, seed) | {"longfat": 1, "flows": []}))

    def observe(paper: str, run: Any) -> None:
        raise error

    monkeypatch.setattr(work, "_observe", observe)
    line = work._line(path, "crosscheck", one, seed)
    assert line and line["failed"] == f"nothing to be observed: {error!r}"


def test_summaries_are_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted, it leaves what was there."""
    path = tmp_path / "some.json"
    work.write([{"a": 1}], path)

    def interrupted(self: Path, text: str) -> int:
        with self.open("w") as file:
            file.write(text[:3])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        work.write([{"a": 2}], path)
    assert work.read(tmp_path, "some") == [{"a": 1}] and list(tmp_path.iterdir()) == [path]


def test_what_a_failure_left_goes_with_a_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = runner.Job(*one_run(), tmp_path / "a-s1.json")
    left = tmp_path / "a-s1.failed"
    works = False

    def run(jobs: list[Any], where: object, **how: Any) -> None:
        if not works:
            left.mkdir()
            (left / "log").write_text("no kernel\n")
            raise LabError("no kernel")

    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(backends.Uml, "prepare", lambda self, say: None)
    with pytest.raises(LabError, match="no kernel"):
        work._carry_out(job, backends.Uml(), 1)
    assert left.exists() and (tmp_path / "a-s1.error").exists()
    works = True
    work._carry_out(job, backends.Uml(), 1)
    assert list(tmp_path.iterdir()) == []
