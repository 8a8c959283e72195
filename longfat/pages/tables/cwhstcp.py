# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/cwhstcp.md, from docs/results."""

from __future__ import annotations

from statistics import mean

from longfat.pages.data import (
    by_case,
    grouped,
    markdown,
    older,
    plus,
)
from longfat.pages.observe.cwhstcp import (
    PUBLIC,
    SCALES,
    fast_flows,
)
from longfat.pages.tables import picture
from longfat.run.result import Json, interval


def _flows(runs: list[Json]) -> list[str]:
    """Base RTTs, loaded RTTs, shares with their intervals, windows."""
    flows = fast_flows(runs[0])
    several = range(len(flows))
    loaded = [mean(run["flows"][i]["rtt_ms"]["mean"] for run in runs) for i in several]
    shares = [interval([run["observed"]["shares"][i] * 100 for run in runs]) for i in several]
    return [
        " / ".join(f"{flow['base_rtt_ms']:.0f}" for flow in flows),
        " / ".join(f"{value:.0f}" for value in loaded),
        " / ".join(f"{middle:.1f} ± {half:.1f}" for middle, half in shares),
        " / ".join(f"{mean(run['observed']['windows'][i] for run in runs):.0f}" for i in several),
    ]


def _row(runs: list[Json]) -> list[str]:
    """Those; Jain; background; total."""
    return [
        *_flows(runs),
        plus([run["observed"]["jain"] for run in runs], 3),
        plus([run["observed"]["jain_windows"] for run in runs], 3),
        plus([run["observed"]["background"]["share"] * 100 for run in runs], 1),
        plus([run["observed"]["background"]["loss"] * 1e4 for run in runs], 2),
        plus([run["summary"]["utilisation"] * 100 for run in runs], 1),
    ]


HEADINGS = [
    "base RTT, ms",
    "loaded RTT, ms",
    "shares, %",
    "mean windows",
    "Jain",
    "Jain of windows",
    "background, %",
    "its loss, 1e-4",
    "total, %",
]


def _table(first: str, rows: list[tuple[str, list[Json]]]) -> str:
    return markdown([first, *HEADINGS], [[label, *_row(runs)] for label, runs in rows])


def table2() -> str:
    """Table 2: HighSpeed TCP's disease."""
    halves = zip(*(PUBLIC["table2"][s] for s in ("100-150", "150-200")), strict=True)
    paper = " / ".join(f"{sum(pair) / 2:.1f}" for pair in halves)
    runs = by_case("cwhstcp-table2")[""]
    return markdown(["", *HEADINGS, "paper: shares"], [["HSTCP", *_row(runs), paper]])


def _paper(case: str) -> str:
    """Shares, background, Jain and total of the paper's Table 3."""
    row = PUBLIC["table3"][case]
    shares = " / ".join(f"{share:.1f}" for share in row["shares"])
    return f"{shares}; {row['background']:.1f}; {row['jain']:.2f}; {row['total']:.1f}"


def _table3(name: str) -> str:
    cases = sorted(by_case(name).items(), key=lambda one: int(one[0][2:]))
    rows = [[case[2:], *_row(runs), _paper(case)] for case, runs in cases]
    return markdown(["c", *HEADINGS, "paper: shares; background; Jain; total"], rows)


def table3() -> str:
    """Table 3."""
    return _table3("cwhstcp-table3")


def table3_1g() -> str:
    """Table 3 at 1 Gbit/s."""
    return _table3("cwhstcp-table3-1g")


def five() -> str:
    """Five flows."""
    paper = f"{PUBLIC['five']['jain']:.2f}"
    runs = by_case("cwhstcp-five")[""]
    return markdown(["", *HEADINGS, "paper: Jain"], [["CW-HSTCP", *_row(runs), paper]])


def buffers() -> dict[str, list[Json]]:
    """The runs with each buffer and RTT of eta."""

    def label(run: Json) -> str:
        amount, unit = run["scenario"]["link"]["buffer"]
        longest = max(flow["base_rtt_ms"] for flow in run["flows"])
        size = "30 ms" if unit == "p" else f"{amount * longest:.0f} ms"
        return f"{size}, rtt={run['scenario']['module']['cwhstcp']['rtt']}"

    return grouped("cwhstcp-buffer", label)


def fig7() -> str:
    """Fig. 7: Jain's index and the background's share, and the index over time scales."""
    groups = {"cwhstcp": buffers()["30 ms, rtt=min"], **by_case("cwhstcp-fig7")}
    table = _table("", list(groups.items()))
    scales = [
        [
            name,
            *(plus([run["observed"]["jain_over"][str(s)] for run in runs], 3) for s in SCALES),
            plus([run["observed"]["jain"] for run in runs], 3),
        ]
        for name, runs in groups.items()
    ]
    over = markdown(["Jain's index over", *(f"{s} s" for s in SCALES), "100 s"], scales)
    return f"{table}\n\n{over}\n\n{picture('cwhstcp-fig7')}"


