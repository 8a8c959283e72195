# SPDX-License-Identifier: GPL-2.0
"""`longfat evaluate` on made-up results: criteria, runs, numbers, marks and pages."""

from __future__ import annotations

import csv
import io
import json
import math
import operator
import os
import random
import re
import shlex
import shutil
import signal
import threading
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib import pyplot
from matplotlib.patches import Ellipse
from rich.console import Console
from test_runner import SAMPLES, Fake, backend

from longfat.arena import (
    carry,
    cost,
    criteria,
    league,
    metrics,
    observe,
    pages,
    pictures,
    plan,
    score,
    toml,
    workflow,
)
from longfat.arena.metrics import Seen
from longfat.arena.score import Mark
from longfat.build import modules
from longfat.core.errors import Disturbed, LabError, Unwritable
from longfat.run import plan as run_plan
from longfat.run import result, runner, scenario, traffic
from longfat.run.result import Json

__all__ = ["backend"]

ONE = """
of = "a document"
section = "1"
level = "MUST"
title = "One"
asks = "What?"
observe = ["rates"]

[scenario]
duration = "10s"
link = { rate = "10mbit", buffer = "100p" }
flow = [{ cc = "$cc", rtt = "20ms" }]
vary = { "link.buffer" = ["10p", "100p"] }

[[number]]
name = "goodput"
metric = "goodput"
unit = "Mbit/s"
digits = 4
better = "more"

[[picture]]
draw = "curve"

[[picture]]
draw = "time"
series = "rates"
"""

# A picture of what made records have not.
TIME = """
[[picture]]
draw = "time"
series = "rates"
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of criteria, in the place of the lab's: it has the one above."""
    where = tmp_path / "criteria"
    where.mkdir()
    (where / "1.toml").write_text(ONE)
    monkeypatch.setattr(criteria, "WHERE", where)
    criteria.load.cache_clear()
    yield where
    criteria.load.cache_clear()


# --- the criteria


def test_every_criterion_is_whole() -> None:
    found = criteria.load()
    assert len({one.id for one in found}) == len(found) > 30
    assert found[0].id == "5.1.1" and not found[-1].id[0].isdigit()
    ids = {one.id for one in found}
    for one in found:
        assert set(one.runs_of) <= ids
        assert one.picture and one.asks.endswith(("?", ".")) and one.level


def test_no_criterion_names_an_algorithm_of_ours() -> None:
    names = {name.removeprefix("tcp_") for name in modules.sources()}
    for path in [*criteria.WHERE.glob("*.toml"), criteria.MARKS]:
        assert not names & set(re.findall(r"[a-z]+", path.read_text())), path


def test_the_page_says_what_cannot_be_harmful() -> None:
    page = (modules.ROOT / "docs/evaluation.md").read_text()
    said = page.partition("These criteria have no threshold: ")[2].partition(". What")[0]
    without = [x.id for x in criteria.load() if not any(n.harmful for n in x.number)]
    assert said.replace("\n", " ") == ", ".join(without)


def test_every_threshold_has_a_reason() -> None:
    numbers = [(one.id, number) for one in criteria.load() for number in one.number]
    for ident, number in numbers:
        assert (number.harmful is None) is (not number.because), f"{ident}: {number.name}"


def test_no_standard_is_beyond_a_threshold() -> None:
    """Where reno or cubic is, it says nothing of anybody else."""
    league = rows(modules.ROOT / "docs/results/evaluation/league.csv")
    harmful = {
        (one.id, number.name): number
        for one in criteria.load()
        for number in one.number
        if number.harmful is not None
    }
    seen = 0
    for row in league:
        number = harmful.get((row["criterion"], row["number"]))
        if number and row["algorithm"] in criteria.marks().standards and row["value"]:
            sign = 1 if number.better == "more" else -1
            value, most = (sign * float(x) for x in (row["value"], number.harmful or 0))
            assert value >= most, f"{row['criterion']}, {number.name}: {row['algorithm']}"
            seen += 1
    assert seen > 30


@pytest.mark.parametrize("profile", criteria.PROFILES)
def test_every_number_has_runs(profile: str) -> None:
    """In `full` each number is of some; in the others of some, or it is left out and said."""
    of = plan.evaluation(["vegas"], ["reno", "cubic"], profile)
    assert len({run.name for run in of.runs}) == len(of.runs)
    for criterion in of.criteria:
        there = of.of(criterion, of.contenders[0])
        assert there or criterion.part(profile).skip, criterion.id
        if profile != "full":
            continue
        for number in criterion.number:
            cell = score.Cell(criterion, number, of.contenders[0])
            paths = [x for x in there if any(fnmatchcase(x.path, p) for p in number.paths)]
            assert paths, f"{criterion.id}: {number.name}: no path is {number.paths}"
            if number.base:
                assert any(
                    score._Runs(of, {}, {}).base(run, number) for run in paths
                ), cell.number.name


def test_the_first_look_is_short() -> None:
    """Ten minutes on two cores, of one algorithm beside cubic and reno."""
    of = plan.evaluation(["vegas"], [], "smoke")
    assert {one.text for one in of.all} == {"vegas", "cubic", "reno"}
    seconds = sum(cost.seconds(run) for run in of.runs)
    assert seconds < 2 * 600
    # As the page says.
    page = (modules.ROOT / "docs/evaluation.md").read_text()
    assert f"{len(of.runs)} runs, by its estimate {cost.length(seconds)}utes of" in page
    standard = plan.evaluation(["vegas"], [], "standard")
    assert sum(cost.seconds(run) for run in standard.runs) < 2 * 7200


def test_a_run_has_a_limit_by_what_it_costs() -> None:
    long = plan.evaluation(["reno"], ["cubic"], "full", only=["6.1"]).runs
    assert min(map(cost.limit, long)) < 700 and max(map(cost.limit, long)) > 1000


def test_no_run_asks_for_more_memory_than_it_can_use() -> None:
    """Its kernel has a limit, whatever may be in flight."""
    of = plan.evaluation(["vegas"], ["cubic"], "full", only=["6.1-10g", "tcpeval-4.4.3"])
    most = max(of.runs, key=lambda run: run.scenario.most_in_flight)
    assert most.path == "600 ms, 0.1 BDP"
    link = most.scenario.link.model_copy(update={"rate": 2 * most.scenario.link.rate})
    twice = replace(most, scenario=most.scenario.model_copy(update={"link": link}))
    assert 16 * twice.scenario.most_in_flight / 2**20 > 20000
    assert cost.memory(twice) == 1024 + 16384
    assert f"at most {cost.memory(most) / 1000:.1f} GB" in cost.total(of.runs, 2)
    # Two of them at once would not fit.
    (large, one), (rest, two) = cost.parts(of.runs, 2, 24000)
    assert (one, two) == (1, 2) and most in large and len(large) + len(rest) == len(of.runs)
    assert all(cost.memory(run) > 6000 for run in large)
    assert all(cost.memory(run) <= 6000 for run in rest)
    assert cost.parts(of.runs, 1, 24000) == [(of.runs, 1)] and cost.parts([], 2) == []
    # Where there are 2 GB for each of many cores, most runs are made at once.
    smoke = plan.evaluation(["vegas"], [], "smoke").runs
    assert cost.parts(smoke, 16, 32000) == [(smoke, 16)]
    assert cost.parts(smoke, 2, 8000)[-1][1] == 2


def test_a_written_scenario_is_the_same_in_the_file() -> None:
    of = plan.evaluation(["vegas"], ["cubic"], "full")
    for name, text in of.files.items():
        again = tomllib.loads(text)
        assert toml.text(again) == text, name
        assert "$" not in text


@pytest.mark.parametrize(
    ("was", "then", "words"),
    [
        ('metric = "goodput"', 'metric = "nosuch"', "number.0: no metric 'nosuch'; valid:"),
        ('unit = "Mbit/s"', "arguments = { x = 1 }", "goodput has no argument 'x'; valid: who"),
        (
            'unit = "Mbit/s"',
            "arguments = { who = 'we' }",
            "goodput: who is 'we'; valid: all, ours, theirs",
        ),
        ('metric = "goodput"', 'metric = "goodput_lost"', "goodput_lost: needs base"),
        ('title = "One"', 'titel = "One"', "titel: there is no such key; valid: id, of, section,"),
        ('unit = "Mbit/s"', "units = 1", "number.0.units: there is no such key; valid: name,"),
        ('unit = "Mbit/s"', 'base = { cc = "reno" }', "compares with nothing: leave base out"),
        ('observe = ["rates"]', 'observe = ["x"]', "no series 'x'; valid: rates"),
        ('asks = "What?"', 'asks = "What?"\nbeside = "all"', "beside and $beside go together"),
        ('asks = "What?"', 'asks = "What?"\ncloud = true', "cloud: needs the series left"),
        ("[scenario]", "[scenario", "is not TOML"),
        ('title = "One"', "", "title: Field required"),
    ],
)
def test_what_is_wrong_in_a_criterion_is_said(own: Path, was: str, then: str, words: str) -> None:
    path = own / "1.toml"
    assert was in ONE
    path.write_text(ONE.replace(was, then))
    with pytest.raises(LabError, match=re.escape(words)) as caught:
        criteria.read(path)
    assert str(path) in str(caught.value)


def test_loads_are_what_they_are_called() -> None:
    """The mean of what is drawn is the mean that arrivals are computed with."""
    (one,) = criteria.choose(["tcpeval-4.4.2"])
    assert one.load
    rng = random.Random(1)
    of = plan.evaluation(["cubic"], ["cubic"], "full", only=["tcpeval-4.4.2"])
    load = next(run.scenario for run in of.runs if run.path == "load 85")
    sizes = [traffic.size(load.short[0], rng) for _ in range(200000)]
    assert sum(sizes) / len(sizes) == pytest.approx(one.load.mean, rel=0.02)
    ahead = [x for x in load.short if not x.reverse]
    assert len(ahead) == 9 and len(load.short) == 18
    asked = sum((x.per_second or 0) * one.load.mean * 8 for x in ahead)
    assert asked == pytest.approx(0.85 * load.link.rate, rel=1e-3)


# --- which runs


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["5.1.2"], {"5.1.2"}),
        (["tcpeval-4.4"], {f"tcpeval-4.4.{n}" for n in (1, 2, 3, 4, 6)}),
        (["nsperf"], {f"nsperf-{x}" for x in ("bufferbloat", "coexistence", "ecn", "loss")}
         | {"nsperf-shallow"}),
        (["7.2"], {"7.2", "5.1.3", "6.1", "7.1", "nsperf-shallow"}),
        (["6.3"], {"6.1", "6.1-10g"}),
        # One that is the beginning of others is chosen alone.
        (["6.1"], {"6.1"}),
        (["5.2"], {"5.2"}),
        (["5.2."], {"5.2.1", "5.2.2", "5.2.3", "tcpeval-6.1"}),
    ],
)  # fmt: skip
def test_criteria_are_chosen(words: list[str], ids: set[str]) -> None:
    assert {one.id for one in criteria.choose(words)} == ids


def test_a_wrong_word_is_said() -> None:
    with pytest.raises(LabError, match=r"--only 9: no such criterion; valid: 5\.1\.1, "):
        criteria.choose(["9"])
    with pytest.raises(LabError, match="--profile x: no such profile; valid: smoke, standard"):
        plan.evaluation(["reno"], [], "x")
    with pytest.raises(LabError, match="nosuch: flow.*no congestion control 'nosuch'"):
        plan.evaluation(["nosuch"], [], "smoke", only=["5.1.2"])
    for text in ("", "x:", "x:y", "x:y=", ":y=1"):
        with pytest.raises(LabError, match="is no algorithm: write its name"):
            plan.contender(text)
    with pytest.raises(LabError, match="their files would have the same name"):
        plan.contenders(["x:a=1", "x_a_1"])


def test_parameters_of_a_module(tree: Path) -> None:
    of = plan.evaluation(["foo:beta=300,mode=fixed", "foo"], ["cubic"], "smoke", only=["pairs"])
    assert [one.text for one in of.all] == ["foo:beta=300,mode=fixed", "foo", "cubic"]
    alone = next(run for run in of.runs if run.cc == run.beside == of.contenders[0])
    assert alone.scenario.module == {"foo": {"beta": 300, "mode": "fixed"}}
    assert alone.file == "pairs-foo_beta_300_mode_fixed-beside-foo_beta_300_mode_fixed.toml"
    assert len(of.skipped) == 2
    assert all("are one module, which has one setting at a time" in x.why for x in of.skipped)
    # Of every other two there are both orders on each path.
    assert len(of.runs) == 2 * (3 + 2 * 2)


def test_what_is_random_has_several_seeds() -> None:
    """One seed has only what nothing is random in, by the path or by the traffic; of what has
    several, each is another run."""
    of = plan.evaluation(["reno"], ["cubic"], "full")
    once = {one.id for one in of.criteria if one.full.seeds == [1]}
    assert once == {"6.1-10g"}
    for run in of.runs:
        one = run.scenario
        assert len(one.seeds) == (1 if run.criterion in once else 3)
        drawn = one.short or one.request or one.video or any(flow.jitter for flow in one.flow)
        lossy = any(link.impaired or "loss" in link.changing for link in one.path)
        assert bool(drawn or lossy) is (run.criterion not in once), run.name
        if run.criterion in once:
            assert all(link.aqm == "fifo" and not link.changing for link in one.path), run.name


