# SPDX-License-Identifier: GPL-2.0
"""What docs/slow-start.md says, from runs whose answer is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot

from longfat.build.modules import ROOT
from longfat.core.errors import LabError
from longfat.pages import catalogue, data
from longfat.pages.figures import slow_start as figures
from longfat.pages.observe.slow_start import observe, over
from longfat.pages.shown import Shown
from longfat.pages.tables import picture
from longfat.pages.tables import slow_start as tables
from longfat.pages.verdict import Judged, judge
from longfat.run.scenario import Scenario, load

Json = dict[str, Any]

OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)  # tcpi_ca_state


# --- when slow start is over


def connection(cwnd: list[int], ssthresh: list[int | None], state: list[int] | None = None) -> Json:
    """A sample each 50 ms, an RTT of 100 ms."""
    return {
        "t": [round(0.05 * i, 2) for i in range(len(cwnd))],
        "cwnd": cwnd,
        "ssthresh": ssthresh,
        "rtt_us": [100_000] * len(cwnd),
        "state": state or [OPEN] * len(cwnd),
    }


def test_over_when_the_window_has_reached_ssthresh() -> None:
    """A ssthresh above the window ends nothing."""
    assert over(connection([10, 20, 40, 50, 50, 51, 51], [None, 60, 60, 50, 50, 50, 50])) == 0.15


def test_over_two_round_trips_after_a_loss() -> None:
    """Until then what was sent before is lost; Disorder alone is no loss."""
    state = [OPEN, DISORDER, OPEN, RECOVERY, RECOVERY]
    assert over(connection([10, 20, 40, 20, 20], [None, None, None, 20, 20], state)) == 0.35


@pytest.mark.parametrize(("after", "end"), [(2, 0.35), (3, 0.4), (4, 0.1)])
def test_a_loss_within_a_round_trip_is_slow_starts(after: int, end: float) -> None:
    cwnd, ssthresh = [10, 20, *[40] * 8], [None, None, *[40] * 8]
    state = [OPEN] * (1 + after) + [CWR] * (9 - after)
    assert over(connection(cwnd, ssthresh, state)) == pytest.approx(end)


def test_slow_start_that_never_ends() -> None:
    assert over(connection([10, 20], [None, None])) is None
    assert over(connection([10, 20], [None, 20])) == 0.05


def run(name: str = "slow-start-50m-train-20ms-1bdp", warmup: float = 0.0, **flow: Any) -> Json:
    one = connection([10, 20, 40, 50, 50, 51, 51], [None, 60, 60, 50, 50, 50, 50])
    return {
        "scenario": {"name": name, "warmup": warmup, "flow": [{"bytes": None} | flow]},
        "summary": {"dropped": 9},
        "flows": [{"completion_s": None, "connections": [one]}],
        "queue": {"t": one["t"], "packets": [5] * 7, "dropped": [0, 1, 1, 4, 4, 9, 10]},
    }


def test_observed_of_the_first_minute() -> None:
    """What is dropped until slow start is over, from the warm-up on."""
    assert observe(run()) == {"over_s": 0.15, "until": 4}
    assert observe(run(warmup=0.05)) == {"over_s": 0.15, "until": 3}
    endless = run()
    endless["flows"][0]["connections"][0]["ssthresh"] = [None] * 7
    assert observe(endless) == {"over_s": None, "until": 9}


def test_observed_of_what_is_drawn() -> None:
    found = observe(run("slow-start-1g-train-120ms-0.33bdp"))
    assert found["cwnd"][:2] == [[0.0, 10], [0.05, 20]] and len(found["queue"]) == 7


def test_observed_of_a_file() -> None:
    """A run that was too short for it says nothing."""
    one = run(bytes=10**6)
    with pytest.raises(LabError, match="ended before all was transferred"):
        observe(one)
    one["flows"][0]["completion_s"] = 1.5
    assert observe(one) == {"completion_s": 1.5}


# --- figures and tables, of runs that are as they should be

LOST = {"classic": 1000, "hystart": 700, "limited": 90, "train": 10, "cubic": 100}
TOOK = {"classic": 2.0, "cubic": 1.9, "train": 1.9}


def line(one: Scenario, seed: int, *, flooded: bool) -> Json:
    """What docs/results has of a run; `flooded`: as if train were no better than classic."""
    name = one.case_name.split("-")[-1]
    way = str(one.module.get(one.flow[0].cc, {}).get("slow_start", one.flow[0].cc))
    worse = {"train": "classic"} if flooded else {}
    lost = LOST.get(worse.get(way, way).replace("++", ""), 500)
    observed: Json = {"over_s": 1.0, "until": lost - 10}
    if one.flow[0].bytes:
        observed = {"completion_s": 2.1 if flooded and name == "train" else TOOK[name]}
    if one.name.endswith("-120ms-0.33bdp"):
        observed |= {"cwnd": [[0.0, 10]], "queue": [[0.0, 0]]}
    if way == "classic":
        observed["until"] = 20_000
    return {
        "scenario": json.loads(one.model_dump_json()),
        "seed": seed,
        "summary": {"dropped": lost, "goodput_bps": 9e8},
        "flows": [
            {"cc": flow.cc, "base_rtt_ms": flow.rtt * 1e3, "goodput_bps": 9e8} for flow in one.flow
        ],
        "observed": observed,
    }


def lines(name: str, *, flooded: bool = False) -> list[Json]:
    scenarios = load(ROOT / f"tests/scenarios/{name}.toml")
    return [line(one, seed, flooded=flooded) for one in scenarios for seed in one.seeds]


FIGURES = [figure for figure in catalogue.load().figure if figure.paper == "slow_start"]


def judged(figure: catalogue.Figure, found: dict[str, list[Json]]) -> tuple[Shown, list[Judged]]:
    shown = getattr(figures, figure.draw)(lambda name: found[name])
    pyplot.close("all")
    return shown, [judge(criterion, shown.values) for criterion in figure.criterion]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
def test_a_claim_is_decided_by_the_runs(figure: catalogue.Figure) -> None:
    """It holds of runs as they should be, and not if train were no better than classic."""
    _, good = judged(figure, {name: lines(name) for name in figure.scenarios})
    assert all(one.holds for one in good), [one.by for one in good if not one.holds]
    _, bad = judged(figure, {name: lines(name, flooded=True) for name in figure.scenarios})
    assert any(one.holds is False for one in bad if one.criterion.main)


def test_cells_of_the_first_minute() -> None:
    """Every cell of three rates, over what there is: nothing over nothing is nothing."""
    (figure,) = (figure for figure in FIGURES if figure.id == "slow-start-losses")
    found = {name: lines(name) for name in figure.scenarios}
    for one in found["slow-start-10g"]:
        one["summary"]["dropped"] = one["observed"]["until"] = 0
    shown, _ = judged(figure, found)
    ratios = [name for name in shown.values if name.startswith("train over classic, ")]
    assert len(ratios) == 36
    assert shown.values["train over classic, 1 Gbit/s x 120 ms, 0.33 BDP"].ours == 0.01
    assert shown.values["train over classic, 10 Gbit/s x 300 ms, 4 BDP"].ours == 0
    assert shown.values["train over cubic, 50 Mbit/s x 20 ms, 0.1 BDP"].ours == 0.1
    assert figures._over(7, 0).ours == 7


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/results with every run of the page."""
    for name in {name for figure in FIGURES for name in figure.scenarios}:
        (tmp_path / f"{name}.json").write_text(json.dumps(lines(name)))
    monkeypatch.setattr(data, "RESULTS", tmp_path)


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]


