# SPDX-License-Identifier: GPL-2.0
"""`longfat compare`: the scenario that it is, its table and its page."""

from __future__ import annotations

import concurrent.futures
from pathlib import Path
from typing import Any

import pytest
from conftest import Toml
from test_cli import Longfat, longfat
from test_report import Resources, run, text_of
from test_runner import Fake, backend

from longfat.core.errors import LabError
from longfat.run import comparison, scenario
from longfat.run.backends import BACKENDS, Uml
from longfat.run.comparison import Comparison
from longfat.show import compared

__all__ = ["backend", "longfat"]

ONE: dict[str, Any] = {
    **{"algorithms": ["reno"], "rate": ["100mbit"], "rtt": ["40ms"]},
    **{"buffer": ["1bdp"], "loss": ["0"], "flows": ["1"]},
}


def test_one_path(tmp_path: Path) -> None:
    (one,) = comparison.scenarios(Comparison(**ONE), "x")
    assert (one.name, one.title, one.duration, one.warmup) == ("x-reno", "reno", 60, 20)
    assert (one.link.rate, one.link.buffer, one.link.loss) == (10**8, (1.0, "bdp"), 0)
    assert [(flow.cc, flow.rtt, flow.count) for flow in one.flow] == [("reno", 0.04, 1)]


def test_every_combination(tmp_path: Path) -> None:
    """The file that is written is what is run; paths come first, algorithms last."""
    wanted = Comparison(
        ["reno", "cubic"],
        rate=["10mbit", "1gbit"],
        rtt=["10ms", "0.5ms"],
        buffer=["1bdp", "90p"],
        loss=["0", "1e-5", "0.01%"],
        flows=["1", "4"],
        beside="bbr",
        duration="9s",
        warmup="1s",
        seeds=(3, 4),
    )
    found = comparison.scenarios(wanted, "x")
    assert len(found) == len({one.name for one in found}) == 2**5 * 3
    paths = {
        (x.link.rate, x.flow[0].rtt, x.link.buffer, x.link.loss, x.flow[0].count) for x in found
    }
    assert len(paths) == 2**4 * 3
    assert {loss for _, _, _, loss, _ in paths} == {0, 1e-5, 1e-4}
    assert all(one.flow[1].cc == "bbr" and one.flow[1].rtt == one.flow[0].rtt for one in found)
    assert all(one.seeds == [3, 4] and one.duration == 9 and one.warmup == 1 for one in found)
    assert [one.flow[0].cc for one in found[:2]] == ["reno", "cubic"]
    comparison.write(wanted, tmp_path / "sub/x.toml")
    assert scenario.load(tmp_path / "sub/x.toml") == found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rate": ["1gbti"]}, "--rate: '1gbti' is not a rate"),
        ({"rtt": ["40"]}, "--rtt: '40' is not a time"),
        ({"rtt": ["40ms", "x"], "beside": "reno"}, "--rtt: 'x' is not a time"),
        ({"buffer": ["1"]}, "--buffer: '1' is not a buffer"),
        ({"loss": ["0", "x"]}, "--loss: 'x' is not a probability"),
        ({"loss": ["2"]}, "--loss: 2.0 is not a probability"),
        ({"flows": ["0"]}, "--flows: Input should be greater than or equal to 1"),
        ({"flows": ["many"]}, "--flows: Input should be a valid integer"),
        ({"algorithms": ["reno", "cubic", "reno"]}, "ALGORITHM: reno is given twice"),
        ({"rate": ["1gbit", "1gbit"]}, "--rate: 1gbit is given twice"),
        ({"rate": ["1gbit", "1000mbit"]}, "--rate: 1gbit and 1000mbit are the same"),
        ({"rtt": ["1s", "1000ms"], "beside": "reno"}, "--rtt: 1s and 1000ms are the same"),
        ({"buffer": ["1bdp", "1.0bdp"]}, "--buffer: 1bdp and 1.0bdp are the same"),
        ({"loss": ["0", "0.0"]}, "--loss: 0 and 0.0 are the same"),
        ({"loss": ["0", "0"]}, "--loss: 0 is given twice"),
        ({"loss": ["1e-5", "0.001%"]}, "--loss: 1e-5 and 0.001% are the same"),
        ({"flows": ["1", "01"]}, "--flows: 1 and 01 are the same"),
        ({"kernel": ["linux-a", "linux_a"]}, "--kernel: linux-a and linux_a have one name in"),
        ({"algorithms": ["nosuch"]}, "ALGORITHM: no congestion control 'nosuch'"),
        ({"beside": "nosuch"}, "--beside: no congestion control 'nosuch'"),
        ({"duration": "1"}, "--duration: '1' is not a time"),
        ({"warmup": "60s"}, "warmup must be shorter than duration"),
    ],
)
def test_errors_are_in_the_words_of_the_command(change: dict[str, Any], words: str) -> None:
    with pytest.raises(LabError) as caught:
        comparison.scenarios(Comparison(**ONE | change), "x")
    assert words in str(caught.value) and "toml" not in str(caught.value)


