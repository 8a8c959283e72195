# SPDX-License-Identifier: GPL-2.0
"""What the pages are made from: docs/results, tests/published, and what both kinds of page need
of them: series over time, means with intervals, tables in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from itertools import pairwise, zip_longest
from typing import TypeVar

from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from longfat.arena import keep
from longfat.build.modules import ROOT, bare_digests
from longfat.run.identity import Platform
from longfat.run.result import Json, interval
from longfat.run.scenario import load, payload
from longfat.run.summaries import read
from longfat.show import report  # noqa: F401 - first: it sets matplotlib up, for repeatable files

DOCS = ROOT / "docs"
RESULTS = DOCS / "results"
PUBLISHED = ROOT / "tests" / "published"

Key = TypeVar("Key")


def markdown(headings: list[str], rows: list[list[str]], *, prose: Collection[int] = ()) -> str:
    """A Markdown table; the first column and those of `prose` left, the others right."""
    headings = [heading.replace("\n", " ") for heading in headings]
    left = {0, *prose}
    rule = ["---" if column in left else "---:" for column in range(len(headings))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [headings, rule, *rows])


def logarithmic(axes: Axes, which: str = "x") -> None:
    """A logarithmic axis ("x" or "y") with plain numbers on it: matplotlib's own are TeX, which
    show/report.py turned off, as a $ is one."""
    getattr(axes, f"set_{which}scale")("log")
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


READ: set[str] = set()  # the names that kept() and measured() were asked for, for one page


def kept(name: str) -> list[Json]:
    """The summaries of docs/results/NAME.json."""
    READ.add(name)
    found: list[Json] = read(RESULTS / f"{name}.json")
    return found


def measured(name: str) -> Json:
    """docs/results/NAME.json, a measurement that is no run."""
    READ.add(name)
    found: Json = read(RESULTS / f"{name}.json")
    return found


def older_modules(found: Json) -> set[str]:
    """Our algorithms whose modules are not what they were in this measurement."""
    now = bare_digests()
    return {cc for cc, of in found["modules"].items() if now.get(cc) != of}


def _is_older(name: str) -> Callable[[Json], bool]:
    """Whether a line of docs/results/NAME.json, or a measurement, is not current."""
    path = ROOT / f"tests/scenarios/{name}.toml"
    runs = {one.name: one for one in load(path)} if path.exists() else {}
    now, on = bare_digests(), Platform.published()

    def is_older(line: Json) -> bool:
        if "known" in line:  # an evaluation
            return bool(older_modules(line)) or keep.is_older(line, on)
        if "modules" in line:  # of several
            return bool(older_modules(line))
        if "source" in line:  # of one, or of the kernel's own
            return bool(line["source"] != now.get(line["cc"]))
        one = runs.get(line["scenario"]["name"])
        return one is None or not on.knows(line, one, line["seed"])

    return is_older


def marked(name: str) -> list[Json]:
    """kept(), and of each whether it is `older`."""
    is_older = _is_older(name)
    return [line | {"older": is_older(line)} for line in kept(name)]


def versions(name: str) -> set[str]:
    """Those of what in docs/results/NAME.json is not current."""
    found: list[Json] | Json = read(RESULTS / f"{name}.json")
    lines, is_older = found if isinstance(found, list) else [found], _is_older(name)
    return {line.get("version", "unknown") for line in lines if is_older(line)}


def _which(name: str) -> str:
    """What in docs/results/NAME.json is not current: versions, or an evaluation's criteria."""
    found: list[Json] | Json = read(RESULTS / f"{name}.json")
    if not isinstance(found, list) or not all("known" in line for line in found):
        return ", ".join(sorted(versions(name)))
    on = Platform.published()
    whole = [line["criterion"] for line in found if keep.is_older(line, on)]
    others = [line for line in found if line["criterion"] not in whole]
    parts = Counter(cc for line in others for cc in older_modules(line))
    says = [f"`{cc}` in {n} of {len(found)} criteria" for cc, n in sorted(parts.items())]
    return "; ".join([*says, *([f"all algorithms in {', '.join(whole)}"] if whole else [])])


def _incomplete(name: str) -> str:
    """How many of the runs of a scenario file docs/results/NAME.json lacks, or nothing."""
    path = ROOT / f"tests/scenarios/{name}.toml"
    found = read(RESULTS / f"{name}.json")
    if not path.exists() or not isinstance(found, list):
        return ""
    there = {(line["scenario"]["name"], line["seed"]) for line in found if "scenario" in line}
    wanted = {(one.name, seed) for one in load(path) for seed in one.seeds}
    return f"{len(wanted - there)} of {len(wanted)}" if there and wanted - there else ""


