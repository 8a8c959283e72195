# SPDX-License-Identifier: GPL-2.0
"""What measures the lab measures what is there, where what is there is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SCENARIOS
from rich.console import Console

from longfat.core.errors import LabError
from longfat.measure import profile, speed
from longfat.run import plan, runner, scenario
from longfat.run.backends import Uml, fill
from longfat.run.scenario import Scenario


def bench(name: str) -> Scenario:
    """One of the scenarios of bench-vm.toml."""
    (one,) = (x for x in scenario.load(SCENARIOS / "bench-vm.toml") if x.name == f"bench-vm-{name}")
    return one


@pytest.mark.parametrize("name", ["1-10mbit", "4-100mbit"])
def test_an_exact_link_holds_its_rate(uml: Uml, name: str) -> None:
    """What the vm backend is measured with finds no fault with virtual time: always a queue, and
    the rate to a thousandth."""
    one = bench(name)
    with runner.run_directory() as run:
        fill(run, plan.make(one, 1, prefix="lf", virtual=True), one, uml)
        uml.execute(
            run,
            one,
            1,
            timeout=600,
        )
        sent, held = speed.output(one, run / "samples")
    assert held == pytest.approx(1, abs=0.001)
    assert sent == pytest.approx(one.link.rate * (one.duration - one.warmup) / 8, rel=0.01)


@pytest.mark.usefixtures("uml")
def test_bench(tmp_path: Path) -> None:
    """The same packets each time, and time that was spent on them."""
    said: list[str] = []
    one = bench("1-10mbit").model_copy(update={"duration": 5.0})
    data = speed.virtual([one], 2, Console(quiet=True), said.append)
    speed.write(data, tmp_path / "x.json")
    (case,) = data["cases"]
    assert len(case["cpu_s"]) == len(case["wall_s"]) == len(said) == 2
    assert min(case["cpu_s"]) > 0 and max(case["wall_s"]) < 600
    assert 10e6 / 8 / 1500 * 4 < case["packets"] < 10e6 / 8 / 1500 * 5.1


@pytest.mark.usefixtures("uml")
def test_profile() -> None:
    """Samples are the processor time of the run, and most of them have a name."""
    try:
        profile.require()
    except LabError as error:
        pytest.skip(str(error))
    one = bench("1-10mbit").model_copy(update={"duration": 20.0})
    (case,) = profile.profile([one], lambda text: None)["cases"]
    total = sum(case["seconds_of"].values())
    assert total == pytest.approx(case["cpu_s"], rel=0.5)
    assert case["seconds_of"]["TCP"] > 0
    assert case["seconds_of"][profile.REST] < 0.2 * total
