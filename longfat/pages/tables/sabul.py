# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/sabul.md, from docs/results."""

from __future__ import annotations

from statistics import mean

from longfat.pages.data import (
    by_case,
    grouped,
    markdown,
    older,
    plus,
)
from longfat.pages.observe.sabul import (
    PUBLIC,
    equation15,
    equation16,
    link_interval,
    step,
)
from longfat.pages.tables import picture
from longfat.run.result import Json


def _column(runs: list[Json], what: str, scale: float = 1.0) -> list[float]:
    return [scale * run["summary"][what] for run in runs]


def _used(runs: list[Json]) -> str:
    return plus(_column(runs, "utilisation", 100), 1)


def _loss(runs: list[Json]) -> str:
    return f"{mean(_column(runs, 'loss')):.1e}"


def _cc(run: Json) -> str:
    """The congestion control of the first flow."""
    return str(run["flows"][0]["cc"])


def _rtt(run: Json) -> str:
    return " / ".join(f"{flow['base_rtt_ms']:g}" for flow in run["flows"])


def _rate(run: Json) -> str:
    rate = run["scenario"]["link"]["rate"]
    return f"{rate / 1e9:g} Gbit/s" if rate >= 1e9 else f"{rate / 1e6:g} Mbit/s"


def fig1() -> str:
    """Fig. 1: mean throughput against (15), (16) and (17)."""
    found = by_case("sabul-fig1")
    rows = []
    for case, runs in found.items():
        rho = mean(run["observed"]["rho"] for run in runs)
        one = runs[0]
        shallow = case.endswith("shallow")
        rows.append(
            [
                _rate(one)
                + (", paper" if case.endswith("paper") else "")
                + (f", {one['scenario']['link']['buffer'][0]:g} packets" if shallow else ""),
                f"{link_interval(one):g}",
                f"{step(one):.3f}",
                f"{rho:.2e}",
                f"{100 * equation15(one, rho):.1f}",
                f"{100 * equation16(one):.1f}",
                _used(runs),
                _loss(runs),
                plus([run["observed"]["answers"] for run in runs], 1),
            ]
        )
    headings = [
        "link",
        "delta, us",
        "c / delta",
        "rho",
        "(15), %",
        "(16), %",
        "measured, %",
        "loss",
        "answers in a minute",
    ]
    return f"{markdown(headings, rows)}\n\n{picture('sabul-fig1')}"


FIG2 = {"622 Mbit/s": "sabul-fig2-oc12", "1 Gbit/s": "sabul-fig2-1g"}
WHO = ("sabul", "paper", "reno")


def by_rtt(name: str) -> dict[tuple[str, float], list[Json]]:
    """(case, RTT in ms) -> runs."""
    return grouped(name, lambda run: (run["scenario"]["case_name"], run["flows"][0]["base_rtt_ms"]))


def fig2() -> str:
    """Fig. 2: utilisation by RTT."""
    tables = []
    for title, name in FIG2.items():
        found = by_rtt(name)
        rtts = [rtt for case, rtt in found if case == "sabul"]
        rows = [
            [
                f"{rtt:g} ms",
                *(_used(found[case, rtt]) for case in WHO),
                *(_loss(found[case, rtt]) for case in WHO),
            ]
            for rtt in rtts
        ]
        means = [mean(_column(found["sabul", rtt], "utilisation", 100)) for rtt in rtts]
        headings = [title, *(f"{case}, %" for case in WHO), *(f"{case}: loss" for case in WHO)]
        spread = f"SABUL's spread over the RTTs: {max(means) - min(means):.1f} points."
        tables.append(f"{markdown(headings, rows)}\n\n{spread}")
    return "\n\n".join([*tables, picture("sabul-fig2")])


def tso() -> str:
    """Fig. 2's shortest paths with what TCP sends at once there by default."""
    groups = grouped("sabul-fig2-tso", lambda run: (run["flows"][0]["base_rtt_ms"], _cc(run)))
    rows = [
        [f"{rtt:g} ms", cc, _used(runs), _loss(runs)]
        for (rtt, cc), runs in sorted(groups.items(), key=lambda one: one[0][0])
    ]
    return markdown(["1 Gbit/s", "", "utilis. %", "loss"], rows)


