# SPDX-License-Identifier: GPL-2.0
"""From what a run left to its result file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import One

from longfat.build.modules import ROOT
from longfat.core.errors import LabError
from longfat.run import plan, result, summaries
from longfat.run.identity import Platform
from longfat.run.scenario import Scenario, load

# A finished run directory with these samples, as lines.
Run = Callable[..., Path]


@pytest.fixture
def finished(tmp_path: Path) -> Run:
    def make(*samples: str, log: str = "[    1.000000] eth0: up\n", **files: str) -> Path:
        path = tmp_path / "run"
        path.mkdir(exist_ok=True)
        text = "".join(f"{line}\n" for line in samples)
        content = {"samples": text, "log": log, "kernel": "6.12.1\n", "status": "0\n"}
        content |= files
        for name, what in content.items():
            (path / name).write_text(what)
        return path

    return make


# Of several flows, of a link that changes, of parameters of a module.
SOME = ("ltcp-fig7", "bbr-outage", "composite-all", "sabul-fig2-1g")


def is_summaries(path: Path) -> bool:
    """Whether a file of docs/results has runs, a line each."""
    text = path.read_text()
    return text.startswith("[\n{") and '"of":' in text.split("\n")[1]


def made(scenario: Scenario, path: Path) -> dict[str, Any]:
    return result.make(scenario, 3, "uml", plan.make(scenario, 3, prefix="lf", virtual=True), path)


def flow(
    t: float,
    ident: int = 0,
    *,
    received: int = 0,
    retrans: int = 0,
    ce: int = 0,
    rtt: int = 20000,
    cwnd: int = 10,
    ssthresh: int = 2**31 - 1,
    state: int = 0,
    delivered: int = 0,
    least: int = 20000,
    pacing: int = 1000000,
) -> str:
    path = f"{cwnd} {ssthresh} {rtt} {least}"
    return f"f {t:.9f} {ident} {path} {retrans} {received} {ce} {pacing} {state} {delivered}"


def queue(t: float, *, backlog: int = 0, packets: int = 0, drops: int = 0, sent: int = 0) -> str:
    return f"q {t:.9f} {backlog} {packets} {drops} {sent} {sent * 1514} 0"


# --- the arithmetic


@pytest.mark.parametrize(
    ("percent", "value"), [(0, 15), (5, 15), (30, 20), (40, 20), (50, 35), (99, 50), (100, 50)]
)
def test_nearest_rank(percent: float, value: float) -> None:
    assert result.percentile([35, 20, 15, 50, 40], percent) == value


def test_percentile_is_a_value_with_as_many_below() -> None:
    for n in range(1, 60):
        values = [float(x * x) for x in range(n)]
        for percent in (1, 25, 50, 75, 90, 95, 99, 100):
            got = result.percentile(values[::-1], percent)
            assert got is not None
            at = values.index(got)
            assert 100 * (at + 1) >= percent * n
            assert 100 * at < percent * n


def test_percentile_of_nothing() -> None:
    assert result.percentile([], 50) is None
    assert set(result.spread([], 3).values()) == {None}


def test_spread() -> None:
    assert result.spread([0.0, 1.0, 2.0, 3.00049], 3) == {
        "mean": 1.5,
        "p50": 1.0,
        "p95": 3.0,
        "p99": 3.0,
        "max": 3.0,
    }


@pytest.mark.parametrize(
    ("values", "index"),
    [
        ([5.0], 1),
        ([7.0, 7.0, 7.0], 1),
        ([1.0, 0.0, 0.0, 0.0], 0.25),
        ([1.0, 3.0], 0.8),
        ([0.0], None),
    ],
)
def test_jain(values: list[float], index: float | None) -> None:
    assert result.jain(values) == pytest.approx(index)


def test_jain_does_not_depend_on_the_unit() -> None:
    values = [1.0, 2.0, 5.0]
    assert result.jain(values) == pytest.approx(result.jain([x * 1e9 for x in values]))


# --- a run


def test_goodput_from_samples(one: One, finished: Run) -> None:
    """From warm-up to the end, no more and no less."""
    rows = [flow(t / 10, received=125000 * t if t < 20 else 250000 * t) for t in range(101)]
    out = made(one(top='warmup = "2s"'), finished(*rows))
    assert out["flows"][0]["received_bytes"] == 250000 * 80
    assert out["flows"][0]["goodput_bps"] == 20_000_000
    assert out["summary"]["goodput_bps"] == 20_000_000
    assert out["summary"]["utilisation"] == pytest.approx(20 / (10 * 1448 / 1500), abs=1e-6)


def test_goodput_is_of_the_time_in_which_the_flow_was_active(one: One, finished: Run) -> None:
    rows = [flow(t / 10, received=100000 * (t - 40)) for t in range(40, 61)]
    out = made(one(flow='start = "4s"\nduration = "2s"'), finished(*rows))
    assert out["flows"][0]["goodput_bps"] == 8_000_000


def test_goodput_of_a_flow_that_ended_with_the_warmup(one: One, finished: Run) -> None:
    """lfgen samples a flow when it stops, and again with all others at that time."""
    rows = [flow(t / 10, received=1000 * t) for t in range(21)]
    scenario = one(top='warmup = "2s"', flow='duration = "2s"')
    out = made(scenario, finished(*rows, flow(2.0, received=20000)))
    assert out["flows"][0]["goodput_bps"] == 0


def test_goodput_of_parallel_connections_adds_up(one: One, finished: Run) -> None:
    rows = [flow(t, i, received=(i + 1) * 125000 * t) for t in (0, 10) for i in range(4)]
    out = made(one(flow="count = 2\nparallel = 2"), finished(*rows))
    assert [f["goodput_bps"] for f in out["flows"]] == [3_000_000, 7_000_000]
    assert [len(f["connections"]) for f in out["flows"]] == [2, 2]
    assert out["summary"]["jain"] == pytest.approx(100 / (2 * 58), abs=1e-6)


def test_a_flow_that_never_ran(one: One, finished: Run) -> None:
    out = made(one(), finished(queue(0), queue(10)))
    assert out["flows"][0]["goodput_bps"] == 0
    assert out["flows"][0]["rtt_ms"]["p50"] is None
    assert out["summary"]["jain"] is None


def test_loss_is_dropped_over_offered_after_warmup(one: One, finished: Run) -> None:
    rows = [
        queue(0),
        queue(1.99, drops=50, sent=1000),
        queue(2, drops=100, sent=1000),
        queue(10, drops=130, sent=10970),
    ]
    out = made(one(top='warmup = "2s"'), finished(*rows))
    assert out["summary"]["dropped"] == 30
    assert out["summary"]["loss"] == pytest.approx(30 / 10000)


def test_no_loss(one: One, finished: Run) -> None:
    assert made(one(), finished(queue(0), queue(10)))["summary"]["loss"] == 0


def test_queue_delay(one: One, finished: Run) -> None:
    """At 10 Mbit/s 1250 bytes are a millisecond."""
    rows = [queue(t / 100, backlog=1250 * (t // 10)) for t in range(1001)]
    delay = made(one(top='warmup = "5s"'), finished(*rows))["summary"]["queue_delay_ms"]
    assert (delay["p50"], delay["p95"], delay["max"]) == (75, 97, 100)
    assert delay["mean"] == pytest.approx(74.6, abs=0.1)


@pytest.mark.parametrize(
    ("changes", "ms"),
    [
        # 12500 bytes, while it has 10, 2 and 20 Mbit/s; what is behind a change counts.
        ('time = "3s"\nrate = "2mbit"\n[[link.at]]\ntime = "6.03s"\nrate = "20mbit"', (10, 50, 32)),
        ('time = "3s"\ndown = true\n[[link.at]]\ntime = "7s"\ndown = false', (10, 3010, 1010)),
        ('time = "3s"\ndown = true', (10, 6000, 4000)),  # until the run ends
        ('time = "3s"\ndelay = "20ms"', (10, 10, 10)),
    ],
)
def test_queue_delay_on_a_link_that_changes(
    one: One, finished: Run, changes: str, ms: tuple[int, ...]
) -> None:
    """What a packet waits that comes now, not the backlog over a mean rate."""
    scenario = one(link=f"[[link.at]]\n{changes}")
    for t, delay in zip((1, 4, 6), ms, strict=True):
        found = made(scenario, finished(queue(t, backlog=12500)))["summary"]["queue_delay_ms"]
        assert found["max"] == delay, t


def test_counters_after_warmup(one: One, finished: Run) -> None:
    rows = [flow(0), flow(2, retrans=5, ce=1), flow(5, retrans=6, ce=3), flow(10, retrans=25, ce=7)]
    out = made(one(top='warmup = "2s"'), finished(*rows))
    assert out["flows"][0]["retransmissions"] == 20
    assert out["flows"][0]["ce_marks"] == 6
    assert out["summary"]["retransmissions"] == 20


def test_rtt(one: One, finished: Run) -> None:
    rows = [flow(0, rtt=1), flow(1, rtt=0), *(flow(2 + t, rtt=(20 + t) * 1000) for t in range(5))]
    rtt = made(one(top='warmup = "1s"'), finished(*rows))["flows"][0]["rtt_ms"]
    assert (rtt["mean"], rtt["p50"], rtt["max"]) == (22, 22, 24)


def test_samples_are_kept(one: One, finished: Run) -> None:
    """Each in its own place: no two of them have one value."""
    first = {"cwnd": 10, "retrans": 1, "ce": 2, "least": 19000, "pacing": 6000}
    second = {"cwnd": 20, "ssthresh": 15, "rtt": 30000, "received": 7, "state": 3, "delivered": 9}
    second |= {"retrans": 4, "ce": 5, "least": 18000, "pacing": 8000}
    rows = [flow(0, **first), flow(0.1, **second)]
    (connection,) = made(one(), finished(*rows))["flows"][0]["connections"]
    assert connection == {
        "t": [0, 0.1],
        "cwnd": [10, 20],
        "ssthresh": [None, 15],
        "rtt_us": [20000, 30000],
        "received": [0, 7],
        "delivered": [0, 9],
        "state": [0, 3],
        **{"min_rtt_us": [19000, 18000], "retransmissions": [1, 4], "ce_marks": [2, 5]},
        "pacing_rate": [6000, 8000],
    }


# What tracefs prints for two connections, the second of them with other fields, for the
# receiver's side of the first, and for one that is none of the run's.
TRACE = """\
# tracer: nop
#
# entries-in-buffer/entries-written: 5/5   #P:1
##### CPU 0 buffer started ####
           lfgen-31      [000] .....   100.500001: foo: {0}:5001 reason=init cwnd=10 x=-1
          <idle>-0       [000] ..s3.   101.250000: bar: {0}:5002 reason=0 level=low gain=7
  a name: foo: 1-31      [000] ..s3.   101.500000: foo: {0}:5001 reason=layer cwnd=0020 x=3
           lfgen-31      [000] .....   101.600000: foo: {0}:40000 reason=init cwnd=10 x=0
           lfgen-31      [000] .....   101.700000: foo: {0}:22 reason=init cwnd=10 x=0
