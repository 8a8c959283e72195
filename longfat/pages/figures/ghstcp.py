# SPDX-License-Identifier: GPL-2.0
"""The figures of the gHSTCP paper."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from statistics import mean

from matplotlib import pyplot

from longfat.pages.data import bdp_of
from longfat.pages.shown import (
    Runs,
    Shown,
    Table,
    Value,
    case,
    cc,
    extreme,
    group,
    minus,
    over,
    public,
    rate,
    ratio,
    utilisation,
)
from longfat.run.result import Json

TABLE1 = public("ghstcp-table1")
NETWORK = TABLE1.pop("network")

CASES = ("reno", "ghstcp", "hstcp", "parallel")


HSTCP_BELOW = "HSTCP mode below the BDP"
RENO_ABOVE = "Reno mode above BDP + 20 % of the buffer"


def _of_rule(runs: Runs, rule: str) -> list[Json]:
    return [
        run for run in runs("ghstcp-fig6") if run["scenario"]["module"]["ghstcp"]["rule"] == rule
    ]


def _without_jitter(runs: Runs, rule: str) -> tuple[list[Json], Json]:
    """Runs without RTT jitter, and of them the one that is drawn."""
    found = [run for run in _of_rule(runs, rule) if not run["scenario"]["link"]["jitter"]]
    return found, found[0]


def _modes(runs: Runs, rule: str) -> tuple[Shown, Json]:
    """The numbers of Figs. 4 and 6; the run that is drawn."""
    found, (_, run) = _of_rule(runs, rule), _without_jitter(runs, rule)
    shown = Shown()
    for jitter, of in group(found, lambda run: float(run["scenario"]["link"]["jitter"])).items():
        which = f", {1e3 * jitter:g} ms of jitter" if jitter else ""

        def mode(key: str, scale: float, unit: str = "", of: list[Json] = of) -> Value:
            return over(of, lambda run: scale * run["observed"]["modes"][key], unit=unit, digits=1)

        def end(
            least_or_most: Callable[[list[float]], float],
            key: str,
            unit: str = "",
            of: list[Json] = of,
        ) -> Value:
            return extreme(least_or_most, of, lambda run: run["observed"]["modes"][key], unit=unit)

        shown.values[f"{HSTCP_BELOW}{which}"] = mode("hstcp_below", 100, "% of time")
        shown.values[f"{RENO_ABOVE}{which}"] = mode("reno_above", 100, "% of time")
        shown.values[f"switches in an epoch{which}"] = mode("switches_mean", 1)
        shown.values[f"switches in an epoch, most{which}"] = end(max, "switches_max")
        shown.values[f"time above, least{which}"] = end(min, "above_s", "s")
        shown.values[f"time below, least{which}"] = end(min, "below_s", "s")
        shown.values[f"utilisation{which}"] = over(of, utilisation, unit="%")
    return shown, run


def _window_and_mode(shown: Shown, run: Json) -> None:
    seen = run["observed"]
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    axes.plot(seen["cwnd"]["t"], seen["cwnd"]["cwnd"], lw=1, label="cwnd")
    axes.axhline(bdp_of(run), color="grey", ls=":", lw=1, label="BDP")
    axes.set_xlabel("time, s")
    axes.set_ylabel("cwnd, packets")
    axes.set_ylim(bottom=0)
    modes = axes.twinx()
    t, mode = zip(*seen["modes_at"], strict=True)
    modes.step([*t, run["scenario"]["duration"]], [*mode, mode[-1]], "C1", where="post", lw=0.7)
    modes.set_yticks([0, 1], ["HSTCP", "Reno"])
    modes.set_ylim(-0.1, 6)
    axes.legend(fontsize="x-small", loc="upper right")
    shown.pictures.append(("congestion window (left) and mode (right) over time", figure))


def fig4(runs: Runs) -> Shown:
    """The original rule."""
    shown, run = _modes(runs, "trend")
    _window_and_mode(shown, run)
    return shown


def _columns(run: Json) -> list[tuple[float, float, int]]:
    """Time, RTT in ms and window at each sample that has an RTT."""
    seen = run["observed"]
    columns = zip(seen["rtt"]["t"], seen["rtt"]["rtt_us"], seen["cwnd"]["cwnd"], strict=True)
    return [(t, us / 1e3, cwnd) for t, us, cwnd in columns if us]


def _above(run: Json, low: float, high: float) -> float:
    """Mean ms that the RTT is above the path's while the window is between so many BDP."""
    bdp, warm = bdp_of(run), run["scenario"]["warmup"]
    found = [rtt for t, rtt, w in _columns(run) if t >= warm and low * bdp < w < high * bdp]
    return float(mean(found) - run["flows"][0]["base_rtt_ms"])


