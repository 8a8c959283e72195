# SPDX-License-Identifier: GPL-2.0
"""What carrying data costs: what the guest leaves, without what it does anyway, and the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import One

from longfat.build import modules
from longfat.core.errors import LabError
from longfat.machines import suite, vm
from longfat.measure import stack
from longfat.run import identity
from longfat.run.backends import Vm
from longfat.run.plan import Plan
from longfat.run.result import Json
from longfat.run.scenario import Scenario

TIMERS = """\
Timer List Version: v0.10
HRTIMER_MAX_CLOCK_BASES: 8
now at {now} nsecs

cpu: 0
  .idle_entrytime : 7 nsecs
  .idle_waketime  : 8 nsecs
  .idle_exittime  : 9 nsecs
  .idle_sleeptime : {idle} nsecs
  .iowait_sleeptime: {iowait} nsecs
"""


def timers(now: int, idle: int, iowait: int = 0) -> str:
    return TIMERS.format(now=now, idle=idle, iowait=iowait)


def test_busy_is_what_is_not_idle() -> None:
    """Waiting for a disk is idle too."""
    assert stack.busy(timers(100, 40, 1), timers(200, 80, 6)) == (55, 100)


@pytest.mark.parametrize("text", ["", "now at 5 nsecs\n", 2 * timers(1, 2)])
def test_clocks_that_are_none(text: str) -> None:
    """A kernel that does not count idle time, or two processors."""
    with pytest.raises(LabError, match="how long it was idle"):
        stack.clocks(text)


def test_what_was_received(tmp_path: Path) -> None:
    """The last sample's; not what was sent."""
    samples = tmp_path / "samples"
    samples.write_text("f 1 0 9 9 9 9 9 500 0\nq 1 2 3\nf 2 0 9 9 9 9 9 800 0\nd 2 0 1 2\n")
    assert stack.received(samples) == 800


def measured() -> Json:
    """Cubic takes 10 for a byte, foo 11 to 13 where 1000 are spent anyway."""
    nothing = {"busy_ns": [900, 1000, 5000], "busy": [0.1] * 3, "bytes": [1] * 3}
    cubic = {"busy_ns": [11_000] * 3, "busy": [0.2] * 3, "bytes": [1000] * 3}
    foo = {"busy_ns": [14_000, 12_000, 13_000], "busy": [0.3] * 3, "bytes": [1000] * 3}
    path = {"rate_bps": 10**8, "rtt_ms": 20.0, "mtu": 1500, "seconds": 0.004}
    cases = {"cubic": cubic, "foo": foo, stack.NOTHING: nothing}
    return {"modules": {"foo": ""}, "paths": dict.fromkeys(stack.KINDS, path)} | dict.fromkeys(
        stack.KINDS, cases
    )


def test_per_byte() -> None:
    """Without the median of what is done anyway."""
    assert stack.per_byte(measured()["counted"], "foo") == [13.0, 11.0, 12.0]


def test_the_table() -> None:
    """Ours first; against Cubic; all of the few counts, quartiles of times."""
    _, rows = stack.table(measured())
    assert rows == [
        ["foo", "2.0", "12.00 (11.00-13.00)", "+20.0", "12.0 (11.5-12.5)"],
        ["cubic", "2.0", "10.00 (10.00-10.00)", "+0.0", "10.0 (10.0-10.0)"],
    ]


def test_a_table_without_real_time() -> None:
    """Where nobody measured it, nothing is said of it."""
    data = measured()
    del data["real"]
    headings, rows = stack.table(data)
    assert rows[0] == ["foo", "2.0", "12.00 (11.00-13.00)", "+20.0"]
    assert len(headings) == len(rows[0])


def test_one_turn_has_no_spread() -> None:
    assert stack.quartiles([3.0]) == [3.0, 3.0, 3.0]


def test_scenarios_that_mix_costs(one: One) -> None:
    """Both cases, of one flow each."""
    counted, real = (
        one().model_copy(update={"case_name": kind, "name": kind}) for kind in stack.KINDS
    )
    with pytest.raises(LabError, match="needs the cases counted and real"):
        stack.measure([counted], 1, print)
    flow = real.flow[0].model_copy(update={"count": 2})
    with pytest.raises(LabError, match="real: all that is sent must be one flow's"):
        stack.measure([counted, real.model_copy(update={"flow": [flow]})], 1, print)


def test_the_guest_loads_every_module(one: One, monkeypatch: pytest.MonkeyPatch) -> None:
    """The turns' algorithms are there before the first of them; each turn is of one flow."""
    loads: list[list[str]] = []
    plans = {}

    def fill(_run: Path, _plan: Plan, of: Scenario, _backend: Vm, *, main: str) -> None:
        loads.append(identity.loaded(of))

    def measured_in(_backend: Vm, run: Path, **_: Any) -> None:
        plans.update({path.name: path.read_text() for path in run.glob("traffic-*")})

    monkeypatch.setattr(Vm, "prepare", lambda *_: None)
    monkeypatch.setattr(stack, "fill", fill)
    monkeypatch.setattr(stack, "measured_in", measured_in)
    monkeypatch.setattr(stack, "observe", lambda *_: {})
    monkeypatch.setattr(suite, "kernel", lambda _: "6.1")
    monkeypatch.setattr(suite, "image", Path)
    monkeypatch.setattr(vm, "kvm_works", lambda _: False)
    cases = [one().model_copy(update={"case_name": kind, "name": kind}) for kind in stack.KINDS]
    stack.measure(cases, 1, print)
    assert loads == [sorted(set(modules.owners().values()))] * 2
    names = {stack.NOTHING, stack.BURSTS, *modules.algorithms()}
    assert set(plans) == {f"traffic-{cc}" for cc in names}
    for name, text in plans.items():
        assert [line.split()[0] for line in text.splitlines()].count("tcp") == 1, name


def test_a_clock_that_ran_away(tmp_path: Path) -> None:
    """What the guest does while it waits for its host is nobody's cost."""
    turns = tmp_path / "turns"
    turns.mkdir()
    (turns / "0-foo.before").write_text(timers(1_000_000_000, 500_000_000))
    (turns / "0-foo.samples").write_text("f 1 0 9 9 9 9 9 500 0\n")
    (turns / "0-foo.after").write_text(timers(4_900_000_000, 4_000_000_000))
    found = stack.observe(tmp_path, ["foo"], 1, 3)
    good = {"foo": {"busy_ns": [400_000_000], "busy": [0.1026], "bytes": [500]}}
    assert found == good
    for when in ("before", "samples"):
        (turns / f"1-foo.{when}").write_text((turns / f"0-foo.{when}").read_text())
    (turns / "1-foo.after").write_text(timers(5_100_000_000, 4_000_000_000))
    assert stack.observe(tmp_path, ["foo"], 2, 3) == good
    (turns / "0-foo.after").write_text(timers(5_100_000_000, 4_000_000_000))
    with pytest.raises(LabError, match=r"foo: the guest's clock went on by 4\.1 s in 3 s"):
        stack.observe(tmp_path, ["foo"], 1, 3)
