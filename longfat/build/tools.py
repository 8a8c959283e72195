# SPDX-License-Identifier: GPL-2.0
"""The small C programs of the lab, and a tc that knows netem's seed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from longfat.build import debian, objects
from longfat.core import cache, process
from longfat.core.errors import LabError

GUEST = Path(__file__).parents[1] / "guest"
CONFIG = Path(__file__).parent / "config"

_PROGRAMS = {
    "lfgen": ["-static", "lfgen.c", "-lm"],
    "lforder": ["-static", "lforder.c"],
    "lfcap": ["-static", "lfcap.c"],
    "chaos": ["-static", "chaos.c", "-lm"],
    "poweroff": ["-static", "poweroff.c"],
    "getrandom.so": ["-shared", "-fPIC", "getrandom.c"],
    "xstate.so": ["-shared", "-fPIC", "xstate.c"],
    "ticks": ["ticks.c"],
}

# In place of libc's functions in the virtual-time kernel's process.
PRELOADED = ("getrandom.so", "xstate.so")

# Which of them a result is known by.
DECIDING = ("lfgen", "getrandom.so")


def need(*programs: str) -> None:
    """Raise LabError unless every program is installed."""
    # Experiments look for them in the first of these paths, the lab itself in the second.
    paths = ("/usr/sbin:/sbin:/usr/bin:/bin", f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    missing = [p for p in programs if not all(shutil.which(p, path=path) for path in paths)]
    if missing:
        raise LabError(
            f"missing in {' or in '.join(paths)}: {', '.join(missing)}. Run `make deps` (it "
            f"says what it installs), or install Debian's packages of these names yourself"
        )


def need_header(name: str, package: str) -> None:
    """Raise LabError unless a C program can include this file of Debian's package."""
    need("cc")
    command = ["cc", "-E", "-include", name, "-x", "c", "/dev/null", "-o", "/dev/null"]
    if process.call(command).returncode:
        raise LabError(f"the header {name} is missing: install Debian's package {package}")


def _object(name: str, to: Path) -> Path:
    """A program's own code, without the libraries that it is linked with."""
    path = to / f"{Path(name).stem}.o"
    how = [word for word in _PROGRAMS[name] if word == "-fPIC"]
    source = str(GUEST / f"{Path(name).stem}.c")
    result = process.call(["cc", "-O2", *how, "-c", "-o", str(path), source])
    if result.returncode:
        raise LabError(f"compiling {name} failed:\n{result.stdout}")
    return path


def programs() -> Path:
    """A directory with the programs above, compiled for this machine, and the digests of those
    that decide what a run gives."""
    need("cc")

    def make(path: Path) -> None:
        for name, args in _PROGRAMS.items():
            result = process.call(
                ["cc", "-O2", "-Wall", "-Wextra", "-o", str(path / name), *args], cwd=GUEST
            )
            if result.returncode:
                raise LabError(f"compiling {name} failed:\n{result.stdout}")
        objects.write_digests((_object(name, path) for name in DECIDING), path)
        for left in path.glob("*.o"):
            left.unlink()

    key = cache.digest(*sorted(GUEST.glob("*.c")), _PROGRAMS)
    return cache.entry(f"programs-{key}", make, (objects.DIGESTS,))


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


# What Debian's newest tc is linked with.
_LIBRARIES = (
    *("libc6", "libbpf1", "libelf1t64", "libmnl0", "libcap2", "libxtables12"),
    *("zlib1g", "libzstd1"),
)


def newest_tc() -> Path:
    """The directory of a `tc` that is Debian's newest, with the libraries of the same suite: it
    knows queue disciplines that the system's does not, and would not run with the system's."""
    suite = "sid"

    def make(path: Path) -> None:
        debian.version("iproute2", suite)
        for package in ("iproute2", *_LIBRARIES):
            debian.unpack(package, suite, path / package)
        libraries = path / "lib"
        libraries.mkdir()
        for package in _LIBRARIES:
            for file in (path / package).rglob("*.so*"):
                if file.parent.name == "x86_64-linux-gnu":
                    shutil.copy(file, libraries)
        shutil.copy(next((path / "iproute2").rglob("sbin/tc")), path / "tc.newest")
        for package in ("iproute2", *_LIBRARIES):
            shutil.rmtree(path / package)
        script = path / "tc"
        script.write_text(_WITH_LIBRARIES)
        script.chmod(0o755)

    return cache.entry(f"iproute2-{suite}", make, ("tc", "tc.newest", "lib/libc.so.6"))


# A program in tc's place, which is a link to it.
_WITH_LIBRARIES = """#!/bin/sh
at=$(dirname "$(readlink -f "$0")")
exec "$at/lib/ld-linux-x86-64.so.2" --library-path "$at/lib" "$at/tc.newest" "$@"
"""
