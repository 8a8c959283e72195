# SPDX-License-Identifier: GPL-2.0
"""Vector registers on a processor that has more of them than the virtual-time kernel knows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from longfat.build import tools

SOURCE = Path(__file__).with_name("ptrace_amx.c")


def test_what_is_missing_is_zeros(tmp_path: Path) -> None:
    """Linux refuses a part of the registers; all are written, what was not given as zeros."""
    program, processor = tmp_path / "program", tmp_path / "processor.so"
    subprocess.run(["cc", "-o", program, SOURCE], check=True)
    how = ["-shared", "-fPIC", "-DPRELOADED"]
    subprocess.run(["cc", *how, "-o", processor, SOURCE], check=True)

    def said(*preloaded: Path) -> list[str]:
        env = os.environ | {"LD_PRELOAD": ":".join(map(str, preloaded))}
        run = subprocess.run([program], env=env, capture_output=True, text=True, check=True)
        return run.stdout.splitlines()

    assert said(processor)[0] == "2696: Bad address"
    assert said(tools.programs() / "xstate.so", processor) == [
        f"{length}: 11008 as they should be" for length in (2696, 11008, 2696, 832)
    ]
