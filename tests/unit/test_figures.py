# SPDX-License-Identifier: GPL-2.0
"""What the pages say of a run, from runs whose answer is known, and how it gets there."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conftest import Toml

from longfat.build import hstcp, modules
from longfat.core.errors import LabError
from longfat.pages import data as figures
from longfat.pages import tables
from longfat.pages.observe import composite, cwhstcp, evaluation, ghstcp, sabul
from longfat.pages.tables import composite as composite_tables
from longfat.pages.tables import ghstcp as ghstcp_tables
from longfat.pages.tables import sabul as sabul_tables
from longfat.run import identity, result, scenario
from longfat.run.identity import Made, Platform

Json = dict[str, Any]

OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)  # tcpi_ca_state
HSTCP, RENO = ghstcp.HSTCP, ghstcp.RENO


def run(
    cwnd: list[int],
    *,
    ssthresh: list[int | None] | None = None,
    state: list[int] | None = None,
    rtt_us: list[int] | None = None,
    dropped: list[int] | None = None,
    events: list[Json] | None = None,
    warmup: float = 0.0,
    name: str = "small",
) -> Json:
    """A result as result.make() has it, a sample each 0.1 s: 12 Mbit/s x 100 ms, a BDP of
    100 packets, a buffer of half of it."""
    n = len(cwnd)
    t = [round(i / 10, 6) for i in range(n)]
    connection = {
        "t": t,
        "cwnd": cwnd,
        "ssthresh": ssthresh or [2] * n,
        "state": state or [OPEN] * n,
        "rtt_us": rtt_us or [100_000] * n,
        "retransmissions": [0] * n,
        "events": events or [],
    }
    return {
        "longfat": result.FORMAT,
        "scenario": {
            "name": name,
            "duration": n / 10,
            "warmup": warmup,
            "trace": bool(events),
            "sample": 0.1,
            "link": {"rate": 12_000_000, "mtu": 1500, "buffer": [0.5, "bdp"], "at": []},
        },
        "flows": [{"cc": "ghstcp", "base_rtt_ms": 100.0, "connections": [connection]}],
        "queue": {"t": t, "packets": [0] * n, "dropped": dropped or [0] * n},
    }


def event(t: float, reason: str, mode: int) -> Json:
    return {"t": t, "name": "ghstcp", "reason": reason, "mode": mode}


# --- the modes of gHSTCP


def test_mode_shares() -> None:
    """Of the time below the BDP and above BDP + 20 % of the buffer, 110 packets; what is
    between them counts for neither, nor do both borders."""
    windows = [90] * 40 + [100] * 10 + [110] * 10 + [111] * 40
    events = [
        event(0.0, "init", HSTCP),
        event(2.45, "reno", RENO),  # five samples below, 2.5 to 2.9
        event(2.95, "hstcp", HSTCP),
        event(6.75, "reno", RENO),  # after eight samples above, 6.0 to 6.7
    ]
    found = ghstcp.modes(run(windows, events=events, warmup=2.0))
    assert (found.below_s, found.above_s) == (2.0, 4.0)
    assert found.hstcp_below == pytest.approx(15 / 20)
    assert found.reno_above == pytest.approx(32 / 40)


@pytest.mark.parametrize("buffer", [[0.5, "bdp"], [75_000, "b"], [50, "p"]])
def test_a_buffer_has_three_units(buffer: list[object]) -> None:
    one = run([109] * 10 + [110] * 10 + [111] * 10)
    one["scenario"]["link"]["buffer"] = buffer
    assert ghstcp.modes(one).above_s == 1.0


def test_mode_shares_are_of_congestion_avoidance() -> None:
    """Not of slow start, whether ssthresh is set or not, nor of CWR, Recovery and Loss."""
    states = [OPEN, DISORDER, CWR, RECOVERY, LOSS, OPEN, OPEN, OPEN]
    thresholds = [2, 2, 2, 2, 2, None, 91, 90]
    found = ghstcp.modes(
        run(
            [90] * 80,
            ssthresh=[value for value in thresholds for _ in range(10)],
            state=[value for value in states for _ in range(10)],
        )
    )
    # Open, Disorder, and the window at ssthresh.
    assert found.below_s == 3.0
    assert found.hstcp_below == 1.0
    assert (found.above_s, found.reno_above) == (0.0, None)


def test_mode_shares_of_no_time() -> None:
    found = ghstcp.modes(run([105] * 20))
    assert (found.hstcp_below, found.reno_above) == (None, None)


@pytest.mark.parametrize(
    ("losses", "epochs"),
    [
        ([], 1),
        ([3.0], 2),
        ([3.0, 5.0], 3),
        ([3.0, 3.05, 5.0], 3),  # within a round trip
        ([3.0, 3.15, 5.0], 4),
        ([0.5, 1.0], 1),  # before the warm-up ends
        ([1.95, 2.02], 1),  # a loss event that began before
    ],
)
def test_loss_epochs(losses: list[float], epochs: int) -> None:
    """Decreases within one round trip are one loss event; the first epoch begins with the
    end of the warm-up."""
    events = [event(t, "decrease", HSTCP) for t in losses]
    assert ghstcp.modes(run([105] * 100, events=events, warmup=2.0)).epochs == epochs


def test_only_a_decrease_is_a_loss() -> None:
    events = [event(3.0, "undo", RENO), event(4.0, "hstcp", HSTCP), event(5.0, "reno", RENO)]
    assert ghstcp.modes(run([105] * 100, events=events, warmup=2.0)).epochs == 1


def test_switches_per_epoch() -> None:
    """Three epochs from 2, 3 and 5 s with 0, 1 and 4 switches: what a loss does to the mode
    belongs to the epoch that it begins."""
    events = [
        event(0.0, "init", HSTCP),
        event(1.0, "reno", RENO),  # of the warm-up
        event(1.5, "hstcp", HSTCP),
        event(3.0, "decrease", HSTCP),  # changes nothing
        event(4.0, "reno", RENO),
        event(5.0, "decrease", HSTCP),  # changes back
        event(6.0, "reno", RENO),
        event(7.0, "hstcp", HSTCP),
        event(8.0, "reno", RENO),
    ]
    found = ghstcp.modes(run([105] * 100, events=events, warmup=2.0))
    assert found.epochs == 3
    assert found.switches_mean == pytest.approx(5 / 3)
    assert found.switches_max == 4


# --- filling the link


def climb(first: int, last: int, samples: int) -> list[int]:
    """Windows from `first` to `last`, `samples` for each."""
    return [window for window in range(first, last + 1) for _ in range(samples)]


def test_fill_seconds() -> None:
    """At 92 packets after 1.2 s, at 100 after 2 s; what comes then does not matter."""
    assert ghstcp.fill_seconds(run([*climb(80, 120, 1), *climb(92, 120, 3)])) == 0.8


def test_filling_goes_on_in_disorder() -> None:
    windows = climb(80, 120, 1)
    assert ghstcp.fill_seconds(run(windows, state=[DISORDER] * len(windows))) == 0.8


@pytest.mark.parametrize(
    ("state", "ssthresh"),
    [(CWR, 2), (RECOVERY, 2), (LOSS, 2), (OPEN, 104), (OPEN, None)],
    ids=["CWR", "Recovery", "Loss", "slow start", "slow start without ssthresh"],
)
def test_filling_is_in_congestion_avoidance(state: int, ssthresh: int | None) -> None:
    """A window that got over the BDP otherwise, and stays there for a while, is no climb; the
    climb after it is, two samples for each packet."""
    other, stays, slow = climb(80, 103, 1), [104] * 10, climb(80, 120, 2)
    rest = len(stays) + len(slow)
    one = run(
        [*other, *stays, *slow],
        state=[state] * len(other) + [OPEN] * rest,
        ssthresh=[ssthresh] * len(other) + [2] * rest,
    )
    assert ghstcp.fill_seconds(one) == 1.6


@pytest.mark.parametrize("before", [60, 91])
def test_a_jump_fills_nothing(before: int) -> None:
    assert ghstcp.fill_seconds(run([before] * 5 + [110] * 5 + climb(80, 120, 1))) == 0.8


def test_a_loss_on_the_way_starts_anew() -> None:
    """From the second climb's 92 packets on, not from the first's; in Recovery the window may
    already be where it will be."""
    first, loss, second = climb(80, 97, 1), [76] * 5, climb(76, 120, 1)
    state = [OPEN] * len(first) + [RECOVERY] * len(loss) + [OPEN] * len(second)
    assert ghstcp.fill_seconds(run([*first, *loss, *second], state=state)) == 0.8
    assert ghstcp.fill_seconds(run([*first, *second])) == 0.8


def test_a_link_that_was_never_filled() -> None:
    message = r"^slow: no climb from 0\.92 BDP to the BDP$"
    with pytest.raises(LabError, match=message):
        ghstcp.fill_seconds(run(climb(50, 99, 1), name="slow"))
    with pytest.raises(LabError, match=message):
        ghstcp.fill_seconds(run([120] * 50, name="slow"))


# --- losses at the end of the buffer


def overflows(drops: dict[float, int]) -> tuple[int, float]:
    """Of ten seconds, the first of them warm-up, with so many packets dropped until then."""
    total = [sum(n for at, n in drops.items() if at <= i / 10) for i in range(100)]
    return figures.losses_per_overflow(run([100] * 100, dropped=total, warmup=1.0))


@pytest.mark.parametrize(
    ("drops", "times", "mean"),
    [
        ({}, 0, 0),
        ({2.0: 3}, 1, 3),
        ({2.0: 3, 2.2: 2}, 1, 5),  # two round trips apart
        ({2.0: 3, 2.2: 2, 2.4: 1}, 1, 6),  # of the last drop, not of the first
        ({2.0: 3, 2.5: 2}, 2, 2.5),
        ({2.0: 3, 2.2: 2, 5.0: 9}, 2, 7),
        ({0.5: 7}, 0, 0),
        ({0.5: 7, 5.0: 9}, 1, 9),
    ],
)
def test_losses_per_overflow(drops: dict[float, int], times: int, mean: float) -> None:
    assert overflows(drops) == (times, mean)


def test_drops_out_of_an_empty_queue() -> None:
    """Where both samples have nothing in the queue."""
    one = run([100] * 6, dropped=[0, 3, 4, 4, 6, 7], warmup=0.2)
    one["scenario"]["link"]["aqm"] = "red"
    one["queue"]["packets"] = [0, 9, 0, 0, 0, 0]
    assert evaluation.observe(one) == {"empty": 3}


def test_what_is_carried() -> None:
    """In each tenth of a second from the warm-up on."""
    one = run([100] * 6, dropped=[0, 3, 4, 4, 6, 7], warmup=0.2)
    one["scenario"]["link"]["aqm"] = "fifo"
    one["summary"] = {"capacity_bps": 12_000_000}
    one["flows"][0]["connections"][0]["received"] = [0, 0, 150_000, 300_000, 375_000, 480_000]
    found = evaluation.observe(one)
    assert found == {"carried": {"least": 0.5, "most": 1.0}, "overflows": 1}


def test_after_an_outage() -> None:
    """It ends at 0.5 s.  The rate is there after 0.4 s; nothing arrives from 1.1 to 1.5 s."""
    one = run([100] * 10 + [7] * 6)
    times = {"down": True, "time": 0.2}, {"down": False, "time": 0.5}
    one["scenario"]["link"]["at"] = [*times]
    one["summary"] = {"capacity_bps": 12_000_000}
    gains = [0, 100, 100, 0, 0, 0, 0, 0, 30, 40, 100, 100, 0, 0, 0, 100]
    counts = [sum(gains[: i + 1]) for i in range(len(gains))]
    one["flows"][0]["connections"][0] |= {
        "received": [1500 * count for count in counts],
        "delivered": counts,
    }
    assert evaluation.observe(one) == {"back": 0.4, "still": 0.4, "window": 7}
    # Never so fast: until the run ends.
    one["summary"] = {"capacity_bps": 24_000_000}
    assert evaluation.observe(one)["back"] == 1.0


def test_decreases_are_of_the_measured_time() -> None:
    """And two of a congestion are one soon after another."""
    reasons = [(0.5, "decrease"), (1.0, "decrease"), (1.5, "timeout"), (2.0, "decrease")]
    events = [{"t": t, "reason": why} for t, why in [*reasons, (2.4, "decrease")]]
    one = run([100] * 30, warmup=1.0, events=events)
    assert cwhstcp.decreases(one, one["flows"][0]) == (3, 1)


# --- growth


def grown(begin: int, samples: int, *, factor: float = 1.0) -> list[int]:
    """Windows that grow by `factor` a(W) in each round trip of 0.1 s, a sample."""
    windows, w = [], float(begin)
    for _ in range(samples):
        windows.append(int(w))
        w += factor * hstcp.a(w)
    return windows


def test_growth_of_the_rfc() -> None:
    """RFC 3649's table has a(1058) = 8: a packet a sample, of which eight are an RTT."""
    windows = climb(1058, 1088, 1)
    assert ghstcp.growth(run(windows, rtt_us=[800_000] * len(windows))) == pytest.approx(
        1, abs=0.02
    )


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_growth_is_a_multiple_of_the_formula(factor: float) -> None:
    one = run(grown(1000, 200, factor=factor), warmup=2.0)
    assert ghstcp.growth(one) == pytest.approx(factor, rel=2e-3)