""".format("src=[::ffff:10.1.0.2]:40000 dest=[::ffff:10.0.0.2]")


def test_events(one: One, finished: Run) -> None:
    """Each connection has its own, from the start of the run, with the fields as they are."""
    scenario = one(top="trace = true", flow="parallel = 2")
    path = finished("o 100.25", flow(0), flow(0, 1), trace=TRACE)
    first, second = made(scenario, path)["flows"][0]["connections"]
    assert first["events"] == [
        {"t": 0.250001, "name": "foo", "reason": "init", "cwnd": 10, "x": -1},
        {"t": 1.25, "name": "foo", "reason": "layer", "cwnd": 20, "x": 3},
    ]
    assert second["events"] == [{"t": 1, "name": "bar", "reason": 0, "level": "low", "gain": 7}]


def test_no_events(one: One, finished: Run) -> None:
    path = finished("o 100.25", flow(0), trace="# tracer: nop\n")
    (connection,) = made(one(top="trace = true"), path)["flows"][0]["connections"]
    assert connection["events"] == []
    (connection,) = made(one(), finished("o 100.25", flow(0)))["flows"][0]["connections"]
    assert "events" not in connection


@pytest.mark.parametrize(
    "line",
    ["CPU:0 [LOST 7 EVENTS]", " lfgen-31 [000] ..... 1.5: foo: src=[::]:1 dest=[::]:2 reason"],
)
def test_garbage_in_the_trace(one: One, finished: Run, line: str) -> None:
    path = finished("o 100.25", flow(0), trace=f"{TRACE}{line}\n")
    with pytest.raises(LabError, match="line 10 of the trace is no event: '.*(LOST|reason)"):
        made(one(top="trace = true"), path)


def test_completion(one: One, finished: Run) -> None:
    out = made(one(flow='bytes = "1MB"'), finished(flow(0), "d 1.5 0 1.25 1000000", flow(10)))
    assert out["flows"][0]["completion_s"] == 1.25
    assert made(one(), finished(flow(0), flow(10)))["flows"][0]["completion_s"] is None


def test_a_flow_is_complete_when_all_its_connections_are(one: One, finished: Run) -> None:
    scenario = one(flow='bytes = "1MB"\nparallel = 2')
    both = [flow(t, i) for t in (0, 10) for i in (0, 1)]
    done = ["d 1.5 0 1.25 1000000", "d 2.5 1 2.25 1000000"]
    assert made(scenario, finished(*both, *done))["flows"][0]["completion_s"] == 2.25
    assert made(scenario, finished(*both, done[0]))["flows"][0]["completion_s"] is None


def test_cross_traffic(one: One, finished: Run) -> None:
    scenario = one(
        top='warmup = "2s"',
        rest='[[udp]]\nrate = "8mbit"\nrtt = "1ms"\n'
        '[[short]]\nrtt = "1ms"\narrivals = ["500ms", "2.5s", "2.5s", "9s"]\nmean_size = "10kB"\n',
    )
    out = made(
        scenario,
        finished(
            "u 0 1 0",
            "u 2 1 1000",
            "u 10 1 8001000",
            "d 1 2 0.5 99999",
            "d 3 2 0.5 10000",
            "d 4 2 1.5 30000",
        ),
    )
    assert out["udp"] == [{"udp": 0, "goodput_bps": 8_000_000}]
    (short,) = out["short"]
    # One was complete before, and one is not yet.
    assert (short["begun"], short["completed"], short["goodput_bps"]) == (3, 2, 40000)
    assert (short["completion_s"]["mean"], short["completion_s"]["max"]) == (1.0, 1.5)


def test_chunks_that_never_come_are_late(one: One, finished: Run) -> None:
    """Of five chunks of 2 s one takes 3 s, and the last two do not come."""
    scenario = one(rest='[[video]]\nrtt = "1ms"\nrate = "8mbit"\n')
    size = 2_000_000
    done = (f"d 1.7 1 1.7 {size}", f"d 5 1 3 {size}", f"d 5.8 1 1.8 {size}")
    (video,) = made(scenario, finished(*done))["video"]
    assert (video["begun"], video["completed"], video["late"], video["due"]) == (5, 3, 3, 5)
    (of,) = video["by_size"]
    # 1.6 s at 10 Mbit/s, and no round trip.
    assert of["efficiency"] == pytest.approx((1.6 / 1.7 + 1.6 / 3 + 1.6 / 1.8) / 3, abs=1e-6)


def test_questions_that_were_begun(one: One, finished: Run) -> None:
    """Those of the measured time that are answered, and the one that is not, if it was asked before
    the end: each so long after the answer before it as its line says."""
    rest = '[[request]]\nrtt = "1ms"\nmean_size = "10kB"\nthink = "1s"\ncount = 2\n'
    scenario = one(top='warmup = "2s"', rest=rest)
    planned = plan.make(scenario, 3, prefix="lf", virtual=True)
    third = float(planned.files["objects-1"].splitlines()[3].split()[0])
    for after, asked in ((-1e-3, 1), (1e-3, 0)):
        last = scenario.duration - third + after
        done = ["d 1 1 0.5 9", "d 3 1 0.5 9", f"d {last:.9f} 1 0.5 9"]
        (found,) = made(scenario, finished(*done))["request"]
        # The other connection asked once, and has no answer.
        assert (found["begun"], found["completed"]) == (3 + asked, 2)


def efficiency(one: One, finished: Run, link: str, line: str, entry: str) -> float:
    """That of one object, of a link that is 10 Mbit/s but for `link`."""
    kind = entry.partition("]")[0].strip("[")
    rest = f'{entry}\nrtt = "100ms"\n'
    (found,) = made(one(link=link, rest=rest), finished(line))[kind]
    (of,) = found["by_size"]
    return float(of["efficiency"])


OBJECT = '[[short]]\nper_second = 1.0\nmean_size = "1kB"'


def test_efficiency_of_a_link_that_changes(one: One, finished: Run) -> None:
    """The least time is that of the link as it was: 10 Mbit/s, from 2 s on an outage, from 3 s on 5
    Mbit/s.  An object begins at 1 s, and its data after a round trip, at 1.1 s."""
    link = """
