# SPDX-License-Identifier: GPL-2.0
"""What leaves the sender's interface, and when: the scenario wire.toml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import SCENARIOS

from longfat.run import plan, result, scenario
from longfat.run.backends import Uml, fill

RTT = 0.25
ON, OFF = 4.5, 1.0  # the flow sends, and is silent

# Everything that the sender's interface begins to send, at the time when it does.
DEPARTURES = """
tracing=/sys/kernel/tracing/instances/departures
mkdir "$tracing" && echo 65536 >"$tracing/buffer_size_kb" && cd "$tracing" || exit 1
echo mono >trace_clock
echo 'name == "eth0" && len > 1400' >events/net/net_dev_start_xmit/filter
echo 1 >events/net/net_dev_start_xmit/enable
cd "$OLDPWD" && ./bin/lfgen traffic >samples 2>&1 || exit 1
cat "$tracing/per_cpu/cpu0/stats" "$tracing/trace" >departures
rmdir "$tracing"
"""


@dataclass
class Wire:
    """A flow as it leaves the sender; times as in samples."""

    departures: list[float]
    window: dict[float, int]  # tenths of seconds -> packets
    received: dict[float, int]  # bytes

    def bursts(self, begin: float, end: float, apart: float) -> list[tuple[float, int]]:
        """(time, packets) of what leaves with less than `apart` between two packets."""
        found: list[list[float]] = []
        for t in self.departures:
            if found and t - found[-1][-1] < apart:
                found[-1].append(t)
            else:
                found.append([t])
        return [(burst[0], len(burst)) for burst in found if begin <= burst[0] < end]

    def most(self, begin: float, end: float, span: float) -> int:
        """The most packets that leave within `span`."""
        times = [t for t in self.departures if begin <= t < end]
        most = last = 0
        for first in range(len(times)):
            while last < len(times) and times[last] < times[first] + span:
                last += 1
            most = max(most, last - first)
        return most

    def used(self, begin: float, trips: int) -> float:
        """The part of its windows that arrived in so many round trips."""
        windows = [self.window[round(begin + i * RTT, 1)] for i in range(trips)]
        arrived = self.received[round(begin + trips * RTT, 1)] - self.received[begin]
        return arrived / 1448 / sum(windows)

    def restart(self) -> float:
        """When it sends again after the silence, which is not that of the handshake."""
        late = self.departures[0] + ON
        return next(b for a, b in pairwise(self.departures) if b > late and b - a > RTT)


def wire(uml: Uml, run: Path, **parts: str) -> Wire:
    """Run wire.toml with parts of it replaced, and read what left the sender."""
    text = (SCENARIOS / "wire.toml").read_text()
    for old, new in parts.items():
        assert f"{old} = " in text
        text = re.sub(rf"^{old} = .*$", f"{old} = {new}", text, flags=re.M)
    run.mkdir()
    file = run.with_suffix(".toml")
    file.write_text(text)
    (one,) = scenario.load(file)
    made = plan.make(one, 1, prefix="lf", virtual=True)
    fill(run, made, one, uml, main=DEPARTURES)
    uml.execute(run, one, 1, timeout=240)
    flow = result.make(one, 1, "uml", made, run)["flows"][0]["connections"][0]
    traced = (run / "departures").read_text()
    assert re.search(r"^overrun: 0$", traced, re.M), "the buffer for departures overflowed"
    times = [float(t) for t in re.findall(r" (\d+\.\d+): net_dev_start_xmit: dev=eth0 ", traced)]
    sent = Wire(
        times,
        dict(zip(flow["t"], flow["cwnd"], strict=True)),
        dict(zip(flow["t"], flow["received"], strict=True)),
    )
    # It sends again as soon as it has data: the two clocks at one event.
    late = sent.restart() - ON - OFF
    sent.departures = [t - late for t in times]
    return sent


qdiscs = pytest.mark.parametrize("fq", ["true", "false"], ids=["fq", "tcp"])
