# SPDX-License-Identifier: GPL-2.0
"""Tables, pictures and the page, from result files alone."""

from __future__ import annotations

import copy
import io
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from longfat.core.errors import LabError
from longfat.run import result
from longfat.show import report

Json = dict[str, Any]


def run(cc: str = "foo", *, title: str = "a title", flows: int = 1) -> Json:
    """A result as result.make() has it, of ten seconds."""
    t = [i / 10 for i in range(101)]
    one = {
        "group": 0,
        "cc": cc,
        "base_rtt_ms": 20.0,
        "goodput_bps": 9_000_000,
        "retransmissions": 17,
        "completion_s": None,
        "rtt_ms": {"mean": 21.0, "p50": 20.5, "p95": 30.0, "p99": 31.0, "max": 32.0},
        "connections": [
            {
                "t": t,
                "cwnd": [10 + i for i in range(101)],
                "ssthresh": [None] * 50 + [20] * 51,
                "rtt_us": [0] + [20500] * 100,
                # Until there is an RTT the kernel says so.
                "min_rtt_us": [2**32 - 1] + [20000] * 100,
                "pacing_rate": [2**64 - 1] + [1_250_000] * 100,
                "received": [112500 * i for i in range(101)],
            }
        ],
    }
    return {
        "longfat": result.FORMAT,
        "scenario": {
            "name": f"test-{cc}",
            "title": title,
            "sample": 0.1,
            "link": {"rate": 10_000_000, "mtu": 1500, "aqm": "fifo"},
        },
        "seed": 7,
        "backend": "uml",
        "kernel": "6.12.1",
        "summary": {
            "goodput_bps": 9_000_000,
            "utilisation": 0.93234,
            "loss": 0.0004071,
            "retransmissions": 17,
            "jain": 0.987654,
            "queue_delay_ms": {"mean": 1.26, "p50": 1.0, "p95": 2.96, "p99": 3.0, "max": 3.1},
        },
        "flows": [{**copy.deepcopy(one), "number": n} for n in range(flows)],
        "udp": [{"udp": 0, "goodput_bps": 1_500_000}],
        "short": [{"short": 0, "goodput_bps": 250_000}],
        "queue": {"t": t, "packets": [i % 7 for i in range(101)], "dropped": [0] * 101},
    }


def text_of(table: object, width: int = 200) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


SVG = "{http://www.w3.org/2000/svg}"


def words(root: ElementTree.Element) -> set[str]:
    """The texts of a picture."""
    return {"".join(element.itertext()) for element in root.iter(f"{SVG}text")}


