# SPDX-License-Identifier: GPL-2.0
"""The figures of the LTCP paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, zip_longest
from math import log10, nan
from statistics import mean, stdev
from typing import Any

from matplotlib import pyplot
from matplotlib.axes import Axes

from longfat.pages.catalogue import PEERS
from longfat.pages.data import logarithmic
from longfat.pages.observe.ltcp import WINDOW
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
    goodput,
    group,
    legend_beside,
    loss,
    losses,
    over,
    public,
    ratio,
    utilisation,
)
from longfat.run import result
from longfat.run.result import Json, interval

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


PAPER = public("ltcp")
RATES = {100e6: "100mbit", 250e6: "250mbit", 500e6: "500mbit", 1e9: "1gbit", 2.4e9: "2.4gbit"}
BESIDE = ("htcp", "bic")  # of the kernel's, those that the paper prints, besides Reno
BETA, W_T = PAPER["parameters"]["beta"], PAPER["parameters"]["W_T"]


def _rate_key(run: Json) -> str:
    return RATES[run["scenario"]["link"]["rate"]]


def _with_paper(value: Value, paper: float | None) -> str:
    """A cell of a table of peers."""
    if paper is None:
        return value.text
    return f"{value.text} (paper {value.show(paper)})"


def _finish(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="x-small")


def _from_zero(axes: Axes) -> None:
    """With room above what is highest, which may be a line all along the top."""
    axes.set_ylim(0, 1.05 * axes.get_ylim()[1])


def _recovering(k: int) -> float:
    """Speedup in recovering from a loss at W_K, section 3.2; where a loss leads below W_T it is
    TCP itself."""
    if (1 - BETA) * layer_start(k) < W_T:
        return 1.0
    return float((k - 1) * 0.5 / BETA)


def fig2(runs: Runs) -> Shown:
    """Arithmetic: window, speedup in claiming bandwidth (15), in recovery (section 3.2)."""
    shown = Shown()
    table = Table(["K", "W_K", "claiming", "paper", "recovery", "paper"], [])
    for k, (w, claim, recover) in ((int(k), row) for k, row in PAPER["fig2"].items()):
        ours = (
            layer_start(k),
            claiming(k),
            _recovering(k),
        )
        for what, value, printed in zip(
            ("W", "claim", "recover"), ours, (w, claim, recover), strict=True
        ):
            shown.values[f"{what} K={k}"] = Value(value, paper=printed)
        table.rows.append(
            [
                str(k),
                str(ours[0]),
                f"{ours[1]:.2f}",
                f"{claim:.2f}",
                f"{ours[2]:.2f}",
                f"{recover:.2f}",
            ]
        )
    shown.tables.append(table)
    figure, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
    layers = range(3, 21)
    for what, name in (("claim", "claiming bandwidth"), ("recover", "loss recovery")):
        axes.plot(
            layers, [shown.values[f"{what} K={k}"].ours for k in layers], "o-", ms=3, label=name
        )
    _finish(axes, "layer K", "speedup over TCP")
    shown.pictures.append(("speedup over TCP by layer", figure))
    return shown


# Mean window by loss rate.  LTCP's: (18) and (11) with K_R = 1 give W'', (19), as
# ((6/W_T)^(1/3) / (beta (1 - beta/2) p))^(3/5), and the mean is 1 - beta/2 of it, (17).  The
# paper prints 3/2 as the exponent of (19).  The others': their RFCs and papers.
RESPONSE: dict[str, Callable[[float], float]] = {
    "LTCP, (18) and (11)": lambda p: (1 - BETA / 2)
    * ((6 / W_T) ** (1 / 3) / (BETA * (1 - BETA / 2) * p)) ** 0.6,
    "TCP, 1.2 / sqrt(p)": lambda p: 1.2 / p**0.5,
    "HSTCP, 0.12 / p^0.835": lambda p: 0.12 / p**0.835,
    "Scalable, 0.08 / p": lambda p: 0.08 / p,
}


def _slope(points: dict[float, list[Json]]) -> Value:
    """Of log window over log loss rate, least squares, negated; of each seed."""
    x = [log10(p) for p in points]
    found = {}
    for runs in zip(*points.values(), strict=True):
        y = [log10(run["observed"]["windows"][0]) for run in runs]
        mx, my = mean(x), mean(y)
        top = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
        found[int(runs[0]["seed"])] = -top / sum((a - mx) ** 2 for a in x)
    return Value(*interval(list(found.values())), len(found), digits=3, each=found)


def _by_loss(runs: list[Json]) -> dict[float, list[Json]]:
    return group(runs, lambda run: float(run["scenario"]["link"]["loss"]))


def fig4(runs: Runs) -> Shown:
    """The equations as lines, what was measured as points."""
    ours = _by_loss(runs("ltcp-fig4"))
    shown = Shown(peer_headings=["slope", *(f"window at p = {p:g}" for p in ours)])
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    span = [10 ** (-7 + i / 10) for i in range(51)]
    for (label, f), name in zip(
        RESPONSE.items(), ("ltcp", "reno", "highspeed", "scalable"), strict=True
    ):
        axes.plot(span, [f(p) for p in span], color=colour(name), lw=1, label=label)
    window = RESPONSE["LTCP, (18) and (11)"]
    for p, of in ours.items():
        shown.values[f"window at p={p:g}"] = over(
            of, lambda run: run["observed"]["windows"][0], paper=window(p), unit="packets", digits=1
        )
    # Where K_R K is more than Reno's 1.
    steep = {p: of for p, of in ours.items() if p <= 1e-3}
    shown.values["slope of ltcp"] = replace(_slope(steep), paper=0.6)
    measured = [shown.values[f"window at p={p:g}"] for p in ours]
    axes.errorbar(
        list(ours),
        [value.ours for value in measured],
        [value.half for value in measured],
        fmt="C0o",
        ms=5,
        label="ltcp, measured",
    )
    for name, of in group(runs("ltcp-fig4-peers"), cc).items():
        points = _by_loss(of)
        windows = {
            p: over(each, lambda run: run["observed"]["windows"][0], digits=1)
            for p, each in points.items()
        }
        points_of = (list(windows), [value.ours for value in windows.values()])
        axes.plot(*points_of, "x", color=colour(name), ms=4, label=f"{name}, measured")
        small = {p: each for p, each in points.items() if p <= 1e-3}
        if len(small) == len(steep):
            shown.values[f"slope of {name}"] = _slope(small)
            if name == "reno":
                for p in steep:
                    shown.values[f"over reno's window at p={p:g}"] = ratio(
                        shown.values[f"window at p={p:g}"], windows[p]
                    )
        shown.peers[name] = [
            _slope(small).text if len(small) == len(steep) else "missing",
            *(windows[p].text if p in windows else "missing" for p in ours),
        ]
    logarithmic(axes)
    logarithmic(axes, "y")
    axes.set_ylim(1, 1e6)
    _finish(axes, "loss rate p", "congestion window, packets")
    legend_beside(axes)
    shown.pictures.append(("congestion window by loss rate", figure))
    return shown


def _loss_to_loss(run: Json) -> float:
    """Mean seconds from one decrease of the window to the next, after the warm-up: what it takes
    to have again what a loss took.  What is left of the run if there are not two."""
    t, cwnd = run["observed"]["cwnd"]["t"], run["observed"]["cwnd"]["cwnd"]
    begin: float = run["scenario"]["warmup"]
    falls = [now < 0.95 * was for was, now in pairwise(cwnd)]
    # A decrease that two samples see is one.
    losses = [
        at
        for at, before, falling in zip(t[1:], [False, *falls[:-1]], falls, strict=True)
        if at > begin and falling and not before
    ]
    if len(losses) < 2:
        return float(t[-1]) - begin
    return float(losses[-1] - losses[0]) / (len(losses) - 1)


def _by_section_3(run: Json) -> float:
    """How many times as fast as TCP LTCP recovers by section 3.2, 3.33 (K - 1) and K_R times that,
    at the layer of its mean window."""
    k_r = (run["flows"][0]["base_rtt_ms"] / 8) ** (1 / 3)
    return float(k_r * _recovering(layer_of(run["observed"]["windows"][0])))


def fig6(runs: Runs) -> Shown:
    """Windows over time."""
    found = {cc(run): run for run in runs("ltcp-fig6")}
    beside = {cc(run): run for run in runs("ltcp-fig6-peers")}
    shown = Shown(peer_headings=["goodput, Mbit/s", "utilis. %", "loss %"])
    for name, run in found.items():
        cwnd, times = run["observed"]["cwnd"]["cwnd"], run["observed"]["cwnd"]["t"]
        shown.values[f"{name}, from loss to loss"] = Value(_loss_to_loss(run), unit="s", digits=1)
        shown.values[f"{name}, goodput"] = Value(goodput(run), unit="Mbit/s")
        measured = [w for t, w in zip(times, cwnd, strict=True) if t >= run["scenario"]["warmup"]]
        shown.values[f"{name}, swing"] = Value(
            min(measured) / max(measured), unit="least / most window"
        )
    faster = {cc(run): _loss_to_loss(run) for run in runs("ltcp-fig6-1g")}
    for name, seconds in faster.items():
        value = Value(seconds, unit="s", digits=1)
        shown.under[f"at 1 Gbit/s: {name}, from loss to loss"] = value
    if {"ltcp", "reno"} <= faster.keys():
        (of_ltcp,) = (run for run in runs("ltcp-fig6-1g") if cc(run) == "ltcp")
        shown.under["at 1 Gbit/s: times as fast as Reno"] = Value(
            faster["reno"] / faster["ltcp"], paper=_by_section_3(of_ltcp), digits=0
        )
    figure, places = pyplot.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    pick = {
        name: run for name, run in (beside | found).items() if name in ("ltcp", "reno", *BESIDE)
    }
    for name, run in pick.items():
        place = places[0] if name in found else places[1]
        seen = run["observed"]["cwnd"]
        place.plot(seen["t"], seen["cwnd"], lw=1, color=colour(name), label=name)
    for name, run in beside.items():
        shown.peers[name] = [
            f"{goodput(run):.2f}",
            f"{100 * run['summary']['utilisation']:.2f}",
            f"{loss(run):.3g}",
        ]
    _finish(places[0], "", "cwnd, packets")
    if pick.keys() == found.keys():
        figure.delaxes(places[1])
        places[0].tick_params(labelbottom=True)
        places[0].set_xlabel("time, s")
    else:
        _finish(places[1], "time, s", "cwnd, packets")
    shown.pictures.append(("congestion windows over time", figure))
    return shown


def fig7(runs: Runs) -> Shown:
    """Goodput and loss by link rate."""
    ours = {
        _rate_key(run): run
        for name in ("ltcp-fig7", "ltcp-fig7-1g", "ltcp-fig7-2g4")
        for run in runs(name)
    }
    beside = group(runs("ltcp-fig7-peers"), cc)
    shown = Shown(
        peer_headings=[
            text for key in list(RATES.values())[:4] for text in (f"{key}, Mbit/s", "loss %")
        ]
    )
    for key, run in ours.items():
        paper = PAPER["fig7"]["ltcp"][key]
        shown.values[f"goodput {key}"] = Value(goodput(run), paper=paper["goodput"], unit="Mbit/s")
        shown.values[f"loss {key}"] = Value(loss(run), paper=paper["loss"], unit="%", digits=6)
    measured = {_rate_key(run): loss(run) for run in beside.get("htcp", [])}
    for key, run in ours.items():
        if key in PAPER["fig7"]["htcp"]:
            htcp, whose = (
                (measured[key], "measured beside it")
                if len(measured) == len(RATES) - 1 and key in measured
                else (PAPER["fig7"]["htcp"][key]["loss"], "the paper's")
            )
            shown.values[f"of HTCP's loss, {key}"] = Value(
                loss(run) / htcp, unit=f"of HTCP's, {whose}"
            )
    for name, of in beside.items():
        paper, cells = PAPER["fig7"].get(name, {}), []
        by = {_rate_key(run): run for run in of}
        for key in list(RATES.values())[:4]:
            if key not in by:
                cells += ["missing", ""]
                continue
            printed = paper.get(key, {})
            cells.append(_with_paper(Value(goodput(by[key])), printed.get("goodput")))
            text = f"{loss(by[key]):.2e}"
            cells.append(f"{text} (paper {printed['loss']:.2e})" if printed else text)
        shown.peers[name] = cells
    figure, places = pyplot.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    of_ours = {f: r for f, r in RATES.items() if r in ours}
    mbit = [f / 1e6 for f in of_ours]
    for place, what, value in zip(places, ("goodput", "loss"), (goodput, loss), strict=True):
        place.plot(mbit, [value(ours[r]) for r in of_ours.values()], "o-", label="ltcp")
        place.plot(
            mbit, [PAPER["fig7"]["ltcp"][r][what] for r in of_ours.values()], "kx", label="paper's"
        )
        for name in ("reno", *BESIDE):
            if name in beside:
                points = sorted(
                    (r["scenario"]["link"]["rate"] / 1e6, value(r) or nan) for r in beside[name]
                )
                place.plot(
                    *zip(*points, strict=True), ".--", lw=0.8, color=colour(name), label=name
                )
            printed = PAPER["fig7"].get(name, {})
            at = [f / 1e6 for f, r in RATES.items() if r in printed]
            values = [of_rate[what] for of_rate in printed.values()]
            place.plot(at, values, "x", ms=4, color=colour(name))
        logarithmic(place)
        logarithmic(place, "y")
    _finish(places[0], "link, Mbit/s", "goodput, Mbit/s")
    _finish(places[1], "link, Mbit/s", "packet loss, %")
    what = "goodput and loss by link rate; crosses are the paper's, a loss of 0 is not on the axis"
    shown.pictures.append((what, figure))
    return shown


def _each(run: Json) -> list[float]:
    return [flow["goodput_bps"] / 1e6 for flow in run["flows"]]


def _of_flow(i: int, run: Json) -> float:
    return _each(run)[i]


def _of_one_kind(n: int, of: list[Json]) -> dict[str, Value]:
    """What `n` flows have, beside the paper's table."""
    average, least, most, deviation, jain = PAPER["fig8"][str(n)]
    values = {
        f"{what}, {n} flows": over(of, f, paper=paper, unit="Mbit/s")
        for what, f, paper in (
            ("average", lambda run: mean(_each(run)), average),
            ("least", lambda run: min(_each(run)), least),
            ("most", lambda run: max(_each(run)), most),
            ("deviation", lambda run: stdev(_each(run)), deviation),
        )
    }
    jains = over(of, lambda run: run["summary"]["jain"], paper=jain, digits=4)
    return values | {f"Jain, {n} flows": jains}


