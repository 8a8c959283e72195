#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a program can do to a congestion control through sockets, on a stock kernel.

    sockets.py CASE ALGORITHM MODULE

Runs one case as root; exit status 0 if the kernel did as it should, otherwise 1 and
what it did instead.  Needs nothing but the standard library of Python >= 3.11.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

CC = sys.argv[2]
MODULE = sys.argv[3]
EVENT = MODULE.removeprefix("tcp_")  # of all names that the module registers
NOBODY = 65534
SYSCTL = Path("/proc/sys/net/ipv4")
TRACE = Path("/sys/kernel/tracing")

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PR_SET_DUMPABLE = 4


def check(condition: object, what: str) -> None:
    """End the case, saying `what`, unless `condition` holds."""
    if not condition:
        sys.exit(f"{CC}: {what}")


def get_cc(s: socket.socket) -> str:
    return s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b"\0")[0].decode()


def set_cc(s: socket.socket, name: str) -> None:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())


def try_cc(s: socket.socket, name: str = CC) -> int:
    """Select `name` on `s`: the errno, 0 if it was taken."""
    try:
        set_cc(s, name)
    except OSError as error:
        return error.errno or -1
    return 0


def info(s: socket.socket) -> dict[str, int]:
    """rto and rtt in microseconds, cwnd and ssthresh in packets, retransmissions of all time."""
    words = struct.unpack("8x24I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104))
    named = {"rto": 0, "rtt": 15, "ssthresh": 17, "cwnd": 18, "retransmissions": 23}
    return {name: words[i] for name, i in named.items()}


def users() -> int:
    """How many references the module has."""
    return int(Path(f"/sys/module/{MODULE}/refcnt").read_text())


def unused() -> None:
    """The module's last reference goes with its last socket; RCU may keep that for a bit."""
    for _ in range(100):
        if users() == 0:
            return
        time.sleep(0.1)
    check(False, f"{users()} references to the module remain after close")


def as_nobody(action: Callable[[], int]) -> int:
    """`action`'s result, at most 255, as an ordinary user."""
    pid = os.fork()
    if pid == 0:
        result = 255
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            result = action()
        finally:
            os._exit(result)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@contextmanager
def sysctl(name: str, value: str) -> Iterator[None]:
    path = SYSCTL / name
    before = path.read_text()
    path.write_text(value)
    try:
        yield
    finally:
        path.write_text(before)


@contextmanager
def loopback(does: str) -> Iterator[None]:
    """netem on the loopback device."""
    subprocess.run(f"tc qdisc replace dev lo root netem {does}", shell=True, check=True)
    try:
        yield
    finally:
        subprocess.run("tc qdisc del dev lo root", shell=True, check=True)


def pair(
    cc: str = CC, *, server_cc: str | None = None, buffer: int = 0
) -> tuple[socket.socket, socket.socket]:
    """A connection over loopback, sender first, which uses `cc` from its first packet."""
    listener = socket.create_server(("127.0.0.1", 0))
    if server_cc:
        set_cc(listener, server_cc)
    sender = socket.socket()
    for s in (listener, sender):
        s.settimeout(60)
        if buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    set_cc(sender, cc)
    sender.connect(listener.getsockname())
    receiver, _ = listener.accept()
    receiver.settimeout(60)
    listener.close()
    return sender, receiver


def transfer(sender: socket.socket, receiver: socket.socket, size: int) -> None:
    """Send `size` bytes; what arrives must be what was sent."""
    data = random.Random(size).randbytes(size)
    thread = threading.Thread(target=sender.sendall, args=(data,))
    thread.start()
    digest = hashlib.sha256()
    left = size
    while left:
        part = receiver.recv(min(left, 1 << 18))
        check(part, f"the connection ended with {left} bytes missing")
        digest.update(part)
        left -= len(part)
    thread.join()
    check(digest.digest() == hashlib.sha256(data).digest(), "data was damaged on the way")


@contextmanager
def traced() -> Iterator[None]:
    """The module's trace event on, its buffer empty."""
    (TRACE / "trace").write_text("")
    enable = TRACE / f"events/longfat/{EVENT}/enable"
    check(enable.exists(), f"no trace event longfat:{EVENT}")
    enable.write_text("1")
    try:
        yield
    finally:
        enable.write_text("0")


def events() -> list[str]:
    return [line for line in (TRACE / "trace").read_text().splitlines() if f" {EVENT}: " in line]


# --- the cases -------------------------------------------------------------


def autoload_setsockopt() -> None:
    """Root's setsockopt loads the module by name."""
    check(not Path(f"/sys/module/{MODULE}").exists(), "the module is there before the test")
    with socket.socket() as s:
        set_cc(s, CC)
        check(get_cc(s) == CC, f"the socket has {get_cc(s)}")
    check(Path(f"/sys/module/{MODULE}").exists(), f"no module {MODULE} was loaded")


def one_socket() -> None:
    """Selected on one socket; others keep the default."""
    default = (SYSCTL / "tcp_congestion_control").read_text().strip()
    check(default == "cubic", f"the default is {default}")
    a, b = pair()
    c, d = pair("cubic")
    check(get_cc(a) == CC, f"the socket that chose it has {get_cc(a)}")
    for s in (b, c, d, socket.socket()):
        check(get_cc(s) == "cubic", f"another socket has {get_cc(s)}")
    transfer(a, b, 1 << 20)
    transfer(c, d, 1 << 18)
    check(get_cc(a) == CC, f"after the transfer it has {get_cc(a)}")


def unprivileged() -> None:
    """An ordinary user is refused until the administrator allows it."""
    error = as_nobody(lambda: try_cc(socket.socket()))
    check(error == errno.EPERM, f"setsockopt as nobody gave errno {error}, not EPERM")
    allowed = (SYSCTL / "tcp_allowed_congestion_control").read_text().strip()
    with sysctl("tcp_allowed_congestion_control", f"{allowed} {CC}"):
        error = as_nobody(lambda: try_cc(socket.socket()))
        check(error == 0, f"allowed, setsockopt as nobody gave errno {error}")
    error = as_nobody(lambda: try_cc(socket.socket()))
    check(error == errno.EPERM, f"no longer allowed, setsockopt gave errno {error}")


def write(path: Path, text: str) -> int:
    """Write `text` to a file that is there: the errno, 0 if it was taken."""
    try:
        fd = os.open(path, os.O_WRONLY)
        os.write(fd, text.encode())
    except OSError as error:
        return error.errno or 254
    return 0


def become_root() -> bool:
    """In a new user namespace, whose root we are to be from now on; whether we are."""
    libc.prctl(PR_SET_DUMPABLE, 1)  # or /proc/self would be root's
    maps = (("uid_map", f"0 {NOBODY} 1"), ("setgroups", "deny"), ("gid_map", f"0 {NOBODY} 1"))
    return not any(write(Path("/proc/self", file), text) for file, text in maps)


def namespace() -> None:
    """An ordinary user with a user and a network namespace of his own gains nothing
    for anybody else: neither the default nor the list of allowed ones.

    The kernel (6.1 to 7.2 at least) forgets to give a reference to the module back
    when it refuses it as a namespace's default, so nobody can remove it after this.
    """

    def inside() -> int:
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
            return 200
        refused = (errno.EPERM, errno.EACCES)
        if write(SYSCTL / "tcp_congestion_control", CC) not in refused:
            return 201
        if write(SYSCTL / "tcp_allowed_congestion_control", CC) not in refused:
            return 202
        # The namespace's owner holds CAP_NET_ADMIN over it and may choose for sockets
        # there; in yet another user namespace he no longer does.
        if not become_root():
            return 204
        if try_cc(socket.socket()):
            return 205
        if libc.unshare(CLONE_NEWUSER):
            return 200
        return 0 if try_cc(socket.socket()) == errno.EPERM else 203

    result = as_nobody(inside)
    check(
        result == 0,
        {
            200: "no user namespace could be made",
            201: "a namespace could make it its default",
            202: "a namespace could allow it",
            204: "the namespace's users could not be mapped",
            205: "the root of a namespace could not choose it for a socket there",
            203: "without CAP_NET_ADMIN over the namespace, setsockopt was not refused",
        }.get(result, f"the namespace's process ended with {result}"),
    )


def everywhere(name: str, action: Callable[[], int]) -> None:
    """`action` gives 0 as an ordinary user, and as the root of his own namespaces."""

    def inside() -> int:
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) or not become_root():
            return 200
        return action()

    for who, run in (("nobody", action), ("the root of a namespace", inside)):
        result = as_nobody(run)
        check(result != 200, "no user namespace could be made")
        check(result == 0, f"{name} as {who} gave {result}")


