# SPDX-License-Identifier: GPL-2.0
"""What the lab promises: exact paths, every scenario key at work, runs that repeat,
failures that are loud and ends that are clean."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from conftest import EMPTY, SMALL, Experiment

from longfat.core.errors import LabError
from longfat.run import disciplines, plan, result, scenario
from longfat.run.backends import Uml, fill

# Everything that TCP hands to the sender's queue, before anything cuts it up.
QUEUED = """
tracing=/sys/kernel/tracing/instances/queued
mkdir "$tracing" && echo 65536 >"$tracing/buffer_size_kb" || exit 1
echo 'name == "eth0" && len > 1400' >"$tracing/events/net/net_dev_queue/filter"
echo 1 >"$tracing/events/net/net_dev_queue/enable"
./bin/lfgen traffic >samples 2>&1 || exit 1
cat "$tracing/trace" >queued
rmdir "$tracing"
"""


def test_same_seed_same_bytes(experiment: Experiment, tmp_path: Path) -> None:
    """Everything random at once, twice, on different cores at the same time: equal bytes."""
    parts = {
        "link": 'loss = "0.1%"\nreorder = "0.1%"\nduplicate = "0.1%"\njitter = "1ms"',
        "flow": 'count = 3\njitter = "1s"',
        "more": '[[short]]\nrtt = "20ms"\nper_second = 5\nmean_size = "20kB"\n'
        '[[udp]]\nrtt = "10ms"\nrate = "2mbit"\non = "1s"\noff = "1s"',
    }
    experiment(seeds=[7, 8], out="a", **parts)
    experiment(seeds=[8, 7], out="b", **parts)
    for seed in (7, 8):
        name = f"small-s{seed}.json"
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    first, second = (result.read(tmp_path / "a" / f"small-s{seed}.json") for seed in (7, 8))
    assert first["flows"] != second["flows"]


def test_another_seed_without_anything_random(experiment: Experiment) -> None:
    """So one run is all there is of a scenario that draws nothing."""
    flow = '[[flow]]\ncc = "cubic"\nrtt = "30ms"\nstart = "1s"'
    udp = '[[udp]]\nrtt = "10ms"\nrate = "2mbit"'
    first, second = experiment(seeds=[7, 8], more=f"{flow}\n{udp}")
    assert {key for key in first if first[key] != second[key]} == {"seed", "identity"}


def test_link_rate_and_buffer_are_exact(experiment: Experiment) -> None:
    """What an overloaded link delivers is its rate to a packet, and its queue never holds
    more than the buffer."""
    udp = '[[udp]]\nrtt = "10ms"\nrate = "40mbit"\nsize = 1472'
    (one,) = experiment(flow='duration = "1s"', more=udp)
    packet = 1500 * 8 / 8  # bits per second: one packet more or less in 8 s
    assert one["udp"][0]["goodput_bps"] == pytest.approx(20e6 * 1472 / 1500, abs=2 * packet)
    assert max(one["queue"]["packets"]) == round(20e6 / 8 * 0.04 / 1500)


def test_each_flow_has_its_rtt(experiment: Experiment) -> None:
    """Without a queue (the sockets' buffers bound the windows), what ss shows is the base RTT."""
    small = 'socket_buffer = "16kB"'
    (one,) = experiment(
        flow=small, more=f'[[flow]]\ncc = "cubic"\nrtt = "150ms"\nduration = "5s"\n{small}'
    )
    assert one["summary"]["queue_delay_ms"]["max"] < 10
    for flow, base in zip(one["flows"], (40, 150), strict=True):
        assert base <= flow["rtt_ms"]["p50"] <= base + 10


@pytest.mark.parametrize("aqm", sorted({*disciplines.MARKING} - {*disciplines.NEWER}))
def test_ecn_marks_instead_of_drops(experiment: Experiment, aqm: str) -> None:
    """Marks reach the sender and it backs off without loss; without ECN the AQM drops."""
    link = f'aqm = "{aqm}"\necn = {{}}'
    if aqm == "fq":
        link += '\naqm_options = {{ ce_threshold = "5ms" }}'
    (marked,) = experiment(link=link.format("true"), out="marked")
    (dropped,) = experiment(link=link.format("false"), out="dropped")
    assert marked["flows"][0]["ce_marks"] > 0
    assert dropped["flows"][0]["ce_marks"] == 0
    assert dropped["summary"]["dropped"] > marked["summary"]["dropped"]
    for one in (marked, dropped):
        assert one["summary"]["utilisation"] > 0.8
        # Full packets leave at the link's rate behind an AQM too.
        assert one["summary"]["utilisation"] <= 1.001


@pytest.mark.parametrize("leave", [1, 2])
def test_dctcp_is_dctcp(experiment: Experiment, leave: int) -> None:
    """Its receiver, behind whichever link, takes ECN up with it: else it is Reno, and unmarked."""
    marks = 'aqm = "codel"\necn = true\n[[link]]\nrate = "25mbit"\nbuffer = "1bdp"'
    text = SMALL.replace("[link]", "[[link]]")
    (one,) = experiment(text=text, cc="dctcp", link=marks, flow=f"leave = {leave}")
    assert one["flows"][0]["ce_marks"] > 0 and one["summary"]["dropped"] == 0


def test_random_loss_is_the_rate_asked_for(experiment: Experiment) -> None:
    (one,) = experiment(text=SMALL.replace("10s", "60s"), link='loss = "0.5%"')
    hop = one["impaired_hop"]
    assert hop["dropped"] / (hop["dropped"] + hop["sent"]) == pytest.approx(0.005, rel=0.15)


def test_duplicates_arrive_twice(experiment: Experiment) -> None:
    """One packet in ten twice: the receiver of UDP counts a tenth more."""
    more = '[[udp]]\nrtt = "10ms"\nrate = "5mbit"\nsize = 1000'
    (one,) = experiment(
        link='duplicate = "10%"',
        flow='duration = "1s"',
        more=more,
        text=SMALL.replace("10s", "32s"),
    )
    assert one["udp"][0]["goodput_bps"] == pytest.approx(1.1 * 5e6 * 1000 / 1042, rel=0.02)


RENO = SMALL.replace('"20mbit"', '"100mbit"').replace('"10s"', '"30s"').replace('"2s"', '"10s"')


def test_jitter_keeps_the_order(experiment: Experiment) -> None:
    """Packets are late by up to 10 ms, and Reno loses nothing by it, as none overtakes."""
    (still,) = experiment(text=RENO, cc="reno", out="still")
    (jitter,) = experiment(text=RENO, cc="reno", link='jitter = "5ms"', out="jitter")
    assert jitter["impaired_hop"]["reordered"] == 0
    assert jitter["summary"]["goodput_bps"] > 0.98 * still["summary"]["goodput_bps"]
    # A packet or two in a round trip, so that each finds none waiting: what varies is the jitter.
    thin = {"text": SMALL.replace("10s", "60s"), "flow": 'socket_buffer = "4kB"', "cc": "reno"}
    (still,) = experiment(out="thin", **thin)
    (jitter,) = experiment(link='jitter = "5ms"', out="thin-jitter", **thin)
    late = jitter["flows"][0]["rtt_ms"]["mean"] - still["flows"][0]["rtt_ms"]["mean"]
    assert late == pytest.approx(5, rel=0.1)
    assert jitter["flows"][0]["rtt_ms"]["max"] < still["flows"][0]["rtt_ms"]["max"] + 10


def test_acknowledgments_are_thinned(experiment: Experiment) -> None:
    """The sender hears of what has arrived an eighth as often, and gets on nonetheless."""
    # Ten milliseconds for a packet, so that each acknowledgment is seen in the samples.
    slow = SMALL.replace('"20mbit"', '"1.2mbit"').replace('"1bdp"', '"1000p"')
    slow = slow.replace("[link]", 'sample = "5ms"\n[link]', 1)
    heard = []
    for thin in (1, 8):
        (one,) = experiment(text=slow, cc="reno", link=f"ack_thin = {thin}", out=f"thin-{thin}")
        assert one["summary"]["utilisation"] > 0.98
        connection = one["flows"][0]["connections"][0]
        times = zip(connection["t"], connection["delivered"], strict=True)
        heard.append(len({count for t, count in times if t >= 2}))
    assert heard[0] / heard[1] == pytest.approx(8, rel=0.1)


@pytest.mark.parametrize("jitter", ["0ms", "5ms"])
def test_reordering_is_the_rate_asked_for(experiment: Experiment, jitter: str) -> None:
    """One packet in a hundred is overtaken, and none is lost for it; with jitter too."""
    link = f'reorder = "1%"\njitter = "{jitter}"'
    (one,) = experiment(text=RENO, cc="reno", link=link)
    hop = one["impaired_hop"]
    assert hop["reordered"] / hop["sent"] == pytest.approx(0.01, rel=0.1)
    assert hop["dropped"] == 0


def test_how_late_a_reordered_packet_is(experiment: Experiment) -> None:
    """As much as it is told; if all are late none is overtaken."""
    few = {"flow": 'socket_buffer = "4kB"', "cc": "reno"}
    (still,) = experiment(out="still", **few)
    (late,) = experiment(link='reorder = "100%"\nreorder_delay = "30ms"', out="late", **few)
    rtts = [one["flows"][0]["rtt_ms"]["p50"] for one in (still, late)]
    assert rtts[1] - rtts[0] == pytest.approx(30, abs=0.2)
    assert late["impaired_hop"]["reordered"] == 0


def test_reordered_datagrams_are_counted(experiment: Experiment) -> None:
    (one,) = experiment(
        text=SMALL.replace("10s", "32s"),
        link='reorder = "5%"',
        flow='duration = "1s"',
        more='[[udp]]\nrtt = "10ms"\nrate = "5mbit"\nsize = 1000',
    )
    hop = one["impaired_hop"]
    assert hop["sent"] == pytest.approx(30 * 5e6 / 8 / 1042, rel=0.02)
    assert hop["reordered"] / hop["sent"] == pytest.approx(0.05, rel=0.1)


def test_the_count_of_reordered_packets_is_exact(uml: Uml, tmp_path: Path) -> None:
    """As many as another program finds by TCP's sequence numbers, to the packet."""
    file = tmp_path / "x.toml"
    parts = {
        "link": 'reorder = "3%"\njitter = "2ms"',
        "flow": 'count = 3\nparallel = 2\nbytes = "2MB"\nsocket_buffer = "64kB"',
    }
    text = SMALL.replace('"2s"', '"0s"').replace('"1bdp"', '"4bdp"')
    file.write_text(text.format(**EMPTY | parts))
    (one,) = scenario.load(file)
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(Path(__file__).with_name("behind.py"), run)
    made = plan.make(one, 1, prefix="lf", virtual=True)
    main = (
        "ip netns exec lf-d python3 behind.py over >behind &\nsleep 1\n"
        f"{made.main.strip()} || exit 1\ntouch over; wait\n"
    )
    fill(run, made, one, uml, main=main)
    uml.execute(run, one, 1, timeout=120)
    found = result.make(one, 1, "uml", made, run)
    assert found["summary"]["dropped"] == found["impaired_hop"]["dropped"] == 0
    assert all(flow["completion_s"] for flow in found["flows"])
    behind, data = map(int, (run / "behind").read_text().split())
    assert data > 6 * 2_000_000 / 1500
    assert found["impaired_hop"]["reordered"] == behind > 100


def test_without_offload_tcp_sends_single_packets(uml: Uml, tmp_path: Path) -> None:
    """What TCP hands to the sender's queue is a packet of the link each, else batches of them."""
    most, packets = {}, {}
    for offload in ("true", "false"):
        file = tmp_path / f"{offload}.toml"
        more = f"[host]\noffload = {offload}"
        file.write_text(RENO.replace('"30s"', '"15s"').format(**EMPTY | {"more": more}))
        (one,) = scenario.load(file)
        run = tmp_path / offload
        run.mkdir()
        made = plan.make(one, 1, prefix="lf", virtual=True)
        fill(run, made, one, uml, main=QUEUED)
        uml.execute(run, one, 1, timeout=120)
        assert result.make(one, 1, "uml", made, run)["summary"]["utilisation"] > 0.9
        queued = (run / "queued").read_text()
        lengths = [int(n) for n in re.findall(r"net_dev_queue: dev=eth0 .*len=(\d+)", queued)]
        most[offload], packets[offload] = max(lengths), len(lengths)
    assert most["true"] > 2 * 1514 and most["false"] == 1514
    assert packets["false"] > 1.5 * packets["true"]


def test_flows_in_turn_share_one_capacity(experiment: Experiment) -> None:
    """Two flows one after the other do not add up to twice the link."""
    second = '[[flow]]\ncc = "ltcp"\nrtt = "40ms"\nstart = "6s"'
    (one,) = experiment(flow='duration = "6s"', more=second)
    assert 0.9 <= one["summary"]["utilisation"] <= 1.001


def test_udp_on_off_rate(experiment: Experiment) -> None:
    """5 Mbit/s half of the time are 2.5 Mbit/s."""
    (one,) = experiment(
        text=SMALL.replace("10s", "22s"),
        flow='duration = "1s"',
        more='[[udp]]\nrtt = "10ms"\nrate = "5mbit"\nsize = 1000\non = "1s"\noff = "1s"',
    )
    # The rate is of the packets on the wire: 1000 bytes of payload, 28 and 14 of headers.
    assert one["udp"][0]["goodput_bps"] == pytest.approx(2.5e6 * 1000 / 1042, rel=0.02)


def test_short_flows_complete(experiment: Experiment) -> None:
    (one,) = experiment(
        text=SMALL.replace("10s", "32s"),
        more='[[short]]\nrtt = "20ms"\nper_second = 10\nmean_size = "10kB"',
    )
    short = one["short"][0]
    assert short["completed"] == pytest.approx(300, rel=0.25)
    assert short["completion_s"]["p50"] >= 0.04  # a handshake and a round trip


def test_size_limited_and_parallel_flows(experiment: Experiment) -> None:
    """5 MB over 20 Mbit/s take their time; four connections are one flow."""
    (one,) = experiment(
        flow='bytes = "5MB"\nparallel = 4', text=SMALL.replace('warmup = "2s"', 'warmup = "0s"')
    )
    flow = one["flows"][0]
    assert len(flow["connections"]) == 4
    assert flow["received_bytes"] == 4 * 5_000_000
    ideal = 4 * 5e6 * 8 / one["summary"]["capacity_bps"]
    assert ideal <= flow["completion_s"] <= ideal * 1.1


@pytest.mark.parametrize("host", ["", "pacing = false", "offload = false"])
def test_access_link_is_shared_and_exact(experiment: Experiment, host: str) -> None:
    """Two connections share their sender's 20 Mbit/s on the way to a link of 100: all of its
    payload rate arrives and nothing is lost, not even at the sender."""
    (one,) = experiment(
        text=SMALL.replace('"20mbit"', '"100mbit"'),
        flow='parallel = 2\naccess = "20mbit"',
        more=f"[host]\n{host}",
    )
    flow, summary = one["flows"][0], one["summary"]
    assert flow["goodput_bps"] == pytest.approx(20e6 * 1448 / 1500, rel=0.005)
    assert all(connection["received"][-1] > 0 for connection in flow["connections"])
    assert (summary["dropped"], summary["retransmissions"]) == (0, 0)
    assert summary["capacity_bps"] == round(100e6 * 1448 / 1500)
    # A queue at the sender; at the bottleneck there is none to speak of.
    assert max(one["queue"]["packets"]) <= 2


def test_socket_buffer_bounds_the_rate(experiment: Experiment) -> None:
    """A window that the buffer bounds: at most buffer / RTT."""
    (one,) = experiment(flow='socket_buffer = "16kB"')
    assert 0 < one["summary"]["goodput_bps"] <= 2 * 16e3 * 8 / 0.04
    assert one["summary"]["dropped"] == 0


def test_four_thousand_connections(experiment: Experiment) -> None:
    """All of them are there, send to the end and lose nothing: windows are of a few packets, as
    the receiver's buffers are small."""
    (one,) = experiment(
        text=SMALL.replace('"20mbit"', '"1gbit"')
        .replace('"1bdp"', '"25000p"')
        .replace('"10s"', '"3s"\nsample = "500ms"'),
        cc="reno",
        flow='count = 1000\nparallel = 4\njitter = "1s"',
        more='[host.sysctl]\n"net.ipv4.tcp_rmem" = "4096 16384 16384"',
    )
    assert one["summary"]["retransmissions"] == one["summary"]["dropped"] == 0
    connections = [c for flow in one["flows"] for c in flow["connections"]]
    assert len(connections) == 4000
    assert all(c["received"][-1] > c["received"][-2] > 0 for c in connections)


def test_a_kernel_complaint_fails_the_run(uml: Uml, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(SMALL.format(**EMPTY).replace("10s", "3s"))
    (one,) = scenario.load(file)
    run = tmp_path / "run"
    run.mkdir()
    made = plan.make(one, 1, prefix="lf", virtual=True)
    main = "echo '<4>WARNING: CPU: 0 PID: 1 at test' >/dev/kmsg\n./bin/lfgen traffic >samples\n"
    fill(run, made, one, uml, main=main)
    uml.execute(run, one, 1, timeout=60)
    with pytest.raises(LabError, match="complained"):
        result.make(one, 1, "uml", made, run)


def test_trace_without_a_module_of_ours(experiment: Experiment) -> None:
    """No event, and no failure; the rest of the result is as ever."""
    (one,) = experiment(text="trace = true\n" + SMALL, cc="reno")
    (connection,) = one["flows"][0]["connections"]
    assert connection["events"] == []
    assert one["summary"]["utilisation"] > 0.8


def test_events_are_of_their_connection_and_time(experiment: Experiment) -> None:
    """Each connection's own events, the first when it is established; a decrease is to half
    or more of the window that the samples before and after it show."""
    more = '[[flow]]\ncc = "ltcp"\nrtt = "20ms"\nstart = "3s"\nparallel = 2'
    (one,) = experiment(text="trace = true\n" + SMALL, more=more)
    connections = [c for flow in one["flows"] for c in flow["connections"]]
    assert len(connections) == 3
    for connection, start, rtt in zip(connections, (0, 3, 3), (0.04, 0.02, 0.02), strict=True):
        events = connection["events"]
        # After the handshake, in the queue that another flow has filled.
        assert events[0]["reason"] == "init"
        assert start + rtt <= events[0]["t"] <= start + 2 * rtt + 0.04
        falls = [e for e in events if e["reason"] == "decrease" and e["t"] > start + 1]
        assert len(falls) >= 3
        for event in falls:
            after = next(i for i, t in enumerate(connection["t"]) if t > event["t"])
            highest = max(connection["cwnd"][after - 1 : after + 1])
            assert highest / 2 <= event["cwnd"] <= highest, event


@pytest.mark.parametrize(
    ("init", "main", "words"),
    [
        ("", "echo 4 | tee /sys/kernel/tracing/instances/*/buffer_size_kb", "events were lost"),
        ("mount -n -t tracefs", "", "mount -t tracefs tracefs /sys/kernel/tracing"),
    ],
    ids=["lost events", "no tracefs"],
)
def test_a_trace_is_whole_or_the_run_fails(
    uml: Uml, tmp_path: Path, init: str, main: str, words: str
) -> None:
    """Either way the tracing instance is gone afterwards."""
    file = tmp_path / "x.toml"
    file.write_text("trace = true\n" + SMALL.format(**EMPTY | {"flow": "count = 20"}))
    (one,) = scenario.load(file)
    run = tmp_path / "run"
    run.mkdir()
    made = plan.make(one, 1, prefix="lf", virtual=True)
    fill(run, made, one, uml, main=f"{main}\n./bin/lfgen traffic >samples\n")
    script = (run / "init.sh").read_text()
    lines = [line for line in script.splitlines() if not init or init not in line]
    lines.insert(-1, 'ls /sys/kernel/tracing/instances >"$dir/left"')
    (run / "init.sh").write_text("\n".join(lines) + "\n")
    uml.execute(run, one, 1, timeout=60)
    with pytest.raises(LabError, match=words):
        result.make(one, 1, "uml", made, run)
    assert (run / "left").read_text() == ""


@pytest.mark.parametrize(
    "setting",
    ["beta = 501", 'beta = "x"', 'rtt_alpha = "1/7"', "one_layer = 1", 'slow_start = "hystart"'],
)
def test_a_bad_module_parameter_never_starts(experiment: Experiment, setting: str) -> None:
    with pytest.raises(LabError, match=r"module: ltcp\..*: valid is "):
        experiment(more=f"[module.ltcp]\n{setting}")


def test_interrupt_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C in the middle of two runs: status 130, no process, directory or file left."""
    file = tmp_path / "long.toml"
    file.write_text(SMALL.format(**EMPTY).replace("10s", "100000s"))
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "longfat", "run", str(file), "--seed", "1", "--seed", "2"]
        + ["-j", "2", "-o", str(tmp_path / "out")],
        env=environment,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
        # What a shell runs in the background inherits an interrupt that is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        deadline = time.monotonic() + 120
        while len(list((tmp_path / "tmp").glob("longfat-*/progress"))) < 2:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        started = psutil.Process(process.pid).children(recursive=True)
        assert len(started) >= 2
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    finally:
        process.terminate()
        process.wait(timeout=60)
    assert not [p for p in started if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "out").exists()