def _five_over_six(run: Json) -> float | None:
    """Mean windows of the flows that are of five layers over those of the flows of six; None where
    flows are of others, too, or all of one."""
    by: dict[int, list[float]] = {}
    for window in run["observed"]["windows"]:
        by.setdefault(layer_of(window), []).append(window)
    return mean(by[5]) / mean(by[6]) if set(by) == {5, 6} else None


def _in_layers(of: list[Json]) -> dict[str, Value]:
    """Of ten flows that all lose at once."""
    first = [sum(layer_of(w) == 1 for w in run["observed"]["windows"]) for run in of]
    ratios = [x for run in of if (x := _five_over_six(run)) is not None]
    found = {"10 flows: runs with flows in the first layer": Value(sum(map(bool, first)), digits=0)}
    if ratios:
        name = "10 flows: windows of five layers over those of six"
        found[name] = Value(*interval(ratios), len(ratios))
    return found


def fig8(runs: Runs) -> Shown:
    """Flows of one kind."""
    found = group(runs("ltcp-fig8"), lambda run: len(run["flows"]))
    shown = Shown(peer_headings=["least, Mbit/s", "average", "most", "Jain"])
    for n, of in found.items():
        shown.values |= _of_one_kind(n, of)
    for n, of in group(runs("ltcp-fig8-sync"), lambda run: len(run["flows"])).items():
        shown.under |= at_once(_of_one_kind(n, of) | (_in_layers(of) if n == 10 else {}))
    for name, of in group(runs("ltcp-fig8-peers"), cc).items():
        cells = [
            over(of, f).text
            for f in (lambda r: min(_each(r)), lambda r: mean(_each(r)), lambda r: max(_each(r)))
        ]
        shown.peers[name] = [*cells, over(of, lambda run: run["summary"]["jain"], digits=4).text]
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    for n, of in found.items():
        flows = [x for run in of for x in _each(run)]
        axes.plot(
            [n] * len(flows), flows, "C0.", alpha=0.5, label="ltcp, each flow" if n == 2 else None
        )
        axes.plot(n, PAPER["fig8"][str(n)][0], "kx", label="paper's average" if n == 2 else None)
    _finish(axes, "flows", "throughput, Mbit/s")
    _from_zero(axes)
    shown.pictures.append(("throughput of each flow", figure))
    return shown