def rights() -> None:
    """Parameters, events and the module itself are the machine's root's, whoever is root of
    a namespace; what the machine allows may be a namespace's default, and no other."""
    files = [*Path(f"/sys/module/{MODULE}/parameters").glob("*")]
    for file in files:
        mode = file.stat()
        check((mode.st_mode & 0o777, mode.st_uid) == (0o644, 0), f"{file}: {oct(mode.st_mode)}")
        value = file.read_text().strip()
        everywhere(f"writing {file.name}", lambda f=file, v=value: write(f, v) != errno.EACCES)
    for file in (TRACE / "trace", TRACE / f"events/longfat/{EVENT}/enable"):
        check(file.exists(), f"no {file}")
        everywhere(f"reading {file}", lambda f=file: os.access(f, os.R_OK) or os.access(f, os.W_OK))
    delete_module = 176

    def unload() -> int:
        failed = libc.syscall(delete_module, MODULE.encode(), os.O_NONBLOCK)
        return not (failed and ctypes.get_errno() == errno.EPERM)

    everywhere("unloading the module", unload)

    def default() -> int:
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) or not become_root():
            return 200
        path = SYSCTL / "tcp_congestion_control"
        return write(path, CC) or path.read_text().strip() != CC or get_cc(socket.socket()) != CC

    allowed = (SYSCTL / "tcp_allowed_congestion_control").read_text().strip()
    with sysctl("tcp_allowed_congestion_control", f"{allowed} {CC}"):
        error = as_nobody(default)
    check(error == 0, f"allowed, a namespace's root could not make it the default there: {error}")
    check((SYSCTL / "tcp_congestion_control").read_text().strip() == "cubic", "ours changed too")
    unused()


