# SPDX-License-Identifier: GPL-2.0
"""Chaos: from a file that says what may be mixed, and a seed, to a run of guest/chaos.c and
what is to be held afterwards.

All that is random is drawn here or by guest/chaos.c from the same seed: the network's
changes here, because they are commands; what happens to sockets there.
"""

from __future__ import annotations

import itertools
import random
import re
import shutil
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from longfat.build import modules, tools
from longfat.core import data, process, units
from longfat.core.errors import LabError
from longfat.run import result, runner
from longfat.run.backends import Uml
from longfat.stress import smp

Place = Uml | smp.Smp

Seconds = Annotated[float, BeforeValidator(units.seconds)]
Size = Annotated[int, BeforeValidator(units.size), Field(gt=0)]
Share = Annotated[float, BeforeValidator(units.probability)]

# A detector that has given up would find nothing more.
BLIND = re.compile(
    r"ODEBUG: Out of memory|ODEBUG disabled|Kernel memory leak detector disabled"
    r"|turning off the locking correctness validator|Stack depot reached limit"
)


Range = tuple[float, float]


def _range(parse: Callable[[object], float]) -> Callable[[object], Range]:
    """What reads [least, most] with `parse`."""

    def check(value: object) -> Range:
        if not isinstance(value, list) or len(value) != 2:
            raise ValueError(f"{value!r} is no range: write [least, most]")
        low, high = map(parse, value)
        if low > high:
            raise ValueError(f"{value!r} is no range: the first is above the second")
        return low, high

    return check


def _number(value: object) -> float:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no whole number")
    return value


Rates = Annotated[Range, BeforeValidator(_range(units.rate))]
Times = Annotated[Range, BeforeValidator(_range(units.seconds))]
Shares = Annotated[Range, BeforeValidator(_range(units.probability))]
Numbers = Annotated[Range, BeforeValidator(_range(_number))]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Traffic(_Strict):
    gap: Seconds
    at_once: int = Field(ge=1, le=1000)
    short: Size
    long: Size
    long_share: Share
    tiny_buffers: Share
    small_mss: Share
    clamped: Share
    slow_reader: Share
    stopped_reader: Share
    aborted: Share
    reconnected: Share
    paced: Share


class Switch(_Strict):
    gap: Seconds
    burst: int = Field(ge=1, le=1000)
    fail_allocation: Share


class Link(_Strict):
    hosts: int = Field(ge=1, le=50)
    gap: Seconds
    rate: Rates
    delay: Times
    jitter: Times
    loss: Shares
    duplicate: Shares
    reorder: Shares
    corrupt: Shares
    mark: Share
    limit: Numbers
    mtu: Numbers
    flap: Seconds
    down: Times


class Kernel(_Strict):
    module: Seconds
    parameter: Seconds
    namespace: Seconds
    default: Seconds
    fault: Seconds
    fault_for: Times
    fault_percent: Numbers


class Chaos(_Strict):
    duration: Seconds
    drain: Seconds
    traffic: Traffic
    switch: Switch
    link: Link
    kernel: Kernel
    sysctl: dict[str, Any]
    # (stream, byte) that arrives as another, for a test that this is found
    damage: tuple[int, int] | None = None


def load(path: Path) -> Chaos:
    """The mix of a file; LabError says what is wrong with it."""
    try:
        return Chaos.model_validate(tomllib.loads(data.find(path).read_text()))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise LabError(f"{path}: {error}") from error
    except ValidationError as error:
        found = error.errors()[0]
        where = ".".join(map(str, found["loc"]))
        raise LabError(f"{path}: {where}: {found['msg']}") from error


