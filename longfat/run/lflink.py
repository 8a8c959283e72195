# SPDX-License-Identifier: GPL-2.0
"""The network of most runs: senders, a bottleneck and a receiver as the devices of one kernel
module (guest/lflink.c), each host in a namespace of its own.

    s0 eth0 --+
    s1 eth0 --+-- rate, buffer --- eth0 d
              delay of the whole RTT, on the way back to each sender

What only queue disciplines can do is left to them, in the network of plan.py.  A packet takes half
the time here, and the two agree to the packet (tests/lab/test_lflink.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from longfat.run import changes
from longfat.run.scenario import Scenario

# As run.sh finds it in the run's directory.
FILE = "lflink.ko"
QUEUE = "/sys/module/lflink/parameters/queue"


def carries(scenario: Scenario) -> bool:
    """Whether the module can be the network of this scenario."""
    link = scenario.link
    special = (
        *(link.impaired, link.changing, link.ack_thin > 1, link.other_way),
        *(scenario.links, scenario.reverse, scenario.host.gro),
        "before" in scenario.captures,  # it has no device between sender and receiver
    )
    return link.aqm == "fifo" and not any(special)


def _batch(space: str, lines: Sequence[str]) -> str:
    """One ip for all of these commands in a namespace; "" is the first one."""
    where = f"-n {space} " if space else ""
    return "\n".join([f"ip {where}-batch - <<'EOF'", *lines, "EOF"])


def setup(
    scenario: Scenario,
    receiver: str,
    senders: Mapping[str, Sequence[str]],
    rtts: Sequence[float],
    routes: Sequence[str],
    settings: Mapping[str, int | str],
) -> list[str]:
    """The commands for the namespace `receiver` and for the senders, each with its tc commands for
    $dev of $ns, its RTT in seconds, words for the receiver's route to it or "", and all with the
    same sysctl `settings`."""
    link, host = scenario.link, scenario.host
    delays = ",".join(str(round(rtt * 1e9)) for rtt in rtts)
    words = f"rate={changes.whole(link.rate)} limit={scenario.buffer_packets} delay={delays}"
    first = []
    for i, ns in enumerate([receiver, *senders]):
        first += [f"netns add {ns}", f"link set lf{i} netns {ns} name eth0"]
    out = [f"insmod ./{FILE} {words}", _batch("", first)]
    sysctl = " ".join(shlex.quote(f"{key}={value}") for key, value in settings.items())

    def end(ns: str, address: str, *routes: str, device: str = "") -> None:
        lines = [
            "link set lo up",
            f"link set eth0 mtu {link.mtu}{device} up",
            f"addr add {address}/24 dev eth0",
            *(f"route add {route}" for route in routes),
        ]
        out.extend([_batch(ns, lines), f"ip netns exec {ns} sysctl -qw {sysctl}"])

    quick = " quickack 1" if host.quickack else ""
    own = [f"10.1.{i}.0/24 dev eth0{quick}{words}" for i, words in enumerate(routes) if words]
    end(receiver, "10.0.0.2", f"default dev eth0{quick}", *own)
    for i, (ns, commands) in enumerate(senders.items()):
        device = "" if host.offload else " gso_max_segs 1"
        end(ns, f"10.1.{i}.2", "default dev eth0", device=device)
        out += [f"ns={ns} dev=eth0", *commands]
    return out