def _shares(run: Json, axes: Axes, title: str) -> None:
    for i, mbps in enumerate(run["observed"]["mbps"]):
        t = [(n + 0.5) * WINDOW for n in range(len(mbps))]
        name, shade = cc(run), colour(cc(run))
        if len(run["flows"]) > 1:
            name, shade = f"flow {i + 1}", f"C{i}"
        axes.plot(t, mbps, lw=1, color=shade, label=name)
    axes.set_title(title, fontsize="small")


def _jain(shares: Sequence[float]) -> float:
    """Jain's index; 0 of nothing."""
    return result.jain(list(shares)) or 0.0


def _fair_at(run: Json) -> list[float]:
    """Jain's index of what the four flows get in the last third of each time in which the number
    of flows does not change."""
    flows, total = run["observed"]["mbps"], run["scenario"]["duration"]
    found = []
    for i in range(7):
        active = flows[: 1 + min(i, 6 - i)]
        begin, end = (int(total * (i + part) / 7 / WINDOW) for part in (2 / 3, 1))
        found.append(_jain([mean(flow[begin:end] or [0.0]) for flow in active]))
    return found


FAIR = 0.95


def _fair_after(run: Json) -> list[float]:
    """Seconds from each arrival until Jain's index of a window of throughput is FAIR; all of the
    time to the next if it never is."""
    flows, found = run["observed"]["mbps"], []
    starts = [float(flow["start"]) for flow in run["scenario"]["flow"]]
    for n, (begin, end) in enumerate(pairwise([*starts[1:], starts[-1] + starts[1]]), 2):
        windows = list(zip_longest(*flows[:n], fillvalue=0.0))[
            int(begin / WINDOW) : int(end / WINDOW)
        ]
        fair = (WINDOW * (i + 1) for i, shares in enumerate(windows) if _jain(shares) >= FAIR)
        found.append(next(fair, end - begin))
    return found