def slower(mix: Chaos, factor: float, rarer: float = 1) -> Chaos:
    """`mix` for a kernel that is slower by `factor`: everything comes so much later, on links of
    so much less, and takes so much longer.  What a program has to be started for, which chaos
    waits for, comes `rarer` still."""

    def later(part: BaseModel, *names: str, by: float = factor) -> BaseModel:
        return part.model_copy(update={name: by * getattr(part, name) for name in names})

    low, high = mix.link.rate
    # What is long is that on links of so much less, and is to end some time.
    traffic = later(mix.traffic, "gap").model_copy(
        update={"long": round(mix.traffic.long / factor)}
    )
    link = mix.link.model_copy(update={"rate": (low, max(low, high / factor))})
    gaps = [name for name in Kernel.model_fields if not name.startswith("fault_")]
    return mix.model_copy(
        update={
            "duration": factor * mix.duration,
            "traffic": traffic,
            "switch": later(mix.switch, "gap"),
            "link": later(link, "gap", "flap", by=factor * rarer),
            "kernel": later(mix.kernel, *gaps),
            "sysctl": mix.sysctl
            | {"gap": f"{factor * rarer * units.seconds(mix.sysctl['gap']):g}s"},
        }
    )


def _times(rng: random.Random, gap: float, end: float) -> list[float]:
    """Random times up to `end` with this mean gap, none if it is 0."""
    found = []
    at = rng.expovariate(1 / gap) if gap else end
    while at < end:
        found.append(at)
        at += rng.expovariate(1 / gap)
    return found


def _log(rng: random.Random, low: float, high: float) -> float:
    """Between the two, each order of magnitude as likely as the other."""
    return float(low * (high / low) ** rng.random()) if low > 0 else rng.uniform(low, high)


def _netem(rng: random.Random, link: Link, *, corrupt: bool) -> str:
    """Half of what may happen to packets does, so that there are quiet links too."""

    def some(low: float, high: float) -> float:
        return 100 * rng.uniform(low, high) if rng.random() < 0.5 else 0

    parts = [
        f"limit {round(_log(rng, *link.limit))}",
        f"delay {1e6 * rng.uniform(*link.delay):.0f}us {1e6 * rng.uniform(*link.jitter):.0f}us",
        f"rate {round(_log(rng, *link.rate))}bit",
    ]
    if loss := some(*link.loss):
        parts.append(f"loss {loss:.4f}%" + (" ecn" if rng.random() < link.mark else ""))
    if duplicate := some(*link.duplicate):
        parts.append(f"duplicate {duplicate:.4f}%")
    if reorder := some(*link.reorder):
        parts.append(f"reorder {reorder:.4f}%")
    if corrupt and (share := some(*link.corrupt)):
        parts.append(f"corrupt {share:.4f}%")
    return " ".join(parts)


_CALM = "limit 1000 delay 5ms"


