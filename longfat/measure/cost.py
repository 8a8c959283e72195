# SPDX-License-Identifier: GPL-2.0
"""What an ACK costs: tests/bench/ack_cost.c, for every congestion control there is.

Time is measured on the virtual-time kernel, which is a program and runs at full speed; the
processor's own counter gives it.  Instructions are counted by an emulator that runs Debian's
kernel and lets the guest's counter go by one for each: the same module then reads instructions
where it would read time, and they repeat exactly.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from longfat.build import kernel, modules, tools
from longfat.core import root
from longfat.core.errors import LabError
from longfat.machines import suite, vm
from longfat.run.backends import Uml
from longfat.run.result import SPLAT, Json
from longfat.run.runner import run_directory

SUITE = "bookworm"
PHASES = ("slow_start", "avoidance", "recovery", "loss")
LOOP = "-"  # the algorithm without entry points: what it takes is the loop's
# Batches of each kind when instructions are counted: whether they are alike is to be seen.
COUNTED = 3


@dataclass(frozen=True)
class Batch:
    """Ticks of the batches of one kind, quartiles: a line of /proc/longfat_ack_cost."""

    cc: str
    phase: str
    window: int
    acked: int
    acks: int
    low: int
    median: int
    high: int
    control: int  # 1: it has cong_control, and does what the core does for others

    @property
    def kind(self) -> tuple[str, int, int]:
        return self.phase, self.window, self.acked

    @property
    def called(self) -> str:
        """composite has one stream, see guest/cost.sh."""
        return "composite-1" if self.cc == "composite" else self.cc


def parse(text: str) -> list[Batch]:
    """The lines of /proc/longfat_ack_cost."""
    found = []
    for line in text.splitlines():
        cc, phase, *numbers = line.split()
        if phase not in PHASES or len(numbers) != 7:
            raise LabError(f"/proc/longfat_ack_cost has the line {line!r}")
        found.append(Batch(cc, phase, *map(int, numbers)))
    if not found:
        raise LabError("/proc/longfat_ack_cost is empty")
    return found


def per_ack(batches: list[Batch], scale: float = 1.0) -> dict[str, dict[str, list[float]]]:
    """Algorithm -> "phase window acked" -> what one ACK takes without the loop's part, in units
    of which a tick has `scale`: lower quartile, median, upper quartile."""
    loop = {one.kind: one.median for one in batches if one.cc == LOOP}
    found: dict[str, dict[str, list[float]]] = {}
    for one in batches:
        if one.cc != LOOP:
            ticks = (one.low, one.median, one.high)
            found.setdefault(one.called, {})[f"{one.phase} {one.window} {one.acked}"] = [
                round(scale * (t - loop[one.kind]) / one.acks, 2) for t in ticks
            ]
    return found


def read(run: Path, said: str) -> tuple[list[Batch], str]:
    """What guest/cost.sh left in `run`: the lines, and the kernel's release."""
    log = (run / "log").read_text(errors="replace") if (run / "log").exists() else ""
    if (run / "error").exists() or not (run / "rows").exists():
        error = (run / "error").read_text() if (run / "error").exists() else said[-2000:]
        raise LabError(f"the cost of an ACK was not measured: {error}\n{log[-2000:]}")
    if found := [line for line in log.splitlines() if SPLAT.search(line)]:
        raise LabError(f"the kernel complained: {found[0]}")
    return parse((run / "rows").read_text()), (run / "kernel").read_text().strip()


def alike(batches: list[Batch]) -> list[int]:
    """[of how many kinds of ACKs each batch of an algorithm took the same, all]"""
    return [sum(one.low == one.high for one in batches), len(batches)]


def ticks_per_second() -> int:
    """Of this processor's counter."""
    program = tools.programs() / "ticks"
    return int(subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout)


def in_time(rounds: int) -> tuple[list[Batch], str]:
    """Ticks of the processor's counter, on the virtual-time kernel; and its release."""
    where = Uml()
    where.prepare(lambda text: None)
    with run_directory() as run:
        for built in (kernel.build_modules(), kernel.build_modules(tests="bench")):
            for module in built.glob("*.ko"):
                shutil.copy(module, run)
        shutil.copy(tools.GUEST / "cost.sh", run)
        (run / "run.sh").write_text(f'sh "$1/cost.sh" "$1" {rounds}\n')
        status = where.boot_alone(run, megabytes=1024, timeout=600 + 10 * rounds)
        said = (run / "console").read_text(errors="replace")
        return read(run, f"status {status}: {said}")


