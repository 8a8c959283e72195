# SPDX-License-Identifier: GPL-2.0
"""Objects that are drawn before a run: sizes, times, and what is refused."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from conftest import One

from longfat.core.errors import LabError
from longfat.run import plan, traffic
from longfat.run.scenario import Request, Short

SHORT = '[[short]]\nrtt = "30ms"\n'


def sizes(count: int = 20000, **keys: object) -> list[int]:
    one = Request.model_validate({"rtt": "40ms"} | keys)
    rng = random.Random(1)
    return [traffic.size(one, rng) for _ in range(count)]


def test_sizes_have_the_mean_that_was_asked_for() -> None:
    assert fmean(sizes(mean_size="20kB")) == pytest.approx(20e3, rel=0.03)
    drawn = sizes(size="lognormal", mean_size="20kB", sigma=1.0)
    assert fmean(drawn) == pytest.approx(20e3, rel=0.05)
    # The median of a log-normal distribution is its mean without half of the variance.
    assert sorted(drawn)[10000] == pytest.approx(20e3 * 2.718281828**-0.5, rel=0.05)


def test_sizes_of_a_bounded_pareto() -> None:
    """Half of all are below the median of the formula, and none is outside."""
    drawn = sizes(size="pareto", min_size="1kB", max_size="1MB", shape=1.2)
    median = 1000 * (1 - 0.5 * (1 - 1000**-1.2)) ** (-1 / 1.2)
    assert sum(one <= median for one in drawn) == pytest.approx(10000, abs=300)
    assert 1000 <= min(drawn) < 1010 and 300_000 < max(drawn) <= 1_000_000


def test_sizes_of_a_table() -> None:
    drawn = sizes(size="empirical", sizes=[("1kB", 0.25), ("10kB", 1.0)])
    assert sum(one <= 1000 for one in drawn) == pytest.approx(5000, abs=250)
    assert fmean(one for one in drawn if one > 1000) == pytest.approx(5500, rel=0.02)
    assert max(drawn) <= 10_000


def test_times_of_arrivals() -> None:
    one = Short.model_validate({"rtt": "40ms", "per_second": 50.0, "mean_size": "1kB"})
    times = [float(line.split()[0]) for line in traffic.short(one, 2, 102, random.Random(1))]
    assert len(times) == pytest.approx(5000, abs=220) and times == sorted(times)
    assert 2 < times[0] < 3 and 101 < times[-1] < 102


def test_requests_are_enough() -> None:
    """Even if each was answered after the round trip and nothing else."""
    spec = Request.model_validate({"rtt": "40ms", "mean_size": "1kB", "think": "60ms"})
    lines = traffic.request(spec, 1, 11, random.Random(1))
    thought = sum(float(line.split()[0]) for line in lines)
    assert thought + 0.04 * len(lines) > 10
    assert len(lines) == pytest.approx(100, abs=30)


def test_plan_of_objects(one: One) -> None:
    rest = (
        SHORT + 'arrivals = ["1s", "0.5s"]\nsize = "pareto"\nshape = 1\nmin_size = "1kB"\n'
        'max_size = "2kB"\n[[video]]\nrtt = "10ms"\nrate = "8mbit"\nchunk = "3s"\ncount = 2\n'
    )
    made = plan.make(one(rest=rest), 1, prefix="lf", virtual=True)
    lines = [line.split() for line in made.traffic.splitlines() if line.startswith("objects")]
    assert [line[2] for line in lines] == ["lf-s1", "lf-s2", "lf-s2"]
    assert [line[-2:] for line in lines] == [
        ["new", "objects-1"],
        ["kept", "objects-2"],
        ["kept", "objects-3"],
    ]
    assert made.objects == {1: ("short", 0), 2: ("video", 0), 3: ("video", 0)}
    assert [line.split()[0] for line in made.files["objects-1"].splitlines()] == [
        "0.500000000",
        "1.000000000",
    ]
    assert made.files["objects-2"].splitlines()[1] == "3.000000000 3000000"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SHORT + 'mean_size = "1kB"', "short flows need per_second or arrivals"),
        (SHORT + "per_second = 1.0", 'size = "exponential" needs mean_size'),
        (SHORT + 'per_second = 1.0\nsize = "pareto"\nshape = 1', "needs min_size, max_size"),
        (SHORT + 'per_second = 1.0\nmean_size = "1kB"\nsigma = 1.0', "has no sigma"),
        (
            SHORT + 'per_second = 1.0\nsize = "empirical"\nsizes = [["2kB", 0.5]]',
            "the last part 1",
        ),
        ('[[request]]\nrtt = "1ms"\nmean_size = "1kB"\nrequest = "1MB"', "a request is 1B"),
        ('[[video]]\nrtt = "1ms"\nrate = "1mbit"\nchunk = "1ms"', "chunk is 10ms to 60s"),
        (
            '[[video]]\nrtt = "1ms"\nrate = "1mbit"\nsize = "1MB"',
            "valid here: ack_ahead, ack_every, cc, chunk, count",
        ),
        ('[[request]]\nrtt = "0.9ms"\nmean_size = "1kB"', "of a request is 1ms to 10s"),
        (
            '[[request]]\nrtt = "1ms"\nmean_size = "1kB"\ncount = 1000',
            "up to 10000000 questions, at most 1000000",
        ),
        (SHORT + 'mean_size = "1kB"\narrivals = ["1s", "10s"]', "arrivals: 10s is after its end"),
        (
            f'[host]\npacing = false\n{SHORT}mean_size = "1kB"\nper_second = 1.0\nreverse = true\n'
            '[[udp]]\nrtt = "1ms"\nrate = "1mbit"\nreverse = true',
            "udp.reverse beside other traffic in reverse needs host.pacing",
        ),
    ],
)
def test_what_is_refused(one: One, text: str, says: str) -> None:
    with pytest.raises(LabError, match=says):
        one(rest=text)
