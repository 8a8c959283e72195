# SPDX-License-Identifier: GPL-2.0
"""Programs that end with everything that they started."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from .errors import LabError


class Cancelled(LabError):
    """The run was ended from outside."""


def kill_tree(pid: int) -> None:
    """Kill a process and all of its descendants, and wait until they are gone."""
    try:
        parent = psutil.Process(pid)
        family = [*parent.children(recursive=True), parent]
    except psutil.NoSuchProcess:
        return
    for process in family:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            pass
    psutil.wait_procs(family, timeout=10)


def run(
    command: list[str],
    *,
    output: Path,
    timeout: float,
    cancel: threading.Event,
    tick: Callable[[], None],
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> int:
    """Run `command` with its output in a file; its exit status.

    `tick` is called about five times a second.  When `cancel` is set or after
    `timeout` seconds the command is killed with all that it started, and
    Cancelled or LabError is raised.
    """
    with output.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
        began = time.monotonic()
        try:
            while True:
                try:
                    return process.wait(timeout=0.2)
                except subprocess.TimeoutExpired:
                    tick()
                if cancel.is_set():
                    raise Cancelled("cancelled")
                if time.monotonic() - began > timeout:
                    raise LabError(
                        f"no end after {timeout:.0f} s of wall time, given up "
                        f"(--timeout allows more)"
                    )
        finally:
            kill_tree(process.pid)
            process.wait()
