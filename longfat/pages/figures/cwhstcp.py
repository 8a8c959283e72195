# SPDX-License-Identifier: GPL-2.0
"""The figures of the CW-HSTCP paper."""

from __future__ import annotations

from functools import partial
from statistics import mean

from matplotlib import pyplot

from longfat.build import hstcp
from longfat.pages.data import logarithmic
from longfat.pages.observe.cwhstcp import fast_flows
from longfat.pages.shown import (
    AT_ONCE,
    Runs,
    Shown,
    Table,
    Value,
    at_once,
    case,
    cc,
    colour,
    extreme,
    group,
    legend_beside,
    losses,
    minus,
    over,
    prefixed,
    public,
    rate,
    utilisation,
)
from longfat.pages.tables.cwhstcp import SOONER, pacing, settings, slow_link
from longfat.run.result import Json

PAPER = public("cwhstcp")


def table1(runs: Runs) -> Shown:
    """a(w) and b(w), by RFC 3649's formulas as the module's table is made."""
    shown = Shown(tables=[Table(["w", "a(w)", "paper", "b(w)", "paper"], [])])
    for w, (a, b) in ((int(key), row) for key, row in PAPER["table1"].items()):
        ours = max(1.0, hstcp.a(w)), hstcp.b(w)
        shown.values[f"a({w})"] = Value(ours[0], paper=a)
        shown.values[f"b({w})"] = Value(ours[1], paper=b, digits=3)
        shown.tables[0].rows.append([str(w), f"{ours[0]:.2f}", str(a), f"{ours[1]:.3f}", str(b)])
    figure, axes = pyplot.subplots(figsize=(7, 2.8), layout="constrained")
    windows = [10 ** (1.6 + i / 20) for i in range(68)]
    axes.plot(windows, [max(1.0, hstcp.a(w)) for w in windows], label="a(w)")
    axes.plot(
        [int(w) for w in PAPER["table1"]],
        [row[0] for row in PAPER["table1"].values()],
        "kx",
        label="paper's",
    )
    logarithmic(axes)
    axes.set_xlabel("w, packets")
    axes.set_ylabel("a(w), packets per RTT")
    axes.legend(fontsize="x-small")
    axes.grid(alpha=0.3)
    shown.pictures.append(("a(w)", figure))
    return shown


def _windows(shown: Shown, runs: list[Json], title: str) -> None:
    """Windows over time of the first seed."""
    run = runs[0]
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    for flow, seen in zip(fast_flows(run), run["observed"]["cwnd"], strict=True):
        axes.plot(seen["t"], seen["cwnd"], lw=1, label=f"{flow['base_rtt_ms']:g} ms")
    axes.set_xlabel("time, s")
    axes.set_ylabel("cwnd, packets")
    # Slow start may go beyond it: it is the windows afterwards that are looked at.
    warm = [
        w
        for seen in run["observed"]["cwnd"]
        for t, w in zip(seen["t"], seen["cwnd"], strict=True)
        if t >= run["scenario"]["warmup"]
    ]
    axes.set_ylim(0, 1.05 * max(warm))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="x-small")
    shown.pictures.append((f"congestion windows over time, {title}, seed {run['seed']}", figure))


def _shares(runs: list[Json], i: int, paper: float | None = None) -> Value:
    return over(
        runs, lambda run: 100 * run["observed"]["shares"][i], paper=paper, unit="%", digits=1
    )


def _share_at(seconds: str, i: int, run: Json) -> float:
    return 100 * float(run["observed"]["shares_at"][seconds][i])


def _jain(runs: list[Json], paper: float | None = None) -> Value:
    return over(runs, lambda run: run["observed"]["jain"], paper=paper, digits=3)


def _five_flows(found: list[Json]) -> dict[str, Value]:
    """What each of the flows of Table 2 has."""
    shown = Shown()
    # Of both halves of the time that is measured here.
    printed = zip(*(PAPER["table2"][seconds] for seconds in ("100-150", "150-200")), strict=True)
    for i, (flow, halves) in enumerate(zip(fast_flows(found[0]), printed, strict=True)):
        shown.values[f"share, {flow['base_rtt_ms']:g} ms"] = _shares(found, i, mean(halves))
    for i, flow in enumerate(fast_flows(found[0])):
        shown.values[f"loss events, {flow['base_rtt_ms']:g} ms"] = over(
            found, partial(losses, i), digits=1
        )
    shown.values["share of the two shortest"] = over(
        found, lambda run: 100 * sum(run["observed"]["shares"][:2]), unit="%", digits=1
    )
    shown.values["Jain"] = _jain(found)
    for seconds, shares in PAPER["table2"].items():
        for i, (flow, paper) in enumerate(zip(fast_flows(found[0]), shares, strict=True)):
            shown.values[f"{seconds} s: {flow['base_rtt_ms']:g} ms"] = over(
                found,
                partial(_share_at, seconds, i),
                paper=paper,
                unit="%",
                digits=1,
            )
    return shown.values


