# SPDX-License-Identifier: GPL-2.0
"""The figures of the thesis behind Composite, as its two hypotheses."""

from __future__ import annotations

from statistics import mean

from matplotlib import pyplot

from longfat.pages.observe.composite import SHOWN, WINDOW
from longfat.pages.shown import (
    Runs,
    Shown,
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
)
from longfat.pages.tables.composite import (
    COUNTS,
    LITTLE,
    by_kind,
    loss_by_others,
    of_path,
    off,
    spread,
)
from longfat.run.result import Json, interval

PAPER = public("composite")


def _share(run: Json) -> float:
    return 100 * float(run["observed"]["share"])


def _buffer(run: Json) -> str:
    amount, unit = run["scenario"]["link"]["buffer"]
    return "250 packets" if unit == "p" else f"{amount:g} BDP"


def share(runs: Runs) -> Shown:
    """Hypothesis 1: a composite's share beside 16 Reno senders, N / (N + 16)."""
    shown = Shown(peer_headings=["share beside 16 Reno, %"])
    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    line = [2 ** (3 + i / 10) for i in range(31)]
    axes.plot(line, [100 * n / (n + 16) for n in line], color="grey", lw=1, label="N / (N + 16)")
    for name in ("composite-share-10m", "composite-share-100m", "composite-share-1g"):
        beside = [run for run in runs(name) if run["flows"][1]["cc"] == "reno"]
        for (link, buffer), of in group(beside, lambda run: (rate(run), _buffer(run))).items():
            by = group(of, lambda run: int(run["observed"]["streams"]))
            for n, each in by.items():
                ratio = PAPER["ratio"][str(n)]
                # Only on the thesis's network does it say anything.
                paper = 100 * ratio / (1 + ratio) if link == "10 Mbit/s" else None
                value = over(each, _share, paper=paper, unit="%", digits=1)
                shown.values[f"share, N={n}, {link}, {buffer}"] = value
                off = Value(
                    value.ours - 100 * n / (n + 16),
                    value.half,
                    value.seeds,
                    unit="points",
                    digits=1,
                )
                shown.values[f"off N/(N+16), N={n}, {link}, {buffer}"] = off
            values = [shown.values[f"share, N={n}, {link}, {buffer}"] for n in by]
            axes.errorbar(
                list(by),
                [v.ours for v in values],
                [v.half for v in values],
                ls="",
                marker="o",
                ms=4,
                label=f"{link}, {buffer}",
            )
    axes.set_xscale("log", base=2)
    axes.set_xticks(COUNTS, [str(n) for n in COUNTS])
    axes.set_ylim(0, 100)
    axes.set_xlabel("N")
    axes.set_ylabel("share beside 16 Reno, %")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="x-small")
    shown.pictures.append(("share of the link by N", figure))
    for name, of in group(runs("composite-peers"), cc).items():
        shown.peers[name] = [over(of, _share, digits=1).text]
    return shown


def smooth(runs: Runs) -> Shown:
    """Hypothesis 2: throughput swings less than a Reno's, and no more than N connections'."""
    shown = Shown(peer_headings=["variation beside 16 Reno"])
    figure, places = pyplot.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    for axes, name in zip(places, ("composite-smooth", "composite-smooth-100m"), strict=True):
        # One row's five seeds did not decide it; it has more.
        more = runs("composite-smooth-seeds") if name == "composite-smooth-100m" else []
        cases = group([*runs(name), *more], case)
        if not cases:
            continue
        counts = [int(c.split("-")[1]) for c in cases if c.startswith("composite-")]
        link = rate(next(iter(cases.values()))[0])
        for n in counts:
            ours = over(cases[f"composite-{n}"], lambda run: run["observed"]["variation"], digits=3)
            theirs = over(
                cases[f"parallel-{n}"], lambda run: run["observed"]["variation"], digits=3
            )
            shown.values[f"variation, N={n}, {link}"] = ours
            shown.values[f"N connections, N={n}, {link}"] = theirs
            shown.values[f"over a Reno's, N={n}, {link}"] = over(
                cases[f"composite-{n}"],
                lambda run: run["observed"]["variation"] / run["observed"]["variation_beside"],
            )
            shown.values[f"over N connections', N={n}, {link}"] = ratio(ours, theirs)
        for label, key in (("composite", "variation"), ("N connections", "N connections")):
            values = [shown.values[f"{key}, N={n}, {link}"] for n in counts]
            axes.errorbar(
                counts, [v.ours for v in values], [v.half for v in values], marker=".", label=label
            )
        axes.set_xscale("log", base=2)
        axes.set_xticks(counts, [str(n) for n in counts])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("N")
        axes.set_title(link, fontsize="small")
        axes.grid(alpha=0.3)
    places[0].set_ylabel("coefficient of variation, 0.5 s")
    places[0].legend(fontsize="x-small")
    shown.pictures.append(("how throughput varies, by N", figure))
    for name, of in group(runs("composite-peers"), cc).items():
        shown.peers[name] = [over(of, lambda run: run["observed"]["variation"], digits=3).text]
    return shown


