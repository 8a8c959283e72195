# SPDX-License-Identifier: GPL-2.0
"""The backends of real time run the same scenario: Debian's own kernel, and `host` on it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SCENARIOS
from rich.console import Console

from longfat.build import given
from longfat.build.modules import ROOT
from longfat.machines import suite, vm
from longfat.run import result, runner, scenario
from longfat.run.backends import Vm
from longfat.run.result import Json

REALTIME = SCENARIOS / "realtime.toml"
OWN = """
title = "a module of two names"
duration = "4s"
[link]
rate = "10mbit"
buffer = "1bdp"
[[flow]]
cc = "half-2"
rtt = "40ms"
[module.half]
most = "0,10"
"""


def judge(one: Json, backend: str) -> None:
    """The run really was on that backend, with ltcp, and filled most of the path."""
    assert one["backend"] == backend
    assert one["kernel"] == suite.kernel("bookworm")
    assert one["flows"][0]["cc"] == "ltcp"
    assert one["flows"][0]["rtt_ms"]["p50"] >= 40
    assert 0.6 <= one["summary"]["utilisation"] <= 1.02


@pytest.mark.usefixtures("machine")
def test_vm(tmp_path: Path) -> None:
    backend = Vm()
    backend.prepare(lambda _: None)
    jobs = runner.jobs_for(scenario.load(REALTIME), None, tmp_path)
    runner.run(jobs, backend, workers=1, timeout=400, console=Console(quiet=True))
    judge(result.read(jobs[0].path), "vm")


@pytest.mark.long
@pytest.mark.usefixtures("machine")
def test_vm_takes_modules(tmp_path: Path) -> None:
    """Those of the user's own, built and loaded there."""
    backend = Vm()
    backend.prepare(lambda _: None)
    try:
        backend.take([ROOT / "tests/yours/pair.c"], lambda _: None)
        (tmp_path / "own.toml").write_text(OWN)
        jobs = runner.jobs_for(scenario.load(tmp_path / "own.toml"), None, tmp_path)
        runner.run(jobs, backend, workers=1, timeout=400, console=Console(quiet=True))
    finally:
        given.forget()
    one = result.read(jobs[0].path)
    assert one["kernel"] == suite.kernel("bookworm")
    assert max(one["flows"][0]["connections"][0]["cwnd"]) == 10
    assert list(one["identity"]["modules"]) == ["pair"]
    assert "pair: keeps 512, note is 'none'" in one["log"]


def in_guest(where: Path, setup: str, command: str) -> Path:
    """Run `command` as root on Debian's kernel, in a copy of the tree that can run the lab, and
    before that `setup` in its chroot, where a compiler is fast; the directory that it sees as
    /out."""
    site = where / "site"
    # The lab's requirements for the guest's Python, which need not be this one.
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--target", str(site)]
        + ["--python-version", "3.11", "--only-binary=:all:"]
        + ["-r", str(ROOT / "longfat/requirements.txt")],
        check=True,
    )
    # A copy: the tree belongs to whoever runs this, and the guest builds in it as root.
    tree = where / "tree"
    tree.mkdir()
    for part in (
        "Makefile",
        "dkms.conf",
        "man",
        "Kbuild",
        "include",
        "longfat",
        "scripts",
        "tests/scenarios",
        "tests/yours",
        *(path.name for path in ROOT.glob("tcp_*")),
    ):
        source = ROOT / part
        target = tree / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-r", str(source), str(target)], check=True)
    out, warm = where / "out", where / "warm"
    out.mkdir()
    warm.mkdir()
    # The lab's programs, too.
    made = (
        "XDG_CACHE_HOME=/cache PYTHONPATH=/site python3 -c "
        "'from longfat.build import tools; tools.programs()'"
    )
    begin = (
        "cd /tree && export PYTHONPATH=/site XDG_CACHE_HOME=/tmp TMPDIR=/tmp\n"
        "cp -r /cache/longfat /tmp\n"
    )
    done = vm.run(
        begin + command,
        setup=f"cd /tree && {setup}{made}",
        binds=[(tree, "/tree"), (site, "/site"), (out, "/out"), (warm, "/cache")],
        timeout=1500,
    )
    assert done.returncode == 0, done.stdout
    return out


