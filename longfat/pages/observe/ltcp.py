# SPDX-License-Identifier: GPL-2.0
"""What is looked at in a run of docs/ltcp.md."""

from __future__ import annotations

from statistics import mean

from longfat.pages.data import loss_events, rates, series
from longfat.run.result import Json

WINDOW = 5.0  # seconds over which throughput is averaged, as in the paper's Figs. 9 and 14


def observe(run: Json) -> Json:
    """Mean windows of the measured time; what a picture over time needs."""
    found: Json = {"windows": []}
    for flow in run["flows"]:
        one = flow["connections"][0]
        measured = [
            w for t, w in zip(one["t"], one["cwnd"], strict=True) if t >= run["scenario"]["warmup"]
        ]
        found["windows"].append(round(mean(measured), 1) if measured else 0)
    name = run["scenario"]["name"]
    if name.startswith("ltcp-fig6"):
        found["cwnd"] = series(run, 0, "cwnd")
    if name.startswith(("ltcp-fig12", "ltcp-fig13")):
        found["losses"] = [loss_events(run, flow["connections"][0]) for flow in run["flows"]]
    if name.startswith(("ltcp-fig9", "ltcp-fig14")):
        found["mbps"] = rates(run, WINDOW)
    return found
