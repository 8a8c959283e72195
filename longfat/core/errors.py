# SPDX-License-Identifier: GPL-2.0
"""What the lab raises for a person to read."""

from __future__ import annotations

import errno
from pathlib import Path

# A write fails with one of these for reasons that the user can mend.
UNWRITABLE = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM),
        *(errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG),  # no directory for it
    }
)
# The exit status of a job that could not write, sysexits' EX_CANTCREAT: for the Snakefile.
CANNOT_WRITE = 73


class LabError(RuntimeError):
    """Something that the user can mend: what was wrong, where, and what to do.

    The command line prints the message without a traceback and exits with 1.
    """


class Unwritable(LabError):
    """There is no space, or no right to write: whatever comes next would fail, too."""


class Disturbed(LabError):
    """Something outside of a run ended it: the same run, made again, may end well."""


def cannot_write(error: OSError, where: Path, remedy: str) -> Unwritable:
    """What to say of a write to `where` that failed; `error` itself if it is none."""
    if error.errno not in UNWRITABLE:
        raise error
    return Unwritable(f"{where}: cannot be written: {error.strerror}: {remedy}")
