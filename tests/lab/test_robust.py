# SPDX-License-Identifier: GPL-2.0
"""A run that is killed, or has no space: it is said, nothing is left, and the next one works.

What needs no kernel to run for that is in tests/unit/test_robust.py.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from conftest import EMPTY, SMALL

from longfat.core import cache

pytestmark = pytest.mark.usefixtures("uml")

ROOT = Path(__file__).resolve().parents[2]


class Lab:
    """`longfat run` with temporary files and results of its own."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.tmp = work / "tmp"
        self.out = work / "out"
        self.tmp.mkdir()

    def command(self, duration: str, *options: str) -> list[str]:
        file = self.work / f"d{duration}.toml"
        file.write_text(SMALL.format(**EMPTY).replace("10s", duration))
        line = [sys.executable, "-m", "longfat", "run", str(file), "-o", str(self.out), *options]
        return line

    def start(self, command: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            env=os.environ | {"TMPDIR": str(self.tmp), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, command: list[str]) -> tuple[int, str]:
        process = self.start(command)
        _, said = process.communicate(timeout=200)
        return process.returncode, said

    def works(self) -> None:
        """The next run does, and nothing is left of it or of those before."""
        status, said = self.run(self.command("3s", "--seed", "1"))
        assert status == 0, said
        assert [path.name for path in self.out.iterdir()] == ["d3s-s1.json"]
        assert list(self.tmp.iterdir()) == []


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def test_killed_in_the_middle_of_two_runs(lab: Lab) -> None:
    """Their kernels end too; what they had in directories goes with the next run."""
    victim = lab.start(lab.command("100000s", "--seed", "1", "--seed", "2", "-j", "2"))
    until(lambda: len(list(lab.tmp.glob("longfat-*/progress"))) == 2)
    started = psutil.Process(victim.pid).children(recursive=True)
    kernels = [p for p in started if "umid=uml" in p.cmdline()]
    assert len(kernels) >= 4, "two, and what runs in them"
    victim.kill()
    victim.communicate()
    until(lambda: not living(started))
    assert len(list(lab.tmp.iterdir())) == 2 and not lab.out.exists()
    lab.works()


def test_a_kernel_that_is_killed(lab: Lab) -> None:
    victim = lab.start(lab.command("100000s", "--seed", "1"))
    until(lambda: list(lab.tmp.glob("longfat-*/progress")))
    kernel = min(
        (p for p in psutil.Process(victim.pid).children(recursive=True) if p.name() == "linux"),
        key=lambda p: p.pid,
    )
    kernel.send_signal(signal.SIGKILL)
    _, said = victim.communicate(timeout=30)
    assert victim.returncode == 1
    assert "longfat: the virtual-time kernel ended with status -9" in said
    assert not lab.out.exists()
    lab.works()


def test_two_at_once(lab: Lab) -> None:
    """Into one directory, the same runs: each ends well, and what is there is whole."""
    alone = lab.command("3s", "--seed", "1")
    assert lab.run(alone)[0] == 0
    (result,) = lab.out.iterdir()
    expected = json.loads(result.read_text())
    result.unlink()
    both = [lab.start(lab.command("3s", "--seed", "1", "--seed", "2")) for _ in range(2)]
    for one in both:
        _, said = one.communicate(timeout=200)
        assert one.returncode == 0, said
    assert sorted(path.name for path in lab.out.iterdir()) == ["d3s-s1.json", "d3s-s2.json"]
    assert json.loads(result.read_text()) == expected
    assert list(lab.tmp.iterdir()) == []


def mounted(prepare: str, command: list[str]) -> list[str]:
    """The command after the shell script `prepare`, which mounts what only it sees."""
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespace can be made here: run the tests as root")
    return [*unshare, "sh", "-ec", f'{prepare}\nexec "$@"', "sh", *command]


def test_the_first_run_of_a_machine(lab: Lab) -> None:
    """An empty /run, as after a boot: the bytes are those of every later run."""
    run = lab.command("3s", "--seed", "1")
    result = lab.out / "d3s-s1.json"
    made = []
    for command in (mounted("mount -t tmpfs run /run", run), run):
        status, said = lab.run(command)
        assert status == 0, said
        made.append(result.read_bytes())
        result.unlink()
    assert made[0] == made[1]


def refused(lab: Lab, mount: str, *options: str, duration: str = "100000s") -> str:
    """What a run says that fails after `mount`; that it leaves nothing."""
    left = lab.work / "left"
    where = re.findall(r"(\S+)$", mount)[0]
    run = lab.command(duration, "--seed", "1", *options)
    look = ["sh", "-c", f'"$@"; s=$?; find "{where}" -mindepth 1 >"{left}"; exit $s', "sh", *run]
    status, said = lab.run(mounted(mount, look))
    assert status == 1, said
    assert "longfat: " in said and "Traceback" not in said
    assert left.read_text() == "", "left behind"
    return said


def test_no_memory_for_the_kernel(lab: Lab) -> None:
    said = refused(lab, "mount -t tmpfs -o size=8m shm /dev/shm")
    assert "no space left in /dev/shm, where its memory is" in said and "size=" in said


def test_no_space_to_begin(lab: Lab) -> None:
    said = refused(lab, f"mount -t tmpfs -o size=100k tmp {lab.tmp}")
    assert "No space left on device" in said and "TMPDIR" in said


def test_no_space_in_the_middle(lab: Lab) -> None:
    """A run without end that fills it is given up at once."""
    said = refused(lab, f"mount -t tmpfs -o size=3m tmp {lab.tmp}")
    assert "d100000s, seed 1, given up: no space is left in" in said and "TMPDIR" in said
    lab.works()


def test_no_space_for_the_result(lab: Lab) -> None:
    lab.out.mkdir()
    said = refused(lab, f"mount -t tmpfs -o size=4k out {lab.out}", duration="10s")
    assert "d10s-s1.json: cannot be written: No space left on device" in said and "--out" in said


def test_a_cache_that_is_read_only(lab: Lab) -> None:
    """Warm, it is enough; cold, the run says what it cannot write."""
    here = cache.directory().parent
    only = f'mount --bind "{here}" "{here}"\nmount -o remount,bind,ro "{here}"'
    status, said = lab.run(mounted(only, lab.command("3s", "--seed", "1")))
    assert status == 0, said
    cold = lab.work / "cold/longfat"
    cold.mkdir(parents=True)
    (cold / "check").mkdir()
    only = only.replace(str(here), str(cold.parent))
    only += f"\nexport XDG_CACHE_HOME={cold.parent}"
    status, said = lab.run(mounted(only, lab.command("3s", "--seed", "1")))
    assert status == 1 and "Read-only file system" in said and "XDG_CACHE_HOME" in said, said