def older() -> str:
    """The part of a page that says which of the results that the parts before it ask for are of
    older versions, and which are missing."""
    there = [name for name in sorted(READ) if (RESULTS / f"{name}.json").exists()]
    missing = sorted(READ - {*there})
    found = {name: _which(name) for name in there}
    those = [f"[{name}](results/{name}.json) ({of})" for name, of in found.items() if of]
    lack = {name: of for name in there if (of := _incomplete(name))}
    if not (those or missing or lack):
        return "All results of this page are current."
    says = []
    if missing:
        says.append(f"Not measured yet: {', '.join(missing)}.")
    if lack:
        runs = ", ".join(f"[{name}](results/{name}.json) ({of})" for name, of in lack.items())
        says.append(f"Runs that are not made yet: {runs}.")
    if those:
        means = "[report.md](report.md#when-is-a-result-current)"
        says.append(f"Of older versions ({means}), in whole or in part: {', '.join(those)}.")
    if len({*(name for name, of in found.items() if of), *lack}) < len(there):
        says.append("All others are current.")
    return " ".join(says)


def plus(values: list[float], digits: int) -> str:
    """interval() as a table shows it; of one value there is none."""
    middle, half = interval(values)
    return f"{middle:.{digits}f}" + (f" ± {half:.{digits}f}" if len(values) > 1 else "")


def grouped(name: str, key: Callable[[Json], Key]) -> dict[Key, list[Json]]:
    """The runs of docs/results/NAME.json by what `key` says of each, in the order of the file."""
    found: dict[Key, list[Json]] = {}
    for run in kept(name):
        found.setdefault(key(run), []).append(run)
    return found


def by_case(name: str) -> dict[str, list[Json]]:
    """The runs of docs/results/NAME.json by case, or all of them as ''."""
    return grouped(name, lambda run: str(run["scenario"]["case_name"] or ""))


def bdp_of(run: Json) -> float:
    """The bandwidth-delay product of the first flow of a run, packets."""
    link = run["scenario"]["link"]
    return float(link["rate"] * run["flows"][0]["base_rtt_ms"] / 1e3 / 8 / link["mtu"])


def mss_of(run: Json) -> int:
    """TCP payload bytes per full packet, Scenario.mss of a run."""
    one = run["scenario"]
    return payload(one["link"]["mtu"], timestamps=one["host"]["timestamps"])


POINTS = 600  # of a picture over time


def series(run: Json, flow: int, column: str) -> Json:
    """What a picture over time needs of a flow's first connection: every so manieth sample."""
    one = run["flows"][flow]["connections"][0]
    step = max(1, len(one["t"]) // POINTS)
    return {"t": [round(t, 2) for t in one["t"][::step]], column: one[column][::step]}


def rates(run: Json, seconds: float, flows: int | None = None) -> list[list[float]]:
    """Mbit/s of each flow, or of the first `flows`, in each `seconds` of the run, all of its
    connections together."""
    step = round(seconds / float(run["scenario"]["sample"]))
    found = []
    for flow in run["flows"][:flows]:
        total: list[float] = []
        for one in flow["connections"]:
            # A flow that starts late has no samples before that.
            missing = round(one["t"][0] / float(run["scenario"]["sample"])) if one["t"] else 0
            counts = [0] * missing + one["received"]
            gains = [b - a for a, b in pairwise(counts[::step])]
            total = [a + b for a, b in zip_longest(total, gains, fillvalue=0)]
        found.append([round(gained * 8e-6 / seconds, 2) for gained in total])
    return found


def losses_per_overflow(run: Json) -> tuple[int, float]:
    """(how often the bottleneck's buffer overflowed after the warm-up, packets dropped by it
    each time): drops within two round trips of each other are one."""
    pause = 2 * run["flows"][0]["base_rtt_ms"] / 1e3 + run["scenario"]["sample"]
    times, dropped = run["queue"]["t"], run["queue"]["dropped"]
    events: list[list[float]] = []  # [time of the last drop, drops]
    for t, before, after in zip(times[1:], dropped, dropped[1:], strict=False):
        if after == before or t < run["scenario"]["warmup"]:
            continue
        if not events or t - events[-1][0] > pause:
            events.append([t, 0])
        events[-1] = [t, events[-1][1] + after - before]
    lost = [event[1] for event in events]
    return len(lost), sum(lost) / len(lost) if lost else 0.0


OPEN, DISORDER, LOSS = 0, 1, 4  # tcpi_ca_state


def loss_events(run: Json, connection: Json) -> int:
    """How often a connection began to recover, in the measured time."""
    columns = zip(connection["t"], connection["state"], strict=True)
    calm = [state <= DISORDER for t, state in columns if t >= run["scenario"]["warmup"]]
    return sum(before and not now for before, now in pairwise(calm))


def avoidance(cwnd: int, ssthresh: int | None, state: int) -> bool:
    """Whether a sample was taken in congestion avoidance."""
    return ssthresh is not None and cwnd >= ssthresh and state <= DISORDER
