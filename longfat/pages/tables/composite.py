# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/composite.md, from docs/results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from statistics import mean

from longfat.arena import metrics
from longfat.pages.data import by_case, grouped, markdown, older, plus
from longfat.pages.observe.composite import PUBLIC
from longfat.pages.tables import picture
from longfat.run.result import Json

COUNTS = (8, 16, 32, 64)
Runs = dict[tuple[str, str, int], list[Json]]


def _column(runs: list[Json], what: str, scale: float = 1.0) -> list[float]:
    return [scale * run["observed"][what] for run in runs]


def _buffer(run: Json) -> str:
    amount, unit = run["scenario"]["link"]["buffer"]
    return f"{amount:g} packets" if unit == "p" else f"{amount:g} BDP"


def shares(name: str) -> Runs:
    """(congestion control beside, buffer, N) -> runs."""
    return grouped(
        name, lambda run: (run["flows"][1]["cc"], _buffer(run), run["observed"]["streams"])
    )


def _share_table(runs: Runs, *more: list[str]) -> str:
    """A row for each sender beside it and each buffer; first what is due, then `more`."""
    due = [f"{100 * n / (n + 16):.1f}" for n in COUNTS]
    rows = [["due", "", *due], *more]
    for cc, buffer in dict.fromkeys(key[:2] for key in runs):
        cells = [runs.get((cc, buffer, n)) for n in COUNTS]
        rows.append([cc, buffer, *(plus(_column(c, "share", 100), 1) if c else "" for c in cells)])
    return markdown(["beside 16", "buffer", *(f"N = {n}" for n in COUNTS)], rows)


def share_10m() -> str:
    """Hypothesis 1 on the thesis's network."""
    ratio = [PUBLIC["ratio"][str(n)] for n in COUNTS]
    thesis = ["thesis, in words", "", *(f"about {100 * r / (1 + r):.0f}" for r in ratio)]
    return _share_table(shares("composite-share-10m"), thesis)


def share_100m() -> str:
    """... at 100 Mbit/s."""
    return _share_table(shares("composite-share-100m"))


def share_1g() -> str:
    """... at 1 Gbit/s."""
    return _share_table(shares("composite-share-1g"))


def phase() -> str:
    """Shares by RTT: a row for who sends and for the noise."""

    def kind(run: Json) -> tuple[str, str, float]:
        who = "a composite of 16" if run["scenario"]["case_name"] == "composite" else "16 Reno"
        time = "with noise" if run["scenario"]["link"]["jitter"] else "exact"
        return who, time, run["flows"][0]["base_rtt_ms"]

    runs = grouped("composite-phase", kind)
    rtts = sorted({rtt for _, _, rtt in runs})
    rows = [
        [*key, *(plus(_column(runs[(*key, rtt)], "share", 100), 1) for rtt in rtts)]
        for key in dict.fromkeys(key[:2] for key in runs)
    ]
    return markdown(["share of, %", "time", *(f"{rtt:g} ms" for rtt in rtts)], rows)


READER = {
    "often": "iperf3: reads what there is",
    "rarely": "waits for a megabyte",
    "every": "the same, every packet acknowledged",
}


def reader() -> str:
    """Shares by how often the receiving program reads: a row for each reader."""
    groups = grouped(
        "composite-reader",
        lambda run: (run["scenario"]["case_name"], run["observed"]["streams"]),
    )
    counts = sorted({n for _, n in groups})
    rows = [["due, %", *(f"{100 * n / (n + 10):.1f}" for n in counts)]]
    rows += [
        [says, *(plus(_column(groups[name, n], "share", 100), 1) for n in counts)]
        for name, says in READER.items()
    ]
    return markdown(["the receiving program", *(f"N = {n}" for n in counts)], rows)


def share_1g_1500() -> str:
    """... with packets of 1500 bytes."""
    return _share_table(shares("composite-share-1g-1500"))


def loss_by_others(run: Json) -> float:
    """The part of its packets that the first flow lost, by that of those beside it."""
    ours, theirs = run["observed"]["lost"]
    return float(ours / theirs)