def _three_flows(stcp: list[Json]) -> dict[str, Value]:
    """What each of those of Scalable TCP has."""
    flows = zip(fast_flows(stcp[0]), PAPER["stcp"]["shares"], strict=True)
    return {
        f"three STCP flows: share, {flow['base_rtt_ms']:g} ms": _shares(stcp, i, paper)
        for i, (flow, paper) in enumerate(flows)
    }


def table2(runs: Runs) -> Shown:
    """Five flows of HighSpeed TCP."""
    found, stcp = runs("cwhstcp-table2"), runs("cwhstcp-stcp")
    shown = Shown(peer_headings=["shares by RTT, %", "Jain", "background, %"])
    shown.values |= _five_flows(found) | _three_flows(stcp)
    if as_ns2 := runs("cwhstcp-table2-ns2"):
        values = _five_flows(as_ns2).items()
        shares = {name: value for name, value in values if name.startswith("share, ")}
        shown.values |= prefixed("as ns-2: ", shares)
    if synchronised := runs("cwhstcp-table2-sync"):
        three = _three_flows(runs("cwhstcp-stcp-sync"))
        shown.under |= at_once(_five_flows(synchronised) | three)
    for name, of in (("HSTCP", found), ("STCP", stcp)):
        shown.values[f"{name}: the longest's share over the shortest's"] = over(
            of, _longest_over_shortest
        )
    for name, of in group(runs("cwhstcp-table2-peers"), cc).items():
        shown.peers[name] = _peer(of)
    return shown


def _longest_over_shortest(run: Json) -> float:
    shares = run["observed"]["shares"]
    return float(shares[-1] / shares[0])


def _peer(of: list[Json]) -> list[str]:
    several = range(len(of[0]["observed"]["shares"]))
    shares = " / ".join(f"{_shares(of, i).ours:.1f}" for i in several)
    left = over(of, lambda run: 100 * run["observed"]["background"]["share"], digits=1)
    return [shares, _jain(of).text, left.text]


def _window(i: int, run: Json) -> float:
    """The mean of the i-th flow's."""
    return float(run["observed"]["windows"][i])


def _means(found: list[Json], where: str = "") -> dict[str, Value]:
    """The mean window of each flow, by its round-trip time."""
    return {
        f"window, {flow['base_rtt_ms']:g} ms{where}": over(
            found, partial(_window, i), unit="packets", digits=0
        )
        for i, flow in enumerate(fast_flows(found[0]))
    }


def fig2(runs: Runs) -> Shown:
    """Their windows."""
    found = runs("cwhstcp-table2")
    shown = Shown(peer_headings=["mean windows by RTT"])
    shown.values |= _means(found)
    _windows(shown, found, "HSTCP")
    for name, of in group(runs("cwhstcp-table2-peers"), cc).items():
        several = range(len(of[0]["observed"]["windows"]))
        shown.peers[name] = [
            " / ".join(f"{mean(run['observed']['windows'][i] for run in of):.0f}" for i in several)
        ]
    return shown


def table3(runs: Runs) -> Shown:
    """By c, 622 Mbit/s."""
    shown = _by_c(runs("cwhstcp-table3"))
    shown.values |= at_once(_by_c(runs("cwhstcp-table3-sync")).values)
    for what, file in (("5 ms of buffer", "buffer"), ("as ns-2", "ns2")):
        shown.values |= prefixed(f"{what}: ", _by_c(runs(f"cwhstcp-table3-{file}")).values)
    if both := runs("cwhstcp-table3-ns2-buffer"):
        shown.under |= prefixed("as ns-2, 5 ms of buffer: ", _by_c(both).values)
    return shown


def table3_1g(runs: Runs) -> Shown:
    """The same at 1 Gbit/s."""
    return _by_c(runs("cwhstcp-table3-1g"))