@pytest.mark.long
@pytest.mark.usefixtures("machine")
def test_host_in_a_vm(tmp_path: Path) -> None:
    """`longfat run --backend host` as root on Debian's kernel, modules made by `make install`:
    a result, and no namespace left; without the module an error that says what to do.
    In between `make uninstall`: it refuses, and says why, while ltcp is the default and
    while a socket uses it; then it takes everything away."""
    holder = (
        "import socket, time; s = socket.create_server(('127.0.0.1', 4242)); "
        "s.setsockopt(6, 13, b'ltcp'); open('/tmp/ready', 'w').write('x'); time.sleep(600)"
    )
    command = (
        f'holder="{holder}"\n'
        "run='python3 -m longfat run tests/scenarios/realtime.toml --backend host'\n"
        "modprobe tcp_ltcp && $run -o /out || exit 1\n"
        "ip netns list | grep . && exit 2\n"
        # In the middle of a run, as soon as it has its network.
        "mem=$(cat /proc/sys/net/ipv4/tcp_mem)\n"
        "$run -o /out/never & until ip netns list | grep -q .; do sleep 0.2; done\n"
        "kill -TERM $! ; wait $!\n"
        '[ $? = 130 ] && [ -z "$(ip netns list)" ] || exit 9\n'
        '[ "$mem" = "$(cat /proc/sys/net/ipv4/tcp_mem)" ] || exit 10\n'
        'cd /tree && uninstall="make KVER=$(uname -r) uninstall"\n'
        "sysctl -qw net.ipv4.tcp_congestion_control=ltcp\n"
        "$uninstall 2>/out/default && exit 6\n"
        "sysctl -qw net.ipv4.tcp_congestion_control=cubic\n"
        "mkfifo /tmp/ready\n"
        'python3 -c "$holder" & read -r _ </tmp/ready\n'
        "$uninstall 2>/out/socket && exit 7\n"
        "kill $! && wait $!\n"
        "$uninstall && [ ! -e /sys/module/tcp_ltcp ] || exit 3\n"
        "[ ! -e /lib/modules/$(uname -r)/updates/longfat ] || exit 8\n"
        "$run -o /out/without 2>/out/error && exit 4\n"
        "ip netns list | grep . && exit 5\n"
        "exit 0\n"
    )
    out = in_guest(tmp_path, f"make KVER={suite.kernel('bookworm')} install && ", command)
    judge(result.read(out / "realtime-s1.json"), "host")
    assert "tcp_congestion_control=ltcp is its default" in (out / "default").read_text()
    assert "127.0.0.1:4242" in (out / "socket").read_text()
    assert "make install" in (out / "error").read_text()
    assert not list((out / "without").glob("*.json"))


@pytest.mark.long
@pytest.mark.usefixtures("machine")
def test_host_takes_modules(tmp_path: Path) -> None:
    """Those of the user's own, built with the kernel's headers.  What it loaded is gone after the
    run; the modules of the network stay, so a run before it has loaded them."""
    command = (
        f"cat >/tmp/own.toml <<'END'\n{OWN}END\n"
        "sed 's/half-2/reno/; /module.half/,$d' /tmp/own.toml >/tmp/first.toml\n"
        "run='python3 -m longfat run --backend host -o /out'\n"
        "$run /tmp/first.toml || exit 1\n"
        "cut -d' ' -f1 /proc/modules | sort >/out/before\n"
        "$run /tmp/own.toml --module tests/yours/pair.c || exit 2\n"
        "cut -d' ' -f1 /proc/modules | sort >/out/after\n"
        "ip netns list | grep . && exit 3\n"
        "exit 0\n"
    )
    out = in_guest(tmp_path, "", command)
    one = result.read(out / "own-s1.json")
    assert one["backend"] == "host" and one["kernel"] == suite.kernel("bookworm")
    assert max(one["flows"][0]["connections"][0]["cwnd"]) == 10
    assert "pair: keeps 512, note is 'none'" in one["log"]
    before = (out / "before").read_text().split()
    assert "sch_netem" in before and (out / "after").read_text().split() == before
