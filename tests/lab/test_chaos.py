# SPDX-License-Identifier: GPL-2.0
"""Chaos in virtual time: a seed repeats, and a run that did not hold is none that passed."""

from __future__ import annotations

import threading
from pathlib import Path

from lab import chaos, modules
from lab.backends import Uml

MIX = modules.ROOT / "tests/stress/chaos.toml"


def run(uml: Uml, keep: Path, **changed: float) -> tuple[dict[str, int], list[str]]:
    mix = chaos.load(MIX).model_copy(update=changed)
    return chaos.one(mix, 5, uml, 0, keep=keep, timeout=600, cancel=threading.Event())


def test_a_seed_repeats(uml: Uml, tmp_path: Path) -> None:
    first, wrong = run(uml, tmp_path / "kept", duration=3.0)
    assert not wrong and not (tmp_path / "kept").exists()
    again, wrong = run(uml, tmp_path / "kept", duration=3.0)
    assert not wrong and first == again
    for key in ("completed", "switches", "module_removals", "removals_refused"):
        assert first[key]


def test_what_is_not_done_in_time_is_a_failure(uml: Uml, tmp_path: Path) -> None:
    counters, wrong = run(uml, tmp_path / "kept", duration=2.0, drain=0.0)
    assert counters["failures"] and any("not done in time" in line for line in wrong)
    assert (tmp_path / "kept/dmesg").exists()
