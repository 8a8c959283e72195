# SPDX-License-Identifier: GPL-2.0
"""Which algorithm: what docs/use.md has of several experiments, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import mean

from longfat.build import modules
from longfat.pages.shown import Runs, Shown, Table, Value, case
from longfat.run.result import Json

# One for each module: composite is N streams, and eight of them is what was measured.
OURS = tuple(
    {"composite": "composite-8"}.get(name, name)
    for name in (module.removeprefix("tcp_") for module in modules.sources())
)
KERNEL = ("reno", "cubic", "htcp", "highspeed", "bbr")
NONE = "-"


def _first(run: Json) -> str:
    """The algorithm of a run's first flow."""
    return str(run["flows"][0]["cc"])


def _of(runs: Runs, name: str, wanted: Callable[[Json], bool]) -> Iterator[Json]:
    """Those runs of an experiment that are wanted, the kernel's own in our place included."""
    for file in (name, f"{name}-peers"):
        yield from (run for run in runs(file) if wanted(run))


def random_loss(runs: Runs) -> Iterator[tuple[str, float]]:
    """Mbit/s of one flow."""
    for run in _of(runs, "ltcp-fig10", lambda run: run["scenario"]["link"]["loss"] == 1e-5):
        yield _first(run), run["summary"]["goodput_bps"] / 1e6


def queue(runs: Runs) -> Iterator[tuple[str, float]]:
    """Milliseconds, of one flow."""
    for run in [*runs("ltcp-fig7-1g"), *runs("ltcp-fig7-peers")]:
        if run["scenario"]["link"]["rate"] == 10**9:
            yield _first(run), run["summary"]["queue_delay_ms"]["mean"]


def one_reno(runs: Runs) -> Iterator[tuple[str, float]]:
    """Mbit/s of a Reno flow beside one of it."""
    for run in _of(runs, "ltcp-fig12", lambda run: run["scenario"]["link"]["rate"] == 10**9):
        yield _first(run), run["flows"][1]["goodput_bps"] / 1e6


def two_reno(runs: Runs) -> Iterator[tuple[str, float]]:
    """Fairness to two Reno connections, by what each can have."""
    for run in _of(
        runs, "ghstcp-fig7", lambda run: run["scenario"]["flow"][1]["socket_buffer"] == 2**19
    ):
        if run["scenario"]["case_name"] in ("", "ghstcp", "reno"):
            yield _first(run), run["observed"]["fairness"]


def many_reno(runs: Runs) -> Iterator[tuple[str, float]]:
    """Share of the link beside sixteen Reno senders, per cent."""
    for run in [*runs("composite-share-10m"), *runs("composite-peers")]:
        if run["flows"][1]["cc"] == "reno":
            yield _first(run), 100 * run["observed"]["share"]


def _three(runs: Runs) -> Iterator[tuple[str, Json]]:
    """Three flows of 80, 140 and 200 ms: the algorithm, and what was observed."""
    ours = (
        run
        for run in runs("cwhstcp-buffer")
        if run["scenario"]["link"]["buffer"][1] == "p"
        and run["scenario"]["module"]["cwhstcp"]["rtt"] == "min"
    )
    # `hstcp` is ghstcp held in that mode.
    others = (run for run in runs("cwhstcp-fig7") if case(run) != "hstcp")
    for run in [*ours, *others, *runs("cwhstcp-fig7-peers")]:
        yield _first(run), run["observed"]


def three(runs: Runs) -> Iterator[tuple[str, float]]:
    """Jain's index of their throughput."""
    for cc, observed in _three(runs):
        yield cc, observed["jain"]


def left(runs: Runs) -> Iterator[tuple[str, float]]:
    """What four Reno flows beside them have of the link, per cent."""
    for cc, observed in _three(runs):
        yield cc, 100 * observed["background"]["share"]


def two(runs: Runs) -> Iterator[tuple[str, float]]:
    """Jain's index of two flows of 10 and 100 ms, one after the other."""
    for run in _of(
        runs, "sabul-fig3", lambda run: run["scenario"]["case_name"] != "10-100-together"
    ):
        if [flow["base_rtt_ms"] for flow in run["flows"]] == [10, 100]:
            yield _first(run), run["summary"]["jain"]


Values = Callable[[Runs], Iterator[tuple[str, float]]]

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


def found(values: Iterator[tuple[str, float]]) -> dict[str, float]:
    """Algorithm -> mean over the seeds that there are."""
    out: dict[str, list[float]] = {}
    for cc, value in values:
        out.setdefault(cc, []).append(value)
    return {cc: mean(of) for cc, of in out.items()}


def which(runs: Runs) -> Shown:
    """Every algorithm in every column where it was run."""
    columns = [(heading, found(values(runs)), digits) for _, heading, values, digits in COLUMNS]
    heads = [f"[{heading}](results.md#{figure})" for figure, heading, _, _ in COLUMNS]
    shown = Shown(tables=[Table(["", *heads], [])])
    for cc in (*OURS, *KERNEL):
        cells = [f"{of[cc]:.{digits}f}" if cc in of else NONE for _, of, digits in columns]
        shown.tables[0].rows.append([f"`{cc}`", *cells])
    for heading, of, digits in columns:
        for cc, value in of.items():
            shown.values[f"{heading}: {cc}"] = Value(value, digits=digits)
    return shown
