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
from longfat.measure import speed, stack
from longfat.pages.data import RESULTS, measured
from longfat.pages.tables import speed as page
from longfat.run import plan
from longfat.run.backends import Vm, fill
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


@pytest.mark.parametrize("main", [speed._MAIN, stack._MAIN], ids=["bench", "cost"])
def test_the_generator_goes_along(
    tmp_path: Path, one: One, main: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is measured in a virtual machine has a script of its own: lfgen is found there, too."""
    monkeypatch.setattr(Vm, "module_files", lambda _: None)
    scenario = one()
    fill(tmp_path, plan.make(scenario, 1, prefix="lf", virtual=False), scenario, Vm(), main=main)
    assert (tmp_path / "bin/lfgen").stat().st_mode & 0o100


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


@pytest.mark.parametrize("ratios", [page.of_flows, page.of_rate])
def test_what_costs_more(ratios: Callable[[Json], list[float]]) -> None:
    """As the page says: more flows, and 10 Gbit/s.  Over all paths, by more than runs of one case
    differ; a single pair may come out otherwise on a machine with other work."""
    if not (RESULTS / "lab-speed.json").exists():
        pytest.skip("not measured yet")
    data = measured("lab-speed")
    assert geometric_mean(ratios(data)) > 1 + page.differ(data)


def told(rate: int, mtu: int, flows: int, packet_us: float) -> Json:
    """A case of a million packets."""
    more = {"name": f"{rate}-{mtu}-{flows}", "cpu_s": [packet_us], "packets": 10**6}
    return case(rate, [], **more) | {"mtu": mtu, "flows": flows}


def test_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    """8 virtual s of 1 Gbit/s are 1.5 us for a packet; a thousand flows may cost twice as much."""
    cases = [told(10**9, 1500, 1, 1.4), told(10**10, 1500, 1, 1.6), told(10**9, 1500, 1000, 2.9)]
    monkeypatch.setattr(page, "measured", lambda name: {"cases": cases})
    assert page.goals().splitlines() == [
        "- 1 Gbit/s with an MTU of 1500: 8.57 of 8, reached.",
        "- 10 Gbit/s with an MTU of 1500: 0.75 of 0.8, not reached.",
        "- A packet of a thousand flows costs 2.1 times as much as one of one flow; it was to be 2 "
        "times: not reached.",
    ]


def test_before_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of what it was, where it was measured."""
    new = [told(10**9, 1500, 1, 1.5), told(10**11, 9000, 1, 3.0)]
    found = {"lab-speed": {"cases": new}, "lab-speed-router": {"cases": [told(10**9, 1500, 1, 3)]}}
    monkeypatch.setattr(page, "measured", lambda name: found[name])
    first, second = (line.split(" | ") for line in page.virtual().splitlines()[2:])
    assert first[4:6] == ["1.50 (1.50-1.50)", "3.00"] and second[4:6] == ["3.00 (3.00-3.00)", ""]


def test_how_full_a_link_was() -> None:
    """12 Mbit/s are 1000 packets of 1500 bytes a second, of which half came."""
    assert page.full(case(12_000_000, [], packets=5000)) == 0.5


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
    others = {"real": "vm-speed", "highest": "vm-speed"}
    name = (others | dict.fromkeys(("profile", "seen", "budget"), "lab-profile")).get(
        part, "lab-speed"
    )
    if (RESULTS / f"{name}.json").exists():
        assert found[1] == page.PARTS["docs/speed.md"][part]()
    else:
        assert found[1] == f"Not measured yet: {name}.json is missing."
