# SPDX-License-Identifier: GPL-2.0
"""Write tests/kunit/sabul_table.h: SABUL's law in double precision, which a kernel has not.

    python3 tests/sabul_table.py >tests/kunit/sabul_table.h

Single updates of random intervals by random loss ratios, with Table 2's constants, and where long
sequences of them end.  A sequence grows when its interval is above the one that it began with, and
decreases otherwise, so that it stays there; what it is made of comes from a generator that the
test has too.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log

ALPHA, K1, K2 = 0.001, 0.125, 10.0
C, D = 2000.0, 100.0  # ns
CAP = 12000.0  # ns: 1500 bytes at 1 Gbit/s
LOW, HIGH = 8.0, 2.0**32  # ns, the module's bounds
SHIFT = 30  # SABUL_SHIFT

SINGLE = 200
# 10 and 100 kbit/s, 1, 10, 100, 622 Mbit/s, 1, 10, 100, 400 Gbit/s, of 1448 bytes.
RATES = (1e4, 1e5, 1e6, 1e7, 1e8, 6.22e8, 1e9, 1e10, 1e11, 4e11)
STEPS = 50_000
BLOCK = 16


def step(delta: float, ns: float, cap: bool) -> float:
    """c or d, or what the cap leaves of it."""
    return min(ns, delta * ns / CAP) if cap else ns


def law(delta: float, lost: int, sent: int, cap: bool) -> float:
    """(1), (2) or (3)."""
    rho = lost / sent
    if lost * 1000 > sent:
        delta = delta * (1 + K1 * (rho - ALPHA)) + step(delta, C, cap)
    elif lost * 1000 < sent:
        delta = delta * (1 + K2 * (rho - ALPHA))
    else:
        delta += step(delta, D, cap)
    return min(max(delta, LOW), HIGH)


def numbers(seed: int) -> Callable[[], int]:
    """A generator of 32 bits, of which the upper ones are good."""
    state = seed

    def following() -> int:
        nonlocal state
        state = (state * 1664525 + 1013904223) % 2**32
        return state >> 8

    return following


def losses(number: Callable[[], int], grow: bool) -> tuple[int, int]:
    """(lost, sent) of an interval: below alpha to `grow`, or above."""
    sent = 1 + number() % 20000
    if grow:
        return (sent // 2000 if number() % 4 == 0 else 0), sent
    return min(sent, sent // 1000 + 1 + number() % (sent // 4 + 1)), sent


def sequence(start: float, seed: int, cap: bool) -> tuple[float, float]:
    """(where STEPS updates end, how close to `start` a block began)."""
    number, delta, up, margin = numbers(seed), start, True, 1.0
    for i in range(STEPS):
        if i % BLOCK == 0:
            up = delta > start
            margin = min(margin, abs(delta / start - 1)) if i else 1.0
        lost, sent = losses(number, up)
        delta = law(delta, lost, sent, cap)
    return delta, margin


def fixed(delta: float) -> int:
    return round(delta * (1 << SHIFT))


def header() -> str:
    """The whole file."""
    lines = [
        "/* SPDX-License-Identifier: GPL-2.0 */",
        "/* Made by tests/sabul_table.py, which says how; change that. */",
        f"#define SABUL_STEPS\t{STEPS}",
        f"#define SABUL_BLOCK\t{BLOCK}",
        "",
        "static const struct {",
        "\tu64 before, after;\t/* delta, ns << 30 */",
        "\tu32 lost, sent;",
        "\tbool cap;",
        "} sabul_single[] = {",
    ]
    number = numbers(1)
    for i in range(SINGLE):
        # Any power of two is as likely as any other.
        before = exp(log(LOW) + (log(HIGH) - log(LOW)) * number() / 2**24)
        before = fixed(before) / 2**SHIFT
        lost, sent = losses(number, number() % 2 == 0)
        if i % 10 == 0:
            sent = 1000 * (1 + number() % 20)
            lost = sent // 1000
        cap = number() % 2
        after = fixed(law(before, lost, sent, bool(cap)))
        # The upper bound, 2^32 ns, is one more than what fits.
        after = min(after, 2**62 - 1)
        lines.append(f"\t{{ {fixed(before)}ULL, {after}ULL, {lost}, {sent}, {cap} }},")
    lines += ["};", "", "static const struct {", "\tu64 start, end;", "\tu32 seed;", "\tbool cap;"]
    lines.append("} sabul_sequences[] = {")
    seed = 0
    for rate in RATES:
        start = fixed(1448 * 8e9 / rate) / 2**SHIFT
        for cap in (False, True):
            margin = 0.0
            # Arithmetic that is a little off must not take another turn.
            while margin < 1e-5:
                seed += 1
                end, margin = sequence(start, seed, cap)
            lines.append(f"\t{{ {fixed(start)}ULL, {fixed(end)}ULL, {seed}, {cap:d} }},")
    return "\n".join([*lines, "};"])


if __name__ == "__main__":
    print(header())