def fig5(runs: Runs) -> Shown:
    """The RTT, original rule."""
    found, run = _without_jitter(runs, "trend")
    shown = Shown()
    for what, low, high in (("below 0.95", 0, 0.95), ("above 1.1", 1.1, inf)):
        shown.values[f"mean RTT {what} BDP"] = over(
            found, partial(_above, low=low, high=high), unit="ms above the path's"
        )
    columns = _columns(run)
    figure, places = pyplot.subplots(
        1, 2, figsize=(8, 3), layout="constrained", width_ratios=(2, 1)
    )
    for place, (begin, end) in zip(
        places, ((0, run["scenario"]["duration"]), (24, 29)), strict=True
    ):
        part = [(t, rtt) for t, rtt, _ in columns if begin <= t <= end]
        place.plot(*zip(*part, strict=True), lw=0.8)
        place.set_xlabel("time, s")
        place.grid(alpha=0.3)
    places[0].set_ylabel("RTT, ms")
    shown.pictures.append(("smoothed RTT over time, and 24 to 29 s of it", figure))
    return shown


def fig6(runs: Runs) -> Shown:
    """The refined rule."""
    shown, run = _modes(runs, "refined")
    for name, value in _modes(runs, "trend")[0].values.items():
        called, _, which = name.partition("switches in an epoch")
        if not called and "most" not in which:
            shown.values[f"switches in an epoch, original rule{which}"] = value
    _window_and_mode(shown, run)
    return shown


def table1(runs: Runs) -> Shown:
    """Fair throughput: Flow-2 as its socket buffers and access link let it, Flow-1 the rest."""
    headings = ["link", "buffers", "Flow-1", "paper", "each of Flow-2", "paper"]
    shown = Shown(tables=[Table(headings, [], "Mbit/s.")])
    for link, rows in TABLE1.items():
        total = float(link.removesuffix("mbit"))
        for size, (one, two, _) in rows.items():
            held = int(size.removesuffix("KiB")) * 1024 * 8 / NETWORK["rtt"] / 1e6
            each = min(held, total / 3, NETWORK["access"] / 2)
            shown.values[f"{link}, {size}: Flow-2"] = Value(
                each, paper=two, unit="Mbit/s", digits=1
            )
            shown.values[f"{link}, {size}: Flow-1"] = Value(
                total - 2 * each, paper=one, unit="Mbit/s", digits=1
            )
            shown.tables[0].rows.append(
                [link, size, f"{total - 2 * each:.1f}", str(one), f"{each:.1f}", str(two)]
            )
    return shown


def _size(run: Json) -> str:
    """Of Flow-2's socket buffers."""
    return f"{run['scenario']['flow'][1]['socket_buffer'] // 1024} KB"