def _step_less_a_sample(run: Json) -> float:
    """As far as samples can tell."""
    sample = run["scenario"]["sample"] / (run["flows"][0]["rtt_ms"]["mean"] / 1e3)
    return float(run["observed"]["step"] - sample)


def flood(runs: Runs) -> Shown:
    """What the thesis's final design did after a loss: peaks against as many connections in the
    composite's place, standstills against one connection there, and against the worst of many."""
    shown = Shown()
    found = group(runs("composite-flood"), case)

    def seen(name: str, key: str, unit: str = "") -> Value:
        return over(found[name], lambda run: float(run["observed"][key]), unit=unit)

    counts = [name.split("-")[1] for name in found if name.startswith("composite-")]
    for name in found:
        shown.values[f"{name}: peak over mean"] = seen(name, "peak")
        shown.values[f"{name}: longest step"] = seen(name, "step", "RTTs")
        shown.values[f"{name}: peak of all seeds"] = extreme(
            max, found[name], lambda run: float(run["observed"]["peak"])
        )
        shown.values[f"{name}: step of all seeds, less a sample"] = extreme(
            max, found[name], _step_less_a_sample, unit="RTTs"
        )
    for name in ("composite-32", "held-32"):
        shown.values[f"{name}: share"] = over(found[name], _share, unit="%", digits=1)
    figure, places = pyplot.subplots(
        3, len(counts), sharey="row", figsize=(2.8 * len(counts), 7), layout="constrained"
    )
    for n, column in zip(counts, places.T, strict=True):
        name, connections = f"composite-{n}", f"parallel-{n}"
        step = seen(name, "step")
        shown.values[f"{name}: peak, of N connections'"] = ratio(
            seen(name, "peak"), seen(connections, "peak")
        )
        for whose, theirs in (
            ("of a Reno's in its place", seen("reno", "step")),
            ("of the longest of 16 Renos beside it", seen(name, "step_beside")),
            ("of the longest of N connections", seen(connections, "step")),
        ):
            shown.values[f"{name}: step, {whose}"] = ratio(step, theirs)
        run = found[name][0]
        for mbps, label in zip(run["observed"]["mbps"], (name, "a Reno beside it"), strict=True):
            times = [(k + 0.5) * WINDOW for k in range(len(mbps))]
            column[0].plot(times, mbps, lw=1, label=label)
        for axes, packets in zip(column[1:], run["observed"]["sequence"], strict=True):
            for what, label in (("arrived", "acknowledged"), ("in_order", "in order")):
                times = [
                    SHOWN[0] + k * run["scenario"]["sample"] for k in range(len(packets[what]))
                ]
                axes.plot(times, packets[what], lw=1, label=label)
        column[0].set_title(f"{n} virtual streams, seed {run['seed']}", fontsize="small")
    for place, y in zip(
        places[:, 0],
        (f"in order, Mbit/s, {WINDOW:g} s", "composite's packets", "a Reno's packets"),
        strict=True,
    ):
        place.set_ylabel(y, fontsize="small")
    for place in places[-1]:
        place.set_xlabel("time, s")
    places[0, 0].legend(fontsize="x-small")
    places[1, 0].legend(fontsize="x-small")
    for place in places.flat:
        place.grid(alpha=0.3)
    for place in places[0]:
        place.set_ylim(bottom=0)
    shown.pictures.append(("throughput and sequence over time", figure))
    return shown


# --- ours


def one(runs: Runs) -> Shown:
    """One stream, and Reno on the same path."""
    shown = Shown()
    found = {
        who: [(int(run["seed"]), run["observed"]["windows"]["each_second"]) for run in of]
        for who, of in group(runs("composite-one"), case).items()
    }
    for what, which in (("mean", mean), ("largest", max), ("least", min)):
        reno = mean(float(which(windows)) for _, windows in found["reno"])
        each = {seed: float(which(windows)) for seed, windows in found["composite"]}
        middle, half = interval(list(each.values()))
        shown.values[f"{what} window"] = Value(
            middle, half, len(each), paper=reno, unit="packets", digits=1, each=each
        )
    figure, axes = pyplot.subplots(figsize=(8, 3), layout="constrained")
    for who, seeds in found.items():
        axes.plot(seeds[0][1], lw=1, label=who)
    axes.set_xlabel("measured time, s")
    axes.set_ylabel("congestion window, packets")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right", fontsize="small")
    axes.grid(alpha=0.3)
    shown.pictures.append(("windows of one stream, and of Reno", figure))
    return shown


