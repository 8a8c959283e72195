# SPDX-License-Identifier: GPL-2.0
"""Which algorithm: what docs/use.md leads to, of several experiments, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import mean
from typing import NamedTuple

from longfat.build import modules
from longfat.pages import catalogue
from longfat.pages.shown import Runs, Shown, Table, Value, case
from longfat.run.result import Json

# One for each module: composite is N streams, and eight of them is what was measured.
OURS = tuple(
    {"composite": "composite-8"}.get(name, name)
    for name in (module.removeprefix("tcp_") for module in modules.sources())
)
KERNEL = ("reno", "cubic", "htcp", "highspeed", "bbr")
NONE = "-"


# Behind a number, and below its table.
DAGGER = "†"
OLDER = f"{DAGGER} Measured with an older version, all of it or some of its runs."


class Number(NamedTuple):
    """What an algorithm has: of a run, or the mean of several."""

    cc: str
    value: float
    older: bool  # it, or one of them


def _number(run: Json, value: float) -> Number:
    """One of a run, for the algorithm of its first flow."""
    return Number(str(run["flows"][0]["cc"]), value, bool(run.get("older")))


def _of(runs: Runs, name: str, wanted: Callable[[Json], bool]) -> Iterator[Json]:
    """Those runs of an experiment that are wanted, the kernel's own in our place included."""
    for file in (name, f"{name}-peers"):
        yield from (run for run in runs(file) if wanted(run))


def random_loss(runs: Runs) -> Iterator[Number]:
    """Mbit/s of one flow."""
    for run in _of(runs, "ltcp-fig10", lambda run: run["scenario"]["link"]["loss"] == 1e-5):
        yield _number(run, run["summary"]["goodput_bps"] / 1e6)


def queue(runs: Runs) -> Iterator[Number]:
    """Milliseconds, of one flow."""
    for run in [*runs("ltcp-fig7-1g"), *runs("ltcp-fig7-peers")]:
        if run["scenario"]["link"]["rate"] == 10**9:
            yield _number(run, run["summary"]["queue_delay_ms"]["mean"])


def one_reno(runs: Runs) -> Iterator[Number]:
    """Mbit/s of a Reno flow beside one of it."""
    for run in _of(runs, "ltcp-fig12", lambda run: run["scenario"]["link"]["rate"] == 10**9):
        yield _number(run, run["flows"][1]["goodput_bps"] / 1e6)


def two_reno(runs: Runs) -> Iterator[Number]:
    """Fairness to two Reno connections, by what each can have."""
    for run in _of(
        runs, "ghstcp-fig7", lambda run: run["scenario"]["flow"][1]["socket_buffer"] == 2**19
    ):
        if run["scenario"]["case_name"] in ("", "ghstcp", "reno"):
            yield _number(run, run["observed"]["fairness"])


def many_reno(runs: Runs) -> Iterator[Number]:
    """Share of the link beside sixteen Reno senders, per cent."""
    for run in [*runs("composite-share-10m"), *runs("composite-peers")]:
        if run["flows"][1]["cc"] == "reno":
            yield _number(run, 100 * run["observed"]["share"])


def _three(runs: Runs) -> Iterator[Json]:
    """Runs of three flows of 80, 140 and 200 ms; ours as it is by default."""
    ours = (run for run in runs("cwhstcp-exponent") if case(run) == "throughput-80")
    # `hstcp` is ghstcp held in that mode.
    others = (run for run in runs("cwhstcp-fig7") if case(run) != "hstcp")
    yield from [*ours, *others, *runs("cwhstcp-fig7-peers")]


def three(runs: Runs) -> Iterator[Number]:
    """Jain's index of their throughput."""
    for run in _three(runs):
        yield _number(run, run["observed"]["jain"])


def left(runs: Runs) -> Iterator[Number]:
    """What four Reno flows beside them have of the link, per cent."""
    for run in _three(runs):
        yield _number(run, 100 * run["observed"]["background"]["share"])


def two(runs: Runs) -> Iterator[Number]:
    """Jain's index of two flows of 10 and 100 ms, one after the other."""
    for run in _of(
        runs, "sabul-fig3", lambda run: run["scenario"]["case_name"] != "10-100-together"
    ):
        if [flow["base_rtt_ms"] for flow in run["flows"]] == [10, 100]:
            yield _number(run, run["summary"]["jain"])


Values = Callable[[Runs], Iterator[Number]]

# Where it is from -> heading, values, digits.
COLUMNS: tuple[tuple[str, str, Values, int], ...] = (
    ("ltcp-fig10", "random loss 1e-5, Mbit/s of 962", random_loss, 0),
    ("ltcp-fig7", "queue, ms of 42", queue, 0),
    ("ltcp-fig12", "Reno beside one flow, Mbit/s of 962", one_reno, 0),
    ("ghstcp-fig7", "fairness beside two Reno", two_reno, 3),
    ("composite-h1", "share beside 16 Reno, %", many_reno, 0),
    ("cwhstcp-fig7", "80, 140, 200 ms: Jain's index", three, 3),
    ("cwhstcp-fig7", "left to four Reno there, %", left, 0),
    ("sabul-fig3", "10 and 100 ms: Jain's index", two, 3),
)


def found(values: Iterator[Number]) -> dict[str, Number]:
    """Algorithm -> mean over the seeds that there are."""
    out: dict[str, list[Number]] = {}
    for one in values:
        out.setdefault(one.cc, []).append(one)
    return {
        cc: Number(cc, mean(one.value for one in of), any(one.older for one in of))
        for cc, of in out.items()
    }


def cell(one: Number, digits: int, *, bold: bool = False) -> str:
    """As a table has it."""
    text = f"{one.value:.{digits}f}"
    return (f"**{text}**" if bold else text) + DAGGER * one.older


def which(runs: Runs) -> Shown:
    """Every algorithm in every column where it was run."""
    columns = [(heading, found(values(runs)), digits) for _, heading, values, digits in COLUMNS]
    where = catalogue.where()
    heads = [f"[{heading}](../{where[figure]})" for figure, heading, _, _ in COLUMNS]
    shown = Shown(tables=[Table(["", *heads], [])])
    for cc in (*OURS, *KERNEL):
        cells = [cell(of[cc], digits) if cc in of else NONE for _, of, digits in columns]
        shown.tables[0].rows.append([f"`{cc}`", *cells])
    for heading, of, digits in columns:
        for cc, one in of.items():
            shown.values[f"{heading}: {cc}"] = Value(one.value, digits=digits)
    if any(one.older for _, of, _ in columns for one in of.values()):
        shown.tables[0].caption = OLDER
    return shown
