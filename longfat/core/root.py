# SPDX-License-Identifier: GPL-2.0
"""Commands as root, by sudo where we are not."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from longfat.core.errors import LabError


class Unavailable(LabError):
    """This machine lacks what is needed for it; says what."""


def as_root(command: Sequence[str], *, env: dict[str, str] | None = None) -> list[str]:
    """`command` as root, with `env` added to its environment.

    Raises Unavailable if we are not root and sudo cannot be asked without a terminal.
    """
    setting = ["env", *(f"{key}={value}" for key, value in (env or {}).items())] if env else []
    if os.geteuid() == 0:
        return [*setting, *command]
    if (
        not shutil.which("sudo")
        or subprocess.run(["sudo", "-n", "true"], stderr=subprocess.DEVNULL).returncode
    ):
        raise Unavailable(
            f"{Path(command[0]).name} needs root: run this as root, or with a sudo that asks for "
            "no password (chroots and mounts cannot be made otherwise)"
        )
    return ["sudo", "-n", "--", *setting, *command]
