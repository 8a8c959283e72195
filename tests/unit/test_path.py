# SPDX-License-Identifier: GPL-2.0
"""`longfat measure`: what is made of runs over a path, without a path."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path as File
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from longfat.core import process
from longfat.core.errors import LabError
from longfat.measure.path import (
    answer,
    client,
    difference,
    host,
    lab,
    limits,
    outcome,
    rounds,
    seen,
)
from longfat.measure.path.client import Closed, Contender, Failed, Late, Path, Run
from longfat.measure.path.host import Host
from longfat.measure.path.rounds import Plan
from longfat.run import backends, result, scenario, ss
from longfat.show import export, report

Json = dict[str, Any]

PATH = Path("far.example", "192.0.2.2", seconds=3)
HERE = Host("eth0", 1000, ("fq",), (4096, 16384, 4194304), "cubic")

# What iperf3 3.12 said of two connections of bbr over 50 Mbit/s, without its intervals.
SAID: Json = {
    "start": {
        "connected": [
            {"socket": 5, "local_host": "10.9.0.1", "local_port": 35290, "remote_port": 5201},
            {"socket": 7, "local_host": "10.9.0.1", "local_port": 35294, "remote_port": 5201},
        ],
        "version": "iperf 3.12",
        "tcp_mss_default": 1448,
    },
    "intervals": [],
    "end": {
        "sum_sent": {"seconds": 3.00011, "bytes": 19636328, "retransmits": 1053, "sender": True},
        "sum_received": {"seconds": 3.006992, "bytes": 17974024, "sender": True},
        "cpu_utilization_percent": {
            **{"host_total": 0.17059538889621487, "host_user": 0},
            **{"remote_total": 1.317293421115205, "remote_user": 0},
        },
        "sender_tcp_congestion": "bbr",
    },
}


def line(port: int, **values: float) -> ss.Connection:
    return ss.Connection(f"10.9.0.1:{port}", "10.9.0.2:5201", "bbr", values, False)


def samples(port: int, rate: float, *, rtt: float = 50.0) -> list[tuple[float, ss.Connection]]:
    """Three seconds of `rate` packets a second, from the first second on; half of it before."""
    found = []
    for n in range(31):
        delivered = rate * (n / 10 - 0.5 * min(1, n / 10))
        values = {"mss": 1448, "pmtu": 1500, "delivered": delivered, "rtt": rtt, "minrtt": 40.0}
        values |= {"bytes_acked": 1448 * delivered, "retrans": n, "busy": 100 * n, "cwnd": 80}
        found.append((n / 10, line(port, **values)))
    return found


def made(path: Path = PATH, number: int = 1, **changes: Any) -> Json:
    run = Run(Contender("bbr", 2), SAID, [samples(35290, 2000), samples(35294, 1000)])
    return outcome.make(path, replace(run, **changes), HERE, number=number, place=1, seed=7)


# --- one run


def test_the_command() -> None:
    said = " ".join(client.command(PATH, Contender("ltcp", 8)))
    assert said == (
        "iperf3 --json --client 192.0.2.2 --port 5201 --connect-timeout 10000 "
        "--congestion ltcp --parallel 8 --time 3"
    )
    other = replace(PATH, size=1000, reverse=True, port=9)
    assert " ".join(client.command(other, Contender("reno"))).endswith(
        "--port 9 --connect-timeout 10000 --congestion reno --parallel 1 --bytes 1000 --reverse"
    )


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("unable to connect to server: Connection refused", Failed, "start `iperf3 -s -p 5201`"),
        ("unable to connect to server: Connection timed out", Failed, "firewall drops"),
        ("unable to connect to server: Network is unreachable", Failed, "no way to it: Network"),
        ("the server is busy running a test. try again later", Failed, "busy with another test"),
        ("control socket has closed unexpectedly", Closed, "its user may not choose ltcp there"),
        ("unable to set TCP_CONGESTION: Supplied congestion", LabError, "one of the two ends has"),
        ("some new words", LabError, "iperf3 failed: some new words"),
    ],
)
def test_what_iperf3_says_of_a_failure(said: str, kind: type[LabError], words: str) -> None:
    """Each is a sentence of its own, and known whether trying again may help."""
    error = client.explain(said, PATH, "ltcp")
    assert type(error) is kind and words in str(error)
    assert "far.example" in str(error) or "-C ltcp" in str(error)


def test_a_server_that_goes_away_in_the_middle() -> None:
    error = client.explain("control socket has closed unexpectedly", PATH, "ltcp", 20_000)
    assert type(error) is Failed and "went away" in str(error) and error.moved == 20_000


@pytest.mark.parametrize(
    ("seconds", "late", "times", "enough"),
    [
        # The measured time is from 10 to 29.9 s, and four fifths of it are 15.9 s.
        (30, 1.0, [1.0, 10.5, 29.5], True),
        (30, 1.0, [1.0, 13.0, 29.5], True),
        (30, 1.0, [1.0, 15.0, 29.5], False),
        (30, 1.0, [1.0, 9.0, 29.5], False),
        # From 1 to 2.9 s, which ss may miss 0.3 s of at either end.
        (3, 0.3, [0.1, 1.2, 2.6], True),
        (3, 0.3, [0.1, 1.4, 2.6], False),
        (1, 0.3, [0.1, 0.4, 0.5], True),
        (1, 0.3, [0.1, 0.5], False),
        (3, 0.3, [], False),
    ],
)
def test_samples_that_tell_of_the_measured_time(
    seconds: int, late: float, times: list[float], enough: bool
) -> None:
    assert client.enough(replace(PATH, seconds=seconds), times, late) is enough
    assert client.enough(replace(PATH, size=1000), times, late) is bool(times)


def test_a_run_is_a_result(tmp_path: File) -> None:
    """Of the second and third second; the first belongs to slow start."""
    one = made()
    flow, path = one["flows"][0], one["path"]
    assert flow["goodput_bps"] == one["summary"]["goodput_bps"]
    assert flow["goodput_bps"] == pytest.approx(3000 * 1448 * 8, rel=0.01)
    assert flow["rtt_ms"]["p50"] == 50 and flow["base_rtt_ms"] == 40
    assert one["summary"]["queue_delay_ms"]["mean"] == 10
    # 20 of the 30 counted by each, from 1.0 to 2.9 s.
    assert flow["retransmissions"] == 2 * 19
    assert path["bytes"] == 17974024 and path["retransmissions"] == 1053
    assert path["cpu_percent"] == {"here": 0.2, "there": 1.3}
    assert [len(rows["t"]) for rows in flow["connections"]] == [31, 31]
    assert one["scenario"]["name"] == "measured-bbr-x2" and report.label(one) == "bbr x2"


def test_what_reads_results_reads_it(tmp_path: File) -> None:
    """table, plot, page and export."""
    file = tmp_path / "one.json"
    result.write(made(), file)
    one = result.read(file)
    row = report.row(one)
    assert row[1] == "bbr x2" and row[3:5] == ["-", "-"]
    # There is no queue of which something is known.
    names = [path.name for path in report.write_pictures([one], tmp_path)]
    assert names == ["cwnd.svg", "goodput.svg", "rtt.svg"]
    assert "a path that was measured, MTU 1500 bytes." in report.page([one], "x", "y")
    export.write([one], tmp_path / "tables", "csv")
    tables = {path.stem: path.read_text().splitlines() for path in (tmp_path / "tables").iterdir()}
    assert {name: len(of) for name, of in tables.items()} == {"runs": 2, "flows": 2, "samples": 63}
    assert "connections" not in result.summarise(one)["flows"][0]


def test_so_many_bytes() -> None:
    """The whole run counts: so much took so long."""
    one = made(replace(PATH, size=20_000_000))
    rate = 17974024 * 8 / 3.006992
    assert one["flows"][0]["goodput_bps"] == round(rate)
    assert one["flows"][0]["completion_s"] == pytest.approx(20e6 * 8 / rate)
    assert one["scenario"]["warmup"] == 0


def test_in_reverse_only_what_arrived_is_known() -> None:
    rows = [(t, line(35290, bytes_received=1e6 * t, rtt=9.0, minrtt=8.0)) for t in (0, 1, 2, 2.9)]
    one = made(replace(PATH, reverse=True), samples=[rows])
    assert one["flows"][0]["goodput_bps"] == 8e6 and one["flows"][0]["retransmissions"] == 1053
    assert one["flows"][0]["rtt_ms"]["p50"] is None and one["flows"][0]["base_rtt_ms"] == 8
    assert limits.find([one], replace(HERE, qdiscs=("pfifo_fast",))) == []


def test_a_program_with_nothing_to_send() -> None:
    """In the measured time; before it, it has not begun."""
    rows = [(t, replace(of, app_limited=t < 0.9 or t == 2)) for t, of in samples(35290, 2000)]
    one = made(samples=[rows])
    assert one["path"]["limited"]["program"] == pytest.approx(1 / 20)
    assert made(replace(PATH, size=1000), samples=[rows])["path"]["limited"]["program"] == 0


def test_runs_that_are_none() -> None:
    with pytest.raises(LabError, match="not that of 3.12 or newer: KeyError"):
        made(said={"end": {"sum_sent": {}}})


def grown(rates: list[float]) -> list[tuple[float, float]]:
    """A counter that has grown by these in tenths of a second."""
    return [(n / 10, sum(rates[:n])) for n in range(len(rates) + 1)]


def test_when_slow_start_is_over() -> None:
    start = [2.0**n for n in range(11)]
    # Samples of two intervals, so the last one that doubles is seen one later.
    assert outcome.start_over(grown([*start, *[1024] * 20]), 0.1) == pytest.approx(1.2)
    assert outcome.start_over(grown([*start, *[600] * 20]), 0.1) == pytest.approx(1.1)
    assert outcome.start_over(grown([2.0**n for n in range(30)]), 0.1) is None
    assert outcome.start_over(grown([]), 0.1) is None
    # Before anything has arrived nothing is over.
    late = outcome.start_over(grown([0.0] * 20 + [5.0] * 20), 0.1)
    assert late is not None and late > 2


# --- statistics


def test_an_interval_of_a_median() -> None:
    """Exact, whatever the distribution; there is none of less than six."""
    assert difference.middle([3, 1, 2, 5, 4]) == difference.Median(3, None, None)
    assert difference.middle([3, 1, 2, 5, 4, 6]) == difference.Median(3.5, 1, 6)
    # Of twelve, the third to the tenth: less than 2.5 % on either side.
    assert difference.middle([float(n) for n in range(12)]) == difference.Median(5.5, 2, 9)


def test_an_interval_holds_the_median_so_often() -> None:
    chance = random.Random(1)
    held = 0
    for _ in range(400):
        one = difference.middle([chance.expovariate(1) for _ in range(9)])
        assert one.low is not None and one.high is not None
        held += one.low <= 0.6931 <= one.high
    assert held >= 0.93 * 400


def test_holms_correction() -> None:
    # The smallest takes all three, the next two, and none is below one before it.
    assert difference.corrected([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert difference.corrected([0.9, 0.8]) == [1.0, 1.0]
    assert difference.corrected([]) == []


def test_differences_are_within_rounds() -> None:
    """The weather of a round moves both by more than they differ."""
    weather = {n: 2.0 ** (n % 5) for n in range(1, 9)}
    values = {
        "a": {n: 10 * of for n, of in weather.items()},
        "b": {n: 11 * of * (1 + n / 1000) for n, of in weather.items()},
    }
    (one,) = difference.pairs(values)
    assert one.real and one.ratio == pytest.approx(10 / 11, rel=0.01)
    seen = difference.between([one], "b", "a")
    assert seen and seen.ratio == pytest.approx(1.1, rel=0.01) and seen.p == one.p


def test_the_same_differs_by_chance() -> None:
    """Of a hundred measurements of three that are the same, about five show some difference."""
    chance = random.Random(3)
    wrong = 0
    for _ in range(100):
        values = {cc: {n: chance.gauss(50, 5) for n in range(10)} for cc in "abc"}
        wrong += any(one.real for one in difference.pairs(values))
    assert wrong <= 12


@pytest.mark.parametrize("contenders", [2, 3, 4, 5])
def test_as_many_rounds_as_are_needed(contenders: int) -> None:
    """With one less nothing could be real, with these it can."""

    def clearest(count: int) -> difference.Pair:
        """Each is above the one before it in every round."""
        values = {
            f"{at}": {n: 2.0**at * (1 + at * n / 1000) for n in range(count)}
            for at in range(contenders)
        }
        return min(difference.pairs(values), key=lambda one: one.p)

    needed = difference.rounds_needed(contenders)
    assert needed == {2: 6, 3: 7, 4: 8, 5: 9}[contenders]  # as docs/measure.md has it
    assert clearest(needed).real and not clearest(needed - 1).real


def test_only_rounds_that_both_have() -> None:
    (one,) = difference.pairs({"a": {1: 2.0, 2: 9.0}, "b": {1: 1.0}, "c": {3: 1.0}})
    assert (one.a, one.b, one.ratio, one.p) == ("a", "b", 2, 1)


def test_a_round_in_which_one_got_nothing() -> None:
    """That is the clearest difference of all; of two nothings there is none."""
    (one,) = difference.pairs({"a": {1: 0.0, 2: 0.0}, "b": {1: 1.0, 2: 0.0}})
    assert one.ratio < 1e-5
    values = {"a": {n: 0.0 for n in range(6)}, "b": {n: 1.0 + n for n in range(6)}}
    (one,) = difference.pairs(values)
    assert one.real
    assert difference.pairs({"a": {1: 0.0}, "b": {1: 0.0}}) == []


# --- the answer


def run(cc: str, number: int, mbps: float, rtt: float = 50.0, **path: Any) -> Json:
    """A result of this goodput."""
    one = json.loads(json.dumps(made(number=number)))
    one["scenario"] |= {"case_name": "", "name": f"measured-{cc}"}
    flow = one["flows"][0]
    flow |= {"cc": cc, "goodput_bps": round(mbps * 1e6)}
    flow["rtt_ms"]["p50"] = rtt
    one["summary"]["goodput_bps"] = flow["goodput_bps"]
    one["path"] |= {"round": number, "start_over_s": 0.5, **path}
    return dict(one)


def measured(count: int, **contenders: tuple[float, float]) -> list[Json]:
    """So many rounds of contenders with these goodputs and round-trip times, each in its weather;
    each differs a little from round to round, by turns."""
    return [
        run(cc, n, mbps * (1 + n % 3 / 10) * (1 + (n + at) % 2 / 1000), rtt + n / 100)
        for n in range(1, count + 1)
        for at, (cc, (mbps, rtt)) in enumerate(contenders.items())
    ]


def said(results: list[Json], default: str = "cubic") -> str:
    return answer.recommendation(answer.make(results), default)


def test_one_is_best() -> None:
    words = said(measured(8, bbr=(40, 50), cubic=(20, 60), reno=(10, 60)))
    assert words.startswith("Take bbr: its goodput is really more than every other's, ")
    assert words.endswith("than cubic's, in 8 rounds.")
    assert percent(words) == pytest.approx(100, abs=2)


def percent(words: str) -> float:
    return float(words.partition(" %")[0].rpartition(" ")[2])


def test_no_real_difference() -> None:
    same = measured(8, cubic=(40, 50), reno=(40, 50))
    assert said(same).startswith("There is no real difference in goodput between ")
    assert said(same).endswith("Keep cubic, this machine's default.")
    assert "Take either" in said(same, default="ltcp")
    # Then the queue decides, if that is real.
    words = said(measured(8, bbr=(40, 41), cubic=(40, 60)))
    assert "no real difference in goodput" in words
    assert "Take bbr, which keeps the shortest queue: its round-trip time is 41.0 ms" in words


def test_a_difference_that_does_not_matter() -> None:
    """Half a per cent in each round is real, and no reason."""
    words = said(measured(8, bbr=(40.2, 60), cubic=(40, 41)))
    assert words.startswith("Less than 2% of goodput is between bbr and cubic. Take cubic, which")


def test_some_are_equal_and_better() -> None:
    words = said(measured(9, bbr=(40, 50), cubic=(40, 50), reno=(10, 50)))
    assert "no real difference in goodput between" in words
    assert "'s is really more than that of reno. Keep cubic" in words


def test_too_few_rounds() -> None:
    words = said(measured(4, bbr=(40, 50), cubic=(20, 60)))
    assert words == "Too few rounds to tell: 4, and 2 contenders need 6. So far bbr leads."
    assert "nothing to compare" in said(measured(4, bbr=(40, 50)))
    assert answer.recommendation(answer.make([]), "cubic") == "Nothing was measured."


def test_completion_times_are_what_is_asked() -> None:
    found = measured(7, bbr=(40, 50), cubic=(20, 60))
    for one in found:
        one["flows"][0]["completion_s"] = 800e6 / one["flows"][0]["goodput_bps"]
    assert said(found).startswith("Take bbr: its completion time is really less than every")


def test_differences_of_the_best_come_first() -> None:
    made = answer.make(measured(8, reno=(10, 60), bbr=(40, 50), cubic=(20, 60)))
    said = answer.differences(made)
    assert [text.split(": ")[0] for text in said[:3]] == [
        *("bbr beside cubic", "bbr beside reno", "cubic beside reno")
    ]
    assert answer.of_the_best(made) == [*said[:2], *said[3:5]]
    assert said[3].startswith("bbr beside cubic: round-trip time 17 % less, real (p ")


def test_the_table_and_the_page() -> None:
    found = measured(6, bbr=(40, 50), cubic=(20, 60))
    out = StringIO()
    Console(file=out, width=200).print(answer.table(answer.make(found), "a title"))
    rows = [
        text.split() for text in out.getvalue().splitlines() if "bbr" in text or "cubic" in text
    ]
    assert [row[:2] for row in rows] == [["bbr", "6"], ["cubic", "6"]]
    assert rows[0][2:5] == ["44.02", "[40.00,", "48.05]"]
    page = answer.page(found, HERE, "longfat measure far")
    assert "Take bbr: its goodput" in page and "RTT ms" in page
    # Every round, and three pictures of the run in the middle.
    assert page.count("<svg") == 4 and "Of each the run of median goodput" in page
    assert "bbr beside cubic: goodput 100 % more, real (p 0.031)" in page


# --- what limits


def texts(results: list[Json], here: Host = HERE) -> list[str]:
    return [f"{one.text} {one.command}" for one in limits.find(results, here)]


def test_nothing_limits() -> None:
    assert texts(measured(6, bbr=(40, 50))) == []
    assert limits.find([], HERE) == []


NONE = {"receiver": 0.0, "send_buffer": 0.0, "program": 0.0}


@pytest.mark.parametrize(
    ("path", "words", "command"),
    [
        ({"limited": NONE | {"send_buffer": 0.5}}, "The send buffer held it back for up to 50%",
         'tcp_wmem="4096 16384 8400000"'),
        ({"limited": NONE | {"receiver": 0.3}, "window_offered": 65536}, "far end's window",
         'tcp_rmem="4096 131072 800000"'),
        ({"limited": NONE | {"program": 0.3}}, "nothing to send", "top"),
        ({"cpu_percent": {"here": 99.0, "there": 5.0}}, "a processor of this end", "--parallel"),
        ({"cpu_percent": {"here": 5.0, "there": 95.0}}, "a processor of the far end", "--parallel"),
        ({"start_over_s": None}, "bbr in 1 of its runs", "--seconds 6"),
        ({"start_over_s": 2.5}, "bbr in 1 of its runs", "--seconds 6"),
    ],
)  # fmt: skip
def test_what_limits(path: Json, words: str, command: str) -> None:
    """Of two runs one was limited; what mends it is a command."""
    (one,) = texts([run("bbr", 1, 40, **path), run("cubic", 1, 40)])
    assert words in one and command in one


def test_the_interface_limits() -> None:
    assert "eth0 has 1000 Mbit/s, and that is what" in texts([run("bbr", 1, 940)])[0]
    slow = replace(HERE, qdiscs=("mq", "fq_codel"))
    (one,) = texts([run("bbr", 1, 40)], slow)
    assert "fq_codel and not fq" in one and one.endswith("dev eth0 root mq")
    (one,) = texts([run("bbr", 1, 40)], replace(HERE, qdiscs=("pfifo_fast",)))
    assert one.endswith(" sudo tc qdisc replace dev eth0 root fq")
    assert texts([run("bbr", 1, 40)], replace(HERE, qdiscs=("noqueue",))) == []


def test_a_small_send_buffer_is_said_before_it_limits() -> None:
    """Two BDP of 900 Mbit/s and 40 ms."""
    (one,) = limits.find([run("bbr", 1, 899)], HERE)
    assert 'tcp_wmem="4096 16384 9000000"' in one.command and not one.hard


def test_a_machine_whose_sockets_have_little_memory() -> None:
    """Of pages of 4096 bytes; 45 MB/s and 40 ms are two BDP of 880 pages."""
    here = replace(HERE, tcp_mem=(800, 1000, 1500), pages=100)
    assert texts([run("bbr", 1, 360)], here) == []
    (one,) = limits.find([run("bbr", 1, 360)], replace(here, pages=200))
    assert "have 4.1 MB together" in one.text and "0.819 MB were in use" in one.text
    assert one.command == 'sudo sysctl net.ipv4.tcp_mem="870 1100 1700"' and not one.hard


@pytest.mark.parametrize("name", ["tcp_window_scaling", "tcp_timestamps", "tcp_sack"])
def test_what_tcp_should_have(name: str) -> None:
    (one,) = texts([run("bbr", 1, 40)], replace(HERE, off=(name,)))
    assert one.startswith(f"net.ipv4.{name} is 0: ")
    assert one.endswith(f" sudo sysctl net.ipv4.{name}=1")


def test_a_window_that_is_not_scaled() -> None:
    """A larger buffer at the far end would not mend it."""
    held = run("bbr", 1, 40, limited=NONE | {"receiver": 0.9}, window_offered=65535)
    (one,) = limits.find([held], replace(HERE, off=("tcp_window_scaling",)))
    assert one.hard and "tcp_window_scaling=1" in one.command


def test_a_kernel_that_remembers() -> None:
    (one,) = texts([run("bbr", 1, 40)], replace(HERE, remembers=True))
    assert "each run begins by what another algorithm left" in one
    assert one.endswith("sudo sysctl net.ipv4.tcp_no_metrics_save=1")


def test_a_path_that_changes() -> None:
    results = measured(4, bbr=(40, 50))
    assert texts(results) == []
    results[2]["flows"][0]["base_rtt_ms"] = 80.0
    (one,) = texts(results)
    assert "took 40.0 ms in round" in one and "80.0 ms in round 3" in one


def test_a_path_whose_rate_changes() -> None:
    """Who alone had luck in a round changes nothing."""
    results = measured(4, bbr=(40, 50), cubic=(20, 50))
    for one in results[4:]:
        one["summary"]["goodput_bps"] /= 1 + 2 * (one["flows"][0]["cc"] == "bbr")
    assert texts(results) == []
    for one in results[6:]:
        one["summary"]["goodput_bps"] /= 1 + 2 * (one["flows"][0]["cc"] == "cubic")
    (text,) = texts(results)
    assert "everybody carried 2.3 times as much in round 2 as in round 4, or more" in text
    assert texts(results[::2]) == []


def test_several_processors() -> None:
    """iperf3 3.16 has one for each connection, as far as there are so many."""
    one = run("bbr", 1, 40, cpu_percent={"here": 150.0, "there": 5.0})
    one["scenario"]["flow"][0]["parallel"] = 8
    here = replace(HERE, processors=4)
    assert "a processor of this end" in texts([one], here)[0]
    one["iperf3"] = "iperf 3.16+"
    assert texts([one], here) == []
    one["path"]["cpu_percent"]["here"] = 370.0
    assert "a processor of this end" in texts([one], here)[0]
    one["path"]["cpu_percent"]["here"] = 95.0
    one["scenario"]["flow"][0]["parallel"] = 1
    assert "a processor of this end" in texts([one], here)[0]


# --- the rounds


PLAN = Plan(PATH, (Contender("bbr"), Contender("cubic"), Contender("reno")), 5, 1, 10**12)


def test_every_round_has_everybody_in_an_order_of_its_own() -> None:
    order = list(PLAN.order())
    assert order == list(PLAN.order()) != list(replace(PLAN, seed=2).order())
    by_round = [[one.cc for number, _, one in order if number == n] for n in range(1, 6)]
    assert all(sorted(names) == ["bbr", "cubic", "reno"] for names in by_round)
    assert len({tuple(names) for names in by_round}) > 1
    assert [place for _, place, _ in order] == [1, 2, 3] * 5


def test_what_is_said_beforehand() -> None:
    first, second, third = rounds.announce(PLAN, HERE)
    assert first.startswith("bbr, cubic, reno: 5 rounds of one run each, 3 s a run")
    # 15 runs of 3 s at 1 Gbit/s.
    assert "takes 52 s, and sends 5.62 GB at most, at the 1 Gbit/s of eth0" in second
    assert "It ends at 1 TB (--cap)." in second and "3 contenders need 7" in third
    assert "said after the first run" in rounds.announce(PLAN, replace(HERE, mbps=0))[1]
    exact = replace(PLAN, path=replace(PATH, size=1000), rounds=9)
    assert rounds.announce(exact, HERE)[1].startswith("This sends 27 kB. ")
    assert len(rounds.announce(exact, HERE)) == 2
    first, second = rounds.announce(replace(exact, rounds=0, minutes=2), HERE)
    assert "rounds for 2 minutes of one run each, 1 kB a run" in first
    assert second == "How many there are is said after the first. It ends at 1 TB (--cap)."


def test_rounds_that_fit() -> None:
    assert rounds.fitting(10, 4 * 15.5) == 9
    assert rounds.fitting(0.1, 4 * 15.5) == 1


class Server:
    """In the place of iperf3: what each run gives in its turn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, gives: list[Exception | None]) -> None:
        self.gives: Iterator[Exception | None] = iter(gives)
        self.asked: list[str] = []
        self.most: list[float] = []
        self.slept: list[float] = []
        self.kept: list[Json] = []
        self.said: list[str] = []
        monkeypatch.setattr(client, "run", self.run)

    def run(self, path: Path, contender: Contender, *, most: float) -> Run:
        self.asked.append(contender.cc)
        self.most.append(most)
        if error := next(self.gives, None):
            raise error
        return Run(contender, SAID, [samples(35290, 2000), samples(35294, 1000)])

    def carry_out(self, plan: Plan) -> None:
        rounds.carry_out(plan, HERE, self.kept.append, self.said.append, self.slept.append)


