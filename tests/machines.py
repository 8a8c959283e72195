#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""`longfat measure` and the ssh backend with real parts: Debian's kernel in emulators, the Debian
package of our modules, sshd, iperf3, and netem as the path.

    scripts/longfat python tests/machines.py [--write] [PART...]

`clean` and `lossy` are what stock/measure.sh measures, in an emulator whose time is counted in
instructions.  `pair` is stock/pair.sh: two machines with a link between them, in real time.  What
was best on these paths has to be what the lab says of the scenarios that were written.  With
--write the transcripts of docs/measure.md are renewed.  KTAP.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
from longfat.build import modules
from longfat.core import root, scratch
from longfat.core.errors import LabError
from longfat.machines import suite, vm
from longfat.run.backends import Counted
from packages import tree

SUITE = "bookworm"
# Name -> what is lost, and what it is called.
PATHS = {"clean": ("0%", "50 Mbit/s x 60 ms"), "lossy": ("0.1%", "the same with 0.1 % loss")}
PAIR = "pair"
# What stock/pair.sh calls its measurements -> the path, and whether there is a best one.  Without
# loss real time in emulators may not tell them apart: there are 2 % and a few ms between them.
BETWEEN = {
    "pair": ("between two machines", False),
    "lossy-pair": ("between two machines with 0.1 % loss", True),
}
PAGE = modules.ROOT / "docs/measure.md"
# Seven rounds are enough for three contenders.  Random losses hit one round and not the other: one
# in which ltcp loses a packet in slow start is enough to make seven chance.
LENGTH = {"clean": "--rounds 7 --seconds 3", "lossy": "--rounds 14 --seconds 5"}
TIMEOUT = 7200  # seconds for a guest

# In a chroot, where a compiler is fast.
PACKAGE = """
set -e
cp -r /mnt/longfat /src
cd /src
scripts/deb.sh /packages
cp /packages/longfat-dkms_*.deb /mnt/package
"""
SETUP = """
set -e
dpkg -i /mnt/package/longfat-dkms_*.deb
dkms autoinstall -k "$(basename /lib/modules/*)"
"""


def environment() -> Path:
    """The packages of the lab's Python; LabError if they are not for the guest's."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if not (suite.chroot(SUITE) / "usr/bin" / version).exists():
        raise root.Unavailable(f"Debian {SUITE} has another Python than {version}, of this lab")
    return Path(sys.prefix) / "lib" / version / "site-packages"


class Bench:
    """What all guests see: the tree, the package that was built of it, and where results go."""

    def __init__(self, out: Path, copy: Path, package: Path) -> None:
        self.out, self.copy, self.package = out, copy, package

    def build(self) -> None:
        modules.copy(tree(), self.copy)
        binds = [(self.copy, "/mnt/longfat"), (self.package, "/mnt/package")]
        done = suite.run(SUITE, PACKAGE, binds=binds, timeout=TIMEOUT)
        if done.returncode:
            raise LabError(f"the package cannot be built:\n{done.stdout[-2000:]}")

    def guest(self, name: str, title: str, script: str, **options: Any) -> ktap.Result:
        """What a script of tests/stock says in a guest of its own; NAME.log has it, too, and it is
        seen on stderr as it comes."""
        log, wrong = self.out / f"{name}.log", ""
        with log.open("w") as to:

            def comes(line: str) -> None:
                print(line, end="", file=to, flush=True)
                print(f"{name}: {line}", end="", file=sys.stderr, flush=True)

            try:
                done = vm.run(
                    f"PYTHONPATH=/mnt/longfat:/mnt/python sh /mnt/longfat/tests/stock/{script}",
                    suite=SUITE,
                    setup=SETUP,
                    binds=[
                        *((self.copy, "/mnt/longfat"), (self.package, "/mnt/package")),
                        *((environment(), "/mnt/python"), (self.out, "/mnt/out")),
                    ],
                    output=comes,
                    timeout=TIMEOUT,
                    **options,
                )
                good = done.returncode == 0
            except LabError as error:
                good, wrong = False, f"\n{error}"
        return ktap.Result(title, good, log.read_text() + wrong, indent="    ")


# --- in counted time


def measured(bench: Bench, name: str) -> ktap.Result:
    loss, title = PATHS[name]
    return bench.guest(
        name,
        f"measured on Debian's kernel: {title}",
        f"measure.sh /mnt/out {name} {loss} '{LENGTH[name]}'",
        arguments=Counted.arguments,
        **vm.COUNTED,
    )


# A recommendation that has a real difference as its reason.
REAL = r"Take \w+(: its .* is really |, which keeps .* and that is real\.)"


# What `longfat compare` says where the lab's best is one of several.
NOT_TOLD_APART = "are not told apart; the lab: take "


def beside(out: Path, name: str, path: str, *, told: bool = True) -> ktap.Result:
    """Whether what was measured on this path has a best one, and the lab the same; or if that need
    not be `told`, whether it is one of those that are not told apart."""
    title = f"the lab recommends what was best: {path}"
    if not (out / f"{name}.toml").exists():
        return ktap.Result(title, False, "nothing was measured")
    command = [sys.executable, "-m", "longfat", "compare", str(out / f"{name}.toml")]
    done = subprocess.run(
        [*command, "-o", str(out / f"lab-{name}")],
        env={**os.environ, "PYTHONPATH": str(modules.ROOT), "COLUMNS": "120"},
        capture_output=True,
        text=True,
    )
    (out / f"{name}.compared").write_text(done.stdout)
    said = (out / f"{name}.said").read_text()
    told_apart = re.search(REAL, said) is not None
    return ktap.Result(
        title,
        ("that is what was measured, and what the lab says." in done.stdout and told_apart)
        or (not told and NOT_TOLD_APART in done.stdout),
        said + done.stdout + done.stderr,
    )


# --- two machines


def tell(emulator: Path, command: str) -> None:
    """QEMU's monitor, which does one thing for each connection."""
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.settimeout(10)
        monitor.connect(str(emulator))
        with monitor.makefile("rw") as lines:
            lines.readline()
            for word in ("qmp_capabilities", command):
                lines.write(json.dumps({"execute": word}) + "\n")
                lines.flush()
                lines.readline()