def _by_c(found: list[Json]) -> Shown:
    shown = Shown()
    for name, of in group(found, case).items():
        paper, c = PAPER["table3"][name], name.removeprefix("c-")
        for i, flow in enumerate(fast_flows(of[0])):
            shown.values[f"c={c}: share, {flow['base_rtt_ms']:g} ms"] = _shares(
                of, i, paper["shares"][i]
            )
        shown.values[f"c={c}: background"] = over(
            of,
            lambda run: 100 * run["observed"]["background"]["share"],
            paper=paper["background"],
            unit="%",
            digits=1,
        )
        shown.values[f"c={c}: total"] = over(
            of, utilisation, paper=paper["total"], unit="%", digits=1
        )
        shown.values[f"c={c}: Jain"] = _jain(of, paper["jain"])
        shown.values[f"c={c}: background's loss"] = over(
            of,
            lambda run: 1e4 * run["observed"]["background"]["loss"],
            unit="1e-4",
            printed="{} to {}".format(*paper["loss"]),
            digits=2,
        )
        shown.values[f"c={c}: total, least"] = extreme(min, of, utilisation, unit="%", digits=1)
        shown.values[f"c={c}: background's loss, most"] = _most_lost(of)
    for other in ("5", "20"):
        pair = (shown.values[f"c={x}: Jain"] for x in ("10", other))
        shown.values[f"Jain, c=10 less c={other}"] = minus(*pair, digits=3)
    return shown


def _most_lost(of: list[Json]) -> Value:
    """What the background lost in the run where it lost most."""
    return extreme(
        max, of, lambda run: 1e4 * run["observed"]["background"]["loss"], unit="1e-4", digits=2
    )


def _most_over_least(run: Json) -> float:
    windows = run["observed"]["windows"]
    return float(max(windows) / min(windows))


def _of_flow(key: str, flow: int, run: Json) -> float:
    """What was observed of one flow."""
    return float(run["observed"][key][flow])


def fig6(runs: Runs) -> Shown:
    """Windows of CW-HSTCP: as in the paper, with less and less that makes them differ, and where
    RED marks."""
    of_table3 = [run for run in runs("cwhstcp-table3") if case(run) == "c-10"]
    alone = runs("cwhstcp-fig6")
    behind = group((run for run in runs("cwhstcp-buffer") if _is_base(run)), _rtt_of)
    shown = Shown()
    marked = runs("cwhstcp-fig6-red")
    for what, of in (
        ("c = 10 of Table 3", of_table3),
        ("the same at 155 Mbit/s", behind["min"]),
        ("there by the smoothed RTT", behind["smoothed"]),
        ("and alone, 1000 s", alone),
        ("alone, marked by RED", marked),
    ):
        shown.values |= _means(of, f", {what}")
        shown.values[f"windows, most / least, {what}"] = over(of, _most_over_least, digits=3)
    for i, flow in enumerate(marked[0]["flows"]):
        rtt = f"{flow['base_rtt_ms']:g} ms"
        for what, key in (("decreases", "decreases"), ("of them soon after one", "soon")):
            shown.values[f"alone, marked by RED: {what}, {rtt}"] = over(
                marked, partial(_of_flow, key, i), digits=0
            )
    means = [mean(_window(i, run) for run in alone) for i in range(3)]
    shown.values["alone: mean windows of all runs, most / least"] = Value(max(means) / min(means))
    shown.values["alone: throughput, most / least, most"] = extreme(
        max, alone, lambda run: max(run["observed"]["shares"]) / min(run["observed"]["shares"])
    )
    for what, of in group(runs("cwhstcp-fig6-sync"), case).items():
        shown.under |= _means(of, f", {AT_ONCE}{what}")
        shown.under[f"{AT_ONCE}windows, most / least, {what}"] = over(
            of, _most_over_least, digits=3
        )
    _windows(shown, alone, "CW-HSTCP alone, 155 Mbit/s, by the smoothed RTT")
    return shown