def buffer() -> str:
    """The buffer and the RTT of eta."""
    return _table("buffer", list(buffers().items()))


def fig6() -> str:
    """Fig. 6: windows after convergence."""
    return markdown(
        [
            "",
            *HEADINGS[:4],
            "windows, most / least",
            "throughput, most / least",
            "Jain",
            "Jain of windows",
        ],
        [["CW-HSTCP", *_row_alone(by_case("cwhstcp-fig6")[""])]],
    )


def _row_alone(runs: list[Json]) -> list[str]:
    observed = [run["observed"] for run in runs]
    return [
        *_flows(runs),
        plus([max(one["windows"]) / min(one["windows"]) for one in observed], 3),
        plus([max(one["shares"]) / min(one["shares"]) for one in observed], 2),
        plus([one["jain"] for one in observed], 3),
        plus([one["jain_windows"] for one in observed], 3),
    ]


EXPONENT = {"windows": "1 (the paper)", "throughput": "2", "equal": "1, rtt=smoothed"}


def exponent() -> str:
    """rtt_exponent."""
    cases = sorted(by_case("cwhstcp-exponent").items(), key=lambda one: one[0][-2:], reverse=True)
    rows = [(EXPONENT[case.rsplit("-", 1)[0]], runs) for case, runs in cases]
    return _table("rtt_exponent", rows)


def held_out() -> str:
    """The same where no constant was chosen by."""
    cases = by_case("cwhstcp-held-out")
    return _table("rtt_exponent", [(law, cases[case]) for case, law in EXPONENT.items()])


def held_out_nine() -> str:
    """Jain's index and what Reno keeps on nine more such paths, by law."""

    def kind(run: Json) -> tuple[str, str, float]:
        law, _, rtts = str(run["scenario"]["case_name"]).partition("-")
        link = run["scenario"]["link"]
        wait = link["buffer"][0] * link["mtu"] * 8e3 / link["rate"]
        return law, rtts.replace("-", " / "), wait

    runs = grouped("cwhstcp-held-out-two", kind) | grouped("cwhstcp-held-out-three", kind)
    rows = []
    for rtts, wait in dict.fromkeys(key[1:] for key in runs):
        of = [[run["observed"] for run in runs[law, rtts, wait]] for law in EXPONENT]
        jain = [plus([one["jain"] for one in each], 3) for each in of]
        left = [plus([100 * one["background"]["share"] for one in each], 1) for each in of]
        rows.append([rtts, f"{wait:.0f}", *jain, *left])
    headings = [f"{what}, {law}" for what in ("Jain", "Reno, %") for law in EXPONENT.values()]
    return markdown(["base RTT, ms", "buffer, ms", *headings], rows)


def fair() -> str:
    """Equal shares by default."""
    return _fair("cwhstcp-fair", "cwhstcp-fair-alone")


def fair_fast() -> str:
    """The same on fast links."""
    return _fair(
        "cwhstcp-fair-1g", "cwhstcp-fair-alone-1g", "cwhstcp-fair-10g", "cwhstcp-fair-alone-10g"
    )


def fair_long() -> str:
    """Those of the last that are not equal, for longer."""
    return _fair("cwhstcp-fair-10g-long", "cwhstcp-fair-alone-long")


# Other settings in cells of these, and what has the default there.
SOONER = {
    "cwhstcp-fair-sooner": "cwhstcp-fair-alone-1g",
    "cwhstcp-fair-c20": "cwhstcp-fair",
    "cwhstcp-fair-10g-c20": "cwhstcp-fair-10g",
    "cwhstcp-fair-alone-10g-c20": "cwhstcp-fair-alone-10g",
}


def settings(run: Json) -> str:
    """The parameters that a scenario sets for the module."""
    chosen = run["scenario"]["module"].get("cwhstcp", {})
    return ", ".join(f"{key}={value}" for key, value in sorted(chosen.items()))


def fair_sooner() -> str:
    """Cells of those with other settings, beside the default."""

    def cell(run: Json) -> tuple[float, bool, float, str]:
        link = run["scenario"]["link"]
        beside = "background" in run["observed"]
        return link["rate"], beside, link["buffer"][0], _flows([run])[0]

    rows = []
    for file, of_default in SOONER.items():
        plain = grouped(of_default, cell)
        tried = grouped(file, lambda run: (settings(run), cell(run)))
        for (way, where), runs in sorted(tried.items()):
            rate, beside, amount, rtts = where
            default = plain[where]
            rows.append(
                [
                    f"`{way}`",
                    f"{rate / 1e6:g}",
                    "Reno" if beside else "nothing",
                    f"{amount:g} BDP",
                    rtts,
                    _jain(runs),
                    _jain(default),
                    _left(runs),
                    _left(default),
                ]
            )
    headings = ["with", "Mbit/s", "beside", "buffer", "base RTT, ms"]
    return markdown([*headings, "Jain", "by default", "left to Reno, %", "by default"], rows)


