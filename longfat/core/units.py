# SPDX-License-Identifier: GPL-2.0
"""Quantities as people write them, and back.

Internally times are float seconds, rates int bits per second, sizes int bytes
and probabilities float in 0..1.  Every parser raises ValueError with the valid
units in its message.
"""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"^\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%/]*)\s*$")

_TIME = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_RATE = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_SIZE = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}


def _parse(text: object, units: dict[str, float], what: str, example: str) -> float:
    match = _NUMBER.match(text) if isinstance(text, str) else None
    value = (
        float(match[1]) * units[match[2].lower()]
        if match and match[2].lower() in units
        else math.inf
    )
    if math.isinf(value):
        raise ValueError(
            f"{text!r} is not a {what}: write a number and one of "
            f"{', '.join(units)}, in quotes, such as {example}"
        )
    return value


def seconds(text: object) -> float:
    """'120ms' -> 0.12."""
    return _parse(text, _TIME, "time", '"120ms"')


def rate(text: object) -> int:
    """'1gbit' or '1gbit/s' -> 1000000000 (bits per second)."""
    if isinstance(text, str):
        text = text.removesuffix("/s")
    return round(_parse(text, {k: float(v) for k, v in _RATE.items()}, "rate", '"1gbit"'))


def size(text: object) -> int:
    """'4MB' -> 4000000, '4MiB' -> 4194304 (bytes)."""
    return round(_parse(text, {k: float(v) for k, v in _SIZE.items()}, "size", '"4MB"'))


def probability(text: object) -> float:
    """'0.01%' or 1e-4 -> 0.0001; refuses what is outside of 0..1."""
    if isinstance(text, str):
        value = _parse(text, {"%": 0.01}, "probability", '"0.01%" or the number 1e-4')
    elif isinstance(text, (int, float)) and not isinstance(text, bool):
        value = float(text)
    else:
        raise ValueError(f'{text!r} is not a probability: write "0.01%" or the number 1e-4')
    if not 0 <= value <= 1:
        raise ValueError(f"{text!r} is not a probability: it is outside of 0..1")
    return value


def buffer(text: object) -> tuple[float, str]:
    """'5000p' -> (5000, 'p'), '0.333bdp' -> (0.333, 'bdp'), '6MB' -> (6000000, 'b')."""
    match = _NUMBER.match(text) if isinstance(text, str) else None
    if match and match[2].lower() in ("p", "bdp") and math.isfinite(float(match[1])):
        return float(match[1]), match[2].lower()
    if match and match[2].lower() in _SIZE:
        return float(size(text)), "b"
    raise ValueError(
        f'{text!r} is not a buffer: write packets ("5000p"), a fraction of the '
        f'bandwidth-delay product ("0.333bdp") or bytes ("6MB")'
    )


def show_rate(bps: float) -> str:
    """1e9 -> '1 Gbit/s'."""
    for unit, factor in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bps >= factor:
            return f"{bps / factor:.4g} {unit}"
    return f"{bps:.0f} bit/s"
