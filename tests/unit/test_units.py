# SPDX-License-Identifier: GPL-2.0
"""Quantities: every unit, and what is not a quantity."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from longfat.core import units

TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
RATES = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
NUMBERS = ["1", "0", "007", "1.5", ".25", "120", "1e3", "2.5E-1", "1e+2"]


def spellings(number: str, unit: str) -> list[str]:
    """The ways of writing one quantity."""
    return [
        text
        for u in {unit, unit.lower(), unit.upper()}
        for text in (f"{number}{u}", f"{number} {u}", f"  {number}{u}\t")
    ]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("unit", TIMES)
def test_seconds(number: str, unit: str) -> None:
    for text in spellings(number, unit):
        assert units.seconds(text) == pytest.approx(float(number) * TIMES[unit], rel=1e-12)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("unit", RATES)
def test_rate(number: str, unit: str) -> None:
    for text in spellings(number, unit):
        assert units.rate(text) == round(float(number) * RATES[unit])
    assert units.rate(f"{number}{unit}/s") == round(float(number) * RATES[unit])
    assert isinstance(units.rate(f"{number}{unit}"), int)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("unit", SIZES)
def test_size(number: str, unit: str) -> None:
    for text in spellings(number, unit):
        assert units.size(text) == round(float(number) * SIZES[unit])
        assert units.buffer(text) == (units.size(text), "b")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0%", 0),
        ("0.01%", 1e-4),
        ("100%", 1),
        ("1e-3 %", 1e-5),
        (0, 0),
        (1, 1),
        (0.5, 0.5),
        (1e-9, 1e-9),
    ],
)
def test_probability(text: object, value: float) -> None:
    assert units.probability(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5000p", (5000, "p")),
        ("5000 P", (5000, "p")),
        ("0.333bdp", (0.333, "bdp")),
        ("1BDP", (1, "bdp")),
        ("6MB", (6e6, "b")),
        ("6MiB", (6 * 2**20, "b")),
    ],
)
def test_buffer(text: str, value: tuple[float, str]) -> None:
    assert units.buffer(text) == value


NEVER: list[object] = [
    None,
    True,
    5,
    5.0,
    [],
    {},
    "",
    " ",
    "ms",
    "five ms",
    "-5ms",
    "+5ms",
    "5 m s",
    "1,5s",
    "nan",
]


@pytest.mark.parametrize("bad", [*NEVER, "5", "5m", "5sec", "5mbit", "5%", "0x5s", "5ms 6ms"])
def test_no_time(bad: object) -> None:
    with pytest.raises(ValueError, match=r"is not a time.*ns, us, ms, s, min, h.*120ms"):
        units.seconds(bad)


@pytest.mark.parametrize("bad", [*NEVER, "5", "5gb", "1gbps", "5gbit/min", "5/s", "1mb/s"])
def test_no_rate(bad: object) -> None:
    with pytest.raises(ValueError, match=r"is not a rate.*bit, kbit, mbit, gbit.*1gbit"):
        units.rate(bad)


@pytest.mark.parametrize("bad", [*NEVER, "5", "5p", "5bdp", "5mbit", "5k"])
def test_no_size(bad: object) -> None:
    with pytest.raises(ValueError, match=r"is not a size.*kib, mib, gib.*4MB"):
        units.size(bad)


@pytest.mark.parametrize(
    "bad", [None, True, False, "", "0.5", "-1%", "101%", -0.1, 1.5, float("nan"), float("inf"), []]
)
def test_no_probability(bad: object) -> None:
    with pytest.raises(ValueError, match=r"is not a probability"):
        units.probability(bad)


@pytest.mark.parametrize("bad", [*NEVER, "5", "5ms", "5%", "5mbit", "-5p", "5packets"])
def test_no_buffer(bad: object) -> None:
    with pytest.raises(ValueError, match=r"is not a buffer.*5000p.*0\.333bdp.*6MB"):
        units.buffer(bad)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (units.seconds, "1e999s"),
        (units.rate, "1e999gbit"),
        (units.size, "1e999GB"),
        (units.buffer, "1e999p"),
        (units.buffer, "1e999bdp"),
        (units.buffer, "1e999MB"),
    ],
)
def test_infinity_is_no_quantity(parse: Callable[[object], object], text: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse(text)


@pytest.mark.parametrize(
    ("bps", "text"),
    [
        (0, "0 bit/s"),
        (999, "999 bit/s"),
        (1000, "1 kbit/s"),
        (1.5e6, "1.5 Mbit/s"),
        (1e9, "1 Gbit/s"),
        (123456789, "123.5 Mbit/s"),
        (1e11, "100 Gbit/s"),
    ],
)
def test_show_rate(bps: float, text: str) -> None:
    assert units.show_rate(bps) == text
