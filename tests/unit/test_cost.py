# SPDX-License-Identifier: GPL-2.0
"""What an ACK costs: what the module prints, without its loop, and the tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.build import modules
from longfat.core.errors import LabError
from longfat.measure import cost
from longfat.pages.tables import performance
from longfat.run.result import Json

ROWS = """\
- avoidance 1000 2 256 2500 2560 2700 0
core avoidance 1000 2 256 3000 3072 3200 1
composite avoidance 1000 2 256 5100 5120 5888 1
cubic avoidance 1000 2 256 4608 5632 6144 0
"""


def measured() -> Json:
    """As cost.measure() leaves it: time and instructions of every phase alike."""
    kinds = [*(f"{phase} 1000 2" for phase in cost.PHASES[:3]), "loss 1000 1"]
    names = ["reno", "core", "composite-16", "cubic", "foo", "composite-1", "composite-4"]
    return {
        "ns": {cc: {kind: [1.0, 2.25, 3.5] for kind in kinds} for cc in names},
        "instructions": {cc: dict.fromkeys(kinds, 31.0) for cc in names if cc != "cubic"},
        "modules": {"foo": "", "composite": "", "composite-4": "", "composite-16": ""},
    }


def test_the_loop_is_taken_off() -> None:
    """By its median, from each quartile, per ACK; composite has one stream there."""
    found = cost.per_ack(cost.parse(ROWS))
    assert found == {
        "core": {"avoidance 1000 2": [1.72, 2.0, 2.5]},
        "composite-1": {"avoidance 1000 2": [9.92, 10.0, 13.0]},
        "cubic": {"avoidance 1000 2": [8.0, 12.0, 14.0]},
    }
    assert cost.per_ack(cost.parse(ROWS), 0.5)["cubic"]["avoidance 1000 2"] == [4.0, 6.0, 7.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("reno avoidance 1000 2 256 1 2\n", "has the line 'reno avoidance 1000 2 256 1 2'"),
        ("reno idle 1000 2 256 1 2 3 0\n", "has the line 'reno idle"),
    ],
)
def test_lines_that_are_none(text: str, said: str) -> None:
    with pytest.raises(LabError, match=said):
        cost.parse(text)


def test_ours_come_first() -> None:
    """By streams; then the kernel's, and the core's own part at the end."""
    ours = ["composite-1", "composite-4", "composite-16", "foo"]
    assert cost.order(measured()) == [*ours, "cubic", "reno", "core"]


def test_table() -> None:
    headings, rows = cost.table(measured())
    assert headings[:3] == ["", "slow start\nns", "slow start\ninstr."]
    table = {row[0]: row[1:] for row in rows}
    assert table["foo"] == ["2.2 (1.0-3.5)", "31"] * 4
    # Without an emulator there is no count, and a loss has no part of the core's.
    assert table["cubic"] == ["2.2 (1.0-3.5)", ""] * 4
    assert table["core"] == [*["2.2 (1.0-3.5)", "31"] * 3, "", ""]
    assert {len(row) for row in rows} == {len(headings)}
    _, rows = cost.table(measured(), quartiles=False)
    assert rows[0] == ["composite-1", *["2.2", "31"] * 4]


def test_what_is_lost_in_the_noise_is_nothing() -> None:
    assert cost.spread([-0.8, -0.04, 0.6]) == "0.0 (0.0-0.6)"


def test_the_file_has_a_line_for_each(tmp_path: Path) -> None:
    data = measured() | {"rounds": 51, "kernel": {"ns": "6.12", "instructions": None}}
    path = tmp_path / "made" / "cost.json"
    cost.write(data, path)
    assert json.loads(path.read_text()) == data
    lines = path.read_text().splitlines()
    assert sum(line.startswith('  "cubic": ') for line in lines) == 1
    assert len(lines) == 2 + 3 + 2 * 2 + len(data["ns"]) + len(data["instructions"])


def test_counts_that_repeat() -> None:
    batch = cost.Batch("cubic", "avoidance", 1000, 2, 256, 4608, 4608, 4608, 0)
    assert cost.alike([batch, replace(batch, high=4609)]) == [1, 2]


def leave(run: Path, **files: str) -> Path:
    for name, text in files.items():
        (run / name).write_text(text)
    return run


def test_what_the_guest_left(tmp_path: Path) -> None:
    run = leave(tmp_path, rows=ROWS, kernel="6.1.0\n", log="[ 1.0] quiet\n")
    batches, release = cost.read(run, "")
    assert (len(batches), release) == (4, "6.1.0")
    assert batches[3] == cost.Batch("cubic", "avoidance", 1000, 2, 256, 4608, 5632, 6144, 0)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "was not measured: the end of it"),
        ({"error": "insmod: no room", "log": "ack_cost: 2 CPUs"}, "no room\nack_cost: 2 CPUs"),
        ({"rows": ROWS, "kernel": "6.1", "log": "WARNING: CPU: 0 at x"}, "complained: WARNING"),
    ],
)
def test_a_measurement_that_failed(tmp_path: Path, files: dict[str, str], said: str) -> None:
    with pytest.raises(LabError, match=said):
        cost.read(leave(tmp_path, **files), "the end of it")


# --- the page


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Json:
    """A measurement where the page's tables look for it, with some kinds of ACKs."""
    data = measured() | {"processor": "P", "rounds": 51}
    data["kernel"] = {"ns": "6.12", "instructions": "6.1"}
    counts = {"cubic": 100.0, "reno": 50.0, "bbr": 300.0, "composite-16": 400.0, "foo": 110.0}
    counts |= {"composite-1": 80.0, "composite-4": 200.0, "core": 30.0}
    data["instructions"] = {
        cc: {
            f"{phase} {window} {acked}": count + (window == 100 and cc == "foo") * 40
            for phase in cost.PHASES
            for window in (10, 100, 10000)
            for acked in (1, 2, 8, 64)
            if acked <= window
        }
        for cc, count in counts.items()
    }
    monkeypatch.setattr("longfat.pages.data.RESULTS", tmp_path)
    cost.write(data, tmp_path / "ack-cost.json")
    return data


