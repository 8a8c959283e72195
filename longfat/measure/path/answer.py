# SPDX-License-Identifier: GPL-2.0
"""Which algorithm is best on a path, from the results of its runs: a table, which differences are
real, a sentence, and a page."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Literal

from rich import box
from rich.table import Table

from longfat.core import units
from longfat.measure.path import difference, limits, seen
from longfat.measure.path.difference import Median, Pair, Values
from longfat.measure.path.host import Host
from longfat.run.result import Json
from longfat.show import report


@dataclass(frozen=True)
class Measure:
    """Something that a run has, and how it is called."""

    heading: str
    word: str
    digits: int
    high: bool  # whether more is better


# A difference that is real and smaller than this is no reason to take one of two.
MATTERS = 0.02

_PATH: dict[str, Literal["left", "right"]] = {
    **{"": "left", "value": "right", "from": "right", "to": "right"},
    "how sure": "left",
}

GOODPUT = Measure("goodput\nMbit/s", "goodput", 2, True)
COMPLETION = Measure("completion\ns", "completion time", 3, False)
AGAIN = Measure("sent again\n%", "share sent again", 2, False)
RTT = Measure("RTT ms\nmedian", "round-trip time", 1, False)


def _value(result: Json, what: Measure) -> float | None:
    flow, path = result["flows"][0], result["path"]
    if what is GOODPUT:
        return float(flow["goodput_bps"] / 1e6)
    if what is COMPLETION:
        found = flow["completion_s"]
    elif what is RTT:
        found = flow["rtt_ms"]["p50"]
    else:
        packets = path["bytes"] / path["mss"] if path["mss"] else 0
        again = path["retransmissions"]
        found = 100 * again / packets if packets and again is not None else None
    return None if found is None else float(found)


def values(results: list[Json], what: Measure) -> Values:
    """By contender, in alphabetical order, and round."""
    found: Values = {label: {} for label in sorted(map(report.label, results))}
    for one in results:
        if (value := _value(one, what)) is not None:
            found[report.label(one)][one["seed"]] = value
    return {label: of for label, of in found.items() if of}


@dataclass(frozen=True)
class Answer:
    """All that is said of the results."""

    first: Measure  # what is asked for
    medians: dict[Measure, dict[str, Median]]
    pairs: dict[Measure, list[Pair]]
    rounds: dict[str, int]
    ranking: list[str]  # the best median of `first` first


def make(results: list[Json]) -> Answer:
    first = COMPLETION if any(one["flows"][0]["completion_s"] for one in results) else GOODPUT
    all_ = {what: values(results, what) for what in dict.fromkeys((first, GOODPUT, AGAIN, RTT))}
    medians = {
        what: {label: difference.middle([*of.values()]) for label, of in found.items()}
        for what, found in all_.items()
        if found
    }
    asked = medians.get(first, {})
    return Answer(
        first=first,
        medians=medians,
        pairs={what: difference.pairs(all_[what]) for what in (first, RTT)},
        rounds={label: len(of) for label, of in all_[GOODPUT].items()},
        ranking=sorted(asked, key=lambda label: asked[label].value, reverse=first.high),
    )


def _shown(one: Median | None, digits: int) -> str:
    if one is None:
        return "-"
    if one.low is None or one.high is None:
        return f"{one.value:.{digits}f}"
    return f"{one.value:.{digits}f} [{one.low:.{digits}f}, {one.high:.{digits}f}]"


def rows(answer: Answer) -> tuple[list[str], list[list[str]]]:
    """Headings, and a row for each contender, the best first."""
    headings = ["cc", "rounds", *(what.heading for what in answer.medians)]
    found = [
        [
            label,
            str(answer.rounds[label]),
            *(_shown(of.get(label), what.digits) for what, of in answer.medians.items()),
        ]
        for label in answer.ranking
    ]
    return headings, found


def table(answer: Answer, title: str) -> Table:
    """For a terminal: medians, and their 95 % intervals."""
    headings, found = rows(answer)
    out = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, heading in enumerate(headings):
        out.add_column(heading, justify="left" if not number else "right", no_wrap=True)
    for row in found:
        out.add_row(*row)
    return out


def path_table(of: seen.Path) -> Table:
    """What the path is, as far as that is seen."""
    out = Table(title="the path", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading, justify in _PATH.items():
        out.add_column(heading, justify=justify, no_wrap=True)
    for row in seen.rows(of):
        out.add_row(*row[:-1])
    return out


def path_reasons(of: seen.Path) -> list[str]:
    """How each of that is known."""
    return [f"{name}: {why}" for name, *_, why in seen.rows(of)]


def _percent(ratio: float) -> str:
    change = 100 * (ratio - 1)
    return f"{abs(change):.{0 if abs(change) >= 10 else 1}f} % {'more' if change >= 0 else 'less'}"


def differences(answer: Answer) -> list[str]:
    """A sentence for every two contenders, those of the best one first."""
    said = []
    for what in answer.pairs:
        for a, b in combinations(answer.ranking, 2):
            if one := difference.between(answer.pairs[what], a, b):
                how = "real" if one.real else "may be chance"
                said.append(
                    f"{a} beside {b}: {what.word} {_percent(one.ratio)}, {how} (p {one.p:.2g})"
                )
    return said


def of_the_best(answer: Answer) -> list[str]:
    """Those of the best contender alone: with many there are too many to be read at once."""
    return [text for text in differences(answer) if text.startswith(f"{answer.ranking[0]} beside")]


def listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _not_worse(answer: Answer, what: Measure, label: str, others: list[str]) -> list[str]:
    """Those of `others` that are not really different from `label`."""
    found = []
    for other in others:
        pair = difference.between(answer.pairs[what], label, other)
        if pair is None or not pair.real or abs(pair.ratio - 1) < MATTERS:
            found.append(other)
    return found


def _of_equals(answer: Answer, equals: list[str], default: str) -> tuple[list[str], str]:
    """Whom to take of those between which there is no difference in what was asked, and why; all
    of them if there is no real reason."""
    rtts = {label: one for label, one in answer.medians.get(RTT, {}).items() if label in equals}
    if len(rtts) == len(equals):
        short = min(rtts, key=lambda label: rtts[label].value)
        if not _not_worse(answer, RTT, short, [x for x in equals if x != short]):
            longest = max(one.value for one in rtts.values())
            return [short], (
                f"Take {short}, which keeps the shortest queue: its round-trip time is "
                f"{rtts[short].value:.1f} ms, that of the others up to {longest:.1f} ms, and that "
                "is real."
            )
    if default in equals:
        return equals, f"Keep {default}, this machine's default."
    return equals, f"Take either; {equals[0]} had the better median."


def recommendation(answer: Answer, default: str) -> str:
    """One answer, with its reason."""
    return chosen(answer, default)[1]


def chosen(answer: Answer, default: str) -> tuple[list[str], str]:
    """The one that is recommended, or those of which it is not told which one is better; and the
    sentence."""
    if not answer.ranking:
        return [], "Nothing was measured."
    best, *others = answer.ranking
    if not others:
        return [best], f"Only {best} was measured: there is nothing to compare."
    what, better = answer.first.word, "more" if answer.first.high else "less"
    rounds = min(answer.rounds.values())
    needed = difference.rounds_needed(len(answer.ranking))
    equals = _not_worse(answer, answer.first, best, others)
    if equals and rounds < needed:
        return [best, *equals], (
            f"Too few rounds to tell: {rounds}, and {len(answer.ranking)} contenders need "
            f"{needed}. So far {best} leads."
        )
    if not equals:
        least = []
        for other in others:
            pair = difference.between(answer.pairs[answer.first], best, other)
            assert pair
            least.append((abs(pair.ratio - 1), other, pair))
        _, next_, pair = min(least, key=lambda one: one[0])
        return [best], (
            f"Take {best}: its {what} is really {better} than every other's, "
            f"{_percent(pair.ratio)} than {next_}'s, in {rounds} rounds."
        )
    worse = [label for label in others if label not in equals]
    none = f"There is no real difference in {what} between {listed([best, *equals])}"
    if any(
        pair.real
        for label in equals
        if (pair := difference.between(answer.pairs[answer.first], best, label))
    ):
        none = f"Less than {MATTERS:.0%} of {what} is between {listed([best, *equals])}"
    also = f"; {best}'s is really {better} than that of {listed(worse)}" if worse else ""
    labels, why = _of_equals(answer, [best, *equals], default)
    return labels, f"{none}{also}. {why}"


def summary(results: list[Json], host: Host) -> list[str]:
    """What the path is, and what limits it."""
    rate, rtt, size = limits.rate(results), limits.base_rtt(results), limits.bdp(results)
    said = [
        f"The path: {units.show_rate(rate)} at least, {rtt * 1e3:.3g} ms without a queue, so a BDP "
        f"of {size / 1e6:.3g} MB."
    ]
    for one in limits.find(results, host):
        said.append(
            ("It limits what was measured: " if one.hard else "Note: ")
            + one.text
            + (f"\n    {one.command}" if one.command else "")
        )
    return said


def _typical(results: list[Json]) -> list[Json]:
    """Of each contender the run whose goodput is next to its median."""
    found = []
    for label in dict.fromkeys(map(report.label, results)):
        of = [one for one in results if report.label(one) == label]
        centre = median(one["summary"]["goodput_bps"] for one in of)
        found.append(min(of, key=lambda one: abs(one["summary"]["goodput_bps"] - centre)))
    return sorted(found, key=report.label)


def page(results: list[Json], host: Host, command: str) -> str:
    """An HTML page: the answer, every round, and of each contender the run of median goodput."""
    answer = make(results)
    by_round = [
        (label, [float(x) for x in of], [*of.values()])
        for label, of in values(results, answer.first).items()
    ]
    heading = answer.first.heading.replace("\n", ", ")
    picture = report.lines_picture(by_round, heading, "every round", below="round", mark="o")
    return report.page(
        _typical(results),
        results[0]["scenario"]["title"],
        command,
        table=rows(answer),
        says=[recommendation(answer, host.default), *summary(results, host), *differences(answer)],
        first={heading: picture},
        parts={"of each the run of median goodput": _typical(results)},
        name=report.label,
    )
