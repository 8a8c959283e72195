# SPDX-License-Identifier: GPL-2.0
"""How fast the lab is: what is made of what was measured, and that docs/speed.md says it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean

import pytest
from conftest import One

from longfat.build.modules import ROOT
from longfat.core.errors import LabError
from longfat.measure import speed
from longfat.pages.data import RESULTS, measured
from longfat.pages.tables import speed as page
from longfat.run.backends import Vm
from longfat.run.result import Json


def case(rate_bps: int, held: list[float], **more: object) -> Json:
    """A case of speed.real(), or with more keys of speed.virtual()."""
    return {"rate_bps": rate_bps, "flows": 1, "mtu": 1500, "seconds": 10.0, "held": held, **more}


def test_a_packet_costs_without_the_boot() -> None:
    """12 Mbit/s are 1000 packets a second; a run that sends nothing takes 2 s."""
    boot = case(12_000_000, [], cpu_s=[1.0, 2.0, 3.0], seconds=0.1, packets=1)
    one = case(12_000_000, [], cpu_s=[3.0, 4.0, 2.5], packets=10_000)
    data = {"cases": [boot, one]}
    assert speed.idle(data) == 2.0
    assert speed.per_packet(data, one) == [100.0, 200.0, 50.0]
    assert speed.pace(data, one) == 10.0
    assert speed.idle({"cases": [one]}) == 0.0


def test_the_processor_is_busy() -> None:
    """Of user, nice, system, idle, iowait, irq, softirq and steal, the first line alone."""
    text = "cpu  1 2 4 100 50 8 16 32 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n"
    assert speed.ticks(text) == (31, 213)


def test_output(tmp_path: Path, one: One) -> None:
    """Counted from the end of the warm-up, without Ethernet headers: 8 Mbit/s hold 1 MB a
    second, of which 0.9 left here."""
    scenario = one(duration='duration = "3s"', top='warmup = "1s"', rate='rate = "8mbit"')
    samples = tmp_path / "samples"
    rows = ((0, 0, 0), (1, 1000, 2_014_000), (2, 1400, 2_469_600), (3, 1900, 3_826_600))
    samples.write_text("".join(f"q {t} 0 0 0 {packets} {size} 0\n" for t, packets, size in rows))
    assert speed.output(scenario, samples) == (1_800_000, 0.9)


def test_one_network_for_all(one: One, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another rate, buffer or number of flows is none, another round trip is."""
    base = one()
    (flow,) = base.flow
    for same in (
        base.model_copy(
            update={"link": base.link.model_copy(update={"rate": 7, "buffer": (1, "")})}
        ),
        base.model_copy(update={"flow": [flow.model_copy(update={"count": 4})], "duration": 9.0}),
    ):
        assert speed.network(same) == speed.network(base)
    other = base.model_copy(update={"flow": [flow.model_copy(update={"rtt": 0.5})]})
    assert speed.network(other) != speed.network(base)
    monkeypatch.setattr(Vm, "prepare", lambda self, say: None)
    with pytest.raises(LabError, match="the network is built once"):
        speed.real([base, other], 1, print)


def test_pressure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cpu"
    monkeypatch.setattr(speed, "PRESSURE", file)
    assert speed.waited() is None
    file.write_text("some avg10=94.21 avg60=87.33 total=2148066015\nfull avg10=0.00 total=7\n")
    assert speed.waited() == 2148.066015


@pytest.mark.parametrize(
    ("held", "best"),
    [
        ({10: [1.0, 1.0099], 20: [0.9901], 50: [0.98]}, 20),
        ({50: [1.0], 20: [0.9], 10: [1.0]}, 10),  # what is above a rate that fails does not count
        ({10: [1.0, 0.5]}, 0),
        ({10: [1.02]}, 0),
        ({}, 0),
    ],
)
def test_highest(held: dict[int, list[float]], best: int) -> None:
    """Every run of it and of all below it within 1 %."""
    cases = [case(rate, found) for rate, found in held.items()]
    # Other numbers of flows are other cases.
    others = [case | {"flows": 4, "held": [0.5]} for case in cases]
    assert speed.highest(others + cases) == ({1: best, 4: 0} if cases else {})