def test_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, [])
    server.carry_out(PLAN)
    assert server.asked == [one.cc for _, _, one in PLAN.order()] and len(server.kept) == 15
    assert server.slept == [rounds.BETWEEN] * 14
    assert "at this rate all runs send 295 MB together" in server.said
    assert "round 5 of 5: " in server.said[-1] and "1053 packets sent again" in server.said[-1]


@pytest.mark.parametrize(("minutes", "count"), [(1, 2), (0.1, 1)])
def test_rounds_of_bytes(monkeypatch: pytest.MonkeyPatch, minutes: float, count: int) -> None:
    """The first round, here of 20 s, says how many there are."""
    server = Server(monkeypatch, [])
    plan = replace(PLAN, path=replace(PATH, size=10**6), rounds=0, minutes=minutes)
    rounds.carry_out(
        plan, HERE, server.kept.append, server.said.append, server.slept.append,
        now=iter([100.0, 120.0]).__next__,
    )  # fmt: skip
    assert server.asked == [one.cc for _, _, one in replace(plan, rounds=count).order()]
    (said,) = (text for text in server.said if text.startswith("the first round took 20 s: "))
    assert said.endswith(f" in {minutes} minutes, which send {3 * count} MB")
    assert server.said[0].startswith("round 1: ") and "contenders need 7" in server.said[4]


