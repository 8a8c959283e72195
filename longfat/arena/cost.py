# SPDX-License-Identifier: GPL-2.0
"""What runs cost, before they are made: by their packets and objects."""

from __future__ import annotations

import math
import os
import shutil

from longfat.arena.plan import Run
from longfat.run import identity, lflink
from longfat.run.backends import kernel_memory
from longfat.run.scenario import Objects, Scenario, Short, Video
from longfat.run.traffic import pareto_mean

# Megabytes of a run beside its kernel's: what reads its samples.
BESIDE_MB = 1024
# Processor seconds of a run that sends nothing; microseconds of a packet where the whole path is
# one module, and where it is a router; of an object.  Rounded from what some dozens of runs took.
START_S, DIRECT_US, ROUTER_US, OBJECT_US = 1.3, 3.0, 6.0, 250.0
# In an emulator: seconds until a run begins; of a packet where instructions are counted.
BOOT_S, COUNTED_US = 30.0, 240.0


def _mean_size(spec: Objects) -> float:
    if spec.size == "pareto":
        return pareto_mean(spec.min_size or 1, spec.max_size or 1, spec.shape or 2)
    return float(spec.mean_size or 0) or float(spec.sizes[-1][0]) / 2


def _asked(one: Scenario) -> tuple[float, float]:
    """Bytes that there are to be sent, without an end if there is bulk traffic, and objects."""
    sent = objects = 0.0
    for flow in one.flow:
        sent += flow.bytes * flow.count * flow.parallel if flow.bytes else math.inf
    for udp in one.udp:
        sent += udp.rate / 8 * min(one.duration, udp.duration or math.inf)
    for group in one.groups:
        if isinstance(group, Short):
            count = len(group.arrivals) or (group.per_second or 0) * one.duration
            objects += count
            sent += count * _mean_size(group)
        elif isinstance(group, Video):
            sent += group.rate / 8 * one.duration * group.count
        elif isinstance(group, Objects):
            sent = math.inf
    return sent, objects


def seconds(run: Run) -> float:
    """Processor seconds of a run."""
    one = run.scenario
    sent, objects = _asked(one)
    most: float = sum(link.rate + (link.reverse_rate or 0) * one.reverse for link in one.path)
    if one.link.changing:
        most = one.mean_rate
    packets = min(most / 8 * one.duration, sent) / one.link.mtu
    if run.counted:
        return BOOT_S + packets * COUNTED_US / 1e6
    each = DIRECT_US if lflink.carries(one) else ROUTER_US
    return START_S + (packets * each + objects * OBJECT_US) / 1e6


def limit(run: Run) -> float:
    """Wall seconds after which a run has failed, whatever passes in it: a machine that has other
    things to do is slow."""
    return 600 + 20 * seconds(run)


def memory(run: Run) -> int:
    """Megabytes that a run takes at most."""
    of = identity.memory_emulated if run.counted else identity.memory
    return BESIDE_MB + of(run.scenario)


def there() -> float:
    """Megabytes of memory for the runs of this machine: those of the virtual-time kernel have
    theirs in a file system that may be smaller than all of it."""
    all_of_it = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(all_of_it, shutil.disk_usage(kernel_memory()).total) / 2**20


def parts(runs: list[Run], workers: int, megabytes: float = 0) -> list[tuple[list[Run], int]]:
    """Runs, and how many of them at once.  Of those that are allowed more than a quarter of the
    memory as many as fit; they come first.  Of the others `workers`: they seldom use what they are
    allowed.  If none is given, the memory is this machine's, or what a run may take of it."""
    megabytes = megabytes or there()
    large: list[Run] = []
    small: list[Run] = []
    for run in runs:
        (large if memory(run) > megabytes / 4 else small).append(run)
    fit = min([workers, *(max(1, int(megabytes // memory(run))) for run in large)])
    if fit == workers:
        return [(runs, workers)] if runs else []
    return [(some, many) for some, many in ((large, fit), (small, workers)) if some]


def table(runs: list[Run]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: what each criterion costs."""
    found: dict[str, list[float]] = {}
    for run in runs:
        found.setdefault(run.criterion, []).append(seconds(run))
    rows = [[name, str(len(each)), length(sum(each))] for name, each in found.items()]
    return ["criterion", "runs", "processor time"], rows


def total(runs: list[Run], cores: int) -> str:
    """What runs cost, in words."""
    each = [seconds(run) for run in runs]
    wall = max([sum(each) / cores, *each])
    text = (
        f"{len(runs)} runs, about {length(sum(each))} of processor time, {length(wall)} on "
        f"{cores} core{'s' if cores > 1 else ''}"
    )
    if runs:
        text += f"; memory of a run, at most {max(map(memory, runs)) / 1000:.1f} GB"
    return text


def length(of: float) -> str:
    """A time in words."""
    if of >= 5400:
        return f"{of / 3600:.1f} h"
    return f"{of / 60:.0f} min" if of >= 90 else f"{of:.0f} s"
