# SPDX-License-Identifier: GPL-2.0
"""What might make the lab faster: which kernels, and the network without a router."""

from __future__ import annotations

import sys
import tomllib

import pytest
from pydantic import ValidationError

from lab import kernel, plan, scenario
from lab.modules import ROOT

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


def test_no_router() -> None:
    """Two namespaces, the bottleneck at the sender, the delay at the receiver."""
    one = scenario.load(trials.FILE)[1]
    made = trials.two_hosts(plan.make(one, 1, prefix="lf", seeded=True), one)
    lines = made.setup.splitlines()
    assert [x.split()[3] for x in lines if x.startswith("ip netns add")] == ["lf-s0", "lf-d"]
    assert "lf-r" not in made.setup + made.traffic
    at = lines.index("ns=lf-s0 dev=bottleneck")
    assert lines[at + 1 : at + 1 + len(plan.bottleneck(one))] == plan.bottleneck(one)
    delay = "root netem delay 100000.000us limit 10000000"
    assert f"tc -n lf-d qdisc add dev eth0 {delay}" in lines
    assert "queue lf-s0 bottleneck" in made.traffic
    assert sum("net.ipv4.tcp_wmem" in x for x in lines) == 2
