# SPDX-License-Identifier: GPL-2.0
"""Scenario files: what is refused and how it is said, and what follows from a good one."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import One, Toml
from pydantic import BaseModel

from longfat.core.errors import LabError
from longfat.run import scenario

ROOT = Path(__file__).resolve().parents[2]


def refusal(path: Path, text: str | bytes) -> str:
    """What `load` says about a file, and that each line of it names the file."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(LabError) as caught:
        scenario.load(path)
    said = str(caught.value)
    assert all(line.startswith(f"{path}: ") for line in said.splitlines()), said
    return said


# (part of the file to set, the line), the key that the message names, words in it.
REFUSED = {
    "unknown key": ("top", "colour = 1", "colour", "unknown key; valid here: duration, flow, hos"),
    "unknown key of the link": ("link", "colour = 1", "link.colour", "here: ack_thin, aggregate, "),
    "unknown key of a flow": (
        "flow",
        "size = 1",
        "flow[0].size",
        "access, ack_ahead, ack_every, bytes",
    ),
    "unknown key of the host": (
        "rest",
        "[host]\nx = 1",
        "host.x",
        "gro, offload, pacing, quickack, sack, sysctl",
    ),
    "unknown table": ("rest", "[links]\nx = 1", "links", "unknown key; valid here: duration"),
    "missing key": ("duration", "", "duration", "is missing"),
    "missing key of a flow": ("cc", "", "flow[0].cc", "is missing"),
    "number for a time": ("top", "sample = 5", "sample", '5 is not a time|ns, us, ms|"120ms"'),
    "text for a number": ("link", 'mtu = "1500"', "link.mtu", "valid integer"),
    "fraction for a number": ("flow", "count = 1.5", "flow[0].count", "valid integer"),
    "text for a bool": ("link", 'ecn = "yes"', "link.ecn", "valid boolean"),
    "word for trace": ("top", 'trace = "ltcp"', "trace", "valid boolean"),
    "number for a bool": ("rest", "[host]\nsack = 1", "host.sack", "valid boolean"),
    "number for a text": ("cc", "cc = 1", "flow[0].cc", "no congestion control 1"),
    "table for a list": ("rest", "[udp]\nrate = 1", "udp", "valid list"),
    "list for a text": ("cc", 'cc = ["reno"]', "flow[0].cc", "no congestion control"),
    "no unit": ("rtt", 'rtt = "20"', "flow[0].rtt", "'20' is not a time|us, ms"),
    "wrong unit of a time": ("flow", 'start = "1gbit"', "flow[0].start", "is not a time"),
    "wrong unit of an optional time": ("flow", 'duration = "1x"', "flow[0].duration", "us, ms"),
    "wrong unit of a rate": ("rate", 'rate = "1gbyte"', "link.rate", "bit, kbit, mbit, gbit"),
    "wrong unit of a buffer": ("buffer", 'buffer = "9"', "link.buffer", '"5000p"|"0.333bdp"|"6MB"'),
    "wrong unit of a size": ("flow", 'bytes = "5p"', "flow[0].bytes", "kib, mib"),
    "wrong unit of a loss": ("link", 'loss = "0.1"', "link.loss", "0.01%"),
    "loss above 1": ("link", "loss = 1.5", "link.loss", "outside of 0..1"),
    "endless": ("duration", 'duration = "1e999s"', "duration", "is not a time"),
    "infinite rate": ("rate", 'rate = "1e999gbit"', "link.rate", "is not a rate"),
    "infinite buffer": ("buffer", 'buffer = "1e999MB"', "link.buffer", "is not a"),
    "infinite packets": ("buffer", 'buffer = "1e999p"', "link.buffer", "is not a buffer"),
    "no access": ("flow", 'access = "0bit"', "flow[0].access", "greater than 0"),
    "wrong unit of an access link": ("flow", 'access = "9MB"', "flow[0].access", "kbit, mbit"),
    "no rate": ("rate", 'rate = "0bit"', "link.rate", "greater than 0"),
    "mtu too small": ("link", "mtu = 255", "link.mtu", "256"),
    "mtu too big": ("link", "mtu = 9001", "link.mtu", "9000"),
    "unknown AQM": ("link", 'aqm = "lifo"', "link.aqm", "'fifo', 'red'"),
    "algorithm": ("cc", 'cc = "renno"', "flow[0].cc", "'renno'; valid:|, cubic, |, foo, |, reno, "),
    "algorithm of short flows": (
        "rest",
        '[[short]]\ncc = "Reno"\nrtt = "1ms"\nper_second = 1.0\nmean_size = "1kB"',
        "short[0].cc",
        "valid: bbr, bic,",
    ),
    "second flow": ("rest", '[[flow]]\ncc = "x"\nrtt = "1ms"', "flow[1].cc", "valid: bbr, bic,"),
    "module parameter": (
        "rest",
        "[module.foo]\ngamma = 1",
        "module",
        "foo has no parameter 'gamma'; valid: beta, gentle, mode",
    ),
    "module": ("rest", "[module.bar]\nbeta = 1", "module", "module of ours is 'bar'; valid: foo"),
    "module of the kernel": ("rest", "[module.cubic]\nbeta = 1", "module", "'cubic'; valid: foo"),
    "fraction": ("rest", "[module.foo]\nbeta = 1.5", "module.foo.beta", "valid integer"),
    "ecn without an AQM": ("link", "ecn = true", "link", "set aqm to red or "),
    "ecn of fair queues": ("link", 'aqm = "drr"\necn = true', "link", "set aqm to red or codel or"),
    "ecn of fq": ("link", 'aqm = "fq"\necn = true', "link", "above aqm_options.ce_threshold alone"),
    "unknown option of an AQM": (
        "link",
        'aqm = "codel"\naqm_options = { tupdate = "1ms" }',
        "link",
        "aqm_options.tupdate: codel has no such option; valid: ce_threshold, interval, target",
    ),
    "option of no AQM": (
        "link",
        'aqm_options = { target = "1ms" }',
        "link",
        "fifo has no such option; it has none",
    ),
    "unit of an option": (
        "link",
        'aqm = "pie"\naqm_options = { target = "1mbit" }',
        "link",
        "aqm_options.target: '1mbit' is not a time",
    ),
    "number of an option": (
        "link",
        'aqm = "pie"\naqm_options = { alpha = 33 }',
        "link",
        "aqm_options.alpha: 33 is not a whole number from 0 to 32",
    ),
    "word of an option": (
        "link",
        'aqm = "cake"\naqm_options = { isolation = "flow" }',
        "link",
        "aqm_options.isolation: 'flow' is none of flowblind, srchost,",
    ),
    "flag of an option": (
        "link",
        'aqm = "red"\naqm_options = { adaptive = 1 }',
        "link",
        "aqm_options.adaptive: 1 is neither true nor false",
    ),
    "warmup": ("top", 'warmup = "10s"', "scenario", "warmup must be shorter than duration"),
    "sample": ("top", 'sample = "0.5ms"', "scenario", "at least 1ms"),
    "queue_sample": ("top", 'queue_sample = "0s"', "scenario", "at least 1ms"),
    "start": ("flow", 'start = "10s"', "scenario", "flow[0].start is after the end"),
    "after the last link": ("flow", "leave = 2", "scenario", "flow[0]: enters before link 1 and"),
    "behind the last link": ("flow", "enter = 2", "scenario", "valid: 1 to 1, and enter not after"),
    "unknown key of a second link": (
        "rtt",
        'rtt = "1ms"\n[case.a]\n"link.colour" = 1',
        "link.colour",
        "unknown key; valid here: ack_thin,",
    ),
    "late, but none is": ("link", 'reorder_delay = "1ms"', "link", "reorder_delay needs reorder"),
    "not late": (
        "link",
        'reorder = 0.1\nreorder_delay = "0s"',
        "link",
        "reorder_delay is above 0s and at most 10s",
    ),
    "bursts of no losses": ("link", "loss_burst = 5", "link", "loss_burst needs loss"),
    "bursts too short": (
        "link",
        'loss = "80%"\nloss_burst = 2',
        "link",
        "bursts of 2 packets cannot be 80 % of all: a packet at least is between two",
    ),
    "burst below one": ("link", "loss = 0.1\nloss_burst = 0.5", "link.loss_burst", "equal to 1"),
    "long aggregates": ("link", 'aggregate = "2s"', "link", "aggregate is 0s to 1s"),
    "two that hold packets": (
        "link",
        'aggregate = "2ms"\njitter = "1ms"',
        "link",
        "aggregate and jitter both say when packets leave",
    ),
    "no power of two": ("link", "ack_thin = 3", "link", "ack_thin is one of 1, 2, 4, 8, 16, 32"),
    "no acknowledgments": ("link", "ack_thin = 0", "link", "ack_thin is one of 1, 2, 4"),
    "long jitter": ("link", 'jitter = "1.1s"', "link", "0s to 1s"),
    "drawn start": ("flow", 'start = "5s"\njitter = "6s"', "scenario", "flow[0]|after the end"),
    "on without off": ("flow", 'on = "1s"', "flow[0]", "on and off go together"),
    "off without on": ("flow", 'off = "1s"', "flow[0]", "on and off go together"),
    "short flows in turns": (
        "rest",
        '[[short]]\nrtt = "1ms"\nper_second = 1.0\nmean_size = "1kB"\non = "1s"\noff = "1s"',
        "short[0]",
        "have no on and off",
    ),
    "rtt": ("rtt", 'rtt = "11s"', "flow[0].rtt", "0s to 10s"),
    "no flow of a group": ("flow", "count = 0", "flow[0].count", "greater than or equal to 1"),
    "arrivals": (
        "rest",
        '[[short]]\nrtt = "1ms"\nper_second = nan\nmean_size = "1kB"',
        "short[0].per_second",
        "Input should be",
    ),
    "equal seeds": ("top", "seeds = [1, 1]", "seeds", "different whole numbers"),
    "seed 0": ("top", "seeds = [0]", "seeds", "1 to 2147483647"),
    "big seed": ("top", "seeds = [2147483648]", "seeds", "1 to 2147483647"),
    "no seed": ("top", "seeds = []", "seeds", "at least 1"),
    "name": ("top", 'name = "x"', "name", "is taken from the file"),
    "vary is no table": ("top", "vary = 1", "vary", "is a table of lists"),
    "vary without a list": ("rest", '[vary]\n"flow.0.cc" = "reno"', "vary", "is a table of lists"),
    "vary over nothing": ("rest", '[vary]\n"flow.0.cc" = []', "vary", "is a table of lists"),
    "vary key without quotes": ("rest", '[vary]\nflow.0.cc = ["reno"]', "vary", "table of lists"),
    "case is no table": ("top", "case = 1", "case", "is tables, such as"),
    "case without a table": ("rest", '[case]\nold = "reno"', "case", "is tables, such as"),
    "case of nothing": ("rest", "[case]", "case", "is tables, such as"),
    "case key without quotes": ("rest", '[case.a]\nflow.0.cc = "reno"', "case", "is tables"),
    "case key without quotes, a table": ("rest", "[case.a.flow]\nx = 1", "case", "is tables"),
    "case place": ("rest", '[case.a]\n"flow.7.cc" = "reno"', "case or vary", "'flow.7.cc'"),
    "case and vary": (
        "rest",
        '[case.a]\n"flow.0.cc" = "reno"\n[vary]\n"flow.0.cc" = ["reno"]',
        "flow.0.cc",
        "is in case.a and in vary",
    ),
    "case names": ("rest", '[case."a b"]\n[case.a_b]', "case and vary", "the same name"),
    "vary place: index": ("rest", '[vary]\n"flow.7.cc" = ["reno"]', "case or vary", "'flow.7.cc'"),
    "vary place: no index": (
        "rest",
        '[vary]\n"flow.x.cc" = ["reno"]',
        "case or vary",
        "'flow.x.cc'",
    ),
    "vary place: a list": ("rest", '[vary]\n"flow.cc" = ["reno"]', "case or vary", "'flow.cc'"),
    "vary place: in a text": ("rest", '[vary]\n"title.x" = [1]', "case or vary", "'title.x'"),
    "vary place: deep in a text": (
        "rest",
        '[vary]\n"title.x.y" = [1]',
        "case or vary",
        "'title.x.y'",
    ),
    "vary place: deep in a number": ("rest", '[vary]\n"top.x.y" = [1]', "top", "unknown key"),
    "vary key": ("rest", '[vary]\n"link.colour" = [1]', "link.colour", "unknown key; valid here: "),
    "vary value": ("rest", '[vary]\n"flow.0.cc" = ["reno", "x"]', "flow[0].cc", "'x'; valid: "),
    "vary names": ("rest", '[vary]\ntitle = ["a b", "a_b"]', "case and vary", "the same name"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tree: Path, tmp_path: Path, toml: Toml) -> None:
    part, line, key, words = REFUSED[case]
    path = tmp_path / "bad.toml"
    said = refusal(path, toml(**{part: line}))
    assert f"{path}: {key}" in said
    for word in words.split("|"):
        assert word in said


def test_every_error_is_named(tree: Path, tmp_path: Path, toml: Toml) -> None:
    said = refusal(tmp_path / "bad.toml", toml(top="colour = 1", link="mtu = 1", cc='cc = "x"'))
    keys = [line.split(": ")[1] for line in said.splitlines()]
    assert keys == ["link.mtu", "flow[0].cc", "colour"]


def test_not_toml(tree: Path, tmp_path: Path) -> None:
    assert "is not TOML" in refusal(tmp_path / "bad.toml", "title = ")
    assert "is not TOML" in refusal(tmp_path / "bad.toml", b"\xff\xfe\x00")


def test_unreadable(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"none.toml: cannot be read: No such file"):
        scenario.load(tmp_path / "none.toml")
    with pytest.raises(LabError, match=r"cannot be read: Is a directory"):
        scenario.load(tmp_path)


def test_more_connections_than_the_generator_takes(tree: Path, tmp_path: Path, toml: Toml) -> None:
    # lfgen's MAX_FLOWS: refused here, not by a run that was already started.
    said = refusal(tmp_path / "bad.toml", toml(flow="count = 1000\nparallel = 5"))
    assert "4096" in said


def test_vary_multiplies_out(tree: Path, tmp_path: Path, toml: Toml) -> None:
    path = tmp_path / "many.toml"
    path.write_text(
        toml(rest='[vary]\n"flow.0.cc" = ["reno", "foo"]\n"link.rate" = ["1mbit", "2 gbit/s"]')
    )
    found = scenario.load(path)
    assert [(s.name, s.flow[0].cc, s.link.rate) for s in found] == [
        ("many-reno-1mbit", "reno", 10**6),
        ("many-reno-2_gbit_s", "reno", 2 * 10**9),
        ("many-foo-1mbit", "foo", 10**6),
        ("many-foo-2_gbit_s", "foo", 2 * 10**9),
    ]


def test_cases_are_named_and_multiply_with_vary(tree: Path, tmp_path: Path, toml: Toml) -> None:
    path = tmp_path / "many.toml"
    path.write_text(
        toml(
            rest='[case.one]\n"flow.0.cc" = "foo"\n[case."two of them"]\n"flow.0.count" = 2\n'
            '[vary]\n"link.rate" = ["1mbit", "2mbit"]'
        )
    )
    found = scenario.load(path)
    assert [(s.name, s.flow[0].cc, s.flow[0].count, s.link.rate) for s in found] == [
        ("many-one-1mbit", "foo", 1, 10**6),
        ("many-one-2mbit", "foo", 1, 2 * 10**6),
        ("many-two_of_them-1mbit", "reno", 2, 10**6),
        ("many-two_of_them-2mbit", "reno", 2, 2 * 10**6),
    ]


def test_like(tree: Path, tmp_path: Path, toml: Toml) -> None:
    """What a file does not say is the other's; its keys are paths, and case and vary are whole."""
    other, own = tmp_path / "x.toml", tmp_path / "own.toml"
    other.write_text(
        toml(rest='[case.a]\n"flow.0.cc" = "foo"\n[vary]\n"link.rate" = ["1gbit", "2gbit"]')
    )
    own.write_text('like = "x.toml"\nseeds = [7]\n"flow.0.rtt" = "77ms"\n"host.sack" = false')
    theirs, ours = scenario.load(other), scenario.load(own)
    assert [one.name for one in ours] == ["own-a-1gbit", "own-a-2gbit"]
    for one, like in zip(ours, theirs, strict=True):
        assert (one.seeds, one.flow[0].rtt, one.host.sack) == ([7], 0.077, False)
        assert (one.flow[0].cc, one.link) == ("foo", like.link)
    own.write_text('like = "x.toml"\n[vary]\n"link.buffer" = ["9p"]')
    assert [(one.name, one.link.rate) for one in scenario.load(own)] == [("own-a-9p", 10**7)]


@pytest.mark.parametrize(
    ("like", "says"),
    [
        ('"none.toml"', "own.toml: like: there is no "),
        ('"../x.toml"', "own.toml: like: is the name of a file in the same directory"),
        ("3", "own.toml: like: is the name of a file in the same directory"),
        ('"third.toml"', "own.toml: like: third.toml is like x.toml: name that"),
        ('"x.toml"\n"flow.9.cc" = "reno"', "own.toml: like: no place 'flow.9.cc' in this scenario"),
    ],
)
def test_refused_likes(tree: Path, tmp_path: Path, toml: Toml, like: str, says: str) -> None:
    (tmp_path / "x.toml").write_text(toml())
    (tmp_path / "third.toml").write_text('like = "x.toml"')
    assert says in refusal(tmp_path / "own.toml", f"like = {like}")


def test_vary_may_set_what_the_file_leaves_out(tree: Path, tmp_path: Path, toml: Toml) -> None:
    path = tmp_path / "many.toml"
    path.write_text(toml(rest='[vary]\n"module.foo.beta" = [100, 200]'))
    assert [s.module for s in scenario.load(path)] == [
        {"foo": {"beta": 100}},
        {"foo": {"beta": 200}},
    ]


def test_defaults(one: One) -> None:
    s = one()
    assert (s.name, s.seeds, s.warmup, s.sample) == ("one", [1], 0, 0.1)
    assert s.trace is False
    assert (s.link.mtu, s.link.aqm, s.link.ecn, s.link.impaired) == (1500, "fifo", False, False)
    assert (s.flow[0].count, s.flow[0].parallel, s.flow[0].duration) == (1, 1, None)
    assert s.flow[0].access is None


@pytest.mark.parametrize(
    "line", ["loss = 1e-6", 'duplicate = "1%"', "reorder = 0.1", 'jitter = "1ms"']
)
def test_impaired(one: One, line: str) -> None:
    assert one(link=line).link.impaired


@pytest.mark.parametrize(
    ("rate", "rtt", "mtu", "buffer", "packets"),
    [
        ("10mbit", "20ms", 1500, "100p", 100),
        ("10mbit", "20ms", 1500, "0p", 1),
        ("10mbit", "20ms", 1500, "1.4p", 1),
        ("10mbit", "20ms", 1500, "150kB", 100),
        ("10mbit", "20ms", 1500, "1B", 1),
        ("10mbit", "20ms", 1000, "150kB", 150),
        ("10mbit", "20ms", 1000, "150KiB", 154),
        # 25000 bytes
        ("10mbit", "20ms", 1000, "1bdp", 25),
        ("10mbit", "20ms", 500, "1bdp", 50),
        ("10mbit", "20ms", 1000, "2bdp", 50),
        ("10mbit", "40ms", 1000, "1bdp", 50),
        ("10mbit", "0s", 1000, "1bdp", 1),
        # the LTCP paper's: a third of 14423 packets of 1040 bytes, and 10 Gbit/s
        ("1gbit", "120ms", 1040, "0.3333bdp", 4807),
        ("10gbit", "120ms", 1500, "1bdp", 100000),
    ],
)
def test_buffer_packets(one: One, rate: str, rtt: str, mtu: int, buffer: str, packets: int) -> None:
    s = one(
        rate=f'rate = "{rate}"',
        buffer=f'buffer = "{buffer}"',
        link=f"mtu = {mtu}",
        rtt=f'rtt = "{rtt}"',
    )
    assert s.buffer_packets == packets


def test_bdp_takes_the_longest_rtt_of_the_bulk_flows(one: One) -> None:
    s = one(
        buffer='buffer = "0.5bdp"',
        rest='[[flow]]\ncc = "reno"\nrtt = "120ms"\n[[udp]]\nrate = "1mbit"\nrtt = "1s"',
    )
    assert s.max_rtt == pytest.approx(0.12)
    assert s.bdp == pytest.approx(150000)
    assert s.buffer_packets == 50


@pytest.mark.parametrize(("timestamps", "mss"), [("true", 1448), ("false", 1460)])
def test_capacity_is_payload(one: One, timestamps: str, mss: int) -> None:
    s = one(rest=f"[host]\ntimestamps = {timestamps}")
    assert s.mss == mss
    assert s.capacity == pytest.approx(10e6 * mss / 1500)


def test_paper_capacity(one: One) -> None:
    s = one(link="mtu = 1040", rest="[host]\ntimestamps = false")
    assert s.mss == 1000


@pytest.mark.parametrize("path", sorted(ROOT.glob("tests/scenarios/*.toml")), ids=lambda p: p.stem)
def test_ours_are_valid(path: Path) -> None:
    found = scenario.load(path)
    assert found
    assert all(s.name.startswith(path.stem) for s in found)


# --- docs/lab.md

UDP_BACK = '[[udp]]\nrtt = "1ms"\nrate = "1mbit"\nreverse = true'
SERIES = """
title = "two"
duration = "9s"
[[link]]
rate = "9mbit"
buffer = "9p"
{first}
[[link]]
rate = "5mbit"
buffer = "{buffer}"
{link}
[[flow]]
cc = "reno"
rtt = "40ms"
{flow}
"""
PLAIN = {"first": "", "buffer": "1bdp", "link": "", "flow": ""}


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"link": "colour = 1"}, "link[1].colour: unknown key; valid here: ack_thin, aggregate,"),
        ({"link": "mtu = 1400"}, "scenario: link.mtu: all links have the same"),
        ({"flow": "leave = 3"}, "scenario: flow[0]: enters before link 1 and leaves behind link 3"),
        ({"flow": "enter = 2\nleave = 1"}, "valid: 1 to 2, and enter not after leave"),
        ({"flow": "leave = 0"}, "flow[0].leave: Input should be greater than or equal to 1"),
        ({"flow": "[host]\ngro = '1ms'"}, "several links are neither for traffic = iperf3 nor"),
        ({"link": '[[link.at]]\ntime = "9s"\ndown = true'}, "link[1].at[0].time is after the end"),
        (
            {"link": '[[link.at]]\ntime = "0s"\ndown = true'},
            "link[1]: it is down in all of the measured time",
        ),
        ({"link": 'aqm = "red"', "buffer": "9p"}, "link[1].aqm = red needs a buffer of at least"),
        ({"first": "mtu = 1"}, "link[0].mtu: Input should be greater than or equal to 256"),
    ],
)
def test_refused_series(tmp_path: Path, parts: dict[str, str], says: str) -> None:
    text = SERIES.format(**PLAIN | parts)
    assert says in refusal(tmp_path / "x.toml", text)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"flow": 'ack_every = "0B"'}, "flow[0].ack_every: Input should be greater than 0"),
        ({"flow": 'ack_every = "2GB"'}, "flow[0]: ack_every is 1B to 1GiB"),
        ({"flow": "ecn_echo = false\nreverse = true"}, "are of a receiver behind the link"),
        (
            {"flow": 'ack_ahead = "1kB"', "rest": UDP_BACK},
            "not beside traffic in reverse, whose sender is their receiver",
        ),
        ({"flow": 'ack_ahead = "1kB"', "top": 'traffic = "iperf3"'}, "not with traffic = iperf3"),
        ({"link": 'reverse_jitter = "2s"'}, "link: reverse_jitter is 0s to 1s"),
        ({"link": 'reverse_delay = "11s"'}, "link: reverse_delay is 0s to 10s"),
        ({"link": 'aqm = "dualpi2"'}, 'Linux 6.17 and newer do: set kernel = "debian:7.2"'),
        (
            {"link": 'aqm = "dualpi2"\naqm_options = { alpha = "x" }'},
            "link: aqm_options.alpha: 'x' is not a number from 0 to 255",
        ),
    ],
)
def test_refused_of_the_way_back(
    tmp_path: Path, toml: Toml, parts: dict[str, str], says: str
) -> None:
    assert says in refusal(tmp_path / "x.toml", toml(**parts))


