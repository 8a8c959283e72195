# SPDX-License-Identifier: GPL-2.0
"""Which core a virtual-time kernel runs on: one that no other of this cache's does, if there is."""

from __future__ import annotations

import fcntl
import itertools
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from longfat.core import cache
from longfat.core.errors import LabError

_turn = itertools.count()


def _lock(cores: list[int]) -> tuple[int, IO[str]]:
    """One of `cores` that is free, or else the first with a place left, and the open file that
    holds it."""
    # The cache may be one for many machines.
    directory = cache.directory() / "cores" / socket.gethostname()
    directory.mkdir(parents=True, exist_ok=True)
    for depth in itertools.count():
        for core in cores:
            held = (directory / f"{core}.{depth}").open("w")
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                held.close()
                if not isinstance(error, BlockingIOError):
                    raise
                continue
            return core, held
    raise AssertionError("count() has no end")


@contextmanager
def taken() -> Iterator[int]:
    """A core of ours for the block: one that fewest runs of this cache are on."""
    cores = sorted(os.sched_getaffinity(0))
    try:
        core, held = _lock(cores)
    except (OSError, LabError):
        # The cache cannot be written, so labs cannot know of each other.
        yield cores[(os.getpid() + next(_turn)) % len(cores)]
        return
    with held:
        yield core