AFTER = 60.0  # seconds in which what is free is looked for


def _unused(run: Json, *freed: float) -> float:
    """Seconds of the whole link that nobody used in the minute after each of these times."""
    link = run["summary"]["capacity_bps"] / 1e6
    total = [sum(flows) for flows in zip_longest(*run["observed"]["mbps"], fillvalue=0.0)]
    parts = (total[int(at / WINDOW) : int((at + AFTER) / WINDOW)] for at in freed)
    return float(sum(WINDOW * max(0.0, 1 - mbps / link) for part in parts for mbps in part))


def _departures(run: Json) -> list[float]:
    """When a flow ended while others went on."""
    ends = [flow["start"] + flow["duration"] for flow in run["scenario"]["flow"][1:]]
    return sorted(float(end) for end in ends)


def fig9(runs: Runs) -> Shown:
    """Flows come and go."""
    run = runs("ltcp-fig9")[0]
    beside = {case(one): one for one in runs("ltcp-fig9-peers")}
    headings = ["Jain, 2 flows", "3", "4", "3 again", "2 again"]
    shown = Shown(peer_headings=[*headings, "fair after, s", "utilis. %", "unused, s"])
    names = ("2 flows", "3 flows", "4 flows", "3 again", "2 again")
    for name, jain in zip(names, _fair_at(run)[1:6], strict=True):
        shown.values[f"Jain, {name}"] = Value(jain, digits=3)
    shown.values["utilisation"] = Value(100 * run["summary"]["utilisation"], unit="%")
    for at in _departures(run):
        shown.values[f"unused in the minute after {at:g} s"] = Value(
            _unused(run, at), unit="s of the link", digits=1
        )
    for name, one in (("ltcp", run), *((name, beside[name]) for name in BESIDE if name in beside)):
        for n, seconds in enumerate(_fair_after(one), 2):
            value = Value(seconds, unit=f"s until Jain's index is {FAIR:g}", digits=0)
            shown.values[f"{name}, {n} flows fair after"] = value
        shown.values[f"{name}, fair after, mean"] = Value(
            mean(_fair_after(one)), unit="s", digits=1
        )
        if name in beside:
            of_ours = _unused(run, *_departures(run)) / _unused(one, *_departures(one))
            shown.values[f"unused, of {name}'s"] = Value(of_ours)
    for one in runs("ltcp-fig9-sync"):
        for n, seconds in enumerate(_fair_after(one), 2):
            value = Value(seconds, unit=f"s until Jain's index is {FAIR:g}", digits=0)
            shown.under[f"{AT_ONCE}{case(one)}, {n} flows fair after"] = value
        value = Value(mean(_fair_after(one)), unit="s", digits=1)
        shown.under[f"{AT_ONCE}{case(one)}, fair after, mean"] = value
    for name, one in beside.items():
        cells = [f"{jain:.3f}" for jain in _fair_at(one)[1:6]]
        left = f"{_unused(one, *_departures(one)):.1f}"
        fair = f"{mean(_fair_after(one)):.0f}"
        shown.peers[name] = [*cells, fair, f"{100 * one['summary']['utilisation']:.1f}", left]
    chosen = {"ltcp": run} | {name: beside[name] for name in BESIDE if name in beside}
    figure, places = pyplot.subplots(
        len(chosen),
        1,
        sharex=True,
        squeeze=False,
        figsize=(7, 2.4 * len(chosen)),
        layout="constrained",
    )
    for place, (name, one) in zip(places[:, 0], chosen.items(), strict=True):
        _shares(one, place, name)
        _finish(place, "", "Mbit/s")
    places[-1, 0].set_xlabel("time, s")
    shown.pictures.append(("throughput of each flow over time", figure))
    return shown


