# SPDX-License-Identifier: GPL-2.0
"""The command `longfat evaluate`, and a job of its workflow: what they say and leave behind."""

from __future__ import annotations

import errno
import inspect
import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from test_arena import both_pages, goodputs, own, rows, small
from test_cli import Longfat, longfat
from test_runner import Fake, backend

from longfat.arena import __main__ as job
from longfat.arena import (
    cards,
    carry,
    cost,
    criteria,
    keep,
    league,
    metrics,
    observe,
    pages,
    plan,
    score,
    workflow,
)
from longfat.build import kernel, modules, tools
from longfat.core.errors import CANNOT_WRITE, LabError, Unwritable
from longfat.pages import data
from longfat.pages.data import older
from longfat.pages.tables import evaluation as page
from longfat.run import identity, result, scenario
from longfat.run.identity import Platform

__all__ = ["backend", "longfat", "own"]

PAGE = (modules.ROOT / "docs/evaluation.md").read_text()
LINES = PAGE.replace("\\\n", "").splitlines()
BEGIN = "    scripts/longfat "
COMMANDS = list(dict.fromkeys(x[len(BEGIN) :] for x in LINES if x.startswith(f"{BEGIN}evaluate ")))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page(longfat: Longfat, command: str) -> None:
    """Their words are right, down to the parameters of modules; it says what they cost."""
    words = [*shlex.split(command), "--dry"]
    # Whatever is evaluated, a criterion says whether the words are right, and a whole takes long.
    if "--only" not in words:
        words = [word for word in words if word != "--keep"] + ["--only", "7.7"]
    answer = longfat(*words)
    assert answer.status == 0, answer.err
    assert "processor time" in answer.out
    assert re.search(r"^\d+ runs, about .* memory of a run, at most \d+\.\d GB$", answer.err, re.M)


def test_a_wrong_parameter_is_said_beforehand(longfat: Longfat) -> None:
    words = ["evaluate", "cwhstcp:exponent=2", "--only", "7.7", "--dry"]
    answer = longfat(*words)
    assert answer.status == 1
    assert "cwhstcp has no parameter 'exponent'; valid: " in answer.err
    # What a module of one's own has is only known when it is built.
    assert longfat("evaluate", "mine:x=1", *words[2:], "--module", "tcp_mine.c").status == 0


@pytest.mark.parametrize("words", [["-j", "-1"], ["--timeout", "-1"]])
def test_a_number_that_is_none_of_runs_or_seconds(longfat: Longfat, words: list[str]) -> None:
    answer = longfat("evaluate", "reno", "--only", "7.7", *words, "--dry")
    assert answer.status == 2 and f"{words[0]}'" in answer.err


def test_what_is_in_bpf_goes_to_the_emulator(longfat: Longfat) -> None:
    """It says what that costs, and leaves out what the emulator has not."""
    words = ["evaluate", "mine", "--only", "7.7,7.3", "--dry"]
    module, emulated = (longfat(*words, x) for x in ("--module=tcp_mine.c", "--bpf=mine.bpf.o"))
    assert module.status == emulated.status == 0
    assert "7.3" in module.out and "7.3" not in emulated.out
    of = plan.evaluation(["vegas"], [], "smoke", only=["7.3", "7.7"], counted=True)
    assert {run.criterion for run in of.runs} == {"7.7"} and all(run.counted for run in of.runs)
    assert {(one.criterion, one.why) for one in of.skipped} == {
        ("7.3", "link.at, trace and delay need virtual time")
    }
    other = plan.evaluation(["vegas"], [], "full", only=["7.1", "7.1-dualpi2"], counted=True)
    assert other.runs and not any(run.scenario.kernel for run in other.runs)
    assert "the emulator has no debian:7.2" in {one.why for one in other.skipped}
    # It takes as much memory as it is booted with.
    assert {cost.memory(run) for run in of.runs} == {2048 + cost.BESIDE_MB}
    for more in ("--keep", "--workflow=slurm", "--kernel=debian:6.1"):
        answer = longfat("evaluate", "mine", "--bpf", "mine.bpf.o", more)
        assert answer.status == 1 and "--bpf goes neither with" in answer.err


def test_a_number_in_the_emulator_says_of_which_paths_it_is(tmp_path: Path) -> None:
    """The others are not in the scenario file either, so that the emulator runs it."""
    of = plan.evaluation(["vegas"], [], "full", only=["6.4", "7.6"], counted=True)
    assert {run.criterion for run in of.runs} == {"6.4", "7.6"}
    plan.write_scenarios(of, tmp_path)
    for run in of.runs:
        there = scenario.load(tmp_path / plan.SCENARIOS / run.file)
        assert run.scenario in there and not any(one.virtual_alone for one in there)
    scores = goodputs(
        of, tmp_path, {"vegas": (2e6,), "cubic": (2e6,), "reno": (2e6,), "bbr": (2e6,)}
    )
    cell = scores.cell(of.criteria[0], 0, of.contenders[0])
    assert cell.text.endswith(" (4 of 6 paths)")
    assert cell.reason == (
        "without a moving phone and 802.11n: link.at, trace and delay need virtual time"
    )


