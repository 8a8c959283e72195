# SPDX-License-Identifier: GPL-2.0
"""Files that are there whole or not at all."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from longfat.core.errors import cannot_write


@contextmanager
def replacing(path: Path, remedy: str) -> Iterator[Path]:
    """The name of a file that takes the place of `path` when it is written.  If that cannot be,
    `path` is as it was, and LabError says what to do."""
    # Of this call alone: another lab may write the same file now.
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        partial.replace(path)
    except OSError as error:
        raise cannot_write(error, path, remedy) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def check_directory(directory: Path, remedy: str) -> None:
    """LabError if no file can be made in a directory, which need not be there yet."""
    there = directory
    try:
        while not _exists(there):
            there = there.parent
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise cannot_write(error, directory, remedy) from error


def _exists(path: Path) -> bool:
    """Not of what can never be there, as below a file: OSError."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True