def plan(
    chaos: Chaos, seed: int, *, faults: bool, processors: int = 1, seeded: bool = True
) -> tuple[str, str, list[str]]:
    """(the shell script that makes the network, guest/chaos.c's plan, the namespaces).

    Hosts h0.. on one side, the host d on the other, the router r between them.  Every packet
    is damaged in one place at most: two damages could leave TCP's checksum right.
    With several processors, packets are spread over them, and sockets are looked at from
    outside; netem's random numbers are drawn from `seed` too where it can be `seeded`.
    """
    rng = random.Random(seed)
    link = chaos.link
    hosts = [f"lf-h{i}" for i in range(link.hosts)]
    spaces = [*hosts, "lf-r", "lf-d"]
    seeds = iter(range(seed * 100000, (seed + 1) * 100000))
    # (namespace, device) where netem is: towards d, and towards each host
    stages = [("lf-r", "bottleneck"), *(("lf-r", f"port{i}") for i in range(link.hosts))]

    def netem(verb: str, ns: str, dev: str, what: str) -> str:
        drawn = f" seed {next(seeds)}" if seeded else ""
        return f"tc -n {ns} qdisc {verb} dev {dev} root handle 1: netem {what}{drawn}"

    setup = ["set -e"]
    for ns in spaces:
        setup += [f"ip netns add {ns}", f"ip -n {ns} link set lo up"]
        if ns in hosts[1::2]:
            setup.append(f"ip netns exec {ns} sysctl -qw net.ipv4.tcp_ecn=1")
        for key in (
            "net.ipv4.ip_forward=1",
            "net.ipv6.conf.all.forwarding=1",
            "net.ipv6.conf.all.keep_addr_on_down=1",
            "net.ipv6.conf.default.keep_addr_on_down=1",
        ):
            setup.append(f"ip netns exec {ns} sysctl -qw {key}")
    wires = [("lf-d", "lf-r", "bottleneck", 0)]
    wires += [(ns, "lf-r", f"port{i}", i + 1) for i, ns in enumerate(hosts)]
    for ns, router, port, net in wires:
        setup.append(f"ip link add name eth0 netns {ns} type veth peer name {port} netns {router}")
        for where, dev, host in ((ns, "eth0", 2), (router, port, 1)):
            setup.append(f"ip -n {where} addr add 10.0.{net}.{host}/24 dev {dev}")
            setup.append(f"ip -n {where} addr add fd00:{net}::{host}/64 dev {dev} nodad")
            setup.append(f"ip -n {where} link set {dev} mtu {round(link.mtu[1])} up")
        setup.append(f"ip -n {ns} route add default via 10.0.{net}.1")
        setup.append(f"ip -n {ns} -6 route add default via fd00:{net}::1")
    for i, ns in enumerate(hosts):
        if i % 2:
            setup.append(f"tc -n {ns} qdisc add dev eth0 root fq")
    for ns, dev in stages:
        setup.append(netem("add", ns, dev, _netem(rng, link, corrupt=True)))

    if processors > 1:
        mask = f"{2**processors - 1:x}"
        queues = "/sys/class/net/*/queues/rx-*/rps_cpus"
        for ns in spaces:
            setup.append(
                f"ip netns exec {ns} sh -c 'for cpus in {queues}; do echo {mask} >$cpus; done'"
            )

    def mtu(port: str, size: int) -> str:
        """Both ends of a wire; where they differ, veth drops, and says so to the sender."""
        peer = next(ns for ns, _, dev, _ in wires if dev == port)
        far = f"ip -n {peer} link set eth0 mtu {size}"
        return f"ip -n lf-r link set {port} mtu {size} && {far}"

    commands: list[tuple[float, str]] = []
    for at in _times(rng, link.gap, chaos.duration):
        ns, dev = rng.choice(stages)
        if rng.random() < 0.7:
            commands.append((at, netem("replace", ns, dev, _netem(rng, link, corrupt=True))))
        else:
            commands.append((at, mtu(dev, rng.randint(*map(round, link.mtu)))))
    for at in _times(rng, link.flap, chaos.duration):
        ns, dev = rng.choice(stages)
        commands.append((at, f"ip -n {ns} link set {dev} down"))
        commands.append((at + _log(rng, *link.down), f"ip -n {ns} link set {dev} up"))
    settings = {key: value for key, value in chaos.sysctl.items() if key != "gap"}
    for at in _times(rng, units.seconds(chaos.sysctl["gap"]), chaos.duration):
        key = rng.choice(sorted(settings))
        ns = rng.choice([*hosts, "lf-d"])
        value = rng.choice(settings[key])
        commands.append((at, f"ip netns exec {ns} sysctl -qw {key}={value}"))
    for at in _times(rng, link.gap if processors > 1 else 0, chaos.duration):
        commands.append((at, f"ip netns exec {rng.choice(spaces)} ss -tin >/dev/null"))
    # Then a quiet network, on which everything has to complete.
    for ns, dev in stages:
        end = chaos.duration + link.down[1]
        commands.append((end, f"ip -n {ns} link set {dev} up"))
        commands.append((end, mtu(dev, round(link.mtu[1]))))
        commands.append((end, netem("replace", ns, dev, _CALM)))

    lines = [f"seed {seed}", f"end {chaos.duration:.6f} {chaos.drain:.6f}"]
    for i, ns in enumerate(hosts):
        lines.append(f"path {ns} lf-d {'fd00:0::2' if i % 3 == 2 else '10.0.0.2'} {5001 + i}")
        # The other way too, where the one behind the bottleneck sends.
        lines.append(f"path lf-d {ns} 10.0.{i + 1}.2 {6001 + i}")
    owners = modules.owners()
    # Ours as often as all the others together.
    for name in sorted(owners):
        lines.append(f"cc {name} {owners[name]}")
    lines += [f"cc {name} -" for name in sorted(modules.IN_TREE)]
    for module in sorted(set(owners.values())):
        name = next(name for name in sorted(owners) if owners[name] == module)
        for key, valid in modules.parameters(name).items():
            # The lab's words for a switch are TOML's, not the kernel's.
            lines.append(f"param {module} {key} {valid.replace('true, false', 'on, off')}")
    knobs = {
        **{key: value for key, value in chaos.traffic.model_dump().items()},
        "short_bytes": chaos.traffic.short,
        "long_bytes": chaos.traffic.long,
        "switch_gap": chaos.switch.gap,
        "burst": chaos.switch.burst,
        "fail_nth": chaos.switch.fail_allocation if faults else 0,
        "module_gap": chaos.kernel.module,
        "param_gap": chaos.kernel.parameter,
        "space_gap": chaos.kernel.namespace,
        "default_gap": chaos.kernel.default,
    }
    lines += [f"set {k} {v:.9g}" for k, v in knobs.items() if k not in ("short", "long")]
    if chaos.damage:
        lines.append("damage {} {}".format(*chaos.damage))
    timed = [(at, f"at {at:.6f} {command}") for at, command in commands]
    for at in _times(rng, chaos.kernel.fault if faults else 0, chaos.duration):
        length = _log(rng, *chaos.kernel.fault_for)
        percent = rng.randint(*map(round, chaos.kernel.fault_percent))
        timed.append((at, f"fault {at:.6f} {length:.6f} {percent}"))
    lines += [line for _, line in sorted(timed, key=lambda pair: pair[0])]
    return "\n".join(setup) + "\n", "\n".join(lines) + "\n", spaces


