# SPDX-License-Identifier: GPL-2.0
"""A job of the workflow: one run of an evaluation."""

from __future__ import annotations

import signal
import sys

from longfat.arena import workflow
from longfat.core import process
from longfat.core.errors import CANNOT_WRITE, UNWRITABLE, LabError, Unwritable
from longfat.run.runner import terminable


def main(words: list[str]) -> int:
    given = workflow.arguments(words)
    try:
        with terminable():
            workflow.run(given.name, given.out)
    except LabError as error:
        print(f"longfat: {error}", file=sys.stderr)
        return CANNOT_WRITE if isinstance(error, Unwritable) else 1
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        print(f"longfat: {error}", file=sys.stderr)
        return CANNOT_WRITE
    except process.Cancelled:
        return 128 + signal.SIGINT
    except KeyboardInterrupt as stopped:
        # As of a program that the signal ended: the Snakefile looks which it was.
        return 128 + (stopped.args[0] if stopped.args else signal.SIGINT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
