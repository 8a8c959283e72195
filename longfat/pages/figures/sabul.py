# SPDX-License-Identifier: GPL-2.0
"""The figures of the SABUL paper."""

from __future__ import annotations

from math import log
from statistics import mean

from matplotlib import pyplot

from longfat.pages.data import logarithmic
from longfat.pages.observe.sabul import WINDOW, equation16, step
from longfat.pages.shown import (
    Runs,
    Shown,
    Value,
    case,
    cc,
    dropped,
    extreme,
    goodput,
    group,
    loss,
    minus,
    over,
    public,
    rate,
    ratio,
    utilisation,
)
from longfat.pages.tables.sabul import friendly_of, of_kind
from longfat.run.result import Json

PAPER = public("sabul")


ONCE = "answered once: "  # begins what numbers are called of runs in which overflows are


def _answered_once(name: str, of: list[Json]) -> dict[str, Value]:
    """Throughput of a flow by the paper's law on a path that is shorter than T, beside (16); or of
    the module, and how much an answer of it takes."""
    if name.endswith(("module", "grown")):
        lacks = over(
            of,
            lambda run: 100 - utilisation(run),
            paper=round(100 - 100 * equation16(of[0]), 2),
            unit="points",
            digits=1,
        )
        taken = over(of, lambda run: run["observed"]["step"] / step(run), digits=1)
        return {f"lacks, {name}": lacks, f"an answer, of c: {name}": taken}
    by_16, low = 100 * equation16(of[0]), 1 / (1 + step(of[0]))
    return {
        f"{ONCE}throughput, {name}": over(
            of, utilisation, paper=round(by_16, 2), unit="%", digits=1
        ),
        # It grows by a factor, so it is longer near the lower end than (16) has it.
        f"{ONCE}throughput, {name}, of a mean by factors": over(
            of, utilisation, paper=round(100 * (1 - low) / log(1 / low), 2), unit="%", digits=1
        ),
        f"{ONCE}an answer, of c: {name}": over(
            of, lambda run: run["observed"]["step"] / step(run), digits=2
        ),
    }


def fig1(runs: Runs) -> Shown:
    """Interval and rate over time."""
    found = group(runs("sabul-fig1"), case)
    shown = Shown()
    for name, of in found.items():
        shown.values[f"throughput, {name}"] = over(
            of,
            utilisation,
            paper=round(100 * equation16(of[0]), 2),
            unit="%",
            digits=1,
        )
        shown.values[f"lacks, {name}"] = over(
            of,
            lambda run: 100 - utilisation(run),
            paper=round(100 - 100 * equation16(of[0]), 2),
            unit="points",
            digits=1,
        )
        if not name.endswith(("paper", "shallow")):
            shown.values[f"more than (16), {name}"] = over(
                of, lambda run: utilisation(run) - 100 * equation16(run), unit="points", digits=1
            )
    for name, of in group(runs("sabul-fig1-once"), case).items():
        shown.under |= _answered_once(name, of)
    figure, places = pyplot.subplots(2, 1, sharex=True, figsize=(7, 4.4), layout="constrained")
    for name, label in (("1gbit", "sabul"), ("1gbit-paper", "the paper's law")):
        one = found[name][0]
        us = one["observed"]["interval_us"]
        t, size = [i / 10 for i in range(len(us))], one["scenario"]["link"]["mtu"] * 8
        places[0].plot(t, us, lw=1, label=label)
        places[1].plot(t, [size / x if x else None for x in us], lw=1, label=label)
    for place, y in zip(places, ("interval, us", "rate, Mbit/s"), strict=True):
        place.set_ylabel(y)
        place.grid(alpha=0.3)
    places[1].set_xlabel("time, s")
    places[0].legend(fontsize="x-small")
    shown.pictures.append(("sending interval and rate over time, 1 Gbit/s", figure))
    return shown


def _rtt(run: Json) -> float:
    return float(run["flows"][0]["base_rtt_ms"])