def test_honest_receivers_alone_are_iperf3_s(one: One) -> None:
    """Also where somebody else makes iperf3 of it, as between two machines."""
    with pytest.raises(ValueError, match="ack_every, ack_ahead and ecn_echo: not with traffic"):
        one(flow='ack_every = "100B"').for_iperf3()


def test_links_in_series(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SERIES.format(**PLAIN | {"link": 'reverse_rate = "1mbit"'}))
    (one,) = scenario.load(tmp_path / "x.toml")
    assert [link.rate for link in one.path] == [9_000_000, 5_000_000]
    # Each has the BDP of its own rate.
    assert [one.packets(link) for link in one.path] == [9, round(5e6 * 0.04 / 12000)]
    assert one.packets(one.path[1], reverse=True) == 1000


@pytest.mark.parametrize(
    ("top", "says"),
    [
        ('pcap = true\npcap_at = ["s2"]', "pcap_at: no place 's2'; valid: bottleneck, s0, d"),
        ('pcap = true\npcap_at = ["d", "d"]', "pcap_at: a place is named twice"),
        ('pcap_at = ["d"]', "pcap_at and pcap_bytes say how to capture: add pcap = true"),
        ("pcap = true\npcap_bytes = 0", "pcap_bytes: Input should be greater than or equal to 1"),
    ],
)
def test_refused_captures(tmp_path: Path, toml: Toml, top: str, says: str) -> None:
    assert says in refusal(tmp_path / "x.toml", toml(top=top))


