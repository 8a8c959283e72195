# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/ltcp.md, from docs/results."""

from __future__ import annotations

import tomllib

from longfat.pages.data import PUBLISHED, kept, markdown, older
from longfat.pages.tables import figure
from longfat.show import report


def fig7() -> str:
    """Fig. 7, the LTCP columns: ours beside the paper's."""
    published = tomllib.loads((PUBLISHED / "ltcp.toml").read_text())["fig7"]["ltcp"]
    rows = []
    for one in kept("ltcp-fig7") + kept("ltcp-fig7-1g"):
        rate = one["scenario"]["link"]["rate"]
        paper = published["1gbit" if rate == 10**9 else f"{rate // 10**6}mbit"]
        summary = one["summary"]
        loss = summary["loss"] * 100
        rows.append(
            [
                "1 Gbit/s" if rate == 10**9 else f"{rate // 10**6} Mbit/s",
                f"{summary['goodput_bps'] / 1e6:.2f}",
                f"{paper['goodput']:.2f}",
                f"{summary['utilisation'] * 100:.2f}",
                f"{loss:.3g}",
                f"{paper['loss']:.3g}",
                f"{loss / paper['loss']:.2f}",
            ]
        )
    headings = ["link", "goodput Mbit/s", "paper", "of capacity, %", "loss %", "paper", "ratio"]
    return markdown(headings, rows)


def fig6() -> str:
    """Fig. 6 in numbers, from the same runs as its picture."""
    rows = [report.row(one)[1:-1] for one in kept("ltcp-fig6")]
    return markdown(list(report.HEADINGS[1:-1]), rows)


def ten_gigabit() -> str:
    """One flow at 10 Gbit/s."""
    rows = [report.row(one)[1:-1] for one in kept("ltcp-10g")]
    return markdown(list(report.HEADINGS[1:-1]), rows)


PARTS = {
    "docs/ltcp.md": {
        "fig2": figure("ltcp-fig2"),
        "one-layer": figure("ltcp-one-layer"),
        "fig6": fig6,
        "fig7": fig7,
        "10g": ten_gigabit,
        "older": older,
    }
}
