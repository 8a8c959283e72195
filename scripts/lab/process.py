# SPDX-License-Identifier: GPL-2.0
"""Programs that end with everything that they started."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from .errors import LabError


class Cancelled(LabError):
    """The run was ended from outside."""


def _ended(process: psutil.Process) -> bool:
    """It is gone, or waits for a parent to take notice, which may never come."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def kill_tree(pid: int) -> None:
    """Kill a process that leads a session, its descendants, and what was left in its
    process group by descendants that have ended; wait until they are gone.
    """
    family: dict[int, psutil.Process] = {}
    try:
        parent = psutil.Process(pid)
        while True:
            # What is stopped starts no other: go on until nothing new is found.
            found = [parent, *parent.children(recursive=True)]
            new = [process for process in found if process.pid not in family]
            if not new:
                break
            for process in new:
                family[process.pid] = process
                with suppress(psutil.Error):
                    process.suspend()
    except psutil.NoSuchProcess:
        pass
    for process in psutil.process_iter():
        with suppress(OSError):
            if os.getpgid(process.pid) == pid:
                family.setdefault(process.pid, process)
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    for process in family.values():
        with suppress(psutil.Error):
            process.kill()
    end = time.monotonic() + 10
    while time.monotonic() < end and not all(map(_ended, family.values())):
        time.sleep(0.01)


def run(
    command: list[str],
    *,
    output: Path,
    timeout: float,
    cancel: threading.Event,
    tick: Callable[[], None],
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    grace: float = 0,
) -> int:
    """Run `command` with its output in a file; its exit status.

    `tick` is called about five times a second.  When `cancel` is set or after
    `timeout` seconds the command is killed with all that it started, and
    Cancelled or LabError is raised.  With `grace`, everything gets SIGTERM first, and
    the command that many seconds to undo what it did.
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
            if grace and process.poll() is None:
                with suppress(psutil.Error):
                    leader = psutil.Process(process.pid)
                    for each in [*leader.children(recursive=True), leader]:
                        with suppress(psutil.Error):
                            each.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=grace)
            kill_tree(process.pid)
            process.wait()