[[link.at]]
time = "2s"
down = true
[[link.at]]
time = "3s"
down = false
rate = "5mbit"
"""
    # 1 MB: 8 of the 9 Mbit until the outage.
    least = 0.1 + 0.8
    assert efficiency(one, finished, link, "d 2 1 1 1000000", OBJECT) == pytest.approx(least)
    # 2 MB: 9 Mbit until the outage, then 7 at half the rate.
    least = 1 + 1 + 7 / 5
    assert efficiency(one, finished, link, "d 5 1 4 2000000", OBJECT) == pytest.approx(least / 4)
    # A chunk does not wait for the round trip.
    least = 1 + 1 + 6 / 5
    video = '[[video]]\nrate = "1mbit"'
    assert efficiency(one, finished, link, "d 5 1 4 2000000", video) == pytest.approx(least / 4)
    # Its delay counts in the round trip and on the way of the data.
    link = '[[link.at]]\ntime = "500ms"\ndelay = "40ms"'
    least = 0.1 + 0.04 + 0.8 + 0.04
    assert efficiency(one, finished, link, "d 2 1 1 1000000", OBJECT) == pytest.approx(least)
    # What goes in reverse knows nothing of it.
    back = f"{OBJECT}\nreverse = true"
    link = f'reverse_rate = "20mbit"\n{link}'
    assert efficiency(one, finished, link, "d 2 1 1 1000000", back) == pytest.approx(0.5)


def test_impaired_hop(one: One, finished: Run) -> None:
    rows = ["l 0 0 0 0 0 0 0", "l 10 0 0 7 993 0 0"]
    out = made(one(link="loss = 0.007"), finished(*rows))
    assert out["impaired_hop"] == {"dropped": 7, "sent": 993, "reordered": 0}
    assert "impaired_hop" not in made(one(), finished(flow(0)))
    # As lforder counts it, by the same clock.
    order = "r 4.9 0\nr 5.000000000 1\nr 15.000000000 4\n"
    out = made(one(link="reorder = 0.003"), finished("o 5", *rows, order=order))
    assert out["impaired_hop"] == {"dropped": 7, "sent": 993, "reordered": 3}


def test_way_back(one: One, finished: Run) -> None:
    """Bytes are of IP packets, as the bottleneck's, and its queue takes them at its own rate."""
    rows = ["l 0 0 0 1 2 100 0", "l 5 10140 10 3 12 15240 0", "l 10 0 0 5 42 60240 0"]
    back = '[[udp]]\nrate = "1mbit"\nrtt = "1ms"\nreverse = true'
    scenario = one(link='reverse_rate = "4mbit"', rest=back, top='warmup = "1s"')
    found = made(scenario, finished(*rows))
    assert "impaired_hop" not in found
    assert found["way_back"] == {
        **{"sent": 30, "sent_bytes": 45_000 - 30 * 14, "dropped": 2, "loss": 2 / 32},
        "queue_delay_ms": {"mean": 10.0, "p50": 0.0, "p95": 20.0, "p99": 20.0, "max": 20.0},
    }