def _swept(
    shown: Shown,
    runs: Runs,
    name: str,
    x: str,
    of: str,
    unit: float = 1.0,
) -> None:
    """Throughput over a setting of the link: a picture, and peers in cells."""

    def key(run: Json) -> float:
        value = run["scenario"]["link"][of]
        return float(value[0] if isinstance(value, list) else value) * unit

    ours = group(runs(name), key)
    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    lines = {"ltcp": ours} | {n: group(r, key) for n, r in group(runs(f"{name}-peers"), cc).items()}
    for label, points in lines.items():
        values = {at: over(each, goodput) for at, each in points.items()}
        if label == "ltcp":
            shown.values |= {
                f"goodput at {at:g}": over(each, goodput, unit="Mbit/s")
                for at, each in points.items()
            }
            shown.values |= {
                f"utilisation at {at:g}": over(
                    each, lambda run: 100 * run["summary"]["utilisation"], unit="%"
                )
                for at, each in points.items()
            }
        else:
            shown.peers[label] = [values[at].text if at in values else "missing" for at in ours]
        style: dict[str, Any] = (
            {"lw": 2, "marker": "o"} if label == "ltcp" else {"lw": 0.9, "marker": "."}
        )
        style["color"] = colour(label)
        axes.errorbar(
            list(values),
            [v.ours for v in values.values()],
            [v.half for v in values.values()],
            label=label,
            **style,
        )
        # Not of what is left where some of them failed.
        whole = len({len(each) for each in points.values()}) == 1
        if label in BESIDE and values.keys() == ours.keys() and whole:
            for at, value in values.items():
                of_ours = shown.values[f"goodput at {at:g}"]
                shown.values[f"over {label}'s at {at:g}"] = ratio(of_ours, value)
    shown.peer_headings = [f"{at:g}, Mbit/s" for at in ours]
    _finish(axes, x, "throughput, Mbit/s")
    _from_zero(axes)
    if len(lines) > 1:
        legend_beside(axes)
    if of == "loss":
        logarithmic(axes)
    shown.pictures.append((f"throughput over {x}", figure))


def fig10(runs: Runs) -> Shown:
    """Random loss."""
    shown = Shown()
    _swept(shown, runs, "ltcp-fig10", "random loss rate", "loss")
    return shown


def fig11(runs: Runs) -> Shown:
    """Buffers."""
    shown = Shown()
    _swept(shown, runs, "ltcp-fig11", "buffer, BDP", "buffer")
    return shown


PAPER_RATES = ("100mbit", "500mbit", "1gbit")  # of Fig. 12


def fig12(runs: Runs) -> Shown:
    """One flow beside one of Reno."""
    headings = [f"{key}: {whose}, Mbit/s" for key in PAPER_RATES for whose in ("Reno's", "its own")]
    shown = Shown(peer_headings=headings)
    for file, where, values in (
        ("ltcp-fig12", "", shown.values),
        ("ltcp-fig12-sync", AT_ONCE, shown.under),
    ):
        for key, of in group(runs(file), _rate_key).items():
            reno, ltcp = PAPER["fig12"]["ltcp"][key]
            for i, who, paper in ((1, "reno", reno), (0, "ltcp", ltcp)):
                values[f"{where}{who} {key}"] = over(
                    of, partial(_of_flow, i), paper=paper, unit="Mbit/s"
                )
            for i, who in ((0, "LTCP"), (1, "Reno")):
                values[f"{where}loss events of {who}, {key}"] = over(
                    of, partial(losses, i), digits=1
                )
    beside: dict[str, list[float]] = {}  # what Reno gets, at PAPER_RATES
    for name, of in group(runs("ltcp-fig12-peers"), cc).items():
        cells, paper = [], PAPER["fig12"].get(name, {})
        by = group(of, _rate_key)
        for key in PAPER_RATES:
            if key not in by:
                cells += ["missing", ""]
                continue
            if name in BESIDE:
                reno = over(by[key], lambda run: _each(run)[1])
                beside.setdefault(name, []).append(reno.ours)
                shown.values[f"reno's over that beside {name}, {key}"] = ratio(
                    shown.values[f"reno {key}"], reno
                )
            printed = paper.get(key, [None, None])
            for i, number in ((1, printed[0]), (0, printed[1])):
                cells.append(_with_paper(over(by[key], lambda run, i=i: _each(run)[i]), number))  # type: ignore[misc]
        shown.peers[name] = cells
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    x = [float(k.removesuffix("mbit")) if "mbit" in k else 1000.0 for k in PAPER_RATES]
    reno_at = [shown.values[f"reno {key}"] for key in PAPER_RATES]
    axes.errorbar(
        x, [v.ours for v in reno_at], [v.half for v in reno_at], fmt="o-", label="Reno beside ltcp"
    )
    for name, measured in beside.items():
        if len(measured) == len(x):
            axes.plot(x, measured, ".-", color=colour(name), lw=0.8, label=f"Reno beside {name}")
    for name in ("ltcp", *BESIDE):
        axes.plot(
            x,
            [PAPER["fig12"][name][k][0] for k in PAPER_RATES],
            "x--",
            color=colour(name),
            lw=0.8,
            label=f"paper: TCP beside {name}",
        )
    _finish(axes, "link, Mbit/s", "the Reno flow, Mbit/s")
    axes.legend(fontsize="x-small", loc="upper left")
    _from_zero(axes)
    shown.pictures.append(("throughput of the Reno flow", figure))
    return shown


