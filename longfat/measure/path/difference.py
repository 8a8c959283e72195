# SPDX-License-Identifier: GPL-2.0
"""What differs and what does not: medians with their intervals, and which differences are real.

Each round has every contender once, so two are compared within rounds: what a round's weather is
does not matter then.  docs/measure.md says what each method is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from statistics import median

LEVEL = 0.95
# Megabits a second, or seconds, in the place of nothing, which has no ratio.
NOTHING = 1e-6
# Contender -> round -> what was measured.
Values = dict[str, dict[int, float]]


@dataclass(frozen=True)
class Median:
    """The median of some rounds; its interval needs six."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Pair:
    """Two contenders, over the rounds that have both."""

    a: str
    b: str
    ratio: float  # the median of a / b
    p: float  # corrected: how likely so large a difference is by chance, if there is none

    @property
    def real(self) -> bool:
        return self.p <= 1 - LEVEL


def middle(values: list[float]) -> Median:
    """The median and its 95 % interval: the two order statistics that a binomial distribution
    gives, whatever the values' distribution is."""
    from scipy.stats import quantile_test  # a second, which only the answer has to wait

    low, high = quantile_test(values, q=0, p=0.5).confidence_interval(LEVEL)
    if math.isnan(low) or math.isnan(high):
        return Median(median(values), None, None)
    return Median(median(values), float(low), float(high))


def by_chance(logs: list[float]) -> float:
    """Wilcoxon's signed-rank test: p of the logarithms of ratios, were a as often above b as below
    it, and by as much."""
    from scipy.stats import wilcoxon

    if not any(logs):
        return 1.0
    return float(wilcoxon(logs).pvalue)


def corrected(p: list[float]) -> list[float]:
    """Holm's correction: with many comparisons, one is above the bound by chance more often."""
    found, worst = [0.0] * len(p), 0.0
    for place, number in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        worst = max(worst, min(1.0, (len(p) - place) * p[number]))
        found[number] = worst
    return found


def pairs(values: Values) -> list[Pair]:
    """Every two contenders that have a round in common."""
    found = []
    for a, b in combinations(values, 2):
        both = sorted(set(values[a]) & set(values[b]))
        ratios = [
            max(values[a][n], NOTHING) / max(values[b][n], NOTHING)
            for n in both
            if values[a][n] or values[b][n]
        ]
        if ratios:
            found.append((a, b, median(ratios), by_chance([math.log(x) for x in ratios])))
    p = corrected([one[3] for one in found])
    return [Pair(a, b, ratio, p[n]) for n, (a, b, ratio, _) in enumerate(found)]


def between(found: list[Pair], a: str, b: str) -> Pair | None:
    """The pair of these two, seen from `a`."""
    for one in found:
        if (one.a, one.b) == (a, b):
            return one
        if (one.a, one.b) == (b, a):
            return Pair(a, b, 1 / one.ratio, one.p)
    return None


def rounds_needed(contenders: int) -> int:
    """How many rounds there must be for any difference to be real: all of them alike have a p of
    2 / 2^rounds, and Holm's correction takes it times the number of pairs at first."""
    of = math.comb(contenders, 2)
    # An interval needs six.
    return max(6, 1 + math.ceil(math.log2(of / (1 - LEVEL)))) if of else 6
