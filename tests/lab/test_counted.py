# SPDX-License-Identifier: GPL-2.0
"""The backend whose emulated processor counts instructions: Debian's kernel, never late."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SCENARIOS
from rich.console import Console

from longfat.machines import suite
from longfat.run import result, runner, scenario
from longfat.run.backends import Counted, Uml


@pytest.mark.usefixtures("machine")
def test_counted_holds_what_real_time_does_not(tmp_path: Path) -> None:
    """200 Mbit/s, where emulation in real time holds 50 (docs/speed.md): what arrives in the
    measured time is what arrives in the lab's virtual time, within 1 %."""
    (one,) = (
        one
        for one in scenario.load(SCENARIOS / "bench-vm.toml")
        if one.link.rate == 200e6 and one.flow[0].count == 1
    )
    got = []
    for backend in (Uml(), Counted()):
        backend.prepare(lambda _: None)
        path = tmp_path / f"{backend.name}.json"
        job = runner.Job(one, 1, path)
        runner.run([job], backend, workers=1, timeout=600, console=Console(quiet=True))
        made = result.read(path)
        assert made["backend"] == backend.name
        got.append(made["flows"][0]["received_bytes"])
    assert made["kernel"] == suite.kernel("bookworm")
    assert got[1] == pytest.approx(got[0], rel=0.01)