def test_without_a_server_nothing_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, [Failed("refused")])
    with pytest.raises(Failed, match="refused"):
        server.carry_out(PLAN)
    assert len(server.asked) == 1 and server.slept == []


def test_a_machine_that_is_busy_is_so_at_the_first_run_too(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, [Late("ss"), Late("ss")])
    server.carry_out(PLAN)
    assert len(server.kept) == 15 and server.slept[:2] == [*rounds.PATIENCE[:2]]


def test_who_is_not_allowed_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was allowed once was: then it is the server."""
    server = Server(monkeypatch, [None, Closed("ended")])
    with pytest.raises(Closed):
        server.carry_out(PLAN)
    assert len(server.asked) == 2
    server = Server(monkeypatch, [None, None, None, Closed("ended")])
    server.carry_out(PLAN)
    assert len(server.kept) == 15


def test_later_a_failure_may_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, [None, Failed("busy"), Failed("busy")])
    server.carry_out(PLAN)
    assert len(server.kept) == 15 and len(server.asked) == 17
    assert server.asked[1] == server.asked[2] == server.asked[3]
    assert server.slept[:3] == [rounds.BETWEEN, *rounds.PATIENCE[:2]]


def test_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured is kept."""
    server = Server(monkeypatch, [None, None, *[Failed("down")] * 9])
    with pytest.raises(Failed, match="down"):
        server.carry_out(PLAN)
    assert len(server.kept) == 2 and len(server.asked) == 3 + len(rounds.PATIENCE)


