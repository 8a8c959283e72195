# SPDX-License-Identifier: GPL-2.0
"""Results as tables: each number of a result is in one row, which says of what it is."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas
import pytest
from test_cli import Longfat, longfat
from test_report import run

from longfat.core.errors import LabError
from longfat.run import result
from longfat.show import export, flent

__all__ = ["longfat"]

Write = Callable[[list[dict[str, Any]], Path], list[Path]]


def traced() -> dict[str, Any]:
    """A run of two flows, of which the second has two connections and events."""
    one = run("foo", flows=2)
    second = one["flows"][1]
    second["connections"].append(second["connections"][0] | {"cwnd": list(range(101, 202))})
    second["connections"][1]["events"] = [
        {"t": 0.5, "name": "foo", "reason": "init", "cwnd": 10},
        {"t": 1.5, "name": "foo", "reason": "loss", "cwnd": 7},
    ]
    return one


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_table(tmp_path: Path) -> None:
    one, other = traced(), run("reno")
    paths = export.write([one, other], tmp_path, "csv")
    assert [path.name for path in paths] == [
        f"{name}.csv" for name in export.COLUMNS if name not in ("settings", "objects")
    ]
    runs, flows, samples, queue, events = map(read, paths)
    assert [row["run"] for row in runs] == ["test-foo", "test-reno"]
    assert runs[0]["utilisation"] == "0.93234" and runs[0]["queue_delay_ms_p95"] == "2.96"
    assert (runs[0]["rate_bps"], runs[0]["retransmissions"]) == ("10000000", "17")
    assert [(row["cc"], row["flow"]) for row in flows] == [
        ("foo", "0"),
        ("foo", "1"),
        ("reno", "0"),
    ]
    assert flows[0]["goodput_bps"] == "9000000" and flows[0]["rtt_ms_max"] == "32.0"
    assert flows[0]["completion_s"] == ""
    assert len(samples) == 4 * 101 and len(queue) == 2 * 101
    last = samples[3 * 101 - 1]
    assert {name: last[name] for name in ("run", "flow", "connection", "t", "cwnd")} == {
        **{"run": "test-foo", "flow": "1", "connection": "1", "t": "10.0", "cwnd": "201"}
    }
    assert (samples[0]["ssthresh"], samples[60]["ssthresh"]) == ("", "20")
    for name, value in (("min_rtt_us", "20000"), ("pacing_rate", "1250000")):
        assert (samples[0][name], samples[1][name]) == ("", value)
    assert [(row["t"], row["field"], row["number"] or row["text"]) for row in events] == [
        *(("0.5", "reason", "init"), ("0.5", "cwnd", "10")),
        *(("1.5", "reason", "loss"), ("1.5", "cwnd", "7")),
    ]
    assert all(row["connection"] == "1" and row["event"] == "foo" for row in events)


def test_settings(tmp_path: Path) -> None:
    """What one run has otherwise than another, by the path that [vary] calls it by."""
    runs = [run(cc) for cc in ("foo", "bar", "reno")]
    for i, one in enumerate(runs):
        one["scenario"] |= {
            **{"case_name": ("", "old", "old")[i], "kernel": "~/linux", "seeds": [i]},
            **{"module": {"foo": {"step": i}} if i < 2 else {}, "trace": i == 2},
            "flow": [{"cc": "reno"}, {"cc": one["scenario"]["name"], "rtt": 0.1}][: i + 1],
        }
    runs[2]["scenario"]["link"] = runs[2]["scenario"]["link"] | {"buffer": [90.0, "p"]}
    (path,) = [x for x in export.write(runs, tmp_path, "csv") if x.stem == "settings"]
    rows = [(row["run"], row["seed"], row["key"], row["value"]) for row in read(path)]
    expected = {
        "case_name": ("", "old", "old"),
        "module.foo.step": ("0", "1", None),
        "trace": ("false", "false", "true"),
        "flow.1.cc": (None, "test-bar", "test-reno"),
        "flow.1.rtt": (None, "0.1", "0.1"),
        "link.buffer": (None, None, '[90.0, "p"]'),
    }
    assert sorted(rows) == sorted(
        (f"test-{cc}", "7", key, value)
        for key, values in expected.items()
        for cc, value in zip(("foo", "bar", "reno"), values, strict=True)
        if value is not None
    )
    # All that one run is, it has in common with all.
    export.write(runs[:1], tmp_path, "csv")
    assert not path.exists()


def test_objects(tmp_path: Path) -> None:
    one = run("reno")
    series = {"t": [1.5, 2.5], "seconds": [0.1, 0.2], "bytes": [1000, 20]}
    one["short"] = [{"short": 0, "completions": series}]
    one["video"] = [{"video": 0, "completions": {"t": [3.0], "seconds": [0.4], "bytes": [9]}}]
    paths = export.write([one], tmp_path, "csv")
    rows = read(next(path for path in paths if path.stem == "objects"))
    assert [(row["kind"], row["entry"], row["t"], row["bytes"]) for row in rows] == [
        ("short", "0", "1.5", "1000"),
        ("short", "0", "2.5", "20"),
        ("video", "0", "3.0", "9"),
    ]


def test_parquet_is_the_same(tmp_path: Path) -> None:
    """Also where a value is missing."""
    runs = [traced(), run("reno")]
    for one in runs:
        one["scenario"]["link"]["ecn"] = False
    export.write(runs, tmp_path, "csv")
    for path in export.write(runs, tmp_path, "parquet"):
        binary = pandas.read_parquet(path)
        text = pandas.read_csv(path.with_suffix(".csv"))
        assert list(binary.columns) == list(text.columns) == list(export.COLUMNS[path.stem])
        assert len(binary) == len(text) > 0
        pandas.testing.assert_frame_equal(binary, text, check_dtype=False)


def test_of_a_summary(tmp_path: Path) -> None:
    """There are no samples; those of another export are not taken for its own."""
    export.write([traced()], tmp_path, "csv")
    export.write([result.summarise(run())], tmp_path, "csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flows.csv", "runs.csv"]


def test_every_column_of_a_real_result() -> None:
    """The names are those of the committed results, which are summaries."""
    from longfat.build.modules import ROOT

    one = result.read_all(ROOT / "docs/results/demo.json")[0]
    (row,) = export._ROWS["runs"](one)
    named = dict(zip(export.COLUMNS["runs"], row, strict=True))
    assert None not in [value for key, value in named.items() if key != "jain"]
    assert named["goodput_bps"] == one["summary"]["goodput_bps"]
    assert named["queue_delay_ms_max"] == one["summary"]["queue_delay_ms"]["max"]
    (flow, *_) = export._ROWS["flows"](one)
    of = dict(zip(export.COLUMNS["flows"], flow, strict=True))
    assert of["ce_marks"] == one["flows"][0]["ce_marks"]
    assert of["received_bytes"] == one["flows"][0]["received_bytes"]


def test_without_pyarrow(longfat: Longfat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written, and it says what to do."""
    result.write(run(), tmp_path / "one.json")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = longfat("export", tmp_path / "one.json", "-o", tmp_path / "out", "--parquet")
    assert answer.status == 1 and "pip install pyarrow" in answer.err
    assert not (tmp_path / "out").exists()
    answer = longfat("export", tmp_path / "one.json", "-o", tmp_path / "out")
    assert answer.status == 0 and f"{tmp_path}/out/samples.csv" in answer.out