def _beside_cubic(value: Callable[[Json], float], digits: int) -> str:
    """A composite and N Reno connections beside Cubic senders."""
    rows = []
    theirs = shares("composite-share-connections")
    for name, rate in (("10m", "10 Mbit/s"), ("100m", "100 Mbit/s")):
        ours = shares(f"composite-share-{name}")
        for cc, buffer in dict.fromkeys(key[:2] for key in theirs if key in ours):
            for who, runs in (("composite", ours), ("N Reno connections", theirs)):
                cells = [plus([*map(value, runs[cc, buffer, n])], digits) for n in COUNTS]
                rows.append([rate, buffer, who, *cells])
    return markdown(["", "buffer", "beside 16 Cubic", *(f"N = {n}" for n in COUNTS)], rows)


def share_connections() -> str:
    """Their shares, in percent."""
    return _beside_cubic(lambda run: 100 * float(run["observed"]["share"]), 1)


def loss_connections() -> str:
    """What they lose, by what the Cubic senders do."""
    return _beside_cubic(loss_by_others, 2)


def _rate(run: Json) -> str:
    return f"{run['scenario']['link']['rate'] / 1e6:.0f} Mbit/s"


def paced() -> dict[tuple[str, int, int], list[Json]]:
    """(link, pacing, N) -> runs."""
    return grouped(
        "composite-pacing",
        lambda run: (
            _rate(run),
            run["scenario"]["module"]["composite"]["pacing"],
            run["observed"]["streams"],
        ),
    )


def pacing() -> str:
    """Shares by the parameter pacing."""
    groups = paced()
    counts = sorted({n for _, _, n in groups})
    rows = [["due", "", *(f"{100 * n / (n + 16):.1f}" for n in counts)]]
    for rate, above in dict.fromkeys(key[:2] for key in groups):
        cells = [plus(_column(groups[rate, above, n], "share", 100), 1) for n in counts]
        rows.append([rate, str(above), *cells])
    return markdown(["", "pacing", *(f"N = {n}" for n in counts)], rows)


def receivers() -> str:
    """Shares by how the receiver acknowledges: a row for each path."""
    return _receivers("composite-receivers")


def noise() -> str:
    """The same with noise."""
    return _receivers("composite-receivers-noise")


def by_square_root(n: int, beside: int, ratio: float) -> float:
    """The share of n streams beside so many connections of the same law, of which each stream
    loses `ratio` times as much of what it sends.  A rate goes with 1 / sqrt(p): equation (3) of
    Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997."""
    odds = n / beside / sqrt(ratio)
    return odds / (1 + odds)


def _receivers(name: str) -> str:
    rows = []
    for runs in by_case(name).values():
        due, share = (mean(_column(runs, what, 100)) for what in ("due", "share"))
        shown = plus(_column(runs, "share", 100), 1)
        ratio = mean(map(loss_by_others, runs))
        law = by_square_root(runs[0]["observed"]["streams"], _beside(runs[0]), ratio)
        losses = [f"{ratio:.2f}", f"{100 * law:.1f}"]
        rows.append([_acks(runs[0]), *_path(runs[0]), shown, f"{share - due:+z.1f}", *losses])
    return markdown(
        ["acknowledged", *PATH, "share, %", "off, points", "lost, of Reno's", "by the law, %"], rows
    )


def kinds(run: Json) -> dict[str, str]:
    """What a run of composite-all varies -> its value."""
    return {"acknowledged": _acks(run)} | dict(zip(PATH[:-1], _path(run), strict=False))


def off(run: Json) -> float:
    """By how many points a share is off what is due."""
    return float(100 * (run["observed"]["share"] - run["observed"]["due"]))


def by_kind(runs: list[Json]) -> dict[tuple[str, str], list[Json]]:
    """(what is varied, its value) -> runs of composite-all; first ("all", "") -> all."""
    found = {("all", ""): runs}
    for what in kinds(runs[0]):
        for run in runs:
            found.setdefault((what, kinds(run)[what]), []).append(run)
    return found


def everywhere() -> str:
    """Shares on all paths: a row for each value of what is varied."""
    rows = []
    every = [run for runs in by_case("composite-all").values() for run in runs]
    for name, runs in by_kind(every).items():
        near, amounts = spread(runs)
        rows.append([*name, str(len(runs)), str(near), *(f"{one:+z.1f}" for one in amounts)])
    return markdown(
        ["", "", "paths", "within four points", "off, points: mean", "least", "most"], rows
    )