def test_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run begins that would go above it, and none does."""
    server = Server(monkeypatch, [])
    server.carry_out(replace(PLAN, cap=50_000_000))  # 19.6 MB each
    assert len(server.kept) == 2
    assert server.most == [50_000_000, 50_000_000 - 19636328]
    assert server.said[-1].startswith("--cap: 39.3 MB of 50 MB are used, and a run needs 19.6 MB")
    server = Server(monkeypatch, [None, client.Capped("x")])
    server.carry_out(PLAN)
    assert len(server.kept) == 1 and "it ends in round 1" in server.said[-1]
    assert server.said[-1].startswith("--cap: x: it ends")
    with pytest.raises(LabError, match="the first run alone is above the cap"):
        Server(monkeypatch, [client.Capped("x")]).carry_out(PLAN)
    with pytest.raises(LabError, match="one run of 1 GB is above the cap of 5 MB"):
        path = replace(PATH, size=10**9)
        Server(monkeypatch, []).carry_out(replace(PLAN, path=path, cap=5_000_000))


def test_the_cap_is_that_of_tries_that_failed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """19.6 MB are sent in a run that did well."""
    down = Failed("down", 10_000_000)
    tries: list[Exception | None] = [None, down, down, None]
    server = Server(monkeypatch, tries)
    server.carry_out(replace(PLAN, cap=100_000_000))
    left = 100_000_000 - 19636328
    assert server.most[1:4] == [left, left - 10_000_000, left - 20_000_000]
    assert server.most[4] == server.most[3] - 19636328
    assert len(server.kept) == 4 and "--cap: 98.5 MB of 100 MB are used" in server.said[-1]
    server = Server(monkeypatch, tries)
    server.carry_out(replace(PLAN, cap=50_000_000))
    assert len(server.kept) == 1 and len(server.asked) == 3
    assert "--cap: 39.6 MB of 50 MB are used" in server.said[-1]


# --- this end


def test_which_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    refused = {"cubic": errno.EPERM, "nosuch": errno.ENOENT}
    values = {
        "tcp_available_congestion_control": "reno bbr cubic",
        "tcp_allowed_congestion_control": "reno bbr",
    }
    monkeypatch.setattr(host, "_refused", lambda cc: refused.get(cc, 0))
    monkeypatch.setattr(host, "sysctl", values.__getitem__)
    assert host.algorithms([]) == ["bbr", "reno"]
    assert host.algorithms(["reno"]) == ["reno"]
    with pytest.raises(LabError) as caught:
        host.algorithms(["cubic"])
    allow = "sudo sysctl 'net.ipv4.tcp_allowed_congestion_control=reno bbr cubic'"
    assert allow in str(caught.value)
    with pytest.raises(LabError, match="sudo modprobe tcp_nosuch.*there are reno, bbr, cubic"):
        host.algorithms(["nosuch"])
    with pytest.raises(LabError, match="reno: is given twice"):
        host.algorithms(["reno", "reno"])


def test_the_kernel_is_asked() -> None:
    assert "reno" in host.algorithms([])
    with pytest.raises(LabError, match="-C nosuch: this kernel has no such"):
        host.algorithms(["nosuch"])


@pytest.mark.parametrize("after", [1, 10**6])
def test_what_the_kernel_loaded_is_removed(
    tmp_path: File, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Also after an error, and after Ctrl-C; not what was there before.  An algorithm may have
    another name than its module.  A connection may hold it for a while, or for longer than is
    waited for."""
    for name in ("tcp_cubic", "tcp_diag"):
        (tmp_path / name).mkdir()
    tried: list[str] = []
    said: list[str] = []

    def call(command: list[str]) -> SimpleNamespace:
        if command[0] == "modprobe":
            module = command[2].replace("tcp_composite-16", "tcp_composite")
            return SimpleNamespace(stdout=f"insmod /lib/modules/6.1/updates/{module}.ko\n")
        tried.append(command[1])
        if done := len(tried) > after:
            (tmp_path / command[1]).rmdir()
        return SimpleNamespace(returncode=int(not done), stdout="is in use")

    monkeypatch.setattr(backends, "MODULES", tmp_path)
    monkeypatch.setattr(process, "call", call)
    monkeypatch.setattr(host, "HELD", 0.5)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda name: f"/sbin/{name}")
    wanted = ["cubic", "ltcp", "composite-16", "reno"]
    with pytest.raises(KeyboardInterrupt), host.unloading(wanted, said.append):
        for name in ("tcp_ltcp", "tcp_composite", "tcp_other"):
            (tmp_path / name).mkdir()
        raise KeyboardInterrupt
    assert {*tried} == {"tcp_ltcp", "tcp_composite"}
    left = {one.name for one in tmp_path.iterdir()} - {"tcp_cubic", "tcp_diag", "tcp_other"}
    if after == 1:
        assert not left and not said
    else:
        assert left == {*tried} and [text.split(" cannot")[0] for text in said] == [
            *("the module tcp_composite", "the module tcp_ltcp")
        ]
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    del tried[:]
    with host.unloading(["new"], said.append):
        (tmp_path / "tcp_new").mkdir()
    assert not tried


