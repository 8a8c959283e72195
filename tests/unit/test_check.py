# SPDX-License-Identifier: GPL-2.0
"""`longfat check`: which suites run when, on which cores, and what is said of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat.build import modules
from longfat.check import running, suites, times
from longfat.check.suites import Suite
from longfat.core.errors import LabError
from longfat.pages.tables import testing as page

ROOT = Path(__file__).resolve().parents[2]
PASS = "echo 1..1; echo ok 1 a"


def suite(command: str = PASS, **keys: object) -> Suite:
    return Suite.model_validate({"about": "about it", "command": command} | keys)


Table = Callable[[str], Path]


@pytest.fixture
def table(tree: Path) -> Table:
    """Write tests/suites.toml of a tree."""

    def write(text: str) -> Path:
        path = tree / "tests/suites.toml"
        path.write_text(text)
        return path

    return write


THREE = """
[long]
about = "a"
command = "true"
[short]
about = "b"
command = "true"
lanes = ["fast", "two"]
[other]
about = "c"
command = "true"
lanes = ["two"]
"""


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        ([], ["long", "short", "other"]),
        (["other", "long"], ["long", "other"]),
        (["fast"], ["short"]),
        (["two"], ["short", "other"]),
        (["fast", "long", "short"], ["long", "short"]),
    ],
)
def test_choose(table: Table, names: list[str], wanted: list[str]) -> None:
    """Of suites and lanes, each once, in the order of the file."""
    table(THREE)
    assert list(suites.choose(names)) == wanted


def test_an_unknown_name(table: Table) -> None:
    table(THREE)
    message = "no suite fsat, nosuch; valid: long, short, other; several at once: fast, two"
    with pytest.raises(LabError, match=f"^{message}$"):
        suites.choose(["nosuch", "short", "fsat"])


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nabout = 'x'\n",
        "[a]\nabout = 'x'\ncommand = 'x'\nalnoe = true\n",
        "[a]\nabout = 'x'\ncommand = 'x'\ncores = 0\n",
        "[a\n",
    ],
)
def test_a_wrong_table(table: Table, text: str) -> None:
    path = table(text)
    with pytest.raises(LabError, match=re.escape(str(path))):
        suites.load()


def test_lanes_of_the_tree() -> None:
    """What `make check SUITE=` is told of; no lane is called as a suite is."""
    found = suites.load()
    assert suites.lanes(found) == ["fast", "stock"]
    assert not set(found) & set(suites.lanes(found))
    assert set(suites.choose(["fast"])) == {"lint", "unit", "kunit", "userspace"}
    assert [name for name, one in found.items() if one.alone] == ["backends"]


# --- which cores


def begun(cores: int, chosen: dict[str, Suite]) -> list[tuple[str, int]]:
    """Those that begin at once, with how many cores each."""
    there = running.Cores(set(range(cores)))
    waiting = dict(chosen)
    found: list[tuple[str, int]] = []
    taken: set[int] = set()
    while beginning := there.begin(waiting, idle=not found):
        name, own = beginning
        assert own and not own & taken, "a core of its own"
        taken |= own
        del waiting[name]
        found.append((name, len(own)))
    return found


@pytest.mark.parametrize(
    ("cores", "wanted"),
    [
        (1, [("a", 1)]),
        (2, [("a", 1), ("b", 1)]),
        (4, [("a", 1), ("b", 1), ("one", 1), ("c", 1)]),
        (8, [("a", 2), ("b", 2), ("one", 1), ("c", 3)]),
        (20, [("a", 5), ("b", 5), ("one", 1), ("c", 9)]),
    ],
)
def test_cores_are_used_and_none_is_twice(cores: int, wanted: list[tuple[str, int]]) -> None:
    chosen = {"a": suite(), "b": suite(), "one": suite(cores=1), "c": suite()}
    assert begun(cores, chosen) == wanted


def test_alone_is_last_and_has_all_cores() -> None:
    chosen = {"alone": suite(alone=True), "a": suite(cores=1), "b": suite(alone=True)}
    assert begun(4, chosen) == [("a", 1)]
    del chosen["a"]
    assert begun(4, chosen) == [("alone", 4)]


def test_what_is_free_at_the_end_goes_to_who_has_a_use_for_it() -> None:
    there = running.Cores({0, 1, 2, 3, 4})
    jobs = [
        running.Job(f"{one.cores}", one, there.take(1), Path(), 0)
        for one in (suite(cores=1), suite(cores=2), suite())
    ]
    there.share_rest(jobs)
    assert [len(job.cores) for job in jobs] == [1, 2, 2]
    assert not there.free and len(set.union(*(job.cores for job in jobs))) == 5
    there = running.Cores({0, 1, 2})
    there.share_rest([running.Job("", suite(cores=1), there.take(1), Path(), 0)])
    assert len(there.free) == 2, "nobody has a use for them"


@pytest.fixture
def two_cores() -> Iterator[set[int]]:
    """Two of the machine's, which the suite of these tests need not have."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    cores = set(sorted(os.sched_getaffinity(0))[:2])
    if len(cores) < 2:
        pytest.skip("this machine has one core")
    os.sched_setaffinity(0, cores)
    yield cores
    os.sched_setaffinity(0, before)


