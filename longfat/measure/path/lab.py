# SPDX-License-Identifier: GPL-2.0
"""A path that was measured as a scenario, and what the lab says of it beside what was measured."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Set
from pathlib import Path
from statistics import median

from rich import box
from rich.table import Table

from longfat.core.errors import LabError
from longfat.measure.path import answer, seen
from longfat.measure.path.seen import Seen
from longfat.run import result
from longfat.run.result import Json

SEEDS = 5  # of the lab's runs, where packets are lost at random


def _comment(name: str, one: Seen, text: list[str]) -> list[str]:
    sure = "sure" if one.sure else "A GUESS"
    words = f"{name}: {text[1]} ({text[2]} to {text[3]}), {sure}. {one.how}"
    return [f"# {line}" for line in textwrap.wrap(words, 96)]


def lacking(names: Iterable[str], valid: Set[str]) -> list[str]:
    """Those of these algorithms that the lab, which has `valid`, does not have; LabError if it has
    none of them."""
    found = sorted({*names} - valid)
    if len(found) == len({*names}):
        raise LabError(
            f"the lab has none of {', '.join(found)}: no scenario is written; it has "
            f"{', '.join(sorted(valid))}"
        )
    return found


def scenario(results: list[Json], valid: Set[str], notes: list[str]) -> str:
    """The scenario file of a path, for those of its contenders that the lab has (`valid`); `notes`
    are what else is to be known of it."""
    of = seen.path(results)
    flows = [one["scenario"]["flow"][0] for one in results]
    contenders = {(flow["cc"], flow["parallel"]) for flow in flows}
    every = {cc for cc, _ in contenders}
    names = sorted(every - {*lacking(every, valid)})
    parallel = sorted({count for _, count in contenders})
    texts = {row[0]: row for row in seen.rows(of)}
    sizes = {flow.get("bytes") for flow in flows} - {None}
    longest = max(one["scenario"]["duration"] for one in results)
    begin = median(one["scenario"]["warmup"] for one in results)
    title = results[0]["scenario"]["title"].replace("measured on", "as it was seen on")
    lost = of.loss.value > 0
    seeds = range(1, (SEEDS if lost else 1) + 1)
    lines = [
        "# Written by `longfat measure --save`, from the sender's end of the path alone.",
        *[f"# {line}" for note in notes for line in textwrap.wrap(note, 96)],
        f"title = {json.dumps(title)}",
        # A transfer may take longer here than there.
        f'duration = "{round(4 * longest + 10) if sizes else round(longest)}s"',
        f'warmup = "{begin:g}s"',
        f"seeds = [{', '.join(map(str, seeds))}]",
        "",
        "[link]",
        *_comment("rate", of.rate, texts["rate"]),
        f'rate = "{max(of.rate.value, 1e3) / 1e6:.4g}mbit"',
        *_comment("buffer", of.buffer, texts["buffer"]),
        f'buffer = "{max(of.buffer.value, 1.5e3) / 1e3:.4g}kB"',
        *_comment("loss", of.loss, texts["loss"]),
        f"loss = {of.loss.value:.3g}",
        f"mtu = {results[0]['scenario']['link']['mtu'] or 1500}",
        "",
        "[[flow]]",
        f'cc = "{names[0]}"',
        *_comment("RTT", of.rtt, texts["RTT"]),
        f'rtt = "{of.rtt.value * 1e3:.4g}ms"',
        f"parallel = {parallel[0]}",
        *(f'bytes = "{size}B"' for size in sorted(sizes)[:1]),
        "",
        "[vary]",
        f'"flow.0.cc" = {json.dumps(names)}',
        *([f'"flow.0.parallel" = {json.dumps(parallel)}'] if len(parallel) > 1 else []),
    ]
    return "\n".join(lines) + "\n"


def measured_file(path: Path) -> Path:
    """Where what was measured is, for the scenario `path`."""
    return path.with_suffix(".measured.json")


def save(results: list[Json], path: Path, valid: Set[str], notes: list[str]) -> list[Path]:
    """Write the scenario and, beside it, summaries of what was measured."""
    text = scenario(results, valid, notes)
    beside = measured_file(path)
    summaries = json.dumps([result.summarise(one) for one in results], indent=1, sort_keys=True)
    result.write_whole(summaries + "\n", beside)
    result.write_whole(text, path)
    return [path, beside]


def measured(path: Path) -> list[Json]:
    """What was measured on the path of which `path` is the scenario."""
    beside = measured_file(path)
    if not beside.is_file():
        raise LabError(
            f"{path}: there is no {beside.name} beside it with what was measured: give a file that "
            "`longfat measure --save` wrote, or run any other by `longfat run`"
        )
    return result.read_all(beside)


# --- beside each other


def as_contenders(runs: list[Json]) -> list[Json]:
    """Runs of the lab, called and counted as `longfat measure` does it."""
    found = []
    for one in runs:
        flow, link = one["scenario"]["flow"][0], one["scenario"]["link"]
        (had,) = one["flows"]
        time = one["scenario"]["duration"] - one["scenario"]["warmup"]
        many = f"{flow['cc']} x{flow['parallel']}" if flow["parallel"] > 1 else ""
        found.append(
            {
                **one,
                "scenario": {**one["scenario"], "case_name": many},
                "path": {
                    "bytes": had["goodput_bps"] * time / 8,
                    "mss": link["mtu"] - 52,
                    "retransmissions": had["retransmissions"],
                },
            }
        )
    return found


def _of_measured_time(one: Json) -> Json:
    """A measured run with its counts of the measured time, which are those that the lab has."""
    flow, scenario_ = one["flows"][0], one["scenario"]
    if one["path"]["reverse"] or flow["completion_s"]:
        return one
    time = scenario_["duration"] - scenario_["warmup"]
    again = {
        "bytes": flow["goodput_bps"] * time / 8,
        "retransmissions": flow["retransmissions"],
    }
    return {**one, "path": {**one["path"], **again}}


def table(found: list[Json], runs: list[Json]) -> tuple[Table, str]:
    """Medians of what was measured and of what the lab has, beside each other, and who is best by
    both."""
    there = answer.make([_of_measured_time(one) for one in found])
    here = answer.make(as_contenders(runs))
    out = Table(title=runs[0]["scenario"]["title"], box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    out.add_column("cc", no_wrap=True)
    for what in there.medians:
        for which in ("measured", "lab"):
            out.add_column(f"{what.heading}\n{which}", justify="right", no_wrap=True)
    for label in there.ranking:
        cells = [label]
        for what in there.medians:
            for of in (there, here):
                one = of.medians.get(what, {}).get(label)
                cells.append(f"{one.value:.{what.digits}f}" if one else "-")
        out.add_row(*cells)
    default = found[0]["path"].get("default", "")
    best, why = answer.chosen(there, default)
    # Of one alone there is nothing to choose, here as there.
    return out, _verdict(best, _of_lab(here), here) if len(there.ranking) > 1 else why


def _of_lab(here: answer.Answer) -> str:
    """Whom the lab would recommend, by the same rule: of those with the best goodput, or as good
    as that, the one with the shortest round trip."""
    if not here.ranking:
        return ""
    of, sign = here.medians[here.first], -1 if here.first.high else 1
    best = of[here.ranking[0]].value
    good = [x for x in here.ranking if sign * (of[x].value / best - 1) < answer.MATTERS]
    rtts = here.medians.get(answer.RTT, {})
    return min(good, key=lambda label: rtts[label].value if label in rtts else 0.0)


def _verdict(measured_: list[str], lab: str, here: answer.Answer) -> str:
    """`measured_` are several if it was not told which of them is better."""
    if measured_ == [lab]:
        return f"Take {lab}: that is what was measured, and what the lab says."
    which = f"Measured: take {measured_[0]}"
    if len(measured_) > 1:
        which = f"Measured: {answer.listed(measured_)} are not told apart"
    if lab in measured_:
        return f"{which}; the lab: take {lab}."
    if not {*measured_} & {*here.rounds}:
        return f"{which}, which the lab does not have; of its own, take {lab}."
    return (
        f"{which}; the lab: take {lab}. Where they differ, the scenario is not the path: see what "
        "in it is a guess."
    )