def test_this_end() -> None:
    """Of loopback; in a namespace the memory of all sockets is not seen."""
    found = host.look("127.0.0.1")
    assert found.device == "lo" and len(found.tcp_wmem) == 3 and len(found.tcp_mem) in (0, 3)
    assert found.pages >= 0 and {*found.off} <= {*host.FEATURES}


def test_a_name_without_an_address() -> None:
    assert host.resolve("127.0.0.1") == "127.0.0.1"
    with pytest.raises(LabError, match="no.such.invalid: has no address: "):
        host.resolve("no.such.invalid")


# --- from the path to the lab


def steady(cc: str, number: int, *, again: float = 0.0, queue: float = 10.0) -> Json:
    """Twenty seconds of 4000 packets a second with a queue of 2 ms, of which so many are sent
    again; two seconds of each ten the queue is `queue` ms, and a packet is lost for each
    millisecond of a sample that it is above 20."""
    rows, lost, delivered = [], 0.0, 0.0
    for n in range(201):
        full = n % 100 >= 80
        rtt = 40 + (queue if full else 2.0)
        lost += 400 * again + (full and n % 100 >= 82) * max(0.0, queue - 20)
        delivered += 400
        values = {"mss": 1448, "pmtu": 1500, "delivered": delivered, "rtt": rtt, "minrtt": 40.0}
        values |= {"bytes_acked": 1448 * delivered, "retrans": lost, "busy": 100 * n, "cwnd": 80}
        rows.append((n / 10, line(35290, **values)))
    said = json.loads(json.dumps(SAID))
    said["end"]["sum_received"] = {"seconds": 20.0, "bytes": round(1448 * delivered)}
    path = replace(PATH, seconds=20)
    run = Run(Contender(cc), said, [rows])
    return outcome.make(path, run, HERE, number=number, place=1, seed=7)


