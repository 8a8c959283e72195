# SPDX-License-Identifier: GPL-2.0
"""Where the lab's time goes: functions and what they are for."""

from __future__ import annotations

import pytest

from longfat.core.errors import LabError
from longfat.measure import profile

# As perf report says it: the kernel is the process that takes most.
REPORT = """\
# Overhead and other things
 564000000  |  21749:linux  |linux               |[.] netem_dequeue
 100000000  |  21749:linux  |[kernel.kallsyms]   |[k] exc_page_fault
 50000000   |  21749:linux  |#21 (deleted)       |[.] 0x000000004e94362a
 20000000   |  21924:linux  |#21 (deleted)       |[.] 0x000000004e943000
 30000000   |  21924:linux  |[kernel.kallsyms]   |[k] clear_page_erms
 10000000   |  21749:linux  |libc.so.6           |[.] ptrace

"""


@pytest.mark.parametrize(
    ("symbol", "what"),
    [
        ("tcp_ack", "TCP"),
        ("__tcp_transmit_skb", "TCP"),
        ("skb_try_coalesce", "TCP"),
        ("ip_finish_output2", "IP"),
        ("fib_table_lookup", "IP"),
        ("veth_xmit", "devices"),
        ("__netif_receive_skb_core.constprop.0", "devices"),
        ("netem_enqueue", "netem and qdiscs"),
        ("__qdisc_run", "netem and qdiscs"),
        ("fq_dequeue", "fq"),
        ("skb_segment", "cutting batches up"),
        ("rb_first", "trees of TCP, fq, timers"),
        ("___slab_alloc", "memory"),
        ("skb_release_data", "memory"),
        ("memset_orig", "memory"),
        ("memcpy_orig", "copies"),
        ("copy_chunk_from_user", "copies"),
        ("hrtimer_interrupt", "time and interrupts"),
        ("unblock_signals.part.0", "time and interrupts"),
        ("__time_travel_add_event.part.0", "time and interrupts"),
        ("vsnprintf", profile.REST),
    ],
)
def test_what_a_function_is_for(symbol: str, what: str) -> None:
    assert profile.kind(symbol) == what


def test_whose_time_it_is() -> None:
    """The host's kernel whoever called it; unknown memory is our module in the kernel's process
    and a program in others."""
    found = profile.classify(REPORT.splitlines())
    assert {name: seconds for name, seconds in found.items() if seconds} == {
        "netem and qdiscs": 0.564,
        profile.HOST: 0.13,
        profile.MODULES: 0.05,
        profile.PROGRAMS: 0.02,
        profile.REST: 0.01,
    }
    assert list(found) == profile.ORDER
    assert set(profile.CLASSES) < set(profile.ORDER)


def test_nothing_found() -> None:
    with pytest.raises(LabError, match="found nothing"):
        profile.classify(["# nothing", ""])


def test_a_packet_without_the_boot() -> None:
    boot = {"seconds": 0.1, "packets": 1, "seconds_of": {"TCP": 0.5, "IP": 0.0}}
    case = {"seconds": 3.0, "packets": 1000, "seconds_of": {"TCP": 1.5, "IP": 0.25}}
    data = {"cases": [boot, case]}
    assert profile.per_packet(data, case) == {"TCP": 1000.0, "IP": 250.0}
    assert profile.per_packet({"cases": [case]}, case) == {"TCP": 1500.0, "IP": 250.0}
