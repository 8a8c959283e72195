# SPDX-License-Identifier: GPL-2.0
"""Vector registers on a processor that has more of them than the virtual-time kernel knows."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.build import tools

SOURCE = Path(__file__).with_name("ptrace_amx.c")


@pytest.fixture
def said(tmp_path: Path) -> Callable[..., list[str]]:
    """What the program says with the processor, and with what is preloaded before it."""
    program, processor = tmp_path / "program", tmp_path / "processor.so"
    subprocess.run(["cc", "-o", program, SOURCE], check=True)
    how = ["-shared", "-fPIC", "-DPRELOADED"]
    subprocess.run(["cc", *how, "-o", processor, SOURCE], check=True)

    def run(*preloaded: Path) -> list[str]:
        env = os.environ | {"LD_PRELOAD": ":".join(map(str, [*preloaded, processor]))}
        run = subprocess.run([program], env=env, capture_output=True, text=True, check=True)
        return run.stdout.splitlines()

    return run


def test_what_is_missing_is_zeros(said: Callable[..., list[str]]) -> None:
    """Linux refuses a part of the registers; all are written, what was not given as zeros."""
    assert said()[0] == "2696: Bad address"
    assert said(tools.programs() / "xstate.so")[:4] == [
        f"{length}: 11008 as they should be" for length in (2696, 11008, 2696, 832)
    ]


def test_what_they_are_already_is_not_set(said: Callable[..., list[str]]) -> None:
    """Others are, and so are the same where the process has run since they were read."""
    assert said(tools.programs() / "xstate.so")[4:] == [
        "the same: set 0 times, 'd'",
        "others: set 1 times, 'x'",
        "the same after it has run: set 1 times, 'x'",
    ]