def _rtt_ratio(run: Json) -> str:
    return f"{run['flows'][1]['base_rtt_ms'] / run['flows'][0]['base_rtt_ms']:g}"


def _unfair(run: Json) -> float:
    each = _each(run)
    return float(each[0] / each[1])


def _with_queue(run: Json) -> float:
    """The ratio of the round-trip times that the two flows saw."""
    short, long = (flow["rtt_ms"]["mean"] for flow in run["flows"])
    return float(long / short)


def _by_its_law(run: Json) -> float:
    """The ratio of throughput by (9) to (11): a loss takes beta w, and between two of a flow's,
    which are 1 / events apart, it gains K_R K in each round trip, K as w^(1/3), K_R as
    RTT_min^(1/3): so w goes as (K_R / (events RTT))^1.5, and throughput as w / RTT."""
    short, long = run["flows"]
    base = short["base_rtt_ms"] / long["base_rtt_ms"]
    events = losses(1, run) / losses(0, run)
    return float((base ** (1 / 3) * events) ** 1.5 * _with_queue(run) ** 2.5)


def _behind(runs: list[Json]) -> dict[tuple[str, str], list[Json]]:
    """Runs by what is said of their buffer, and by the ratio of round-trip times."""

    def kind(run: Json) -> tuple[str, str]:
        short = run["scenario"]["link"]["buffer"][0] < 1000
        return AT_ONCE + ("4 ms of buffer: " if short else ""), _rtt_ratio(run)

    return group(runs, kind)


def _unequal(kind: tuple[str, str], of: list[Json]) -> dict[str, Value]:
    """What two flows have that lose at once, beside the paper's ratio."""
    where, rtts = kind
    found = {
        "throughput ratio": over(of, _unfair, paper=PAPER["fig13"]["ltcp"][rtts]),
        "over the inverse square": over(of, lambda run: _unfair(run) / int(rtts) ** 2),
        "RTTs with the queue": over(of, _with_queue),
    }
    # Without a queue a recovery of the short flow is over between two samples, and not counted.
    if where == AT_ONCE:
        found["of its law's"] = over(of, lambda run: _unfair(run) / _by_its_law(run))
    return {f"{where}{name}, RTT ratio {rtts}": value for name, value in found.items()}


def fig13(runs: Runs) -> Shown:
    """Unequal round-trip times."""
    found = group(runs("ltcp-fig13"), _rtt_ratio)
    shown = Shown(peer_headings=[f"RTT ratio {rtts}" for rtts in found])
    for rtts, of in found.items():
        shown.values[f"throughput ratio, RTT ratio {rtts}"] = over(
            of, _unfair, paper=PAPER["fig13"]["ltcp"][rtts]
        )
    for run_of in _behind(runs("ltcp-fig13-sync")).items():
        shown.under |= _unequal(*run_of)
    for name, of in group(runs("ltcp-fig13-peers"), cc).items():
        by, paper = group(of, _rtt_ratio), PAPER["fig13"].get(name, {})
        for rtts in found if name in BESIDE else ():
            if rtts in by:
                ours = shown.values[f"throughput ratio, RTT ratio {rtts}"]
                value = ratio(over(by[rtts], _unfair), ours)
                shown.values[f"{name}'s over ours, RTT ratio {rtts}"] = value
        shown.peers[name] = [
            _with_paper(over(by[rtts], _unfair), paper.get(rtts)) if rtts in by else "missing"
            for rtts in found
        ]
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    x = [int(ratio) for ratio in found]
    values = [shown.values[f"throughput ratio, RTT ratio {rtts}"] for rtts in found]
    for i, value in zip(x, values, strict=True):
        square = Value(value.ours / i**2, value.half / i**2, value.seeds)
        shown.values[f"over the inverse square, RTT ratio {i}"] = square
        shown.values[f"RTTs with the queue, RTT ratio {i}"] = over(found[str(i)], _with_queue)
        if all(all(run["observed"]["losses"]) for run in found[str(i)]):
            shown.values[f"by its law, RTT ratio {i}"] = over(found[str(i)], _by_its_law)
            shown.values[f"of its law's, RTT ratio {i}"] = over(
                found[str(i)], lambda run: _unfair(run) / _by_its_law(run)
            )
        for n, whose in ((0, "short"), (1, "long")):
            shown.values[f"loss events of the {whose} one, RTT ratio {i}"] = over(
                found[str(i)], partial(losses, n), digits=1
            )
    axes.errorbar(x, [v.ours for v in values], [v.half for v in values], marker="o", label="ltcp")
    axes.plot(x, [PAPER["fig13"]["ltcp"][r] for r in found], "kx", label="paper's ltcp")
    axes.plot(x, [i**2 for i in x], ":", color="grey", label="inverse square, TCP's")
    by_law = {i: shown.values.get(f"by its law, RTT ratio {i}") for i in x}
    points = [(i, value.ours) for i, value in by_law.items() if value]
    if points:
        label = "by its law, with these RTTs and losses"
        axes.plot(*zip(*points, strict=True), "C0+", ms=9, label=label)
    axes.set_xticks(x)
    _finish(axes, "ratio of round-trip times", "ratio of throughput")
    shown.pictures.append(("throughput ratio by RTT ratio", figure))
    return shown


