# SPDX-License-Identifier: GPL-2.0
"""The user's cache: kernels, programs and chroots that are made once.

An entry is a directory below ``$XDG_CACHE_HOME/longfat`` named by what it holds
and by a hash of everything that it was made from.  It is made under a lock in a
directory beside it and renamed when complete, so two runs at once never see or
make half an entry, and what an interrupted run left behind is made again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from longfat.core.errors import LabError, cannot_write


def directory() -> Path:
    """The cache directory, created if missing."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(base) / "longfat"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(error, path) from error
    return path


def _unwritable(error: OSError, path: Path) -> LabError:
    remedy = "free space there and allow writing, or set XDG_CACHE_HOME to another directory"
    return cannot_write(error, path, remedy)


@contextmanager
def lock(name: str, refusal: str = "") -> Iterator[None]:
    """Exclude other labs that lock `name`: wait for them, or refuse with these words.  A cache that
    is read-only needs no lock: what is in it stays, and nothing can be made."""
    held = FileLock(directory() / f".{name}.lock")
    try:
        try:
            held.acquire(timeout=0)
        except Timeout:
            if refusal:
                raise LabError(refusal) from None
            print(f"longfat: waiting for another longfat ({held.lock_file})", file=sys.stderr)
            held.acquire()
    except OSError as error:
        if os.access(directory(), os.W_OK):
            raise _unwritable(error, Path(held.lock_file)) from error
    try:
        yield
    finally:
        held.release()


def digest(*parts: object) -> str:
    """Twelve hex digits that stand for `parts` (paths by content, the rest as text)."""
    h = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else str(part).encode()
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()[:12]


def entry(name: str, make: Callable[[Path], None], needs: tuple[str, ...] = ()) -> Path:
    """The cached directory `name`, made by `make(directory)` if it is not there, or if
    one of the files `needs` (paths in it) has been lost.

    `make` gets an empty directory to fill and raises to say that it could not;
    nothing is kept then.  Its final path differs from the one it is made at, so
    what it makes must be relocatable.
    """
    path = directory() / name

    def whole() -> bool:
        return path.is_dir() and all((path / file).exists() for file in needs)

    if whole():
        return path
    partial = directory() / f".{name}.partial"
    with lock(name):
        if whole():
            return path
        try:
            remove(path)
            remove(partial)
            partial.mkdir()
            make(partial)
            partial.rename(path)
        except OSError as error:
            remove(partial)
            raise _unwritable(error, Path(error.filename or partial)) from error
        except BaseException:
            remove(partial)
            raise
    return path


def remove(path: Path) -> None:
    """Remove a directory tree, if it is there."""
    if path.exists():
        try:
            shutil.rmtree(path)
        except PermissionError:  # a chroot that sudo began
            subprocess.run(["sudo", "-n", "rm", "-rf", "--one-file-system", str(path)], check=True)