def test_it_says_what_was_run(one: One, finished: Run, tree: Path) -> None:
    scenario = one(cc='cc = "foo"', link='aqm = "red"')
    path = finished(flow(0))
    planned = plan.make(scenario, 3, prefix="lf", virtual=True)
    out = result.make(scenario, 3, "uml", planned, path, {"plan": "p", "kernel": "6.12.1 abc"})
    assert (out["seed"], out["backend"], out["kernel"]) == (3, "uml", "6.12.1")
    assert out["scenario"]["flow"][0]["cc"] == "foo"
    assert out["scenario"]["link"]["aqm"] == "red"
    assert out["log"] == ["eth0: up"]
    known = out["identity"]
    assert known == {"plan": "p", "kernel": "6.12.1 abc", "id": known["id"]}
    other = result.make(scenario, 3, "vm", planned, path, {"plan": "p"})["identity"]
    assert other["kernel"] == "6.12.1" and other["id"] != known["id"]


def test_the_page_has_every_field(one: One, finished: Run) -> None:
    """docs/lab.md, by name; what is within a list under the list's name."""
    page = (Path(__file__).parents[2] / "docs/lab.md").read_text()
    shown = set(re.findall(r"`([\w.\[\]]+)`", page.partition("## Result files")[2]))
    scenario = one(
        link="loss = 0.1",
        rest='[[udp]]\nrate = "8mbit"\nrtt = "1ms"\n'
        '[[short]]\nrtt = "1ms"\nper_second = 2.5\nmean_size = "10kB"\n'
        '[[request]]\nrtt = "1ms"\nmean_size = "10kB"\n[[video]]\nrtt = "1ms"\nrate = "1mbit"\n',
    )
    out = made(scenario, finished(flow(0), queue(0), "l 0 0 0 0 0 0 0", accelerator="kvm"))
    fields = {*out, *out["summary"], *out["flows"][0], *out["flows"][0]["connections"][0]}
    fields |= {f"{name}[].{key}" for name in ("udp", "short") for key in out[name][0]}
    fields |= {"request[].request", "video[].video", "video[].late", "video[].due"}
    for kind in ("request", "video"):
        same = set(out[kind][0]) - {kind, "late", "due"}
        assert same == set(out["short"][0]) - {"short"}
    for name in ("queue", "impaired_hop"):
        fields |= {f"{name}.{key}" for key in out[name]}
    back = '[[udp]]\nrate = "1mbit"\nrtt = "1ms"\nreverse = true'
    way = made(one(link='reverse_rate = "4mbit"', rest=back), finished("l 0 0 0 0 0 0 0"))
    fields |= {f"way_back.{key}" for key in way["way_back"]} | {"way_back"}
    assert fields <= shown