def both(**of: float) -> list[Json]:
    return [steady(cc, n, **of) for n in (1, 2) for cc in ("cubic", "ltcp")]


def test_a_path_is_seen() -> None:
    of = seen.path(both(queue=30.0))
    assert of.rate.sure and of.rate.value == pytest.approx(48e6, rel=0.001)
    assert of.rtt.sure and of.rtt.value == pytest.approx(0.04)
    # 30 ms at that rate; what is lost then is none of the path's.
    assert of.buffer.sure and of.buffer.value == pytest.approx(180e3, rel=0.01)
    assert of.loss.sure and of.loss.value == 0


def test_a_loss_that_is_none_of_the_buffer() -> None:
    of = seen.path(both(again=1e-3))
    assert of.loss.sure and of.loss.value == pytest.approx(1e-3, rel=0.05)
    assert of.loss.low < 1e-3 < of.loss.high
    assert not of.buffer.sure and of.buffer.how.endswith("A guess: one BDP.")


def test_one_contender_may_be_the_cause() -> None:
    """Who alone loses more fills the buffer between two samples; and one alone proves nothing."""
    results = [steady("bbr", 1, again=1e-2), steady("bbr", 2, again=1e-2), *both()]
    assert seen.path(results).loss.value == 0
    of = seen.path(results[:2])
    assert of.loss.value == pytest.approx(1e-2, rel=0.05) and not of.loss.sure
    assert "All are one contender's" in of.loss.how