def _beside(runs: Runs, name: str) -> Shown:
    """Utilisation, fairness and throughput of Flow-1 and Flow-2, by what Flow-1 is."""
    shown = Shown()
    sizes = ("64 KB", "512 KB")
    shown.peer_headings = [
        f"{s}: {what}" for s in sizes for what in ("utilis. %", "fairness", "loss %")
    ]
    figure, places = pyplot.subplots(1, 3, figsize=(9, 3), layout="constrained")
    for (of, who), each in group(runs(name), lambda run: (_size(run), case(run))).items():
        for what, f, unit, digits in (
            ("utilisation", utilisation, "%", 2),
            ("fairness", lambda run: run["observed"]["fairness"], "", 4),
            ("loss", lambda run: 100 * run["summary"]["loss"], "%", 4),
            ("Flow-1", lambda run: run["flows"][0]["goodput_bps"] / 1e6, "Mbit/s", 1),
            (
                "Flow-2",
                lambda run: sum(f["goodput_bps"] for f in run["flows"][1:]) / 1e6,
                "Mbit/s",
                1,
            ),
        ):
            shown.values[f"{of}, {who}: {what}"] = over(each, f, unit=unit, digits=digits)
        place = CASES.index(who) + (-0.2 if of == "64 KB" else 0.2)
        colour = "C0" if of == "64 KB" else "C1"
        label = f"Flow-2 with {of}" if who == CASES[0] else None
        for axes, what in zip(places, ("utilisation", "fairness", "Flow-1"), strict=True):
            value = shown.values[f"{of}, {who}: {what}"]
            axes.bar(place, value.ours, 0.4, yerr=value.half, color=colour, label=label)
        first, second = (shown.values[f"{of}, {who}: {what}"] for what in ("Flow-1", "Flow-2"))
        places[2].bar(
            place, second.ours, 0.4, bottom=first.ours, yerr=second.half, color=colour, alpha=0.4
        )
    for of in sizes:
        hstcp, reno = (shown.values[f"{of}, {who}: utilisation"] for who in ("hstcp", "reno"))
        shown.values[f"{of}, hstcp over reno: utilisation"] = minus(hstcp, reno, unit="points")
        for a, b in (("ghstcp", "hstcp"), ("hstcp", "parallel")):
            fair = (shown.values[f"{of}, {who}: fairness"] for who in (a, b))
            shown.values[f"{of}, {a} less {b}: fairness"] = minus(*fair, digits=4)
        used = (shown.values[f"{of}, {who}: utilisation"] for who in ("ghstcp", "hstcp"))
        shown.values[f"{of}, ghstcp less hstcp: utilisation"] = minus(*used, unit="points")
        gentle, forced = (shown.values[f"{of}, {who}: loss"] for who in ("ghstcp", "hstcp"))
        shown.values[f"{of}, ghstcp over hstcp: loss"] = ratio(gentle, forced)
    for who in CASES:
        small, large = (shown.values[f"{of}, {who}: fairness"] for of in sizes)
        shown.values[f"{who}: fairness, 64 KB over 512 KB"] = minus(small, large, digits=4)
    for axes, what in zip(
        places,
        ("link utilisation, %", "fairness index", "Flow-1, above it Flow-2, Mbit/s"),
        strict=True,
    ):
        axes.set_xticks(range(len(CASES)), CASES, fontsize="small")
        axes.set_ylabel(what)
        axes.grid(alpha=0.3, axis="y")
    places[0].set_ylim(80, 100)
    places[1].set_ylim(0.4, 1)
    bars = places[0].get_legend_handles_labels()  # the same in all three
    figure.legend(*bars, fontsize="x-small", loc="outside upper center", ncols=2)
    shown.pictures.append(("utilisation, fairness and throughput of Flow-1 and Flow-2", figure))
    for who, of_peer in group(runs(f"{name}-peers"), cc).items():
        by = group(of_peer, _size)
        cells: list[str] = []
        for of in sizes:
            if of not in by:
                cells += ["missing", "", ""]
                continue
            cells.append(over(by[of], utilisation).text)
            cells.append(over(by[of], lambda run: run["observed"]["fairness"], digits=3).text)
            cells.append(over(by[of], lambda run: 100 * run["summary"]["loss"], digits=3).text)
        shown.peers[who] = cells
    shown.peers["reno"] = [
        shown.values[f"{of}, reno: {what}"].text
        for of in sizes
        for what in ("utilisation", "fairness", "loss")
    ]
    return shown


def fig7(runs: Runs) -> Shown:
    """100 Mbit/s."""
    return _beside(runs, "ghstcp-fig7")


def fig8(runs: Runs) -> Shown:
    """200 Mbit/s."""
    shown = _beside(runs, "ghstcp-fig8")
    slower = [run for run in runs("ghstcp-fig7") if case(run) == "reno"]
    for of, each in group(slower, _size).items():
        shown.values[f"{of}, reno: utilisation at 100 Mbit/s"] = over(each, utilisation, unit="%")
    return shown


# --- ours: longer and fatter paths than the paper's


def _kind(run: Json) -> tuple[float, float, float]:
    """(rate in bit/s, buffer in BDP, RTT jitter in s)."""
    link = run["scenario"]["link"]
    return link["rate"], link["buffer"][0], link["jitter"]