def _jain(runs: list[Json]) -> str:
    return plus([run["observed"]["jain"] for run in runs], 3)


def _left(runs: list[Json]) -> str:
    """What Reno has beside them, % of the link."""
    if "background" not in runs[0]["observed"]:
        return "-"
    return plus([100 * run["observed"]["background"]["share"] for run in runs], 1)


def _fair(*files: str) -> str:
    """Rate, what is beside, buffer, RTTs, and what came of it."""
    rows = []
    for file in files:

        def label(run: Json) -> tuple[str, float]:
            return run["scenario"]["case_name"], run["scenario"]["link"]["buffer"][0]

        for (_, amount), runs in sorted(grouped(file, label).items()):
            observed = [run["observed"] for run in runs]
            beside = "background" in observed[0]
            base, loaded, _, _ = _flows(runs)
            shares = [100 * mean(of) for of in zip(*(o["shares"] for o in observed), strict=True)]
            rows.append(
                [
                    f"{runs[0]['scenario']['link']['rate'] / 1e6:g}",
                    "Reno" if beside else "nothing",
                    f"{amount:g} BDP",
                    base,
                    loaded,
                    " / ".join(f"{share:.1f}" for share in shares),
                    _jain(runs),
                    _left(runs),
                    f"{100 * mean(run['summary']['utilisation'] for run in runs):.1f}",
                ]
            )
    headings = ["Mbit/s", "beside", "buffer", *HEADINGS[:3], "Jain", "left to Reno, %", "total, %"]
    return markdown(headings, rows)


def slow_link(run: Json) -> tuple[str, str]:
    """The path, and who sends."""
    by_law = "cwhstcp" in run["scenario"]["module"]
    who = "the paper's law" if by_law else run["scenario"]["flow"][0]["cc"]
    return run["scenario"]["case_name"], str(who)


def slow() -> str:
    """Behind the deep buffers of slow links: a row for who sends."""
    found = grouped("cwhstcp-slow", slow_link) | grouped("cwhstcp-slow-paper", slow_link)
    paths = list(dict.fromkeys(path for path, _ in found))
    rows = [
        [
            who if " " in who else f"`{who}`",
            *(
                plus([100 * run["summary"][what] for run in found[path, who]], 1)
                for path in paths
                for what in ("loss", "utilisation")
            ),
        ]
        for who in dict.fromkeys(who for _, who in found)
    ]
    headings = (f"{path}: {what}" for path in paths for what in ("lost, %", "utilis. %"))
    return markdown(["", *headings], rows)


def pacing(run: Json) -> str:
    """Who paces: the module, the kernel, or none; `prompt` if TCP waits for no burst."""
    if "net.ipv4.tcp_tso_win_divisor" in run["scenario"]["host"]["sysctl"]:
        return "prompt"
    chosen = str(run["scenario"]["module"]["cwhstcp"]["pacing"])
    if chosen != "off":
        return chosen
    return "kernel" if run["scenario"]["host"]["pacing"] else "none"


def bursts(name: str) -> dict[tuple[float, str], list[Json]]:
    """(buffer in BDP, pacing) -> runs."""
    return grouped(name, lambda run: (run["scenario"]["link"]["buffer"][0], pacing(run)))


def _burst(name: str) -> str:
    rows = []
    for (amount, who), runs in sorted(bursts(name).items()):
        rows.append(
            [
                f"{amount:g} BDP",
                who,
                plus([run["observed"]["burst_queue"]["max"] for run in runs], 0),
                plus([run["observed"]["burst_queue"]["mean"] for run in runs], 1),
                plus([float(run["summary"]["dropped"]) for run in runs], 0),
                f"{mean(run['summary']['loss'] for run in runs):.1e}",
                plus([run["summary"]["utilisation"] * 100 for run in runs], 1),
            ]
        )
    headings = ["buffer", "pacing", "queue by bursts, packets, peak", "mean"]
    return markdown([*headings, "packets lost", "loss", "utilis. %"], rows)


def burst() -> str:
    """Pacing on small buffers, short flows beside it."""
    return _burst("cwhstcp-burst")


def burst_alone() -> str:
    """The same, with nothing beside it."""
    return _burst("cwhstcp-burst-alone")


def burst_blocks() -> str:
    """Where blocks are less than the kernel's largest burst."""
    return _burst("cwhstcp-burst-blocks")


PARTS = {
    "docs/cwhstcp.md": {
        "table2": table2,
        "table3": table3,
        "table3-1g": table3_1g,
        "five": five,
        "fig6": fig6,
        "fig7": fig7,
        "buffer": buffer,
        "exponent": exponent,
        "held-out": held_out,
        "held-out-nine": held_out_nine,
        "fair": fair,
        "fair-fast": fair_fast,
        "fair-long": fair_long,
        "fair-sooner": fair_sooner,
        "slow": slow,
        "burst": burst,
        "burst-alone": burst_alone,
        "burst-blocks": burst_blocks,
        "older": older,
    }
}
