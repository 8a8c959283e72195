# SPDX-License-Identifier: GPL-2.0
"""The cache: made once, and never half."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longfat.core import cache

ROOT = Path(__file__).resolve().parents[2]

# Makes the entry "thing" in three steps, the second of which waits for `go`.
MAKER = """
import sys, time
from pathlib import Path
from longfat.core import cache
work = Path(sys.argv[1])
def make(path):
    with (work / "log").open("a") as log:
        log.write("made\\n")
    (path / "half").write_text("1")
    (work / "started").touch()
    while not (work / "go").exists():
        time.sleep(0.01)
    (path / "whole").write_text("2")
print(cache.entry("thing", make))
"""


def start(work: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", MAKER, str(work)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(work / "cache")},
        stdout=subprocess.PIPE,
        text=True,
    )


def await_file(path: Path) -> None:
    end = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < end, f"{path} does not come"
        time.sleep(0.01)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def whole(path: Path) -> None:
    """A maker that insists on an empty directory."""
    assert list(path.iterdir()) == []
    (path / "whole").write_text("2")


def never(path: Path) -> None:
    raise AssertionError("made again")


def test_directory(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache.directory() == home / "cache/longfat"
    assert cache.directory().is_dir()
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(home / "me"))
    assert cache.directory() == home / "me/.cache/longfat"


def test_made_once(home: Path) -> None:
    path = cache.entry("thing", whole)
    assert (path / "whole").read_text() == "2"
    assert cache.entry("thing", never) == path
    assert cache.entry("other", whole) != path


def test_two_at_once_make_it_once(home: Path) -> None:
    first = start(home)
    await_file(home / "started")
    others = [start(home), start(home)]
    time.sleep(0.3)
    assert all(process.poll() is None for process in (first, *others))
    (home / "go").touch()
    said = {process.communicate(timeout=10)[0].strip() for process in (first, *others)}
    assert said == {str(home / "cache/longfat/thing")}
    assert [process.returncode for process in (first, *others)] == [0, 0, 0]
    assert (home / "log").read_text() == "made\n"
    assert sorted(p.name for p in (home / "cache/longfat/thing").iterdir()) == ["half", "whole"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_maker_that_raises_leaves_nothing(home: Path, error: type[BaseException]) -> None:
    def broken(path: Path) -> None:
        (path / "half").write_text("1")
        raise error("no")

    with pytest.raises(error):
        cache.entry("thing", broken)
    left = [p.name for p in cache.directory().iterdir() if p.is_dir()]
    assert left == []
    assert (cache.entry("thing", whole) / "whole").exists()


def test_a_maker_that_is_killed_is_done_again(home: Path) -> None:
    victim = start(home)
    await_file(home / "started")
    victim.send_signal(signal.SIGKILL)
    victim.communicate(timeout=10)
    assert not (home / "cache/longfat/thing").exists()
    path = cache.entry("thing", whole)
    assert [p.name for p in path.iterdir()] == ["whole"]
    assert [p.name for p in cache.directory().iterdir() if p.is_dir()] == ["thing"]


def test_one_that_waited_for_a_killed_one_makes_it(home: Path) -> None:
    victim = start(home)
    await_file(home / "started")
    waiting = start(home)
    time.sleep(0.3)
    victim.send_signal(signal.SIGKILL)
    victim.communicate(timeout=10)
    (home / "go").touch()
    assert waiting.communicate(timeout=10)[0].strip() == str(home / "cache/longfat/thing")
    assert (home / "log").read_text() == "made\n" * 2
    assert (home / "cache/longfat/thing/whole").exists()


def test_digest(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a")
    first = cache.digest(file, "x", 1)
    assert len(first) == 12 and int(first, 16) >= 0
    assert cache.digest(file, "x", 1) == first
    file.write_text("b")
    assert cache.digest(file, "x", 1) != first
    # The parts are kept apart, and in order.
    assert len({cache.digest(*p) for p in (("ab", "c"), ("a", "bc"), ("abc",), ("c", "ab"))}) == 4


def test_remove(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    cache.remove(tmp_path / "a")
    cache.remove(tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_an_entry_that_lost_a_file_is_made_again(home: Path) -> None:
    made = []

    def make(path: Path) -> None:
        made.append(path)
        (path / "image").write_text("1")

    for lost in (False, True):
        path = cache.entry("thing", make, ("image",))
        assert cache.entry("thing", make, ("image",)) == path
        assert len(made) == 1 + lost
        (path / "image").unlink()
    assert cache.entry("thing", make, ("image",)) == path and len(made) == 3
