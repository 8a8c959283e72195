# SPDX-License-Identifier: GPL-2.0
"""Programs that end with everything that they started."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import psutil

from longfat.core import root
from longfat.core.errors import LabError


class Cancelled(LabError):
    """The run was ended from outside."""


# Never set: the default `cancel` of a run that nobody ends from outside.
NEVER = threading.Event()


def _ended(process: psutil.Process) -> bool:
    """It is gone, or waits for a parent to take notice, which may never come."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def kill_tree(pid: int) -> None:
    """Kill a process, its descendants and, if it leads a process group, what descendants
    that have ended left in it; wait until they are gone.

    What is root's, where we are not, is killed by sudo, which may be between it and us: what
    sudo started is among the descendants.
    """
    family: dict[int, psutil.Process] = {}
    try:
        parent = psutil.Process(pid)
        while True:
            # A stopped process starts no other.  So stop all, until no new one is found.
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
    denied: list[str] = []
    for process in family.values():
        try:
            process.kill()
        except psutil.AccessDenied:
            denied.append(str(process.pid))
        except psutil.Error:
            pass
    if denied:
        subprocess.run(root.as_root(["kill", "-KILL", *denied]), capture_output=True)
    end = time.monotonic() + 10
    while time.monotonic() < end and not all(map(_ended, family.values())):
        time.sleep(0.01)


def kill(process: subprocess.Popen[Any]) -> None:
    """End `process`, if it has not ended, with everything that it started, and wait for it."""
    if process.poll() is None:
        kill_tree(process.pid)
    process.wait()


@contextmanager
def closing(process: subprocess.Popen[Any]) -> Iterator[subprocess.Popen[Any]]:
    """`process`, which is killed as by kill() when the block is left."""
    try:
        yield process
    finally:
        kill(process)


# A guard.  It reads the number of a process group and then waits for the end of its input.
# That comes when the lab was killed; a lab that ends by itself kills the guard first.  Then
# the guard ends the group, which has $1 seconds to undo what it did.
_GUARD = """
read -r group && ! read -r _ || exit 1
i=$(($1 * 10))
[ "$i" = 0 ] || kill -TERM -"$group"
while [ "$i" -gt 0 ] && kill -0 -"$group"; do
    sleep 0.1
    i=$((i - 1))
done
kill -KILL -"$group"
"""

# What a command is begun with: the guard, whose input is $0, knows its group first.  If the lab
# was killed before, the guard is gone, and nothing begins.
_GUARDED = 'echo "$$" >"$0" && exec "$@"'
# What shells put into the environment of what they begin.
_OF_SHELLS = ("PWD", "OLDPWD", "SHLVL", "_")


def _guarded(
    command: list[str], guard: int, env: Mapping[str, str] | None, cwd: str | Path | None
) -> list[str]:
    """`command`, begun so, in the environment that it would have without.  OSError as Popen's if
    there is no such program."""
    given = os.environ if env is None else env
    name = os.path.join(cwd or "", command[0]) if "/" in command[0] else command[0]
    if not shutil.which(name, path=given.get("PATH", os.defpath)):
        code = errno.EACCES if os.path.exists(name) else errno.ENOENT
        raise OSError(code, os.strerror(code), command[0])
    restored = [f"--unset={name}" for name in _OF_SHELLS if name not in given]
    restored += [f"{name}={given[name]}" for name in _OF_SHELLS if name in given]
    return ["sh", "-c", _GUARDED, f"/proc/{guard}/fd/0", "env", *restored, *command]


def _end(process: subprocess.Popen[Any], grace: int) -> None:
    """Ask a command to end, and give it `grace` seconds; end what it leaves then.

    Only its own group is asked: what it started in sessions of their own has guards, which
    must live to see that it is gone.
    """
    family: list[psutil.Process] = []
    with suppress(psutil.Error):
        family = psutil.Process(process.pid).children(recursive=True)
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=grace)
    _, left = psutil.wait_procs(family, timeout=grace)
    for each in left:
        with suppress(psutil.Error):
            each.kill()


@contextmanager
def started(
    command: list[str], *, grace: int = 0, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """`command`, leading a session of its own; `options` are Popen's.

    When the block is left, and when the lab is killed in it, the command is ended with all
    that it started.  With `grace`, its process group gets SIGTERM first, and that many
    seconds to undo what it did.
    """
    guard = subprocess.Popen(
        ["sh", "-c", _GUARD, "longfat-guard", str(grace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert guard.stdin
    try:
        line = _guarded(command, guard.pid, options.get("env"), options.get("cwd"))
        process = subprocess.Popen(line, start_new_session=True, **options)
        try:
            yield process
        finally:
            if grace and process.poll() is None:
                _end(process, grace)
            kill_tree(process.pid)
            process.wait()
    finally:
        guard.kill()
        guard.wait()
        guard.stdin.close()


def call(
    command: list[str], *, output: IO[bytes] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run `command` to its end; its output, both streams, goes to the file or to stdout of
    the result."""
    with started(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output or subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **options,
    ) as process:
        said, _ = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, said or "")


def run(
    command: list[str],
    *,
    output: Path,
    timeout: float,
    cancel: threading.Event = NEVER,
    tick: Callable[[], None] = lambda: None,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    grace: int = 0,
) -> int:
    """Run `command` with its output in a file; its exit status.

    `tick` is called about five times a second.  When `cancel` is set or after
    `timeout` seconds the command is killed with all that it started, and
    Cancelled or LabError is raised.  `grace` is as in `started`.
    """
    with (
        output.open("wb") as out,
        started(
            command,
            grace=grace,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
        ) as process,
    ):
        began = time.monotonic()
        while True:
            try:
                return int(process.wait(timeout=0.2))
            except subprocess.TimeoutExpired:
                tick()
            if cancel.is_set():
                raise Cancelled("cancelled")
            if time.monotonic() - began > timeout:
                raise LabError(
                    f"no end after {timeout:.0f} s of wall time, given up (--timeout allows more)"
                )