@pytest.mark.parametrize("profile", criteria.PROFILES)
def test_who_begins_is_even(profile: str) -> None:
    """Beside others each has every path and seed twice, before all of them and after them, so who
    begins is no matter of chance; pairs have both orders."""
    of = plan.evaluation(["reno"], ["cubic"], profile)
    first: dict[tuple[object, ...], list[bool]] = {}
    for criterion in of.criteria:
        ours, theirs = criterion.roles("flow")
        if not (ours and theirs and criterion.scenario["flow"][ours[0]].get("jitter")):
            continue
        for run in of.of(criterion, of.contenders[0]) if criterion.id != "pairs" else ():
            made = run_plan.make(run.scenario, run.seed, prefix="x", virtual=True)
            lines = [line.split() for line in made.traffic.splitlines() if line[:4] == "tcp "]
            at = [
                [float(x[7]) for x in lines if x[2] in names]
                for names in ([f"x-s{i}" for i in group] for group in (ours, theirs))
            ]
            before, after = max(at[0]) < min(at[1]), min(at[0]) > max(at[1])
            assert before is not after, run.name
            path = tuple(one for one in run.at if one[0] != "flow.0.start")
            first.setdefault((criterion.id, path, run.seed), []).append(before)
    assert {name for name, *_ in first} == {"5.2", "nsperf-coexistence"}
    assert all(sorted(each) == [False, True] for each in first.values())


def test_one_for_marks_alone() -> None:
    of = plan.evaluation(["dctcp"], ["cubic"], "smoke", only=["7.1", "5.1.2"])
    there = {(run.criterion, run.path) for run in of.runs if run.cc.text == "dctcp"}
    assert there == {("7.1", "marks, codel"), ("7.1", "marks, pie")}
    assert [one.why for one in of.skipped] == ["dctcp is for links that mark"]
    # Who runs its file alone runs the same.
    assert "drops" not in of.files["7.1-dctcp.toml"] and "drops" in of.files["7.1-cubic.toml"]


def test_why_there_is_no_number_of_the_runs_of_others(tmp_path: Path) -> None:
    of = plan.evaluation(["dctcp"], ["cubic"], "smoke", only=["5.1.4"])
    (mine,) = (x for x in of.criteria if x.id == "5.1.4")
    assert mine.runs_of
    cell = score.score(of, tmp_path).cell(mine, 0, of.contenders[0])
    assert cell.reason == "dctcp is for links that mark"


# --- numbers


def record(**changes: Any) -> Json:
    """A run of two flows, as it is kept."""
    one: Json = {
        "summary": {
            "capacity_bps": 10_000_000,
            "goodput_bps": 9_000_000,
            "loss": 0.01,
            "queue_delay_ms": {"mean": 5.0, "p50": 4.0, "p95": 8.0, "p99": 9.0, "max": 10.0},
        },
        "flows": [flow(0, 6_000_000), flow(1, 3_000_000)],
        "udp": [],
        "short": [],
        "request": [],
        "video": [],
        "scenario": {
            "duration": 100.0,
            "warmup": 20.0,
            "sample": 0.1,
            "link": {
                "rate": 10_000_000,
                "mtu": 1500,
                "buffer": [1.0, "bdp"],
                "delay": 0.0,
                "at": [],
            },
            "links": [],
            "host": {"timestamps": True},
            "flow": [entry(), entry()],
            "udp": [],
            "short": [],
        },
        "observed": {"left": {"packets": 70_000, "bytes": 100_000_000}},
    }
    return one | changes


def entry(**changes: Any) -> Json:
    return {"rtt": 0.02, "enter": 1, "leave": None, "reverse": False, "bytes": None} | changes


def flow(group: int, bps: int, **changes: Any) -> Json:
    return {
        "group": group,
        "goodput_bps": bps,
        "received_bytes": bps * 10,
        "retransmissions": 0,
        "ce_marks": 0,
        "completion_s": None,
    } | changes


ROLES: metrics.Roles = {
    "flow": ([0], [1]),
    "short": ([], []),
    "request": ([], []),
    "video": ([], []),
}


def value(name: str, run: Json, base: Json | None = None, **arguments: Any) -> float | None:
    seen = Seen(run, ROLES)
    return metrics.of(name, seen, Seen(base, ROLES) if base else None, arguments)


def test_harm() -> None:
    """What the other has beside us, against beside its own kind: there as much as one of both has
    in the mean, whichever began first."""
    base = record(flows=[flow(0, 6_000_000), flow(1, 2_000_000)])
    assert value("goodput_lost", record(), base, who="theirs") == 25
    assert value("goodput_part", record(), base, who="theirs") == 75
    assert value("goodput_lost", record(), base, who="ours") == -50
    # Three of theirs, of which the other run has as many beside one.
    theirs = [flow(1, 1_000_000) for _ in range(3)]
    three = record(flows=[flow(0, 5_000_000), *theirs])
    alone = record(flows=[flow(0, 5_000_000), *(flow(1, 1_000_000) for _ in range(3))])
    assert value("goodput_lost", three, alone, who="theirs") == 50
    slower = record()
    slower["summary"] = slower["summary"] | {"queue_delay_ms": {"p95": 20.0}}
    assert value("queue_more", slower, base) == 12
    # 3e7 bytes are 20718.2 packets of 1448.
    lossy = record(flows=[flow(0, 6_000_000), flow(1, 3_000_000, retransmissions=207)])
    assert value("resent_more", lossy, base) == pytest.approx(100 * 207 / (3e7 / 1448))
    both = record(flows=[flow(0, 4_000_000, retransmissions=414), flow(1, 2_000_000)])
    assert value("resent_more", lossy, both) == pytest.approx(0)
    nothing = record(flows=[flow(0, 0), flow(1, 0)])
    assert value("goodput_lost", record(), nothing, who="theirs") is None


def test_shares() -> None:
    one = record()
    assert value("share", one) == pytest.approx(200 / 3)
    assert value("ratio", one) == 2
    assert value("least_share", one) == 60
    assert value("least_share", one, who="ours") == 120
    assert [value("least_share", one, group=entry) for entry in (0, 1)] == [120, 60]
    assert value("fairness", one) == pytest.approx(81 / (2 * 45))
    assert value("utilisation", one) == 90
    # Of all of the measured time, also where a flow is there for a part of it.
    late = record(flows=[flow(0, 6_000_000, received_bytes=30_000_000)])
    assert value("utilisation", late) == 30
    # UDP counts as what TCP would carry in its bytes on the wire.
    call = record(udp=[{"udp": 0, "goodput_bps": 1_000_000}])
    call["scenario"]["udp"] = [{"size": 1000}]
    assert value("utilisation", call) == pytest.approx(90 + 10 * 1.028 * 1448 / 1500)
    assert value("ratio", record(flows=[flow(0, 1), flow(1, 0)])) == math.inf
    assert value("ratio", record(flows=[flow(0, 0), flow(1, 0)])) is None


def test_queue_of_the_buffer() -> None:
    one = record()
    # A round trip holds 16.7 packets, the buffer 17.
    assert value("queue_delay", one, of="buffer") == pytest.approx(100 * 8 / 20.4)
    one["scenario"]["link"]["buffer"] = [8.0, "p"]  # 9.6 ms
    assert value("queue_delay", one, of="buffer") == pytest.approx(100 * 8 / 9.6)
    one["scenario"]["link"]["buffer"] = [12000.0, "b"]
    assert value("queue_delay", one, of="buffer") == pytest.approx(100 * 8 / 9.6)
    # However little is asked for, it holds a packet, which takes 1.2 ms.
    one["scenario"]["link"]["buffer"] = [0.01, "bdp"]
    one["summary"]["queue_delay_ms"]["p95"] = 1.2
    assert value("queue_delay", one, of="buffer") == pytest.approx(100)


def test_a_criterion_says_where_a_buffer_is_no_packet() -> None:
    """What a criterion asks for and no buffer can hold is said in it."""
    of = plan.evaluation(["vegas"], ["cubic"], "full")
    found: dict[str, set[str]] = {}
    for run in of.runs:
        amount, unit = run.scenario.link.buffer
        if unit == "bdp" and amount * run.scenario.bdp < run.scenario.link.mtu:
            found.setdefault(run.criterion, set()).add(run.path)
    short = {"10mbit, 1ms, 0.1bdp", "10mbit, 1ms, 1bdp", "10mbit, 10ms, 0.1bdp"}
    assert found == {"6.1": {*short, "100mbit, 1ms, 0.1bdp"}}
    (one,) = (one for one in of.criteria if one.id == "6.1")
    assert "hold one packet: at 10 Mbit/s and 1 ms both" in one.differs
    assert "at 10 Mbit/s and 10 ms, and at 100 Mbit/s and 1 ms." in one.differs


def rated(rates: list[float], at: list[Json] | None = None) -> Json:
    one = record(observed={"rates": {"dt": 0.1, "groups": {"0": rates, "1": [99.0] * len(rates)}}})
    one["scenario"]["link"]["at"] = at or []
    return one


def test_time_to_a_rate() -> None:
    """90 % of what the link is then, held for half a second; a moment above it is none."""
    full = 10 * 1448 / 1500
    rising = [0.0] * 10 + [full] * 2 + [0.0] * 8 + [0.91 * full] * 30
    assert value("seconds_to", rated(rising)) == pytest.approx(2.0)
    assert value("seconds_to", rated(rising), after="1.5s") == pytest.approx(0.5)
    assert value("seconds_to", rated([0.5 * full] * 50)) == math.inf
    assert value("seconds_to", rated(rising), until="2.2s") == math.inf
    slower = [{"time": 1.0, "rate": 1_000_000, "delay": None}]
    assert value("seconds_to", rated([0.91] * 50, slower), after="1s") == 0
    assert value("seconds_to", rated([0.91] * 50, slower), after="0s") == math.inf


def test_time_to_a_rate_from_the_end_of_a_pause() -> None:
    """Who has to wait for its timer is not slow for that; what an outage held back is no end of
    the wait."""
    full = 10 * 1448 / 1500
    held, pause, slow = [0.2 * full], [0.0] * 12, [0.3 * full] * 3
    waits = [full] * 10 + held + pause + slow + [full] * 30
    assert value("seconds_to", rated(waits), after="1s") == pytest.approx(1.6)
    assert value("seconds_to", rated(waits), after="1s", begun=True) == pytest.approx(0.3)
    assert value("silent", rated(waits), after="1s") == pytest.approx(1.3)
    # Half a second of nothing is no pause.
    short = [full] * 10 + [0.0] * 5 + [full] * 30
    assert value("seconds_to", rated(short), after="1s", begun=True) == pytest.approx(0.5)
    assert value("silent", rated(short), after="1s") == 0
    assert value("seconds_to", rated([0.0] * 50), begun=True) == math.inf
    assert value("silent", rated([0.0] * 50), after="1s") == math.inf
    # What an outage held back, and nothing after it.
    assert value("silent", rated([full] * 12 + [0.0] * 20), after="1s") == math.inf
    # The window in which the rate is there begins with the last step of the pause.
    edge = [full] * 10 + [0.0] * 12 + [full] * 30
    assert value("seconds_to", rated(edge), after="1s", begun=True, part=0.8) == 0


def test_a_lossy_second_is_one_of_the_measured_time() -> None:
    """One before the warm-up is slow start's; one of two behind it is."""
    one = record()
    one["scenario"] |= {"sample": 0.5, "warmup": 1.0, "duration": 3.0}
    columns = {"t": [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0], "delivered": [0, 0, 10, 50, 90, 180, 189]}
    one["flows"] = [flow(0, 0) | {"connections": [columns]}]
    one["queue"] = {"dropped": [0, 40, 90, 90, 90, 110, 110]}
    assert observe.lossy(one) == 0.5


def test_a_rate_is_held_for_two_round_trips() -> None:
    """Of 600 ms: 0.6 s of all of the link and a pause of 0.6 s is the half of it."""
    full = 10 * 1448 / 1500
    one = rated(([full] * 6 + [0.0] * 6) * 5 + [full] * 30)
    assert value("seconds_to", one) == 0
    one["scenario"]["flow"][0]["rtt"] = 0.6
    assert value("seconds_to", one) == pytest.approx(6 - 0.1)
    # The delay of the link is in it, from when on it is so.
    one["scenario"]["flow"][0]["rtt"] = 0.02
    later: Json = {"time": 1.0, "rate": None, "delay": 0.58}
    one["scenario"]["link"]["at"] = [later]
    assert value("seconds_to", one) == 0
    assert value("seconds_to", one, after="1.2s") == pytest.approx(6 - 0.1 - 1.2)