def fig7(runs: Runs) -> Shown:
    """Jain's index over time scales, and others."""
    ours = [run for run in runs("cwhstcp-buffer") if _is_base(run) and _rtt_of(run) == "min"]
    found = {"cwhstcp": ours} | group(runs("cwhstcp-fig7"), case)
    found |= group(runs("cwhstcp-fig7-peers"), case)
    shown = Shown(peer_headings=["Jain over 1 s", "10 s", "100 s", "background, %"])
    figure, axes = pyplot.subplots(figsize=(7, 3.4), layout="constrained")
    scales = {"1": 1, "10": 10, "100": 100}

    def over_time(of: list[Json], seconds: str) -> Value:
        if seconds == "100":
            return _jain(of)
        return over(
            of, lambda run: run["observed"]["jain_over"].get(seconds, float("nan")), digits=3
        )

    for name, of in found.items():
        values = {seconds: over_time(of, seconds) for seconds in scales}
        if name in ("cwhstcp", "hstcp", "scalable", "reno"):
            shown.values |= {f"{name}, {seconds} s": value for seconds, value in values.items()}
        if name in ("hstcp", "scalable", "reno"):
            for seconds, value in values.items():
                more = minus(shown.values[f"cwhstcp, {seconds} s"], value, digits=3)
                shown.values[f"more than {name}'s, {seconds} s"] = more
        if name not in ("cwhstcp", "hstcp"):
            left = over(of, lambda run: 100 * run["observed"]["background"]["share"], digits=1)
            shown.peers[name] = [*(value.text for value in values.values()), left.text]
        thick = name in ("cwhstcp", "hstcp", "scalable", "reno")
        axes.errorbar(
            list(scales.values()),
            [v.ours for v in values.values()],
            [v.half for v in values.values()],
            marker=".",
            label=name,
            color=colour({"hstcp": "highspeed"}.get(name, name)),
            lw=2 if thick else 0.8,
            ls="-" if thick else "--",
        )
    logarithmic(axes)
    axes.set_xlabel("time scale, s")
    axes.set_ylabel("Jain's index")
    axes.set_ylim(0.3, 1.02)
    axes.grid(alpha=0.3)
    legend_beside(axes)
    shown.pictures.append(("fairness over time scales", figure))
    return shown


def _rtt_of(run: Json) -> str:
    """What eta goes by."""
    return str(run["scenario"]["module"].get("cwhstcp", {}).get("rtt", "min"))


def _is_base(run: Json) -> bool:
    """Of the runs behind several buffers those of Table 3's."""
    return bool(run["scenario"]["link"]["buffer"][0] == 559)


# --- ours: what the paper does not ask


def five(runs: Runs) -> Shown:
    """Five flows."""
    of = runs("cwhstcp-five")
    shown = Shown()
    for i, flow in enumerate(fast_flows(of[0])):
        shown.values[f"share, {flow['base_rtt_ms']:g} ms"] = _shares(of, i)
    shown.values["Jain"] = _jain(of, PAPER["five"]["jain"])
    shown.values["total, least"] = extreme(min, of, utilisation, unit="%", digits=1)
    shown.values["background's loss, most"] = _most_lost(of)
    return shown


def buffer(runs: Runs) -> Shown:
    """The buffer, and the RTT of eta."""
    shown = Shown()

    def kind(run: Json) -> tuple[float, str]:
        amount, unit = run["scenario"]["link"]["buffer"]
        longest = max(flow["base_rtt_ms"] for flow in run["flows"])
        return (30 if unit == "p" else round(amount * longest)), _rtt_of(run)

    for (ms, by), of in sorted(group(runs("cwhstcp-buffer"), kind).items()):
        shown.values[f"{ms} ms, rtt={by}: Jain"] = _jain(of)
        shown.values[f"{ms} ms, rtt={by}: Jain of windows"] = over(
            of, lambda run: run["observed"]["jain_windows"], digits=3
        )
    return shown


def exponent(runs: Runs) -> Shown:
    """Equal throughput, rtt_exponent = 2."""
    shown = Shown()
    for name, of in group(runs("cwhstcp-exponent"), case).items():
        shown.values[f"{name}: Jain"] = _jain(of)
        shown.values[f"{name}: background's loss, most"] = _most_lost(of)
    return shown


def held_out(runs: Runs) -> Shown:
    """The default and the paper's law on a path that no constant was chosen by."""
    shown = Shown()
    for name, of in group(runs("cwhstcp-held-out"), case).items():
        shown.values[f"{name}: Jain"] = _jain(of)
        shown.values[f"{name}: Jain, least"] = extreme(
            min, of, lambda run: run["observed"]["jain"], digits=3
        )
        shown.values[f"{name}: background"] = over(
            of, lambda run: 100 * run["observed"]["background"]["share"], unit="%", digits=1
        )
    return shown


def held_out_nine(runs: Runs) -> Shown:
    """The same on nine more of such paths, one by one and together."""
    shown = Shown()
    found = [*runs("cwhstcp-held-out-two"), *runs("cwhstcp-held-out-three")]

    def law(run: Json) -> str:
        return case(run).partition("-")[0]

    def cell(run: Json) -> str:
        rtts = ", ".join(f"{flow['base_rtt_ms']:g}" for flow in fast_flows(run))
        return f"{rtts} ms, {run['scenario']['link']['buffer'][0]:g} packets, {law(run)}"

    for where, of in (group(found, cell) | group(found, law)).items():
        shown.values[f"{where}: Jain"] = _jain(of)
        shown.values[f"{where}: background"] = over(
            of, lambda run: 100 * run["observed"]["background"]["share"], unit="%", digits=1
        )
    return shown