def spread(runs: list[Json]) -> tuple[int, list[float]]:
    """(how many shares are within four points of what is due, by how much all are off: the mean,
    the least and the most)."""
    each = [off(run) for run in runs]
    return sum(abs(one) <= 4 for one in each), [mean(each), min(each), max(each)]


def _acks(run: Json) -> str:
    host = run["scenario"]["host"]
    return "1 ms of GRO" if host["gro"] else "every one" if host["quickack"] else "every second"


PATH = ["link", "RTT, ms", "buffer, BDP", "M", "N", "due, %"]


def _beside(run: Json) -> int:
    """M, how many Reno senders are beside the composite."""
    return sum(flow["group"] > 0 for flow in run["flows"])


def _path(run: Json) -> list[str]:
    """The cells under PATH."""
    return [
        _rate(run),
        f"{run['flows'][0]['base_rtt_ms']:.0f}",
        f"{run['scenario']['link']['buffer'][0]:g}",
        str(_beside(run)),
        str(run["observed"]["streams"]),
        f"{100 * run['observed']['due']:.1f}",
    ]


def of_path(run: Json) -> tuple[str, str]:
    """Of a run of a composite or of N connections in its place: the path, and who is on it."""
    path, _, who = str(run["scenario"]["case_name"]).rpartition("-")
    return path, who


def gro() -> str:
    """Shares with GRO on the paths on which the rule was chosen."""
    return _gro("composite-gro")


def gro_held_out() -> str:
    """The same on paths that were drawn after it was chosen."""
    return _gro("composite-gro-held-out")


def _in_its_place(name: str, head: list[str], cells: Callable[[Json], list[str]]) -> str:
    """Shares of a composite and of N connections in its place: a row for each path."""
    rows = []
    found = grouped(name, of_path)
    for path in dict.fromkeys(path for path, _ in found):
        ours, theirs = (found[path, who] for who in ("composite", "connections"))
        shares = [_column(runs, "share", 100) for runs in (ours, theirs)]
        due = mean(_column(ours, "due", 100))
        cell = [*(plus(of, 1) for of in shares), *(f"{mean(of) - due:+z.1f}" for of in shares)]
        rows.append([*cells(ours[0]), *cell])
    last = ["composite, %", "N connections, %", "off, points", "N connections' off"]
    return markdown([*head, *last], rows)


def _gro(name: str) -> str:
    return _in_its_place(
        name,
        ["GRO, ms", *PATH],
        lambda run: [f"{1e3 * run['scenario']['host']['gro']:g}", *_path(run)],
    )


def _thinned(run: Json) -> str:
    """Which acknowledgments arrive."""
    link = run["scenario"]["link"]
    if link["reverse_loss"]:
        return f"{100 * (1 - link['reverse_loss']):.0f} %, at random"
    return f"one of {link['ack_thin']}" if link["ack_thin"] > 1 else "all"


def thin() -> str:
    """Shares where acknowledgments are thinned."""
    return _in_its_place(
        "composite-thin",
        ["acknowledgments that arrive", *PATH],
        lambda run: [_thinned(run), *_path(run)],
    )


def marks() -> str:
    """Shares by how the receiver tells of marks."""
    found = grouped(
        "composite-marks",
        lambda run: (run["observed"]["streams"], run["scenario"]["case_name"].split("-")[0]),
    )
    rows = []
    for n in dict.fromkeys(n for n, _ in found):
        cells = [plus(_column(found[n, told], "share", 100), 1) for told in ("counted", "echoed")]
        rows.append([str(n), f"{100 * n / (n + 10):.1f}", *cells])
    return markdown(["N", "due, %", "share, AccECN, %", "share, RFC 3168, %"], rows)


SMOOTH = {"composite-smooth": "10 Mbit/s", "composite-smooth-100m": "100 Mbit/s"}