def _sends(run: Json, t: float) -> bool:
    """Whether the UDP sends at that time."""
    udp = run["scenario"]["udp"][0]
    return bool(t >= udp["start"] and (t - udp["start"]) % (udp["on"] + udp["off"]) < udp["on"])


def _with_udp(run: Json, on: bool) -> float:
    """Mean Mbit/s in the second half of the times with or without UDP."""
    udp, found = run["scenario"]["udp"][0], []
    for i, mbps in enumerate(run["observed"]["mbps"][0]):
        t = (i + 0.5) * WINDOW
        late = (t - udp["start"]) % (udp["on"] + udp["off"]) % udp["on"] > 0.5 * udp["on"]
        if late and _sends(run, t) == on:
            found.append(mbps)
    return float(mean(found or [0.0]))


def _stops(run: Json) -> list[float]:
    """When the UDP stops, and there is time after it."""
    udp, found = run["scenario"]["udp"][0], []
    stop = float(udp["start"] + udp["on"])
    while stop < run["scenario"]["duration"]:
        found.append(stop)
        stop += udp["on"] + udp["off"]
    return found


def _back(run: Json) -> float:
    """Seconds after the UDP stops until a window of throughput is 90 % of the link's; the longest,
    all of the silence if it never is."""
    udp, link = run["scenario"]["udp"][0], run["summary"]["capacity_bps"] / 1e6
    found = []
    for stop in _stops(run):
        ends = [
            (i + 1) * WINDOW
            for i, mbps in enumerate(run["observed"]["mbps"][0])
            if stop <= i * WINDOW < stop + udp["off"] and mbps >= 0.9 * link
        ]
        found.append(min(ends, default=stop + udp["off"]) - stop)
    return float(max(found))


def fig14(runs: Runs) -> Shown:
    """Beside UDP."""
    run = runs("ltcp-fig14")[0]
    beside = {cc(one): one for one in runs("ltcp-fig14-peers")}
    headings = ["late in UDP's time, Mbit/s", "late in its silence"]
    shown = Shown(peer_headings=[*headings, "at 90 % after, s", "unused, s"])
    udp = run["scenario"]["udp"][0]
    # On the wire a datagram has 28 bytes more.
    taken = udp["rate"] * (udp["size"] + 28) / udp["size"] / run["scenario"]["link"]["rate"]
    left = run["summary"]["capacity_bps"] * (1 - taken) / 1e6
    # It sends for half of the time.
    sent = udp["rate"] * udp["on"] / (udp["on"] + udp["off"])
    shown.values["UDP loses"] = Value(
        100 * (1 - run["udp"][0]["goodput_bps"] / sent), unit="%", digits=1
    )
    shown.values["with UDP, of what it leaves"] = Value(
        100 * _with_udp(run, True) / left, unit="%", digits=1
    )
    alone = run["summary"]["capacity_bps"] / 1e6
    shown.values["without UDP, of the link"] = Value(
        100 * _with_udp(run, False) / alone, unit="%", digits=1
    )
    shown.values["back at 90 %"] = Value(_back(run), unit="s after a stop", digits=0)
    shown.values["back at 90 %, of the silence"] = Value(
        100 * _back(run) / udp["off"], unit="%", digits=1
    )
    unused = _unused(run, *_stops(run))
    shown.values["unused in the minute after a stop"] = Value(
        unused, unit="s of the link", digits=1
    )
    for name in BESIDE:
        if name in beside:
            theirs = _unused(beside[name], *_stops(run))
            shown.values[f"unused, of {name}'s"] = Value(unused / theirs)
    for name, one in beside.items():
        cells = [f"{_with_udp(one, on):.1f}" for on in (True, False)]
        shown.peers[name] = [*cells, f"{_back(one):.0f}", f"{_unused(one, *_stops(run)):.1f}"]
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    for one in (run, *(beside[name] for name in BESIDE if name in beside)):
        _shares(one, axes, "")
    times = [i * WINDOW for i in range(len(run["observed"]["mbps"][0]) + 1)]
    sent = [udp["rate"] / 1e6 * _sends(run, t) for t in times]
    axes.step(times, sent, where="post", color="grey", ls=":", label="UDP, as sent")
    _finish(axes, "time, s", "throughput, Mbit/s")
    _from_zero(axes)
    shown.pictures.append(("throughput over time, 5 s", figure))
    return shown


# Fig. 15's testbed: what its bus let through, in packets of 1500 bytes a second; the NIC's queue at
# the sender, and at the receiver the one that makes the delay; seconds.
BUS, QUEUE, TRANSFER = 785e6 / 12000, 1000, 900.0


def hosts_of_2004(rtt: float, *, ltcp: bool) -> float:
    """Mbit/s in Fig. 15 by arithmetic, if its Linux 2.4 grew by acknowledgments and not by what
    they cover, one for two packets; if slow start ended as its own bursts had filled the sender's
    queue; and if no more acknowledgments than the receiver's queue holds came in a round trip."""
    w, t, sent = float(QUEUE), 0.0, 0.0
    k_r = max(1.0, (rtt / 8e-3) ** (1 / 3)) if ltcp else 1.0
    while t < TRANSFER:
        lasts = max(rtt, w / BUS)
        t += lasts
        sent += min(w, BUS * lasts)
        acks = min(w / 2, QUEUE * lasts / rtt)
        if w >= BUS * rtt + QUEUE:
            w *= 1 - BETA if ltcp else 0.5
        else:
            w += k_r * (layer_of(w) if ltcp else 1) * acks / w
    return sent * 1448 * 8 / t / 1e6


