# SPDX-License-Identifier: GPL-2.0
"""The figure of README.md."""

from __future__ import annotations

from matplotlib import pyplot

from longfat.pages.shown import Runs, Shown, case, dropped, group, loss, over, ratio, utilisation


def demo(runs: Runs) -> Shown:
    """Five algorithms in the first minute of a long fat path."""
    shown = Shown()
    figure, axes = pyplot.subplots(figsize=(8, 3.5), layout="constrained")
    found = group(runs("demo"), case)
    for who, of in found.items():
        shown.values[f"{who}: utilisation"] = over(of, utilisation, unit="%")
        shown.values[f"{who}: loss"] = over(of, loss, unit="%", digits=3)
        seen = of[0]["observed"]["cwnd"]
        axes.plot(seen["t"], seen["cwnd"], lw=1, label=who)
    for who in ("ltcp", "ghstcp", "hstcp"):
        pair = (over(found[name], dropped) for name in (who, "cubic"))
        shown.values[f"{who}: lost over cubic's"] = ratio(*pair, digits=3)
    axes.set_xlabel("time, s")
    axes.set_ylabel("congestion window, packets")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", ncols=5, loc="upper center")
    shown.pictures.append(("congestion windows over time", figure))
    return shown