def autoload_nobody() -> None:
    """Without CAP_NET_ADMIN on the machine nobody has a module loaded."""

    def ask() -> int:
        if try_cc(socket.socket()) != errno.ENOENT:
            return 1
        # A namespace's root may write this, and names a module that is not there.
        return write(SYSCTL / "tcp_congestion_control", CC) not in (errno.ENOENT, errno.EACCES)

    everywhere("choosing an algorithm that is not loaded", ask)
    check(not Path(f"/sys/module/{MODULE}").exists(), "the module was loaded")


def in_use() -> None:
    """The module stays while a socket uses it, and goes afterwards."""
    a, b = pair()
    transfer(a, b, 1 << 16)
    check(users() > 0, "a socket uses the module and has no reference to it")
    done = subprocess.run(["rmmod", MODULE], capture_output=True, text=True)
    check(done.returncode and "in use" in done.stderr, f"rmmod in use: {done}")
    a.close()
    b.close()
    unused()
    done = subprocess.run(["rmmod", MODULE], capture_output=True, text=True)
    check(done.returncode == 0, f"rmmod after close: {done.stderr}")
    subprocess.run(["modprobe", MODULE], check=True)


def trace() -> None:
    """Its trace event fires, for this connection."""
    with traced():
        a, b = pair()
        transfer(a, b, 1 << 20)
        found = events()
    port = a.getsockname()[1]
    check(found, "no trace event")
    check(any(f":{port} " in line for line in found), f"no event of port {port}: {found[:3]}")


