# SPDX-License-Identifier: GPL-2.0
"""The figures of docs/ltcp.md: arithmetic from its equations, and measured."""

from __future__ import annotations

import tomllib

from matplotlib import pyplot

from longfat.pages.data import PUBLISHED, kept, markdown, save, sources
from longfat.show import report

# --- LTCP's arithmetic, from the paper's equations


def layer_start(k: int, wt: int = 50) -> int:
    """W_K, eq. 11, packets."""
    return wt * k * (k + 1) * (k - 1) // 6 if k > 1 else 0


def layer_of(w: float, wt: int = 50) -> int:
    """K at window w."""
    k = 1
    while layer_start(k + 1, wt) <= w:
        k += 1
    return k


def claiming(k: int, wt: int = 50) -> float:
    """How much sooner than TCP a window grows from W_T, where slow start ended, to W_K."""
    if k == 2:
        return 1.0
    return (layer_start(k) - wt) / ((k - 2) * (k + 3) / 4 * wt)


def fig2() -> str:
    """Fig. 2: layers, speedup in claiming bandwidth (eq. 15) and in recovery (3.2)."""
    rows = [["1", "0", "-", "-"]]
    for k in range(2, 21):
        claim = claiming(k)
        recover = 1.0 if k == 2 else (k - 1) * 0.5 / 0.15
        rows.append([str(k), str(layer_start(k)), f"{claim:.2f}", f"{recover:.2f}"])
    return markdown(["K", "W_K", "speedup, claiming bandwidth", "speedup, recovery"], rows)


PATHS = [("1 Gbit/s x 100 ms", 1e9), ("10 Gbit/s x 100 ms", 1e10), ("100 Gbit/s x 100 ms", 1e11)]


def one_layer() -> str:
    """Layers that one loss costs at the lowest window of the path's layer."""
    rows = []
    for name, rate in PATHS:
        k = layer_of(rate * 0.1 / 8 / 1500)
        w = layer_start(k)
        constant, ruled = (w - int(w * beta) for beta in (0.15, min(0.15, 3 / (k + 1))))
        rows.append(
            [
                name,
                str(w),
                str(k),
                f"{min(0.15, 3 / (k + 1)):.4f}",
                str(k - layer_of(ruled)),
                str(k - layer_of(constant)),
            ]
        )
    figure, axes = pyplot.subplots(figsize=(8, 3.5), layout="constrained")
    layers = range(2, 101)
    for label, beta in (
        ("beta = 0.15", lambda k: 0.15),
        ("beta = min(0.15, 3/(K+1))", lambda k: min(0.15, 3 / (k + 1))),
    ):
        lost = [k - layer_of(layer_start(k) - int(layer_start(k) * beta(k))) for k in layers]
        axes.step(list(layers), lost, where="mid", label=label)
    for name, rate in PATHS:
        k = layer_of(rate * 0.1 / 8 / 1500)
        axes.axvline(k, color="grey", lw=0.8, ls=":")
        axes.text(k + 0.5, 0.05, name, rotation=90, fontsize="small", color="grey")
    axes.set_xlabel("layer K, at its lowest window")
    axes.set_ylabel("layers lost to one loss event")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    save(figure, "ltcp-one-layer.svg")
    headings = ["path (1500-byte packets)", "W_K", "K", "beta(K)", "lost, beta(K)", "lost, 0.15"]
    return markdown(headings, rows)


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
        "fig2": fig2,
        "one-layer": one_layer,
        "fig6": fig6,
        "fig7": fig7,
        "10g": ten_gigabit,
        "sources": sources,
    }
}