def test_what_a_host_held_back_filled_nothing() -> None:
    """A window that is kept short is sent in bursts, which queue; its rate is not the link's."""
    results = both()
    for one in results:
        one["path"]["limited"]["receiver"] = 0.5
    of = seen.path(results)
    assert not of.rate.sure and of.rate.how.startswith("A lower bound: no queue")


def test_a_link_that_is_full_is_never_faster() -> None:
    """For a moment more arrived than where a queue stood: that was no full link."""
    results = both()
    for one in results[:2]:
        (rows,) = one["flows"][0]["connections"]
        # Three samples with half, and three with half as much again.
        for n, missing in enumerate((200, 400, 600, 400, 200), 50):
            rows["delivered"][n] -= missing
    of = seen.path(results)
    assert not of.rate.sure and of.rate.how.startswith("A lower bound: more was carried")
    assert of.rate.high > 1.1 * 48e6


def test_what_is_lost_behind_the_link() -> None:
    of = seen.path(both(again=0.05))
    assert not of.rate.sure and of.rate.value == pytest.approx(48e6, rel=0.001)
    assert of.rate.high == pytest.approx(48e6 * 1.05, rel=0.001)
    # Of what was sent, and not of what arrived.
    assert of.loss.sure and of.loss.value == pytest.approx(0.05 / 1.05, rel=0.01)


