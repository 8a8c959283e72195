# SPDX-License-Identifier: GPL-2.0
"""From results to pages: HTML in one file, and Markdown with pictures beside it.

Both say the same of a figure (Section); templates/ says how it looks.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import jinja2
from matplotlib import pyplot
from matplotlib.figure import Figure as Picture

from longfat.pages import catalogue, data, work
from longfat.pages.catalogue import PEERS, Figure
from longfat.pages.data import DOCS
from longfat.pages.shown import Shown, Table, Value
from longfat.pages.verdict import Judged, State, Verdict, decide, judge, versions
from longfat.run.result import Json
from longfat.run.scenario import Scenario
from longfat.show import report  # noqa: F401 - it sets matplotlib up, for repeatable files

TEMPLATES = Path(__file__).parent / "templates"
LONG = 16  # rows of numbers from which they are folded away


@dataclass
class Section:
    """One figure, as a page shows it."""

    figure: Figure
    verdict: Verdict
    reasons: list[str]
    judged: list[Judged] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    numbers: Table | None = None
    tables: list[Table] = field(default_factory=list)
    peers: Table | None = None
    pictures: list[tuple[str, str]] = field(default_factory=list)  # (what it shows, SVG)
    state: State = field(default_factory=State)
    peer_state: State = field(default_factory=State)
    under_state: State = field(default_factory=State)  # of the runs under the paper's conditions
    measured: set[str] = field(default_factory=set)  # older versions of what is not of runs
    peer_seeds: str = ""  # how many of how many, if they are not all
    seeds: tuple[int, int] = (1, 1)  # from and to, of its runs
    interval: bool = False  # numbers are means over them

    @property
    def seeds_text(self) -> str:
        """How many draws there are of each number."""
        low, high = self.seeds
        if high == 1:
            return "one run of each"
        number = f"{high}" if low == high else f"{low} to {high}"
        return f"{number} seeds{', mean and 95 % interval' if self.interval else ''}"

    @property
    def command(self) -> str:
        """What runs just this one again."""
        return f"make report FIGURE={self.figure.id}"

    @property
    def no_peers(self) -> bool:
        """None of the kernel's own is there."""
        return bool(self.peers and all(row[1] == "missing" for row in self.peers.rows))

    @property
    def older(self) -> str:
        """The version or versions that its older runs are of, the kernel's own in its place among
        them, or its measurement; nothing if all are current."""
        runs = _merge([self.state, self.peer_state, self.under_state])
        return versions({*runs.older.values(), *self.measured})

    @property
    def holds(self) -> str:
        """How many of today's criteria hold, as a row has it."""
        today = [one for one in self.judged if not one.criterion.under]
        good = sum(bool(one.holds) and one.sure for one in today)
        return f"{good} of {len(today)}" if self.judged else ""

    @property
    def kind(self) -> str:
        """The verdict as a class name."""
        return self.verdict.name.lower()

    @property
    def shortly(self) -> tuple[str, str]:
        """What of the claim does not hold, and why, each in a line."""
        open_ = [
            one
            for one in self.judged
            if one.criterion.main and not one.criterion.under and not (one.holds and one.sure)
        ]
        if not open_:
            return "", " ".join(self.reasons)
        one = min(open_, key=lambda one: one.holds is not False or not one.sure)
        why = _sentence(one.criterion.why)
        if why and self.figure.came_out:
            runs = ", ".join(f"[{x}](../tests/scenarios/{x}.toml)" for x in self.figure.conditions)
            why += f" Tested: {self.figure.came_out} ({runs})"
        elif why and self.under_state.missing:
            why += f" Not measured yet: where {self.figure.under}."
        return one.criterion.says, why or f"{one.answer}: {one.by}"

    def beside(self) -> list[str]:
        """Its headline number: of ours, then of each of the kernel's own."""
        of = self.figure.headline
        if not of or not self.peers or not self.values:
            return []
        column = self.peers.headings.index(of.peers)
        cells = {row[0].split()[0]: row[column] for row in self.peers.rows}
        return [_middle(self.values[of.ours].text), *(_middle(cells[name]) for name in PEERS)]


def _sentence(text: str) -> str:
    """The first one."""
    return re.split(r"(?<=[.])\s+(?=[A-Z])", text)[0]


def _middle(text: str) -> str:
    """A number without its interval, or the paper's."""
    return re.split(r" [±(]", text)[0] or "-"


