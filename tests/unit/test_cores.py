# SPDX-License-Identifier: GPL-2.0
"""Which core a virtual kernel gets."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from longfat.build import modules
from longfat.core import cache, cores
from longfat.core.errors import LabError
from longfat.machines import vm
from longfat.run import backends


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 7})


def test_each_core_is_taken_once_before_one_is_taken_twice() -> None:
    with ExitStack() as held:
        got = [held.enter_context(cores.taken()) for _ in range(6)]
    assert got[:2] == [4, 7]
    assert [Counter(got[:n]) for n in (4, 6)] == [{4: 2, 7: 2}, {4: 3, 7: 3}]


def test_what_is_free_again_is_taken_first() -> None:
    with cores.taken() as first:
        with cores.taken():
            pass
        with cores.taken() as second:
            assert {first, second} == {4, 7}


def test_one_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    wait = """
import time
from longfat.core import cores
cores.os.sched_getaffinity = lambda _: {4, 7}
with cores.taken() as core:
    print(core, flush=True)
    time.sleep(100)
"""
    other = subprocess.Popen([sys.executable, "-c", wait], stdout=subprocess.PIPE, text=True)
    assert other.stdout
    assert other.stdout.readline() == "4\n"
    with cores.taken() as core:
        assert core == 7
    other.send_signal(signal.SIGKILL)
    other.wait()
    other.stdout.close()
    with cores.taken() as core:
        assert core == 4


def test_a_cache_that_cannot_be_written_is_no_hindrance(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise LabError("read-only")

    monkeypatch.setattr(cache, "directory", refuse)
    with cores.taken() as first, cores.taken() as second:
        assert {first, second} == {4, 7}


def test_an_error_of_the_block_is_the_callers() -> None:
    with pytest.raises(FileNotFoundError, match="mine"), cores.taken():
        raise FileNotFoundError("mine")


def test_an_emulator_that_counts_has_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """While it runs, and this thread has all of them again when it failed."""
    allowed = [{4, 7}]
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, to: allowed.append(to))

    def run(*_: object, **options: object) -> None:
        assert allowed[-1] == {4}
        assert options["kvm"] is False and options["qemu"] == ("-icount", "shift=0,sleep=off")
        assert "preempt=full" in options["arguments"]  # type: ignore[operator]
        raise vm.VmError("no boot")

    monkeypatch.setattr(vm, "run", run)
    monkeypatch.setattr(modules, "copy", lambda *_: None)
    with pytest.raises(vm.VmError):
        backends.Counted().boot(tmp_path, timeout=1)
    assert allowed == [{4, 7}, {4}, {4, 7}]
