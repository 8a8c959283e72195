# SPDX-License-Identifier: GPL-2.0
"""The kernel with two processors that notices races, in the vm backend's machine: for chaos,
which User-Mode Linux can run on one processor only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from longfat.build import kernel, modules, tools
from longfat.core import process
from longfat.core.errors import LabError
from longfat.machines import suite, vm
from longfat.run import result


class Smp:
    """Where chaos.many runs a seed in real time; see backends.Uml for the other place."""

    sanitizers = True
    virtual = False
    processors = 2
    slowness = 10  # in real time, emulated, and watched
    rarer = 8  # a program takes seconds to be started
    name = "smp"
    suite = "bookworm"

    def prepare(self, say: Callable[[str], None]) -> None:
        """Build what runs need; LabError says why it cannot be."""
        vm.check()
        say(f"Debian {self.suite} (the first time: a minute or two)")
        suite.chroot(self.suite)
        say("x86 kernel for two processors (the first time: about five minutes)")
        self._kernel = kernel.build(kernel.SMP)
        say("modules")
        self._modules = kernel.build_modules(kernel.SMP)
        tools.programs()

    def module_files(self) -> Path:
        """Where the .ko files are."""
        return self._modules

    def seeding_tc(self) -> None:
        """No tc that seeds netem: real time does not repeat anyway."""

    def boot(
        self,
        run: Path,
        seed: int,
        *,
        megabytes: int,
        timeout: float,
        cancel: threading.Event = process.NEVER,
        tick: Callable[[], None] = lambda: None,
        arguments: tuple[str, ...] = (),
    ) -> int:
        """Run run/run.sh on it; the kernel's log is in run/dmesg afterwards."""
        try:
            done = vm.run(
                "sh /lab/run.sh /lab >/lab/out 2>&1",
                suite=self.suite,
                kernel=self._kernel / "linux" / kernel.SMP.image,
                arguments=("slub_debug=FZPU", *arguments),
                binds=[(run, "/lab")],
                memory=f"{megabytes}M",
                cpus=self.processors,
                # Two threads of the emulator are two processors on any machine.
                kvm=False,
                timeout=timeout,
                poll=cancel.is_set,
            )
        except LabError:
            if cancel.is_set():
                raise process.Cancelled("cancelled") from None
            raise
        (run / "dmesg").write_text(done.dmesg)
        return done.returncode


def foreign_races(
    log: list[str], names: Iterable[str] = modules.sources()
) -> tuple[list[str], int]:
    """(the kernel log without KCSAN's reports in which no frame is of one of the modules
    `names`, ours, how many those were).  The kernel's own code has races that are known and
    let be; another complaint among its lines is none of them."""
    left: list[str] = []
    report: list[str] | None = None
    foreign = 0
    for line in log:
        if "BUG: KCSAN:" in line:
            report = []
        if report is None:
            left.append(line)
            continue
        report.append(line)
        if "=" * 20 in line:
            whose = any(f"[{name}]" in each for each in report for name in names)
            if whose or any(result.SPLAT.search(each) for each in report[1:]):
                left += report
            else:
                foreign += 1
            report = None
    return left + (report or []), foreign