def fig2(runs: Runs) -> Shown:
    """Utilisation by RTT."""
    shown = Shown()
    figure, places = pyplot.subplots(1, 2, sharey=True, figsize=(8, 3.2), layout="constrained")
    for axes, name in zip(places, ("sabul-fig2-oc12", "sabul-fig2-1g"), strict=True):
        found = group(runs(name), case)
        if not found:
            continue
        link = rate(found["sabul"][0])
        for who, of in found.items():
            by = {
                rtt: over(each, utilisation, unit="%", digits=1)
                for rtt, each in group(of, _rtt).items()
            }
            called = {"paper": "paper's law"}.get(who, who)
            shown.values |= {f"{called}, {link}, {rtt:g} ms": value for rtt, value in by.items()}
            if who == "sabul":
                ends = sorted(by.values(), key=lambda value: value.ours)
                shown.values[f"spread over RTTs, {link}"] = minus(
                    ends[-1], ends[0], unit="points", digits=1
                )
            axes.errorbar(
                list(by),
                [v.ours for v in by.values()],
                [v.half for v in by.values()],
                marker=".",
                label=called,
            )
        logarithmic(axes)
        axes.set_xlabel(f"RTT, ms; {link}")
        axes.grid(alpha=0.3)
    for rtt, of in group(runs("sabul-fig2-once"), _rtt).items():
        shown.under[f"{ONCE}paper's law, {rtt:g} ms"] = over(of, utilisation, unit="%", digits=1)
        shown.under[f"{ONCE}paper's law, {rtt:g} ms, lost"] = over(of, loss, unit="%", digits=1)
    small = {_rtt(run): run for run in runs("sabul-fig2-default")}
    for rtt, run in small.items():
        shown.values[f"reno, 64 KB, {rtt:g} ms"] = Value(utilisation(run), unit="%", digits=2)
    if 110 in small:
        shown.values["reno, 64 KB, throughput, 110 ms"] = Value(
            goodput(small[110]), paper=PAPER["fig2_default"], unit="Mbit/s"
        )
    places[0].plot(
        list(small), [utilisation(run) for run in small.values()], marker=".", label="reno, 64 KB"
    )
    places[0].set_ylim(0, 105)
    places[0].set_ylabel("utilisation, %")
    places[0].legend(fontsize="x-small")
    shown.pictures.append(("utilisation by RTT", figure))
    beside = [run for run in runs("sabul-fig2-1g") if case(run) == "reno"] + runs(
        "sabul-fig2-peers"
    )
    rtts = sorted({_rtt(run) for run in runs("sabul-fig2-1g")})
    shown.peer_headings = [f"1 Gbit/s, {rtt:g} ms, %" for rtt in rtts]
    for name, of in group(beside, cc).items():
        at = group(of, _rtt)
        shown.peers[name] = [
            over(at[r], utilisation, digits=1).text if r in at else "missing" for r in rtts
        ]
    return shown


def _worst(of: list[Json]) -> dict[str, Value]:
    """Of two flows, in whichever run it is worst."""
    never = 1e9  # seconds: they did not come together
    return {
        "Jain of all runs, least": extreme(min, of, lambda run: run["summary"]["jain"], digits=3),
        "loss of all runs, most": extreme(max, of, loss, unit="%"),
        "total of all runs, least": extreme(min, of, utilisation, unit="%", digits=1),
        "together after, most": extreme(
            max, of, lambda run: float(run["observed"]["convergence_s"] or never), unit="s"
        ),
    }


def _together(item: tuple[str, object]) -> bool:
    """Sorts those that start together first."""
    return not item[0].endswith("-together")