def _together(runs: list[Json]) -> list[str]:
    """Shares, Jain's index and the least of it, convergence, utilisation and loss of two flows."""
    several = range(len(runs[0]["flows"]))
    shares = [mean(100 * run["observed"]["shares"][i] for run in runs) for i in several]
    times = [run["observed"]["convergence_s"] for run in runs]
    never = sum(time is None for time in times)
    came = [time for time in times if time is not None]
    return [
        " / ".join(f"{share:.1f}" for share in shares),
        plus(_column(runs, "jain"), 3),
        f"{min(_column(runs, 'jain')):.3f}",
        plus(came, 1) + (f", {never} never" if never else "") if came else "never",
        _used(runs),
        _loss(runs),
    ]


TOGETHER = ["shares, %", "Jain", "least", "together after, s", "total, %", "loss"]


def fig3() -> str:
    """Fig. 3: two flows."""
    found = by_case("sabul-fig3")
    rows = []
    for case, runs in found.items():
        start = "together" if case.endswith("together") else "10 s later"
        rows.append([_rtt(runs[0]), start, *_together(runs)])
    table = markdown(["RTTs, ms", "second starts", *TOGETHER], rows)
    return f"{table}\n\n{picture('sabul-fig3')}"


def offsets() -> str:
    """A flow that comes late."""
    groups = grouped("sabul-offsets", lambda run: f"{run['scenario']['flow'][1]['start']:g} s")
    rows = [[label, *_together(runs)] for label, runs in groups.items()]
    return markdown(["second starts", *TOGETHER], rows)


def of_kind(run: Json, ours: bool) -> list[float]:
    """Goodput of each flow that is SABUL, or is not, Mbit/s."""
    return [f["goodput_bps"] / 1e6 for f in run["flows"] if (f["cc"] == "sabul") == ours]


def friendly(name: str) -> list[tuple[str, list[Json], list[Json]]]:
    """(path and TCP, runs of two and two, runs of four TCP) of Fig. 4."""
    return friendly_of(by_case(name))


def friendly_of(found: dict[str, list[Json]]) -> list[tuple[str, list[Json], list[Json]]]:
    """... from runs by case."""
    cases = [case.removesuffix("-mixed") for case in found if case.endswith("-mixed")]
    return [(case, found[f"{case}-mixed"], found[f"{case}-four"]) for case in cases]


def _numbers(values: list[int]) -> str:
    return " / ".join(str(value) for value in values)


FIG4 = {
    "short": "0.1 ms",
    "long": "100 ms",
    "default": "100 ms, TCP's window 64 KB",
    "deep": "100 ms, 2 BDP",
}


def fig4() -> str:
    """Fig. 4: the paper's friendliness, B1 >= B2."""
    rows = []
    for case, mixed, four in friendly("sabul-fig4"):
        path, cc = case.split("-")
        beside = [mean(of_kind(run, False)) for run in mixed]
        alone = [mean(of_kind(run, False)) for run in four]
        b1, b2 = mean(beside), mean(alone)
        rows.append(
            [
                f"{FIG4[path]}, {cc}",
                plus([mean(of_kind(run, True)) for run in mixed], 0),
                plus(beside, 0),
                plus(alone, 0),
                f"{b1 / b2:.2f}",
                "yes" if b1 >= b2 else "no",
                _used(mixed),
                _used(four),
            ]
        )
    short = PUBLIC["fig4"]["short"]
    b1, b2 = mean(short["beside"]), mean(short["four"])
    paper = ["paper, 0.1 ms", *(_numbers(short[who]) for who in ("sabul", "beside", "four"))]
    rows.append([*paper, f"{b1 / b2:.2f}", "yes" if b1 >= b2 else "no", "", ""])
    headings = ["", "SABUL, Mbit/s", "TCP beside it, B1", "four TCP, B2", "B1 / B2", "B1 >= B2"]
    return markdown([*headings, "two and two, total %", "four TCP, total %"], rows)


