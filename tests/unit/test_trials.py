# SPDX-License-Identifier: GPL-2.0
"""What might make the lab faster: which kernels, and the network without a router."""

from __future__ import annotations

import sys
import tomllib

import pytest
from pydantic import ValidationError

from longfat.build import kernel
from longfat.build.modules import ROOT
from longfat.run import plan, scenario

sys.path.insert(0, str(ROOT / "tests/bench"))
import trials


def every() -> dict[str, trials.Trial]:
    text = (ROOT / "tests/bench/trials.toml").read_text()
    return {name: trials.Trial.model_validate(keys) for name, keys in tomllib.loads(text).items()}


def test_the_first_is_the_lab_as_it_is() -> None:
    first, *others = every().values()
    assert first == trials.Trial(about=first.about)
    assert first.boots() == kernel.LAB
    assert all(other.model_copy(update={"about": first.about}) != first for other in others)


def test_another_kernel_has_another_name() -> None:
    """By which the cache knows it."""
    made = {one.boots() for one in every().values()}
    assert len({one.key for one in made}) == len(made) == 4
    assert all("/" not in one.key and " " not in one.key for one in made)


def test_what_no_trial_has() -> None:
    with pytest.raises(ValidationError, match="hugh"):
        trials.Trial.model_validate({"about": "a", "hugh": True})


@pytest.mark.parametrize(("where", "at"), [("sender", "lf-s0"), ("receiver", "lf-d")])
def test_no_router(where: str, at: str) -> None:
    """The bottleneck is at one place, the delay at the receiver; nothing is forwarded."""
    one = scenario.load(trials.FILE)[1]
    made = trials.without_router(plan.make(one, 1, prefix="lf", seeded=True), one, where)
    lines = made.setup.splitlines()
    assert [x.split()[3] for x in lines if x.startswith("ip netns add")] == ["lf-s0", "lf-d"]
    assert "ip_forward" not in made.setup and " route " not in made.setup
    begin = lines.index(f"ns={at} dev=bottleneck")
    assert lines[begin + 1 : begin + 1 + len(plan.bottleneck(one))] == plan.bottleneck(one)
    delay = "root netem delay 100000.000us limit 10000000"
    assert f"tc -n lf-d qdisc add dev port0 {delay}" in lines
    assert f"queue {at} bottleneck" in made.traffic
    assert sum("net.ipv4.tcp_wmem" in x for x in lines) == 2
    assert sum(" root fq" in x for x in lines) == (where != "sender")