def test_growth_counts_round_trips() -> None:
    """The same windows in twice the time of a round trip grow twice as fast."""
    one = run(grown(1000, 200), rtt_us=[200_000] * 200)
    assert ghstcp.growth(one) == pytest.approx(2, rel=2e-3)


@pytest.mark.parametrize("rounds", [10, 0], ids=["seen", "between two samples"])
def test_growth_is_of_the_time_between_losses(rounds: int) -> None:
    """Not of the fall, nor of the window's way through Recovery and the 0.75 s after it, nor
    of the warm-up."""
    windows = [50 * i for i in range(1, 20)]
    state = [OPEN] * 19
    for _ in range(3):
        windows += [*grown(1000, 100), *range(500, 500 + 50 * rounds, 50), *[1000] * 7]
        state += [OPEN] * 100 + [RECOVERY] * rounds + [OPEN] * 7
    one = run(windows, state=state, warmup=2.0)
    assert ghstcp.growth(one) == pytest.approx(1, rel=2e-3)


# --- fairness


@pytest.mark.parametrize(
    ("rate", "size", "goodput", "index"),
    [
        (100, 64, [76, 12, 12], 1),
        (100, 64, [7.6, 1.2, 1.2], 1),
        (100, 64, [38, 12, 12], 6.25 / 6.75),  # 0.5, 1 and 1 of what is fair
        (100, 512, [33, 33, 33], 1),
        (100, 512, [99, 0, 0], 1 / 3),
        (200, 512, [100, 50, 50], 1),
        (200, 64, [176, 0, 0], 1 / 3),
        (200, 64, [0, 0, 0], 0),
    ],
)
def test_fairness(rate: int, size: int, goodput: list[float], index: float) -> None:
    """Of shares of the published fair throughput, tests/published/ghstcp-table1.toml."""
    link, flows = {"rate": rate * 10**6}, [{}, {"socket_buffer": size * 1024}]
    one = {
        "scenario": {"link": link, "flow": flows},
        "flows": [{"goodput_bps": round(value * 1e6)} for value in goodput],
    }
    assert ghstcp.fairness(one) == pytest.approx(index)


