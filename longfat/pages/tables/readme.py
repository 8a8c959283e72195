# SPDX-License-Identifier: GPL-2.0
"""The figures of README.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from longfat.pages import catalogue
from longfat.pages.data import DOCS, kept, markdown, marked, older_modules
from longfat.pages.figures import use
from longfat.pages.shown import Runs
from longfat.pages.tables import performance
from longfat.pages.verdict import Verdict
from longfat.show import report


def demo() -> str:
    """The table of `make demo`."""
    rows = [report.row(one)[1:-1] for one in kept("demo")]
    return markdown(list(report.HEADINGS[1:-1]), rows)


OLDER = " (older"  # in a row of docs/results.md
GOOD = (Verdict.REPRODUCED, Verdict.DIFFERENT)


def headline() -> str:
    """How many of the papers' figures are reproduced, by the table of docs/results.md.  Those that
    are shown from older versions do not count; what they say comes after."""
    text = (DOCS / "results.md").read_text()
    verdicts = dict(re.findall(r"^\| \[([\w-]+)\].* \| ([^|]*) \| [^|]* \|$", text, re.M))
    papers = [figure.id for figure in catalogue.load().figure if not figure.ours]
    said = [verdicts[ident] for ident in papers]
    now = Counter(Verdict(one) for one in said if OLDER not in one)
    before = Counter(Verdict(one.partition(OLDER)[0]) for one in said if OLDER in one)
    text = (
        f"**{_good(now)} of {len(papers)} figures and tables of the papers are reproduced**"
        f"{_counted(now)}."
    )
    if not before:
        return text
    return (
        f"{text} {before.total()} others were measured with an older version: of these "
        f"{_good(before)} are reproduced{_counted(before)}."
    )


def _good(count: Counter[Verdict]) -> int:
    return sum(count[verdict] for verdict in GOOD)


def _counted(count: Counter[Verdict]) -> str:
    """How many of the good are not quite so, and what the others are."""
    others = [f"; {n} {'are' if n > 1 else 'is'} {of}" for of, n in count.items() if of not in GOOD]
    return f", {count[Verdict.DIFFERENT]} of them with a stated difference{''.join(others)}"


def _an_ack(_: Runs) -> Iterator[use.Number]:
    """Instructions for one in congestion avoidance, window 1000, two packets."""
    data = performance.costs()
    older = older_modules(data)
    for cc, counts in data["instructions"].items():
        yield use.Number(cc, counts["avoidance 1000 2"], cc in older)


# The figure that has it, what is compared -> ours, values, which is best, digits.
Best = Callable[[list[float]], float]
COMPARED: tuple[tuple[str, str, str, use.Values, Best, int], ...] = (
    ("ltcp-fig10", "random loss 1e-5, Mbit/s of 962", "ltcp", use.random_loss, max, 0),
    ("ghstcp-fig7", "fairness to two Reno, 1 is fair", "ghstcp", use.two_reno, max, 3),
    ("which-algorithm", "RTTs 80, 140, 200 ms, Jain; default", "cwhstcp", use.three, max, 3),
    ("sabul-fig3", "RTTs 10, 100 ms, Jain's index", "sabul", use.two, max, 3),
    ("ltcp-fig7", "mean queue, ms; the buffer is 42", "ltcp", use.queue, min, 0),
    ("ltcp-fig12", "left to one Reno, Mbit/s of 962", "ltcp", use.one_reno, max, 0),
    ("which-algorithm", "left to four Reno, %", "cwhstcp", use.left, max, 0),
    ("ack-cost", "an ACK in avoidance, instructions", "ltcp", _an_ack, min, 0),
    ("ack-cost", "an ACK in avoidance, instructions", "composite-8", _an_ack, min, 0),
)
PEERS = [cc for cc in use.KERNEL if cc != "reno"]


def beside() -> str:
    """Ours beside the kernel's own, the best of each row in bold, what is older marked."""
    where = catalogue.where()
    rows = []
    for figure, what, ours, values, best, digits in COMPARED:
        of = {cc: one for cc, one in use.found(values(marked)).items() if cc in (ours, *PEERS)}
        top = best([one.value for one in of.values()])
        cells = {cc: use.cell(one, digits, bold=one.value == top) for cc, one in of.items()}
        link = f"[{what}](docs/{where[figure]})"
        rows.append([link, f"`{ours}` {cells[ours]}", *(cells[cc] for cc in PEERS)])
    text = markdown(["measured", "ours", *PEERS], rows)
    return f"{text}\n\n{use.OLDER}" if use.DAGGER in text else text


PARTS = {"README.md": {"headline": headline, "beside": beside, "demo": demo}}
