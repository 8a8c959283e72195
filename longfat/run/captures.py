# SPDX-License-Identifier: GPL-2.0
"""The packets of a run, as guest/lfcap.c has written them: pcapng files."""

from __future__ import annotations

import glob
import mmap
import re
import shutil
import struct
from pathlib import Path

from longfat.core.errors import LabError
from longfat.core.files import replacing

_PACKET = 6  # the type of a packet's block
_PLACE = re.compile(r"before|behind|[sd]\d*")  # where packets may be captured


def _name(of: str) -> str:
    return f"{of}.pcapng"


def settle(run: Path, names: list[str]) -> dict[str, int]:
    """Put the packets of each file into the order of their times, as those of several devices come
    device by device; how many there are."""
    found = {}
    for name in names:
        path = run / _name(name)
        try:
            found[name] = _sort(path)
        except (OSError, ValueError, struct.error) as error:
            raise LabError(f"the run left no {path.name} that can be read: {error}") from error
    return found


def _sort(path: Path) -> int:
    partial = path.with_suffix(".sorted")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        head, packets, at = [], [], 0
        while at < len(data):
            kind, length = struct.unpack_from("<II", data, at)
            if length < 12 or at + length > len(data):
                raise ValueError(f"the block at {at} is cut off")
            if kind == _PACKET:
                high, low = struct.unpack_from("<II", data, at + 12)
                packets.append((high << 32 | low, at, length))
            else:
                head.append((at, length))
            at += length
        with partial.open("wb") as out:
            for at, length in [*head, *((at, length) for _, at, length in sorted(packets))]:
                out.write(data[at : at + length])
    partial.replace(path)
    return len(packets)


def place(name: str, result: Path) -> Path:
    """Where a capture is, beside its result file."""
    return result.with_name(f"{result.stem}-{_name(name)}")


def keep(run: Path, names: list[str], result: Path) -> None:
    """Copy the files beside the result file, each in one step; those of a run before it that has
    captured elsewhere are removed, as they are none of this one."""
    for name in names:
        remedy = "free space, choose a directory by --out, or capture less (pcap_bytes)"
        with replacing(place(name, result), remedy) as partial:
            shutil.copyfile(run / _name(name), partial)
    for path in result.parent.glob(f"{glob.escape(result.stem)}-*.pcapng"):
        name = path.stem.removeprefix(f"{result.stem}-")
        if name not in names and _PLACE.fullmatch(name):
            path.unlink()
