# SPDX-License-Identifier: GPL-2.0
"""Temporary directories that do not outlive the lab for long, whatever ends it.

Each is locked by the process that made it.  What a killed lab has left is locked by
nobody, and the next lab clears it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# The prefix of their names, and the pattern of what mkdtemp adds; hidden until they are locked.
USES = (
    "run", "suite", "vm", "stock", "matrix", "packages", "fuzz", "userspace", "mutations", "test",
)  # fmt: skip
_NAME = re.compile(rf"(\.?)longfat-(?:{'|'.join(USES)})\.[a-z0-9_]{{8}}")


def _old(path: Path, seconds: float = 60) -> bool:
    """Whether nothing was put into a directory, or taken out, for so long."""
    try:
        return time.time() - path.lstat().st_mtime > seconds
    except OSError:
        return False


def _lock(path: Path) -> int | None:
    """A descriptor that holds the lock of the directory `path`; None if another has it, or if
    it is gone or not ours."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if os.fstat(fd).st_uid == os.geteuid():
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
    except OSError:
        pass
    os.close(fd)
    return None


@contextmanager
def abandoned() -> Iterator[list[Path]]:
    """What killed labs have left; removed when the block is left."""
    here = Path(tempfile.gettempdir())
    held = []
    try:
        for path in sorted(here.iterdir()):
            named = _NAME.fullmatch(path.name)
            if not named or (named[1] and not _old(path)):
                continue
            fd = _lock(path)
            if fd is not None:
                held.append((path, fd))
        yield [path for path, _ in held]
    finally:
        for path, fd in held:
            shutil.rmtree(path, ignore_errors=True)
            os.close(fd)


@contextmanager
def directory(what: str) -> Iterator[Path]:
    """An empty directory, named with `what`, one of USES, for as long as the block."""
    if what not in USES:
        raise ValueError(f"a temporary directory for {what!r}: what clears them knows {USES}")
    with abandoned():
        pass
    # Lock it first.  Then give it the name that other labs look for.
    new = Path(tempfile.mkdtemp(prefix=f".longfat-{what}."))
    fd = _lock(new)
    path = new.with_name(new.name[1:])
    try:
        new.rename(path)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if fd is not None:
            os.close(fd)
        with suppress(OSError):
            new.rmdir()
