# SPDX-License-Identifier: GPL-2.0
"""Which algorithm: what docs/use.md has of several experiments, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import mean

from longfat.pages.data import by_case, kept, markdown
from longfat.pages.tables import cwhstcp
from longfat.run.result import Json

OURS = ("ltcp", "ghstcp", "cwhstcp", "composite-8", "sabul")
KERNEL = ("reno", "cubic", "htcp", "highspeed", "bbr")
NONE = "-"


def _first(run: Json) -> str:
    """The algorithm of a run's first flow."""
    return str(run["flows"][0]["cc"])


def _of(name: str, wanted: Callable[[Json], bool]) -> Iterator[Json]:
    """Those runs of an experiment that are wanted, the kernel's own in our place included."""
    for file in (name, f"{name}-peers"):
        yield from (run for run in kept(file) if wanted(run))


def random_loss() -> Iterator[tuple[str, float]]:
    """Mbit/s of one flow."""
    for run in _of("ltcp-fig10", lambda run: run["scenario"]["link"]["loss"] == 1e-5):
        yield _first(run), run["summary"]["goodput_bps"] / 1e6


def queue() -> Iterator[tuple[str, float]]:
    """Milliseconds, of one flow."""
    runs = kept("ltcp-fig7-1g") + kept("ltcp-fig7-peers")
    for run in runs:
        if run["scenario"]["link"]["rate"] == 10**9:
            yield _first(run), run["summary"]["queue_delay_ms"]["mean"]


def one_reno() -> Iterator[tuple[str, float]]:
    """Mbit/s of a Reno flow beside one of it."""
    for run in _of("ltcp-fig12", lambda run: run["scenario"]["link"]["rate"] == 10**9):
        yield _first(run), run["flows"][1]["goodput_bps"] / 1e6


def two_reno() -> Iterator[tuple[str, float]]:
    """Fairness to two Reno connections, by what each can have."""
    for run in _of("ghstcp-fig7", lambda run: run["scenario"]["flow"][1]["socket_buffer"] == 2**19):
        if run["scenario"]["case_name"] in ("", "ghstcp", "reno"):
            yield _first(run), run["observed"]["fairness"]


def many_reno() -> Iterator[tuple[str, float]]:
    """Share of the link beside sixteen Reno senders, per cent."""
    for run in kept("composite-share-10m") + kept("composite-peers"):
        if run["flows"][1]["cc"] == "reno":
            yield _first(run), 100 * run["observed"]["share"]


def _three() -> Iterator[tuple[str, Json]]:
    """Three flows of 80, 140 and 200 ms: the algorithm, and what was observed."""
    groups = {"cwhstcp": cwhstcp.buffers()["30 ms, rtt=min"], **by_case("cwhstcp-fig7")}
    groups.pop("hstcp")  # ghstcp held in that mode
    for run in [*(run for runs in groups.values() for run in runs), *kept("cwhstcp-fig7-peers")]:
        yield _first(run), run["observed"]


def three() -> Iterator[tuple[str, float]]:
    """Jain's index of their throughput."""
    for cc, observed in _three():
        yield cc, observed["jain"]


def left() -> Iterator[tuple[str, float]]:
    """What four Reno flows beside them have of the link, per cent."""
    for cc, observed in _three():
        yield cc, 100 * observed["background"]["share"]


def two() -> Iterator[tuple[str, float]]:
    """Jain's index of two flows of 10 and 100 ms, one after the other."""
    for run in _of("sabul-fig3", lambda run: run["scenario"]["case_name"] != "10-100-together"):
        if [flow["base_rtt_ms"] for flow in run["flows"]] == [10, 100]:
            yield _first(run), run["summary"]["jain"]


# Where it is from -> heading, values, digits.
COLUMNS: tuple[tuple[str, str, Callable[[], Iterator[tuple[str, float]]], int], ...] = (
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


def measured() -> str:
    columns = [(found(values()), digits) for _, _, values, digits in COLUMNS]
    rows = [
        [f"`{cc}`", *(f"{of[cc]:.{digits}f}" if cc in of else NONE for of, digits in columns)]
        for cc in (*OURS, *KERNEL)
    ]
    heads = [f"[{heading}](results.md#{figure})" for figure, heading, _, _ in COLUMNS]
    return markdown(["", *heads], rows)


PARTS = {"docs/use.md": {"measured": measured}}