def test_written_as_read(tmp_path: Path) -> None:
    data = {"kernel": "6.1", "cases": [case(10, [1.0]), case(20, [0.5])]}
    speed.write(data, tmp_path / "a/b.json")
    text = (tmp_path / "a/b.json").read_text()
    assert json.loads(text) == data
    assert text.count("\n") == 7


@pytest.mark.parametrize(("ratios", "paths"), [(page.of_flows, 4), (page.of_rate, 2)])
def test_what_costs_more(ratios: Callable[[Json], list[float]], paths: int) -> None:
    """As the page says: more flows, and 10 Gbit/s.  Over all paths, by more than runs of one case
    differ; a single pair may come out otherwise on a machine with other work."""
    data = measured("lab-speed")
    found = ratios(data)
    assert geometric_mean(found) > 1 + page.differ(data)
    assert len(found) == paths


def test_how_full_a_link_was() -> None:
    """12 Mbit/s are 1000 packets of 1500 bytes a second, of which half came."""
    assert page.full(case(12_000_000, [], packets=5000)) == 0.5


def test_what_was_tried() -> None:
    """A packet's part, without what this trial takes to begin."""
    boot, one = case(8, [], seconds=0.1, name="boot"), case(8, [], name="one")
    trial = {
        "boot": {"cpu_s": [1.0, 3.0, 2.0]},
        "one": {"cpu_s": [3.0, 4.0], "packets": 10_000},
    }
    assert page.tried({"cases": [boot, one]}, trial, one) == [100.0, 200.0]


def test_what_the_page_says_of_the_trials() -> None:
    """What leaves the network as it is gives no more than a tenth, huge pages and GRO less than
    nothing; without fq a third at 10 Gbit/s alone, without the router a tenth, without a second
    pair of devices half."""
    data = measured("lab-trials")
    over = {one["name"]: page.over_the_first(data, one) for one in data["trials"]}
    assert all(0.45 < found < 0.55 for found in over.pop("two-hosts"))
    assert all(0.85 < found < 0.95 for found in over.pop("way-in"))
    slow, fast = over.pop("no-fq")
    assert slow > 0.95 and 0.63 < fast < 0.72
    assert all(min(found) > 0.9 for found in over.values())
    assert min(over["huge-pages"]) > 1 and min(over["gro"]) > 1


def test_how_much_runs_differ() -> None:
    """Half of the range over the median, of the case where that is most."""
    boot = case(12_000_000, [], cpu_s=[1.0], seconds=0.1, packets=1)
    one = case(12_000_000, [], cpu_s=[3.0, 5.0, 4.0], packets=10_000)
    two = case(12_000_000, [], cpu_s=[4.0, 4.0], packets=10_000)
    assert page.differ({"cases": [boot, one, two]}) == pytest.approx(1 / 3)


@pytest.mark.parametrize("part", page.PARTS["docs/speed.md"])
def test_the_page_says_what_was_measured(part: str) -> None:
    """Each table is that of docs/results, or says that there is none."""
    text = (ROOT / "docs/speed.md").read_text()
    found = re.search(rf"<!-- begin {part} -->\n(.*?)\n<!-- end {part} -->", text, re.S)
    assert found
    others = {"real": "vm-speed", "highest": "vm-speed", "trials": "lab-trials"}
    name = (others | dict.fromkeys(("profile", "seen", "budget"), "lab-profile")).get(
        part, "lab-speed"
    )
    if (RESULTS / f"{name}.json").exists():
        assert found[1] == page.PARTS["docs/speed.md"][part]()
    else:
        assert found[1] == f"Not measured yet: {name}.json is missing."