def test_a_result_without_captures_has_no_key_of_them(one: One) -> None:
    without = json.loads(one().model_dump_json())
    assert not [key for key in without if key.startswith("pcap")] and without["trace"] is False
    assert json.loads(one(top="pcap = true").model_dump_json())["pcap_bytes"] == 128


PAGE = (ROOT / "docs/lab.md").read_text()
# The scenario that it begins with, and its entries of the other kinds of traffic.
TWO = re.findall(r"```toml\n(.*?)```", PAGE, re.S)[0]
MORE = {
    kind: re.findall(rf"^    (\[\[{kind}\]\](?:\n    .+)+)", PAGE, re.M)[0].replace("\n    ", "\n")
    for kind in ("udp", "short", "request", "video")
}
# Its rows of keys: the keys, an example.
ROWS = [
    (re.findall(r"`(.+?)`", keys), example)
    for keys, example in re.findall(r"^\| (`[^|]+`) \| `([^|]+)` \|[^|]+\|[^|]+\|$", PAGE, re.M)
]


def test_the_page_has_every_key() -> None:
    tables: dict[str, type[BaseModel]] = {
        "link": scenario.Link,
        "link.at": scenario.At,
        "host": scenario.Host,
        "flow": scenario.Flow,
        "udp": scenario.Udp,
        "short": scenario.Short,
        "request": scenario.Request,
        "video": scenario.Video,
    }
    keys = set(scenario.Scenario.model_fields) - {*tables, "links", "module", "name", "case_name"}
    keys |= {f"{name}.{key}" for name, table in tables.items() for key in table.model_fields}
    keys -= tables.keys()
    assert {key for row, _ in ROWS for key in row} == keys - {
        f"{table}.{key}" for table in ("short", "request", "video") for key in ("on", "off")
    }