# --- what is kept of a run

GROWTH = round(32 / sum(hstcp.a(w) for w in range(88, 120)), 4)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ghstcp-1g-trend", {"overflows": 1, "lost": 4.0}),
        ("ghstcp-fill-1g", {"overflows": 1, "lost": 4.0, "fill_s": 0.8}),
        # One packet a round trip, from 88 packets on, and the formula has 1.6 to 2.0.
        ("ghstcp-gro-0s", {"overflows": 1, "lost": 4.0, "growth": GROWTH}),
    ],
)
def test_observed(name: str, found: Json) -> None:
    """The name of its scenario file says what a run is for."""
    one = run(climb(80, 120, 1), dropped=[0] * 30 + [4] * 11, name=name)
    assert ghstcp.observe(one) == found


def test_observed_over_time() -> None:
    """What the pictures of Figs. 4 to 6 need: at most some hundred points."""
    n = 5 * figures.POINTS
    events = [event(0.0, "init", HSTCP), event(1.234, "reno", RENO), {"t": 2.0, "reason": "x"}]
    found = ghstcp.observe(run([90] * n, events=events, name="ghstcp-fig6-trend"))
    assert found["modes_at"] == [[0.0, HSTCP], [1.23, RENO]]
    assert found["cwnd"]["cwnd"] == [90] * figures.POINTS
    assert found["rtt"]["t"][:3] == [0.0, 0.5, 1.0]


