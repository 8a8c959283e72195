# SPDX-License-Identifier: GPL-2.0
"""This end of a path: which algorithms this user may choose, and the settings that may limit a
connection.  It changes nothing but for the modules that the kernel loads, which are removed."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from longfat.core import process
from longfat.core.errors import LabError
from longfat.run import backends

SYSCTLS = Path("/proc/sys/net/ipv4")
DEVICES = Path("/sys/class/net")
SOCKSTAT = Path("/proc/net/sockstat")
HELD = 20  # seconds that connections which have ended may hold modules
# What TCP should never be without, and what it loses then.
FEATURES = {
    "tcp_window_scaling": "no window is larger than 64 kB",
    "tcp_timestamps": "a round trip is measured once a window, and old packets are not told from "
    "new ones",
    "tcp_sack": "of the losses of a window one is repaired in a round trip",
}


def sysctl(name: str) -> str:
    """The value of net.ipv4.NAME, "" if this kernel has none."""
    path = SYSCTLS / name
    return " ".join(path.read_text().split()) if path.exists() else ""


# --- algorithms


def _refused(cc: str) -> int:
    """The errno with which the kernel refuses `cc` for a socket of this user's, 0 if it does not.
    It is asked, as what may be chosen depends on capabilities and namespaces, too."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        try:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
        except OSError as error:
            return error.errno or errno.EINVAL
    return 0


def algorithms(wanted: list[str]) -> list[str]:
    """`wanted`, or all that are there and may be chosen; LabError if one may not be."""
    there = sysctl("tcp_available_congestion_control").split()
    for cc in wanted:
        why = _refused(cc)
        if why == errno.EPERM:
            allowed = sysctl("tcp_allowed_congestion_control")
            setting = shlex.quote(f"net.ipv4.tcp_allowed_congestion_control={allowed} {cc}")
            raise LabError(
                f"-C {cc}: only root may choose it here: run this as root, or open it to everyone "
                f"by `sudo sysctl {setting}`"
            )
        if why:
            raise LabError(
                f"-C {cc}: this kernel has no such congestion control, or its module is not "
                f"loaded: `sudo modprobe tcp_{cc}`, if it has one; there are {', '.join(there)}"
            )
        if wanted.count(cc) > 1:
            raise LabError(f"-C {cc}: is given twice")
    return wanted or sorted(cc for cc in there if not _refused(cc))


@contextmanager
def unloading(wanted: list[str], say: Callable[[str], None]) -> Iterator[None]:
    """The kernel loads an algorithm that root asks for.  What it loaded for these is removed when
    the block is left; `say` is told what cannot be, as by a connection that has not ended."""
    able = os.geteuid() == 0 and shutil.which("modprobe")
    absent = backends.absent(f"tcp_{cc}" for cc in wanted) if able else []
    try:
        yield
    finally:
        end = time.monotonic() + HELD
        for name in absent:
            try:
                backends.unload([name], end - time.monotonic())
            except LabError as error:
                say(str(error))


# --- settings


@dataclass(frozen=True)
class Host:
    """What may limit a connection at this end."""

    device: str
    mbps: int  # the interface's own rate, 0 if it has none
    qdiscs: tuple[str, ...]  # kinds, of all queues
    tcp_wmem: tuple[int, ...]  # least, first, most
    default: str  # what a socket has that asks for nothing
    remembers: bool = False  # ssthresh of a connection, for the next one to the same host
    # Pages of all TCP sockets; above the second value buffers grow no more.  None in a namespace,
    # where that is not seen.
    tcp_mem: tuple[int, ...] = ()
    pages: int = 0  # that they have now
    off: tuple[str, ...] = ()  # of FEATURES
    processors: int = 1


def _device(address: str) -> str:
    """The interface on which packets to `address` leave."""
    said = process.call(["ip", "-o", "route", "get", address]).stdout
    found = re.search(r" dev (\S+)", said)
    if not found:
        raise LabError(f"{address}: there is no route to it: {said.strip()}")
    return found[1]


def _qdiscs(device: str) -> tuple[str, ...]:
    said = process.call(["tc", "-j", "qdisc", "show", "dev", device])
    try:
        found = json.loads(said.stdout)
    except ValueError:
        return ()
    return tuple(dict.fromkeys(one["kind"] for one in found))


def _mbps(device: str) -> int:
    try:
        # -1, or an error, where there is none.
        return max(0, int((DEVICES / device / "speed").read_text()))
    except (OSError, ValueError):
        return 0


def _pages() -> int:
    """What all TCP sockets have."""
    found = re.search(r"^TCP: .*\bmem (\d+)", SOCKSTAT.read_text(), re.M)
    return int(found[1]) if found else 0


def look(address: str) -> Host:
    """This end of a connection to `address`."""
    device = _device(address)
    return Host(
        device=device,
        mbps=_mbps(device),
        qdiscs=_qdiscs(device),
        tcp_wmem=tuple(map(int, sysctl("tcp_wmem").split())),
        default=sysctl("tcp_congestion_control"),
        # Newer kernels remember metrics without ssthresh, by default.
        remembers=sysctl("tcp_no_metrics_save") == "0"
        and sysctl("tcp_no_ssthresh_metrics_save") in ("", "0"),
        tcp_mem=tuple(map(int, sysctl("tcp_mem").split())),
        pages=_pages(),
        off=tuple(name for name in FEATURES if sysctl(name) == "0"),
        processors=len(os.sched_getaffinity(0)),
    )


def resolve(name: str) -> str:
    """The one address of the far end that all connections go to; LabError if it has none."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise LabError(f"{name}: has no address: {getattr(error, 'strerror', error)}") from error
    return str(found[0][4][0])
