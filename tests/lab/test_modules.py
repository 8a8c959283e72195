# SPDX-License-Identifier: GPL-2.0
"""What every one of our algorithms must do on the kernel's own TCP, whatever else it does."""

from __future__ import annotations

import pytest
from conftest import FAST, Experiment, cwnd, decreases

from longfat.build import modules

ALGORITHMS = sorted(module.removeprefix("tcp_") for module in modules.sources())

# Each as it is by default, CW-HSTCP also where windows really leave in blocks: k = 5 or 7, and
# composite also with as few and as many streams as there can be.
CASES = [pytest.param(cc, "", id=cc) for cc in ALGORITHMS]
BLOCKS = "[module.cwhstcp]\nc = 100\nrtt_exponent = 1\n"
CASES.append(pytest.param("cwhstcp", BLOCKS, id="cwhstcp in blocks"))
CASES.append(pytest.param("composite", "[module.composite]\nstreams = 1\n", id="one stream"))
CASES.append(pytest.param("composite-64", "", id="composite-64"))

every = pytest.mark.parametrize(("cc", "module"), CASES)


@every
def test_idle_restart_is_bounded(experiment: Experiment, cc: str, module: str) -> None:
    """After 60 s of silence the window starts again from the initial one, no burst."""
    (one,) = experiment(
        text=FAST.replace("40s", "100s"),
        cc=cc,
        flow='on = "15s"\noff = "60s"',
        link="mtu = 1040",
        more=module,
    )
    connection = one["flows"][0]["connections"][0]
    at = dict(zip(connection["t"], connection["cwnd"], strict=True))
    assert at[14.9] > 300
    # First sample after the restart at 75 s: one round trip has passed at the most.
    assert at[75.0] <= 20 and at[75.1] <= 40
    queue = one["queue"]
    during = [p for t, p in zip(queue["t"], queue["packets"], strict=True) if 75 <= t <= 75.1]
    assert max(during) <= 20


@every
@pytest.mark.parametrize(
    "link",
    ['loss = "30%"', 'loss = "5%"\naqm = "red"\necn = true'],
    ids=["loss", "loss and marks"],
)
def test_smallest_windows(experiment: Experiment, cc: str, module: str, link: str) -> None:
    """Windows of one packet under loss and marks: no splat (the run would fail), progress."""
    # Long enough for a sender that lost its SYN and then five times its first packet: it tries
    # again 96 s after that.
    path = FAST.replace('"50mbit"', '"1mbit"').replace('"0.5bdp"', '"12p"')
    # And with marks for all: a SYN that is sent again asks for none, and who is dropped where the
    # others are marked and give way has the link, or nothing of it.
    (one,) = experiment(
        text=path.replace("40s", "200s"),
        cc=cc,
        link=f"{link}\nmtu = 1040",
        flow="count = 4",
        more=f'[host]\nsysctl = {{ "net.ipv4.tcp_ecn_fallback" = 0 }}\n{module}',
        # With seed 1 three senders of 64 streams keep the buffer so full that the fourth loses its
        # first packet fourteen times in a row.
        seeds=[2],
    )
    assert all(flow["received_bytes"] > 0 for flow in one["flows"])


@every
def test_mtu_probing_while_the_window_shrinks(experiment: Experiment, cc: str, module: str) -> None:
    """tcp_mtu_probing=2 sets windows by itself; no WARN for one that is not positive."""
    more = '[host]\nsysctl = { "net.ipv4.tcp_mtu_probing" = 2, "net.ipv4.tcp_base_mss" = 256 }'
    (one,) = experiment(cc=cc, link='loss = "3%"', more=f"{more}\n{module}")
    assert one["flows"][0]["received_bytes"] > 0


@every
def test_ecn_mark_is_a_loss_event(experiment: Experiment, cc: str, module: str) -> None:
    """Marked by an AQM, the window comes down, and no packet is lost."""
    link = 'mtu = 1040\naqm = "red"\necn = true'
    (one,) = experiment(text=FAST, cc=cc, link=link, more=module)
    assert one["flows"][0]["ce_marks"] > 0
    _, window = cwnd(one)
    assert len(decreases(window)) >= 2
    assert one["summary"]["dropped"] == 0


@every
def test_spurious_loss_is_undone(experiment: Experiment, cc: str, module: str) -> None:
    """Packets that were only late: the window that the reduction took comes back."""
    # TCP takes no packet for lost by lateness that it knows: one must be late while it knows none,
    # and of SABUL's, which leave evenly, fewer come late enough.
    late = "0.05%" if cc == "sabul" else "0.02%"
    (one,) = experiment(
        text=FAST,
        cc=cc,
        top="trace = true",
        flow='socket_buffer = "400kB"',  # fills the path, not the buffer: nothing is really lost
        link=f'mtu = 1040\nreorder = "{late}"',
        more=f'[host]\nsysctl = {{ "net.ipv4.tcp_recovery" = 0 }}\n{module}',
    )
    events = one["flows"][0]["connections"][0]["events"]
    undone = [i for i, event in enumerate(events) if event["reason"] == "undo"]
    assert undone and one["summary"]["dropped"] == 0
    # SABUL's window is no more than a ceiling; it also leaves slow start by a loss.
    what = "rate" if cc == "sabul" else "cwnd"
    takes = {"decrease", "fast", "rate"} if cc == "sabul" else {"decrease"}
    for i in undone:
        decrease = max(j for j in range(i) if events[j]["reason"] in takes)
        assert events[i][what] > events[decrease][what]
        # And not by growth since then.
        assert events[i][what] > events[i - 1][what]