# Says on which cores it is.
WHERE = (
    """python3 -c 'import os; print("# on", *sorted(os.sched_getaffinity(0)), flush=True)'
"""
    + PASS
)


def test_each_is_on_its_cores(private_cache: Path, two_cores: set[int]) -> None:
    """What a suite starts is on them as well; one that is left has all in the end."""
    cores = two_cores
    stay = f"{WHERE}; until [ -e {private_cache}/gone ]; do sleep 0.1; done; sleep 1; {WHERE}"
    chosen = {
        "stays": suite(stay),
        "goes": suite(f"{WHERE}; sleep 0.5; touch {private_cache}/gone", cores=1),
        "alone": suite(WHERE, alone=True),
    }
    outcomes = running.run(chosen, cores=cores, say=lambda _: None)
    on = {name: re.findall("# on (.*)", one.said) for name, one in outcomes.items()}
    both = " ".join(map(str, sorted(cores)))
    first, last = on["stays"]
    assert last == both and on["alone"] == [both]
    assert sorted([first, *on["goes"]]) == sorted(map(str, cores))
    assert os.sched_getaffinity(0) == cores


# --- what runs when, and what is said


def lines(chosen: dict[str, Suite], **keys: float) -> list[str]:
    """What is said of a run."""
    said: list[str] = []
    running.run(chosen, say=said.append, **keys)  # type: ignore[arg-type]
    return said


def said_of(lines: list[str]) -> list[str]:
    """Without the time in front of them, and how long it took."""
    return [re.sub(r"^\[ *\d+:\d\d\] |, after \d+:\d\d$", "", line) for line in lines]


def test_begin_and_end_are_said() -> None:
    command = "echo 1..2; echo ok 1 a; echo 'ok 2 b # SKIP c'"
    (first, *rest) = said_of(lines({"one": suite(command)}))
    assert re.match(r"1 suite on \d+ cores?; their output goes to /.*/check$", first)
    assert rest == [
        "one began: about it",
        "one ended: 1 passed, 0 failed, 1 skipped",
        "        skipped: b: c",
    ]


def test_alone_runs_alone() -> None:
    chosen = {"alone": suite(alone=True)} | {f"s{i}": suite(f"sleep 0.2; {PASS}") for i in range(5)}
    said = said_of(lines(chosen))
    assert said[-2:] == [
        "alone began: about it",
        "alone ended: 1 passed, 0 failed, 0 skipped",
    ]
    assert sum(" ended: " in line for line in said[:-2]) == 5


def test_what_failed_is_shown_without_what_passed() -> None:
    command = "echo 1..3; echo ok 1 good; echo '# why'; echo not ok 2 bad; echo ok 3 x; exit 1"
    said = said_of(lines({"one": suite(command)}))
    assert said[2:6] == [
        "one ended: 2 passed, 1 failed, 0 skipped",
        "        FAILED: bad",
        "        | 1..3",
        "        | # why",
    ]
    assert said[6] == "        | not ok 2 bad"
    assert re.match(r" +\(whole output: /.*/one.log\)$", said[7]) and len(said) == 8


def test_too_long() -> None:
    said = said_of(lines({"one": suite("echo 1..2; echo ok 1 a; sleep 100", timeout=0.5)}))
    assert said[2] == "one ended: 1 passed, 2 failed, 0 skipped"
    assert "        FAILED: no end after 0.5 s (timeout, in tests/suites.toml)" in said


def test_progress_of_a_long_suite() -> None:
    """How many results so far, and what failed at once."""
    command = "echo 1..9; echo ok 1 a; echo ok 2 a; echo not ok 3 b; sleep 1.2; exit 1"
    said = [line for line in said_of(lines({"x": suite(command)}, every=0.5)) if "running" in line]
    assert len(said) == 2
    assert re.fullmatch(r"running: x \(2 passed, 1 FAILED in 0:0\d\)", said[0])


def test_progress_says_how_many_wait() -> None:
    chosen = {f"s{i}": suite("sleep 0.7") for i in range(3)}
    said: list[str] = []
    running.run(chosen, cores={min(os.sched_getaffinity(0))}, every=0.5, say=said.append)
    (first, *_) = (line for line in said if "running" in line)
    assert first.endswith("running: s0 (0 passed in 0:00); 2 more to begin")


PRINTS = """
import sys
from pathlib import Path
from longfat.check import running
from longfat.check.suites import Suite
command = sys.argv[1]
running.run({"one": Suite(about="about it", command=command)}, every=0.3)
"""