class Resources(HTMLParser):
    """What a page loads, and the text of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.styles = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "srcset", "data", "poster", "action"):
                self.loaded.append(value or "")
            elif name == "style":
                self.styles += value or ""

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] in ("td", "th") and data.strip():
            self.cells.append(data)
        elif self.tags and self.tags[-1] == "style":
            self.styles += data


def test_row() -> None:
    figures = ["9.00", "93.23", "0.0407", "17", "1.3", "3.0", "20.5"]
    assert report.row(run()) == ["test-foo s7", "foo", *figures, "-"]
    assert report.row(run(flows=2)) == ["test-foo s7", "foo", *figures, "0.988"]
    assert len(report.HEADINGS) == len(report.row(run()))


def test_row_of_a_run_in_which_nothing_happened() -> None:
    empty = run(flows=2)
    for flow in empty["flows"]:
        flow["rtt_ms"] = dict.fromkeys(flow["rtt_ms"])
    delays = empty["summary"]["queue_delay_ms"]
    empty["summary"] |= {"goodput_bps": 0, "jain": None, "queue_delay_ms": dict.fromkeys(delays)}
    assert report.row(empty)[6:] == ["-", "-", "-", "-"]


def test_label_names_each_algorithm_once() -> None:
    mixed = run(flows=3)
    mixed["flows"][1]["cc"] = "reno"
    assert report.label(mixed) == "foo + reno"


def test_cases_of_one_algorithm_are_told_apart() -> None:
    """By their names, in the table and in every picture; without a case it is the algorithm."""
    runs = [traced(), traced(), traced()]
    labels = ["as it was", "refined", "foo"]
    for one, case in zip(runs, ["as it was", "refined", ""], strict=True):
        one["scenario"]["case_name"] = case
    assert [report.label(one) for one in runs] == labels
    lines = text_of(report.table(runs)).splitlines()
    assert [any(line.startswith(f" {name} ") for line in lines) for name in labels] == [True] * 3
    pictures = {what: report.picture(runs, what) for what in report.PICTURES}
    pictures["events"] = report.event_picture(runs, "level")
    for what, text in pictures.items():
        assert set(labels) <= words(ElementTree.fromstring(text)), what


def test_table() -> None:
    text = text_of(report.table([run("foo"), run("reno")]))
    (foo,) = [line for line in text.splitlines() if "foo" in line]
    figures = foo[foo.index("foo") :].replace("\u2502", " ").split()
    assert figures[:8] == report.row(run("foo"))[1:9]
    assert [line for line in text.splitlines() if "reno" in line]
    assert text.count("a title") == 1


def test_table_tells_runs_apart() -> None:
    """Two seeds of one algorithm."""
    other = run("foo") | {"seed": 8}
    text = text_of(report.table([run("foo"), other]))
    assert "test-foo s7" in text and "test-foo s8" in text


def test_table_fits_a_terminal() -> None:
    """What `make demo` prints is read on 80 columns."""
    runs = [run("highspeed"), run("ltcp")]
    text = text_of(report.table(runs), width=80)
    for figure in report.row(runs[0])[1:9]:
        assert figure in text


def test_flow_table() -> None:
    text = text_of(report.flow_table(run(flows=2)))
    assert "0.0" in text and "0.1" in text
    assert "udp 0" in text and "1.50" in text
    assert "short 0" in text and "0.25" in text


@pytest.mark.parametrize("what", report.PICTURES)
def test_picture(what: str) -> None:
    """It is SVG with axes and a legend, always the same, and shows the data."""
    results = [run("foo", title="a < b & c"), run("reno")]
    text = report.picture(results, what)
    assert report.picture(copy.deepcopy(results), what) == text
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {"a < b & c", "time, s", report.PICTURES[what], "foo", "reno"} <= words(root)
    connection = results[0]["flows"][0]["connections"][0]
    connection["cwnd"][50] = connection["received"][50] = connection["rtt_us"][50] = 10**7
    results[0]["queue"]["packets"][50] = 300
    assert report.picture(results, what) != text


@pytest.mark.parametrize("title", ["from $5 to $6", r"$\nothing$"])
def test_a_title_is_text(title: str) -> None:
    root = ElementTree.fromstring(report.picture([run(title=title)], "cwnd"))
    assert title in words(root)


def test_goodput_is_a_rate() -> None:
    ((_, t, y),) = report._series(run(), "goodput")
    assert t == pytest.approx(list(range(1, 11)))
    assert y == pytest.approx([9.0] * 10)


def test_goodput_of_samples_at_one_time() -> None:
    """lfgen samples a flow when it stops, and again with all others at that time."""
    doubled = run()
    doubled["scenario"]["sample"] = 1
    doubled["flows"][0]["connections"][0] |= {"t": [0, 1, 1], "received": [0, 125000, 125000]}
    ((_, t, y),) = report._series(doubled, "goodput")
    assert (t[0], y[0]) == (1, 1.0)
    assert report.picture([doubled], "goodput")


def traced(cc: str = "foo") -> Json:
    """A run with events: not all have a level, and reason is no number."""
    out = run(cc)
    out["flows"][0]["connections"][0]["events"] = [
        {"t": 0.02, "name": cc, "reason": "init", "cwnd": 10},
        {"t": 2.5, "name": cc, "reason": "up", "cwnd": 35, "level": 1},
        {"t": 4.0, "name": cc, "reason": "init", "cwnd": 50},
        {"t": 5.0, "name": cc, "reason": "up", "cwnd": 60, "level": 4},
    ]
    return out


def outline(root: ElementTree.Element) -> list[list[tuple[float, float]]]:
    """The data lines of a picture (clipped, and not grey as the grid is) as points."""
    lines = [
        re.findall(r"[ML] (\S+) (\S+)", path.get("d", ""))
        for path in root.iter(f"{SVG}path")
        if "clip-path" in path.attrib and "stroke: #b0b0b0" not in path.get("style", "")
    ]
    return [[(float(x), float(y)) for x, y in dict.fromkeys(line)] for line in lines]


def test_event_picture() -> None:
    """Two panels on one time axis; a value holds until the next event that has one, and the
    last one until the end."""
    text = report.event_picture([traced(), run("reno")], "level")
    assert report.event_picture([traced(), run("reno")], "level") == text
    root = ElementTree.fromstring(text)
    assert {"a title", "time, s", report.PICTURES["cwnd"], "level", "foo", "reno"} <= words(root)
    foo, _, level = outline(root)
    begin, end = foo[0][0], foo[-1][0]
    times = [(x - begin) / (end - begin) * 10 for x, _ in level]
    assert times == pytest.approx([2.5, 5, 5, 10], abs=1e-3)
    (_, low), (_, still), (_, high), (_, last) = level
    assert low == still > high == last  # y grows downwards


def test_event_picture_of_no_such_field() -> None:
    for field in ("reason", "t", "rate"):
        with pytest.raises(LabError, match=f"no event has a number '{field}'; valid: cwnd, level$"):
            report.event_picture([traced()], field)
    with pytest.raises(LabError, match="set trace = true"):
        report.event_picture([run()], "level")
    with pytest.raises(LabError, match="samples"):
        report.event_picture([result.summarise(traced())], "level")


def test_no_such_picture() -> None:
    with pytest.raises(ValueError, match="valid: cwnd, goodput, rtt_us, queue"):
        report.picture([run()], "loss")


def test_a_summary_has_no_pictures() -> None:
    """What is committed has no samples; that is for a person to read, not a traceback."""
    with pytest.raises(LabError, match="samples"):
        report.picture([result.summarise(run())], "cwnd")


@pytest.fixture(scope="module")
def page() -> str:
    results = [run("foo", title="<b>&"), run("reno")]
    return report.page(results, "<script>alert(1)</script>", "x <y> & z")


def test_page_is_self_contained(page: str) -> None:
    found = Resources()
    found.feed(page)
    assert all(link.startswith("#") for link in found.loaded), found.loaded
    assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(found.tags)
    assert "@import" not in found.styles
    assert all(x.startswith("#") for x in page.split("url(")[1:])
    assert found.tags.count("svg") == len(report.PICTURES)


def test_page_says_what_the_table_says(page: str) -> None:
    found = Resources()
    found.feed(page)
    want = [*report.HEADINGS, *report.row(run("foo")), *report.row(run("reno"))]
    assert [" ".join(x.split()) for x in found.cells] == [" ".join(x.split()) for x in want]


def test_page_is_the_same_each_time(page: str) -> None:
    results = [run("foo", title="<b>&"), run("reno")]
    assert report.page(results, "<script>alert(1)</script>", "x <y> & z") == page


def test_page_shows_text_as_text(page: str) -> None:
    assert "<script" not in page and "<b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "x &lt;y&gt; &amp; z" in page
    assert "10 Mbit/s, MTU 1500 bytes, fifo" in page


def test_write_pictures(tmp_path: Path) -> None:
    names = ["cwnd.svg", "goodput.svg", "rtt.svg", "queue.svg"]
    paths = report.write_pictures([run()], tmp_path / "new")
    assert [p.name for p in paths] == names
    paths = report.write_pictures([traced()], tmp_path / "new", event="level")
    assert [p.name for p in paths] == [*names, "events.svg"]
    for path in paths:
        assert path.read_text().startswith("<?xml")
        ElementTree.parse(path)