def fig3(runs: Runs) -> Shown:
    """Two flows."""
    found = group(runs("sabul-fig3"), case)
    shown = Shown()
    for name, of in found.items():
        shown.values[f"Jain, {name}"] = over(of, lambda run: run["summary"]["jain"], digits=3)
        shown.values[f"total, {name}"] = over(of, utilisation, unit="%", digits=1)
    shown.values |= _worst(runs("sabul-fig3"))
    for name, of in group(runs("sabul-fig3-paper"), case).items():
        values = {
            "Jain": over(of, lambda run: run["summary"]["jain"], digits=3),
            "total": over(of, utilisation, unit="%", digits=1),
            "loss": over(of, loss, unit="%"),
        }
        shown.under |= {f"paper's law: {what}, {name}": value for what, value in values.items()}
    figure, places = pyplot.subplots(2, 4, sharey=True, figsize=(10, 5), layout="constrained")
    figure.delaxes(places[0, -1])  # seven: together, or one after the other
    for place, (name, of) in zip(figure.axes, sorted(found.items(), key=_together), strict=False):
        for n, (flow, mbps) in enumerate(
            zip(of[0]["flows"], of[0]["observed"]["mbps"], strict=True), 1
        ):
            place.plot(
                [(i + 0.5) * WINDOW for i in range(len(mbps))],
                mbps,
                lw=1,
                label=f"flow {n}, {flow['base_rtt_ms']:g} ms",
            )
        place.set_title(name, fontsize="small")
        place.grid(alpha=0.3)
        place.legend(fontsize="x-small")
    places[0, 0].set_ylim(bottom=0)
    for place in places[-1]:
        place.set_xlabel("time, s")
    for place in places[:, 0]:
        place.set_ylabel("throughput, Mbit/s")
    shown.pictures.append(("throughput of two flows over time", figure))

    def path(run: Json) -> str:
        return " and ".join(f"{flow['base_rtt_ms']:g}" for flow in run["flows"]) + " ms"

    paths = ("10 and 100 ms", "100 and 100 ms")
    shown.peer_headings = [f"Jain, {p}, 10 s apart" for p in paths]
    for name, of in group(runs("sabul-fig3-peers"), cc).items():
        by = group(of, path)
        shown.peers[name] = [
            over(by[p], lambda run: run["summary"]["jain"], digits=3).text if p in by else "missing"
            for p in paths
        ]
    return shown


def _a_flow(of: list[Json], sabul: bool, paper: list[float] | None) -> Value:
    """What a flow of SABUL, or one of the others, gets on average."""
    return over(
        of,
        lambda run: mean(of_kind(run, sabul)),
        paper=mean(paper) if paper else None,
        unit="Mbit/s a flow",
        digits=0,
    )


def _together_on_long(runs: list[Json]) -> Value:
    """What SABUL's flows have together, beside that on the paper's long path."""
    return over(
        runs,
        lambda run: sum(of_kind(run, True)),
        paper=PAPER["fig4"]["long"]["sabul"],
        unit="Mbit/s",
        digits=0,
    )


def _beside(
    name: str, mixed: list[Json], four: list[Json], paper: dict[str, list[float]], digits: int = 2
) -> dict[str, Value]:
    """What SABUL's flows and one of TCP beside them get, and one of four of TCP."""
    b1 = _a_flow(mixed, False, paper.get("beside"))
    b2 = _a_flow(four, False, paper.get("four"))
    printed = (b1.paper or 0) / b2.paper if b2.paper else None
    return {
        f"{name}: SABUL": _a_flow(mixed, True, paper.get("sabul")),
        f"{name}: TCP beside it, B1": b1,
        f"{name}: four TCP, B2": b2,
        f"{name}: B1 / B2": ratio(b1, b2, digits=digits, paper=printed),
    }


def fig4(runs: Runs) -> Shown:
    """B1 >= B2?"""
    shown = Shown()
    short = PAPER["fig4"]["short"]
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    labels = []
    for i, (name, mixed, four) in enumerate(friendly_of(group(runs("sabul-fig4"), case))):
        values = _beside(name, mixed, four, short if name == "short-reno" else {})
        shown.values |= values
        if name == "default-reno":
            shown.values[f"{name}: SABUL together"] = _together_on_long(mixed)
        _, b1, b2, _ = values.values()
        for offset, value, colour in ((-0.2, b1, "C0"), (0.2, b2, "C1")):
            axes.bar(i + offset, value.ours, 0.4, yerr=value.half, color=colour)
        labels.append(name)
    for path, mixed, four in friendly_of(group(runs("sabul-fig4-hosts"), case)):
        name = f"the hosts limit: {path}"
        shown.under |= _beside(name, mixed, four, short if path == "short" else {}, digits=3)
        if path == "long":
            shown.under[f"{name}: SABUL together"] = _together_on_long(mixed)
    axes.set_xticks(range(len(labels)), labels, fontsize="x-small")
    axes.set_ylabel("TCP, Mbit/s a flow")
    axes.set_title("beside SABUL (left), and four of TCP (right)", fontsize="small")
    axes.grid(alpha=0.3, axis="y")
    shown.pictures.append(("TCP's throughput beside SABUL, and beside TCP", figure))
    return shown