def resent(s: socket.socket) -> int:
    """Packets sent again by a connection: struct tcp_info's tcpi_total_retrans."""
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return int(struct.unpack_from("=I", info, 100)[0])


def observed() -> None:
    """A transfer for others to watch, until it had losses; says the sender's port."""
    a, b = pair()
    print("port", a.getsockname()[1], flush=True)
    for _ in range(64):
        transfer(a, b, 1 << 20)
        if resent(a) >= 5:
            return
    check(False, "64 MB without five losses on a path that is to lose 1 %")


def before_first_ack() -> None:
    """ss -i on a socket whose SYN nobody answers."""
    # A dummy device drops what it is given.
    subprocess.run("ip link add silent0 type dummy && ip link set silent0 up", shell=True)
    subprocess.run("ip address replace 192.0.2.1/24 dev silent0", shell=True)
    s = socket.socket()
    set_cc(s, CC)
    s.setblocking(False)
    s.connect_ex(("192.0.2.2", 9))
    shown = subprocess.run(
        ["ss", "-tinH", "state", "syn-sent"], capture_output=True, text=True, check=True
    ).stdout
    check(f" {CC} " in shown, f"ss -tin shows {shown!r}")


def after_lost_syn() -> dict[str, int]:
    """info() behind 400 packets of a connection whose SYN was lost.  "again": what it sent again
    of its data."""
    server, s = socket.socket(), socket.socket()
    for one in (server, s):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
        one.settimeout(60)
    server.bind(("127.0.0.1", 0))
    server.listen()
    with loopback("loss 100%"):
        s.setblocking(False)
        s.connect_ex(server.getsockname())
        set_cc(s, CC)
        began = time.monotonic()
        while not info(s)["retransmissions"]:
            check(time.monotonic() - began < 10, "no SYN was sent again")
            time.sleep(0.05)
    with loopback("delay 50ms limit 10000"):
        s.settimeout(60)
        receiver, _ = server.accept()
        receiver.settimeout(60)
        syns = info(s)["retransmissions"]
        # In five round trips; a window that grows by eight in each has 80 behind as many packets.
        transfer(s, receiver, 400_000)
        now = info(s)
    for one in (s, receiver, server):
        one.close()
    return now | {"again": now["retransmissions"] - syns}


def syn_lost() -> None:
    """Selected after connect(), whose SYN is lost: of the path that says nothing, and the window
    doubles in each round trip as it would without."""
    # A machine that stands still for 0.2 s lets a timer send again what was not lost.  That says
    # something of the path: another connection is asked.
    for _ in range(10):
        behind = after_lost_syn()
        if not behind["again"]:
            check(behind["cwnd"] >= 200, f"behind 400 packets the window is {behind}")
            return
    check(False, f"ten connections sent again what a path without loss has not lost: {behind}")


def listener() -> None:
    """Set on a listening socket, inherited by what is accepted, and given back."""
    before = users()
    a, b = pair("cubic", server_cc=CC)
    check(get_cc(b) == CC, f"the accepted socket has {get_cc(b)}")
    check(get_cc(a) == "cubic", f"the connecting socket has {get_cc(a)}")
    transfer(b, a, 1 << 20)
    # Connections that nobody accepts are closed with their listener.
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        set_cc(deaf, CC)
        waiting = [socket.create_connection(deaf.getsockname()) for _ in range(8)]
    for s in (a, b, *waiting):
        s.close()
    check(before == 0, f"{before} references before the test")
    unused()