# In the chroot, where a compiler is fast.
_BUILD = """set -e
cd /lab/source
make -C /lib/modules/*/build M=/lab/source modules
make -C /lib/modules/*/build M=/lab/source/tests/bench modules
mv *.ko tests/bench/*.ko ..
"""


def in_instructions(rounds: int) -> tuple[list[Batch], str]:
    """Instructions, under Debian's own kernel in an emulator that counts them; and its release."""
    vm.check()
    suite.chroot(SUITE)
    with run_directory() as run:
        modules.copy(modules.files(tests="bench"), run / "source")
        shutil.copy(tools.GUEST / "cost.sh", run)
        words = ["sh", "/lab/cost.sh", "/lab", str(rounds), *sorted(modules.IN_TREE - {"reno"})]
        done = vm.run(
            shlex.join(words),
            suite=SUITE,
            setup=_BUILD,
            binds=[(run, "/lab")],
            timeout=900 + 600 * rounds,
            **vm.COUNTED,
        )
        return read(run, done.stdout)


def processor() -> str:
    """This machine's, as it says."""
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else "unknown"


def measure(rounds: int, say: Callable[[str], None]) -> Json:
    """All of it, as docs/results/ack-cost.json has it; without instructions where no emulator
    runs, which is said."""
    stamp = modules.stamp()
    rate = ticks_per_second()
    times, virtual = in_time(rounds)
    counts: list[Batch] = []
    stock = None
    try:
        counts, stock = in_instructions(COUNTED)
    except (vm.Unavailable, root.Unavailable) as error:
        say(f"instructions are not counted: {error}")
    return {
        "processor": processor(),
        "ticks_per_second": rate,
        "rounds": rounds,
        "kernel": {"ns": virtual, "instructions": stock},
        "alike": alike(counts),
        "control": sorted({one.called for one in times if one.control} - {CORE}),
        **stamp,
        "ns": per_ack(times, 1e9 / rate),
        "instructions": {
            cc: {kind: values[1] for kind, values in cells.items()}
            for cc, cells in per_ack(counts).items()
        },
    }


def write(data: Json, path: Path, tables: tuple[str, ...] = ("ns", "instructions")) -> None:
    """Readable by people too: of `tables` a line for each algorithm."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for key, value in data.items():
        text = json.dumps(value)
        if key in tables:
            rows = (f"  {json.dumps(cc)}: {json.dumps(cells)}" for cc, cells in value.items())
            text = "{\n" + ",\n".join(rows) + "\n }"
        lines.append(f" {json.dumps(key)}: {text}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


# --- tables

# What a table of one window and one kind of ACK shows.
TYPICAL = (1000, 2)
CORE = "core"


def order(data: Json) -> list[str]:
    """Ours, the kernel's, and what the core does itself."""
    ours = [cc for cc in data["ns"] if cc in data["modules"] or cc == "composite-1"]
    rest = sorted(cc for cc in data["ns"] if cc not in ours and cc != CORE)
    streams = {cc: int(cc.partition("-")[2] or 0) for cc in ours}
    return [*sorted(ours, key=lambda cc: (cc.partition("-")[0], streams[cc])), *rest, CORE]


def spread(values: list[float]) -> str:
    """Median and quartiles as a table shows them; nothing is below nothing."""
    low, median, high = (f"{max(value, 0.0):.1f}" for value in values)
    return f"{median} ({low}-{high})"


def table(data: Json, *, quartiles: bool = True) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: each phase at a typical window, time and instructions."""
    window, acked = TYPICAL
    kinds = {
        "slow start": f"slow_start {window} {acked}",
        "avoidance": f"avoidance {window} {acked}",
        "recovery": f"recovery {window} {acked}",
        "a loss": f"loss {window} 1",
    }
    headings = ["", *(f"{phase}\n{unit}" for phase in kinds for unit in ("ns", "instr."))]
    rows = []
    for cc in order(data):
        row = [cc]
        for phase, kind in kinds.items():
            count = data["instructions"].get(cc, {}).get(kind)
            time = spread(data["ns"][cc][kind]) if quartiles else f"{data['ns'][cc][kind][1]:.1f}"
            # The core's answer to a loss is everyone's.
            no_part = cc == CORE and phase == "a loss"
            row += ["", ""] if no_part else [time, "" if count is None else f"{count:.0f}"]
        rows.append(row)
    return headings, rows