def test_a_file_of_the_user_s_is_not_replaced(
    longfat: Longfat, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BACKENDS, "fake", lambda: backend)
    path = tmp_path / "x.toml"
    command = ["--backend", "fake", "-o", tmp_path / "out", "--duration", "10s", "--warmup", "0s"]
    for _ in range(2):
        assert longfat("compare", "reno", *command, "--save", path).status == 0
    before = path.read_text()
    answer = longfat("compare", "cubic", *command, "--save", path)
    assert answer.status == 1 and path.read_text() == before and backend.started == [1]
    assert "x.toml: is there, and is another comparison: choose another name" in answer.err
    # What it writes by itself is of the comparison that was last.
    for cc in ("reno", "cubic"):
        assert longfat("compare", cc, *command).status == 0
        assert cc in (tmp_path / "out/compare.toml").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("run", "one.toml", "-o", "file"),
        ("run", "one.toml", "-o", "file/x"),
        ("compare", "reno", "-o", "file"),
        ("compare", "reno", "-o", "file/x"),
        ("compare", "reno", "--save", "file/x.toml"),
        ("compare", "reno", "--save", "directory.toml"),
        ("evaluate", "reno", "--only", "5.1.2", "-o", "file"),
    ],
)
def test_a_place_that_cannot_be_written(
    longfat: Longfat,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    toml: Toml,
    words: tuple[str, ...],
) -> None:
    """Is told before the kernel is built, let alone a run made."""

    def build(*_: object) -> None:
        raise AssertionError("the kernel is built")

    monkeypatch.setattr(Uml, "_prepare", build)
    monkeypatch.chdir(tmp_path)
    Path("one.toml").write_text(toml())
    Path("file").write_text("")
    Path("directory.toml").mkdir()
    answer = longfat(*words)
    assert answer.status == 1
    assert "cannot be written: " in answer.err and ": choose a" in answer.err


def compared_run(cc: str, *, buffer: float, beside: bool = False, seed: int = 1) -> dict[str, Any]:
    found = run(cc, flows=2 if beside else 1)
    flow = {"rtt": 0.02, "count": 1}
    found["scenario"]["flow"] = [flow | {"cc": cc}]
    found["scenario"]["link"] |= {"buffer": [buffer, "bdp"], "loss": 0.0}
    found["seed"] = seed
    if beside:
        found["scenario"]["flow"].append(flow | {"cc": "bbr"})
        found["flows"][1] |= {"group": 1, "cc": "bbr", "goodput_bps": 1_000_000}
    return found


