# SPDX-License-Identifier: GPL-2.0
"""The small C programs of the lab, and a tc that knows netem's seed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from . import cache, debian
from .errors import LabError

GUEST = Path(__file__).parent / "guest"
DATA = Path(__file__).parent / "data"

_PROGRAMS = {
    "lfgen": ["-static", "lfgen.c", "-lm"],
    "poweroff": ["-static", "poweroff.c"],
    "getrandom.so": ["-shared", "-fPIC", "getrandom.c"],
}


def need(*programs: str) -> None:
    """Raise LabError unless every program is installed."""
    missing = [p for p in programs if not shutil.which(p, path="/usr/sbin:/sbin:/usr/bin:/bin")]
    if missing:
        raise LabError(
            f"missing: {', '.join(missing)}. Run `make deps` (it says what it installs), or "
            f"install Debian's packages of these names yourself"
        )


def programs() -> Path:
    """A directory with lfgen, poweroff and getrandom.so, compiled for this machine."""
    need("cc")

    def make(path: Path) -> None:
        for name, args in _PROGRAMS.items():
            result = subprocess.run(
                ["cc", "-O2", "-Wall", "-Wextra", "-o", str(path / name), *args],
                cwd=GUEST,
                capture_output=True,
                text=True,
            )
            if result.returncode:
                raise LabError(f"compiling {name} failed:\n{result.stderr}")

    key = cache.digest(*sorted(GUEST.glob("*.c")), _PROGRAMS)
    return cache.entry(f"programs-{key}", make)


def seeding_tc() -> Path | None:
    """The directory of a `tc` that can seed netem (iproute2 6.6 or newer), or None if
    the system's own is one."""
    need("tc")
    text = subprocess.run(["tc", "-V"], capture_output=True, text=True).stdout
    found = re.search(r"iproute2-(\d+)\.(\d+)", text)
    if found and (int(found[1]), int(found[2])) >= (6, 6):
        return None

    def make(path: Path) -> None:
        debian.version("iproute2", "bookworm-backports")
        debian.unpack("iproute2", "bookworm-backports", path)

    return cache.entry("iproute2-bookworm-backports", make) / "sbin"