def asked(out: Path, emulator: Path) -> bool:
    """Do to the emulator of the far machine what stock/pair.sh wants."""
    for command in ("stop", "cont", "quit"):
        if (wanted := out / command).exists():
            try:
                tell(emulator, command)
            except OSError:
                # Who is gone does not answer; the others are asked again.
                if command != "quit":
                    continue
            wanted.rename(out / f"{command}.done")
    return False


def pair(bench: Bench) -> ktap.Result:
    """Two guests with a cable between them; what near says.  Far ends when near has."""
    with scratch.directory("stock") as link:
        over = threading.Event()

        # QEMU's dgram is never full: a machine that sends to one that is stopped would spin.
        cable = link / "cable"

        def machine(role: str, poll: Callable[[], bool], *more: str) -> ktap.Result:
            server = "on" if role == "far" else "off"
            end = f"stream,id=link,server={server},addr.type=unix,addr.path={cable}"
            return bench.guest(
                role,
                "two machines with Debian's kernel",
                f"pair.sh /mnt/out {role}",
                qemu=(
                    *("-netdev", end),
                    *("-device", f"virtio-net-pci,netdev=link,mac=52:54:00:00:00:0{len(role) - 2}"),
                    *more,
                ),
                poll=poll,
            )

        monitor = link / "monitor"
        qmp = ("-qmp", f"unix:{monitor},server=on,wait=off")
        with ThreadPoolExecutor(1) as pool:
            wanted = partial(asked, bench.out, monitor)
            far = pool.submit(machine, "far", lambda: over.is_set() or wanted(), *qmp)
            gone = bench.out / "quit.done"  # as it was wanted
            try:
                while not (cable.exists() or far.done()):
                    time.sleep(0.2)
                near = machine("near", lambda: far.done() and not gone.exists())
            finally:
                over.set()
            said = far.result().said
        return near if near.good else replace(near, said=f"{near.said}\nThe other one: {said}")


# --- the page


def blocks(out: Path, paths: Sequence[str]) -> dict[str, str]:
    """What the page shows of these, by the names of its places there."""
    found = {}
    for name in paths:
        said = (out / f"{name}.said").read_text().replace("/mnt/out/", "")
        # Of the first picture that is drawn there.
        said = "".join(x for x in said.splitlines(True) if not x.startswith("Matplotlib is"))
        words = f"-C ltcp,ghstcp,cubic {LENGTH[name]} --save {name}.toml -o {name}"
        found[f"{name} measured"] = f"$ longfat measure 10.77.2.1 {words}\n{said}"
        lab = (out / f"{name}.compared").read_text()
        found[f"{name} compared"] = f"$ longfat compare {name}.toml\n{lab}"
    return found


def write(out: Path, paths: Sequence[str]) -> None:
    text = PAGE.read_text()
    for name, said in blocks(out, paths).items():
        lines = "\n".join(f"    {line}".rstrip() for line in said.splitlines())
        before, begin, rest = text.partition(f"<!-- begin {name} -->\n")
        _, end, after = rest.partition(f"<!-- end {name} -->")
        text = f"{before}{begin}\n{lines}\n\n{end}{after}"
        if not end:
            raise SystemExit(f"{PAGE}: has no place for {name}")
    PAGE.write_text(text)


def main(words: Sequence[str]) -> int:
    wanted = [word for word in words if word != "--write"] or [*PATHS, PAIR]
    if unknown := {*wanted} - {*PATHS, PAIR}:
        raise SystemExit(f"{', '.join(sorted(unknown))}: there are {', '.join(PATHS)}, {PAIR}")
    paths = [name for name in PATHS if name in wanted]
    count = 2 * len(paths) + (1 + len(BETWEEN)) * (PAIR in wanted)
    try:
        vm.check()
        root.as_root(["true"])
        environment()
    except LabError as error:
        return ktap.document(count, [ktap.Result("machines", skip=str(error))] * count)
    with (
        scratch.directory("stock") as out,
        scratch.directory("stock") as copy,
        scratch.directory("packages") as package,
        ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):
        bench = Bench(out, copy, package)

        def results() -> Iterator[ktap.Result]:
            yield from pool.map(partial(measured, bench), paths)
            yield from (beside(out, name, PATHS[name][1]) for name in paths)
            if PAIR in wanted:
                yield pair(bench)
                yield from (
                    beside(out, name, path, told=told) for name, (path, told) in BETWEEN.items()
                )

        try:
            bench.build()
            status = ktap.document(count, results())
            if "--write" in words and not status:
                write(out, paths)
        finally:
            if kept := os.environ.get("LONGFAT_KEEP"):
                subprocess.run(["cp", "-r", str(out), kept], check=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