def fill(run: Path, chaos: Chaos, seed: int, where: Place) -> None:
    """Write what guest/chaos.sh needs into the empty directory `run`."""
    setup, lines, spaces = plan(
        chaos,
        seed,
        faults=where.sanitizers,
        processors=where.processors,
        seeded=where.virtual,
    )
    (run / "setup.sh").write_text(setup)
    (run / "plan").write_text(lines)
    (run / "spaces").write_text("".join(f"{ns}\n" for ns in spaces))
    (run / "bin").mkdir()
    shutil.copy(tools.programs() / "chaos", run / "bin/chaos")
    shutil.copy(tools.programs() / "poweroff", run / "poweroff")
    shutil.copy(tools.GUEST / "chaos.sh", run / "run.sh")
    shutil.copy(tools.GUEST / "init.sh", run / "init.sh")
    (run / "init.sh").chmod(0o755)
    if tc := where.seeding_tc():
        shutil.copy(tc / "tc", run / "bin/tc")
    for module in where.module_files().glob("*.ko"):
        shutil.copy(module, run)


def complaints(log: list[str]) -> list[str]:
    """The lines of a kernel log that make a run fail."""
    return [line for line in log if result.SPLAT.search(line) or BLIND.search(line)]


def judge(run: Path) -> tuple[dict[str, int], list[str]]:
    """(the counters of a finished run, everything that is wrong with it)."""
    wrong: list[str] = []
    counters: dict[str, int] = {}

    def text(name: str) -> str:
        return (run / name).read_text(errors="replace") if (run / name).exists() else ""

    said = text("out")[-2000:] + text("console")[-2000:]
    log, foreign = smp.foreign_races(text("dmesg").splitlines())
    if not log:
        wrong.append("there is no kernel log: nothing can be said of what it would have in it")
    if foreign:
        counters["races_of_the_kernel"] = foreign
    wrong += complaints(log or said.splitlines())
    for line in text("summary").splitlines():
        key, _, rest = line.partition(" ")
        if key == "x":
            wrong.append(rest)
        elif rest.isdecimal():
            counters[key] = int(rest)
        else:
            wrong.append(f"the summary was cut off at {line!r}")
    counters["splats"] = len(complaints(log))
    if (run / "error").exists():
        wrong.append((run / "error").read_text().strip())
    elif not (run / "status").exists():
        wrong.append(f"the run did not come to its end; it said:\n{said}")
    return counters, wrong