def fair(runs: Runs) -> Shown:
    """Equal shares by default, whatever the buffer, the RTTs, and what is beside."""
    return _fair([*runs("cwhstcp-fair"), *runs("cwhstcp-fair-alone")])


def fair_fast(runs: Runs) -> Shown:
    """The same on fast links."""
    files = (
        "cwhstcp-fair-1g",
        "cwhstcp-fair-alone-1g",
        "cwhstcp-fair-10g",
        "cwhstcp-fair-alone-10g",
    )
    shown = _fair([run for file in files for run in runs(file)])
    longer = _fair([*runs("cwhstcp-fair-10g-long"), *runs("cwhstcp-fair-alone-long")])
    shown.values |= {f"{name}, 600 s": value for name, value in longer.values.items()}
    return shown


def fair_sooner(runs: Runs) -> Shown:
    """Cells of those with settings that might make shares equal sooner, beside the default."""
    shown = Shown()
    for file, default in SOONER.items():
        plain = _fair(runs(default)).values
        for way, of in group(runs(file), settings).items():
            for name, value in _fair(of).values.items():
                shown.values[f"{name}, {way}"] = value
                less = minus(value, plain[name], digits=3)
                shown.values[f"{name}, {way}, less the default"] = less
    return shown


def _fair(found: list[Json]) -> Shown:
    shown = Shown()

    def cell(run: Json) -> str:
        rtts = ", ".join(f"{flow['base_rtt_ms']:g}" for flow in fast_flows(run))
        beside = "beside Reno" if "background" in run["observed"] else "alone"
        return f"{rate(run)}, {rtts} ms, {run['scenario']['link']['buffer'][0]:g} BDP, {beside}"

    for where, of in group(found, cell).items():
        shown.values[f"{where}: Jain"] = _jain(of)
        if where.endswith("Reno"):
            shown.values[f"{where}: left to Reno"] = over(
                of, lambda run: 100 * run["observed"]["background"]["share"], unit="%", digits=1
            )
    return shown


def slow(runs: Runs) -> Shown:
    """What one flow loses behind the deep buffer of a slow link."""
    shown = Shown()
    found = [*runs("cwhstcp-slow"), *runs("cwhstcp-slow-paper")]
    for (path, who), of in group(found, slow_link).items():
        shown.values[f"{path}, {who}: lost"] = over(
            of, lambda run: 100 * run["summary"]["loss"], unit="%", digits=1
        )
    return shown


def burst(runs: Runs) -> Shown:
    """The queue that bursts make on small buffers, one flow alone."""
    shown = Shown()
    found = [*runs("cwhstcp-burst-alone"), *runs("cwhstcp-burst-blocks")]

    def kind(run: Json) -> tuple[str, float]:
        return rate(run), run["scenario"]["link"]["buffer"][0]

    for (link, amount), of in group(found, kind).items():
        where = f"{link}, {amount:g} BDP"
        peak = {
            who: over(each, lambda run: run["observed"]["burst_queue"]["max"], digits=1)
            for who, each in group(of, pacing).items()
        }
        for who, value in peak.items():
            shown.values[f"{where}, {who}: peak of the queue by bursts"] = value
        others = [value.ours for who, value in peak.items() if who not in ("smooth", "prompt")]
        unpaced = max(peak["kernel"].ours, peak["none"].ours)
        shown.values[f"{where}: smooth over the least of the others"] = Value(
            peak["smooth"].ours / min(others)
        )
        shown.values[f"{where}: blocks over the most of kernel and none"] = Value(
            peak["block"].ours / unpaced
        )
    return shown


def burst_beside(runs: Runs) -> Shown:
    """The same beside short flows."""
    shown = Shown()
    by_buffer = group(
        runs("cwhstcp-burst"), lambda run: float(run["scenario"]["link"]["buffer"][0])
    )
    for amount, of in by_buffer.items():
        for who, each in group(of, pacing).items():
            shown.values[f"{amount:g} BDP, {who}: mean queue by bursts"] = over(
                each, lambda run: run["observed"]["burst_queue"]["mean"], digits=1
            )
    return shown
