# SPDX-License-Identifier: GPL-2.0
"""Packages of any Debian suite, fetched without touching the system's own apt.

apt runs with a source list and a lists directory of our own below the cache.
Where Debian's mirror is, is taken from the system's configuration; on other
distributions from $LONGFAT_DEBIAN_MIRROR.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from longfat.core import cache, process
from longfat.core.errors import LabError

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def mirror() -> str:
    """The base address of a Debian mirror."""
    given = os.environ.get("LONGFAT_DEBIAN_MIRROR")
    if given:
        return given
    for path in [
        Path("/etc/apt/sources.list"),
        *sorted(Path("/etc/apt/sources.list.d").glob("*")),
    ]:
        if path.is_file():
            lines = path.read_text(errors="replace").splitlines()
            text = "\n".join(line for line in lines if not line.startswith("#"))
            # A source is a line or a paragraph.  Debian's own has the component main.
            for entry in re.split(r"\n\s*\n|\n(?=deb)", text):
                address = re.search(r"\bhttps?://\S+/debian/?(?=\s)", entry)
                if address and re.search(r"\smain(\s|$)", entry):
                    return address[0]
    raise LabError(
        "no Debian mirror in /etc/apt: set LONGFAT_DEBIAN_MIRROR to the address of one "
        "(the lab takes the kernel's source from Debian)"
    )


def _apt(suite: str) -> list[str]:
    """Options that keep apt inside of our directory for `suite`."""
    if not shutil.which("apt-get"):
        raise LabError("apt-get is missing: the lab needs a Debian or Ubuntu system")
    base = cache.directory() / "apt" / suite
    for sub in ("lists/partial", "archives/partial"):
        (base / sub).mkdir(parents=True, exist_ok=True)
    if not KEYRING.exists():
        raise LabError(f"{KEYRING} is missing: apt-get install debian-archive-keyring")
    (base / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {suite} main\n")
    return [
        f"-oDir::Etc::sourcelist={base}/sources.list",
        "-oDir::Etc::sourceparts=-",
        f"-oDir::State::lists={base}/lists",
        f"-oDir::Cache={base}",
        "-oAPT::Architecture=amd64",
        "-oAPT::Sandbox::User=",
        "-oAcquire::Languages=none",
        "-oAcquire::Retries=3",
    ]


def _run(command: list[str], cwd: Path | None = None) -> str:
    result = process.call(command, cwd=cwd)
    if result.returncode:
        raise LabError(
            f"{' '.join(command)} failed (is there a network, and space in "
            f"{cache.directory()}?):\n{result.stdout.strip()}"
        )
    return result.stdout


def version(package: str, suite: str, *, update: bool = True) -> str:
    """The newest version of `package` in `suite`."""
    options = _apt(suite)
    with cache.lock(f"apt-{suite}"):
        if update:
            _run(["apt-get", *options, "-qq", "update"])
        shown = _run(["apt-cache", *options, "madison", package])
    found = [line.split("|")[1].strip() for line in shown.splitlines() if "|" in line]
    if not found:
        raise LabError(
            f"Debian's suite {suite} has no package {package}{_siblings(package, options)}"
        )
    return found[0]


def _siblings(package: str, options: list[str]) -> str:
    """What to say of packages that differ in the version in their names."""
    stem = re.sub(r"[\d.]+$", "", package)
    if stem == package:
        return ""
    names = _run(["apt-cache", *options, "pkgnames", stem]).split()
    found = sorted(x for x in names if re.fullmatch(re.escape(stem) + r"[\d.]+", x))
    return f"; it has {', '.join(found)}" if found else ""


def unpack(package: str, suite: str, to: Path) -> None:
    """Fetch `package` (name or name=version) from `suite` and unpack it below `to`.

    apt checks the archive against the suite's signed index, so a broken download
    is an error here and never unpacked.
    """
    options = _apt(suite)
    download = to / ".download"
    download.mkdir(parents=True)
    with cache.lock(f"apt-{suite}"):
        _run(["apt-get", *options, "-qq", "download", package], cwd=download)
    for archive in download.glob("*.deb"):
        _run(["dpkg", "-x", str(archive), str(to)])
    shutil.rmtree(download)
