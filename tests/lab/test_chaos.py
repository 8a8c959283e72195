# SPDX-License-Identifier: GPL-2.0
"""Chaos in virtual time: a seed repeats, and a run that did not hold is none that passed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from longfat.build import kernel, modules
from longfat.run.backends import Uml
from longfat.stress import chaos

STREAMS = range(1, 20)  # of seed 5: one of them has more than 20000 bytes and comes to its end
MIX = modules.ROOT / "tests/stress/chaos.toml"


def run(uml: Uml, keep: Path, **changed: Any) -> tuple[dict[str, int], list[str]]:
    mix = chaos.load(MIX).model_copy(update=changed)
    return chaos.one(mix, 5, uml, keep=keep, timeout=600, cancel=threading.Event())


def test_a_seed_repeats(uml: Uml, tmp_path: Path) -> None:
    first, wrong = run(uml, tmp_path / "kept", duration=4.0)
    assert not wrong and not (tmp_path / "kept").exists()
    again, wrong = run(uml, tmp_path / "kept", duration=4.0)
    assert not wrong and first == again
    for key in ("completed", "switches", "module_removals", "removals_refused"):
        assert first[key]


def test_nothing_leaks(tmp_path: Path) -> None:
    """Where the kernel looks for memory that nothing points to."""
    uml = Uml(kernel.SANITIZERS)
    uml.prepare(lambda _: None)
    counters, wrong = run(uml, tmp_path / "kept", duration=1.0)
    assert counters["switches"] and not wrong


def test_what_is_not_done_in_time_is_a_failure(uml: Uml, tmp_path: Path) -> None:
    counters, wrong = run(uml, tmp_path / "kept", duration=2.0, drain=0.0)
    assert counters["failures"] and any("not done in time" in line for line in wrong)
    assert (tmp_path / "kept/dmesg").exists()


@pytest.mark.parametrize(
    ("byte", "said"),
    [
        # It comes with the stream's header, and is in the hash alone.
        (20, "other data arrived than was sent"),
        (20000, "received other bytes than were sent"),
    ],
)
def test_a_damaged_stream_is_named(uml: Uml, tmp_path: Path, byte: int, said: str) -> None:
    """One bit of one stream that arrives as another: the seed has failed, and says which."""
    for stream in STREAMS:
        mix = chaos.load(MIX).model_copy(update={"duration": 2.0, "damage": (stream, byte)})
        lines: list[str] = []
        total, failed = chaos.many(
            mix,
            uml,
            first=5,
            runs=1,
            seconds=0,
            workers=1,
            out=tmp_path,
            timeout=600,
            say=lines.append,
        )
        if failed:
            break
    assert failed == [5] and total["failures"] == 1
    assert lines[0].startswith("seed 5: FAILED")
    assert any(f"connection {stream} of" in line and said in line for line in lines), lines
    assert (tmp_path / "chaos-uml-s5.failed/summary").exists()