def test_nothing_of_the_machine_is_in_it(one: One, finished: Run, tmp_path: Path) -> None:
    text = json.dumps(made(one(), finished(flow(0), queue(0))))
    for what in (str(tmp_path), os.uname().nodename, str(Path.home()) + "/"):
        assert what not in text


# --- runs that failed


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: CPU: 0 PID: 1 at net/ipv4/tcp_input.c:1 tcp_ack+0x1/0x2",
        "BUG: unable to handle page fault for address: 0000000000000000",
        "kernel BUG at mm/slub.c:1!",
        "Oops: 0000 [#1] PREEMPT",
        "BUG: KASAN: slab-out-of-bounds in tcp_ack",
        "BUG: KFENCE: use-after-free read in tcp_ack",
        "UBSAN: shift-out-of-bounds in tcp_foo.c:1:2",
        "general protection fault, probably for non-canonical address",
        "WARNING: suspicious RCU usage",
        "refcount_t: underflow; use-after-free.",
        "rcu: INFO: rcu_sched self-detected stall on CPU",
        "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
        "watchdog: BUG: soft lockup - CPU#0 stuck for 22s!",
        "INFO: task lfgen:12 blocked for more than 120 seconds.",
        "Kernel panic - not syncing: Fatal exception",
        "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
        "BUG: scheduling while atomic: lfgen/1/0x00000002",
        "Modules linked in: tcp_foo\n[    2.0] Call Trace:",
    ],
)
def test_splat(one: One, finished: Run, line: str) -> None:
    log = f"[    1.000000] eth0: up\n[    2.000000] {line}\n"
    with pytest.raises(LabError, match="the kernel complained") as caught:
        made(one(), finished(flow(0), flow(10), log=log))
    assert line.splitlines()[0] in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "tcp_foo: loading out-of-tree module taints kernel.",
        "tcp_foo: beta=0 refused: valid is 1 to 500",
        "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready",
        "sched: RT throttling activated",
        "debugfs mounted, DEBUG on",
    ],
)
def test_no_splat(one: One, finished: Run, line: str) -> None:
    assert made(one(), finished(flow(0), log=f"[    2.000000] {line}\n"))["log"] == [line]