def test_backing_off() -> None:
    """Retransmissions after 1, 3, 7 and 15 s are spaced by doubling."""
    again = [sum(t >= at * 10 for at in (1, 3, 7, 15)) for t in range(200)]
    sent = {"dt": 0.1, "delivered": [0] * 100 + [*range(100)], "retransmissions": again}
    one = record(observed={"sent": sent})
    assert value("spacing", one, after="0s", until="20s") == pytest.approx(2)
    assert value("spacing", one, after="0s", until="2s") is None
    # So close together that a sample has one or more: it does not back off.
    again = [t // 2 for t in range(200)]
    one = record(observed={"sent": sent | {"retransmissions": again}})
    assert value("spacing", one, after="0s", until="20s") == 1
    # Two that are far apart say nothing of the next.
    again = [sum(t >= at * 10 for at in (1, 1.3, 16)) for t in range(200)]
    one = record(observed={"sent": sent | {"retransmissions": again}})
    assert value("spacing", one, after="1.1s", until="20s") is None
    one = record(observed={"sent": sent})
    # Of 20 ms each: 50 in a second; ten a second arrive.
    assert value("sent_per_rtt", one, after="16s", until="19s") == pytest.approx(10 / 50)


def test_what_a_call_loses() -> None:
    one, alone = (record(udp=[{"udp": 0, "goodput_bps": bps}]) for bps in (900_000, 1_000_000))
    for each in (one, alone):
        each["scenario"]["udp"] = [{"size": 1000}]
    assert value("datagrams_lost", one, alone) == pytest.approx(10)
    assert value("datagrams_lost", one, alone, count=True) == pytest.approx(80 * 12.5)
    assert value("datagrams_lost", alone, one) == 0
    one["udp"][0]["goodput_bps"] = 0
    assert value("datagrams_lost", alone, one) is None


def test_what_was_sent_again_and_not_lost() -> None:
    flows = [flow(0, 6_000_000, retransmissions=300), flow(1, 3_000_000, retransmissions=7)]
    one = record(flows=flows)
    one["summary"]["dropped"] = 100
    assert value("needless", one) == pytest.approx(100 * 207 / (9e7 / 1448))
    one["summary"]["dropped"] = 400
    assert value("needless", one) == 0


def test_other_traffic_is_on_its_way_at_no_end() -> None:
    """Where packets of UDP are counted, they are sent and arrive within the measured time."""
    counted = [x for x in criteria.load() if any(n.metric == "datagrams_lost" for n in x.number)]
    assert {one.id for one in counted} == {"5.2.2", "tcpeval-5.3"}
    of = plan.evaluation(["reno"], ["cubic"], "full", only=[one.id for one in counted])
    for criterion in counted:
        paths = {p for n in criterion.number if n.metric == "datagrams_lost" for p in n.paths}
        for run in of.of(criterion, of.contenders[0]):
            one = run.scenario
            for udp in one.udp if any(fnmatchcase(run.path, path) for path in paths) else ():
                assert one.warmup <= udp.start, run.name
                assert udp.start + (udp.duration or math.inf) <= one.duration - 1, run.name


def test_a_list_of_algorithms() -> None:
    """Parameters have commas, too."""
    words = ["reno", "foo:beta=300,mode=fixed", "bar", "baz:a=1", "cubic"]
    assert plan.listed(",".join(words)) == words
    assert plan.listed("") == [] and plan.listed("reno,") == ["reno"]
    assert plan.listed("5.1.2, 7.7 ,") == ["5.1.2", "7.7"]


def test_the_paths_of_a_number() -> None:
    number = criteria.Number(
        name="x", metric="goodput", paths=["1*"], but=["10p, *"], beside=["reno"]
    )
    there = [number.has(path, cc) for path in ("10p, a", "100p, a", "2p") for cc in ("reno", "bbr")]
    assert there == [False, False, True, False, False, False]


def test_what_a_profile_leaves_out() -> None:
    of_id = {one.id: one for one in criteria.load()}
    tail_drop, none = of_id["6.1"], of_id["nsperf-loss"]
    assert plan.shortened(tail_drop, "smoke") == (
        "The profile smoke has 8 of 24 paths, 30s instead of 120s."
    )
    assert plan.shortened(tail_drop, "standard") == "The profile standard has 60s instead of 120s."
    assert all(plan.shortened(one, "full") == "" for one in (tail_drop, none))
    # Of a case alone.
    assert plan.shortened(of_id["7.3"], "standard") == (
        "The profile standard has 120s instead of 600s of low orbit."
    )


def test_a_number_beside_standards_that_are_not_run(tmp_path: Path) -> None:
    of = plan.evaluation(["vegas"], ["bbr"], "smoke", only=["pairs"])
    scores, (criterion,) = score.score(of, tmp_path), of.criteria
    place = next(i for i, one in enumerate(criterion.number) if one.beside)
    said = scores.cell(criterion, place, of.contenders[0]).why
    assert said == "it is beside reno and cubic, which are not evaluated"


def test_what_is_not_run_is_said() -> None:
    of = plan.evaluation(["vegas"], ["reno"], "smoke", only=["6.1-10g", "6.1"])
    (ten,) = (one for one in of.criteria if one.id == "6.1-10g")
    assert f"left out: 6.1-10g: {ten.smoke.skip}" in of.left_out
    of = plan.evaluation(["nosuch"], ["reno"], "full", only=["7.1-dualpi2"])
    (line,) = of.left_out
    assert line.startswith("left out: nosuch in 7.1-dualpi2: ") and "nosuch" in line[30:]


def test_who_else_is_evaluated_changes_no_mark_of_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(run: plan.Run, _: Path) -> Json:
        """The one has more, the later its name."""
        each = [1_000_000 * ord(cc.text[0]) for cc in (run.cc, run.beside) if cc]
        return record(flows=[flow(i, bps) for i, bps in enumerate(each)])

    monkeypatch.setattr(carry, "read", read)

    def found(*texts: str) -> list[tuple[float | None, Mark]]:
        of = plan.evaluation(texts, ["reno", "cubic"], "smoke", only=["pairs"])
        scores, (pairs,) = score.score(of, tmp_path), of.criteria
        cells = [scores.cell(pairs, i, of.contenders[0]) for i in range(len(pairs.number))]
        return [(cell.value, cell.mark) for cell in cells]

    alone = found("illinois")
    assert len(alone) == 2 and all(value is not None for value, _ in alone)
    assert found("illinois", "bbr", "yeah") == alone


def test_incast() -> None:
    times = [flow(0, 1, completion_s=0.01 * i) for i in range(1, 101)]
    one = record(flows=times)
    one["scenario"]["flow"][0]["bytes"] = 125_000
    assert value("flows_done", one) == pytest.approx(990)
    assert value("flows_rate", one) == pytest.approx(100)
    times[3]["completion_s"] = None
    assert value("flows_done", one) == math.inf


def test_a_receiver_that_misbehaves() -> None:
    """The first has what left the bottleneck and is not the honest second's, whatever it says that
    it received, or its sender that was delivered."""
    left = {"packets": 1000, "bytes": 1_500_000}
    flows = [flow(0, 0, received_bytes=9 * 10**9), flow(1, 0, received_bytes=362_000)]
    one = record(flows=flows, observed={"left": left})
    assert value("rate_ratio", one) == 3
    flows[1]["received_bytes"] = 0
    assert value("rate_ratio", one) == math.inf
    one["observed"]["left"] = {"packets": 9, "bytes": 9 * 52}
    assert value("rate_ratio", one) is None


def test_how_busy_the_link_is() -> None:
    """By what left it in the measured time, which objects that are not complete have a part of."""
    one = record(observed={"left": {"packets": 1, "bytes": 80 * 1_000_000}, "asked": 9e7})
    one["summary"]["capacity_bps"] = 10_000_000 * 1448 / 1500
    assert value("busy", one) == pytest.approx(80)
    assert value("load", one) == pytest.approx(90)


def test_what_is_of_the_way_back_needs_one(own: Path) -> None:
    (own / "1.toml").write_text(ONE.replace('metric = "goodput"', 'metric = "loss_back"'))
    criteria.load.cache_clear()
    with pytest.raises(LabError, match="1, vegas: loss_back is of the way back: something has"):
        plan.evaluation(["vegas"], ["cubic"], "smoke")


def test_the_way_back() -> None:
    delays = {"mean": 7.0, "p95": 9.0}
    way = {"sent_bytes": 160 * 1_000_000, "loss": 0.25, "queue_delay_ms": delays}
    one = record(way_back=way)
    one["scenario"]["link"]["reverse_rate"] = 32_000_000
    assert value("busy_back", one) == pytest.approx(50)
    assert value("loss_back", one) == 25
    assert (value("queue_delay_back", one), value("queue_delay_back", one, at="mean")) == (9, 7)


def test_between_two_times() -> None:
    """The mean queue, of the link as it is from the first on; what was dropped in between."""
    queue = {"dt": 0.5, "packets": [0, 90, 10, 20, 30, 90], "dropped": [0, 4, 5, 5, 12, 99]}
    one = record(observed={"queue": queue})
    one["scenario"]["link"]["at"] = [{"time": 1.0, "rate": 20_000_000}]
    # Of 20 packets, 12 kbit each.
    assert value("queue_between", one, after="1s", until="2s") == pytest.approx(12)
    assert value("queue_between", one, after="1s", until="2s", at="max") == pytest.approx(18)
    assert value("dropped", one, after="1s", until="2s") == 7
    assert value("dropped", one, after="9s", until="10s") is None


def test_what_the_bottleneck_drops() -> None:
    assert value("loss", record()) == pytest.approx(1)


def test_milestones() -> None:
    one = record(observed={"milestones": {"0": [0.1, 0.2, 4.0], "1": [7.0]}})
    assert [value("milestone", one, power=power) for power in range(4)] == [0.1, 0.2, 4, math.inf]
    assert value("milestone", one, power=0, group=1) == 7


def test_until_the_window_is_there() -> None:
    """Of the link's BDP, 10 Mbit/s x 120 ms: 100 packets."""
    cwnd = {"dt": 0.5, "groups": {"0": [99, 10, 20, 49, 50, 80], "1": [999] * 6}, "growth": {}}
    one = record(observed={"cwnd": cwnd})
    one["scenario"]["flow"][0]["rtt"] = 0.12
    assert value("window_seconds", one, part=0.5, after="0.5s") == 1.5
    assert value("window_seconds", one, part=0.9, after="0.5s") == math.inf


def test_marks_and_seconds_of_loss() -> None:
    flows = [flow(0, 0, received_bytes=1448 * 200, ce_marks=3), flow(1, 9, ce_marks=99)]
    one = record(flows=flows, observed={"lossy": 0.25})
    assert value("marked", one) == pytest.approx(1.5)
    flows[0]["received_bytes"] = 0
    assert value("marked", one) is None
    assert value("lossy_seconds", one) == 25
    assert value("lossy_seconds", record(observed={"lossy": None})) is None


def test_every_key_is_on_the_page() -> None:
    page = (modules.ROOT / "docs/evaluation.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    said = {word for row in rows for word in re.findall(r"`([\w.]+)`", row)}
    # What is of a criterion stands there by itself, what is of a part of it by the part's name, the
    # first of a row.
    of = {"": criteria.Criterion, "number.": criteria.Number, "picture.": criteria.Picture}
    for part, model in of.items():
        for key in set(model.model_fields) - {"id", "number", "picture"}:
            assert {key, part + key} & said, part + key


def test_every_metric_has_a_value_that_is_known() -> None:
    """Here, and not only that it is made of what is kept."""
    known = set(re.findall(r'(?:value|\bof)\(\s*"(\w+)"', Path(__file__).read_text()))
    asked = {number.metric for one in criteria.load() for number in one.number}
    assert asked <= known, sorted(asked - known)


def test_parking_lot() -> None:
    one = record(flows=[flow(0, 10), flow(1, 40), flow(2, 20)])
    one["scenario"]["links"] = [{}]
    one["scenario"]["flow"] = [entry(), entry(leave=1), entry(enter=2)]
    roles: metrics.Roles = ROLES | {"flow": ([0, 1, 2], [])}
    assert metrics.of("parking", Seen(one, roles), None, {}) == 3


def entries(*each: Sequence[tuple[float, float, float | None]], warmup: float = 0) -> Json:
    """A run of 100 s of objects, of which each begins at a time, is so large, and takes so long, or
    is not complete."""
    short = []
    for of in each:
        done = [one for one in of if one[2] is not None and one[0] + one[2] >= warmup]
        completions = {
            "t": [t + (took or 0) for t, _, took in done],
            "seconds": [took for *_, took in done],
            "bytes": [size for _, size, _ in done],
        }
        short.append({"begun": len(of), "completed": len(done), "completions": completions})
    one = record(short=short, asked=[[(t, size) for t, size, _ in of] for of in each])
    one["scenario"] |= {"warmup": warmup, "short": [entry() for _ in each]}
    return one


def test_camps_by_quartile() -> None:
    """Bounds are of all that is asked for, so they are the same whatever is complete; what is not
    has no rate, in the quartile that it is of."""
    first = [(1.0, 125_000.0, 1.0), (2.0, 250_000.0, 1.0)]
    second = [(1.0, 500_000.0, 1.0), (2.0, 1_000_000.0, 4.0)]
    whole = entries(first, second)
    whole["observed"] = {"camps": observe.camps(whole)}
    found = whole["observed"]["camps"]
    assert [one["begun"] for one in found["entries"]] == [[1, 1, 0, 0], [0, 0, 1, 1]]
    # The smallest and the largest do not end.
    lacks = entries([(1.0, 125_000.0, None), first[1]], [second[0], (2.0, 1_000_000.0, None)])
    lacks["observed"] = {"camps": observe.camps(lacks)}
    assert lacks["observed"]["camps"]["bounds"] == found["bounds"]
    roles: metrics.Roles = ROLES | {"short": ([0], [1])}
    seen, other = Seen(lacks, roles), Seen(whole, roles)
    assert metrics._transfer(other, "ours", None, "rate") == pytest.approx(1.5)
    assert metrics._transfer(other, "theirs", 4, "rate") == pytest.approx(2)
    assert metrics._transfer(seen, "ours", None, "rate") == pytest.approx(1)
    # What was carried: in the first camp one of two, of 125 and 250 kB.
    assert metrics.of("gain", seen, other, {"by": "bytes"}) == pytest.approx(250 / 375)
    # Whichever way they go.
    other.scenario["short"][0]["reverse"] = True
    assert metrics._transfer(other, "ours", None, "rate") == pytest.approx(1.5)
    gains = [
        metrics.of("gain", seen, other, {"who": who, "quartile": quartile})
        for who, quartile in (("ours", 1), ("ours", 2), ("theirs", 3), ("theirs", 4))
    ]
    assert gains == [0, 1, 1, 0]
    assert metrics.of("gain", seen, other, {"who": "theirs"}) == pytest.approx(2 / 3)


def test_what_is_not_complete_is_not_fast() -> None:
    """A percentile is of all that began: what is not complete takes for ever.  A class that nothing
    is of has none."""
    roles: metrics.Roles = ROLES | {"short": ([0, 1], [])}

    def objects(*each: Sequence[tuple[float, float, float | None]]) -> Seen:
        one = entries(*each)
        one["observed"] = {"completions": observe.completions(one)}
        return Seen(one, roles)

    def of(name: str, seen: Seen, base: Seen | None = None, **arguments: Any) -> float | None:
        return metrics.of(name, seen, base, arguments)

    def some(count: int, complete: int, size: float = 5000) -> list[Any]:
        """The first is complete in 10 ms, the next in 20 ms ..."""
        return [(i / 2, size, 0.01 * (i + 1) if i < complete else None) for i in range(count)]

    # 96 of 100 are complete: the 95th of them, and not 95 % of the 96.
    most, half = objects(some(100, 96)), objects(some(100, 50))
    assert of("unfinished", most) == pytest.approx(4)
    assert of("completion", most) == pytest.approx(950)
    assert of("completion", most, at="p99") == math.inf
    assert of("completion", half) == math.inf
    assert of("completion", half, at="p50") == pytest.approx(500)
    assert of("completion_times", half, most) == math.inf
    assert of("completion_times", most, half) is None
    assert of("completion_times", half, most, at="p50") == pytest.approx(1)
    # Large ones hang: the small ones do not.
    large = objects([*some(60, 60), *some(40, 0, 500_000)])
    assert of("completion", large) == math.inf
    assert of("completion", large, largest=10_000) == pytest.approx(570)
    assert of("completion", large, largest=1_000_000, at="p50") == math.inf
    assert of("completion", large, largest=100_000) is None
    # Of both entries together, whose own medians are 50 ms and 1 s.
    fast, slow = some(10, 10), [(i, 5000, 1.0) for i in range(30)]
    assert of("completion", objects(fast, slow), at="p50") == pytest.approx(1000)
    assert of("unfinished", Seen(record(), ROLES)) is None


def test_objects_that_begin_in_the_measured_time() -> None:
    """Not those that were on their way when that began, and not those that have no time."""
    times: list[tuple[float, float, float | None]] = [
        (19.0, 1000, 30.0),  # of all that began before, only this would be seen
        (15.0, 1000, 1.0),
        (20.0, 1000, 1.0),
        (91.9, 1000, 7.0),
        (92.1, 1000, 1.0),
        (99.0, 1000, None),
    ]
    one = entries(times, warmup=20)
    assert observe._done(one, 0) == [(1000, 1.0), (1000, 7.0)]
    assert observe.completions(one)["all"] == {"begun": 2, "p50": 1.0, "p95": 7.0, "p99": 7.0}
    # All of the measured time is asked for; what goes back, or comes in later, is not.
    assert observe.asked(one) == 4000
    one["scenario"]["short"][0]["enter"] = 2
    assert observe.asked(one) == 0 and observe.completions(one)["all"]["begun"] == 2
    one["scenario"]["short"][0] |= {"enter": 1, "reverse": True}
    assert observe.asked(one) == 0 and observe.completions(one) == {}


def test_what_a_run_is_asked_for(one: Any, tmp_path: Path) -> None:
    """By its plan, in the order of its entries; what left the bottleneck is by its samples."""
    text = '[[short]]\ncc = "reno"\nrtt = "10ms"\narrivals = ["{}s", "3s"]\nmean_size = "{}kB"\n'
    rest = 'size = "exponential"\n'.join([text.format(1, 10), text.format(2, 1000), ""])
    scenario = one(top='warmup = "5s"', rest=rest)
    lines = ["q 0 0 0 0 0 0 0", "q 5 0 0 0 100 151400 0", "f x", "q 10 0 0 0 300 454200 0"]
    (tmp_path / "samples").write_text("\n".join(lines))
    found = observe.whole({"a": 1}, scenario, 1, tmp_path / "samples")
    assert [[time for time, _ in of] for of in found["asked"]] == [[1, 3], [2, 3]]
    assert sum(size for _, size in found["asked"][0]) < sum(size for _, size in found["asked"][1])
    # Without the headers of Ethernet, as a rate is.
    assert found["left"] == {"packets": 200, "bytes": 200 * 1500} and found["a"] == 1


class Unasked(Exception):
    """A series that a criterion's runs do not keep."""


class Kept(dict[str, Any]):
    """Series of which none has anything in it."""

    def __missing__(self, name: str) -> None:
        raise Unasked(name)


@pytest.mark.parametrize("criterion", criteria.load(), ids=lambda one: one.id)
def test_numbers_are_made_of_what_is_kept(criterion: criteria.Criterion) -> None:
    of_id = {one.id: one for one in criteria.load()}
    names = {*criterion.observe, *(x for one in criterion.runs_of for x in of_id[one].observe)}
    one = record(observed=Kept({name: {} for name in names}))
    for number in criterion.number:
        with suppress(LookupError, TypeError, AttributeError, StopIteration):
            value(number.metric, one, one if number.base else None, **number.arguments)


def test_series_of_a_run() -> None:
    """Of delivered packets, from the beginning of the run however late a flow began."""
    connection: Json = {
        "t": [0.2, 0.3, 0.4],
        "delivered": [0, 100, 300],
        "received": [0, 2000, 20000],
        "retransmissions": [0, 0, 7],
        "cwnd": [10, 20, 30],
    }
    run = {
        "scenario": {
            "duration": 0.5,
            "warmup": 0.0,
            "sample": 0.1,
            "link": {"mtu": 1500},
            "host": {"timestamps": True},
            "flow": [{"start": 0.1, "rtt": 0.1}],
        },
        "flows": [{"group": 0, "connections": [connection]}],
        "queue": {"packets": [0, 1, 2, 3, 4], "dropped": [0, 0, 0, 0, 7]},
    }
    each = [0, 0, 100 * 1448 * 8e-5, 200 * 1448 * 8e-5]
    assert observe.rates(run) == {"dt": 0.1, "groups": {"0": [round(x, 3) for x in each]}}
    assert observe.cwnd(run)["groups"] == {"0": [0, 0, 10, 20, 30]}
    assert observe.milestones(run) == {"0": [0.2, 0.3]}
    assert observe.sent(run)["retransmissions"] == [0, 0, 0, 0, 7]


def test_the_window_grows_between_the_points_that_are_kept() -> None:
    """At the samples: in a long run a series has one of several.  A fall is no growth."""
    windows = [10] * 9000
    windows[6000:6003] = [10, 90, 40]
    windows[6990:7000] = [*range(10, 101, 10)]  # it rises slowly, and falls at once
    connection = {"t": [i / 20 for i in range(9000)], "cwnd": windows}
    run = {
        "scenario": {"duration": 450.0, "warmup": 50.0, "sample": 0.05, "flow": [{"rtt": 0.1}]},
        "flows": [{"group": 0, "connections": [connection]}],
    }
    found = observe.cwnd(run)
    assert found["dt"] > 0.2 and 90 not in found["groups"]["0"]
    assert found["growth"] == {"0": 80}  # and the fall is of 90
    # Within a round trip, not over more.
    windows[3000:3006] = [10, 50, 80, 110, 80, 50]
    assert observe.cwnd(run)["growth"] == {"0": 80}
    windows[100:102] = [10, 500]  # before the warm-up
    assert observe.cwnd(run)["growth"] == {"0": 80}
    one = record(observed={"cwnd": found})
    one["scenario"]["flow"][0]["rtt"] = 0.12
    assert value("window_growth", one) == 80  # of 100 packets


# --- marks


def number(**changes: Any) -> criteria.Number:
    return criteria.Number(**{"name": "x", "metric": "goodput", "better": "less"} | changes)


@pytest.mark.parametrize(
    ("value", "standards", "more", "mark"),
    [
        (50.0, [100.0, 80.0], {}, Mark.BETTER),
        (50.0, [100.0, 80.0], {"harmful": 40.0}, Mark.BETWEEN),  # less harm is harm
        (79.0, [100.0, 80.0], {}, Mark.BETWEEN),  # within a twentieth of the better one
        (90.0, [100.0, 80.0], {}, Mark.BETWEEN),
        (120.0, [100.0, 80.0], {}, Mark.WORSE),
        (105.1, [100.0], {}, Mark.WORSE),  # more than a twentieth of the standard's, not of its own
        (120.0, [100.0, 80.0], {"harmful": 110.0}, Mark.HARMFUL),
        (103.0, [100.0, 80.0], {"harmful": 90.0}, Mark.BETWEEN),  # as a standard is
        (math.inf, [100.0], {}, Mark.WORSE),
        (100.0, [math.inf], {}, Mark.BETTER),
        (math.inf, [math.inf], {}, Mark.BETWEEN),
        (120.0, [100.0, 80.0], {"better": "more"}, Mark.BETTER),
        (3.0, [100.0, 80.0], {"better": "more", "harmful": 5.0}, Mark.HARMFUL),
        (1.0, [0.0], {"same": 2.0}, Mark.BETWEEN),
        (1.0, [0.0], {}, Mark.WORSE),
        (1.0, [2.0], {"better": ""}, Mark.NONE),
        (None, [2.0], {}, Mark.NONE),
        (1.0, [], {}, Mark.NONE),
        # Nothing to compare it with: the threshold alone.
        (1.0, [], {"harmful": 0.5}, Mark.HARMFUL),
        (1.0, [], {"harmful": 2.0}, Mark.HARMLESS),
    ],
)
def test_marks(value: float | None, standards: list[float], more: Json, mark: Mark) -> None:
    one = number(**more)
    mine: score.Values = {} if value is None else {"a path": {1: value}}
    gains = [score._compare(mine, {"a path": {1: standard}}, one) for standard in standards]
    assert score._judge(value, [x for x in gains if x is not None], one) is mark


def goodputs(of: plan.Evaluation, out: Path, each: dict[Any, Any]) -> score.Scores:
    """An evaluation of which each run has these goodputs, by who it is of, and the path: those of
    two flows; or has said this, and failed."""
    for run in of.runs:
        key = run.cc.text + (f" beside {run.beside.text}" if run.beside else "")
        found = each.get((key, run.path), each.get(key))
        if isinstance(found, str):
            result.write_whole(found, carry.error_of(run, out))
        elif found is not None:
            one = record(flows=[flow(0, found[0]), flow(1, found[-1])])
            one |= {"longfat": 1, "observer": observe.VERSION, "kernel": "6"}
            one["observed"] = {name: {} for name in run.observe}
            result.write(one, carry.file_of(run, out))
    return score.score(of, out)


@pytest.mark.parametrize(
    ("mine", "theirs", "beyond"),
    [
        ([9.0], [5.0], True),  # of one draw, as the page says
        ([9.0, 9.0, 9.0], [5.0, 5.0, 5.0], True),
        ([9.0, 8.0, 9.5], [5.0, 5.5, 4.5], True),
        ([9.0, 2.0, 9.5], [5.0, 5.5, 4.5], False),
        # What a seed does to both is no spread of the difference.
        ([11.0, 21.0, 31.5], [10.0, 20.0, 30.0], True),
        ([math.inf, math.inf, 4.0], [3.0, 3.0, 3.0], True),
        ([math.inf, 2.0, 4.0], [3.0, 3.0, 3.0], False),
    ],
)
def test_a_difference_is_beyond_the_spread(
    mine: list[float], theirs: list[float], beyond: bool
) -> None:
    here, there = ({"a path": dict(enumerate(each))} for each in (mine, theirs))
    assert (score._compare(here, there, number()) != 0) is beyond
    assert (score._compare(here, there, number(), chance=True) or 0) < 0


def test_the_spread_is_shown(own: Path, tmp_path: Path) -> None:
    """Over the seeds, in the card and in the table, not in the league; a difference within it is
    none, and that is said."""
    of = plan.evaluation(["vegas"], ["cubic"], "full")
    for run in of.runs:
        bps = {"vegas": (2e6, 5e6, 8e6), "cubic": (3e6, 3e6, 3e6)}[run.cc.text][run.seed - 1]
        one = record(flows=[flow(0, int(bps)), flow(1, 0)])
        one |= {"longfat": 1, "observer": observe.VERSION, "kernel": "6"}
        one["observed"] = {"rates": {"dt": 1, "groups": {}}}
        result.write(one, carry.file_of(run, tmp_path))
    scores = score.score(of, tmp_path)
    vegas, cubic = (scores.cell(of.criteria[0], 0, cc) for cc in of.all)
    # By Student's t: 4.303 standard deviations of 3 over the root of 3.
    assert vegas.spread == pytest.approx(4.3027 * 3 / math.sqrt(3), rel=1e-4)
    assert (vegas.whole, vegas.text) == ("5.0000 ± 7.4524", "5.0000")
    assert (vegas.mark, cubic.spread) == (Mark.BETWEEN, 0)
    assert vegas.said == "between: better by no more than the seeds differ"
    pages.write(scores, tmp_path)
    for name in ("vegas.html", "vegas.md"):
        assert "5.0000 ± 7.4524" in (tmp_path / "cards" / name).read_text()
    assert "±" not in (tmp_path / "league.html").read_text()
    assert [row["spread"] for row in rows(tmp_path / "league.csv")] == ["7.45241", "0"]


def test_marks_compare_the_same_paths(own: Path, tmp_path: Path) -> None:
    """One that has some of the paths alone is compared on these, whatever the others have on the
    rest."""
    ecn = '"link.buffer" = ["10p", "100p"], "link.ecn" = [true, false] }'
    text = ONE.replace('buffer = "100p"', 'buffer = "100p", aqm = "codel"')
    (own / "1.toml").write_text(text.replace('"link.buffer" = ["10p", "100p"] }', ecn))
    criteria.load.cache_clear()
    of = plan.evaluation(["dctcp", "vegas"], ["cubic"], "smoke")
    each: dict[Any, Any] = {"dctcp": [5_000_000], "vegas": [5_000_000]}
    for buffer in ("10p", "100p"):
        each["cubic", f"{buffer}, True"] = [1_000_000]
        each["cubic", f"{buffer}, False"] = [20_000_000]
    scores = goodputs(of, tmp_path, each)
    dctcp, vegas, cubic = (scores.cell(of.criteria[0], 0, cc) for cc in of.all)
    assert (dctcp.value, cubic.value) == (5, 10.5)
    # The row says of what it is.
    assert (dctcp.text, cubic.text) == ("5.0000 (2 of 4 paths)", "10.5000")
    assert dctcp.said == "better: without False"
    assert dctcp.mark is Mark.BETTER and vegas.mark is Mark.WORSE
    # They have the same where both are, and cubic has less than dctcp there.
    assert vegas.worst and not dctcp.worst


CASES = """
[scenario.case."both"]

[scenario.case."alone"]
"link.buffer" = "10p"
"""

HARM = """
[[number]]
name = "harm"
metric = "goodput_lost"
arguments = { who = "theirs" }
base = { cc = "$beside" }
unit = "%"
better = "less"
harmful = 50
"""


def harmed() -> str:
    """A criterion of the harm that is done to each of --against."""
    text = ONE.replace('"20ms" }', '"20ms" }, { cc = "$beside", rtt = "20ms" }')
    text = text.replace('asks = "What?"', 'asks = "What?"\nbeside = "against"')
    return text.partition("[[number]]")[0] + HARM + '\n[[picture]]\ndraw = "bars"\n'


def test_a_standard_is_not_harmless_by_itself(own: Path, tmp_path: Path) -> None:
    """Beside itself it does no harm by definition: that is left out of its numbers, and of what
    others are compared with."""
    (own / "1.toml").write_text(harmed())
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas"], ["cubic", "reno"], "smoke")
    each: Json = {"cubic beside cubic": [10], "reno beside reno": [10]}
    # The standards take a half of each other; vegas a tenth of reno, and three tenths of cubic.
    each |= {"cubic beside reno": [9, 5], "reno beside cubic": [9, 5]}
    each |= {"vegas beside cubic": [9, 7], "vegas beside reno": [9, 9]}
    scores = goodputs(of, tmp_path, {key: [x * 1e5 for x in y] for key, y in each.items()})
    vegas, cubic, reno = (scores.cell(of.criteria[0], 0, cc) for cc in of.all)
    assert set(cubic.by_path()) == {"10p beside reno", "100p beside reno"}
    assert (cubic.value, reno.value) == (50, 50)
    assert vegas.value == pytest.approx(20) and vegas.mark is Mark.BETTER
    assert not vegas.worst and not scores.worst


def test_a_gain_does_not_pay_for_harm(own: Path, tmp_path: Path) -> None:
    """What one has more on a path is no harm there, and no less on another; by the mean of the
    seeds, as each of them differs by chance."""
    (own / "1.toml").write_text(harmed().replace("harmful = 50", "harmful = 50\nfloor = 0"))
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas"], ["cubic"], "full")
    each: dict[Any, Any] = {"cubic beside cubic": [5e5, 5e5]}
    each |= {("vegas beside cubic", "10p"): [1e5, 1e5], ("vegas beside cubic", "100p"): [0, 1e6]}
    vegas = goodputs(of, tmp_path, each).cell(of.criteria[0], 0, of.all[0])
    assert vegas.by_path() == {"10p beside cubic": 80, "100p beside cubic": 0}
    assert vegas.value == 40
    # What was measured is in the table.
    assert {one.value for one in vegas.points} == {80, -100}
    # So it is with a ceiling, for what is better the more there is.
    (own / "1.toml").write_text(harmed().replace("harmful = 50", "harmful = 50\nceiling = 60"))
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas"], ["cubic"], "full")
    vegas = goodputs(of, tmp_path, each).cell(of.criteria[0], 0, of.all[0])
    assert vegas.by_path() == {"10p beside cubic": 60, "100p beside cubic": -100}


def test_harm_has_a_floor_and_a_threshold() -> None:
    """To goodput, to delay and by loss; what they gain is a number of its own."""
    criteria.load.cache_clear()
    (harm,) = criteria.choose(["5.2"])[:1]
    numbers = [one for one in harm.number if one.name.startswith("harm")]
    assert {one.metric for one in numbers} == {"goodput_lost", "queue_more", "resent_more"}
    for one in numbers:
        assert one.harmful is not None and (one.floor == 0 or one.over == "most"), one.name
    assert [one.metric for one in harm.number if one.base and not one.better] == ["goodput_part"]


@pytest.mark.parametrize(("left", "mark"), [(3, Mark.HARMFUL), (6, Mark.HARMLESS)])
def test_beside_one_standard_the_threshold_decides(
    own: Path, tmp_path: Path, left: int, mark: Mark
) -> None:
    """Its own number is compared with itself: there is none."""
    (own / "1.toml").write_text(harmed())
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas"], ["cubic"], "smoke")
    each = {"cubic beside cubic": [10e5], "vegas beside cubic": [1e5, left * 1e5]}
    vegas, cubic = (
        goodputs(of, tmp_path, each).cell(of.criteria[0], 0, cc) for cc in of.all
    )  # fmt: skip
    assert vegas.mark is mark
    assert (cubic.text, cubic.mark, cubic.why) == (
        *("-", Mark.NONE, "it is what the others are compared with"),
    )


def test_one_that_crashes_takes_no_cell_of_those_beside_it(own: Path, tmp_path: Path) -> None:
    """What fails beside itself on a path is left out of the others' numbers there, and they say
    so."""
    (own / "1.toml").write_text(paired())
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas", "bbr"], ["cubic"], "smoke")
    each: dict[Any, Any] = {(f"{a} beside {b}"): [6e6, 6e6] for a in "vegas bbr cubic".split()
                            for b in "vegas bbr cubic".split()}  # fmt: skip
    # One that does not crash beside it is left out, too: all have the same paths.
    each |= {(f"{one}", "10p"): "Kernel panic" for one in ("vegas beside bbr", "bbr beside bbr")}
    scores = goodputs(of, tmp_path, each)
    vegas, bbr, cubic = (scores.cell(of.criteria[0], 0, cc) for cc in of.all)
    assert bbr.mark is Mark.FAILED and bbr.text.startswith("failed (2 of ")
    assert (vegas.mark, vegas.text) == (Mark.BETWEEN, "6.0000 (5 of 6 paths)")
    assert (cubic.mark, cubic.text) == (Mark.STANDARD, "6.0000 (5 of 6 paths)")
    (itself,) = (run for run in of.runs if run.cc == run.beside == of.all[1] and run.path == "10p")
    said = f"bbr fails beside itself: runs/{itself.name}.error"
    assert vegas.said == f"between: without 10p beside bbr; {said}"
    # Where neither fails beside itself it counts for both.
    each["vegas beside cubic", "100p"] = "Kernel panic"
    scores = goodputs(of, tmp_path / "both", each)
    vegas, _, cubic = (scores.cell(of.criteria[0], 0, cc) for cc in of.all)
    assert vegas.mark is cubic.mark is Mark.FAILED


def test_a_failed_base_is_not_a_failure_of_others(own: Path, tmp_path: Path) -> None:
    """What they are compared with failed: the path is left out, with the name of the run."""
    (own / "1.toml").write_text(harmed())
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas"], ["cubic", "bbr"], "smoke")
    each: Json = {f"{a} beside {b}": [5e5, 5e5] for a in "vegas cubic bbr".split()
                  for b in "cubic bbr".split()}  # fmt: skip
    each["bbr beside bbr"] = "Kernel panic"
    plan.write_scenarios(of, tmp_path)
    scores = goodputs(of, tmp_path, each)
    vegas, cubic, bbr = (scores.cell(of.criteria[0], 0, cc) for cc in of.all)
    assert (vegas.mark, vegas.text) == (Mark.HARMLESS, "0.0 (2 of 4 paths)")
    assert (cubic.mark, cubic.text) == (Mark.STANDARD, "-")
    assert bbr.text == "0.0 (2 of 4 paths)"
    failed = [run for run in of.runs if run.cc == run.beside == of.all[2]]
    for run in failed:
        assert f"bbr fails beside itself: runs/{run.name}.error" in vegas.said
    pages.write(scores, tmp_path)
    for name in ("vegas.html", "vegas.md"):
        card = (tmp_path / "cards" / name).read_text()
        assert f"../runs/{failed[0].name}.error" in card and "Failed:" not in card
        assert f"scripts/longfat run DIRECTORY/scenarios/{failed[0].file} -o again" in card
    # Each number of a run has a link to the scenario of what it is compared with.
    card = (tmp_path / "cards/vegas.html").read_text()
    assert f"../scenarios/{failed[0].file}" in card
    (row,) = (
        row
        for row in rows(tmp_path / "runs.csv")
        if (row["algorithm"], row["beside"], row["path"]) == ("vegas", "bbr", "10p")
    )
    assert (row["state"], row["base_result"]) == ("left out", f"runs/{failed[0].name}.error")
    assert row["base"] == f"scenarios/{failed[0].file}"


def test_a_case_that_others_are_compared_with_fails(own: Path, tmp_path: Path) -> None:
    text = ONE.replace('vary = { "link.buffer" = ["10p", "100p"] }', CASES)
    based = 'metric = "goodput_part"\npaths = ["both"]\nbase = { case = "alone" }'
    (own / "1.toml").write_text(text.replace('metric = "goodput"', based).replace(TIME, ""))
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas"], ["cubic"], "smoke")
    each: dict[Any, Any] = {"vegas": [5], "cubic": [5], ("vegas", "alone"): "Kernel panic"}
    scores = goodputs(of, tmp_path, each)
    vegas, cubic = (scores.cell(of.criteria[0], 0, cc) for cc in of.all)
    assert (vegas.mark, vegas.text, cubic.text) == (Mark.FAILED, "failed (1 of 1)", "100.0000")
    # No number is of the case that failed; its words are on the card nevertheless.
    pages.write(scores, tmp_path)
    assert "Kernel panic" in (tmp_path / "cards/vegas.html").read_text()
    assert "Failed: alone, seed 1" in (tmp_path / "cards/vegas.md").read_text()


def test_one_that_no_number_is_of_fails(own: Path, tmp_path: Path) -> None:
    """Its words are on the card."""
    of_one = 'metric = "goodput"\npaths = ["10p"]'
    (own / "1.toml").write_text(ONE.replace('metric = "goodput"', of_one).replace(TIME, ""))
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas"], ["cubic"], "smoke")
    each: dict[Any, Any] = {"vegas": [5], "cubic": [5], ("vegas", "100p"): "Kernel panic"}
    pages.write(goodputs(of, tmp_path, each), tmp_path)
    assert "Kernel panic" in (tmp_path / "cards/vegas.html").read_text()
    assert "Failed: 100p, seed 1" in (tmp_path / "cards/vegas.md").read_text()


def test_what_leaves_paths_out_says_so(own: Path, tmp_path: Path) -> None:
    """A number of fewer paths than the standard's has no mark, and the cell counts them."""
    text = ONE.replace('"20ms" }', '"20ms" }, { cc = "$cc", rtt = "20ms" }')
    (own / "1.toml").write_text(text.replace('metric = "goodput"', 'metric = "fairness"'))
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas", "bbr"], ["cubic"], "smoke")
    each: dict[Any, Any] = {"vegas": [5, 5], "bbr": [5, 5], "cubic": [5, 1]}
    each["vegas", "10p"] = [0, 0]
    scores = goodputs(of, tmp_path, each)
    vegas, bbr, _ = (scores.cell(of.criteria[0], 0, cc) for cc in of.all)
    assert (vegas.value, vegas.text, vegas.mark) == (1, "1.0000 (1 of 2 paths)", Mark.NONE)
    assert vegas.said == (
        "a standard has a number on a path that is left out here; without 10p; "
        "no flow carried anything"
    )
    assert (bbr.text, bbr.mark) == ("1.0000", Mark.BETTER)
    # A standard that has fewer is compared with on those.
    each |= {("vegas", "10p"): [5, 5], ("cubic", "10p"): [0, 0]}
    scores = goodputs(of, tmp_path / "other", each)
    assert scores.cell(of.criteria[0], 0, of.all[0]).mark is Mark.BETTER


def test_why_there_is_no_number_is_of_a_metric() -> None:
    assert {*metrics.NOTHING} <= {*metrics.METRICS}


@pytest.mark.parametrize(
    ("guard", "harmful", "why"),
    [
        ('guard = "Jain"', "", "it is worse in: Jain"),
        # Without a guard, too.
        ("", 'harmful = 0.6\nbecause = "so"\n', "it is harmful in: Jain"),
        ('guard = "Jain"', 'harmful = 0.6\nbecause = "so"\n', "it is harmful in: Jain"),
        ("", "", ""),
    ],
)
def test_what_is_worse_in_the_guard_or_harmful_is_better_in_nothing(
    own: Path, tmp_path: Path, guard: str, harmful: str, why: str
) -> None:
    jain = f'\n[[number]]\nname = "Jain"\nmetric = "fairness"\nbetter = "more"\n{harmful}\n'
    two = '"20ms" }, { cc = "$cc", rtt = "20ms" }]'
    text = ONE.replace("\n[[picture]]", f"{jain}[[picture]]", 1).replace('"20ms" }]', two)
    (own / "1.toml").write_text(text.replace('asks = "What?"', f'asks = "What?"\n{guard}'))
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas", "bbr"], ["cubic"], "smoke")
    each = {"vegas": [19e6, 1e6], "bbr": [9e6, 9e6], "cubic": [5e6, 5e6]}
    scores = goodputs(of, tmp_path, each)
    vegas, bbr, _ = (scores.cell(of.criteria[0], 0, cc) for cc in of.all)
    assert (vegas.mark, vegas.why) == (Mark.BETWEEN if why else Mark.BETTER, why)
    assert bbr.mark is Mark.BETTER
    assert scores.harms(of.criteria[0], of.all[0]) == (["Jain"] if harmful else [])
    assert not scores.harms(of.criteria[0], of.all[1])
    (own / "1.toml").write_text(text.replace('asks = "What?"', 'asks = "What?"\nguard = "x"'))
    with pytest.raises(LabError, match="guard: there is no number 'x'"):
        criteria.read(own / "1.toml")


def test_a_criterion_that_is_like_another(own: Path) -> None:
    """It has the other's words, numbers and pictures, and its own runs."""
    (own / "1.toml").write_text(ONE.replace("[scenario]", "[smoke]\nskip = 'x'\n\n[scenario]", 1))
    scenario = ONE[ONE.index("[scenario]") : ONE.index("[[number]]")]
    two = f'like = "1"\ntitle = "Two"\n\n{scenario}'
    (own / "2.toml").write_text(two)
    first, second = (criteria.read(own / f"{i}.toml") for i in (1, 2))
    assert second.title == "Two" and second.asks == first.asks
    assert second.number == first.number and second.picture == first.picture
    assert first.smoke.skip and not second.smoke.skip
    name = first.number[0].name
    rest = f'\n[[number]]\nname = "{name}"\nmetric = "loss"\n\n[[number]]\nname = "more"\n'
    (own / "2.toml").write_text(f'{two}{rest}metric = "loss"\n')
    second = criteria.read(own / "2.toml")
    assert [one.name for one in second.number] == [*(one.name for one in first.number), "more"]
    assert second.number[0].metric == "loss" != first.number[0].metric
    for other, why in (("3", "like: there is no .*3.toml"), ("2", "2 is like 1: name that")):
        (own / "4.toml").write_text(two.replace('like = "1"', f'like = "{other}"'))
        with pytest.raises(LabError, match=why):
            criteria.read(own / "4.toml")


@pytest.mark.parametrize(
    ("each", "worst"),
    [
        ({"vegas": 5, "bbr": 6, "cubic": 9}, {"vegas"}),
        ({"vegas": 5, "bbr": 5, "cubic": 9}, {"vegas", "bbr"}),
        ({"vegas": 9, "bbr": 9, "cubic": 9}, set()),
        ({"vegas": 9, "bbr": 8, "cubic": 5}, set()),  # it is not one that is evaluated
    ],
)
def test_the_worst_of_all(own: Path, tmp_path: Path, each: Json, worst: set[str]) -> None:
    """None is worse, and one at least is better."""
    of = plan.evaluation(["vegas", "bbr"], ["cubic"], "smoke")
    scores = goodputs(of, tmp_path, {cc: [x * 1e6] for cc, x in each.items()})
    assert {cell.cc.text for cell in scores.worst} == worst


# --- carrying out, and pages


def small(*texts: str) -> plan.Evaluation:
    return plan.evaluation(texts or ["reno"], ["cubic"], "smoke")


def carry_out(of: plan.Evaluation, out: Path, backend: Fake) -> int:
    """How many failed."""
    plan.write_scenarios(of, out)
    console = Console(file=io.StringIO(), width=200)
    left = carry.left(of, out, backend)
    return len(carry.carry_out(left, out, backend, workers=2, console=console))


def test_what_is_done_is_not_done_again(own: Path, backend: Fake, tmp_path: Path) -> None:
    of, out = small(), tmp_path / "out"
    assert carry_out(of, out, backend) == 0
    assert len(backend.started) == 4
    assert carry.left(of, out, backend) == []
    found = carry.read(of.runs[0], out)
    assert found and "connections" not in found["flows"][0] and "rates" in found["observed"]
    # Another path, an unreadable file, and one that lacks a series, are made again.
    (own / "1.toml").write_text(ONE.replace('rtt = "20ms"', 'rtt = "30ms"'))
    criteria.load.cache_clear()
    assert len(carry.left(small(), out, backend)) == 4
    (own / "1.toml").write_text(ONE.replace('["rates"]', '["rates", "cwnd"]'))
    criteria.load.cache_clear()
    assert len(carry.left(small(), out, backend)) == 4
    carry.file_of(of.runs[0], out).write_text("{")
    assert carry.left(of, out, backend) == [of.runs[0]]


def test_one_that_fails(
    own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cell says so with the log; the others have numbers.  It is made again on demand, and if
    it would be another run; else it fails as it did."""
    of, out = small(), tmp_path / "out"
    bad = of.runs[0]
    real = Fake.execute

    def execute(self: Fake, run: Path, one: scenario.Scenario, seed: int, **more: Any) -> None:
        real(self, run, one, seed, **more)
        if one.name == bad.scenario.name:
            (run / "log").write_text("WARNING: divided by zero\n")

    monkeypatch.setattr(Fake, "execute", execute)
    assert carry_out(of, out, backend) == 1
    said = carry.error_of(bad, out).read_text()
    assert "WARNING: divided by zero" in said and "all it left" not in said
    assert not list((out / "runs").glob("*.failed"))
    scores = score.score(of, out)
    cell = scores.cell(of.criteria[0], 0, of.contenders[0])
    assert (cell.mark, cell.text) == (Mark.FAILED, "failed (1 of 2)")
    assert cell.by_path() == {"10p": None, "100p": pytest.approx(8e-4)}
    other = scores.cell(of.criteria[0], 0, of.against[0])
    assert other.mark == Mark.STANDARD and other.value == pytest.approx(8e-4)
    texts = pages.card(scores, of.contenders[0])
    assert "WARNING: divided by zero" in texts["reno.html"]
    assert f"runs/{bad.name}.error" in texts["reno.md"]
    assert "known by" in said and not any("known by" in text for text in texts.values())
    assert carry.left(of, out, backend) == []
    assert carry.left(of, out, backend, retry=True) == [bad]
    # Of another version, of another path, or what a job of a cluster did not say itself.
    with monkeypatch.context() as newer:
        newer.setattr(observe, "VERSION", 77)
        assert bad in carry.left(of, out, backend)
    (own / "1.toml").write_text(ONE.replace('rtt = "20ms"', 'rtt = "30ms"'))
    criteria.load.cache_clear()
    assert len(carry.left(small(), out, backend)) == 4
    monkeypatch.setattr(Fake, "execute", real)
    for text in ("ended with exit status 137", said.replace('"backend"', '"x"'), said[:-9]):
        carry.error_of(bad, out).write_text(text)
        assert carry.left(of, out, backend) == [bad]
    assert carry_out(of, out, backend) == 0
    assert not carry.error_of(bad, out).exists()
    assert score.score(of, out).cell(of.criteria[0], 0, of.contenders[0]).mark == Mark.STANDARD


def test_one_that_something_else_ended(
    own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cell says so, the others go on, and the same command makes it again."""
    of, out = small(), tmp_path / "out"
    bad = of.runs[0]
    real = Fake.execute

    def execute(self: Fake, run: Path, one: scenario.Scenario, seed: int, **more: Any) -> None:
        if one.name == bad.scenario.name:
            raise Disturbed("the virtual-time kernel was killed")
        real(self, run, one, seed, **more)

    monkeypatch.setattr(Fake, "execute", execute)
    assert carry_out(of, out, backend) == 1
    assert score.score(of, out).cell(of.criteria[0], 0, of.contenders[0]).mark == Mark.FAILED
    assert carry.left(of, out, backend) == [bad]
    monkeypatch.setattr(Fake, "execute", real)
    assert carry_out(of, out, backend) == 0
    assert carry.left(of, out, backend) == [] and not carry.error_of(bad, out).exists()


def test_one_that_creeps_has_a_limit(
    own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what it should take, and not the same for all.  The first two are a second below it, the
    others a second above."""
    of, over = small(), [-1.0, -1.0, 1.0, 1.0]
    clock = threading.local()  # each run is in a thread
    limits = {run.scenario.name: 600 + 20 * cost.seconds(run) for run in of.runs}
    real = Fake.execute

    def now() -> float:
        return float(getattr(clock, "now", 0))

    def execute(self: Fake, run: Path, one: Any, *words: Any, **more: Any) -> None:
        clock.now = now() + limits[one.name] + over.pop(0)
        (run / "progress").write_text("1")  # it does not hang
        more["tick"]()
        real(self, run, one, *words, **more)

    monkeypatch.setattr(Fake, "execute", execute)
    monkeypatch.setattr("longfat.run.runner.time", SimpleNamespace(monotonic=now))
    assert carry_out(of, tmp_path, backend) == 2
    failed = [carry.error_of(run, tmp_path) for run in of.runs]
    said = [path.read_text() for path in failed if path.exists()]
    assert all("given up: it creeps: after " in text for text in said) and len(said) == 2


def test_one_that_never_sends(
    own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("test_runner.SAMPLES", SAMPLES.replace(" 1000 ", " 0 "))
    of, out = small(), tmp_path / "out"
    assert carry_out(of, out, backend) == 4
    assert "reno never sent anything" in carry.error_of(of.runs[0], out).read_text()


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ({"vegas": (5, 0), "reno": (5, 0)}, []),
        ({"vegas": (0, 0), "reno": (5, 0)}, ["vegas"]),
        ({"vegas": (5, 0), "reno": (0, 0)}, ["reno"]),
        ({"vegas": (5, 0), "reno": (0, 1)}, []),  # it sends, and all of it is lost
    ],
)
def test_whoever_never_sends_is_named(columns: dict[str, Any], names: list[str]) -> None:
    """Of two that stand beside each other, too: the other has the link, and is not to blame."""
    of = plan.evaluation(["vegas"], ["reno"], "smoke", only=["pairs"])
    run = next(run for run in of.runs if run.cc != run.beside)
    flows = [
        {"cc": cc, "connections": [{"received": [0, a], "retransmissions": [0, b]}]}
        for cc, (a, b) in columns.items()
    ]
    said = [f"{name} never sent anything" for name in names]
    assert carry._nothing_came(run, {"flows": flows}) == said


@pytest.mark.parametrize(("completed", "names"), [(0, ["vegas"]), (1, [])])
def test_objects_that_never_come(completed: int, names: list[str]) -> None:
    """Where there are objects alone, of one camp; the others' are no sign of it."""
    of = plan.evaluation(["vegas"], ["reno"], "smoke", only=["tcpeval-6.1"])
    run = next(run for run in of.runs if run.cc.text == "vegas")
    short = [
        {"short": i, "begun": 9, "completed": completed if one.cc == "vegas" else 9}
        for i, one in enumerate(run.scenario.short)
    ]
    said = [f"{name} completed no object" for name in names]
    assert carry._nothing_came(run, {"flows": [], "short": short}) == said
    for one in short:
        one["begun"] = one["completed"] = 0
    assert not carry._nothing_came(run, {"flows": [], "short": short})


def test_a_full_disk_ends_all(
    own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, out = small(), tmp_path / "out"

    def full(*_: object) -> None:
        raise Unwritable("no space is left")

    monkeypatch.setattr(result, "write", full)
    with pytest.raises(Unwritable, match="no space"):
        carry_out(of, out, backend)
    assert not list(out.glob("runs/*"))


def test_what_is_older_is_no_number(
    own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If an evaluation ends early, what it did not come to is not measured."""
    out = tmp_path / "out"
    assert carry_out(small(), out, backend) == 0
    (own / "1.toml").write_text(ONE.replace('rtt = "20ms"', 'rtt = "30ms"'))
    criteria.load.cache_clear()
    of = small()

    def full(*_: object) -> None:
        raise Unwritable("no space is left")

    monkeypatch.setattr(result, "write", full)
    with pytest.raises(Unwritable):
        carry_out(of, out, backend)
    cell = score.score(of, out).cell(of.criteria[0], 0, of.contenders[0])
    assert (cell.text, cell.value) == ("not measured yet", None)


class Links(HTMLParser):
    """The references of a page, and its cells that have none."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: set[str] = set()
        self.bare: list[str] = []
        self.cell: list[str] | None = None  # what is in it, if it has no link

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "td":
            self.cell = []
        if link := given.get("href" if tag == "a" else "src"):
            self.found.append(link)
            self.cell = None
        if name := given.get("id"):
            self.ids.add(name)

    def handle_data(self, text: str) -> None:
        if self.cell is not None:
            self.cell.append(text)

    def handle_endtag(self, tag: str) -> None:
        if tag == "td" and self.cell is not None:
            self.bare.append("".join(self.cell))


def links(page: Path) -> Links:
    found = Links()
    found.feed(page.read_text())
    return found


def test_cells_of_the_league(own: Path, tmp_path: Path) -> None:
    """Each has the colour of its mark, and the value that its column is sorted by: what is never
    is above all others, and what has no number below the table's end."""
    seconds = ONE.replace('metric = "goodput"', 'metric = "flows_done"').replace("more", "less")
    (own / "1.toml").write_text(seconds.replace(TIME, ""))
    criteria.load.cache_clear()
    of = plan.evaluation(["vegas", "bbr", "bic", "htcp"], ["cubic"], "smoke")
    took = {"vegas": 9.0, "bbr": 1.0, "bic": None, "cubic": 5.0}
    for run in of.runs:
        if run.cc.text in took:
            one = record(flows=[flow(0, 1) | {"completion_s": took[run.cc.text]}])
            one |= {"longfat": 1, "observer": observe.VERSION, "kernel": "6"}
            one["observed"] = {"rates": {}}
            result.write(one, carry.file_of(run, tmp_path))
    pages.write(score.score(of, tmp_path), tmp_path)
    page = (tmp_path / "league.html").read_text()
    cell = r'<tr><td><a href="cards/\w+.html">(\w+)</a></td><td class="(\w+)" data-value="(.*?)"'
    found = {cc: (mark, value and float(value)) for cc, mark, value in re.findall(cell, page)}
    assert found == {
        "vegas": ("worse", 9000),
        "bbr": ("better", 1000),
        "bic": ("worse", 1e300),
        "htcp": ("not_measured_yet", ""),
        "cubic": ("standard", 5000),
    }
    for mark in Mark:
        name = str(mark).replace(" ", "_")
        assert not name or re.search(rf"\.{name}\b[^{{}}]*{{ (background|color): var\(", page), mark


def files(below: Path) -> dict[str, bytes]:
    return {str(p.relative_to(below)): p.read_bytes() for p in below.rglob("*") if p.is_file()}


def test_pages(own: Path, backend: Fake, tmp_path: Path) -> None:
    """From each cell to its scenario and its result, and how to make it again; the same results
    make the same bytes, in any directory."""
    both_pages(own)
    of, out = small("vegas", "dctcp"), tmp_path / "out"
    assert carry_out(of, out, backend) == 0
    first = pages.write(score.score(of, out), out, ["--module", "x.c"])
    assert [path.name for path in first] == ["vegas.html", "dctcp.html", "league.html"]
    made = files(out)
    other = tmp_path / "other"
    shutil.copytree(out, other, ignore=shutil.ignore_patterns("*.html", "*.md", "*.csv", "img"))
    pages.write(score.score(of, other), other, ["--module", "x.c"])
    assert made == files(other)
    # Another evaluation's pages go, whose marks are by others.
    less = small("vegas")
    pages.write(score.score(less, other), other)
    assert not (other / "cards/dctcp.html").exists() and (other / "cards/vegas.html").exists()
    for page in sorted(out.rglob("*.html")):
        there = links(page)
        assert there.found
        for link in there.found:
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            assert target.is_file(), link
            assert not anchor or anchor in links(target).ids, link
    assert links(out / "league.html").bare == []
    # Whom they stand beside has a card, too.
    for name in ("vegas", "cubic"):
        card = (out / f"cards/{name}.html").read_text()
        (run,) = re.findall(r"<code>(.* run .*/1-.*)</code>", card)
        rest = f"scenarios/1-{name}.toml --module x.c -o again"
        assert run == f"scripts/longfat run DIRECTORY/{rest}"
        alone, both = re.findall(r"<code>(scripts/longfat evaluate .*)</code>", card)
        assert alone == (
            f"scripts/longfat evaluate {name} --only 1 --profile smoke --against cubic "
            "--module x.c -o again"
        )
        assert "evaluate vegas dctcp --only 2 " in both
    assert 'class="between"' in (out / "cards/vegas.html").read_text()
    drawn = re.findall(r"!\[One\]\((.*)\)", (out / "cards/vegas.md").read_text())
    assert len(drawn) == 4 and all((out / "cards" / name).is_file() for name in drawn)
    assert len(list((out / "img").glob("1-*.svg"))) == 2


def clouded() -> str:
    return ONE.replace('observe = ["rates"]', 'observe = ["rates", "left"]\ncloud = true')


def both_pages(own: Path) -> None:
    """A criterion with a cloud, and one with a heat map."""
    (own / "1.toml").write_text(clouded())
    (own / "2.toml").write_text(paired())
    criteria.load.cache_clear()


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_tables(own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the pages show is in them, and where it comes from."""
    monkeypatch.setitem(plan.SEEDS, "smoke", [1, 2])
    both_pages(own)
    of, out = small("vegas", "dctcp"), tmp_path / "out"
    carry_out(of, out, backend)
    carry.file_of(of.runs[-1], out).unlink()
    scores = score.score(of, out)
    pages.write(scores, out)
    cells = rows(out / "league.csv")
    assert len(cells) == 2 * 3
    assert {(x["algorithm"], x["mark"]) for x in cells if x["criterion"] == "1"} == {
        *(("vegas", "between"), ("dctcp", ""), ("cubic", "standard")),
    }
    assert [x["why"] for x in cells if x["algorithm"] == "dctcp"] == [
        *["dctcp is for links that mark"] * 2,
    ]
    runs = rows(out / "runs.csv")
    assert {x["state"] for x in runs} == {"measured", "not measured yet"}
    assert all((out / x["scenario"]).is_file() for x in runs)
    assert all((out / x["result"]).is_file() for x in runs if x["state"] == "measured")
    key = operator.itemgetter("criterion", "number", "algorithm", "scenario", "path")
    by_path: dict[tuple[str, ...], list[str]] = {}
    for one in sorted(runs, key=lambda x: int(x["seed"])):
        by_path.setdefault(key(one), []).append(one["value"] or "-")
    assert {key(x): x["values"].split() for x in rows(out / "paths.csv")} == by_path
    assert {len(values) for values in by_path.values()} == {2}
    squares = rows(out / "heat.csv")
    assert len(squares) == 2 * 9
    of_pair = {(x["algorithm"], x["beside"]): x for x in squares if x["path"] == "100p"}
    assert of_pair["vegas", "cubic"]["runs"] == "4"
    assert of_pair["cubic", "cubic"]["why"] == "not measured yet"
    assert of_pair["cubic", "dctcp"]["why"] == "dctcp is for links that mark"
    # The commands make the scenarios again that the numbers are of.
    for row in [*cells, of_pair["vegas", "cubic"]]:
        words = shlex.split(row["command"])
        options = dict(pairwise(words))
        assert words[:2] == ["scripts/longfat", "evaluate"]
        algorithms = words[2 : words.index("--only")]
        again = plan.evaluation(
            algorithms,
            options["--against"].split(",") if "--against" in options else [],
            options["--profile"],
            only=[options["--only"]],
        )
        wanted = {
            x["scenario"]
            for x in runs
            if (x["criterion"], x["algorithm"]) == (row["criterion"], row["algorithm"])
            and x["beside"] == row.get("beside", x["beside"])
        }
        assert {f"scenarios/{run.file}" for run in again.runs} >= wanted
    dots = rows(out / "cloud.csv")
    assert len(dots) == 8 and all((out / x["result"]).is_file() for x in dots)
    assert {x["algorithm"] for x in dots} == {"vegas", "cubic"}


def test_what_is_not_measured_is_no_number(own: Path, backend: Fake, tmp_path: Path) -> None:
    of, out = small(), tmp_path / "out"
    assert carry_out(of, out, backend) == 0
    carry.file_of(of.runs[0], out).unlink()
    cell = score.score(of, out).cell(of.criteria[0], 0, of.contenders[0])
    assert (cell.text, cell.value, cell.mark) == ("not measured yet", None, Mark.NOT_YET)
    pages.write(score.score(of, out), out)
    assert "not measured yet" in (out / "league.html").read_text()


def paired() -> str:
    """A criterion in which all stand beside all."""
    text = ONE.replace('"20ms" }', '"20ms" }, { cc = "$beside", rtt = "20ms" }')
    return text.replace('asks = "What?"', 'asks = "What?"\nbeside = "all"')


def test_heat_map(own: Path, tmp_path: Path) -> None:
    """Of two there are both orders; each has its part of both, whichever it began as."""
    (own / "1.toml").write_text(paired())
    criteria.load.cache_clear()
    of = small()
    assert [(run.cc.text, run.beside and run.beside.text) for run in of.runs[::2]] == [
        *(("reno", "reno"), ("reno", "cubic"), ("cubic", "reno"), ("cubic", "cubic"))
    ]
    # Who is first has more of it, and reno has more.
    each = {("reno", "cubic"): (90, 10), ("cubic", "reno"): (40, 60)}
    records = {
        run.name: record(flows=[flow(0, both[0]), flow(1, both[1])])
        for run in of.runs[:6]
        for both in [each.get((run.cc.text, run.beside.text if run.beside else ""), (90, 30))]
    }
    errors = {of.runs[6].name: "it crashed\nKernel panic"}
    first, second = league.heat(score.Scores(of, {}, records, errors))
    assert (first.path, second.path) == ("10p", "100p")
    texts = [[one.text for one in row] for row in first.rows]
    assert texts == [["50", "75"], ["25", "-"]]
    assert first.rows[0][1].title == "reno beside cubic: 75 % in the mean of 2"
    assert first.rows[1][1].title == "cubic beside cubic: failed: it crashed"
    assert first.whys == ["failed: it crashed"]
    assert second.whys == ["not measured yet"]


def test_the_heat_map_says_who_is_not_in_it(own: Path) -> None:
    (own / "1.toml").write_text(paired())
    criteria.load.cache_clear()
    found, _ = league.heat(score.Scores(small("dctcp"), {}, {}))
    assert found.rows[0][1].title == "dctcp beside cubic: dctcp is for links that mark"
    assert found.rows[1][0].run is None and found.rows[1][1].why == "not measured yet"


def test_who_is_starved_is_not_harmful(own: Path, tmp_path: Path) -> None:
    """The threshold is of what the others have, whoever is named first in the run."""
    least = 'metric = "least_share"\narguments = { who = "theirs" }\nharmful = 50'
    (own / "1.toml").write_text(paired().replace('metric = "goodput"', least))
    criteria.load.cache_clear()
    # Beside itself it is both.
    each: Json = {f"{one} beside {one}": [7e6, 3e6] for one in ("vegas", "cubic", "bbr")}
    for strong, weak in (("cubic", "vegas"), ("bbr", "vegas"), ("bbr", "cubic")):
        each |= {f"{strong} beside {weak}": [9e6, 1e5], f"{weak} beside {strong}": [1e5, 9e6]}
    # Of two the one that is named first is first in the run.
    for number, words in enumerate((["vegas", "bbr"], ["bbr", "vegas"])):
        of = plan.evaluation(words, ["cubic"], "smoke")
        scores = goodputs(of, tmp_path / str(number), each)
        cells = {cc.text: scores.cell(of.criteria[0], 0, cc) for cc in of.all}
        beside = {cc: cell.by_path()["10p beside cubic"] for cc, cell in cells.items()}
        assert beside == {"vegas": 180, "bbr": 2, "cubic": 100}, words
        assert cells["cubic"].by_path()["10p beside bbr"] == 180
        marks = {cc: cell.mark for cc, cell in cells.items()}
        assert marks == {"vegas": Mark.BETTER, "bbr": Mark.HARMFUL, "cubic": Mark.STANDARD}


def test_no_victim_is_harmful() -> None:
    """An index of both flows has no threshold where others stand beside it."""
    for one in criteria.load():
        entries = [*one.scenario.get("flow", [])]
        alone = all(entry["cc"] == criteria.CC for entry in entries)
        for number in one.number:
            who = number.arguments.get("who", "all")
            if number.metric in ("fairness", "ratio", "least_share") and not alone:
                assert who == "theirs" or number.harmful is None, f"{one.id}: {number.name}"


@pytest.mark.parametrize(("some", "found"), [(False, None), (True, 2.0)])
def test_a_number_of_some_seeds(
    own: Path, monkeypatch: pytest.MonkeyPatch, some: bool, found: float | None
) -> None:
    monkeypatch.setitem(plan.SEEDS, "smoke", [1, 2])
    of = small()
    one, two = [run for run in of.runs if run.cc == of.all[0] and run.path == "10p"]
    number = of.criteria[0].number[0].model_copy(update={"some": some})
    cell = score.Cell(of.criteria[0], number, of.all[0])
    cell.points = [score.Point(one, 2.0), score.Point(two)]
    assert cell.value == found


def test_beside_each_other(own: Path, tmp_path: Path) -> None:
    """Who stands beside whom is another path, for the second of two, too."""
    (own / "1.toml").write_text(paired())
    criteria.load.cache_clear()
    of = small()
    reno, cubic = of.all
    there = [run for run in of.runs if run.path == "10p"]
    assert len(there) == 4
    value = {(reno, reno): 1.0, (reno, cubic): 1.0, (cubic, reno): 3.0, (cubic, cubic): 4.0}
    seen = {}
    for cc in of.all:
        points = [score.Point(run, value[run.cc, run.beside or cc]) for run in there]
        mine = [one for one in points if cc in (one.run.cc, one.run.beside)]
        seen[cc] = score.Cell(of.criteria[0], of.criteria[0].number[0], cc, mine).by_path()
    assert seen[reno] == {"10p beside reno": 1, "10p beside cubic": 2}
    assert seen[cubic] == {"10p beside reno": 2, "10p beside cubic": 4}


def test_clouds(own: Path) -> None:
    """One for each path that was measured; an ellipse where there are three seeds. All points are
    in it, less delay to the right."""
    (own / "1.toml").write_text(clouded())
    criteria.load.cache_clear()
    of = small()
    one = of.criteria[0]
    assert pictures.clouds(score.Scores(of, {}, {}), one) == {}
    records = {run.name: record() for run in of.runs if run.path == "10p"}
    found = pictures.clouds(score.Scores(of, {}, records), one)
    assert list(found) == ["10p"] and "reno" in found["10p"] and "cubic" in found["10p"]
    figure = pyplot.figure()
    axes = figure.subplots()
    pictures._ellipse(axes, [(0.0, 0.0), (2.0, 2.0), (4.0, 4.0)], "C0")
    (ellipse,) = axes.patches
    assert isinstance(ellipse, Ellipse)
    # Along the line, as wide as two standard deviations of 2 sqrt(2).
    assert (ellipse.width, ellipse.height) == pytest.approx((2 * math.sqrt(8), 0), abs=1e-6)
    assert ellipse.angle == pytest.approx(45)
    pyplot.close(figure)


def test_what_no_run_shows_is_listed() -> None:
    ids = {one.id for one in criteria.load()}
    missing = {one.id for one in pages.not_run()}
    assert not ids & missing
    chapters = (
        "5.1.1 5.1.2 5.1.3 5.1.4 5.1.5 5.2 5.2.1 5.2.2 5.2.3 5.3.1 5.3.2 6.1 6.2 6.4 7.1 7.2 7.3"
    )
    wanted = {*chapters.split(), *"7.4 7.5 7.6 7.7 7.8 7.9 7.10 7.11".split()}
    wanted |= {f"tcpeval-{x}" for x in "4.4.1 4.4.2 4.4.3 4.4.4 4.4.5 4.4.6".split()}
    wanted |= {f"tcpeval-{x}" for x in "5.1 5.2 5.3 6.1 6.2 6.3".split()}
    assert wanted <= ids | missing


def test_what_is_argued_is_on_the_page() -> None:
    """Each under its section of the RFC, by the RFC's own names."""
    page = (modules.ROOT / "docs/evaluation.md").read_text()
    argued = page.partition("## Argued, not measured")[2].partition("\n## ")[0]
    of = re.findall(r"^\*\*(?:RFC 9743, )?(?:tcpeval )?([\d.]+), ", argued, re.M)
    assert sorted(of) == sorted(one.id.removeprefix("tcpeval-") for one in pages.not_run())
    titles = {one.id: one.title for one in pages.not_run()}
    assert titles["6.2"] == "Tunnel behaviour" and titles["5.3.2"] == "Incremental deployment"
    assert titles["7.10"] == "Multipath transport"
    principles = argued.partition("5.3.2, ")[0]
    assert "RFC 2914" in principles and "RFC 7141" in principles
    tunnels = argued.partition("**6.2, ")[2].partition("\n**")[0]
    assert "explicit signals" in tunnels


def test_what_differs_is_said() -> None:
    """The suite's traffic goes in both directions, the satellites' path is another, and loads are
    of payload."""
    of = {one.id: one for one in criteria.load()}
    for one in of.values():
        # In 5.3 nothing does in the suite either.
        if one.of == "tcpeval-01" and one.scenario and one.id != "tcpeval-5.3":
            back = any(entry.get("reverse") for entry in one.scenario.get("short", []))
            said = "Nothing goes in the other direction." in one.differs
            assert said is not back, one.id
    runs = plan.evaluation(["reno"], ["cubic"], "full", only=["7.3", "tcpeval-4.4.2"]).runs
    (leo, *_) = (run.scenario for run in runs if run.path == "low orbit")
    steps = leo.steps(leo.link)
    rates = [round(step.rate / 1e6) for step in steps if step.rate]
    trips = [round(1e3 * leo.flow[0].rtt + step.delay / 1e6) for step in steps]
    words = f"{min(rates)} to {max(rates)} Mbit/s, and RTTs of {min(trips)} to {max(trips)} ms"
    assert words in of["7.3"].differs
    load = next(run.scenario for run in runs if run.path == "load 110")
    headers = 100 * load.link.rate / load.capacity
    page = (modules.ROOT / "docs/evaluation.md").read_text()
    assert f"a load of 100 % is {headers:.0f} % of the link" in page
    assert "ours: 100 Mbit/s and 40 ms" in of["5.1.3"].differs
    assert "buffer is ours: half a BDP" in of["7.5"].differs


def test_json_of_a_record_has_no_infinity(own: Path, backend: Fake, tmp_path: Path) -> None:
    of, out = small(), tmp_path / "out"
    carry_out(of, out, backend)
    for path in (out / "runs").glob("*.json"):
        json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(word))


# --- the workflow


def test_a_job_is_one_run(own: Path, backend: Fake, tmp_path: Path, monkeypatch: Any) -> None:
    """What is to be made is planned, what a job is called with makes it, and the next look finds
    it."""
    of, out = small(), tmp_path / "out"
    plan.write_scenarios(of, out)
    left = carry.left(of, out, backend)
    carry.file_of(left[0], out).parent.mkdir(parents=True)
    carry.file_of(left[0], out).write_text("older")
    called: list[list[str]] = []

    def carried_out(words: list[str]) -> int:
        called.append(words)
        return 0

    monkeypatch.setattr(workflow, "carried_out", carried_out)
    profile = workflow.find("full")
    workflow.submit(of, left, out, [], profile, 3, 77)
    assert not carry.file_of(left[0], out).exists()
    (words,) = called
    assert words[words.index("--profile") + 1] == str(profile)
    assert words[words.index("--cores") + 1] == "3"
    planned = json.loads((out / "plan.json").read_text())
    assert planned["where"] == str(out / "runs")
    assert [one["name"] for one in planned["runs"]] == [run.name for run in left]
    (step,) = (word.removeprefix("step=") for word in words if word.startswith("step="))
    monkeypatch.setattr(workflow, "Uml", lambda: backend)
    python, module, name, *rest = shlex.split(step)
    assert (python, module, name) == ("python", "-m", "longfat.arena")
    stalls: set[float] = set()

    def carried(*words: Any, stall: float, **more: Any) -> list[runner.Failure]:
        stalls.add(stall)
        return real(*words, stall=stall, **more)

    real = carry.carry_out
    monkeypatch.setattr(carry, "carry_out", carried)
    for run in left:
        given = workflow.arguments([*rest, run.name])
        workflow.run(given.name, given.out)
    assert stalls == {77}
    assert carry.left(of, out, backend) == []
    with pytest.raises(LabError, match="has no run nosuch"):
        workflow.run("nosuch", out)
    workflow.submit(of, left, out, [], workflow.find("slurm"), 3)
    assert "--cores" not in called[1]


@pytest.mark.parametrize("given", ["", "debian:6.1"])
def test_a_job_has_the_kernel_of_its_criterion(
    own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    """One that wants a kernel has that, whatever --kernel says of the others."""
    (own / "1.toml").write_text(ONE.replace("[scenario]", '[scenario]\nkernel = "debian:7.2"'))
    (own / "2.toml").write_text(ONE)
    criteria.load.cache_clear()
    of, out = plan.evaluation(["reno"], ["cubic"], "smoke", kernel=given), tmp_path / "out"
    monkeypatch.setattr(workflow, "carried_out", lambda _: 0)
    monkeypatch.setattr(backend, "on", lambda _: backend)
    workflow.submit(of, of.runs, out, [], workflow.find("full"), 1)
    asked: list[str] = []

    def kernels(texts: list[str]) -> Fake:
        asked.extend(texts)
        return backend

    def uml() -> Fake:
        asked.append("")
        return backend

    monkeypatch.setattr(workflow, "Kernels", kernels)
    monkeypatch.setattr(workflow, "Uml", uml)
    for criterion in ("1", "2"):
        run = next(run for run in of.runs if run.criterion == criterion)
        workflow.run(run.name, out)
        assert carry.read(run, out)
    assert asked == ["debian:7.2", given]


# It begins so late that whoever started it waits for it.
STOPPED = """
trap 'echo stopped >>"$1"; exit 130' INT
sleep 1
echo ready >"$1"
while :; do sleep 0.1; done
"""


@pytest.mark.parametrize(
    ("number", "ours"),
    [
        (signal.SIGINT, signal.default_int_handler),
        # Behind a shell's & SIGINT is ignored.
        (signal.SIGTERM, signal.SIG_IGN),
    ],
)
def test_who_interrupts_takes_back_the_jobs(
    tmp_path: Path, number: signal.Signals, ours: Any
) -> None:
    """Snakemake is told by SIGINT, whatever ends us, and has time for it."""
    said = tmp_path / "said"

    def interrupt() -> None:
        while not said.exists() or not said.read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    kept = signal.signal(signal.SIGINT, ours)
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            workflow.carried_out(["sh", "-c", STOPPED, "sh", str(said)])
        assert signal.getsignal(signal.SIGINT) is ours
    finally:
        signal.signal(signal.SIGINT, kept)
    assert said.read_text() == "ready\nstopped\n"


def test_the_status_of_the_workflow() -> None:
    assert workflow.carried_out(["sh", "-c", "exit 3"]) == 3


def test_an_unknown_workflow_is_said() -> None:
    with pytest.raises(LabError, match="--workflow nosuch: no such profile; valid: full, "):
        workflow.find("nosuch")
