# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/ghstcp.md, from docs/results."""

from __future__ import annotations

from longfat.pages.data import (
    grouped,
    kept,
    markdown,
    older,
    plus,
)
from longfat.pages.observe.ghstcp import FILL_FROM
from longfat.pages.tables import picture
from longfat.run.result import Json, interval


def _jitter(run: Json) -> str:
    jitter = run["scenario"]["link"]["jitter"]
    return f"{jitter * 1e3:g} ms" if jitter else "none"


def _mode_row(run: Json) -> list[str]:
    found = run["observed"]["modes"]
    shares = [
        "-" if found[key] is None else f"{found[key] * 100:.1f}"
        for key in ("hstcp_below", "reno_above")
    ]
    return [
        *shares,
        f"{found['below_s']:.1f}",
        f"{found['above_s']:.1f}",
        str(found["epochs"]),
        f"{found['switches_mean']:.1f}",
        str(found["switches_max"]),
        f"{run['summary']['utilisation'] * 100:.2f}",
    ]


MODE_HEADINGS = [
    "HSTCP mode below BDP, % of time",
    "Reno mode above BDP + 20 % of buffer, % of time",
    "s below",
    "s above",
    "loss epochs",
    "switches per epoch, mean",
    "most",
    "utilis. %",
]


def _rule(run: Json) -> str:
    return str(run["scenario"]["module"]["ghstcp"]["rule"])


def fig6() -> str:
    """Figs. 4 and 6 in numbers, of the first seed: that of the pictures."""
    first = [run for run in kept("ghstcp-fig6") if run["seed"] == 1]
    rows = [[_rule(run), _jitter(run), *_mode_row(run)] for run in first]
    return markdown(["rule", "RTT jitter", *MODE_HEADINGS], rows)


def _faster(name: str) -> str:
    rows = []
    for run in kept(name):
        buffer = f"{run['scenario']['link']['buffer'][0]:g} BDP"
        rows.append([buffer, _rule(run), _jitter(run), *_mode_row(run)])
    return markdown(["buffer", "rule", "RTT jitter", *MODE_HEADINGS], rows)


def modes_1g() -> str:
    """The same at 1 Gbit/s."""
    return _faster("ghstcp-1g")


def modes_10g() -> str:
    """The same at 10 Gbit/s."""
    return _faster("ghstcp-10g")


def _fill(name: str) -> str:
    rows = []
    for run in kept(name):
        below = _mode_row(run)[0]
        seconds = f"{run['observed']['fill_s']:.2f}"
        rows.append([run["scenario"]["case_name"], seconds, below])
    return markdown(["", f"s from {FILL_FROM} BDP to BDP", MODE_HEADINGS[0]], rows)


def fill_1g() -> str:
    """Time to fill the link, 1 Gbit/s."""
    return _fill("ghstcp-fill-1g")


def fill_10g() -> str:
    """Time to fill the link, 10 Gbit/s."""
    return _fill("ghstcp-fill-10g")


def _overflow(name: str) -> str:
    rows = []
    for run in kept(name):
        found = run["observed"]
        rows.append(
            [
                run["scenario"]["case_name"],
                f"{run['scenario']['duration'] - run['scenario']['warmup']:g}",
                str(found["overflows"]),
                f"{found['lost']:.1f}" if found["overflows"] else "-",
            ]
        )
    return markdown(["", "s", "overflows", "packets lost in one, mean"], rows)


def overflow_1g() -> str:
    """Losses where the buffer ends, 1 Gbit/s."""
    return _overflow("ghstcp-fill-1g")


def overflow_10g() -> str:
    """Losses where the buffer ends, 10 Gbit/s."""
    return _overflow("ghstcp-overflow-10g")


def gro() -> str:
    """Growth behind GRO."""
    rows = []
    for run in kept("ghstcp-gro"):
        held = run["scenario"]["host"]["gro"]
        cc = run["flows"][0]["cc"]
        rows.append(
            [
                "`ghstcp`, mode=hstcp" if cc == "ghstcp" else f"the kernel's `{cc}`",
                f"{held * 1e3:g} ms" if held else "off",
                f"{run['observed']['growth']:.2f}",
                f"{run['summary']['utilisation'] * 100:.2f}",
            ]
        )
    return markdown(["", "GRO holds packets for", "growth / a(W)", "utilis. %"], rows)


def _fairness(ident: str) -> str:
    """Figs. 7 and 8: mean and 95 % interval over the seeds, and the figure's picture."""
    groups = grouped(
        ident,
        lambda run: (
            f"{run['scenario']['flow'][1]['socket_buffer'] // 1024} KB",
            str(run["scenario"]["case_name"]),
        ),
    )
    rows = []
    for (size, case), runs in groups.items():
        one = [run["flows"][0]["goodput_bps"] / 1e6 for run in runs]
        two = [sum(f["goodput_bps"] for f in run["flows"][1:]) / 1e6 for run in runs]
        lost = interval([run["summary"]["loss"] * 100 for run in runs])
        rows.append(
            [
                size,
                case,
                plus([run["summary"]["utilisation"] * 100 for run in runs], 2),
                plus([run["observed"]["fairness"] for run in runs], 3),
                plus(one, 1),
                plus(two, 1),
                f"{lost[0]:.3g} ± {lost[1]:.2g}",
            ]
        )
    headings = ["Flow-2's buffers", "Flow-1", "utilis. %", "fairness"]
    headings += ["Flow-1, Mbit/s", "Flow-2, Mbit/s", "loss %"]
    return f"{markdown(headings, rows)}\n\n{picture(ident)}"


def fig7() -> str:
    """Fig. 7."""
    return _fairness("ghstcp-fig7")


def fig8() -> str:
    """Fig. 8."""
    return _fairness("ghstcp-fig8")


PARTS = {
    "docs/ghstcp.md": {
        "fig6": fig6,
        "modes-1g": modes_1g,
        "modes-10g": modes_10g,
        "fill-1g": fill_1g,
        "fill-10g": fill_10g,
        "overflow-1g": overflow_1g,
        "overflow-10g": overflow_10g,
        "gro": gro,
        "fig7": fig7,
        "fig8": fig8,
        "older": older,
    }
}