@pytest.mark.parametrize("name", ["status", "samples", "log"])
def test_missing_file(one: One, finished: Run, name: str) -> None:
    path = finished(flow(0), out="what it said\n", console="and the console\n")
    (path / name).unlink()
    with pytest.raises(LabError, match=f"left no {name}") as caught:
        made(one(), path)
    assert "what it said" in str(caught.value) and "and the console" in str(caught.value)


def test_missing_trace(one: One, finished: Run) -> None:
    with pytest.raises(LabError, match="left no trace"):
        made(one(top="trace = true"), finished("o 100.25", flow(0)))


def test_empty_directory(one: One, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="left no status"):
        made(one(), tmp_path)


def test_error_of_the_run(one: One, finished: Run) -> None:
    with pytest.raises(LabError, match=r"^insmod tcp_foo failed$"):
        made(one(), finished(flow(0), error="insmod tcp_foo failed\n"))


def test_error_of_the_generator(one: One, finished: Run) -> None:
    with pytest.raises(LabError, match="flow 0: send: Broken pipe"):
        made(one(), finished(flow(0), "x flow 0: send: Broken pipe"))


@pytest.mark.parametrize("line", ["q 1.0 2", "Segmentation fault", "", "f 1.0 zero 1", "q"])
def test_garbage_among_the_samples(one: One, finished: Run, line: str) -> None:
    with pytest.raises(LabError):
        made(one(), finished(flow(0), line, flow(10)))


