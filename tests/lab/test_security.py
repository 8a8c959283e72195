# SPDX-License-Identifier: GPL-2.0
"""No more than the documented share for someone without privileges (docs/security.md); who may
choose which algorithm is in tests/stock."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev

import pytest
import share

from longfat.run.backends import Uml

DOCUMENTED = {
    (one["cc"], one["rate"], one["way"]): one["shares"]
    for one in json.loads(share.KEPT.read_text())
}
CASES = [case for case in share.CASES if case[0] != "reno"]
LATER = ("switch", "storm", "tired", "small", "pace", "fresh")  # of greedy.py


def bounds(cc: str, rate: str) -> tuple[float, float]:
    """What the share of one run is between, if it is one of those that are documented.

    A run repeats exactly, but one that differs by a nanosecond is another sample.  Beyond four
    standard deviations, as five seeds know them, is one in fifty; and half a per cent of the
    link more where five seeds happen to be alike.
    """
    shares = DOCUMENTED[cc, rate, "plain"]
    off = 4 * stdev(shares) + 0.005
    return mean(shares) - off, mean(shares) + off


def hold(uml: Uml, run: Path, cc: str, rate: str, way: str) -> float:
    """The share of a user who does so; it is no more than is documented."""
    got = share.share(uml, run, cc, rate, way, 6)
    most = bounds(cc, rate)[1]
    if way == "fresh":
        # New connections begin by slow start: as much as Reno leaves less to others by them.
        least = [1 - mean(DOCUMENTED["reno", rate, of]) for of in ("fresh", "plain")]
        most = 1 - (1 - most) * least[0] / least[1]
    assert got <= most, f"{cc} at {rate}, {way}: {got:.4f} is more than its share, {most:.4f}"
    return got


@pytest.mark.parametrize(("cc", "rate"), CASES)
def test_the_share_is_what_is_documented(uml: Uml, tmp_path: Path, cc: str, rate: str) -> None:
    """With what a user sets alone: no more, and no less, or the next tests would say nothing."""
    got = hold(uml, tmp_path / "run", cc, rate, "plain")
    assert got >= bounds(cc, rate)[0], f"{cc} at {rate}: {got:.4f} is less than its share"


@pytest.mark.parametrize(("cc", "rate"), CASES)
def test_a_loss_is_not_forgotten(uml: Uml, tmp_path: Path, cc: str, rate: str) -> None:
    """Away from the algorithm and back whenever something was lost."""
    hold(uml, tmp_path / "run", cc, rate, "loss")


@pytest.mark.long
@pytest.mark.parametrize("way", LATER)
@pytest.mark.parametrize(("cc", "rate"), CASES)
def test_whatever_a_user_does(uml: Uml, tmp_path: Path, cc: str, rate: str, way: str) -> None:
    hold(uml, tmp_path / "run", cc, rate, way)
