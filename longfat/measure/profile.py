# SPDX-License-Identifier: GPL-2.0
"""Where the lab's time goes: samples of perf, by what the function does that they are in.

The virtual-time kernel is one process, with a symbol for each of its functions.  Modules and the
guest's programs run in its memory, where perf knows no names: the modules in that process, the
programs in others.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from longfat.core.errors import LabError
from longfat.measure import speed
from longfat.measure.cost import processor
from longfat.run import plan, runner
from longfat.run.backends import Uml
from longfat.run.result import Json
from longfat.run.scenario import Scenario

HERTZ = 1999  # samples in a second of the processor; no divisor of what happens each millisecond

# What a function is for: the first that fits its name.
CLASSES = {
    "time and interrupts": r"""(un)?block_signals|um_set_signals|um_trace|_*time_travel|deliver_|
        timer|hrtimer|enqueue_hrtimer|tick_|ktime|clockevents|sched_|schedule|do_idle|default_idle|arch_cpu_idle|
        cpu_startup|irq|do_IRQ|__irq|generic_handle|handle_(edge|irq|softirqs)|__handle_irq|fast_mix|
        (add|mix|note)_interrupt|update_process|account_|rcu|raise_softirq|__get_next|
        remove_hrtimer|__remove_hrtimer|__hrtimer|get_jiffies|random_get|um_timer|idle_cpu|
        nr_iowait|itimer_next|__local_bh|alarm|mod_timer|__mod_timer|lock_timer|detach_if|
        __napi_schedule|singlestepping|get_next""",
    "copies": r"""memcpy|memmove|copy_|raw_copy|_copy|buffer_op|maybe_map|virt_to_pte|do_op_one|
        __skb_datagram_iter|skb_copy|import_|kernel_longjmp|__copy_(from|to)""",
    "memory": r"""_*slab|_*kmalloc|_*kmem|kfree|_*alloc_|_*free_|memset|get_page_from|_*build_skb|
        skb_(free|release|page_frag)|get_partial|new_slab|_*rmqueue|sk_page_frag|put_cpu|
        consume_skb|_*kfree_skb|page_frag|skb_attempt_defer|_*page_pool|refill|get_free_pages|
        folio|_*mod_|prep_|_*zone|build_detached""",
    "netem and qdiscs": r"""netem|qdisc|_*qdisc|sch_direct|pfifo|tbf|tfifo|dev_qdisc|get_crandom|
        packet_time""",
    "fq": r"fq_",
    "devices": r"""veth|eth_|_*netif|_*napi|process_backlog|net_(rx|tx)|dev_|_*dev_|validate_xmit|
        enqueue_to_backlog|skb_(scrub|network_protocol|csum_hwoffload)|passthru""",
    "cutting batches up": r"""skb_(segment|mac_gso|gso)|_*skb_gso|tcp4?_gso|inet_gso|
        _*copy_skb_header|skb_headers_offset""",
    "IP": r"""ip_|_*ip_|ipv4|fib_|neigh|raw_local|inet_(gso|lookup_ifaddr|select)|dst_|
        find_exception|nf_|_*ip4|skb_push|skb_put|_*pskb""",
    "trees of TCP, fq, timers": r"_*rb_|timerqueue",
    "TCP": r"""tcp_|_*tcp_|inet_|_*inet_|skb_|_*skb_|sk_|_*sk_|sock_|_*sock_|release_sock|
        lock_sock|minmax|_*wake_up|pskb|bictcp|sk_filter|lf_|ep_|_*ep_""",
}
HOST = "the host's kernel"
PROGRAMS = "the guest's programs"
MODULES = "our module"
REST = "the rest"
ORDER = [
    *("TCP", MODULES, "IP", "devices", "netem and qdiscs", "fq", "cutting batches up"),
    *("trees of TCP, fq, timers", "memory", "copies", "time and interrupts"),
    *(HOST, PROGRAMS, REST),
]

_PATTERNS = {name: re.compile(re.sub(r"\s", "", text)) for name, text in CLASSES.items()}


def kind(symbol: str) -> str:
    """What a function of the virtual-time kernel is for."""
    for name, pattern in _PATTERNS.items():
        if pattern.match(symbol):
            return name
    return REST


def classify(lines: list[str]) -> dict[str, float]:
    """Class -> seconds, of `nanoseconds | pid:name | object | [.] symbol` as perf report says."""
    rows = []
    total: dict[str, int] = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            time, pid, where, symbol = (word.strip() for word in line.split("|", 3))
            rows.append((int(time), pid, where, symbol.partition("]")[2].strip()))
            total[pid] = total.get(pid, 0) + int(time)
    if not rows:
        raise LabError("perf found nothing")
    kernel = max(total, key=lambda pid: total[pid])
    found = dict.fromkeys(ORDER, 0)
    for spent, pid, where, symbol in rows:
        if where == "[kernel.kallsyms]":
            found[HOST] += spent
        elif pid != kernel:
            found[PROGRAMS] += spent
        elif where == "linux":
            found[kind(symbol)] += spent
        elif "deleted" in where:
            found[MODULES] += spent
        else:
            found[REST] += spent
    return {name: round(spent / 1e9, 4) for name, spent in found.items()}


class Profiled(Uml):
    """The virtual-time kernel below perf, which leaves perf.data in the run directory."""

    def below(self, run: Path) -> list[str]:
        data = str(run / "perf.data")
        return ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(HERTZ), "-o", data, "--"]


def _report(data: Path) -> list[str]:
    """What perf counted, a line for each function of each process."""
    command = ["perf", "report", "-i", str(data), "--no-children", "-t", "|"]
    command += ["--sort", "pid,dso,sym", "-F", "period,pid,dso,sym"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise LabError(f"perf report failed: {done.stderr[-1000:]}")
    return done.stdout.splitlines()


def require() -> None:
    """Raise LabError where perf cannot see what programs and the host's kernel do."""
    if not shutil.which("perf"):
        raise LabError("perf is missing: apt-get install linux-perf")
    allowed = Path("/proc/sys/kernel/perf_event_paranoid")
    if os.geteuid() and allowed.exists() and int(allowed.read_text()) > 1:
        raise LabError(
            "perf may not look into the kernel: sysctl kernel.perf_event_paranoid=1, or run as root"
        )
    probe = ["perf", "record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "--", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise LabError(f"perf does not work here ({' '.join(probe)}): {done.stderr.strip()}")


def profile(scenarios: list[Scenario], say: Callable[[str], None]) -> Json:
    """Run each scenario once below perf: its packets, and the seconds of each class."""
    require()
    backend = Profiled()
    backend.prepare(lambda text: None)
    cases = []
    for one in scenarios:
        with runner.run_directory() as run:
            made = plan.make(one, one.seeds[0], prefix="lf", virtual=True)
            cpu, packets = speed.spent(backend, run, made, one)
            case = speed.describe(one) | {"cpu_s": round(cpu, 2), "packets": packets}
            case["seconds_of"] = classify(_report(run / "perf.data"))
            release = (run / "kernel").read_text().strip()
        cases.append(case)
        say(f"{one.name}: {case['packets']} packets, {case['seconds_of']}")
    return {"processor": processor(), "kernel": release, "cases": cases}


def per_packet(data: Json, case: Json) -> dict[str, float]:
    """Class -> microseconds for each packet, without those of a run that sends nothing."""
    found = speed.starting(data)
    idle: dict[str, float] = found["seconds_of"] if found else {}
    return {
        name: (seconds - idle.get(name, 0.0)) / case["packets"] * 1e6
        for name, seconds in case["seconds_of"].items()
    }
