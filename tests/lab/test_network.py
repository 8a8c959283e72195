# SPDX-License-Identifier: GPL-2.0
"""What a scenario says of its network, beside arithmetic and tc's own words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL, Experiment
from guest import boot

from examples import examples
from longfat.build.modules import ROOT
from longfat.run import disciplines
from longfat.run.backends import Uml
from longfat.run.disciplines import DISCIPLINES, Bottleneck
from longfat.run.result import Json

EXAMPLES = examples(ROOT / "docs/lab.md")


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_page(experiment: Experiment, name: str, tmp_path: Path) -> None:
    """Each runs, and its flows have some of the link."""
    (tmp_path / name).write_text(EXAMPLES[name])
    for one in experiment(tmp_path / name):
        assert all(flow["goodput_bps"] > 0 for flow in one["flows"])


# --- queue disciplines

# Each option with a value that is not its default, and what tc says of it afterwards: a time
# may be a nanosecond less in the kernel's units.
TOLD: dict[str, dict[str, tuple[object, Any]]] = {
    "red": {
        "min": ("30kB", 30000),
        "max": ("90kB", 90000),
        "burst": (40, None),
        "probability": ("2%", None),
        "adaptive": (True, True),
        "harddrop": (True, True),
        "nodrop": (True, True),
    },
    "codel": {
        "target": ("7ms", 7000),
        "interval": ("70ms", 70000),
        "ce_threshold": ("3ms", 3000),
    },
    "pie": {
        "target": ("7ms", 7000),
        "tupdate": ("20ms", 20000),
        "alpha": (3, 3),
        "beta": (21, 21),
        "bytemode": (True, True),
        "dq_rate_estimator": (True, True),
    },
    "cake": {
        "rtt": ("30ms", 30000),
        "memlimit": ("2MB", 2000000),
        "priority": ("diffserv4", "diffserv4"),
        "isolation": ("dual-srchost", "dual-srchost"),
        "ack_filter": ("ack-filter", "enabled"),
    },
    "fq": {
        "flow_limit": (55, 55),
        "quantum": (600, 600),
        "initial_quantum": (700, 700),
        "maxrate": ("3mbit", 375000),
        "orphan_mask": (255, 255),
        "ce_threshold": ("3ms", 3000),
    },
    "drr": {"quantum": (600, None)},
}
_FAIR = {"flows": (64, 64), "quantum": (600, 600), "memory_limit": ("2MB", 2000000)}
TOLD["fq_codel"] = TOLD["codel"] | _FAIR | {"drop_batch": (9, 9)}
TOLD["fq_pie"] = TOLD["pie"] | _FAIR | {"ecn_prob": (30, 30)}
CALLED = {"priority": "diffserv", "isolation": "flowmode", "ack_filter": "ack-filter"}


def test_every_option_reaches_the_kernel(uml: Uml) -> None:
    """What tc shows of each discipline is what the scenario says."""
    tc = uml.seeding_tc()
    files = [tc / "tc"] if tc else []
    lines = ["ip link add name lf0 type veth peer name lf1", "ip link set lf0 up", "dev=lf0"]
    lines.append(f"tc() {{ shift 2; {'./tc' if tc else 'command tc'} \"$@\"; }}")
    for name, one in DISCIPLINES.items():
        asked = {key: value for key, (value, _) in TOLD.get(name, {}).items()}
        assert asked.keys() == one.options.keys(), f"an option of {name} is not tried"
        # Where packets may be marked, red cannot be told not to drop them otherwise.
        disciplines.check(name, asked, ecn=one.marks)
        at = Bottleneck(20_000_000, 1500, 100, senders=2)
        lines += ["ns=x", *disciplines.commands(name, asked, at, ecn=one.marks)]
        lines += ["tc -n x -j qdisc show dev lf0", "tc -n x qdisc del dev lf0 root"]
    shown = boot(uml, "\n".join(lines), files).splitlines()
    for (name, one), line in zip(DISCIPLINES.items(), shown, strict=True):
        root, *children = json.loads(line)
        kinds = [root["kind"], *(child["kind"] for child in children)]
        assert {"fifo": "netem", "police": "prio"}.get(name, name) in kinds
        (of,) = [x for x in (root, *children) if x["kind"] == name] or [{"options": {}}]
        options = of["options"]
        for key, (_, want) in TOLD.get(name, {}).items():
            if isinstance(want, int) and not isinstance(want, bool):
                assert abs(options[key] - want) <= 1, (name, key, options)
            elif want is not None:
                assert options[CALLED.get(key, key)] == want, (name, key, options)
        assert options.get("ecn", False) is (one.ecn == "ecn"), (name, options)


# 20 Mbit/s that are offered 40 and 15: full packets, each 0.6 ms of the link.
OFFERED = SMALL.replace('"10s"', '"6s"') + "\n".join(
    f'[[udp]]\nrtt = "10ms"\nrate = "{rate}mbit"\nsize = 1472' for rate in (40, 15)
)
PACKET = 1472 * 8 / 4  # a packet of 4 seconds, in bits per second


def shares(one: Json) -> list[float]:
    """What of the link each UDP sender had, in bits per second of IP packets."""
    return [udp["goodput_bps"] * 1500 / 1472 for udp in one["udp"]]


@pytest.mark.parametrize(
    ("aqm", "more", "within"),
    [
        ("fq_codel", "", 2),
        # It draws at random which host is given a little more.
        ("cake", "", 20),
        # It drops at the tail of all, or of a flow that has more than its limit.
        ("fq", "aqm_options = { flow_limit = 20 }", 2),
        ("drr", "", 2),
    ],
)
def test_fair_queues_share_equally(
    experiment: Experiment, aqm: str, more: str, within: int
) -> None:
    """Whatever is offered above it, each sender has half of the link, to a few packets."""
    (one,) = experiment(text=OFFERED, flow='duration = "1s"', link=f'aqm = "{aqm}"\n{more}')
    assert shares(one) == [pytest.approx(10e6, abs=within * PACKET)] * 2
    assert sum(shares(one)) == pytest.approx(20e6, abs=2 * PACKET)


def test_drr_s_quantum_is_in_bytes(experiment: Experiment) -> None:
    """Two senders of small and of large packets have as many bytes, not as many packets."""
    small = OFFERED.replace("size = 1472", "size = 200", 1)
    (one,) = experiment(text=small, flow='duration = "1s"', link='aqm = "drr"')
    frames = [
        udp["goodput_bps"] * (size + 42) / size
        for udp, size in zip(one["udp"], (200, 1472), strict=True)
    ]
    assert frames[0] == pytest.approx(frames[1], rel=0.005)


def test_policer_lets_through_its_rate_and_never_queues(experiment: Experiment) -> None:
    """Tokens in place of a queue.  The bucket is full at the beginning: so many packets more."""
    whole = OFFERED.replace('warmup = "2s"', 'warmup = "0s"').replace('"1bdp"', '"200p"')
    # The first packets of a run are in its first sample; with an RTT they would wait for ARP.
    whole = whole.replace("size =", 'start = "1s"\nsize =').replace('"10ms"', '"0s"')
    (one,) = experiment(text=whole, flow='bytes = "1kB"', link='aqm = "police"')
    bits = sum(shares(one)) * 6
    assert bits == pytest.approx(20e6 * 5 + 200 * 1500 * 8, abs=5 * 1500 * 8)
    assert max(one["queue"]["packets"]) == 0
    # All that did not come through was dropped, and counted.
    offered = (40e6 + 15e6) / 8 / 1514 * 5
    assert one["summary"]["dropped"] == pytest.approx(offered - bits / 12000, rel=0.01)


@pytest.mark.parametrize("aqm", ["codel", "pie"])
def test_target_of_the_queue(experiment: Experiment, aqm: str) -> None:
    """A flow that fills the link waits as long as the discipline was told, not what it can."""
    delays = []
    for target in ("5ms", "40ms"):
        link = f'aqm = "{aqm}"\naqm_options = {{ target = "{target}" }}'
        text = SMALL.replace('"1bdp"', '"10bdp"').replace('"10s"', '"15s"')
        (one,) = experiment(text=text, cc="cubic", link=link, out=target)
        assert one["summary"]["utilisation"] > 0.8
        delays.append(one["summary"]["queue_delay_ms"]["p50"])
    assert delays[0] < 20 < delays[1] < 80, delays