def _beside(run: Json) -> str:
    return str(run["flows"][1]["cc"])


def beside_cubic(runs: Runs) -> Shown:
    """A composite, and N Reno connections, beside 16 Cubic senders."""
    shown = Shown()
    ours = [*runs("composite-share-10m"), *runs("composite-share-100m")]

    def kind(run: Json) -> tuple[str, str, int]:
        return rate(run), _buffer(run), int(run["observed"]["streams"])

    by = group((run for run in ours if _beside(run) == "cubic"), kind)
    for key, of in group(runs("composite-share-connections"), kind).items():
        if key not in by:
            continue
        link, buffer, n = key
        where = f"N={n}, {link}, {buffer}"
        shown.values[f"composite's share, {where}"] = over(by[key], _share, unit="%", digits=1)
        shown.values[f"N connections' share, {where}"] = over(of, _share, unit="%", digits=1)
        shown.values[f"composite's more, {where}"] = minus(
            shown.values[f"composite's share, {where}"],
            shown.values[f"N connections' share, {where}"],
            unit="points",
            digits=1,
        )
        for who, each in (("composite", by[key]), ("N connections", of)):
            shown.values[f"{who}: loss by that of the Cubic senders, {where}"] = over(
                each, loss_by_others
            )
        shown.values[f"that of N connections by the composite's, {where}"] = ratio(
            *(
                shown.values[f"{who}: loss by that of the Cubic senders, {where}"]
                for who in ("N connections", "composite")
            )
        )
        shown.values[f"time after timeouts, N connections, {where}"] = over(
            of, lambda run: 100 * float(run["observed"]["waiting"]), unit="%", digits=2
        )
    return shown


def receivers(runs: Runs) -> Shown:
    """Shares on many paths, by how the receiver acknowledges."""
    return _receivers(runs("composite-receivers"))


def noise(runs: Runs) -> Shown:
    """The same with noise, and N connections in the composite's place."""
    shown = _receivers(runs("composite-receivers-noise"))
    for name, of in group(runs("composite-receivers-connections"), case).items():
        theirs = over(of, _share, unit="%", digits=1)
        shown.values[f"share of N connections, {name}"] = theirs
        shown.values[f"over N connections', {name}"] = minus(
            shown.values[f"share, {name}"], theirs, unit="points", digits=1
        )
    return shown


def everywhere(runs: Runs) -> Shown:
    """On how many of all paths the share is near what is due, and by how much it is off; the same
    for each value of what is varied."""
    shown = Shown()
    for kind, of in by_kind(runs("composite-all")).items():
        name = " ".join(kind).strip()
        near, amounts = spread(of)
        part = 100 * near / len(of)
        shown.values[f"within four points, {name}"] = Value(part, unit="% of paths", digits=1)
        for which, amount in zip(("mean", "least", "most"), amounts, strict=True):
            shown.values[f"off, {which}, {name}"] = Value(amount, unit="points", digits=1)
    return shown


def rare(runs: Runs) -> Shown:
    """Shares where losses are rare."""
    return _receivers(runs("composite-rare"))


def _in_its_place(found: list[Json]) -> Shown:
    shown = Shown()
    more: dict[str, list[float]] = {}
    for (path, who), of in group(found, of_path).items():
        shown.values[f"{who} off N/(N+M), {path}"] = over(of, off, unit="points", digits=1)
        more.setdefault(who, []).append(mean(off(run) for run in of))
    for who, each in more.items():
        shown.values[f"{who} off N/(N+M), mean of paths"] = Value(
            mean(each), unit="points", digits=1
        )
    return shown


def gro(runs: Runs) -> Shown:
    """Shares where GRO merges acknowledgments, and N connections in its place."""
    return _in_its_place(runs("composite-gro"))


def gro_held_out(runs: Runs) -> Shown:
    """The same on paths that were drawn after the rule was chosen."""
    return _in_its_place(runs("composite-gro-held-out"))


def thin(runs: Runs) -> Shown:
    """Shares where acknowledgments are thinned, and N connections in its place."""
    return _in_its_place(runs("composite-thin"))


def _receivers(found: list[Json]) -> Shown:
    shown = Shown()
    for name, of in group(found, case).items():
        shown.values[f"share, {name}"] = over(of, _share, unit="%", digits=1)
        shown.values[f"off N/(N+M), {name}"] = over(of, off, unit="points", digits=1)
    return shown


