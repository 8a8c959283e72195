# SPDX-License-Identifier: GPL-2.0
"""A link that changes: the steps of a run, the files of traces, the lab's own ones."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev

import pytest
from conftest import One, Toml

from longfat.core.errors import LabError
from longfat.run import changes, generators, plan, scenario
from longfat.run.changes import Change, Step

AT = """
[[link.at]]
time = "2s"
rate = "4mbit"
every = "3s"
[[link.at]]
time = "2s"
delay = "30ms"
[[link.at]]
time = "5s"
loss = "10%"
[[link.at]]
time = "6s"
down = true
[[link.at]]
time = "7s"
down = false
"""


def test_steps_of_a_run(one: One) -> None:
    """What a change does not name stays; at one time they are one step; after an outage the link
    is as it was."""
    scenario = one(link=AT)
    ms = 10**6
    assert scenario.steps(scenario.link) == [
        Step(0, 10_000_000),
        Step(2000 * ms, 4_000_000, 30 * ms),
        Step(5000 * ms, 4_000_000, 30 * ms, 0.1),
        Step(6000 * ms, 0, 30 * ms, 0.1),
        Step(7000 * ms, 4_000_000, 30 * ms, 0.1),
        Step(8000 * ms, 4_000_000, 30 * ms, 0.1),
    ]
    assert scenario.link.changing == {"rate", "delay", "loss"}
    # 10 Mbit/s for 2 s and 4 Mbit/s for 7 s, of 10 s.
    assert scenario.mean_rate == pytest.approx((20e6 + 28e6) / 10)
    assert scenario.capacity == pytest.approx(4.8e6 * 1448 / 1500)


def test_files_for_the_kernel(one: One) -> None:
    made = plan.make(one(link=AT), 7, prefix="lf", virtual=True)
    assert made.files["vary-bottleneck"].splitlines()[:3] == [
        "0 10000000 0 0 0",
        "2000000000 4000000 0 0 0",
        "5000000000 4000000 0 0 0",
    ]
    assert made.files["vary-east"].splitlines()[:4] == [
        f"seed {plan.drawn(7, 'change 0')}",
        "0 -1 0 0 0",
        "2000000000 -1 30000000 0 0",
        "5000000000 -1 30000000 429496730 0",
    ]
    assert "root handle 1: lfvary\n" in made.setup and "pfifo limit 100\n" in made.setup
    assert "\nbegin /sys/module/sch_lfvary/parameters/begin\n" in made.traffic
    # Only what changes.
    made = plan.make(
        one(link='[[link.at]]\ntime = "1s"\ndelay = "1ms"'), 7, prefix="lf", virtual=True
    )
    assert set(made.files) == {"vary-east"}
    assert "netem rate 10000000bit" in made.setup
    with pytest.raises(
        LabError, match="one: link.at, trace and delay need virtual time: use --back"
    ):
        plan.make(one(link=AT), 7, prefix="lf", virtual=False)


def test_a_delay_of_the_link_s_own(one: One) -> None:
    """From the beginning on, until a change says otherwise."""
    scenario = one(link='delay = "5ms"\n[[link.at]]\ntime = "2s"\ndelay = "30ms"')
    ms = 10**6
    assert scenario.steps(scenario.link) == [
        Step(0, 10_000_000, 5 * ms),
        Step(2000 * ms, 10_000_000, 30 * ms),
    ]
    made = plan.make(one(link='delay = "5ms"'), 7, prefix="lf", virtual=True)
    assert made.files["vary-east"].splitlines()[1:] == ["0 -1 5000000 0 0"]


def test_a_link_that_does_not_change(one: One) -> None:
    assert not plan.make(one(), 1, prefix="lf", virtual=True).files


def test_where_losses_change_they_are_counted(one: One) -> None:
    """The counts of a run are those of its first hop."""
    both = one(link='jitter = "1ms"\n' + AT)
    setup = plan.make(both, 1, prefix="lf", virtual=True).setup
    assert re.search(r"ns=lf-w dev=east\n.* lfvary\n.*\nns=lf-v dev=east\n.* netem ", setup)
    late = one(link='loss = "1%"\n[[link.at]]\ntime = "1s"\ndelay = "1ms"')
    setup = plan.make(late, 1, prefix="lf", virtual=True).setup
    assert re.search(r"ns=lf-w dev=east\n.* netem .*\nns=lf-v dev=east\n.* lfvary\n", setup)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('time = "1s"', "link.at[0]: nothing changes: give rate, delay, loss or down"),
        ('rate = "1mbit"', "link.at[0].time: is missing"),
        ('time = "1s"\nrate = "0bit"', "link.at[0].rate: Input should be greater than 0"),
        ('time = "1s"\ndelay = "11s"', "link.at[0]: delay is 0s to 10s"),
        ('time = "1s"\ndown = true\nevery = "1ns"', "link.at[0]: every is at least 1us"),
        ('time = "1s"\ndown = true\nevery = "5us"', "link.at[0].every: more than 1000000 changes"),
        ('time = "0s"\ndown = true', "link: it is down in all of the measured time"),
        ('time = "10s"\ndown = true', "link.at[0].time is after the end of the run"),
        ('time = "1s"\njitter = "1s"', "unknown key; valid here: delay, down, every, loss, rate"),
    ],
)
def test_refused_changes(tmp_path: Path, toml: Toml, line: str, says: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(toml(link=f"[[link.at]]\n{line}"))
    with pytest.raises(LabError) as caught:
        scenario.load(path)
    assert str(caught.value).startswith(f"{path}: ") and says in str(caught.value)


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ('loss = 0.1\n[[link.at]]\ntime = "1s"\nloss = 0.2', "loss and a loss that changes"),
        ('aqm = "police"\n[[link.at]]\ntime = "1s"\ndown = true', "the rate of a policer does not"),
        ('trace = "wifi"\n[[link.at]]\ntime = "1s"\ndown = true', "both say the rate"),
        ('trace = "nothing"', "nothing: cannot be read: No such file or directory; valid: cellul"),
        ('trace = "x.toml"', "x.toml: line 1: begins with neither a millisecond nor a list of col"),
    ],
)
def test_refused_with_what_else_there_is(tmp_path: Path, toml: Toml, link: str, says: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(toml(link=link))
    with pytest.raises(LabError) as caught:
        scenario.load(path)
    assert str(caught.value).startswith(f"{path}: link: ") and says in str(caught.value)


# --- traces


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("5\n4\n", "line 2: '4' is no millisecond at or after the one before"),
        ("5\nx\n", "line 2: 'x' is no millisecond"),
        ("0\n0\n", "its last line is 0"),
        ("time_s\n0\n", "line 1: begins with neither"),
        ("time_s,rate\n0,1\n", "line 1: begins with neither"),
        ("time_s,loss,loss\n0,1,1\n", "line 1: begins with neither"),
        ("time_s,loss\n", "has no line but that of its columns"),
        ("time_s,loss\n0,0.1\n0,0.2\n", "line 3: '0,0.2': has to have 2 numbers, of which the"),
        ("time_s,loss\n0\n", "line 2: '0': has to have 2 numbers"),
        ("time_s,loss\n0,-1\n", "line 2: '0,-1': has to have"),
        ("time_s,loss\n0,nan\n", "line 2: '0,nan': has to have"),
        ("time_s,loss\n\n0,1.1\n", "line 3: a loss is a probability, 0 to 1"),
    ],
)
def test_refused_traces(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "t").write_text(text)
    with pytest.raises(ValueError, match=re.escape(says)) as caught:
        changes.read("t", tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 't'}: ")


def test_a_table(tmp_path: Path) -> None:
    """A column may be missing, and a number of it."""
    (tmp_path / "t.csv").write_text("time_s,delay_ms,rate_mbit\n0.5,,20\n\n 1 , 7.5 ,\n")
    found = changes.read("t.csv", tmp_path)
    assert found.changes == (Change(0.5, rate=20e6), Change(1, delay=0.0075))
    assert found.says == {"rate", "delay"} and not found.period
    assert list(changes.unrolled(found, 0.7)) == [Change(0.5, rate=20e6)]


def test_deliveries(tmp_path: Path) -> None:
    """Mahimahi's lines: packets of 1500 bytes, and again after the last one's time."""
    (tmp_path / "t").write_text("0\n2\n2\n5\n")
    found = changes.read("t", tmp_path)
    assert found.period == 0.005 and found.says == {"rate"}
    run = changes.steps(7, changes.unrolled(found, 0.012))
    assert [(x.at // 10**6, x.rate, x.deliver // 1500) for x in run] == [
        (0, 0, 1),
        (2, 0, 2),
        (5, 0, 2),
        (7, 0, 2),
        (10, 0, 2),
    ]
    assert changes.mean_rate(run, 0, 0.012) == pytest.approx(9 * 1500 * 8 / 0.012)


def test_nothing_leaves_before_the_first_delivery(tmp_path: Path) -> None:
    """Whatever the link's own rate is."""
    (tmp_path / "t").write_text("3\n4\n")
    run = changes.steps(7_000_000, changes.unrolled(changes.read("t", tmp_path), 0.008))
    assert [(x.at // 10**6, x.rate, x.deliver // 1500) for x in run] == [
        (0, 0, 0),
        (3, 0, 1),
        (4, 0, 1),
        (7, 0, 1),
    ]
    assert changes.of_rate(run).splitlines()[:2] == ["0 0 0 0 0", "3000000 0 0 0 1500"]


# 8 Mbit/s, from 1 s on nothing but 1 MB then, from 2 s on 4 Mbit/s, from 3 s on down.
CARRIED = changes.Carried(
    [
        Step(0, 8_000_000, 10_000_000),
        Step(10**9, 0, 20_000_000, deliver=1_000_000),
        Step(2 * 10**9, 4_000_000),
        Step(3 * 10**9, 0),
    ]
)


@pytest.mark.parametrize(
    ("t", "bits"), [(0, 0), (0.5, 4e6), (1, 8e6), (1.5, 16e6), (2, 16e6), (2.5, 18e6), (9, 20e6)]
)
def test_what_a_link_has_carried(t: float, bits: float) -> None:
    """And when it has: what is delivered at once has a time of its own."""
    assert CARRIED.until(t) == bits
    if bits not in (16e6, 20e6):
        assert CARRIED.when(bits) == t


def test_how_long_a_link_takes() -> None:
    """From when it is asked, whatever was carried before, and over what is between."""
    takes = [CARRIED.takes(t, bits) for t, bits in ((0.5, 4e6), (1.5, 1e6), (2.5, 2e6), (1.5, 0))]
    assert takes == [0.5, 0.75, 0.5, 0]
    assert CARRIED.takes(2.5, 2e6 + 1) == math.inf


def test_when_a_link_has_carried_so_much() -> None:
    assert [CARRIED.when(bits) for bits in (8e6 + 1, 16e6, 20e6)] == [1.0, 1.0, 3.0]
    assert CARRIED.when(20e6 + 1) == math.inf
    assert [CARRIED.delay(t) for t in (0, 0.99, 1, 1.5, 2)] == [0.01, 0.01, 0.02, 0.02, 0]


@pytest.mark.parametrize(
    ("seconds", "bits"),
    [(0, 8e6), (0.5, 12e6), (1, 16e6), (1.5, 16e6), (2, 16e6), (3, 20e6), (9, 20e6)],
)
def test_the_most_that_a_link_carries(seconds: float, bits: float) -> None:
    assert CARRIED.most(seconds) == pytest.approx(bits)


def test_rates_are_whole_bytes_as_tc_s(one: One) -> None:
    """Of lflink, of lfvary, and of netem alike."""
    assert [changes.whole(rate) for rate in (0, 7, 8, 15, 16)] == [0, 1, 1, 1, 2]
    odd = one(rate='rate = "10000007bit"')
    setup = plan.make(odd, 1, prefix="lf", virtual=True).setup
    assert "insmod ./lflink.ko rate=1250000 " in setup
    at = one(link='[[link.at]]\ntime = "1s"\nrate = "10000007bit"')
    made = plan.make(at, 1, prefix="lf", virtual=True)
    assert made.files["vary-bottleneck"].splitlines()[1] == "1000000000 10000000 0 0 0"


def test_socket_buffers_know_the_changes(one: One, tmp_path: Path) -> None:
    """Eight times what may be in flight in the longest RTT with the greatest rate and delay, and
    what is queued."""
    queue = 100 * 1500

    def buffers(link: str, rest: str = "") -> int:
        setup = plan.make(one(link=link, rest=rest), 1, prefix="lf", virtual=True).setup
        (found,) = set(re.findall(r"tcp_rmem=4096 (\d+) \1'", setup))
        return int(found)

    rate = '[[link.at]]\ntime = "1s"\nrate = "10gbit"'
    assert buffers(rate) == pytest.approx(8 * (10e9 / 8 * 0.02 + queue))
    both = rate + '\n[[link.at]]\ntime = "2s"\ndelay = "80ms"'
    assert buffers(both) == pytest.approx(8 * (10e9 / 8 * 0.1 + queue))
    (tmp_path / "t").write_text("999\n" * 50000 + "1000\n")
    assert buffers(f'trace = "{tmp_path / "t"}"') == pytest.approx(8 * (50001 * 1500 + queue))
    slow = '[[video]]\nrtt = "9s"\nrate = "1mbit"'
    assert buffers("", slow) == pytest.approx(8 * (10e6 / 8 * 9 + queue))
    back = '[[udp]]\nrtt = "9s"\nrate = "1mbit"\nreverse = true'
    more = 'reverse_rate = "50mbit"\nreverse_buffer = "300p"'
    assert buffers(more, back) == pytest.approx(8 * (50e6 / 8 * 9 + queue + 300 * 1500))


def test_a_trace_is_looked_for_beside_the_scenario(tmp_path: Path, toml: Toml) -> None:
    (tmp_path / "mine.csv").write_text("time_s,rate_mbit\n1,3\n")
    path = tmp_path / "x.toml"
    path.write_text(toml(link='trace = "mine.csv"'))
    (found,) = scenario.load(path)
    assert found.steps(found.link) == [Step(0, 10_000_000), Step(10**9, 3_000_000)]
    # The content is a part of what a run is known by, the place is not.
    assert str(tmp_path) not in found.model_dump_json()


def _rates(name: str) -> list[tuple[float, float]]:
    found = changes.read(name, Path()).changes
    return [(one.time, (one.rate or 0) / 1e6) for one in found]


@pytest.mark.parametrize("name", generators.TRACES)
def test_the_lab_s_own_traces_are_what_their_generators_make(name: str) -> None:
    assert (changes.OWN / f"{name}.csv").read_text() == generators.TRACES[name]()
    assert changes.shipped() == sorted(generators.TRACES)


def test_statistics_of_the_cellular_trace() -> None:
    rates = [rate for _, rate in _rates("cellular")]
    made = generators.CELLULAR
    logs = [math.log10(rate) for rate in rates]
    # Two decades, each as often as the other, from end to end within seconds.
    assert (min(rates), max(rates)) == (made["least_mbit"], made["most_mbit"]) == (1, 100)
    assert fmean(logs) == pytest.approx(1, abs=1e-3)
    assert pstdev(logs) == pytest.approx(2 / math.sqrt(12), rel=0.01)
    centre, second = fmean(logs), 10
    pairs = zip(logs, logs[second:], strict=False)
    correlation = fmean((a - centre) * (b - centre) for a, b in pairs) / pstdev(logs) ** 2
    assert correlation == pytest.approx(math.exp(-1 / made["correlation_s"]), abs=0.2)


def test_statistics_of_the_wifi_trace() -> None:
    found = _rates("wifi")
    assert {rate for _, rate in found} <= set(generators.MCS)
    for (_, one), (_, other) in pairwise(found):
        assert abs(generators.MCS.index(one) - generators.MCS.index(other)) == 1
    per_second = len(found) / generators.WIFI["seconds"]
    assert per_second == pytest.approx(generators.WIFI["changes_per_s"], rel=0.2)


def test_statistics_of_the_satellites() -> None:
    """An outage at each multiple of 15 s but the first, then another rate."""
    found, made = _rates("leo"), generators.LEO
    outages = [(t, after - t) for (t, rate), (after, _) in pairwise(found) if not rate]
    assert [t for t, _ in outages] == [15 * n for n in range(1, 40)]
    assert all(length == pytest.approx(made["outage_s"]) for _, length in outages)
    held = list(dict.fromkeys(rate for _, rate in found if rate))
    assert len(held) == 40 and (min(held), max(held)) == generators.LEO_MBIT
    assert fmean(held) == pytest.approx(150)
    delays = [1e3 * (one.delay or 0) for one in changes.read("leo", Path()).changes]
    assert 0 <= min(delays) < 6 and 29 < max(delays) < 35
    # The first minute, which is all of it that `smoke` has, is of the same range.
    early = [rate for time, rate in found if rate and time < 60]
    assert min(early) == 50 and max(early) > 200