# --- ours


def late(runs: Runs) -> Shown:
    """A flow that comes to the full queue, at several times."""
    shown = Shown()
    by = group(runs("sabul-offsets"), lambda run: float(run["scenario"]["flow"][1]["start"]))
    for start, of in by.items():
        shown.values[f"Jain, {start:g} s later"] = over(
            of, lambda run: run["summary"]["jain"], digits=3
        )
    shown.values |= _worst(runs("sabul-offsets"))
    return shown


def _queued(run: Json) -> float:
    """Mean, ms."""
    return float(run["summary"]["queue_delay_ms"]["mean"])


def queue(runs: Runs) -> Shown:
    """Queue and loss beside Cubic and BBR."""
    shown = Shown()

    def path(run: Json) -> str:
        return f"{_rtt(run):g} ms, {run['scenario']['link']['buffer'][0]:g} BDP"

    for where, of in group(runs("sabul-queue"), path).items():
        by = group(of, cc)
        lost = {who: over(each, loss, unit="%", digits=4) for who, each in by.items()}
        delay = {who: over(each, _queued, unit="ms", digits=1) for who, each in by.items()}
        shown.values |= {f"{where}: loss, {who}": value for who, value in lost.items()}
        shown.values |= {f"{where}: queue, {who}": value for who, value in delay.items()}
        if lost["cubic"].ours:
            shown.values[f"{where}: loss over Cubic's"] = ratio(
                lost["sabul"], lost["cubic"], digits=0
            )
        shown.values[f"{where}: queue over Cubic's"] = ratio(delay["sabul"], delay["cubic"])
    return shown


def tso(runs: Runs) -> Shown:
    """Short paths with what TCP sends at once there by default."""
    shown = Shown()
    for (rtt, who), of in group(runs("sabul-fig2-tso"), lambda run: (_rtt(run), cc(run))).items():
        shown.values[f"{who}, {rtt:g} ms"] = over(of, utilisation, unit="%", digits=1)
    return shown


def slow(runs: Runs) -> Shown:
    """Two flows on slow links."""
    shown = Shown()
    for (link, who), of in group(runs("sabul-slow"), lambda run: (rate(run), case(run))).items():
        shown.values[f"{link}, {who}: Jain"] = over(
            of, lambda run: run["summary"]["jain"], digits=3
        )
        shown.values[f"{link}, {who}: loss"] = over(of, loss, unit="%")
        shown.values[f"{link}, {who}: total"] = over(of, utilisation, unit="%", digits=1)
    return shown


def deep(runs: Runs) -> Shown:
    """One flow where an overflow is known late."""
    shown = Shown()

    def cell(run: Json) -> str:
        link = run["scenario"]["link"]
        return f"{rate(run)}, {_rtt(run):g} ms, {link['buffer'][0]:g} BDP, {case(run)}"

    for where, of in group(runs("sabul-deep"), cell).items():
        shown.values[f"{where}: loss"] = over(of, loss, unit="%", digits=1)
        shown.values[f"{where}: utilisation"] = over(of, utilisation, unit="%", digits=1)
    return shown


def start(runs: Runs) -> Shown:
    """Packets lost until the first slow start was over, and goodput, by how it ends."""
    shown = Shown()

    def path(run: Json) -> str:
        return f"{rate(run)} x {_rtt(run):g} ms, {run['scenario']['link']['buffer'][0]:.2g} BDP"

    for where, of in group(runs("sabul-start"), path).items():
        by = {str(run["scenario"]["module"]["sabul"]["slow_start"]): run for run in of}
        for way, run in by.items():
            for when, lost in (("slow start", run["observed"]["until"]), ("20 s", dropped(run))):
                shown.values[f"{way}, lost in {when}: {where}"] = Value(
                    float(lost), unit="packets", digits=0
                )
        train, classic = by["train"], by["classic"]
        shown.values[f"goodput, train over classic: {where}"] = Value(
            goodput(train) / goodput(classic), digits=3
        )
        shown.values[f"lost in slow start, train over classic: {where}"] = Value(
            train["observed"]["until"] / max(classic["observed"]["until"], 1), digits=3
        )
    return shown