def phase(runs: Runs) -> Shown:
    """Shares by RTT, in exact time and with noise."""
    shown = Shown()

    def kind(run: Json) -> tuple[str, str]:
        return case(run), "noise" if run["scenario"]["link"]["jitter"] else "exact"

    for (who, time), of in group(runs("composite-phase"), kind).items():
        by = group(of, lambda run: float(run["flows"][0]["base_rtt_ms"]))
        shares = {rtt: over(each, _share, unit="%", digits=1) for rtt, each in by.items()}
        for rtt, value in shares.items():
            shown.values[f"{who}, {time}: share, {rtt:g} ms"] = value
        least, *_, most = sorted(shares.values(), key=lambda value: value.ours)
        shown.values[f"{who}, {time}: most less least"] = minus(
            most, least, unit="points", digits=1
        )
    return shown


def reader(runs: Runs) -> Shown:
    """Shares by how often the receiving program reads."""
    return _beside_ten(runs("composite-reader"))


def marks(runs: Runs) -> Shown:
    """Shares by marks that are counted, and by marks that are echoed."""
    return _beside_ten(runs("composite-marks"))


def _beside_ten(found: list[Json]) -> Shown:
    shown = Shown()
    for (name, n), of in group(
        found, lambda run: (case(run), int(run["observed"]["streams"]))
    ).items():
        shown.values[f"share, {name}, N={n}"] = over(of, _share, unit="%", digits=1)
        shown.values[f"off N/(N+10), {name}, N={n}"] = over(of, off, unit="points", digits=1)
    return shown


def long_packets(runs: Runs) -> Shown:
    """Shares at 1 Gbit/s with packets of 1500 bytes."""
    shown = Shown()
    for (buffer, n), of in group(
        runs("composite-share-1g-1500"),
        lambda run: (_buffer(run), int(run["observed"]["streams"])),
    ).items():
        shown.values[f"share, N={n}, {buffer}"] = over(of, _share, unit="%", digits=1)
        shown.values[f"off N/(N+16), N={n}, {buffer}"] = over(of, off, unit="points", digits=1)
    return shown


def replaces(runs: Runs) -> Shown:
    """A composite in the place of N connections, beside 16 senders."""
    shown = Shown()
    for name in ("composite-smooth", "composite-smooth-100m"):
        cases = group(runs(name), case)
        link = rate(next(iter(cases.values()))[0])
        for n in COUNTS:
            both = [cases[f"{who}-{n}"] for who in ("composite", "parallel")]
            sent, lost = (
                [over(of, f) for of in both]
                for f in (
                    lambda run: run["flows"][0]["goodput_bps"] / 1e6,
                    lambda run: 100 * run["summary"]["loss"],
                )
            )
            shown.values[f"goodput over N connections', N={n}, {link}"] = ratio(*sent, digits=3)
            shown.values[f"loss over N connections', N={n}, {link}"] = ratio(*lost, digits=3)
    return shown


def transfer(runs: Runs) -> Shown:
    """1 GB by one connection, and by N that carry a part each."""
    shown = Shown()
    by = group(runs("composite-transfer"), lambda run: (rate(run), case(run)))
    for link, name in by:
        who, n = name.split("-")
        if who != "composite":
            continue
        both = [by[link, f"{each}-{n}"] for each in ("composite", "parallel")]
        took = [over(of, lambda run: run["observed"]["completion_s"], unit="s") for of in both]
        lost = [over(of, lambda run: 100 * run["summary"]["loss"]) for of in both]
        shown.values[f"composite's time, N={n}, {link}"] = took[0]
        shown.values[f"time over N connections', N={n}, {link}"] = ratio(*took, digits=3)
        shown.values[f"loss over N connections', N={n}, {link}"] = ratio(*lost, digits=3)
    return shown


def pacing(runs: Runs) -> Shown:
    """Shares by the parameter pacing."""
    shown = Shown()

    def kind(run: Json) -> tuple[str, int, int]:
        above = run["scenario"]["module"]["composite"]["pacing"]
        return rate(run), int(above), int(run["observed"]["streams"])

    for (link, above, n), of in group(runs("composite-pacing"), kind).items():
        shown.values[f"off N/(N+16), pacing={above}, N={n}, {link}"] = over(
            of, off, unit="points", digits=1
        )
    return shown


def little(runs: Runs) -> Shown:
    """What many streams do where little fits in, where a receiver lies, and where packets are late:
    the paths of the arena in which a composite is the worst."""
    shown = Shown()
    for file, what in LITTLE.items():
        for name, of in group(runs(file), case).items():
            shown.values[f"{what.name}, {name}"] = over(
                of, what.of, unit=what.unit, digits=what.digits
            )
    lost, again = (LITTLE[name].name for name in ("composite-few-packets", "composite-reordering"))
    shown.values["streams=8 over 8 Reno connections"] = ratio(
        shown.values[f"{lost}, streams=8"], shown.values[f"{lost}, 8 Reno connections"]
    )
    shown.values["streams=1 less Reno"] = minus(
        *(shown.values[f"{again}, {name}"] for name in ("streams=1", "Reno")), unit="points"
    )
    return shown