# What else a key wants, and None in the place of what it cannot be beside.
NEEDED: dict[str, dict[str, Any]] = {
    "link.ecn": {"aqm": "red"},
    "link.aqm_options": {"aqm": "codel"},
    "link.loss_burst": {"loss": 0.01},
    "link.reorder_delay": {"reorder": 0.01},
}
_PARETO = {"size": "pareto", "mean_size": None, "shape": 1.2, "min_size": "1B", "max_size": "1MB"}
for _table in ("short", "request"):
    NEEDED |= {f"{_table}.{key}": _PARETO for key in ("size", "shape", "min_size", "max_size")}
    NEEDED[f"{_table}.sigma"] = {"size": "lognormal"}
    NEEDED[f"{_table}.sizes"] = {"size": "empirical", "mean_size": None}
NEEDED["pcap_at"] = NEEDED["pcap_bytes"] = {"pcap": True}
NEEDED["short.arrivals"] = {"per_second": None}


@pytest.mark.parametrize(("keys", "example"), ROWS, ids=[row[0] for row, _ in ROWS])
def test_an_example_of_the_page_is_valid(keys: list[str], example: str) -> None:
    """Put into the scenario that the page begins with."""
    table, _, _ = keys[0].rpartition(".")
    data: dict[str, Any] = tomllib.loads(f"{TWO}\n{MORE.get(table, '')}")
    where: Any
    if table == "link.at":
        where = data["link"]["at"] = [{"time": "20s", "down": True}]
    else:
        where = data.setdefault(table, {}) if table else data
    first = where[0] if isinstance(where, list) else where
    first |= NEEDED.get(keys[0], {})
    for key in (key for key in keys if key.rpartition(".")[0] == table):
        first[key.rpartition(".")[2]] = tomllib.loads(f"value = {example}")["value"]
    for key in [key for key, value in first.items() if value is None]:
        del first[key]
    scenario.Scenario.model_validate(data)