@pytest.fixture
def fake(backend: Fake, own: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """What runs everything, in the place of the lab's kernel."""
    monkeypatch.setattr("longfat.cli._backend", lambda _: backend)
    return backend


def test_interrupted_it_keeps_what_is_done(
    longfat: Longfat, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how to go on, the pages have what is there, and the same command does the rest."""
    real = result.write
    written: list[Path] = []

    def write(data: Any, path: Path) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(path)
        real(data, path)

    monkeypatch.setattr(result, "write", write)
    command = ["evaluate", "reno", "-o", tmp_path / "out", "-j", "1"]
    answer = longfat(*command)
    assert answer.status == 130
    assert "4 of 4 runs are left to do" in answer.err
    assert "what is done is kept; the same command goes on" in answer.err
    assert "not measured yet" in (tmp_path / "out/league.html").read_text()
    (kept,) = (tmp_path / "out/runs").iterdir()
    assert [kept] == written
    before, begun = kept.read_bytes(), len(fake.started)
    monkeypatch.setattr(result, "write", real)
    answer = longfat(*command)
    assert answer.status == 0 and "3 of 4 runs are left to do" in answer.err
    assert kept.read_bytes() == before and len(fake.started) == begun + 3
    # What there is to do is said by criterion, as with --dry.
    assert re.search(r"^ *1 +3 +\d+ s *$", answer.err, re.M)


def test_ended_by_an_error_it_leaves_no_older_pages(
    longfat: Longfat, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would show numbers of runs that are gone.  What is ours is taken away, and that alone;
    where no result is taken away, no page is."""
    both_pages(Path(criteria.WHERE))
    out = tmp_path / "out"
    command = ["evaluate", "reno", "-o", out, "-j", "1"]
    assert longfat(*command).status == 0
    made = {path for path in out.rglob("*") if path.is_file()}
    kept = {*(out / "runs").iterdir(), *(out / "scenarios").iterdir(), out / carry.TOOK}
    assert {path.suffix for path in made - kept} == {".html", ".md", ".csv", ".svg", ".json"}
    mine = {out / name for name in ("notes.csv", "img/logo.svg", "cards/notes.md")}
    for path in mine:
        path.write_text("mine")
    real = result.write

    def full(*_: object) -> None:
        raise Unwritable("no space is left")

    monkeypatch.setattr(result, "write", full)
    answer = longfat("evaluate", "vegas", "-o", out, "-j", "1")
    assert answer.status == 1 and "no space" in answer.err
    assert made <= {path for path in out.rglob("*") if path.is_file()}
    one = Path(criteria.WHERE) / "1.toml"
    one.write_text(one.read_text().replace('rtt = "20ms"', 'rtt = "30ms"'))
    criteria.load.cache_clear()
    assert longfat(*command).status == 1
    left = {path for path in out.rglob("*") if path.is_file()}
    assert left & (made - kept) == set() and mine <= left
    monkeypatch.setattr(result, "write", real)
    assert longfat(*command).status == 0
    assert made | mine <= {path for path in out.rglob("*") if path.is_file()}


def test_two_at_once_into_one_directory(longfat: Longfat, fake: Fake, tmp_path: Path) -> None:
    """The second is refused, and touches nothing; where the first has ended, it is not."""
    both_pages(Path(criteria.WHERE))
    with carry.alone(tmp_path / "out"):
        answer = longfat("evaluate", "reno", "-o", tmp_path / "out")
        assert answer.status == 1 and "another longfat writes there now" in answer.err
        assert not (tmp_path / "out").exists() and fake.started == []
    assert longfat("evaluate", "reno", "-o", tmp_path / "out").status == 0


def test_some_criteria_leave_the_whole_card(
    longfat: Longfat, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_pages(Path(criteria.WHERE))
    monkeypatch.chdir(tmp_path)
    assert longfat("evaluate", "reno").status == 0
    whole = (tmp_path / "evaluated/smoke/cards/reno.html").read_text()
    assert longfat("evaluate", "reno", "--only", "2").status == 0
    assert (tmp_path / "evaluated/smoke/cards/reno.html").read_text() == whole
    some = (tmp_path / "evaluated/smoke-2/cards/reno.html").read_text()
    assert 'id="1"' in whole and 'id="2"' in some and 'id="1"' not in some


def test_a_number_that_cannot_be_made_is_an_error(
    longfat: Longfat, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though all runs ended well; it says which, of which run, and the pages are there."""

    def of(name: str, *_: Any) -> float:
        raise KeyError(f"no series for {name}")

    monkeypatch.setattr(metrics, "of", of)
    answer = longfat("evaluate", "reno", "-o", tmp_path / "out")
    assert answer.status == 1 and "numbers that cannot be made of their runs:" in answer.err
    assert "1-reno-10p-s1: goodput: goodput: KeyError('no series for goodput')" in answer.err
    assert (tmp_path / "out/cards/reno.html").exists()


def test_another_kernel_leaves_the_results_of_the_labs(
    longfat: Longfat, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("longfat.cli._ready", lambda _, own, read, *__: (fake, read()))
    monkeypatch.setattr(carry, "carry_out", lambda *_, **__: [])
    for on in ("", "debian:6.1"):
        assert longfat("evaluate", "reno", "--kernel", on).status == 0
    both = {path.name for path in (tmp_path / "evaluated").iterdir()}
    assert both == {"smoke", "smoke-debian_6.1"}


class Absent(Fake):
    """A kernel that cannot be built, if it is another than the lab's own."""

    def __init__(self, what: kernel.Kernel, text: str) -> None:
        super().__init__()
        self.text = text

    def prepare(self, say: Any) -> None:
        if self.text:
            raise LabError("building the kernel failed:\nno compiler")

    def on(self, scenario: Any) -> Absent:
        return self


def test_a_criterion_whose_kernel_is_not_to_be_had(
    longfat: Longfat, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cells say so, the others have numbers, and the exit status is 1.  If it is the kernel
    that was asked for, nothing is run."""
    both_pages(own)
    second = own / "2.toml"
    second.write_text(second.read_text().replace("[scenario]", '[scenario]\nkernel = "debian:7.2"'))
    criteria.load.cache_clear()
    monkeypatch.setattr("longfat.run.kernels.Uml", Absent)
    answer = longfat("evaluate", "reno", "-o", tmp_path / "out")
    assert answer.status == 1
    assert "debian:7.2: building the kernel failed:\nno compiler" in answer.err
    card = (tmp_path / "out/cards/reno.md").read_text()
    assert "no run on debian:7.2: building the kernel failed" in card
    assert len([*(tmp_path / "out/runs").glob("1-*.json")]) == 4
    assert not [*(tmp_path / "out/runs").glob("2-*")]
    answer = longfat("evaluate", "reno", "--kernel", "debian:6.1", "-o", tmp_path / "other")
    assert answer.status == 1 and "building the kernel failed" in answer.err
    assert not (tmp_path / "other/cards").exists()


def test_what_failed_is_made_again_on_demand(longfat: Longfat, fake: Fake, tmp_path: Path) -> None:
    """Else it is said again, and no run is made."""
    fake.fail = {1}
    command = ["evaluate", "reno", "-o", tmp_path / "out"]
    for more, left in ([], 4), ([], 0), (["--retry"], 4):
        begun = len(fake.started)
        answer = longfat(*command, *more)
        assert answer.status == 1 and f"{left} of 4 runs are left to do" in answer.err
        assert "4 of 4 runs failed; --retry makes them again:" in answer.err
        assert len(fake.started) == begun + left
    fake.fail = set()
    assert longfat(*command, "--retry").status == 0


def test_a_missing_tool_is_named(
    longfat: Longfat, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is run, or written down as a failure."""
    monkeypatch.setattr(kernel, "build", lambda *_: tools.need("nosuch-tool"))
    answer = longfat("evaluate", "reno", "-o", tmp_path / "out")
    assert answer.status == 1 and "Traceback" not in answer.err
    assert "nosuch-tool" in answer.err and not (tmp_path / "out").exists()


# --- what is committed


@pytest.fixture
def committed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tree's docs/results, of the tree as it is."""
    path = tree / "docs/results"
    path.mkdir(parents=True)
    monkeypatch.setattr(identity, "PUBLISHED", path / "platform.json")
    identity.PUBLISHED.write_text(Platform.of_sources().text())
    monkeypatch.setattr(data, "RESULTS", path)
    monkeypatch.setattr(data, "READ", set())
    return path / "evaluation.json"


def test_the_pages_are_made_of_what_is_kept(
    longfat: Longfat, fake: Fake, committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_pages(Path(criteria.WHERE))
    monkeypatch.setattr(page, "DECIDING", (("1", 0, "how much, Mbit/s"),))
    with pytest.raises(FileNotFoundError):  # of which the page says that it is not measured yet
        page.league()
    words = ["vegas", "dctcp", "--against=cubic", "--keep", "-o", tmp_path / "out", "-j", "2"]
    answer = longfat("evaluate", *words)
    assert answer.status == 0, answer.err
    assert str(committed) in answer.out
    every = json.loads(committed.read_text())
    assert [one["criterion"] for one in every] == ["1", "2"]
    for found in every:
        assert found["kernels"] == ["6"] and found["modules"] == {} and found["version"]
        assert (found["profile"], found["algorithms"]) == ("smoke", ["vegas", "dctcp"])
    assert longfat("evaluate", *words).status == 0
    assert json.loads(committed.read_text()) == every
    about = (
        f"Linux 6, version {every[0]['version']}. By the profile smoke, {len(fake.started)} runs"
    )
    assert page.about() == f"{about}."
    lines = page.league().splitlines()
    vegas, dctcp = (f"[`{cc}`](results/evaluation/{cc}.md)" for cc in ("vegas", "dctcp"))
    assert lines[0] == f"| criterion | profile | number | {vegas} | {dctcp} | `cubic` |"
    made = cards.cards(committed)
    assert {path.name for path in made} == {"vegas.md", "dctcp.md", "league.html"}
    whole = made[committed.with_suffix("") / "league.html"]
    assert "1 (smoke)<br>goodput, Mbit/s" in whole and 'data-value="0.0008"' in whole
    assert {x for x in re.findall(r'href="([^"]*)"', whole) if "#1" in x} == {
        f"{cc}.md#1-one" for cc in ("vegas", "dctcp")
    }
    card = made[committed.with_suffix("") / "vegas.md"]
    assert "| 1 One | goodput, Mbit/s | 0.0008 |" in card and "](img/" not in card
    # What it links to is there, and the first command of a section makes what the second runs.
    sections = ("the-league", "how-to-read-a-card", "argued-not-measured")
    assert re.findall(r"\]\((.*?)\)", card) == [f"../../evaluation.md#{one}" for one in sections]
    first, again = re.findall(r"    (scripts/longfat .*)", card)[:2]
    assert first.endswith("--only 1 --profile smoke --against cubic -o again")
    assert again == "scripts/longfat run again/scenarios/1-vegas.toml -o again"
    where = "[1](../longfat/arena/criteria/1.toml)"
    assert lines[2] == f"| {where} One | smoke | goodput, Mbit/s | 0.0008 | - | 0.0008 |"
    assert page.counts().splitlines()[2:] == [
        *("| `vegas` | 0 | 2 | 0 | 0 | 0 | 0 | 0 |", "| `dctcp` | 0 | 0 | 0 | 0 | 0 | 0 | 2 |"),
    ]
    two = "[2](../longfat/arena/criteria/2.toml)"
    shallow, deep = page.pairs().split("\n\n" + two)
    drawn = "![2, 10p](results/evaluation/2-heat-0.svg)"
    assert f", 10p:\n\n{drawn}\n\n|  | `vegas` | `dctcp` | `cubic` |" in shallow
    assert ", 100p:\n\n![2, 100p](results/evaluation/2-heat-1.svg)\n\n|" in deep
    clouds = page.clouds()
    assert clouds.startswith(f"{where} One, 10p:\n\n![1, 10p](results/evaluation/1-clouds-0.svg)")
    for name in re.findall(r"results/(evaluation/\S+\.svg)", page.pairs() + clouds):
        assert (committed.parent / name).read_text().startswith("<?xml")
    assert shallow.endswith("\n\nA dash: dctcp is for links that mark.")
    assert page.worst() == "None of them is the worst of all in any number."
    assert page.deciding().splitlines()[2:] == [
        *("| `vegas` | 0.0008 |", "| `cubic` | 0.0008 |"),
        *("", "`dctcp` has none of them: dctcp is for links that mark."),
    ]
    assert older() == "All results of this page are current."
    paths = rows(committed.with_suffix("") / "paths.csv")
    alone = [x for x in paths if (x["criterion"], x["algorithm"]) == ("1", "vegas")]
    assert [(x["values"], x["scenario"]) for x in alone] == [
        ("0.0008", "scenarios/1-vegas.toml")
    ] * 2  # paths
    first = files_of(committed)
    league = committed.with_suffix("") / "league.csv"
    bad = league.read_text().replace("between,,,", "harmful,,yes,")
    league.write_text(bad)
    assert f"| `vegas` | {where} One | goodput, Mbit/s | 0.0008 ! |" in page.worst()
    # The same runs are the same bytes.
    scores = score.score(small("vegas", "dctcp"), tmp_path / "out")
    assert keep.write(scores) == committed
    assert files_of(committed) == first


def test_the_committed_cards_are_what_is_made() -> None:
    """`scripts/longfat python -m longfat.pages pages` renews them."""
    found = modules.ROOT / "docs/results/evaluation.json"
    made = cards.cards(found)
    assert made.keys() == {
        *found.with_suffix("").glob("*.md"),
        found.with_suffix("") / "league.html",
    }
    for path, text in made.items():
        assert path.read_text() == text, f"{path} is not what `longfat.pages pages` makes"


def test_harm_in_another_number_is_flagged() -> None:
    def number(mark: str) -> dict[str, cards.Row]:
        return {"vegas": {"text": "1", "mark": mark}}

    every = [number("better"), number("harmful"), number("")]
    shown = [page._flagged(every, place, "vegas") for place in range(3)]
    assert shown == ["1 + (!)", "1 !", "1 (!)"]
    assert page._flagged(every[::2], 0, "vegas") == "1 +"


def test_each_worst_of_ours_has_a_why() -> None:
    """And none has one where ours is not the worst, so that the table does not age."""
    ours = modules.owners()
    worst = {
        (cell["algorithm"], ident, cell["number"])
        for ident, numbers in page._numbers().items()
        for number in numbers
        for cell in number.values()
        if cell["worst"] and cell["algorithm"].partition(":")[0] in ours
    }
    said = tomllib.loads(page.WHY.read_text())["worst"]
    assert all(one["why"].strip() and one["shown"].strip() for one in said)
    reasons = [
        (cc, ident, number)
        for one in said
        for cc in one["who"]
        for ident, numbers in one["numbers"].items()
        for number in numbers
    ]
    assert sorted(reasons) == sorted(worst)


def files_of(committed: Path) -> dict[str, bytes]:
    """What is committed."""
    every = [committed, *committed.with_suffix("").iterdir()]
    return {path.name: path.read_bytes() for path in every}


def other_module(committed: Path, _: pytest.MonkeyPatch) -> None:
    source = committed.parents[2] / "tcp_foo.c"
    source.write_text(source.read_text().replace("foo_init", "foo_begin"))


def other_threshold(*_: object) -> None:
    _edit(criteria.WHERE / "1.toml", 'better = "more"', 'better = "more"\nsame = 3')


def other_path(*_: object) -> None:
    _edit(criteria.WHERE / "1.toml", 'duration = "', 'duration = "1')


def a_criterion_less(*_: object) -> None:
    (criteria.WHERE / "2.toml").unlink()
    criteria.load.cache_clear()


def other_marks(committed: Path, patch: pytest.MonkeyPatch) -> None:
    other = committed.with_name("marks.toml")
    other.write_text(criteria.MARKS.read_text())
    _edit(other, "part = 0.05", "part = 0.1")
    patch.setattr(criteria, "MARKS", other)


def more_seeds(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setitem(plan.SEEDS, "smoke", [1, 2])


def other_series(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(observe, "VERSION", observe.VERSION + 1)


def other_interval(_: Path, patch: pytest.MonkeyPatch) -> None:
    def interval(values: list[float]) -> tuple[float, float]:
        return values[0], 0.0

    interval.__qualname__ = result.interval.__qualname__
    others = tuple(interval if one is result.interval else one for one in keep.COMPUTED_BY)
    assert others != keep.COMPUTED_BY
    patch.setattr(keep, "COMPUTED_BY", others)


def _in_source(patch: pytest.MonkeyPatch, function: Any, old: str, new: str) -> None:
    """As if the source of a function were another."""
    got = inspect.getsource
    text = got(function)
    assert old in text
    patch.setattr(
        inspect, "getsource", lambda one: text.replace(old, new) if one is function else got(one)
    )


def other_heat(_: Path, patch: pytest.MonkeyPatch) -> None:
    _in_source(patch, league, 'flow["goodput_bps"]', 'flow["goodput_bps"] / 2')


def other_metric(_: Path, patch: pytest.MonkeyPatch) -> None:
    _in_source(patch, metrics, "return _mbit(seen.flows(who))", "return 0")


def what_a_metric_uses(_: Path, patch: pytest.MonkeyPatch) -> None:
    _in_source(patch, metrics, "for one in entries) / 1e6", "for one in entries) / 1e3")


def metric_of_others(_: Path, patch: pytest.MonkeyPatch) -> None:
    _in_source(patch, metrics, "if gap < 3)", "if gap < 2)")


def no_docstring(_: Path, patch: pytest.MonkeyPatch) -> None:
    text = inspect.getsource(result.interval)
    docstring = text[text.index('    """') : text.rindex('"""') + 4]
    _in_source(patch, result.interval, docstring, "")


def another_colour(_: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pages, "_shade", lambda _: "black")


def another_title(*_: object) -> None:
    _edit(criteria.WHERE / "1.toml", 'title = "One"', 'title = "Two"')


def other_of_the_last_path(committed: Path, _: pytest.MonkeyPatch) -> None:
    found = json.loads(committed.read_text())
    assert [len(one["known"]["first"]) for one in found] == [2, 2]  # paths
    found[-1]["known"]["first"][-1]["identity"]["plan"] = "another"
    committed.write_text(json.dumps(found))


def other_programs(committed: Path, _: pytest.MonkeyPatch) -> None:
    found = json.loads(committed.read_text())
    found[-1]["known"]["first"][-1]["identity"]["programs"] = "others"
    committed.write_text(json.dumps(found))


def only_a_comment(*_: object) -> None:
    _edit(criteria.WHERE / "1.toml", 'better = "more"', 'better = "more"  # as it should be')


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    criteria.load.cache_clear()


Change = Callable[[Path, pytest.MonkeyPatch], None]


@pytest.mark.parametrize(
    ("change", "is_older"),
    [
        *((other_module, True), (other_threshold, True), (other_path, True)),
        *((a_criterion_less, True), (other_marks, True), (more_seeds, True)),
        *((other_series, True), (other_interval, True)),
        *((other_heat, True), (other_programs, True), (other_of_the_last_path, True)),
        *((only_a_comment, False), (no_docstring, False), (another_colour, False)),
        *((other_metric, True), (what_a_metric_uses, True), (metric_of_others, False)),
        (another_title, False),
    ],
)
def test_when_what_is_kept_is_older(
    longfat: Longfat,
    fake: Fake,
    committed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
    is_older: bool,
) -> None:
    """Where a module, a criterion, or what the numbers are computed with is another."""
    both_pages(Path(criteria.WHERE))
    answer = longfat("evaluate", "foo", "--keep", "-o", tmp_path / "out", "-j", "2")
    assert answer.status == 0, answer.err
    page.about()
    assert older() == "All results of this page are current."
    change(committed, monkeypatch)
    assert older().startswith("Of older versions") is is_older


def test_what_of_an_evaluation_is_older(
    longfat: Longfat, fake: Fake, committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module that changed makes its numbers older, a threshold those of all algorithms."""
    both_pages(Path(criteria.WHERE))
    assert longfat("evaluate", "foo", "--keep", "-o", tmp_path / "out", "-j", "2").status == 0
    page.about()
    other_module(committed, monkeypatch)
    name = "[evaluation](results/evaluation.json)"
    assert f"in part: {name} (`foo` in 2 of 2 criteria)" in older()
    other_threshold()
    assert f"in part: {name} (`foo` in 1 of 2 criteria; all algorithms in 1)" in older()


def test_what_a_metric_is_made_with_is_a_part_of_it() -> None:
    """goodput_part is made with goodput."""
    (one,) = (one for one in criteria.load() if one.id == "5.2")
    number = [next(number for number in one.number if number.metric == "goodput_part")]
    unused = keep._unused([one.model_copy(update={"number": number})])
    assert unused == metrics.METRICS.keys() - {"goodput", "goodput_part"}


def test_a_module_that_is_not_in_it_makes_it_no_older(
    longfat: Longfat,
    fake: Fake,
    committed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert longfat("evaluate", "vegas", "--keep", "-o", tmp_path / "out").status == 0
    assert [one["modules"] for one in json.loads(committed.read_text())] == [{}]
    page.about()
    other_module(committed, monkeypatch)
    assert older() == "All results of this page are current."


def test_what_is_kept_is_whole(
    longfat: Longfat, fake: Fake, committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Less does not take the place of more, and what is no list of parts is not written over."""
    command = ["evaluate", "reno", "--keep", "-o", tmp_path / "out"]
    assert longfat(*command).status == 0
    (found,) = json.loads(committed.read_text())
    begun = len(fake.started)
    for more, says in (
        ({"profile": "full"}, "has 1 by the profile full, not smoke: evaluate it so, or name"),
        ({"algorithms": ["reno", "vegas"]}, "has 1 with vegas, too: evaluate it so, or name"),
    ):
        committed.write_text(json.dumps([found | more]))
        answer = longfat(*command, "--retry")
        assert answer.status == 1 and says in answer.err
    for bad in ("<<<<<<< ours", "{}", '[{"criterion": "1"}]', '["1"]', "7"):
        committed.write_text(bad)
        answer = longfat(*command, "--retry")
        assert answer.status == 1 and "evaluation.json is no " in answer.err, bad
    assert len(fake.started) == begun


@pytest.mark.parametrize("place", ["heat.csv", "evaluation.new", "evaluation", "evaluation.json"])
def test_where_keeping_ends_early_what_was_there_stays(
    longfat: Longfat,
    fake: Fake,
    committed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    """A file is written, the old tables move, the new ones, and the list of parts."""
    command = ["evaluate", "reno", "--keep", "-o", tmp_path / "out"]
    assert longfat(*command).status == 0
    before = files_of(committed)
    _edit(criteria.WHERE / "1.toml", 'better = "more"', 'better = "less"')
    real = result.write_whole, Path.rename, Path.replace

    def ends(done: Callable[..., Any], at: str) -> Callable[..., Any]:
        def instead(*words: Any) -> Any:
            names = {(word.name, word.parent.name) for word in words if isinstance(word, Path)}
            if (at, committed.parent.name) in names or (at, "evaluation.new") in names:
                raise Unwritable("no space is left")
            return done(*words)

        return instead

    if place == "heat.csv":
        monkeypatch.setattr(result, "write_whole", ends(real[0], place))
    elif place == "evaluation.json":
        monkeypatch.setattr(Path, "replace", ends(real[2], place))
    else:
        monkeypatch.setattr(Path, "rename", ends(real[1], place))
    assert "no space is left" in longfat(*command).err
    monkeypatch.undo()
    assert files_of(committed) == before
    assert {path.name for path in committed.parent.iterdir()} == {
        *("evaluation", "evaluation.json", "platform.json")
    }


def test_criteria_are_kept_one_by_one(
    longfat: Longfat, fake: Fake, committed: Path, tmp_path: Path
) -> None:
    """One takes its own place, whatever the profile of the others, and the pages have both."""
    both_pages(Path(criteria.WHERE))
    words = ["vegas", "reno", "--keep", "--against=cubic", "-j", "2"]
    assert longfat("evaluate", *words, "-o", tmp_path / "all").status == 0
    tables = committed.with_suffix("")
    before = {name: rows(tables / f"{name}.csv") for name in ("league", "paths", "heat", "cloud")}
    pictures = {path.name: path.read_bytes() for path in tables.glob("*.svg")}
    full = ["--only=1", "--profile=full"]
    assert longfat("evaluate", *words, "bbr", *full, "-o", tmp_path / "1").status == 0
    one, two = json.loads(committed.read_text())
    assert (one["profile"], two["profile"]) == ("full", "smoke")
    for name, old in before.items():
        now = rows(tables / f"{name}.csv")
        of = [row["criterion"] for row in now]
        assert of == sorted(of)
        kept, of_two = ([x for x in those if x["criterion"] == "2"] for those in (now, old))
        assert kept == of_two
    assert {path.name for path in tables.glob("*.svg")} == {*pictures}
    assert (tables / "2-heat-0.svg").read_bytes() == pictures["2-heat-0.svg"]
    seeds = {row["seeds"] for row in rows(tables / "paths.csv") if row["criterion"] == "1"}
    assert seeds == {"1 2 3"}
    about = page.about()
    links = (f"[{x}](../longfat/arena/criteria/{x}.toml)." for x in (1, 2))
    for profile, runs, link in zip(("full", "smoke"), (24, 18), links, strict=True):
        assert f"By the profile {profile}, {runs} runs: {link}" in about
    made = cards.cards(committed)
    first, second = made[tables / "vegas.md"].split("\n## ")[1:]
    assert " Profile full, Linux 6." in first and " ± 0" in first and "--profile full" in first
    assert " Profile smoke, Linux 6." in second and "±" not in second
    # One of them is in the first alone.
    assert "\n## 2" not in made[tables / "bbr.md"]
    (row,) = re.findall(r'<tr><td><a href="bbr.md">.*', made[tables / "league.html"])
    assert row.endswith('<td data-value=""></td></tr>')
    assert page.league().splitlines()[3].endswith(" | 0.0004 | 0.0004 | - | 0.0004 |")
    (criteria.WHERE / "3.toml").write_text((criteria.WHERE / "1.toml").read_text())
    criteria.load.cache_clear()
    assert page.about().endswith(" Not measured yet: 3.")
    # What there is no criterion of any more is on no page, and goes with the next that is kept.
    for name in ("2.toml", "3.toml"):
        (criteria.WHERE / name).unlink()
    criteria.load.cache_clear()
    assert len(page.league().splitlines()) == 3 and not page.pairs()
    assert longfat("evaluate", *words, "bbr", *full, "-o", tmp_path / "1").status == 0
    assert {row["criterion"] for row in rows(tables / "league.csv")} == {"1"}
    assert not [*tables.glob("2-*")]


DERIVED = """
of = "a document"
section = "3"
level = "MUST"
title = "Three"
asks = "What?"
runs_of = ["1"]

[[number]]
name = "goodput"
metric = "goodput"
better = "more"

[[picture]]
draw = "bars"
"""


def test_what_is_made_of_others_runs_is_kept_by_itself(
    longfat: Longfat, fake: Fake, committed: Path, tmp_path: Path
) -> None:
    """Whatever the profile of the others, which stay as they are."""
    (criteria.WHERE / "3.toml").write_text(DERIVED)
    criteria.load.cache_clear()
    words = ["vegas", "--keep", "--against=cubic", "-o", tmp_path / "out"]
    assert longfat("evaluate", *words, "--only=1", "--profile=full").status == 0
    assert longfat("evaluate", *words, "--only=3").status == 0
    one, three = json.loads(committed.read_text())
    assert (one["profile"], one["only"]) == ("full", ["1"])
    assert (three["profile"], three["only"]) == ("smoke", ["1", "3"])
    about = page.about()
    assert "By the profile smoke, 4 runs: [3]" in about and "full, 12 runs: [1]" in about


def test_what_a_profile_leaves_out_is_not_measured(
    longfat: Longfat, fake: Fake, committed: Path, tmp_path: Path
) -> None:
    text = (criteria.WHERE / "1.toml").read_text()
    (criteria.WHERE / "2.toml").write_text(f'{text}\n[smoke]\nskip = "too long"\n')
    criteria.load.cache_clear()
    assert longfat("evaluate", "vegas", "--keep", "-o", tmp_path / "out").status == 0
    assert page.about().endswith(" Not measured yet: 2.")
    assert "| [2](../longfat/arena/criteria/2.toml) One |  | goodput" in page.league()
    assert "\n| 2 One | goodput, Mbit/s | - | - | - | too long |\n" in next(
        text for path, text in cards.cards(committed).items() if path.name == "vegas.md"
    )


def test_a_card_of_what_is_kept_says_what_is_left_out(
    longfat: Longfat, fake: Fake, committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that failed, each with its reason, and one without a number."""
    monkeypatch.setitem(plan.SEEDS, "smoke", [1, 2, 3, 4])
    assert longfat("evaluate", "vegas", "reno", "-o", tmp_path).status == 0
    of = small("vegas", "reno")
    first, second, third, _ = [run for run in of.runs if run.cc.text == "vegas"][:4]
    for run, words in ((first, "Kernel panic\nand more"), (second, "it hangs")):
        carry.file_of(run, tmp_path).unlink()
        result.write_whole(f"{words}\n", carry.error_of(run, tmp_path))
    monkeypatch.setitem(
        metrics.METRICS, "goodput", lambda seen, *_: None if seen.run["seed"] == 3 else 1.0
    )
    monkeypatch.setattr(metrics, "nothing", lambda _: "nothing arrived")
    keep.write(score.score(of, tmp_path))
    tables = committed.with_suffix("")
    row = next(x for x in rows(tables / "paths.csv") if "failed" in x["values"])
    assert row["values"] == "failed failed - 1"
    assert row["why"].split("\n") == ["Kernel panic", "it hangs", "nothing arrived", ""]
    card = cards.cards(committed)[tables / "vegas.md"]
    said = [
        f"Failed: {first.path}, seed 1: Kernel panic",
        f"Failed: {first.path}, seed 2: it hangs",
    ]
    said.append(f"Left out: {third.path}, seed 3: nothing arrived.")
    lines = card.splitlines()
    assert [
        line for line in lines if line.startswith(("Failed", f"Left out: {third.path}"))
    ] == said


def test_what_is_not_kept(longfat: Longfat, fake: Fake, committed: Path, tmp_path: Path) -> None:
    answer = longfat("evaluate", "reno", "--keep", "--profile", "tiny")
    assert answer.status == 1 and "no such profile; valid: smoke" in answer.err
    answer = longfat("evaluate", "mine", "--keep", "--module", "tcp_mine.c")
    assert answer.status == 1 and "--keep takes what the tree has" in answer.err
    of = small()
    with pytest.raises(LabError, match="--keep: 4 of 4 runs of 1 are not made"):
        keep.write(score.score(of, tmp_path))
    with pytest.raises(LabError, match="--keep: 4 of 4 runs of all criteria are not made"):
        keep.kept(score.score(of, tmp_path))
    assert not committed.exists() and not committed.with_suffix(".new").exists()
    identity.PUBLISHED.unlink()
    shutil.rmtree(committed.parent)
    answer = longfat("evaluate", "reno", "--keep")
    assert answer.status == 1 and "--keep needs the source tree" in answer.err
    assert not fake.started


def test_what_decides_is_there() -> None:
    """A number each, in every profile that is kept, of all but those for links that mark."""
    known = {one.id: one for one in criteria.load()}
    for ident, place, text in page.DECIDING:
        number = known[ident].number[place]
        assert number.better, ident
        assert not number.unit or text.endswith(f", {number.unit}"), text
        for profile in ("standard", "full"):
            of = plan.evaluation(["vegas"], [], profile, only=[ident])
            runs = of.of(known[ident], of.contenders[0])
            assert any(fnmatchcase(x.path, y) for x in runs for y in number.paths), (ident, profile)


# --- a job


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (Unwritable("x: cannot be written"), CANNOT_WRITE),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), CANNOT_WRITE),
        (LabError("it failed"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_the_exit_status_of_a_job(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    status: int,
) -> None:
    """A full disk is no failure of the algorithm."""

    def run(*_: object) -> None:
        raise raised

    monkeypatch.setattr(workflow, "run", run)
    assert job.main(["run", "--out", "x", "y"]) == status
    assert str(raised).partition("\n")[0] in capsys.readouterr().err


def test_a_job_on_a_full_disk_leaves_no_failure(
    own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, out = small(), tmp_path / "out"
    monkeypatch.setattr(workflow, "carried_out", lambda _: 0)
    workflow.submit(of, of.runs, out, [], workflow.find("full"), 1)
    monkeypatch.setattr(workflow, "Uml", lambda: backend)

    def full(*_: object) -> None:
        raise Unwritable("no space is left")

    monkeypatch.setattr(result, "write", full)
    assert job.main(["run", "--out", str(out), of.runs[0].name]) == CANNOT_WRITE
    assert not carry.error_of(of.runs[0], out).exists()


def test_a_workflow_that_ended_early_is_no_success(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though a run of it failed by itself, which is said elsewhere."""
    of, out = small(), tmp_path / "out"

    def ended(_: list[str]) -> int:
        path = carry.error_of(of.runs[0], out)
        path.parent.mkdir(parents=True)
        path.write_text("it crashed\n")
        return 1

    monkeypatch.setattr(workflow, "carried_out", ended)
    with pytest.raises(LabError, match="ended early, 1 of 4 runs are done and kept"):
        workflow.submit(of, of.runs, out, [], workflow.find("full"), 1)