def reconnect() -> None:
    """connect(AF_UNSPEC), then a second connection from the same socket."""
    a, b = pair()
    transfer(a, b, 1 << 20)
    unspecified = struct.pack("=H14x", socket.AF_UNSPEC)
    for _ in range(3):
        a.settimeout(None)
        check(libc.connect(a.fileno(), unspecified, 16) == 0, "connect(AF_UNSPEC) failed")
        b.close()
        check(get_cc(a) == CC, f"disconnected, it has {get_cc(a)}")
        server = socket.create_server(("127.0.0.1", 0))
        a.settimeout(60)
        a.connect(server.getsockname())
        b, _ = server.accept()
        server.close()
        check(get_cc(a) == CC, f"connected again, it has {get_cc(a)}")
        transfer(a, b, 1 << 20)
    a.close()
    b.close()
    unused()


def storm() -> None:
    """Switch between every algorithm there is in the middle of a transfer."""
    names = (SYSCTL / "tcp_available_congestion_control").read_text().split()
    check(len(names) > 5, f"too few algorithms to switch between: {names}")
    a, b = pair()
    done = threading.Event()
    switched = 0

    def switch() -> None:
        nonlocal switched
        rng = random.Random(1)
        while not done.is_set():
            # Every other one is ours: each of the others takes over from it.
            set_cc(a, CC if switched % 2 else rng.choice(names))
            switched += 1

    thread = threading.Thread(target=switch)
    thread.start()
    try:
        transfer(a, b, 1 << 20)
    finally:
        done.set()
        thread.join()
    check(switched > 100, f"only {switched} switches")
    set_cc(a, CC)
    transfer(a, b, 1 << 18)
    a.close()
    b.close()
    unused()


def idle() -> None:
    """Idle for several RTOs, a connection begins again with a small window."""
    threshold = Path(f"/sys/module/{MODULE}/parameters/window_threshold")
    if threshold.exists():
        before = threshold.read_text()
        threshold.write_text("2")  # layers from the first packets on: the restart crosses some
    with traced():
        a, b = pair()
        transfer(a, b, 8 << 20)
        grown = info(a)
        check(grown["cwnd"] > 20, f"the window did not grow: {grown}")
        # The kernel halves the window for each RTO without transmission, down to 10.
        # Time is all that there is to await.
        time.sleep((grown["cwnd"].bit_length() - 1) * grown["rto"] / 1e6)
        a.sendall(b"x")
        check(b.recv(1) == b"x", "nothing arrived after the pause")
        after = info(a)
        found = events()
    if threshold.exists():
        threshold.write_text(before)
    # SABUL's window is a ceiling: ten packets more than twice what its rate is for.
    most = 30 if CC == "sabul" else 11
    check(2 <= after["cwnd"] <= most, f"{grown} before the pause, {after} after it")
    if '"idle"' in (TRACE / f"events/longfat/{EVENT}/format").read_text():
        check(any("reason=idle" in line for line in found), "no trace event for the restart")
    transfer(a, b, 1 << 20)
    check(info(a)["cwnd"] >= 2, f"afterwards: {info(a)}")


def hostile() -> None:
    """Path MTU probing from the start, and buffers as small as they come."""
    with sysctl("tcp_mtu_probing", "2"), sysctl("tcp_base_mss", "48"):
        for buffer in (0, 1):
            a, b = pair(buffer=buffer)
            transfer(a, b, 1 << 16 if buffer else 1 << 20)
            check(info(a)["cwnd"] >= 1 and info(a)["ssthresh"] >= 2, f"{info(a)}")
            a.close()
            b.close()


CASES = {
    f.__name__: f
    for f in (
        autoload_setsockopt, autoload_nobody, one_socket, unprivileged, rights, namespace, in_use,
        trace, observed, before_first_ack, syn_lost, listener, reconnect, storm, idle, hostile,
    )
}  # fmt: skip

if __name__ == "__main__":
    CASES[sys.argv[1]]()
