# SPDX-License-Identifier: GPL-2.0
"""Programs end with everything that they started."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from longfat.core import process
from longfat.core.errors import LabError

# A parent, its child and grandchild; each writes its pid.
FAMILY = """
sh -c 'sleep 1000 & echo $! >>pids; echo $$ >>pids; wait' &
echo $! >/dev/null; echo $$ >>pids
wait
"""
# As before, but the middle one ends at once: the grandchild has no parent of ours.
ORPHAN = """
sh -c 'sleep 1000 & echo $! >>pids'
echo $$ >>pids; sleep 1000
"""


def alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class Pids:
    """What the commands of a test wrote down about themselves."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self) -> list[int]:
        return [int(x) for x in self.path.read_text().split()] if self.path.exists() else []

    def survivors(self) -> list[int]:
        return [pid for pid in self() if alive(pid)]


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pids]:
    monkeypatch.chdir(tmp_path)
    found = Pids(tmp_path / "pids")
    yield found
    for pid in found.survivors():
        os.kill(pid, signal.SIGKILL)


def run(
    script: str,
    *,
    timeout: float = 30,
    cancel: threading.Event | None = None,
    tick: Callable[[], None] = lambda: None,
    env: dict[str, str] | None = None,
) -> int:
    return process.run(
        ["sh", "-c", script],
        output=Path("output"),
        timeout=timeout,
        cancel=cancel or threading.Event(),
        tick=tick,
        env=env,
    )


def test_status_and_output(pids: Pids) -> None:
    assert run("echo out; echo err >&2; exit 3") == 3
    assert Path("output").read_text() == "out\nerr\n"
    assert run("kill -9 $$") == -9
    assert run("cat") == 0, "its input is empty"


def test_environment(pids: Pids) -> None:
    assert run("echo $A$HOME", env={"A": "a", "PATH": os.environ["PATH"]}) == 0
    assert Path("output").read_text() == "a\n"


def test_tick_is_called_while_it_runs(pids: Pids) -> None:
    ticks: list[float] = []
    run("sleep 1.1", tick=lambda: ticks.append(time.monotonic()))
    assert 2 <= len(ticks) <= 6


@pytest.mark.parametrize("script", [FAMILY, ORPHAN], ids=["family", "orphan"])
def test_cancel_ends_all(pids: Pids, script: str) -> None:
    cancel = threading.Event()
    want = 3 if script == FAMILY else 2

    def tick() -> None:
        if len(pids()) == want:
            cancel.set()

    with pytest.raises(process.Cancelled):
        run(script, cancel=cancel, tick=tick)
    assert len(pids()) == want
    assert pids.survivors() == []


@pytest.mark.parametrize("script", [FAMILY, ORPHAN], ids=["family", "orphan"])
def test_timeout_ends_all(pids: Pids, script: str) -> None:
    with pytest.raises(LabError, match=r"no end after 1 s .*--timeout") as caught:
        run(script, timeout=1)
    assert not isinstance(caught.value, process.Cancelled)
    assert len(pids()) >= 2
    assert pids.survivors() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_exception_ends_all(pids: Pids, error: type[BaseException]) -> None:
    def tick() -> None:
        if len(pids()) == 3:
            raise error

    with pytest.raises(error):
        run(FAMILY, tick=tick)
    assert pids.survivors() == []


def test_what_is_left_in_the_background_ends_too(pids: Pids) -> None:
    assert run("sleep 1000 & echo $! >>pids; exit 0") == 0
    assert len(pids()) == 1
    assert pids.survivors() == []


def test_a_busy_parent_cannot_start_another(pids: Pids) -> None:
    """A shell whose child is killed goes on with the next command, if it can."""
    script = "while :; do sh -c 'echo $$ >>pids; exec sleep 1000'; done"
    for _ in range(15):
        before = len(pids())
        started = subprocess.Popen(["sh", "-c", script], start_new_session=True)
        while len(pids()) == before:
            time.sleep(0.005)
        process.kill_tree(started.pid)
        started.wait()
        time.sleep(0.02)
        assert pids.survivors() == []


def test_kill_tree_of_nothing(pids: Pids) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    process.kill_tree(gone.pid)


def test_what_is_root_s_is_killed_by_sudo(pids: Pids, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where we may not signal what sudo runs for us, sudo is told to."""
    sudo = Path("bin/sudo")
    sudo.parent.mkdir()
    sudo.write_text('#!/bin/sh\necho "$*" >>sudos\nshift\n[ "$1" != -- ] || shift\nexec "$@"\n')
    sudo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{sudo.parent.resolve()}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    def denied(self: psutil.Process) -> None:
        raise psutil.AccessDenied(self.pid)

    monkeypatch.setattr(psutil.Process, "kill", denied)
    # In our session and process group: nothing but its number is known of it.
    with process.closing(subprocess.Popen(["sh", "-c", FAMILY])) as started:
        while len(pids()) < 3:
            time.sleep(0.01)
    assert pids.survivors() == []
    assert started.returncode == -signal.SIGKILL
    (asked, told) = Path("sudos").read_text().splitlines()
    assert asked == "-n true"
    assert told.startswith("-n -- kill -KILL ")
    assert set(map(int, told.split()[4:])) == {*pids(), started.pid}