def _pairs(name: str) -> dict[int, tuple[list[Json], list[Json]]]:
    """N -> (runs of a composite, runs of N connections)."""
    found = by_case(name)
    counts = [int(case.split("-")[1]) for case in found if case.startswith("parallel-")]
    return {n: (found[f"composite-{n}"], found[f"parallel-{n}"]) for n in counts}


def _smooth(name: str) -> str:
    rows = []
    for n, (ours, theirs) in _pairs(name).items():
        here, there = mean(_column(ours, "variation")), mean(_column(theirs, "variation"))
        beside = mean(_column(ours, "variation_beside"))
        rows.append(
            [
                str(n),
                plus(_column(ours, "variation"), 3),
                plus(_column(theirs, "variation"), 3),
                f"{here / there:.2f}",
                plus(_column(ours, "variation_beside"), 3),
                f"{here / beside:.2f}",
                f"{max(_column(ours, 'peak')):.2f}",
                plus(_column(ours, "in_order"), 3),
                plus(_column(theirs, "in_order"), 3),
            ]
        )
    headings = ["N", "composite", "N connections", "ratio", "a Reno beside it", "ratio"]
    headings += ["composite, highest over mean", "in order: composite", "N connections"]
    return markdown(headings, rows)


def smooth_10m() -> str:
    """Hypothesis 2 on the thesis's network."""
    return _smooth("composite-smooth")


def smooth_100m() -> str:
    """... at 100 Mbit/s."""
    return _smooth("composite-smooth-100m")


def seeds() -> list[tuple[str, list[float], list[float]]]:
    """(seeds, variations of a composite, of N connections), 100 Mbit/s, N = 8."""
    five = _pairs("composite-smooth-100m")[8]
    more = _pairs("composite-smooth-seeds")[8]
    both = tuple(a + b for a, b in zip(five, more, strict=True))
    found = []
    for runs in (five, more, both):
        ours, theirs = (_column(one, "variation") for one in runs)
        numbers = sorted(run["seed"] for run in runs[0])
        found.append((f"{numbers[0]} to {numbers[-1]}", ours, theirs))
    return found


def smooth_seeds() -> str:
    """... with more seeds where five do not tell."""
    rows = [
        [which, plus(ours, 3), plus(theirs, 3), f"{mean(ours) / mean(theirs):.2f}"]
        for which, ours, theirs in seeds()
    ]
    return markdown(["seeds", "composite", "N connections", "ratio"], rows)


def parallel() -> str:
    """A composite in the place of N connections, beside 16 senders."""
    rows = []
    for name, rate in SMOOTH.items():
        for n, (ours, theirs) in _pairs(name).items():
            sent = [
                mean(run["flows"][0]["goodput_bps"] / 1e6 for run in runs)
                for runs in (ours, theirs)
            ]
            lost = [mean(run["summary"]["loss"] for run in runs) for runs in (ours, theirs)]
            rows.append(
                [
                    rate,
                    str(n),
                    *(f"{value:.2f}" for value in sent),
                    f"{sent[0] / sent[1]:.3f}",
                    *(plus(_column(runs, "share", 100), 1) for runs in (ours, theirs)),
                    *(f"{100 * value:.3f}" for value in lost),
                ]
            )
    headings = ["", "N", "composite, Mbit/s", "N connections", "ratio", "composite, share %"]
    headings += ["N connections", "composite, loss %", "N connections"]
    return markdown(headings, rows)


def transfers() -> dict[tuple[str, str], list[Json]]:
    """(link, case) -> runs."""
    return grouped("composite-transfer", lambda run: (_rate(run), run["scenario"]["case_name"]))


def transfer() -> str:
    """1 GB."""
    groups = transfers()
    rows = []
    for rate, n in dict.fromkeys((rate, case.split("-")[1]) for rate, case in groups):
        pair = (groups[rate, f"composite-{n}"], groups[rate, f"parallel-{n}"])
        took = [mean(_column(runs, "completion_s")) for runs in pair]
        lost = [mean(run["summary"]["loss"] for run in runs) for runs in pair]
        rows.append(
            [
                rate,
                n,
                *(plus(_column(runs, "completion_s"), 2) for runs in pair),
                f"{took[0] / took[1]:.3f}",
                *(f"{8000 / value:.2f}" for value in took),
                *(f"{100 * value:.3f}" for value in lost),
            ]
        )
    headings = ["", "N", "composite, s", "N connections, the last", "ratio"]
    headings += ["composite, Mbit/s", "N connections", "composite, loss %", "N connections"]
    return markdown(headings, rows)