@pytest.mark.usefixtures("results")
def test_the_tables() -> None:
    (first, *_), ten = (rows(tables.first_minute(f"slow-start-{rate}")) for rate in ("1g", "10g"))
    assert first[:3] == ["20 ms", "0.1", "1000 (20000)"]
    assert first[5:7] == ["10 (0)", "100 (90)"]
    assert first[-3:] == ["0.010", "0.10", "1.000"]
    assert len(ten) == 12 and len(ten[0]) == 2 + 3 + 3
    others = rows(tables.others())
    assert len(others) == 12
    assert others[0] == ["20 ms", "0.1", *["1000 (20000)", "10 (0)", "1.000"] * 3]
    completion = rows(tables.completion())
    assert len(completion) == 36
    assert completion[0] == ["50 Mbit/s", "20 ms", "0.1", *["1.90 (1.000)"] * 4]
    assert completion[-1] == ["10 Gbit/s", "300 ms", "4", *["1.90 (1.000)"] * 4]
    alarms = rows(tables.alarms("slow-start-alarm-1g"))
    assert [row[0] for row in alarms] == list(tables.CONDITIONS.values())
    assert alarms[1] == [
        "jitter of 1 ms",
        "900.0",
        "1.000",
        "1.000",
        "1000 (20000)",
        "700 (690)",
        "10 (0)",
    ]


def test_a_table_of_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell of which a run is missing is left out."""
    monkeypatch.setattr(data, "RESULTS", tmp_path)
    made: dict[str, Callable[[], str]] = {
        "slow-start-10g": partial(tables.first_minute, "slow-start-10g"),
        "slow-start-others": tables.others,
        "slow-start-alarm-1g": partial(tables.alarms, "slow-start-alarm-1g"),
    }
    for name, make in made.items():
        there = [one for one in lines(name) if one["seed"] == 1]
        (tmp_path / f"{name}.json").write_text(json.dumps(there))
        every = rows(make())
        (tmp_path / f"{name}.json").write_text(json.dumps(there[1:]))
        assert rows(make()) == every[1:]
    file = "slow-start-time-10g"
    monkeypatch.setattr(tables, "TIMES", (file,))
    there = lines(file)
    (tmp_path / f"{file}.json").write_text(json.dumps(there[1:]))
    found = [row[3:] for row in rows(tables.completion())]
    assert found.count(["1.90 (1.000)"] * 4) == 11
    assert found.count(["", *["1.90 (1.000)"] * 3]) == 1


def test_a_picture_that_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no link to nowhere."""
    monkeypatch.setattr(data, "DOCS", tmp_path)
    where = "figures/slow_start.md#slow-start-time"
    said = f"Not drawn yet: [slow-start-time]({where}) says what is missing."
    assert picture("slow-start-time") == said
    drawn = tmp_path / "img/report-slow-start-time.svg"
    drawn.parent.mkdir()
    drawn.touch()
    link = f"[![Files](img/report-slow-start-time.svg)]({where})"
    assert picture("slow-start-time") == link
