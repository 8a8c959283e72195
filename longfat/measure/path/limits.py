# SPDX-License-Identifier: GPL-2.0
"""What limits the connections of a path besides the algorithm, by docs/tuning.md's rules, and the
command that mends it."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from statistics import median

from longfat.core import data
from longfat.measure.path.host import FEATURES, Host
from longfat.run.result import Json
from longfat.show import report

HELD = 0.2  # of a connection's time, from which on something is said to limit it
BUSY = 90.0  # per cent of a processor
FULL = 0.9  # of an interface's rate; what headers take of it is less than the rest
MOVED = 1.5  # of a round trip without a queue, from round to round
TWICE = 2.0  # of every contender's goodput, from round to round
THREADS = (3, 16)  # the first iperf3 that has one for each connection
SCALING = "tcp_window_scaling"
# A qdisc that has others below it for its queues.
_PARENTS = {"mq", "mqprio"}


@dataclass(frozen=True)
class Limit:
    """What limits, and what mends it; `hard` if it limited what was measured."""

    text: str
    command: str = ""
    hard: bool = False


def base_rtt(results: list[Json]) -> float:
    """The round-trip time without a queue, seconds: the shortest that any run saw."""
    return min((one["flows"][0]["base_rtt_ms"] for one in results), default=0.0) / 1e3


def rate(results: list[Json]) -> float:
    """The most that any run carried, bit/s: the path has this at least."""
    return float(max((one["summary"]["goodput_bps"] for one in results), default=0))


def bdp(results: list[Json]) -> float:
    """Bytes."""
    return rate(results) / 8 * base_rtt(results)


def _limited(results: list[Json], by: str) -> tuple[int, float]:
    """How many runs something limited, and by how much the worst of them."""
    shares = [one["path"]["limited"][by] for one in results]
    return sum(share >= HELD for share in shares), max(shares, default=0.0)


def held(result: Json) -> bool:
    """Whether a host limited a run, and neither its path nor its algorithm."""
    return any(share >= HELD for share in result["path"]["limited"].values())


def _round(size: float) -> int:
    """Up, to two digits."""
    unit = 10 ** max(0, math.floor(math.log10(size)) - 1) if size >= 1 else 1
    return math.ceil(size / unit) * unit


def _of(count: int, results: list[Json]) -> str:
    return f"in {count} of {len(results)} runs"


def _buffers(results: list[Json], host: Host) -> list[Limit]:
    found = []
    count, share = _limited(results, "send_buffer")
    wanted = 2 * bdp(results)
    least, first, most = host.tcp_wmem
    if count or wanted > most:
        # What was carried is less than what the path has.
        wanted = _round(max(wanted, 2 * most if count else 0))
        held = f"The send buffer held it back for up to {share:.0%} of the time, "
        held += _of(count, results)
        small = f"The send buffer is {most / 1e6:.3g} MB at most; two BDP are {wanted / 1e6:.3g} MB"
        command = f'sudo sysctl net.ipv4.tcp_wmem="{least} {first} {wanted}"'
        found.append(Limit(f"{held if count else small}.", command, hard=bool(count)))
    count, share = _limited(results, "receiver")
    if count and SCALING not in host.off:
        offered = max(one["path"]["window_offered"] for one in results)
        wanted = _round(max(4 * bdp(results), 4 * offered))
        found.append(
            Limit(
                f"The far end's window held it back for up to {share:.0%} of the time, "
                f"{_of(count, results)}. At the far end:",
                f'sudo sysctl net.ipv4.tcp_rmem="4096 131072 {wanted}"',
                hard=True,
            )
        )
    return found


def _memory(results: list[Json], host: Host) -> list[Limit]:
    """What all TCP sockets of this machine may have together."""
    if not host.tcp_mem:
        return []
    page = os.sysconf("SC_PAGE_SIZE")
    wanted, there = host.pages + 2 * bdp(results) / page, host.tcp_mem[1]
    if wanted <= there:
        return []
    values = " ".join(str(_round(value * wanted / there)) for value in host.tcp_mem)
    return [
        Limit(
            f"All TCP sockets of this machine have {there * page / 1e6:.3g} MB together before "
            f"their buffers stop to grow, and {host.pages * page / 1e6:.3g} MB were in use; two "
            f"BDP are {2 * bdp(results) / 1e6:.3g} MB.",
            f'sudo sysctl net.ipv4.tcp_mem="{values}"',
        )
    ]


def _features(results: list[Json], host: Host) -> list[Limit]:
    """What TCP should never be without."""
    return [
        Limit(
            f"net.ipv4.{name} is 0: {FEATURES[name]}.",
            f"sudo sysctl net.ipv4.{name}=1",
            hard=name == SCALING and bool(_limited(results, "receiver")[0]),
        )
        for name in host.off
    ]


def _processors(result: Json, host: Host) -> int:
    """How many iperf3 may use in a run.  That of the far end is taken for one like this."""
    version = tuple(map(int, re.findall(r"\d+", result["iperf3"])[:2]))
    connections = result["scenario"]["flow"][0]["parallel"]
    return min(connections, host.processors) if version >= THREADS else 1


def _machines(results: list[Json], host: Host) -> list[Limit]:
    found = []
    for end, name in (("here", "this end"), ("there", "the far end")):
        count = sum(
            one["path"]["cpu_percent"][end] >= BUSY * _processors(one, host) for one in results
        )
        if count:
            found.append(
                Limit(
                    f"iperf3 used up a processor of {name}, {_of(count, results)}: what the path "
                    "and the algorithm could do more is not seen. Several connections may "
                    "have several processors with iperf3 3.16 or newer at both ends:",
                    f"{data.COMMAND} measure ... --parallel 4",
                    hard=True,
                )
            )
    count, share = _limited(results, "program")
    # It has nothing to send, too, while the send buffer is full.
    if count and not _limited(results, "send_buffer")[0]:
        found.append(
            Limit(
                f"iperf3 had nothing to send for up to {share:.0%} of the samples, "
                f"{_of(count, results)}: this host is busy with other work. See what it is:",
                "top",
                hard=True,
            )
        )
    return found


def _interface(results: list[Json], host: Host) -> list[Limit]:
    found = []
    if host.mbps and rate(results) >= FULL * host.mbps * 1e6:
        found.append(
            Limit(
                f"{host.device} has {host.mbps} Mbit/s, and that is what was carried: it is the "
                "bottleneck, with this host's own queue.",
                hard=True,
            )
        )
    leaves = [kind for kind in host.qdiscs if kind not in _PARENTS]
    if results[0]["path"]["reverse"]:
        leaves = []  # the far end's are what counts
    if leaves and not {"fq", "noqueue"} & {*leaves}:
        several = bool(_PARENTS & {*host.qdiscs})
        replace = f"sudo tc qdisc replace dev {host.device} root"
        found.append(
            Limit(
                f"{host.device} has {', '.join(leaves)} and not fq: what paces does so by TCP's "
                "own timers, and the others send bursts.",
                f"sudo sysctl net.core.default_qdisc=fq && {replace} mq"
                if several
                else f"{replace} fq",
            )
        )
    return found


def _most_changed(results: list[Json]) -> tuple[float, int, int]:
    """By how much every contender's goodput differs between two rounds at least, each measured by
    its own median; the rounds, that with more first.  One contender alone may have been lucky."""
    had: dict[str, list[float]] = {}
    for one in results:
        had.setdefault(report.label(one), []).append(one["summary"]["goodput_bps"])
    of: dict[int, list[float]] = {}
    for one in results:
        # Nothing has no ratio.
        middle = max(1.0, median(had[report.label(one)]))
        share = max(1.0, one["summary"]["goodput_bps"]) / middle
        of.setdefault(one["path"]["round"], []).append(share)
    several = {number: shares for number, shares in of.items() if len(shares) > 1}
    if not several:
        return 1.0, 0, 0
    more = max(several, key=lambda number: min(several[number]))
    less = min(several, key=lambda number: max(several[number]))
    return min(several[more]) / max(several[less]), more, less


def _rounds(results: list[Json], host: Host) -> list[Limit]:
    """What is not as it should be with the rounds."""
    found = []
    if host.remembers and not results[0]["path"]["reverse"]:
        found.append(
            Limit(
                "This kernel remembers where a connection's slow start ended, for the next one to "
                "the same host: each run begins by what another algorithm left.",
                "sudo sysctl net.ipv4.tcp_no_metrics_save=1",
            )
        )
    late: dict[str, int] = {}
    for one in results:
        over, begin = one["path"]["start_over_s"], one["scenario"]["warmup"]
        if begin and (over is None or over > begin):
            label = one["scenario"]["case_name"] or one["flows"][0]["cc"]
            late[label] = late.get(label, 0) + 1
    if late:
        seconds = round(max(one["scenario"]["duration"] for one in results))
        names = ", ".join(f"{label} in {count}" for label, count in late.items())
        found.append(
            Limit(
                f"Its rate still rose when the measured time began: {names} of its runs. "
                "Longer ones say more of what comes after:",
                f"{data.COMMAND} measure ... --seconds {2 * seconds}",
            )
        )
    of: dict[int, list[float]] = {}
    for one in results:
        of.setdefault(one["path"]["round"], []).append(one["flows"][0]["base_rtt_ms"])
    by_round = {number: median(values) for number, values in of.items()}
    low, high = min(by_round.values(), default=0), max(by_round.values(), default=0)
    if high > MOVED * low and high - low > 1:
        at = {value: number for number, value in by_round.items()}
        found.append(
            Limit(
                f"The path changed: without a queue a round trip took {low:.1f} ms in round "
                f"{at[low]} and {high:.1f} ms in round {at[high]}. Comparisons are within rounds "
                "and hold; medians are of several paths."
            )
        )
    times, more, less = _most_changed(results)
    if times >= TWICE:
        found.append(
            Limit(
                f"The path changed, or what others send: everybody carried {times:.1f} times as "
                f"much in round {more} as in round {less}, or more. Comparisons are within rounds "
                "and hold; medians are of several paths."
            )
        )
    return found


def find(results: list[Json], host: Host) -> list[Limit]:
    """All that is known of, what limited first."""
    if not results:
        return []
    found = []
    # The far end's buffers and queue are not ours to see.
    if not results[0]["path"]["reverse"]:
        found += [*_buffers(results, host), *_memory(results, host)]
    found += [*_features(results, host), *_machines(results, host)]
    found += [*_interface(results, host), *_rounds(results, host)]
    return sorted(found, key=lambda one: not one.hard)