def test_table() -> None:
    """What differs between paths is a column, and nothing else of them."""
    runs = [compared_run(cc, buffer=b) for b in (0.1, 1.0) for cc in ("foo", "reno")]
    headings, rows = compared.rows(runs)
    assert headings[:3] == ["buffer", "cc", "goodput\nMbit/s"] and "Jain" not in headings
    assert [row[:3] for row in rows[1:3]] == [["0.1 bdp", "reno", "9.00"], ["1 bdp", "foo", "9.00"]]
    assert all(len(row) == len(headings) for row in rows)
    text = text_of(compared.table(runs))
    assert "0.1 bdp" in text and "93.23" in text
    headings, rows = compared.rows(
        [compared_run("foo", buffer=1, beside=True, seed=seed) for seed in (1, 2)]
    )
    assert headings[:4] == ["seed", "cc", "goodput\nMbit/s", "bbr\nbeside it"]
    assert headings[-1] == "Jain"
    assert rows[1][:4] == ["2", "foo", "9.00", "1.00"]


def test_page() -> None:
    """Pictures of each path, in which each line says of which algorithm's run it is."""
    runs = [compared_run(cc, buffer=b, beside=True) for b in (0.1, 1.0) for cc in ("foo", "reno")]
    text = compared.page(runs, "longfat run x.toml")
    assert text.count("<svg") == 8
    assert text.index("<h2>Buffer 0.1 bdp</h2>") < text.index("<h2>Buffer 1 bdp</h2>")
    assert "bbr 1.1 (of foo)" in text and "bbr 1.1 (of reno)" in text
    reader = Resources()
    reader.feed(text)
    assert all(name.startswith("#") for name in reader.loaded) and "0.1 bdp" in reader.cells


def test_ctrl_c_keeps_what_is_done(
    longfat: Longfat, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its table; the same command goes on from there."""
    monkeypatch.setitem(BACKENDS, "fake", lambda: backend)
    out = tmp_path / "out"
    command = ["compare", "reno", "--duration", "10s", "--warmup", "0s", "--backend", "fake"]
    command += ["--seed", "1", "--seed", "2", "-j", "2", "-o", str(out)]
    real = concurrent.futures.wait

    def wait(*args: object, **kwargs: object) -> object:
        if (out / "compare-reno-s1.json").exists():
            raise KeyboardInterrupt
        return real(*args, **kwargs)  # type: ignore[arg-type]

    backend.hang = {2}
    monkeypatch.setattr("longfat.run.runner.wait", wait)
    answer = longfat(*command)
    assert answer.status == 130 and "1 of 2 runs are done and kept" in answer.err
    assert "reno" in answer.out and (out / "compare.html").exists()

    monkeypatch.setattr("longfat.run.runner.wait", real)
    backend.hang, backend.started = set(), []
    assert longfat(*command).status == 0
    assert backend.started == [2]
    backend.fail = {3}
    answer = longfat(*command, "--seed", "3")
    assert answer.status == 1 and "1 of 3 runs failed" in answer.err
    assert "Mbit/s" in answer.out


def test_kernels_are_compared(tmp_path: Path) -> None:
    """They are of the path: what was compared on each stands together."""
    wanted = Comparison(**ONE | {"algorithms": ["reno", "cubic"]}, kernel=["debian:6.1", ""])
    found = comparison.scenarios(wanted, "x")
    assert [one.kernel for one in found] == ["debian:6.1"] * 2 + [""] * 2
    (single,) = comparison.scenarios(Comparison(**ONE, kernel=["debian:6.1"]), "x")
    assert (single.kernel, single.name) == ("debian:6.1", "x-reno")
    with pytest.raises(LabError, match=r"^--kernel: no kernel 'none': none: there is no such"):
        comparison.scenarios(Comparison(**ONE, kernel=["none"]), "x")
    # By what they say that they are: a tree has the state that it was in.
    runs = [compared_run(cc, buffer=1) for cc in ("foo", "reno")]
    runs[1] |= {"kernel": "6.1.170-1f0c2a9d4e6b"}
    runs[1]["scenario"]["kernel"] = "~/linux"
    headings, rows = compared.rows(runs)
    assert headings[0] == "kernel"
    assert [row[0] for row in rows] == [runs[0]["kernel"], "6.1.170-1f0c2a9d4e6b"]
    assert "<h2>Kernel 6.1.170-1f0c2a9d4e6b</h2>" in compared.page(runs, "longfat run x.toml")
