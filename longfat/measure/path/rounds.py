# SPDX-License-Identifier: GPL-2.0
"""The rounds of a measurement: each has every contender once, in an order of its own, one after the
other."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

from longfat.core import units
from longfat.core.errors import LabError
from longfat.measure.path import client, difference, outcome
from longfat.measure.path.client import Capped, Closed, Contender, Failed, Late, Path, Run
from longfat.measure.path.host import Host
from longfat.run.result import Json

BETWEEN = 0.5  # seconds from run to run, in which queues empty and the server gets ready
# Seconds to wait before a run that failed is tried again.  A server drops a client that is silent
# for two minutes.
PATIENCE = (5.0, 15.0, 40.0, 70.0)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    path: Path
    contenders: tuple[Contender, ...]
    rounds: int  # 0: as many as fit into the minutes, once it is known how long one takes
    seed: int
    cap: int  # bytes, in both directions
    minutes: float = 0.0

    @property
    def runs(self) -> int:
        return self.rounds * len(self.contenders)

    def order(self) -> Iterator[tuple[int, int, Contender]]:
        """Round, place in it, and who has that."""
        chance = random.Random(self.seed)
        for number in range(1, self.rounds + 1) if self.rounds else count(1):
            for place, one in enumerate(
                chance.sample(self.contenders, len(self.contenders)), start=1
            ):
                yield number, place, one


def fitting(minutes: float, seconds: float) -> int:
    """How many rounds of so many seconds there are in so many minutes, one at least."""
    return max(1, int(minutes * 60 / seconds))


def size(count: float) -> str:
    """Bytes, for people."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} bytes"


def announce(plan: Plan, host: Host) -> list[str]:
    """What will be done, how long it takes, and how much it sends."""
    path, names = plan.path, ", ".join(one.label for one in plan.contenders)
    each = f"{size(path.size)}" if path.size else f"{path.seconds} s"
    many = f"{plan.rounds} rounds" if plan.rounds > 1 else "one round"
    if not plan.rounds:
        many = f"rounds for {plan.minutes:g} minutes"
    said = [
        f"{names}: {many} of one run each, {each} a run, in random order "
        f"(--seed {plan.seed}), {'from' if path.reverse else 'to'} {path.where}"
    ]
    time_ = plan.runs * (path.seconds + BETWEEN)
    minutes = f"{time_ / 60:.0f} minutes" if time_ >= 120 else f"{time_:.0f} s"
    cap = f"It ends at {size(plan.cap)} (--cap)."
    if not plan.rounds:
        said.append(f"How many there are is said after the first. {cap}")
    elif path.size:
        said.append(f"This sends {size(plan.runs * path.size)}. {cap}")
    elif host.mbps:
        most = plan.runs * path.seconds * host.mbps * 1e6 / 8
        said.append(
            f"This takes {minutes}, and sends {size(most)} at most, at the "
            f"{units.show_rate(host.mbps * 1e6)} of {host.device}. {cap}"
        )
    else:
        said.append(f"This takes {minutes}. How much it sends is said after the first run. {cap}")
    return said + _too_few(plan)


def _too_few(plan: Plan) -> list[str]:
    needed = difference.rounds_needed(len(plan.contenders))
    if len(plan.contenders) == 1 or not plan.rounds or plan.rounds >= needed:
        return []
    return [
        f"So few rounds show no difference for certain: {len(plan.contenders)} contenders need "
        f"{needed} (--rounds {needed}, or more --minutes)."
    ]


def _counted(plan: Plan, seconds: float, say: Say) -> Plan:
    """The plan, now that it is known how long its first round took."""
    each = seconds + BETWEEN
    made = replace(plan, rounds=fitting(plan.minutes, each))
    many = f"{made.rounds} rounds" if made.rounds > 1 else "one round"
    say(
        f"the first round took {seconds:.0f} s: {many} in {plan.minutes:g} minutes, which send "
        f"{size(made.runs * plan.path.size)}"
    )
    for text in _too_few(made):
        say(text)
    return made


def _round(number: int, plan: Plan) -> str:
    return f"round {number} of {plan.rounds}" if plan.rounds else f"round {number}"


def _hope(error: Failed, done: int, number: int) -> bool:
    """Whether it may go well if it is tried again, after so many runs, in this round.  The very
    first says whether there is a server at all, and everybody's first whether he is allowed."""
    if isinstance(error, Late):
        return True
    return number > 1 if isinstance(error, Closed) else done > 0


def _tried(
    plan: Plan,
    one: Contender,
    used: float,
    expected: float,
    hope: Callable[[Failed], bool],
    say: Say,
    sleep: Callable[[float], None],
) -> tuple[Run, float]:
    """A run, again and again as long as there is hope.  And the bytes that are used, those of
    tries that failed too."""
    waits = iter(PATIENCE)
    while True:
        if used + expected > plan.cap:
            raise Capped(
                f"{size(used)} of {size(plan.cap)} are used, and a run needs {size(expected)}"
            )
        try:
            return client.run(plan.path, one, most=plan.cap - used), used
        except Failed as error:
            used += error.moved
            wait = next(waits, None)
            if wait is None or not hope(error):
                raise
            say(f"{one.label}: {error}; again in {wait:.0f} s")
            sleep(wait)


def _done(result: Json, plan: Plan) -> str:
    flow = result["flows"][0]
    rtt = flow["rtt_ms"]["p50"]
    words = [
        f"{_round(result['seed'], plan)}: {result['scenario']['name'][9:]}",
        f"{flow['goodput_bps'] / 1e6:.1f} Mbit/s",
        *([f"RTT {rtt:.1f} ms"] if rtt else []),
        f"{result['path']['retransmissions']} packets sent again",
    ]
    return ", ".join(words)


def carry_out(
    plan: Plan,
    host: Host,
    keep: Callable[[Json], None],
    say: Say,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> None:
    """Do them all; `keep` gets the result of each run as it is there.  LabError says why it ended
    before its time; the cap is none."""
    if plan.path.size > plan.cap:
        raise LabError(
            f"one run of {size(plan.path.size)} is above the cap of {size(plan.cap)} (--cap)"
        )
    used = most = 0.0
    began = now()
    for done, (number, place, one) in enumerate(plan.order()):
        if number > 1 and not plan.rounds:
            plan = _counted(plan, now() - began, say)
        if 0 < plan.rounds < number:
            return
        if done:
            sleep(BETWEEN)
        try:
            hope = partial(_hope, done=done, number=number)
            run, used = _tried(plan, one, used, plan.path.size or most, hope, say, sleep)
        except Capped as error:
            if not done:
                raise LabError(
                    f"the first run alone is above the cap of {size(plan.cap)}: raise --cap, or "
                    "make runs shorter by --seconds"
                ) from error
            say(f"--cap: {error}: it ends in {_round(number, plan)}")
            return
        result = outcome.make(plan.path, run, host, number=number, place=place, seed=plan.seed)
        keep(result)
        say(_done(result, plan))
        sent = max(result["path"]["sent_bytes"], result["path"]["bytes"])
        used, most = used + sent, max(most, sent)
        if not done and plan.runs > 1 and not plan.path.size:
            say(f"at this rate all runs send {size(sent * plan.runs)} together")