def test_another_algorithm_in_use(one: One, finished: Run) -> None:
    assert made(one(cc='cc = "foo"'), finished("a 0 foo", flow(0)))
    with pytest.raises(LabError, match="asked for foo, the kernel uses reno"):
        made(one(cc='cc = "foo"'), finished("a 0 reno", flow(0)))


# --- files


def test_write_and_read(tmp_path: Path, one: One, finished: Run) -> None:
    out = made(one(), finished(flow(0), flow(10)))
    path = tmp_path / "new/dir/x.json"
    result.write(out, path)
    assert result.read(path) == out
    assert [p.name for p in path.parent.iterdir()] == ["x.json"]
    text = path.read_bytes()
    result.write(dict(reversed(out.items())), path)
    assert path.read_bytes() == text, "the order of keys is fixed"


def test_write_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    result.write({"longfat": 1, "old": True}, path)
    with pytest.raises(TypeError):
        result.write({"longfat": 1, "bad": object()}, path)
    assert result.read(path) == {"longfat": 1, "old": True}

    written: list[Path] = []

    def half(self: Path, text: str) -> int:
        written.append(self)
        self.write_bytes(text[: len(text) // 2].encode())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(LabError, match="x.json: cannot be written: No space .*--out"):
        result.write({"longfat": 1, "new": True}, path)
    assert written and path not in written
    assert result.read(path) == {"longfat": 1, "old": True}
    assert list(tmp_path.iterdir()) == [path], "no half file"


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"1", b"{}", b'{"longfat": 99}', b"\xff"])
def test_read_refuses(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text)
    with pytest.raises(LabError, match=r"x\.json: is not a result file"):
        result.read(path)


def test_read_nothing(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"none: is not a result file"):
        result.read(tmp_path / "none")


def test_summarise(one: One, finished: Run) -> None:
    rows = [flow(t / 10, received=t) for t in range(101)] + [queue(t / 100) for t in range(1001)]
    out = made(one(), finished(*rows))
    before = json.dumps(out)
    small = result.summarise(out)
    assert json.dumps(out) == before, "the result itself is unchanged"
    assert len(json.dumps(small)) < 3000 < len(before)
    assert small["summary"] == out["summary"]
    assert small["flows"][0]["goodput_bps"] == out["flows"][0]["goodput_bps"]
    assert small["longfat"] == result.FORMAT
    assert "connections" not in small["flows"][0]
    # It is tied to the very result that it is of.
    out["flows"][0]["connections"][0]["cwnd"][50] += 1
    assert result.summarise(out)["of"] != small["of"]