# Counters of what a mix may have: a pass in which one of them is 0 says nothing of it.
EVERYTHING = (
    *("completed", "aborted", "switches", "module_loads", "module_removals", "removals_refused"),
    *("parameter_writes", "parameters_refused", "namespaces", "defaults", "failed_allocations"),
    *("marks", "zero_windows", "bad_checksums", "sent_again", "timeouts", "duplicates"),
    *("reordered", "undone"),
)


def idle(total: Counter[str]) -> list[str]:
    """What of EVERYTHING did not happen, in words."""
    return [key.replace("_", " ") for key in EVERYTHING if not total[key]]


# Between the first and the last there is room for what a guest makes and KASAN keeps.
_MEGABYTES = 1024


def one(
    chaos: Chaos,
    seed: int,
    where: Place,
    *,
    keep: Path,
    timeout: float,
    cancel: threading.Event,
) -> tuple[dict[str, int], list[str]]:
    """One run: its counters, and what is wrong; what it left is kept in `keep` then."""
    with runner.run_directory() as run:
        fill(run, slower(chaos, where.slowness, where.rarer), seed, where)
        try:
            where.boot(
                run,
                seed,
                megabytes=_MEGABYTES,
                timeout=timeout,
                cancel=cancel,
                tick=lambda: None,
                arguments=("log_buf_len=16M", "kasan_multi_shot"),
            )
            counters, wrong = judge(run)
        except process.Cancelled:
            raise
        except LabError as error:
            counters, wrong = judge(run)
            wrong.append(str(error))
        if wrong:
            shutil.rmtree(keep, ignore_errors=True)
            try:
                shutil.copytree(run, keep, ignore=shutil.ignore_patterns("bin", "*.ko", "uml"))
            except OSError as error:
                wrong.append(f"not all of what it left could be kept: {error}")
    return counters, wrong


def many(
    chaos: Chaos,
    where: Place,
    *,
    first: int,
    runs: int,
    seconds: float,
    workers: int,
    out: Path,
    timeout: float,
    say: Callable[[str], None],
) -> tuple[Counter[str], list[int]]:
    """Runs of successive seeds from `first` on: `runs` of them at least, and until `seconds`
    have passed.  The sums of their counters (of memory_kb the largest), and the seeds that
    failed.  LabError, at once, of what is no run's fault."""
    seeds = itertools.count(first)
    total: Counter[str] = Counter()
    failed: list[int] = []
    lock = threading.Lock()
    cancel = threading.Event()
    begun = time.monotonic()

    def work() -> None:
        while not cancel.is_set():
            with lock:
                seed = next(seeds)
                if seed >= first + runs and time.monotonic() - begun > seconds:
                    return
            at = time.monotonic()
            keep = out / f"chaos-{where.name}-s{seed}.failed"
            counters, wrong = one(chaos, seed, where, keep=keep, timeout=timeout, cancel=cancel)
            with lock:
                total["runs"] += 1
                # A sum says nothing of what came back between them.
                sums = {k: v for k, v in counters.items() if k not in ("digest", "memory_kb")}
                total.update(sums)
                if "memory_kb" in counters:
                    total["memory_kb"] = max(total["memory_kb"], counters["memory_kb"])
                say(
                    f"seed {seed}: {'FAILED' if wrong else 'good'}, "
                    f"{counters.get('connections', 0)} connections, "
                    f"{counters.get('bytes', 0)} bytes, digest {counters.get('digest', 0):016x} "
                    f"({time.monotonic() - at:.0f} s)"
                )
                for line in wrong[:20]:
                    say(f"  {line}")
                if wrong:
                    say(f"  (all it left: {keep})")
                    failed.append(seed)

    pool = ThreadPoolExecutor(workers)
    try:
        done, _ = wait([pool.submit(work) for _ in range(workers)], None, FIRST_EXCEPTION)
        for future in done:
            future.result()
    except BaseException:
        cancel.set()
        raise
    finally:
        pool.shutdown()
    return total, failed