@pytest.mark.parametrize("form", ["--csv", "--parquet", "--flent"])
@pytest.mark.parametrize("name", ["file", "file/out", "x" * 300], ids=["file", "below", "long"])
def test_a_directory_that_cannot_be(longfat: Longfat, tmp_path: Path, name: str, form: str) -> None:
    (tmp_path / "file").write_text("")
    result.write(whole(run()), tmp_path / "one.json")
    answer = longfat("export", tmp_path / "one.json", form, "-o", tmp_path / name)
    assert answer.status == 1 and "cannot be written" in answer.err
    assert "choose a directory by -o" in answer.err


@pytest.mark.parametrize(
    "write", [partial(export.write, form="csv"), flent.write], ids=["csv", "flent"]
)
def test_two_results_of_one_run_and_seed(tmp_path: Path, write: Write) -> None:
    """Such as of one scenario on two backends or kernels: their rows would be mixed."""
    with pytest.raises(LabError, match=r"^test-foo, seed 7: 2 results are called so: export"):
        write([whole(run("foo")), run("bar"), whole(run("foo"))], tmp_path / "to")
    assert not (tmp_path / "to").exists()


# --- flent


def whole(one: dict[str, Any]) -> dict[str, Any]:
    """With what a real result has of its scenario."""
    one["scenario"] |= {"duration": 10.0, "sample": 0.1}
    return one


def drawn(path: Path, *words: str) -> str:
    """What flent itself prints of a data file."""
    command = [sys.executable, "-m", "flent", "-i", str(path), *words]
    environment = os.environ | {"MPLBACKEND": "svg", "HOME": str(path.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr
    return done.stdout


def test_flent_reads_it(tmp_path: Path) -> None:
    """Its own program has each flow's goodput, and draws window, RTT and pacing rate."""
    one = whole(traced())
    (path,) = flent.write([one], tmp_path)
    assert path.name == "test-foo-s7.flent.gz"
    text = drawn(path, "-f", "csv")
    rows = list(csv.DictReader(text[text.index("tcp_nup,") :].splitlines()))
    first, *others = (flow["connections"] for flow in one["flows"])
    t, received = first[0]["t"], first[0]["received"]
    assert [float(row["tcp_nup"]) for row in rows] == t[1:]
    for i, row in enumerate(rows):
        rate = (received[i + 1] - received[i]) * 8e-6 / (t[i + 1] - t[i])
        assert float(row["TCP upload::1"]) == pytest.approx(rate)
        # Of a flow with two connections both are counted.
        assert float(row["TCP upload::2"]) == pytest.approx(2 * rate)
        assert float(row["TCP upload sum"]) == pytest.approx(3 * rate)
        assert row["Ping (ms) ICMP"] == ""
    for name in ("upload", "tcp_cwnd", "tcp_rtt", "tcp_pacing", "box_combine"):
        drawn(path, "-p", name, "-o", str(tmp_path / f"{name}.svg"))
        assert (tmp_path / f"{name}.svg").read_text().count("<svg") == 1
    lines = (tmp_path / "tcp_cwnd.svg").read_text()
    assert "TCP window size" in lines and "test-foo, seed 7" in lines
    samples = flent.document(one)["raw_values"]["TCP upload::1"]
    assert [x["tcp_pacing_rate"] for x in samples if "tcp_pacing_rate" in x] == [10.0] * 100


def test_flent_s_file_is_the_same_again(tmp_path: Path) -> None:
    (path,) = flent.write([whole(run("foo"))], tmp_path)
    before = path.read_bytes()
    assert flent.write([whole(run("foo"))], tmp_path) == [path] and path.read_bytes() == before


def test_a_summary_has_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="test-foo, seed 7: is a summary, without samples"):
        flent.write([result.summarise(run("foo"))], tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_flent_on_the_command_line(longfat: Longfat, tmp_path: Path) -> None:
    result.write(whole(run("foo")), tmp_path / "one.json")
    said = longfat("export", tmp_path / "one.json", "--flent", "-o", tmp_path / "to")
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["test-foo-s7.flent.gz"]
    assert "test-foo-s7.flent.gz" in said.out