def test_it_is_printed_at_once_where_there_is_no_terminal(tmp_path: Path) -> None:
    """Into a pipe, while the suite runs: it ends only when the lines have been read."""
    go = tmp_path / "go"
    command = f"until [ -e {go} ]; do sleep 0.05; done; {PASS}"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", PRINTS, command], stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        assert program.stdout
        read = [program.stdout.readline() for _ in range(3)]
        go.touch()
        read += program.stdout.readlines()
    assert re.match(r"\[ 0:00\] 1 suite on ", read[0])
    assert re.match(r"\[ 0:00\] one began: about it\n", read[1])
    assert re.match(r"\[ 0:\d\d\] running: one \(0 passed in 0:0", read[2])
    assert "] one ended: 1 passed, 0 failed, 0 skipped, after 0:0" in read[-1]


def test_an_interrupted_check_ends_its_suites(tmp_path: Path) -> None:
    def interrupt(text: str) -> None:
        if "running" in text:
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        running.run({"one": suite("sleep 1000")}, every=0.3, say=interrupt)
    assert time.monotonic() - began < 30


def test_two_checks_at_once_do_not_write_into_the_same_files(private_cache: Path) -> None:
    inner: list[str] = []

    def say(text: str) -> None:
        if "began" in text and not inner:
            inner.append(text)
            inner.extend(lines({"one": suite("echo 1..1; echo not ok 1 b")}))

    outcomes = running.run({"one": suite()}, say=say)
    assert outcomes["one"].result.passed == 1 and not outcomes["one"].result.failed
    assert outcomes["one"].log == private_cache / "check/one.log"
    assert inner[-1].endswith(f"{private_cache}/check-2/one.log)")


# --- how long it took


def test_times_are_written_beside_those_of_other_suites(
    table: Table, tmp_path: Path, private_cache: Path
) -> None:
    table(THREE)
    path = tmp_path / "sub/times.json"
    busy = "python3 -c 'import time\nwhile time.process_time() < 0.6: pass'; "
    (private_cache / "kernel-1").mkdir(parents=True)
    clock = times.Clock()
    outcomes = running.run({"long": suite(busy + PASS), "other": suite()}, say=lambda _: None)
    times.write(path, ["long", "other"], outcomes, clock)
    found = json.loads(path.read_text())
    assert found["runs"] == {}
    assert found["suites"]["long"]["cpu_s"] >= 1, "0.6, rounded"
    assert found["suites"]["long"]["passed"] == 1
    times.write(path, ["fast"], {"short": outcomes["other"]}, clock)
    found = times.read(path)
    assert list(found["suites"]) == ["long", "short", "other"]
    cores = len(os.sched_getaffinity(0))
    assert found["runs"]["fast"]["cores"] == cores
    assert found["runs"]["fast"]["empty_cache"] is False
    table(THREE.replace("[other]", "[new]"))
    times.write(path, [], {}, clock)
    assert list(times.read(path)["suites"]) == ["long", "short"], "no suite that is no more"
    assert set(times.read(path)["runs"]) == {"fast", "all"}


def test_times_of_nothing(tmp_path: Path) -> None:
    assert times.read(tmp_path / "none.json") == {"runs": {}, "suites": {}}
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(LabError, match=r"bad\.json is none of"):
        times.read(tmp_path / "bad.json")


def test_the_source_tree_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "ROOT", tmp_path)
    with pytest.raises(LabError, match="tests"):
        suites.load()


# --- docs/testing.md


def test_the_table_of_the_page(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row for each suite of the file, measured or not."""
    table(THREE + "[last]\nabout = 'd'\ncommand = 'x'\nalone = true\ncores = 1\n")
    monkeypatch.setattr(page, "FILE", tmp_path / "times.json")
    path = page.FILE
    suite = {"passed": 3, "skipped": 1, "wall_s": 61, "cpu_s": 125}
    run = {"wall_s": 3601, "cores": 2, "empty_cache": True}
    path.write_text(json.dumps({"suites": {"short": suite}, "runs": {"all": run}}))
    assert page.table().splitlines()[2:] == [
        "| `long` | a |  | any | not measured | not measured | not measured |",
        "| `short` | b | fast, two | any | 4 | 1:01 | 2:05 |",
        "| `other` | c | two | any | not measured | not measured | not measured |",
        "| `last` | d |  | alone | not measured | not measured | not measured |",
    ]
    assert page.whole().splitlines()[2:] == [
        "| `make check` | 60:01 | 2 cores, with an empty cache |",
        "| `make check SUITE=fast` | not measured |  |",
        "| `make check SUITE=two` | not measured |  |",
    ]


def test_the_lanes_are_as_fast_as_they_should_be() -> None:
    """As they were measured last, on two cores: what one waits for, and the whole."""
    runs = times.read(page.FILE)["runs"]
    assert runs["fast"]["wall_s"] <= 5 * 60
    if times.ALL in runs:
        assert runs[times.ALL]["empty_cache"] and runs[times.ALL]["wall_s"] <= 45 * 60