@pytest.mark.parametrize("all_", [True, False])
def test_many_that_are_lost_at_once(all_: bool) -> None:
    """They prove no more than one would; and where others lose one by one, they are no chance."""
    results = [*both(again=1e-3), steady("reno", 1, again=1e-3)]
    for one in results if all_ else results[::2][:2]:
        (rows,) = one["flows"][0]["connections"]
        rows["retransmitted"] = [x // 16 * 16 for x in rows["retransmitted"]]
    of = seen.path(results)
    assert of.loss.value == pytest.approx(1e-3, rel=0.25)
    assert of.loss.sure is not all_
    assert ("They were lost many at once" in of.loss.how) is all_


def test_a_short_queue_is_seen_to_a_few_packets() -> None:
    of = seen.path(both(queue=30.0)).buffer
    assert of.sure and of.low == pytest.approx(180e3 - 3 * 1500, rel=0.01)
    results = both(queue=30.0)
    for one in results:
        one["summary"]["goodput_bps"] /= 10
        (rows,) = one["flows"][0]["connections"]
        for key in ("delivered", "retransmitted"):
            rows[key] = [x / 10 for x in rows[key]]
    of = seen.path(results).buffer
    assert not of.sure and of.how.endswith("A queue is seen to 3 packets only.")


def test_a_timeout_is_no_queue() -> None:
    """A round trip is long, too, where nothing came for a while."""
    results = both()
    for one in results:
        (rows,) = one["flows"][0]["connections"]
        for n in range(100, 110):
            rows["delivered"][n] = rows["delivered"][99]
            rows["rtt_us"][n] = 300_000 if n >= 104 else 42_000
        for n in range(110, 201):
            rows["delivered"][n] -= 4000
    assert seen.path(results).buffer.low == pytest.approx(0.010 * 48e6 / 8)


def test_a_path_of_which_nothing_is_seen() -> None:
    one = made()
    one["flows"][0]["connections"] = []
    with pytest.raises(LabError, match="too little was seen of the path"):
        seen.path([one])


LAB = {"cubic", "ltcp", "reno"}


def test_a_path_becomes_a_scenario(tmp_path: File) -> None:
    file = tmp_path / "path.toml"
    written = lab.save([*both(queue=30.0), steady("other", 1)], file, LAB, ["a note"])
    assert written == [file, tmp_path / "path.measured.json"]
    cubic, ltcp = scenario.load(file)
    assert [cubic.flow[0].cc, ltcp.flow[0].cc] == ["cubic", "ltcp"]
    assert (cubic.link.rate, cubic.duration, cubic.seeds) == (48_000_000, 20, [1])
    assert cubic.warmup == pytest.approx(20 / 3, abs=1e-3) and cubic.flow[0].rtt == 0.04
    assert cubic.link.buffer == (180_000, "b") and cubic.link.loss == 0
    text = file.read_text()
    assert "# a note\n" in text and "# rate: 48 Mbit/s (48 Mbit/s to 48 Mbit/s), sure." in text
    # What was measured is beside it, the lab's own algorithm or not.
    assert len(lab.measured(file)) == 5
    (tmp_path / "path.measured.json").unlink()
    with pytest.raises(LabError, match="there is no path.measured.json beside it"):
        lab.measured(file)


def test_a_guess_is_called_one() -> None:
    text = lab.scenario(both(again=1e-3), LAB, [])
    assert "# buffer: " in text and "A GUESS" in text and "seeds = [1, 2, 3, 4, 5]" in text


def test_nothing_that_the_lab_has() -> None:
    with pytest.raises(LabError, match="the lab has none of other: no scenario is written"):
        lab.scenario([steady("other", 1)], LAB, [])
    assert lab.lacking(["other", "cubic"], LAB) == ["other"]


def test_bytes_and_connections_are_in_it(tmp_path: File) -> None:
    results = both()
    for one in results:
        one["scenario"]["flow"][0]["bytes"] = 10**8
        one["scenario"]["warmup"] = 0.0
    results[1]["scenario"]["flow"][0]["parallel"] = 8
    file = tmp_path / "path.toml"
    file.write_text(lab.scenario(results, LAB, []))
    found = scenario.load(file)
    assert {one.flow[0].parallel for one in found} == {1, 8} and len(found) == 4
    # A transfer may take longer in the lab.
    assert found[0].flow[0].bytes == 10**8 and found[0].duration == 90


def of_the_lab(cc: str, mbps: float) -> Json:
    one = run(cc, 1, mbps)
    del one["path"]
    one["scenario"] |= {"duration": 3.0, "warmup": 1.0, "link": {"mtu": 1500}}
    one["scenario"]["flow"][0] = {"cc": cc, "parallel": 1}
    one["flows"][0]["retransmissions"] = round(0.01 * mbps * 1e6 * 2 / 8 / 1448)
    return one


def test_the_lab_beside_it() -> None:
    found = measured(7, ltcp=(40, 50), cubic=(20, 50), other=(30, 50))
    out = StringIO()
    printed, verdict = lab.table(found, [of_the_lab("ltcp", 42), of_the_lab("cubic", 21)])
    Console(file=out, width=200).print(printed)
    cells = {row[0]: row for row in map(str.split, out.getvalue().splitlines()) if row}
    # Goodput, sent again and RTT, each measured and by the lab.
    assert cells["ltcp"][2] == "42.00" and cells["ltcp"][4] == "1.01"
    assert cells["other"][2::2] == ["-", "-", "-"]
    assert verdict == "Take ltcp: that is what was measured, and what the lab says."
    _, verdict = lab.table(found, [of_the_lab("ltcp", 20), of_the_lab("cubic", 21)])
    assert verdict.startswith("Measured: take ltcp; the lab: take cubic. Where they differ")
    _, verdict = lab.table(found[::3], [of_the_lab("ltcp", 20)])
    assert verdict == "Only ltcp was measured: there is nothing to compare."
    _, verdict = lab.table(found, [of_the_lab("cubic", 21)])
    assert "take ltcp, which the lab does not have; of its own, take cubic" in verdict
    # What is as good goes by its queue, here as there.
    found = measured(8, ltcp=(40, 50), cubic=(40.2, 42))
    runs = [of_the_lab("ltcp", 40.1), of_the_lab("cubic", 40)]
    runs[0]["flows"][0]["rtt_ms"]["p50"] = 60.0
    assert lab.table(found, runs)[1].startswith("Take cubic: ")


def test_the_lab_beside_what_was_not_told_apart() -> None:
    """With too few rounds, and where nothing differs really."""
    runs = [of_the_lab("ltcp", 42), of_the_lab("cubic", 21)]
    for found in (
        measured(2, ltcp=(40, 50), cubic=(20, 50)),
        measured(8, ltcp=(40, 50), cubic=(40, 50)),
    ):
        _, verdict = lab.table(found, runs)
        assert verdict.startswith("Measured: ") and " are not told apart; the lab: t" in verdict
        assert verdict.endswith("take ltcp.")
    found = measured(9, ltcp=(40, 50), cubic=(40, 50), reno=(10, 50))
    _, verdict = lab.table(found, [*runs, of_the_lab("reno", 50)])
    assert "are not told apart; the lab: take reno. Where they differ, the" in verdict