def modes(runs: Runs) -> Shown:
    """The modes of both rules at 1 and 10 Gbit/s."""
    shown = Shown()
    both = [*runs("ghstcp-1g"), *runs("ghstcp-10g")]
    for (bps, buffer, jitter), of in group(both, _kind).items():
        path = f"{bps / 1e9:g} Gbit/s, {buffer:g} BDP{', jitter' if jitter else ''}"
        rules = group(of, lambda run: str(run["scenario"]["module"]["ghstcp"]["rule"]))

        def seen(which: Callable[[list[float]], float], key: str, unit: str = "") -> Value:
            scale = 100 if unit == "% of time" else 1
            refined = rules["refined"]  # noqa: B023 - used in this round of the loop
            return extreme(
                which, refined, lambda run: scale * run["observed"]["modes"][key], unit=unit
            )

        shown.values[f"{path}: {RENO_ABOVE}, least"] = seen(min, "reno_above", "% of time")
        shown.values[f"{path}: time above, least"] = seen(min, "above_s", "s")
        shown.values[f"{path}: time below, most"] = seen(max, "below_s", "s")
        # Where slow start leaves the window above the BDP no loss takes it below.
        if shown.values[f"{path}: time below, most"].ours:
            shown.values[f"{path}: time below, least"] = seen(min, "below_s", "s")
            shown.values[f"{path}: {HSTCP_BELOW}, least"] = seen(min, "hstcp_below", "% of time")
        shown.values[f"{path}: switches in an epoch, most"] = seen(max, "switches_max")
        for rule, called in (("trend", ", original rule"), ("refined", "")):
            shown.values[f"{path}: switches in an epoch{called}"] = over(
                rules[rule], lambda run: run["observed"]["modes"]["switches_mean"], digits=1
            )
    return shown


def fill(runs: Runs) -> Shown:
    """How fast a link is filled, and what an overflow costs."""
    shown = Shown()
    for name, overflows in (
        ("ghstcp-fill-1g", "ghstcp-fill-1g"),
        ("ghstcp-fill-10g", "ghstcp-overflow-10g"),
    ):
        found, over_full = group(runs(name), case), group(runs(overflows), case)
        link = rate(found["ghstcp"][0])
        took = {who: over(of, lambda run: run["observed"]["fill_s"]) for who, of in found.items()}
        for who, value in took.items():
            shown.values[f"{link}: time to fill it, {who}"] = value
            if who == "hstcp":
                continue
            observed = [run["observed"]["modes"] for run in found[who]]
            shown.values[f"{link}: {HSTCP_BELOW}, {who}"] = Value(
                100 * min(one["hstcp_below"] for one in observed), unit="% of time"
            )
            shown.values[f"{link}: time below, least, {who}"] = Value(
                min(one["below_s"] for one in observed), unit="s"
            )
            shown.values[f"{link}: switches in an epoch, most, {who}"] = Value(
                max(one["switches_max"] for one in observed)
            )
        shown.values[f"{link}: time, gHSTCP's over HSTCP's"] = ratio(took["ghstcp"], took["hstcp"])
        lost = {}
        for who in ("ghstcp", "hstcp"):
            shown.values[f"{link}: overflows, {who}"] = over(
                over_full[who], lambda run: run["observed"]["overflows"], digits=0
            )
            lost[who] = over(over_full[who], lambda run: run["observed"]["lost"], digits=1)
            shown.values[f"{link}: packets lost in one, {who}"] = lost[who]
        shown.values[f"{link}: lost in one, gHSTCP's over HSTCP's"] = ratio(
            lost["ghstcp"], lost["hstcp"]
        )
    return shown


def gro(runs: Runs) -> Shown:
    """Growth over a(W), behind a receiver that merges packets and not."""
    shown = Shown()
    for (who, held), of in group(
        runs("ghstcp-gro"), lambda run: (cc(run), float(run["scenario"]["host"]["gro"]))
    ).items():
        where = f"{1e3 * held:g} ms of GRO" if held else "without GRO"
        shown.values[f"growth over a(W), {who}, {where}"] = over(
            of, lambda run: run["observed"]["growth"]
        )
    return shown
