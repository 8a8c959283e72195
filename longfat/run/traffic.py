# SPDX-License-Identifier: GPL-2.0
"""Objects to be sent: when each begins and how long it is, drawn before the run from its seed.

A line of lfgen's each; guest/lfgen.c says what it means.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from math import ceil, log

from longfat.run.scenario import Objects, Request, Short, Video

# Of lfgen's own, at the beginning of each connection that is for one object.
HEAD = 16  # bytes


def size(spec: Objects, rng: random.Random) -> int:
    """Bytes of one object, at least 1."""
    mean = spec.mean_size or 0
    if spec.size == "exponential":
        drawn = rng.expovariate(1 / mean)
    elif spec.size == "lognormal":
        sigma = spec.sigma or 0
        drawn = rng.lognormvariate(log(mean) - sigma**2 / 2, sigma)
    elif spec.size == "pareto":
        low, high, shape = spec.min_size or 0, spec.max_size or 0, spec.shape or 0
        # The inverse of the bounded Pareto distribution.
        part = rng.random() * (1 - (low / high) ** shape)
        drawn = low * (1 - part) ** (-1 / shape)
    else:
        # Between two points of the distribution all sizes are equally likely.
        points = [(0, 0.0), *spec.sizes]
        at = rng.random()
        i = max(1, bisect_left([part for _, part in points], at))
        (low, below), (high, above) = points[i - 1], points[i]
        drawn = low + (high - low) * (at - below) / (above - below)
    return max(1, round(drawn))


def pareto_mean(low: float, high: float, shape: float) -> float:
    """Bytes of an object in the mean, between these bounds."""
    if shape == 1:
        return low * log(high / low) / (1 - low / high)
    upper: float = 1 - (low / high) ** (shape - 1)
    return float(shape / (shape - 1) * low * upper / (1 - (low / high) ** shape))


def short(spec: Short, start: float, stop: float, rng: random.Random) -> list[str]:
    """Lines TIME SIZE of connections that begin from `start` to `stop` seconds, perhaps none."""
    if spec.arrivals:
        times = [start + t for t in sorted(spec.arrivals) if start + t < stop]
    else:
        times, t = [], start + rng.expovariate(spec.per_second or 0)
        while t < stop:
            times.append(t)
            t += rng.expovariate(spec.per_second or 0)
    return [f"{t:.9f} {max(HEAD, size(spec, rng))}" for t in times]


def request(spec: Request, start: float, stop: float, rng: random.Random) -> list[str]:
    """Lines THINK REQUEST SIZE, enough for all that can be asked for from `start` to `stop`."""
    lines, t = [], start
    while t <= stop:
        think = rng.expovariate(1 / spec.think) if spec.think else 0.0
        t += think + spec.rtt
        lines.append(f"{think:.9f} {spec.request} {size(spec, rng)}")
    return lines


def video(spec: Video, start: float, stop: float) -> list[str]:
    """Lines TIME SIZE of the chunks from `start` to `stop`."""
    count = ceil((stop - start) / spec.chunk - 1e-9)
    each = max(1, round(spec.rate / 8 * spec.chunk))
    return [f"{start + i * spec.chunk:.9f} {each}" for i in range(count)]