def test_summaries_say_of_a_scenario_what_is_no_default(tmp_path: Path) -> None:
    """What is read is what was written: tables, lists of them, and a key of older files."""
    scenarios = [one for path in SOME for one in load(ROOT / f"tests/scenarios/{path}.toml")]
    lines = [{"scenario": json.loads(one.model_dump_json()), "seed": 1} for one in scenarios]
    lines[0]["scenario"]["link"]["once"] = 7
    path = tmp_path / "some.json"
    path.write_text(summaries.text(lines))
    assert summaries.read(path) == lines
    first = json.loads(path.read_text())[0]["scenario"]
    assert "sample" not in first and first["link"] | {"once": 7} == first["link"]
    assert len(path.read_text()) < len(json.dumps(lines)) / 2


@pytest.mark.parametrize("text", ["[1]", '[{"scenario": "x"}]', '[{"scenario": {"flow": [1]}}]'])
def test_a_list_that_is_none_of_summaries(tmp_path: Path, text: str) -> None:
    """It is refused, and with words."""
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(LabError, match="is not a result file"):
        result.read_all(path)


def test_what_is_committed_says_no_default() -> None:
    """Nor is anything lost of what is there: written again, it has the same bytes."""
    lists = [path for path in (ROOT / "docs/results").glob("*.json") if is_summaries(path)]
    assert len(lists) > 140
    for path in lists:
        assert summaries.text(summaries.read(path)) == path.read_text(), path


def test_current_is_the_same_run_on_the_same_platform(
    one: One, finished: Run, tmp_path: Path, tree: Path
) -> None:
    scenario, path = one(cc='cc = "foo"'), tmp_path / "result.json"
    on = Platform.of_sources()

    def current(scenario: Scenario, seed: int = 3, backend: str = "vm") -> bool:
        return result.current(path, scenario, seed, backend, Platform.of_sources())

    assert not current(scenario)
    planned = plan.make(scenario, 3, prefix="lf", virtual=False)
    parts = on.identity(scenario, 3, "vm")
    result.write(result.make(scenario, 3, "vm", planned, finished(flow(0)), parts), path)
    assert current(scenario)
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    assert not current(scenario), "damaged: it is made again"
    path.write_bytes(whole)
    assert not current(scenario, seed=4) and not current(scenario, backend="host")
    assert not current(one(cc='cc = "foo"', top='warmup = "1s"'))
    (tree / "include/longfat/growth.h").write_text("/* only said otherwise */\n")
    assert current(scenario)
    (tree / "include/longfat/growth.h").write_text("#define LF_GROWTH 2\n")
    assert not current(scenario)


def test_two_labs_write_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writes it and ends before the first puts its own in the place."""
    path = tmp_path / "some.json"
    replace = Path.replace

    def late(self: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        result.write_whole("other\n", path)
        return self.replace(target)

    monkeypatch.setattr(Path, "replace", late)
    result.write_whole("first\n", path)
    assert path.read_text() == "first\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_insmod_and_the_kernel_said(one: One, finished: Run) -> None:
    """Of a module that could not be loaded, beside what the run's script says."""
    run = finished(
        error="tcp_foo.ko cannot be loaded\n",
        out="insmod: ERROR: Invalid parameters\n",
        dmesg="booting\n" + "before\n" * 9 + "tcp_foo: beta=0 refused: valid is 1 to 500\n",
    )
    with pytest.raises(LabError) as caught:
        made(one(), run)
    words = str(caught.value)
    assert words.startswith("tcp_foo.ko cannot be loaded\ninsmod: ERROR: Invalid parameters\n")
    assert words.endswith("tcp_foo: beta=0 refused: valid is 1 to 500") and "booting" not in words
    with pytest.raises(LabError, match=r"^something else$"):
        made(one(), finished(error="something else\n", out="words\n"))


def test_a_complaint_is_told_with_the_log_of_the_run(one: One, finished: Run) -> None:
    """From its begin; from the boot, if it was there that the kernel complained."""
    lines = ["Linux version", "[ 0.1] longfat: begin 28 f4a7", "Call Trace:", "last"]
    for first, begin in (("Linux version", lines[1]), ("WARNING: CPU: 0", "WARNING: CPU: 0")):
        run = finished(flow(0), flow(10), dmesg="\n".join([first, *lines[1:]]))
        with pytest.raises(LabError) as caught:
            made(one(), run)
        _, second, *_, end = str(caught.value).splitlines()
        assert (second, end) == (begin, "last")