def test_rates() -> None:
    """Of flows that start late, and of all connections of one."""
    late = {"t": [1.0, 1.5, 2.0], "received": [0, 125_000, 250_000]}
    one = {
        "scenario": {"sample": 0.5},
        "flows": [
            {"connections": [{"t": [0, 0.5, 1.0, 1.5, 2.0], "received": [0, 1e5, 25e4, 3e5, 5e5]}]},
            {"connections": [late, late]},
        ],
    }
    assert figures.rates(one, 1.0) == [[2.0, 2.0], [0.0, 4.0]]


def test_observed_of_modes() -> None:
    """Where events tell them, and as JSON."""
    one = run([90] * 50, events=[event(0.0, "init", HSTCP), event(1.0, "decrease", HSTCP)])
    found = json.loads(json.dumps(ghstcp.observe(one)))
    assert found["modes"] == {
        "hstcp_below": 1.0,
        "reno_above": None,
        "below_s": 5.0,
        "above_s": 0.0,
        "epochs": 2,
        "switches_mean": 0.0,
        "switches_max": 0,
    }


def test_observed_of_several_flows() -> None:
    """Fairness; whose the drops were is not known."""
    one = run([105] * 10)
    one["scenario"]["link"]["rate"] = 100_000_000
    one["scenario"]["flow"] = [{}, {"socket_buffer": 512 * 1024}]
    one["flows"] = [one["flows"][0] | {"goodput_bps": bps} for bps in (33_000_000, 0, 0)]
    assert ghstcp.observe(one) == {"fairness": 0.333333}


# --- tables and intervals


@pytest.mark.parametrize(
    ("values", "mean", "half"),
    [
        ([7.0], 7, 0),
        ([5.0, 5.0, 5.0], 5, 0),
        ([0.0, 2.0], 1, 12.706),  # sqrt(2 / 2)
        ([1.0, 2.0, 3.0], 2, 2.484),  # 4.303 sqrt(1 / 3)
        ([1.0, 2.0, 3.0, 4.0, 5.0], 3, 1.963),  # 2.776 sqrt(2.5 / 5)
        ([float(i) for i in range(10)], 4.5, 2.166),  # 2.262 sqrt(9.1667 / 10)
    ],
)
def test_interval(values: list[float], mean: float, half: float) -> None:
    assert result.interval(values) == pytest.approx((mean, half), abs=5e-4)


@pytest.mark.parametrize("seeds", [2, 3, 5, 20, 21, 22, 300])
def test_an_interval_holds_95_percent_of_students_t(seeds: int) -> None:
    """However many seeds: 2.5 % of the distribution are above it."""
    values = [float(i) for i in range(seeds)]
    mean = sum(values) / seeds
    error = math.sqrt(sum((v - mean) ** 2 for v in values) / (seeds - 1) / seeds)
    degrees, t = seeds - 1, result.interval(values)[1] / error
    # Over the angle atan(x / sqrt(degrees)) the density is a power of the cosine.
    top, steps = math.atan(t / math.sqrt(degrees)), 10_000
    angles = [(i + 0.5) * top / steps for i in range(steps)]
    below = sum(math.cos(angle) ** (degrees - 1) for angle in angles) * top / steps
    scale = math.gamma((degrees + 1) / 2) / math.sqrt(math.pi) / math.gamma(degrees / 2)
    assert below * scale == pytest.approx(0.475, abs=1e-6)


def test_markdown() -> None:
    """As GitHub and the others read it; a heading of two lines is one."""
    assert figures.markdown(["run", "goodput\nMbit/s"], [["a", "1"], ["b", "2"]]) == (
        "| run | goodput Mbit/s |\n| --- | ---: |\n| a | 1 |\n| b | 2 |"
    )


# --- the pages


def here() -> Platform:
    """A machine that compiles each source to its own digest."""
    of = Platform.of_sources()
    made = {name: Made(one.source, (one.source,)) for name, one in of.modules.items()}
    return Platform(Made(of.programs.source, (of.programs.source,)), made, ("6.12 abc",))