def svg(figure: Picture) -> str:
    """A picture as text that may stand in a page beside others."""
    out = io.StringIO()
    figure.savefig(
        out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    pyplot.close(figure)
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    # Names that nothing refers to, and that are the same in every picture.
    text = re.sub(r'(<g) id="[A-Za-z0-9_.]+_\d+"', r"\1", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


def _numbers(shown: Shown, reference: str) -> Table | None:
    if not shown.values or shown.tables:
        return None
    values = shown.values | shown.under
    printed = any(value.beside for value in values.values())
    several = any(value.seeds > 1 for value in values.values())
    ours = "ours, ± 95 %" if several else "ours"
    headings = ["", ours, *([reference, "ratio"] if printed else []), "unit"]
    rows = []
    for name, value in values.items():
        paper = [value.beside, f"{value.ratio:.2f}" if value.ratio is not None else ""]
        rows.append([name, value.text, *(paper if printed else []), value.unit])
    return Table(headings, rows)


def _peer_table(
    figure: Figure, shown: Shown | None, state: State, runs: dict[str, list[str]]
) -> Table | None:
    """The kernel's own, every one of them: with numbers, or with what became of its runs.  What
    there is of fewer runs than wanted says so."""
    if not figure.peers or figure.section:
        return None
    headings = ["", *(shown.peer_headings if shown and shown.peer_headings else ["runs"])]
    rows = []
    for name in PEERS:
        wanted = runs.get(name, [])
        kinds = {"failed": state.failed, "missing": state.missing}
        counts = {kind: sum(run in of for run in wanted) for kind, of in kinds.items()}
        older = sum(run in state.older for run in wanted)
        good = len(wanted) - sum(counts.values())
        cells = shown.peers.get(name) if shown else None
        if cells is None:
            said = next((kind for kind, count in counts.items() if count), "not run")
            cells = [f"{good} of {len(wanted)}" if good else said] + [""] * (len(headings) - 2)
        if len(cells) != len(headings) - 1:
            raise ValueError(f"{figure.id}: {name} has {len(cells)} cells: {headings[1:]}")
        label = name
        if 0 < good < len(wanted):
            failed = f", failed: {counts['failed']}" if counts["failed"] else ""
            label = f"{name} ({good} of {len(wanted)}{failed})"
        if older:
            label += " (older)"
        rows.append([label, *cells])
    return Table(headings, rows)


def _fewer_seeds(state: State, runs: list[tuple[Scenario, int]]) -> str:
    """How many seeds there are of how many, if there is each run of them and none of the others;
    these are not missing then."""
    every = max(len(one.seeds) for one, _ in runs)
    left = {seed for one, seed in runs if work.run_name(one, seed) in state.missing}
    there = {seed for _, seed in runs} - left
    whole = all(work.run_name(one, seed) in state.missing for one, seed in runs if seed in left)
    if not (there and whole) or len(there) == every:
        return ""
    state.expected -= len(state.missing)
    state.missing.clear()
    return f"{len(there)} seed{'s' if len(there) > 1 else ''} of {every}"


def _peer_runs(figure: Figure, how: work.Profile) -> dict[str, list[str]]:
    """The runs of each of the kernel's own: in the files beside, or else in the figure's."""
    found: dict[str, list[str]] = {}
    for peers in (True, False):
        there = set(found)
        for runs in work.expected(figure, how, peers=peers).values():
            for one, seed in runs:
                peer = work.peer_of(one)
                if peer and peer not in there and one.flow[0].parallel == 1:
                    found.setdefault(peer, []).append(work.run_name(one, seed))
    return found


def _merge(states: list[State]) -> State:
    total = State()
    for one in states:
        total.expected += one.expected
        total.missing += one.missing
        total.failed |= one.failed
        total.current += one.current
        total.older |= one.older
        total.kernels |= one.kernels
    return total


# Whether runs are with the kernel's own, and whether under the paper's conditions.
KINDS = ((False, False), (True, False), (False, True))


def section(figure: Figure, how: work.Profile) -> Section:
    """What is there of a figure, drawn and judged."""
    if not how.has(figure):
        return Section(figure, Verdict.WHOLE, [work.whole(figure)])
    states: dict[tuple[bool, bool], list[State]] = {kind: [] for kind in KINDS}
    lines: dict[str, list[Json]] = {}
    peer_runs = _peer_runs(figure, how)
    fewer, seeds, on = "", [], work.platform(how)
    for peers, under in KINDS:
        kind = states[peers, under]
        for name, runs in work.expected(figure, how, peers=peers, under=under).items():
            files = [name, name + figure.suffix] if figure.beside else [name]
            if not peers and not under:
                seeds += [sum(o.name == one.name for o, _ in runs) for one, _ in runs]
            for file in files:
                found = work.read(how.results, file)
                became = work.state(found, runs, on)
                kind.append(became if file == name else became.named(figure.suffix))
                lines[file] = [
                    line | {"older": work.run_of(line) in became.older}
                    for line in work.there(found, runs)
                ]
            if peers and how.fewer_seeds:
                missing = set(kind[-1].missing)
                fewer = _fewer_seeds(kind[-1], runs) or fewer
                unasked = missing - set(kind[-1].missing)
                peer_runs = {
                    name: [run for run in of if run not in unasked]
                    for name, of in peer_runs.items()
                }
    state, peer_state, under_state = (_merge(states[kind]) for kind in KINDS)
    if not under_state.complete:
        for name in figure.conditions:
            lines[name] = []
    out = Section(figure, *decide(figure, state, []), state=state, peer_state=peer_state)
    out.under_state = under_state
    out.peer_seeds = fewer
    out.seeds = min(seeds, default=1), max(seeds, default=1)
    every = _merge([state, peer_state])
    if not state.complete:
        out.peers = _peer_table(figure, None, every, peer_runs)
        return out
    try:
        module = import_module(f"longfat.pages.figures.{figure.paper}")
        shown = getattr(module, figure.draw)(lambda name: lines.get(name, []))
        out.measured = data.versions(figure.measured) if figure.measured else set()
        there = under_state.complete and under_state.expected > 0
        out.judged = [
            Judged(criterion, None, under_state.text())
            if criterion.under and not there
            else judge(
                criterion,
                shown.under if criterion.under else shown.values,
                part=how.figures is not None,
            )
            for criterion in figure.criterion
        ]
        out.peers = _peer_table(figure, shown, every, peer_runs)
    except Exception as error:
        # The others are to be shown all the same.
        pyplot.close("all")
        if state.older:
            out.verdict = Verdict.OPEN
            out.reasons = [f"its older runs do not have what is looked for ({error!r})"]
        else:
            out.verdict, out.reasons = Verdict.FAILED, [f"cannot be judged ({error!r})"]
        out.judged = []
        out.peers = _peer_table(figure, None, every, peer_runs)
        return out
    out.verdict, out.reasons = decide(figure, state, out.judged)
    out.values = shown.values
    out.numbers, out.tables = _numbers(shown, figure.reference), shown.tables
    out.pictures = [(what, svg(picture)) for what, picture in shown.pictures]
    out.interval = any(value.seeds > 1 for value in shown.values.values())
    # A number may be of the runs of two files.
    most = max((len(value.each) for value in shown.values.values()), default=1)
    out.seeds = min(out.seeds), max(*out.seeds, most)
    return out


def sections(figures: list[Figure], how: work.Profile) -> list[Section]:
    """Of all these figures."""
    return [section(figure, how) for figure in figures]


def _environment(*, html: bool) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["initial"] = lambda text: text[:1].upper() + text[1:]
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|")
    environment.filters["table"] = table
    return environment


# What is not shown as it stands.
UNMET = {Verdict.UNDER, Verdict.NOT, Verdict.OPEN, Verdict.HOLDS_NOT}
# What a claim may turn out to be, as the columns of a table; of what the paper says, and of ours.
OF_PAPERS = (
    *(Verdict.REPRODUCED, Verdict.DIFFERENT, Verdict.UNDER, Verdict.NOT, Verdict.OPEN),
    *(Verdict.FAILED, Verdict.MISSING),
)
OF_OURS = (Verdict.HOLDS, Verdict.HOLDS_NOT, Verdict.OPEN, Verdict.FAILED, Verdict.MISSING)


def _counts(found: list[Section], verdicts: tuple[Verdict, ...]) -> Table:
    """How many claims of each paper, or page, are what; in brackets, of older versions."""
    papers = catalogue.load().paper
    rows = []
    for key in dict.fromkeys(one.figure.paper for one in found):
        of = [one for one in found if one.figure.paper == key]
        cells = []
        for verdict in verdicts:
            there = [one for one in of if one.verdict is verdict]
            older = sum(bool(one.older) for one in there)
            cells.append(f"{len(there)}{f' ({older})' if older else ''}" if there else "-")
        rows.append([f"[{key}]({papers[key].page})", str(len(of)), *cells])
    headings = ["", "claims", *map(str, verdicts)]
    used = [i for i in range(len(headings)) if i < 2 or any(row[i] != "-" for row in rows)]
    return Table([headings[i] for i in used], [[row[i] for i in used] for row in rows])


def _side_by_side(found: list[Section]) -> Table:
    """The headline numbers: ours beside the kernel's own."""
    rows = []
    for one in found:
        if (cells := one.beside()) and one.figure.headline:
            older = " (older)" if one.older else ""
            says = f"{one.figure.headline.says} [{one.figure.id}]({one.figure.where}){older}"
            rows.append([says, *cells])
    return Table(["", "ours", *PEERS], rows)


def _total(of_papers: list[Section]) -> str:
    """In a sentence, how many of the papers' claims hold."""
    count = Counter(one.verdict for one in of_papers)
    good = count[Verdict.REPRODUCED] + count[Verdict.DIFFERENT]
    return (
        f"**Of {len(of_papers)} figures and tables of four papers {good} are reproduced**, "
        f"{count[Verdict.DIFFERENT]} of them with a stated difference. {count[Verdict.UNDER]} are "
        "reproduced under a condition that today's network has not, "
        f"{count[Verdict.NOT]} are not, and {count[Verdict.OPEN]} not decided."
    )


def _context(found: list[Section], how: work.Profile) -> dict[str, object]:
    states = [state for one in found for state in (one.state, one.peer_state, one.under_state)]
    kernels = sorted(set().union(*(state.kernels for state in states)))
    of_papers = [one for one in found if not one.figure.ours]
    of_ours = [one for one in found if one.figure.ours]
    unmet = [one for one in found if one.verdict in UNMET]
    return {
        "sections": found,
        "of_papers": _counts(of_papers, OF_PAPERS),
        "of_ours": _counts(of_ours, OF_OURS),
        "total": _total(of_papers),
        "unmet": {
            "Of the papers": [one for one in unmet if not one.figure.ours],
            "Of our own, what does not hold": [
                one for one in unmet if one.figure.ours and one.verdict is not Verdict.OPEN
            ],
            "Of our own, what is not decided": [
                one for one in unmet if one.figure.ours and one.verdict is Verdict.OPEN
            ],
        },
        "side_by_side": _side_by_side(found),
        "papers": catalogue.load().paper,
        "kernels": kernels,
        "profile": how,
        # What is shown of older versions is none of the headline.
        "counts": {v: sum(one.verdict is v and not one.older for one in found) for v in Verdict},
        "older_figures": sum(bool(one.older) for one in found),
        "current": len(set().union(*(state.current for state in states))),
        "older": len(set().union(*(state.older for state in states))),
        "missing": len(set().union(*(state.missing for state in states))),
        "long": LONG,
    }


def html(found: list[Section], how: work.Profile) -> str:
    """The report: one file, nothing else is loaded."""
    return _environment(html=True).get_template("report.html").render(_context(found, how))


def table(one: Table) -> str:
    """A table as Markdown has it."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in one.rows]
    text = data.markdown(one.headings, rows)
    return f"{text}\n\n{one.caption}" if one.caption else text


def picture_name(one: Section, number: int) -> str:
    """What the n-th picture of a section is called in docs/img."""
    return f"report-{one.figure.id}{f'-{number}' if number else ''}.svg"


def markdown(found: list[Section], how: work.Profile) -> dict[Path, str]:
    """docs/results.md, docs/figures and their pictures: file -> text."""
    context = _context(found, how) | {"picture_name": picture_name}
    templates = _environment(html=False)
    pages = {DOCS / "results.md": templates.get_template("results.md").render(context)}
    figures, papers = templates.get_template("figures.md"), catalogue.load().paper
    for key in dict.fromkeys(one.figure.paper for one in found):
        of = [one for one in found if one.figure.paper == key]
        text = figures.render(context | {"paper": papers[key], "sections": of})
        pages[DOCS / f"figures/{key}.md"] = text
    files = {path: re.sub(r"\n{3,}", "\n\n", text) for path, text in pages.items()}
    for one in found:
        for number, (_, picture) in enumerate(one.pictures):
            path = DOCS / "img" / picture_name(one, number)
            files[path] = '<?xml version="1.0" encoding="utf-8"?>\n' + picture
    return files
