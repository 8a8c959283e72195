# SPDX-License-Identifier: GPL-2.0
"""Result files: everything that one run measured, as one compact JSON object.

What a figure means (docs/lab.md has the same list):

goodput_bps     payload bytes that arrived in order within the measured time, the run
                after `warmup` while the flow was active, in bits per second
utilisation     payload bytes of all bulk flows over what the link could have carried in the
                measured time; of neither are those in reverse
loss            packets dropped by the bottleneck over packets offered to it, measured time
queue_delay_ms  backlog of the bottleneck, sampled: how long the link takes to carry it, as it
                is from then on; one that never does, for all that is left of the run
rtt_ms          the senders' smoothed RTT (tcpi_rtt), sampled
jain            Jain's index over the goodput of the bulk flows

A result of the uml backend holds nothing that differs between two runs of the
same scenario, seed and kernel: no wall clock, host name or path.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from longfat.core.errors import LabError
from longfat.core.files import replacing
from longfat.run import captures, changes, identity, iperf3, summaries
from longfat.run.disciplines import ETHERNET
from longfat.run.identity import Platform
from longfat.run.plan import FIRST_PORT, Plan
from longfat.run.scenario import Group, Request, Scenario, Video

# What makes a run fail, wherever the kernel logs it.
SPLAT = re.compile(
    r"WARNING:|\bBUG\b|Oops|KASAN|KFENCE|UBSAN|general protection|Call Trace"
    r"|possible recursive locking|circular locking|suspicious RCU|unreferenced object"
    r"|refcount_t:|unregister_netdevice: waiting|rcu_sched|soft lockup|hung_task|Kernel panic"
    r"|INFO: task .* blocked|detected stall|kmemleak: \d"
)

BEGIN = "longfat: begin "  # what guest/run.sh writes into the log

Json = dict[str, Any]

# Raised when what reads result files cannot read the older ones any more.
FORMAT = 1


def percentile(values: list[float], percent: float) -> float | None:
    """The nearest-rank percentile of unsorted `values`, None without any."""
    if not values:
        return None
    ordered = sorted(values)
    rank = max(1, -(-len(ordered) * percent // 100))
    return ordered[int(rank) - 1]


def spread(values: list[float], digits: int) -> Json:
    """Mean and percentiles, rounded."""
    if not values:
        return {"mean": None, "p50": None, "p95": None, "p99": None, "max": None}
    return {
        "mean": round(sum(values) / len(values), digits),
        **{f"p{p}": round(percentile(values, p) or 0, digits) for p in (50, 95, 99)},
        "max": round(max(values), digits),
    }


def jain(values: list[float]) -> float | None:
    """Jain's fairness index, (sum x)^2 / (n sum x^2), in 1/n..1; None if all are zero."""
    squares = sum(x * x for x in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None


def interval(values: list[float]) -> tuple[float, float]:
    """(mean, half of its 95 % interval, by Student's t) of values; (value, 0) of one."""
    from scipy.special import stdtrit  # half a second, which only pages have to wait

    n, mean = len(values), sum(values) / len(values)
    if n == 1:
        return mean, 0.0
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    return mean, float(stdtrit(n - 1, 0.975)) * (variance / n) ** 0.5


# How many numbers each kind of line has.
_WIDTH = {"o": 1, "f": 12, "u": 3, "q": 7, "l": 7, "d": 4, "a": 2}

# An event as tracefs prints it: time, name, and fields of which the first are the two ends
# of the connection.
_EVENT = re.compile(r" (\d+\.\d+): (\w+): src=\S+ dest=\S+:(\d+) (.*)")


def _read_sample(line: str, found: Json) -> None:
    kind, *words = line.split(maxsplit=1)
    if kind == "x":
        raise LabError(f"traffic generator: {' '.join(words).strip()}")
    words = line.split()[1:]
    if len(words) != _WIDTH[kind]:
        raise ValueError("too short or too long")
    if kind == "o":
        found["o"] = float(words[0])
    elif kind == "a":
        found["a"][int(words[0])] = words[1]
    elif kind in ("f", "u"):
        row = [float(words[0]), *map(int, words[2:])]
        found[kind].setdefault(int(words[1]), []).append(row)
    elif kind == "d":
        row = [float(words[0]), int(words[1]), float(words[2]), int(words[3])]
        found["d"].append(row)
    else:
        found[kind].append([float(words[0]), *map(int, words[1:])])


def read_samples(path: Path) -> Json:
    """lfgen's output by kind of line: {"f": {id: rows}, "q": rows, ...}, numbers parsed."""
    found: Json = {"f": {}, "u": {}, "q": [], "l": [], "d": [], "a": {}}
    with path.open(errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                _read_sample(line, found)
            except (ValueError, KeyError, IndexError) as error:
                raise LabError(f"line {number} of the samples is none: {line.strip()!r}") from error
    return found


def carried(path: Path, begin: float) -> tuple[int, int]:
    """Packets that left the bottleneck from `begin` on, and their bytes, by a run's samples."""
    with path.open(errors="replace") as file:
        rows = [[float(x) for x in line.split()[1:]] for line in file if line.startswith("q ")]
    packets, size = (_counter(rows, column, begin) for column in (4, 5))
    return packets, size - ETHERNET * packets


def read_order(path: Path, origin: float) -> list[list[float]]:
    """lforder's lines: [time from `origin`, packets that have arrived out of order]."""
    words = [line.split() for line in path.read_text().splitlines()]
    return [[float(t) - origin, int(count)] for _, t, count in words]


def _read_event(line: str, origin: float) -> tuple[int, Json]:
    event = _EVENT.search(line)
    if not event:
        raise ValueError("no event of ours")
    out: Json = {"t": round(float(event[1]) - origin, 6), "name": event[2]}
    for word in event[4].split():
        key, value = word.split("=", 1)
        out[key] = int(value) if re.fullmatch(r"-?\d+", value) else value
    return int(event[3]), out


def read_events(path: Path, origin: float) -> dict[int, list[Json]]:
    """The events of a trace by the port that the connection goes to, times from `origin`,
    fields as they are printed, whatever algorithm's they are."""
    found: dict[int, list[Json]] = {}
    with path.open(errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#") or not line.strip():
                continue
            try:
                port, event = _read_event(line, origin)
            except ValueError as error:
                text = line.strip()
                raise LabError(f"line {number} of the trace is no event: {text!r}") from error
            found.setdefault(port, []).append(event)
    return found


def _goodput(rows: list[list[float]], column: int, begin: float, end: float) -> tuple[float, int]:
    """(bits per second, bytes) that counter `column` gained from `begin` to `end`, by the
    samples at or next after these times."""
    inside = [row for row in rows if begin - 1e-9 <= row[0] <= end + 1e-9]
    if not inside or inside[-1][0] <= inside[0][0]:
        return 0.0, 0
    gained = int(inside[-1][column] - inside[0][column])
    return gained * 8 / (inside[-1][0] - inside[0][0]), gained


def _counter(rows: list[list[float]], column: int, begin: float) -> int:
    after = [row for row in rows if row[0] >= begin - 1e-9]
    return int(after[-1][column] - after[0][column]) if after else 0


def _check_cc(raw: Json, ident: int, cc: str) -> None:
    if raw["a"].get(ident, cc) != cc:
        raise LabError(f"asked for {cc}, the kernel uses {raw['a'][ident]}")


def _flow(scenario: Scenario, plan: Plan, group: int, number: int, raw: Json) -> Json:
    """One bulk flow: its connections added up, samples of each."""
    spec = scenario.flow[group]
    ids = [i for i, key in plan.flows.items() if key == (group, number)]
    out: Json = {
        "group": group,
        "number": number,
        "cc": spec.cc,
        "base_rtt_ms": round(spec.rtt * 1e3, 6),
        "goodput_bps": 0,
        "received_bytes": 0,
        "retransmissions": 0,
        "ce_marks": 0,
        "completion_s": None,
        "connections": [],
    }
    rtts: list[float] = []
    completed = {done[1]: done[2] for done in raw["d"]}
    finished = {done[1]: done[0] for done in raw["d"]}
    if all(ident in completed for ident in ids):
        out["completion_s"] = max(completed[ident] for ident in ids)
    for ident in ids:
        rows = raw["f"].get(ident, [])
        _check_cc(raw, ident, spec.cc)
        # Idle samples after a size-limited flow's completion are not its goodput.
        end = min(finished.get(ident, scenario.duration) + scenario.sample, scenario.duration)
        bps, gained = _goodput(rows, 6, scenario.warmup, end)
        out["goodput_bps"] += round(bps)
        out["received_bytes"] += gained
        out["retransmissions"] += _counter(rows, 5, scenario.warmup)
        out["ce_marks"] += _counter(rows, 7, scenario.warmup)
        rtts += [row[3] / 1e3 for row in rows if row[0] >= scenario.warmup and row[3]]
        connection: Json = {
            "t": [round(row[0], 6) for row in rows],
            "cwnd": [row[1] for row in rows],
            # Unset is "infinite"; null plots as nothing.
            "ssthresh": [row[2] if row[2] < 2**31 - 1 else None for row in rows],
            "rtt_us": [row[3] for row in rows],
            "received": [row[6] for row in rows],
            "delivered": [row[10] for row in rows],
            "state": [row[9] for row in rows],
            "min_rtt_us": [row[4] for row in rows],
            "retransmissions": [row[5] for row in rows],
            "ce_marks": [row[7] for row in rows],
            "pacing_rate": [row[8] for row in rows],
        }
        if scenario.trace:
            connection["events"] = raw["events"].get(FIRST_PORT + ident, [])
        out["connections"].append(connection)
    out["rtt_ms"] = spread(rtts, 3)
    return out


# Traffic of which each object has a completion time.
OBJECTS = ("short", "request", "video")

# Sizes up to so many bytes are one class; the last has all others.
CLASSES = (10_000, 100_000, 1_000_000, 10_000_000, None)


def _by_size(done: list[list[float]], least_time: Callable[[float, float], float]) -> list[Json]:
    """Completion of the objects of each class of sizes, and their efficiency: `least_time`, of
    when one began and its size, over how long it was."""
    found = []
    least = 0
    for most in CLASSES:
        those = [one for one in done if one[3] > least and (most is None or one[3] <= most)]
        if those:
            ideal = [least_time(end - seconds, size) / seconds for end, _, seconds, size in those]
            found.append(
                {
                    "largest": most,
                    "completed": len(those),
                    "completion_s": spread([one[2] for one in those], 6),
                    "efficiency": round(sum(ideal) / len(ideal), 6),
                }
            )
        least = most or least
    return found


def _least_time(scenario: Scenario, entry: Group) -> Callable[[float, float], float]:
    """How long an object of an entry takes at least, by when it begins and its size: a round trip
    and the size at the least rate of the links that it crosses, as they are then.  A chunk of
    video waits for no round trip: acknowledgments do."""
    links = scenario.path[entry.enter - 1 : entry.leave or len(scenario.path)]
    rtt = 0 if isinstance(entry, Video) and not entry.reverse else entry.rtt
    if entry.reverse:
        back = min(link.reverse_rate or math.inf for link in links)
        return lambda begin, size: rtt + size * 8 / back
    if not any(link.changing for link in links):
        rate = min(link.rate for link in links)
        return lambda begin, size: rtt + size * 8 / rate
    carried = [changes.Carried(scenario.steps(link)) for link in links]

    def least(begin: float, size: float) -> float:
        # A round trip has the links' delays of its own time, and so has what comes behind it.
        first = begin + rtt + (sum(one.delay(begin) for one in carried) if rtt else 0)
        last = max(one.when(one.until(first) + 8 * size) for one in carried)
        return last + sum(one.delay(last) for one in carried) - begin

    return least


def _begun(plan: Plan, ident: int, entry: Group, done: list[list[float]], end: float) -> int:
    """How many objects of this source were begun in a run that long."""
    lines = plan.files.get(f"objects-{ident}", "").splitlines()
    if not isinstance(entry, Request):
        return len(lines)  # each at its time
    # One after the other: the first when the connection is there, after a round trip at least.
    ends = [one[0] for one in done if one[1] == ident]
    before = ends[-1] if ends else entry.start + entry.rtt
    thinks = [float(line.split()[0]) for line in lines[len(ends) : len(ends) + 1]]
    stop = min(end, entry.start + (entry.duration or end))
    return len(ends) + sum(before + think < stop for think in thinks)


def _objects(scenario: Scenario, plan: Plan, kind: str, raw: Json) -> list[Json]:
    """What became of the objects of each entry of this kind that were complete within the measured
    time."""
    begin, measured = scenario.warmup, scenario.duration - scenario.warmup
    out = []
    for number, entry in enumerate(getattr(scenario, kind)):
        idents = {ident for ident, key in plan.objects.items() if key == (kind, number)}
        for ident in idents:
            _check_cc(raw, ident, entry.cc)
        done = [one for one in raw["d"] if one[1] in idents and one[0] >= begin]
        begun = sum(_begun(plan, ident, entry, raw["d"], scenario.duration) for ident in idents)
        before = sum(one[1] in idents and one[0] < begin for one in raw["d"])
        found: Json = {
            kind: number,
            "begun": begun - before,
            "completed": len(done),
            "goodput_bps": round(sum(one[3] for one in done) * 8 / measured),
            "completion_s": spread([one[2] for one in done], 6),
            "by_size": _by_size(done, _least_time(scenario, entry)),
            "completions": {
                "t": [round(one[0], 6) for one in done],
                "seconds": [round(one[2], 6) for one in done],
                "bytes": [one[3] for one in done],
            },
        }
        if kind == "video":
            # A player that has a chunk in store waits from here on.
            due = sum(
                begin <= float(line.split()[0]) <= scenario.duration - entry.chunk
                for ident in idents
                for line in plan.files[f"objects-{ident}"].splitlines()
            )
            began = [(one[0] - one[2], one[2]) for one in raw["d"] if one[1] in idents]
            found["due"] = due
            found["late"] = due - sum(
                begin - 1e-6 <= t <= scenario.duration - entry.chunk + 1e-6 and took <= entry.chunk
                for t, took in began
            )
        out.append(found)
    return out


def _queue_delays(scenario: Scenario, rows: list[list[float]]) -> list[float]:
    """How long what is in the bottleneck takes to leave it, ms, of each sample."""
    there = [(row[0], row[1] - ETHERNET * row[2]) for row in rows]
    if "rate" not in scenario.link.changing:
        return [size * 8e3 / scenario.link.rate for _, size in there]
    carried = changes.Carried(scenario.steps(scenario.link))
    most = [(carried.takes(t, 8 * size), scenario.duration - t) for t, size in there]
    return [1e3 * (left if math.isinf(takes) else takes) for takes, left in most]


def _way_back(scenario: Scenario, rows: list[list[float]]) -> Json:
    """The queue of the way back in the measured time."""
    begin = scenario.warmup
    dropped, sent, size = (_counter(rows, column, begin) for column in (3, 4, 5))
    held = [row[1] - ETHERNET * row[2] for row in rows if row[0] >= begin - 1e-9]
    return {
        "sent": sent,
        "sent_bytes": size - ETHERNET * sent,
        "dropped": dropped,
        "loss": dropped / (sent + dropped) if sent + dropped else 0.0,
        "queue_delay_ms": spread([8e3 * x / (scenario.link.reverse_rate or 1) for x in held], 3),
    }


def _lines(path: Path) -> list[str]:
    """What a kernel or a program said, which may be anything."""
    return path.read_text(errors="replace").splitlines()


def _said_of_modules(run: Path, error: str) -> str:
    """What insmod and the kernel said, if a module could not be loaded."""
    if "cannot be loaded" not in error:
        return ""
    texts = [run / name for name in ("out", "dmesg")]
    lines = [x for path in texts if path.exists() for x in _lines(path)[-10:]]
    return "".join(f"\n{line}" for line in lines)


def make(
    scenario: Scenario,
    seed: int,
    backend: str,
    plan: Plan,
    run: Path,
    parts: Json | None = None,
) -> Json:
    """The result of a finished run directory; LabError if the run failed.  `parts` are what is
    known of its identity; it has none without."""
    for name in ("error", "status", "samples", "log", *(["trace"] if scenario.trace else [])):
        file = run / name
        if name == "error" and file.exists():
            said = file.read_text(errors="replace")
            raise LabError(said.strip() + _said_of_modules(run, said))
        if name != "error" and not file.exists():
            said = "".join(
                (run / f).read_text(errors="replace")[-1500:]
                for f in ("out", "console")
                if (run / f).exists()
            )
            raise LabError(f"the run left no {name}; it said:\n{said}")
    log = [re.sub(r"^\[[^]]*\] ", "", line) for line in _lines(run / "log")]
    # A virtual kernel also tells what happened before and after, to its very end.
    whole = _lines(run / "dmesg") if (run / "dmesg").exists() else log
    bad = [line for line in [*log, *whole] if SPLAT.search(line)]
    if bad:
        # Without how it booted, unless that is what it complained of.
        first = next((i for i, line in enumerate(whole) if BEGIN in line), 0)
        first = 0 if any(SPLAT.search(line) for line in whole[:first]) else first
        raise LabError("the kernel complained during the run:\n" + "\n".join(whole[first:]))
    raw = read_samples(run / "samples")
    if (run / "order").exists():
        raw["r"] = read_order(run / "order", raw["o"])
    programs = {one.ident: iperf3.read(run, one) for one in plan.programs}
    for ident, one in programs.items():
        raw["a"][ident], raw["f"][ident] = one.cc, one.rows
    if scenario.trace:
        raw["events"] = read_events(run / "trace", raw["o"])

    begin = scenario.warmup
    flows = [_flow(scenario, plan, g, n, raw) for g, n in dict.fromkeys(plan.flows.values())]
    queue = [row for row in raw["q"] if row[0] >= begin - 1e-9]
    dropped, sent = (_counter(raw["q"], column, begin) for column in (3, 4))
    # Over the whole measured time: flows need not be active together.
    measured = scenario.duration - begin
    # Of the first link, which not all of them cross.
    specs = [(flow, scenario.flow[flow["group"]]) for flow in flows]
    ahead = [flow for flow, spec in specs if not spec.reverse and spec.enter == 1]
    total = round(sum(flow["received_bytes"] for flow in ahead) * 8 / measured)
    fairness = jain([flow["goodput_bps"] for flow in flows])
    step = max(1, round(scenario.sample / scenario.queue_sample))
    udp = []
    for ident, number in plan.udp.items():
        rows = raw["u"].get(ident, [])
        bps, _ = _goodput(rows, 1, begin, scenario.duration)
        udp.append({"udp": number, "goodput_bps": round(bps)})
    out: Json = {
        "longfat": FORMAT,
        "scenario": json.loads(scenario.model_dump_json()),
        "seed": seed,
        "backend": backend,
        "kernel": (run / "kernel").read_text().strip(),
        "summary": {
            "goodput_bps": total,
            "capacity_bps": round(scenario.capacity),
            "utilisation": round(total / scenario.capacity, 6),
            "loss": dropped / (sent + dropped) if sent + dropped else 0.0,
            "dropped": dropped,
            "retransmissions": sum(flow["retransmissions"] for flow in flows),
            "jain": round(fairness, 6) if fairness is not None else None,
            "queue_delay_ms": spread(_queue_delays(scenario, queue), 3),
        },
        "flows": flows,
        "udp": udp,
        **{kind: _objects(scenario, plan, kind, raw) for kind in OBJECTS},
        "queue": {
            "t": [round(row[0], 6) for row in raw["q"][::step]],
            "packets": [row[2] for row in raw["q"][::step]],
            "dropped": [row[3] for row in raw["q"][::step]],
        },
        "log": log,
    }
    if (run / "accelerator").exists():  # of a virtual machine
        out["accelerator"] = (run / "accelerator").read_text()
    if programs:
        out["iperf3"] = next(iter(programs.values())).version
    if parts:
        others = {"iperf3": out["iperf3"]} if programs else {}
        out["identity"] = identity.whole(parts, out["kernel"], **others)
    if scenario.captures:
        out["captures"] = captures.settle(run, scenario.captures)
    if scenario.way_back:
        out["way_back"] = _way_back(scenario, raw["l"])
    elif raw["l"]:
        out["impaired_hop"] = {
            "dropped": _counter(raw["l"], 3, begin),
            "sent": _counter(raw["l"], 4, begin),
            "reordered": _counter(raw.get("r", []), 1, begin),
        }
    return out


def write_whole(text: str, path: Path) -> None:
    """Write a file in one step: it is whole, or as it was.  LabError if that cannot be."""
    with replacing(path, "free space, or choose a directory by --out") as partial:
        partial.write_text(text)


def write(result: Json, path: Path) -> None:
    """Write a result file in one step."""
    write_whole(json.dumps(result, separators=(",", ":"), sort_keys=True) + "\n", path)


def _load(path: Path) -> Any:
    try:
        return summaries.read(path)
    except (OSError, ValueError) as error:
        raise LabError(f"{path}: is not a result file: {error}") from error


def _checked(data: Any, path: Path) -> Json:
    if not isinstance(data, dict) or "longfat" not in data:
        what = "a list, which `table` reads if it is one of summaries"
        what = what if isinstance(data, list) else "something else, see docs/lab.md"
        raise LabError(f"{path}: is not a result file but {what}")
    if data["longfat"] != FORMAT:
        raise LabError(f"{path}: is not a result file of format {FORMAT}: run the scenario again")
    return data


def read(path: Path) -> Json:
    """A result file; LabError if it is not one."""
    return _checked(_load(path), path)


def read_all(path: Path) -> list[Json]:
    """What a result file has, or all that a list of summaries has, as docs/results holds them: a
    run that failed is one with only `failed`, `scenario` and `seed`."""
    data = _load(path)
    if not isinstance(data, list):
        return [_checked(data, path)]
    return [
        one if isinstance(one, dict) and "failed" in one else _checked(one, path) for one in data
    ]


def current(path: Path, scenario: Scenario, seed: int, backend: str, on: Platform) -> bool:
    """Whether `path` holds the result of this run, made by this backend on this platform."""
    if not path.exists():
        return False
    try:
        found = read(path)
    except LabError:  # damaged: made again
        return False
    return found["backend"] == backend and on.knows(found, scenario, seed)


def summarise(result: Json) -> Json:
    """A result without its samples, small enough to be committed."""
    out = {key: value for key, value in result.items() if key not in ("queue",)}
    out["flows"] = [
        {key: value for key, value in flow.items() if key != "connections"}
        for flow in result["flows"]
    ]
    for kind in OBJECTS:
        out[kind] = [
            {key: value for key, value in entry.items() if key != "completions"}
            for entry in result.get(kind, [])
        ]
    out["of"] = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:16]
    return out