def fig15(runs: Runs) -> Shown:
    """Linux hosts, 900 s."""
    shown = Shown(peer_headings=["20 ms, Mbit/s", "60 ms", "120 ms"])
    for name, by_rtt in PAPER["fig15"].items():
        for rtt, (mbps, _) in by_rtt.items():
            by_arithmetic = hosts_of_2004(int(rtt) / 1e3, ltcp=name == "ltcp")
            shown.values[f"by arithmetic of its hosts: {name} {rtt} ms"] = Value(
                by_arithmetic, paper=mbps, unit="Mbit/s"
            )
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    for file, program, style in (("ltcp-fig15", "", "o-"), ("ltcp-fig15-iperf3", ", iperf3", "+:")):
        for name, of in group(runs(file), cc).items():
            points = {}
            for run in of:
                rtt = f"{run['flows'][0]['base_rtt_ms']:g}"
                mbps, gibibytes = PAPER["fig15"][name][rtt]
                sent = run["flows"][0]["received_bytes"] / 2**30
                what = f"{name} {rtt} ms{program}"
                shown.values[what] = Value(goodput(run), paper=mbps, unit="Mbit/s")
                shown.values[f"{what}, sent"] = Value(sent, paper=gibibytes, unit="GiB")
                points[float(rtt)] = goodput(run)
            axes.plot(
                list(points), list(points.values()), style, color=colour(name), label=name + program
            )
    for run in runs("ltcp-fig15-bursts"):
        rtt = f"{run['flows'][0]['base_rtt_ms']:g}"
        shown.under[f"without pacing: {cc(run)} {rtt} ms"] = Value(
            goodput(run), paper=PAPER["fig15"][cc(run)][rtt][0], unit="Mbit/s"
        )
    for name, of in group(runs("ltcp-fig15-loss"), case).items():
        rtt = f"{of[0]['flows'][0]['base_rtt_ms']:g}"
        paper = PAPER["fig15"][cc(of[0])][rtt][0]
        what = "ten times that loss" if name.endswith("-more") else "a loss in 3.3 million"
        shown.under[f"{what}: {cc(of[0])} {rtt} ms"] = over(of, goodput, paper=paper, unit="Mbit/s")
    for name, by in PAPER["fig15"].items():
        of_paper = [mbps for mbps, _ in by.values()]
        rtts = [int(rtt) for rtt in by]
        axes.plot(rtts, of_paper, "x--", lw=0.8, color=colour(name), label=f"paper's {name}")
    both = runs("ltcp-fig15") + runs("ltcp-fig15-peers")
    for name, of in group((run for run in both if cc(run) in PEERS), cc).items():
        at = {run["flows"][0]["base_rtt_ms"]: f"{goodput(run):.1f}" for run in of}
        shown.peers[name] = [at.get(rtt, "missing") for rtt in (20, 60, 120)]
    _finish(axes, "round-trip time, ms", "rate, Mbit/s")
    _from_zero(axes)
    shown.pictures.append(("rate by round-trip time", figure))
    return shown


# --- ours

PATHS = {"1 Gbit/s x 100 ms": 1e9, "10 Gbit/s x 100 ms": 1e10, "100 Gbit/s x 100 ms": 1e11}


def _ruled(k: int) -> float:
    """beta(K) where a loss costs one layer at most."""
    return min(0.15, 3 / (k + 1))


def _lost(k: int, beta: float) -> int:
    """Layers that a loss costs at the lowest window of layer K."""
    return k - layer_of(layer_start(k) - int(layer_start(k) * beta))


def one_layer(runs: Runs) -> Shown:
    """Layers that one loss costs at the lowest window of the path's layer; arithmetic."""
    headings = ["path (1500-byte packets)", "W_K", "K", "beta(K)", "lost, beta(K)", "lost, 0.15"]
    shown = Shown(tables=[Table(headings, [])])
    figure, axes = pyplot.subplots(figsize=(8, 3.5), layout="constrained")
    layers = range(2, 101)
    for label, beta in (("beta = 0.15", lambda k: 0.15), ("beta = min(0.15, 3/(K+1))", _ruled)):
        axes.step(list(layers), [_lost(k, beta(k)) for k in layers], where="mid", label=label)
    for name, rate in PATHS.items():
        k = layer_of(rate * 0.1 / 8 / 1500)
        lost = _lost(k, _ruled(k)), _lost(k, 0.15)
        shown.values[f"{name}: layers lost, beta(K)"] = Value(lost[0], digits=0)
        shown.values[f"{name}: layers lost, 0.15"] = Value(lost[1], digits=0)
        shown.tables[0].rows.append(
            [name, str(layer_start(k)), str(k), f"{_ruled(k):.4f}", *map(str, lost)]
        )
        axes.axvline(k, color="grey", lw=0.8, ls=":")
        axes.text(k + 0.5, 0.05, name, rotation=90, fontsize="small", color="grey")
    axes.set_xlabel("layer K, at its lowest window")
    axes.set_ylabel("layers lost to one loss event")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    shown.pictures.append(("layers lost to one loss event, by layer", figure))
    return shown


def ten_gigabit(runs: Runs) -> Shown:
    """One flow at 10 Gbit/s."""
    of = runs("ltcp-10g")
    shown = Shown()
    shown.values["utilisation"] = over(of, utilisation, unit="%")
    shown.values["loss"] = over(of, loss, unit="%", digits=5)
    return shown