def cells(table: str, first: str) -> list[str]:
    """The row of a Markdown table that begins with `first`."""
    (row,) = (line for line in table.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in row.split("|")[2:-1]]


def test_page(page: Json) -> None:
    """More than a window is never acknowledged; what was not measured is empty."""
    assert "P; nanoseconds on Linux 6.12, medians of 51" in performance.measured()
    assert cells(performance.windows(), "foo") == ["110", "150", "", "110", "", ""]
    assert cells(performance.windows(), "bbr") == ["300", "300", "", "300", "", ""]
    assert cells(performance.stretch(), "foo") == ["150"] * 4 + ["110"] * 4
    assert [line.split("|")[1].strip() for line in performance.windows().splitlines()[2:]] == [
        *("composite-1", "composite-4", "composite-16", "foo"),
        *("cubic", "reno", "bbr"),
    ]


def test_ours_over_cubic(page: Json) -> None:
    """All kinds of ACKs of a phase, and the worst of large windows."""
    assert cells(performance.goal(), "foo") == ["1.10 to 1.50"] * 3 + ["1.10"]
    assert cells(performance.goal(), "composite-1") == ["0.80 to 0.80"] * 3 + ["0.80"]
    assert performance.ratios(page, "foo", "loss", 10000) == [1.1] * 4


def test_ours_with_the_cores_part_over_cubic(page: Json) -> None:
    """Cubic and the core are 130 instructions, 4.5 ns; who has cong_control has no part of it."""
    page["control"] = ["composite-4"]
    page["ns"] = {
        cc: {"avoidance 1000 2": [9.0, 2.25, 9.0], "avoidance 100 1": [9.0, 9.0, 9.0]}
        for cc in page["ns"]
    }
    for kinds in page["instructions"].values():
        kinds["avoidance 1000 2"] = kinds["avoidance 10000 2"]
    found = performance.with_core(page, "composite-4", "avoidance")
    assert found == pytest.approx((0.5, 200 / 130, 200 / 130))
    found = performance.with_core(page, "foo", "avoidance")
    assert found == pytest.approx((1.0, 140 / 130, 180 / 130))


@pytest.mark.parametrize("part", performance.PARTS["docs/performance.md"])
def test_the_page_shows_what_was_measured(part: str) -> None:
    """That of the tree itself."""
    text = (modules.ROOT / "docs/performance.md").read_text()
    made = performance.PARTS["docs/performance.md"][part]()
    assert f"<!-- begin {part} -->\n{made}\n<!-- end {part} -->" in text