@pytest.fixture
def docs(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The docs/results of a tree, where all commands write."""
    path = tree / "docs/results"
    path.mkdir(parents=True)
    monkeypatch.setattr(tables, "ROOT", tree)
    monkeypatch.setattr(figures, "ROOT", tree)
    monkeypatch.setattr(figures, "RESULTS", path)
    monkeypatch.setattr(identity, "PUBLISHED", path / "platform.json")
    return path


PAGE = """\
before
<!-- begin one -->
old
and older
<!-- end one -->
between
<!-- begin two -->
<!-- end two -->
after
"""


@pytest.fixture
def page(docs: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only page, of which the parts one and two are made."""
    parts = {"one": lambda: r"new \1 \g<2>", "two": lambda: "| a |\n| b |"}
    monkeypatch.setattr(tables, "PAGES", ["ghstcp"])
    monkeypatch.setattr(ghstcp_tables, "PARTS", {"docs/page.md": parts})
    path = tree / "docs/page.md"
    path.write_text(PAGE)
    return path


def test_pages(page: Path) -> None:
    """Each part is replaced as it is, and nothing else; again changes nothing."""
    want = PAGE.replace("old\nand older", r"new \1 \g<2>")
    want = want.replace("two -->\n<!--", "two -->\n| a |\n| b |\n<!--")
    for _ in range(2):
        tables.renew()
        assert page.read_text() == want


def test_a_part_that_is_not_measured(page: Path) -> None:
    """It says what is missing; the others are made."""
    ghstcp_tables.PARTS["docs/page.md"]["one"] = lambda: str(figures.kept("small"))
    tables.renew()
    text = page.read_text()
    assert "one -->\nNot measured yet: small.json is missing.\n<!-- end one" in text
    assert "two -->\n| a |\n| b |\n<!-- end two" in text


def test_which_results_are_of_older_versions(docs: Path, tree: Path, toml: Toml) -> None:
    """Of what a page has read: runs, and measurements that name the source that they are of."""
    file = tree / "tests/scenarios/small.toml"
    file.parent.mkdir(parents=True)
    file.write_text(toml(cc='cc = "foo"', top="seeds = [1, 2]"))
    (one,) = scenario.load(file)
    on = here()
    identity.PUBLISHED.write_text(on.text())
    lines: list[Json] = [
        {
            "scenario": json.loads(one.model_dump_json()),
            "backend": "uml",
            "identity": on.identity(one, seed, "uml"),
            "seed": seed,
            "version": f"v{seed}",
        }
        for seed in one.seeds
    ]
    (docs / "small.json").write_text(json.dumps(lines))
    now = modules.bare_digests()["foo"]
    shares = [{"cc": "foo", "source": now}, {"cc": "reno", "source": None}]
    (docs / "share.json").write_text(json.dumps(shares))
    cost = {"version": "v0", "modules": {"foo": now}}
    (docs / "cost.json").write_text(json.dumps(cost))

    def said() -> str:
        figures.READ.clear()
        for name in ("small", "share"):
            figures.kept(name)
        figures.measured("cost")
        return figures.older()

    assert said() == "All results of this page are current."
    lines[1]["identity"]["modules"]["tcp_foo"] = "0"
    (docs / "small.json").write_text(json.dumps(lines))
    means = "Of older versions ([report.md](report.md#when-is-a-result-current))"
    small = "[small](results/small.json) (v2)"
    assert said() == f"{means}, in whole or in part: {small}. All others are current."
    (docs / "share.json").write_text(json.dumps([{"cc": "foo", "source": "0"}]))
    share = "[share](results/share.json) (unknown)"
    others = " All others are current."
    assert said() == f"{means}, in whole or in part: {share}, {small}.{others}"
    assert [line["older"] for line in figures.marked("small")] == [False, True]
    assert figures.older_modules(cost) == set()
    (tree / "tcp_foo.c").write_text((tree / "tcp_foo.c").read_text() + "int more;\n")
    assert figures.older_modules(cost) == {"foo"}
    assert said().startswith(f"{means}, in whole or in part: [cost](results/cost.json) (v0), ")


def test_which_results_are_missing(docs: Path) -> None:
    """What a page asks for and does not find is not current."""
    (docs / "there.json").write_text("[]")
    identity.PUBLISHED.write_text(here().text())

    def said(*names: str) -> str:
        figures.READ.clear()
        for name in names:
            with suppress(FileNotFoundError):
                (figures.kept if name < "s" else figures.measured)(name)
        return figures.older()

    assert said("there") == "All results of this page are current."
    assert said("one", "two") == "Not measured yet: one, two."
    assert said("there", "two", "one") == "Not measured yet: one, two. All others are current."


@pytest.mark.parametrize("mark", ["begin", "end"])
def test_a_part_is_missing_in_a_page(page: Path, mark: str) -> None:
    """That is said, and the page is not half renewed."""
    text = PAGE.replace(f"<!-- {mark} two -->\n", "")
    page.write_text(text)
    with pytest.raises(LabError, match=r"^docs/page\.md has no part two$"):
        tables.renew()
    assert page.read_text() == text


def test_the_pages_have_their_parts() -> None:
    """Those of the tree itself, each once, and no part that nothing makes."""
    made: dict[str, list[str]] = {}
    for name in tables.PAGES:
        for path, parts in import_module(f"longfat.pages.tables.{name}").PARTS.items():
            made.setdefault(path, []).extend(parts)
    for path, names in made.items():
        text = (modules.ROOT / path).read_text()
        for mark in ("begin", "end"):
            found = re.findall(rf"<!-- {mark} (\S+) -->", text)
            assert sorted(found) == sorted(names), path


def test_the_first_switch_after_the_warm_up_counts() -> None:
    events = [event(0.0, "init", HSTCP), event(3.0, "reno", RENO)]
    assert ghstcp.modes(run([105] * 100, events=events, warmup=2.0)).switches_max == 1


def test_a_climb_begins_below_its_start() -> None:
    """Not at 0.92 BDP after a loss at 0.97, and not at the 0.9 where slow start ends."""
    window = [*climb(80, 97, 1), *[92] * 3, *climb(92, 120, 1)]
    state = [OPEN] * 18 + [RECOVERY] * 3 + [OPEN] * 29
    with pytest.raises(LabError, match="no climb"):
        ghstcp.fill_seconds(run(window, state=state))


def test_growth_leaves_slow_start_out() -> None:
    window = [
        *grown(1000, 100),
        *(2 ** min(i // 4, 9) for i in range(40)),
        *[1000] * 6,
        *grown(1000, 100),
    ]
    ssthresh: list[int | None] = [*[2] * 100, *[512] * 40, *[2] * 106]
    found = ghstcp.growth(run(window, ssthresh=ssthresh, state=[OPEN] * 246))
    assert found == pytest.approx(1, rel=0.01)


def test_growth_needs_congestion_avoidance() -> None:
    with pytest.raises(LabError, match="no congestion avoidance"):
        ghstcp.growth(run([100] * 5))


# --- CW-HSTCP


def three_flows() -> Json:
    """Two flows of one connection each, and a background of two."""
    one = run([100] * 20, warmup=1.0)
    first = one["flows"][0] | {"group": 0, "goodput_bps": 3e6, "retransmissions": 5}
    first["received_bytes"] = 1000 * 1460
    second = first | {"group": 1, "goodput_bps": 1e6}
    windows = [500] * 10 + [50] * 5 + [150] * 5  # 500 is before the warm-up
    second["connections"] = [first["connections"][0] | {"cwnd": windows}]
    for flow, got in ((first, 3), (second, 1)):
        flow["connections"] = [flow["connections"][0] | {"received": [got * i for i in range(20)]}]
    rest = [first | {"group": 2, "goodput_bps": 2e6, "retransmissions": n} for n in (1, 3)]
    one["flows"] = [first, second, *rest]
    one["scenario"]["flow"] = [{"count": 1}, {"count": 1}, {"count": 2}]
    one["scenario"]["host"] = {"timestamps": False}
    one["summary"] = {"capacity_bps": 10_000_000}
    return one


def test_fairness_over_time() -> None:
    """Who has all by turns is fair in the end, and at no time before."""
    one = three_flows() | {"flows": []}
    one["scenario"]["sample"] = 0.5
    times = [i / 2 for i in range(2, 19)]  # 1 s to 9 s
    turns = [[2 * (i // 4) + min(i % 4, 2) for i in range(17)] for _ in range(2)]
    turns[1] = [i - got for i, got in enumerate(turns[0])]
    flows = [{"connections": [{"t": times, "received": got}]} for got in turns]
    assert cwhstcp.jain_over(one, flows, 1) == pytest.approx(0.5)
    assert cwhstcp.jain_over(one, flows, 2) == pytest.approx(1)
    assert cwhstcp.jain_over(one, flows, 10) is None


def test_fairness_of_what_is_compared() -> None:
    """Shares, windows from the warm-up on and Jain's index are of single flows, the rest is
    background."""
    assert cwhstcp.observe(three_flows()) == {
        "windows": [100, 100],
        "shares": [0.3, 0.1],
        "jain": 0.8,  # (3 + 1)^2 / 2 (9 + 1)
        "jain_windows": 1.0,
        "jain_over": {},  # 0.9 s of measured time
        "background": {"share": 0.4, "loss": round(4 / 2004, 8)},
    }


def test_no_background() -> None:
    one = three_flows()
    one["flows"], one["scenario"]["flow"] = one["flows"][:2], one["scenario"]["flow"][:2]
    assert "background" not in cwhstcp.observe(one)


def test_timestamps_make_packets_smaller() -> None:
    one = three_flows()
    one["scenario"]["host"] = {"timestamps": True}
    assert cwhstcp.loss(one, one["flows"][2:]) == pytest.approx(4 / (4 + 2000 * 1460 / 1448))


def test_queue_of_bursts() -> None:
    """What is in the queue beyond what the window needs of it, in congestion avoidance and half
    a second after anything else."""
    one = run(
        [*[90] * 10, *[90] * 10, *[120] * 20, *[95] * 10],
        ssthresh=[80] * 50,
        state=[OPEN] * 40 + [RECOVERY] + [OPEN] * 9,
        warmup=1.0,
    )
    # Before the warm-up, below the BDP of 100, 20 above it, from the loss on.
    one["queue"]["packets"] = [*[50] * 10, *[4] * 10, *[26] * 20, *[40] * 5, *[0, 0, 0, 10, 0]]
    one["flows"][0]["group"] = 0
    one["scenario"]["flow"] = [{"count": 1}]
    found = cwhstcp.observe(one)["burst_queue"]
    assert found == {"mean": round((10 * 4 + 20 * 6 + 10) / 35, 2), "max": 10}
    one["flows"][0]["connections"][0]["ssthresh"] = [None] * 50
    with pytest.raises(LabError, match="no congestion avoidance"):
        cwhstcp.burst_queue(one)


# --- Composite


def beside(gains: list[list[int]], cc: str = "composite-8", **more: Any) -> Json:
    """Flows that gain so many packets in each half second: the first is a composite or what stands
    in its place, the others Reno.  Samples are 0.1 s apart, the warm-up is 1 s."""
    n = 5 * len(gains[0]) + 1
    one = run([100] * n, warmup=1.0)
    connection = one["flows"][0]["connections"][0]
    one["flows"] = []
    for i, gained in enumerate(gains):
        counts = [0]
        for packets in gained:
            counts += [counts[-1] + packets * k // 5 for k in (1, 2, 3, 4, 5)]
        columns = {"delivered": counts, "received": [1000 * count for count in counts]}
        flow = {"cc": "reno" if i else cc, "base_rtt_ms": 100.0, "goodput_bps": sum(gained[2:])}
        one["flows"].append(flow | {"connections": [connection | columns], "completion_s": None})
    first = {"cc": cc, "parallel": 1, "bytes": None, "count": 1}
    one["scenario"] |= {"flow": [first | more, {}], "module": {}}
    return one


def test_share_and_variation() -> None:
    """Of what arrived from the warm-up on, in windows of half a second."""
    one = beside([[900, 0, 10, 20, 30], [0, 900, 20, 20, 20], [0, 0, 10, 30, 20]])
    assert composite.observe(one) == {
        "streams": 8,
        "variation": round((2 / 3) ** 0.5 / 2, 5),
        "peak": 1.5,
        "in_order": round((2 / 3) ** 0.5 / 2, 5),
        "share": round(60 / 180, 5),
        "due": 0.8,
        "lost": [0, 0],
        "waiting": 0,
        "variation_beside": round((0 + (2 / 3) ** 0.5 / 2) / 2, 5),
    }


def test_parallel_connections_are_taken_together() -> None:
    """One swings as much as the other, the other way."""
    one = beside([[0, 0, 10, 20, 30], [0, 0, 20, 20, 20]], cc="reno", parallel=2)
    (first,) = one["flows"][0]["connections"]
    (second,) = beside([[0, 0, 30, 20, 10]])["flows"][0]["connections"]
    one["flows"][0]["connections"] = [first, second]
    found = composite.observe(one)
    assert (found["streams"], found["variation"], found["peak"]) == (2, 0, 1)
    assert found["due"] == round(2 / 3, 5)


def test_losses_and_waiting_are_of_the_measured_time() -> None:
    """Of two connections in the composite's place one loses 3 packets of 60 after the warm-up, and
    waits for half of the 16 samples; of one beside them 5 were lost before."""
    one = beside([[10, 10, 20, 20, 20], [10, 10, 10, 10, 10]], cc="reno", parallel=2)
    (first,) = one["flows"][0]["connections"]
    n = len(first["t"])
    one["flows"][0]["connections"] = [
        first | {"retransmissions": [7] * 20 + [10] * (n - 20), "state": [4] * 10 + [0] * (n - 10)},
        first | {"state": [3] * (n - 8) + [4] * 8},
    ]
    (other,) = one["flows"][1]["connections"]
    other["retransmissions"] = [0] * 5 + [5] * (n - 5)
    found = composite.observe(one)
    assert found["lost"] == [3 / 120, 0]
    assert found["waiting"] == 8 / 32


def test_what_arrives_out_of_order_has_arrived() -> None:
    """The application gets nothing, then all of it."""
    one = beside([[0, 0, 20, 20, 20], [0, 0, 20, 20, 20]])
    (first,) = one["flows"][0]["connections"]
    first["received"] = [0] * 20 + [60_000] * 6
    found = composite.observe(one)
    assert found["variation"] == 0
    assert found["in_order"] == round(2**0.5, 5)


@pytest.mark.parametrize(
    ("cc", "module", "count"),
    [
        ("composite-32", {}, 32),
        ("composite", {}, 8),
        ("composite", {"composite": {"streams": 1}}, 1),
        ("composite-4", {"composite": {"streams": 1}}, 4),
        ("reno", {}, 1),
    ],
)
def test_streams(cc: str, module: Json, count: int) -> None:
    one = beside([[1] * 4, [1] * 4], cc=cc)
    one["scenario"]["module"] = module
    assert composite.streams(one) == count


def test_completion() -> None:
    """Of a transfer, that is all; a run that was too short for it says nothing."""
    one = beside([[1] * 4, [1] * 4], bytes=10**9)
    with pytest.raises(LabError, match=r"^small: ended before all was transferred$"):
        composite.observe(one)
    one["flows"][0]["completion_s"] = 83.25
    assert composite.observe(one) == {"streams": 8, "completion_s": 83.25}


def test_windows_of_one_stream() -> None:
    """Each second from the warm-up on; a loss event begins outside of recovery."""
    one = beside([[1] * 8], cc="composite", count=1)
    one["scenario"]["module"] = {"composite": {"streams": 1}}
    (first,) = one["flows"][0]["connections"]
    first["cwnd"] = list(range(41))
    first["state"] = [OPEN] * 5 + [RECOVERY] * 5 + [OPEN] * 10 + [CWR, RECOVERY, LOSS]
    first["state"] += [DISORDER] * 9 + [LOSS] + [OPEN] * 8
    assert composite.observe(one)["windows"] == {"each_second": [10, 20, 30, 40], "losses": 2}


def test_loss_events() -> None:
    """How often it begins to recover, after the warm-up; how long it does is none of it."""
    states = [0, 3, 0, 1, 3, 3, 0, 4, 0]
    run = {"scenario": {"warmup": 2.0}}
    assert figures.loss_events(run, {"t": [*range(9)], "state": states}) == 2
    assert figures.loss_events(run, {"t": [*range(9)], "state": [0] * 9}) == 0


def test_shares_at() -> None:
    """Of 8 Mbit/s, a megabyte a second, in two parts of a run."""
    flow = {"connections": [{"t": [0, 1, 2, 3], "received": [0, 500_000, 1_500_000, 1_750_000]}]}
    run = {"summary": {"capacity_bps": 8_000_000}}
    assert cwhstcp.shares_at(run, [flow], 0, 2) == [0.75]
    assert cwhstcp.shares_at(run, [flow], 2, 3) == [0.25]


def test_windows_apart() -> None:
    assert composite_tables.apart([1, 4], [1, 4]) == 0
    assert composite_tables.apart([12, 28], [10, 30]) == pytest.approx(0.1)


def test_a_share_by_the_square_root_of_what_is_lost() -> None:
    assert composite_tables.by_square_root(16, 16, 1) == 0.5
    assert composite_tables.by_square_root(16, 16, 4) == pytest.approx(1 / 3)
    assert composite_tables.by_square_root(4, 2, 0.25) == pytest.approx(0.8)


def test_steps_in_order() -> None:
    """The longest time without an advance, in round trips of its beginning, from the warm-up on.
    Samples must be dense enough."""
    one = beside([[5] * 8, [5] * 8])
    assert "step" not in composite.observe(one)
    one["flows"][0]["base_rtt_ms"] = 400.0
    first, second = (flow["connections"][0] for flow in one["flows"])
    first["received"] = [0] * 9 + [1] * 6 + [2] * 3 + [3] * 3 + [*range(4, 24)]
    first["rtt_us"] = [400_000] * 15 + [200_000] * 26  # 0.6 / 0.4, then 0.3 / 0.2
    second["received"] = [0] * 9 + [*range(1, 33)]
    one |= {"seed": 2}
    one["scenario"] |= {"seeds": [1, 2]}
    found = composite.observe(one)
    assert (found["step"], found["step_beside"]) == (1.5, 1.0)
    assert "sequence" not in found
    # Nothing after the warm-up: all of that time, in round trips of the path.
    second["received"] = [0] * 9 + [1] * 32
    measured = one["scenario"]["duration"] - one["scenario"]["warmup"]
    assert composite.observe(one)["step_beside"] == pytest.approx(measured / 0.4, abs=5e-4)


def test_the_sequence_that_is_drawn() -> None:
    """Packets that arrived and that arrived in order, both from where the latter begin."""
    times = [19.98, 20.0, 20.02, 24.98, 25.0]
    one = {
        "t": times,
        "delivered": [6, 9, 10, 14, 99],
        "received": [500 * n for n in (6, 7, 7, 14, 99)],
    }
    run = {"scenario": {"link": {"mtu": 552}, "host": {"timestamps": True}}}
    found = composite.sequence(run, one)
    assert found == {"arrived": [2, 3, 7], "in_order": [0, 0, 7]}


# --- SABUL


def link(rate: int, **parameters: bool) -> Json:
    """What the equations look at."""
    return {
        "scenario": {"link": {"rate": rate, "mtu": 1500}, "module": {"sabul": parameters}},
    }


@pytest.mark.parametrize(
    ("rate", "cap", "share"),
    [(10**8, True, 2 / 120), (10**9, True, 1 / 6), (10**10, True, 1 / 6), (10**10, False, 2 / 1.2)],
)
def test_equation_16(rate: int, cap: bool, share: float) -> None:
    """c is 2 us, a sixth of the interval at most; half of the way to what that leaves."""
    one = link(rate, cap=cap)
    assert sabul.step(one) == pytest.approx(share)
    assert sabul.equation16(one) == pytest.approx((1 + 1 / (1 + share)) / 2)


@pytest.mark.parametrize(("once", "fast"), [(True, 1), (False, 3)])
def test_equation_15(once: bool, fast: int) -> None:
    """2 % of the 1666 packets of an interval are three times V losses and some."""
    low = 1.02 / ((1 + 0.125 * 0.019) + (fast * (1 + 0.125 * 0.019) / 24 + 1 / 6) * 1.02)
    one = link(10**9, once=once)
    assert sabul.equation15(one, 0.02) == pytest.approx((low + 0.98) / 2)
    assert sabul.equation15(one, 0) == pytest.approx(sabul.equation16(one), rel=1e-3)


def two_flows(first: list[int], second: list[int], start: float) -> Json:
    """Mbit/s of two flows in each 5 s, the second from `start` on; samples are 0.1 s apart."""
    one = run([100], warmup=1.0)
    one["summary"] = {"capacity_bps": 100_000_000}
    one["scenario"] |= {"trace": False, "module": {}}
    one["flows"] = []
    for gains, begin in ((first, 0.0), (second, start)):
        counts = [0]
        for mbps in gains:
            counts += [counts[-1] + 12_500 * mbps * k for k in range(1, 51)]
        skip = round(begin * 10)
        times = [round(i / 10, 6) for i in range(len(counts))]
        columns = {"t": times[skip:], "received": counts[skip:]}
        one["flows"].append({"goodput_bps": 1e6 * gains[-1], "connections": [columns]})
    return one


def test_two_flows() -> None:
    """Rates in windows of 5 s; they are together when Jain's index of one is 0.95."""
    found = sabul.observe(two_flows([80, 90, 60, 48], [0, 4, 40, 50], 5.0))
    assert found == {
        "shares": [0.48, 0.5],
        "mbps": [[80, 90, 60, 48], [0, 4, 40, 50]],
        "convergence_s": 10.0,  # 100^2 / 2 (60^2 + 40^2) is 0.96
    }


def test_two_flows_that_stay_apart() -> None:
    assert sabul.observe(two_flows([80, 90], [10, 9], 0.0))["convergence_s"] is None


def test_two_flows_before_the_second_starts() -> None:
    """What both have then is nothing, and not the same."""
    found = sabul.observe(two_flows([0, 50, 50, 50], [0, 0, 50, 50], 10.0))
    assert found["convergence_s"] == 5.0


def traced(events: list[tuple[float, str, float, int]]) -> Json:
    """(t, reason, us, lost of 100)."""
    one = run([100] * 121, warmup=1.0)
    one["summary"] = {"capacity_bps": 100}
    one["scenario"] |= {"trace": True, "duration": 31.0}
    one["flows"][0] |= {"goodput_bps": 90.0}
    one["flows"][0]["connections"][0]["events"] = [
        {"t": t, "reason": reason, "interval_q10": round(us * 1024e3), "lost": lost, "sent": 100}
        for t, reason, us, lost in events
    ]
    return one


def test_intervals() -> None:
    """delta in steps of 0.1 s, and what was answered, from the warm-up on."""
    one = traced(
        [
            (0.1, "rate", 9, 0),
            (0.9, "decrease", 10, 50),
            (1.5, "increase", 8, 0),
            (1.52, "increase", 7, 0),
            (2.0, "decrease", 12, 2),
            (2.5, "hold", 12, 9),
            (9.0, "decrease", 14, 4),
        ]
    )
    found = sabul.observe(one)
    assert found["shares"] == [0.9]
    assert found["interval_us"] == [10.0] * 5 + [8] + [7] * 4 + [12] * 70 + [14] * 20
    assert (found["answers"], found["rho"]) == (4.0, 0.03)


def test_intervals_without_loss() -> None:
    with pytest.raises(LabError, match=r"^small: nothing was lost; nothing was measured$"):
        sabul.observe(traced([(0.1, "rate", 9, 0), (2.0, "increase", 8, 0)]))


def test_friendliness() -> None:
    """SABUL's flows, and those that are not."""
    one = {"flows": [{"cc": cc, "goodput_bps": n * 1e6} for n, cc in enumerate(("sabul", "reno"))]}
    assert sabul_tables.of_kind(one, True) == [0.0] and sabul_tables.of_kind(one, False) == [1.0]
