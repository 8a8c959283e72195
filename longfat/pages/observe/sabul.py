# SPDX-License-Identifier: GPL-2.0
"""What is looked at in a run of docs/sabul.md; the tests look at it too."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from statistics import mean

from longfat.core.errors import LabError
from longfat.pages.data import (
    PUBLISHED,
    rates,
)
from longfat.pages.observe import slow_start
from longfat.run import result
from longfat.run.result import Json

PUBLIC = tomllib.loads((PUBLISHED / "sabul.toml").read_text())
TABLE2 = PUBLIC["table2"]

WINDOW = 5.0  # seconds over which rates of two flows are compared
EQUAL = 0.95  # Jain's index from which they have come together
SHOWN = 10.0  # seconds of Fig. 1

# --- (15) to (17)


def link_interval(run: Json) -> float:
    """delta at which packets fill the link, microseconds."""
    link = run["scenario"]["link"]
    return float(link["mtu"] * 8e6 / link["rate"])


def asked(run: Json, parameter: str) -> bool:
    """`cap` or `once`, which the module has on."""
    return bool(run["scenario"]["module"].get("sabul", {}).get(parameter, True))


def step(run: Json) -> float:
    """c as a share of that; with the cap a sixth at most."""
    share = float(TABLE2["c"]) / link_interval(run)
    return min(share, 1 / 6) if asked(run, "cap") else share


def equation16(run: Json) -> float:
    """(16) over B: what rates swing between, halved."""
    return (1 / (1 + step(run)) + 1) / 2


def equation15(run: Json, rho: float) -> float:
    """(15) over B, with the loss ratio of the interval that is answered."""
    packets = TABLE2["t"] * 1e3 / link_interval(run)  # B, in each T
    fast = rho * packets // TABLE2["v"]
    fast = min(fast, 1) if asked(run, "once") else fast
    y = 1 + TABLE2["k1"] * (rho - TABLE2["alpha"])
    b = step(run) * TABLE2["b"] / TABLE2["c"]
    low = (1 + rho) / (y + (fast * y * b + step(run)) * (1 + rho))
    return float((low + 1 - rho) / 2)


# --- what is observed in a run


def warm(run: Json) -> float:
    """When the measured time begins, seconds."""
    return float(run["scenario"]["warmup"])


def answers(events: list[Json], after: float) -> list[Json]:
    """The decreases from then on."""
    return [e for e in events if e["t"] >= after and e["reason"] in ("decrease", "equal")]


def steps(events: list[Json], after: float) -> list[float]:
    """How much longer each of the decreases from then on makes the interval, as a share of it."""
    return [
        now["interval_q10"] / was["interval_q10"] - 1
        for was, now in pairwise(events)
        if answers([now], after) and was["interval_q10"]
    ]


def intervals(run: Json) -> Json:
    """Of a traced flow: delta (us) each 0.1 s for SHOWN seconds, how often an overflow was
    answered in a minute, and the mean loss ratio (1 at most, as the module has it) of the intervals
    that were."""
    events = run["flows"][0]["connections"][0]["events"]
    found = answers(events, warm(run))
    if not found:
        raise LabError(f"{run['scenario']['name']}: nothing was lost; nothing was measured")
    shown, at = [], 0
    for i in range(round(SHOWN * 10)):
        while at + 1 < len(events) and events[at + 1]["t"] <= warm(run) + i / 10:
            at += 1
        shown.append(round(events[at]["interval_q10"] / 1024e3, 4))
    if run["scenario"]["name"].startswith("sabul-fig1-once"):
        return {"step": round(mean(steps(events, warm(run))), 6)}
    lost = [min(e["lost"] / e["sent"], 1.0) for e in found if e["sent"]]
    measured = run["scenario"]["duration"] - warm(run)
    return {
        "interval_us": shown,
        "answers": round(60 * len(found) / measured, 2),
        "rho": round(mean(lost), 6),
    }


def convergence(run: Json) -> float | None:
    """Seconds from the start of the last flow until Jain's index of a WINDOW is EQUAL; None if
    that is never so."""
    begins = float(max(flow["connections"][0]["t"][0] for flow in run["flows"]))
    for i, shares in enumerate(zip(*rates(run, WINDOW), strict=False)):
        if i * WINDOW >= begins and (result.jain(list(shares)) or 0) >= EQUAL:
            return round((i + 1) * WINDOW - begins, 3)
    return None


def observe(run: Json) -> Json:
    """Shares of the link's payload; of a traced flow its intervals, of two flows how they come
    together."""
    capacity = run["summary"]["capacity_bps"]
    found: Json = {"shares": [round(flow["goodput_bps"] / capacity, 5) for flow in run["flows"]]}
    if run["scenario"]["trace"]:
        found |= intervals(run)
    if run["scenario"]["name"].startswith("sabul-start-"):
        found |= slow_start.ended(run)
    if len(run["flows"]) == 2:
        found |= {"mbps": rates(run, WINDOW), "convergence_s": convergence(run)}
    return found