def flood() -> str:
    """Figs. 7 to 12."""
    groups = by_case("composite-flood")
    headings = {
        "peak": "highest over mean",
        "step": "longest step, RTTs",
        "step_beside": "beside it",
    }
    rows = [
        [case, *(f"{max(_column(runs, what)):.2f}" for what in headings)]
        for case, runs in groups.items()
    ]
    return markdown(["most of all seeds", *headings.values()], rows)


def apart(ours: list[int], theirs: list[int]) -> float:
    """Mean difference of two sequences of windows, over the mean of the second."""
    pairs = zip(ours, theirs, strict=True)
    return mean(abs(a - b) for a, b in pairs) / mean(theirs)


@dataclass(frozen=True)
class Number:
    """A number of a run, and its name."""

    name: str
    of: Callable[[Json], float]
    unit: str = "%"
    digits: int = 2


def _honest(run: Json) -> float:
    """What the second flow has of its half of the link, %."""
    return float(200 * run["flows"][1]["goodput_bps"] / run["summary"]["capacity_bps"])


def _needless(run: Json) -> float:
    """As criterion 7.7 of the arena has it, of the one flow."""
    return metrics.needless(metrics.Seen(run, {"flow": ([0], [])})) or 0.0


# Scenario file -> what it is about.
LITTLE = {
    "composite-few-packets": Number("lost", lambda run: 100 * run["summary"]["loss"], digits=1),
    "composite-liar": Number("what the honest one has of its half", _honest),
    "composite-reordering": Number("sent again that was not lost", _needless),
}


def little() -> str:
    """Little paths and hostile ones: a row for who sends."""
    by = {file: by_case(file) for file in LITTLE}
    names = sorted({name for cases in by.values() for name in cases}, reverse=True)
    rows = [
        [
            f"`{name}`" if "=" in name else name,
            *(
                plus([what.of(run) for run in by[file][name]], what.digits)
                if name in by[file]
                else ""
                for file, what in LITTLE.items()
            ),
        ]
        for name in names
    ]
    return markdown(["", *(f"{one.name}, {one.unit}" for one in LITTLE.values())], rows)


def one() -> str:
    """One stream, and Reno."""
    found = {
        case: [run["observed"]["windows"] for run in runs]
        for case, runs in by_case("composite-one").items()
    }
    rows = []
    for case, seeds in found.items():
        windows = [seed["each_second"] for seed in seeds]
        reno = [seed["each_second"] for seed in found["reno"]]
        pairs = zip(windows, reno, strict=True)
        rows.append(
            [
                case,
                *(plus([float(what(w)) for w in windows], 1) for what in (mean, min, max)),
                plus([100 * apart(ours, theirs) for ours, theirs in pairs], 1),
                plus([float(seed["losses"]) for seed in seeds], 1),
            ]
        )
    table = markdown(["", "mean window", "least", "most", "apart, %", "loss events"], rows)
    return f"{table}\n\n{picture('composite-one')}"


PARTS = {
    "docs/composite.md": {
        "one": one,
        "share-10m": share_10m,
        "share-100m": share_100m,
        "share-1g": share_1g,
        "share-1g-1500": share_1g_1500,
        "share-connections": share_connections,
        "loss-connections": loss_connections,
        "receivers": receivers,
        "reader": reader,
        "noise": noise,
        "everywhere": everywhere,
        "gro": gro,
        "gro-held-out": gro_held_out,
        "thin": thin,
        "phase": phase,
        "marks": marks,
        "pacing": pacing,
        "share": lambda: picture("composite-h1"),
        "smooth-10m": smooth_10m,
        "smooth-100m": smooth_100m,
        "smooth-seeds": smooth_seeds,
        "smooth": lambda: picture("composite-h2"),
        "parallel": parallel,
        "transfer": transfer,
        "flood": flood,
        "little": little,
        "older": older,
    }
}