def path(run: Json) -> tuple[float, float, float, str]:
    """(rate in bit/s, RTT in ms, buffer in BDP, congestion control) of one flow."""
    link = run["scenario"]["link"]
    return link["rate"], run["flows"][0]["base_rtt_ms"], link["buffer"][0], _cc(run)


def queue() -> str:
    """Queue delay and loss beside bbr and cubic."""
    groups = grouped("sabul-queue", path)
    rows = []
    for (_, rtt, buffer, cc), runs in sorted(groups.items()):
        delay = [run["summary"]["queue_delay_ms"] for run in runs]
        rows.append(
            [
                f"{_rate(runs[0])}, {rtt:g} ms, {buffer:g} BDP",
                cc,
                _used(runs),
                plus([one["mean"] for one in delay], 1),
                plus([one["p95"] for one in delay], 1),
                _loss(runs),
            ]
        )
    headings = ["path", "", "utilis. %", "queue, ms, mean", "95 % of the time below", "loss"]
    return markdown(headings, rows)


def slow() -> str:
    """Slow links."""
    groups = grouped(
        "sabul-slow",
        lambda run: (run["scenario"]["link"]["rate"], WHO.index(run["scenario"]["case_name"])),
    )
    rows = [
        [
            _rate(runs[0]),
            WHO[who],
            _loss(runs),
            plus(_column(runs, "jain"), 2),
            f"{min(_column(runs, 'jain')):.2f}",
            _used(runs),
            plus([run["summary"]["queue_delay_ms"]["mean"] for run in runs], 0),
        ]
        for (_, who), runs in sorted(groups.items())
    ]
    return markdown(["link", "", "loss", "Jain", "least", "total, %", "queue, ms, mean"], rows)


def deep() -> str:
    """Where an overflow is known late."""
    who = ("sabul", "paper", "cubic")

    def where(run: Json) -> tuple[float, float, float]:
        link = run["scenario"]["link"]
        return link["rate"], run["flows"][0]["base_rtt_ms"], link["buffer"][0]

    rows = []
    for (_, rtt, buffer), runs in sorted(grouped("sabul-deep", where).items()):
        by = [[run for run in runs if run["scenario"]["case_name"] == one] for one in who]
        rows.append(
            [f"{_rate(runs[0])}, {rtt:g} ms, {buffer:g} BDP", f"{rtt * (1 + buffer) / 1e3:.2g}"]
            + [plus([100 * run["summary"]["loss"] for run in of], 1) for of in by]
            + [_used(of) for of in by]
        )
    headings = [f"{what}, %: {one}" for what in ("loss", "utilis.") for one in who]
    return markdown(["path", "RTT, queue full, s", *headings], rows)


def start() -> str:
    """The first slow start."""

    def ways(run: Json) -> tuple[float, float, float]:
        link = run["scenario"]["link"]
        return link["rate"], run["flows"][0]["base_rtt_ms"], link["buffer"][0]

    rows = []
    for (_, rtt, buffer), runs in sorted(grouped("sabul-start", ways).items()):
        by = {run["scenario"]["module"]["sabul"]["slow_start"]: run for run in runs}
        two = [by[way] for way in ("classic", "train")]
        row = [f"{_rate(runs[0])} x {rtt:g} ms, {buffer:.2g} BDP"]
        row += [f"{run['observed']['until']:,}" for run in two]
        row += [f"{run['summary']['dropped']:,}" for run in two]
        row += [f"{run['summary']['goodput_bps'] / 1e6:.1f}" for run in two]
        rows.append(row)
    lost = ["lost in slow start: classic", "train", "lost in 20 s: classic", "train"]
    headings = ["path", *lost, "goodput, Mbit/s: classic", "train"]
    return markdown(headings, rows)


PARTS = {
    "docs/sabul.md": {
        "fig1": fig1,
        "fig2": fig2,
        "tso": tso,
        "fig3": fig3,
        "offsets": offsets,
        "fig4": fig4,
        "queue": queue,
        "slow": slow,
        "deep": deep,
        "start": start,
        "older": older,
    }
}
