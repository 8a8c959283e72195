# SPDX-License-Identifier: GPL-2.0
"""What the lab raises for a person to read."""


class LabError(RuntimeError):
    """Something that the user can mend: what was wrong, where, and what to do.

    The command line prints the message without a traceback and exits with 1.
    """
