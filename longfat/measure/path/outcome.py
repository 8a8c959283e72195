# SPDX-License-Identifier: GPL-2.0
"""A run over a path as a result file, as the lab's own runs have them; docs/measure.md says what
its figures mean.  What cannot be known of a path from its end is null."""

from __future__ import annotations

import platform
from statistics import median

from longfat.core.errors import LabError
from longfat.measure.path.client import SAMPLE, Path, Run
from longfat.measure.path.host import Host
from longfat.run import ss
from longfat.run.result import FORMAT, Json, spread

BACKEND = "path"
# A rate that grows by less than a quarter in three round trips has ended its first growth, as BBR
# has it for a full pipe.  Slow start doubles in one.
GROWTH, ROUNDS = 1.25, 3

Rows = list[tuple[float, ss.Connection]]


def _series(rows: Rows, key: str) -> list[float | None]:
    return [one.values.get(key) for _, one in rows]


def _total(samples: list[Rows], key: str) -> list[tuple[float, float]]:
    """(time, the sum of this counter over all connections) at each sample."""
    times = sorted({t for rows in samples for t, _ in rows})
    latest = [0.0] * len(samples)
    at = [0] * len(samples)
    found = []
    for t in times:
        for number, rows in enumerate(samples):
            while at[number] < len(rows) and rows[at[number]][0] <= t:
                latest[number] = rows[at[number]][1].values.get(key, latest[number])
                at[number] += 1
        found.append((t, sum(latest)))
    return found


def _arrived(samples: list[Rows], *, reverse: bool) -> list[tuple[float, float]]:
    """(time, bytes that have arrived) of all connections.  The kernel counts packets when they were
    acknowledged, selectively too; bytes it counts in order, behind a loss all at once."""
    if reverse:
        return _total(samples, "bytes_received")
    if any("delivered" not in rows[-1][1].values for rows in samples):
        return _total(samples, "bytes_acked")
    mss = samples[0][-1][1].values.get("mss", 0)
    return [(t, packets * mss) for t, packets in _total(samples, "delivered")]


def start_over(counted: list[tuple[float, float]], rtt: float) -> float | None:
    """When the rate at which a counter of bytes grows had its last rise by a quarter within three
    round trips of `rtt` seconds; None if it rises to the end."""
    span, quiet = max(rtt, 2 * SAMPLE), max(ROUNDS * rtt, ROUNDS * SAMPLE)
    best, since, behind = 0.0, 0.0, 0
    for t, total in counted:
        while counted[behind][0] < t - span and counted[behind + 1][0] <= t - span:
            behind += 1
        past, had = counted[behind]
        rate = (total - had) / (t - past) if t - past >= span / 2 else 0.0
        if rate > GROWTH * best:
            best, since = rate, t
        elif best and t - since >= quiet:
            return since
    return None


def _gained(counted: list[tuple[float, float]], begin: float, end: float) -> tuple[float, float]:
    """(what a counter gained from `begin` to `end`, in how many seconds)."""
    inside = [row for row in counted if begin <= row[0] <= end]
    if len(inside) < 2:
        return 0.0, 0.0
    return inside[-1][1] - inside[0][1], inside[-1][0] - inside[0][0]


def _idle(samples: list[Rows], begin: float, end: float) -> float:
    """The share of samples from `begin` to `end` in which the program had nothing to send."""
    idle = [one.app_limited for rows in samples for t, one in rows if begin <= t <= end]
    return round(sum(idle) / len(idle), 4) if idle else 0.0


def _limited(rows: Rows, key: str) -> float:
    """The share of the time in which it had something to send that `key` held it back."""
    last = rows[-1][1].values
    return last.get(key, 0.0) / busy if (busy := last.get("busy", 0.0)) else 0.0


def make(path: Path, run: Run, host: Host, *, number: int, place: int, seed: int) -> Json:
    """The result of a run, the `place`th of its round."""
    cc, samples = run.contender.cc, run.samples
    try:
        sent, received = run.said["end"]["sum_sent"], run.said["end"]["sum_received"]
        whole = {
            "bytes": int(received["bytes"]),
            "sent_bytes": int(sent["bytes"]),
            "seconds": round(received["seconds"] or sent["seconds"], 6),
            "retransmissions": sent.get("retransmits"),
        }
        cpu = run.said["end"]["cpu_utilization_percent"]
        processor = {"here": round(cpu["host_total"], 1), "there": round(cpu["remote_total"], 1)}
        version = run.said["start"]["version"]
    except (KeyError, TypeError) as error:
        raise LabError(f"iperf3: its JSON is not that of 3.12 or newer: {error!r}") from error
    rate = whole["bytes"] * 8 / whole["seconds"] if whole["seconds"] else 0.0
    counted = _arrived(samples, reverse=path.reverse)
    last = [rows[-1][1].values for rows in samples]
    base = min(
        (one.values["minrtt"] for rows in samples for _, one in rows if "minrtt" in one.values),
        default=0.0,
    )
    # The receiver's own is that of the few packets that it sends.
    rtts = [] if path.reverse else [x for rows in samples for x in _series(rows, "rtt") if x]
    over = start_over(counted, (median(rtts) if rtts else base) / 1e3)
    begin = path.begin
    # The first sample is up to SAMPLE after the beginning.
    end = whole["seconds"] - SAMPLE
    gained, seconds = _gained(counted, begin, end)
    goodput = round(gained * 8 / seconds) if seconds and not path.size else round(rate)
    loaded = [
        one.values["rtt"]
        for rows in samples
        for t, one in rows
        if begin <= t <= end and "rtt" in one.values and not path.reverse
    ]
    again = whole["retransmissions"]
    if not path.reverse:
        again = int(_gained(_total(samples, "retrans"), begin, end)[0])
    completion = round(path.size * 8 / rate, 6) if path.size and rate else None
    name = f"measured-{run.contender.label.replace(' ', '-')}"
    flow: Json = {
        **{"group": 0, "number": 0, "cc": cc, "base_rtt_ms": round(base, 3)},
        **{"goodput_bps": goodput, "received_bytes": whole["bytes"], "retransmissions": again},
        **{"ce_marks": None, "completion_s": completion, "rtt_ms": spread(loaded, 3)},
        "connections": [_connection(rows, reverse=path.reverse) for rows in samples],
    }
    return {
        "longfat": FORMAT,
        "scenario": {
            "title": f"measured on the path {'from' if path.reverse else 'to'} {path.where}",
            **{"name": name, "seeds": [number]},
            "case_name": run.contender.label if run.contender.parallel > 1 else "",
            **{"duration": whole["seconds"], "warmup": begin, "sample": SAMPLE},
            "link": {"rate": None, "mtu": int(last[0].get("pmtu", 0)) or None, "aqm": "unknown"},
            "flow": [
                {
                    **{"cc": cc, "rtt": base / 1e3, "parallel": run.contender.parallel},
                    **({"bytes": path.size} if path.size else {}),
                }
            ],
        },
        "seed": number,
        "backend": BACKEND,
        "kernel": platform.release(),
        "iperf3": version,
        "summary": {
            "goodput_bps": goodput,
            **dict.fromkeys(("capacity_bps", "utilisation", "loss", "dropped", "jain")),
            "retransmissions": again,
            "queue_delay_ms": spread([max(0.0, rtt - base) for rtt in loaded], 3),
        },
        "flows": [flow],
        **{"udp": [], "short": [], "log": []},
        "queue": {"t": [], "packets": [], "dropped": []},
        "path": {
            **{"host": path.host, "address": path.address, "port": path.port},
            **{"reverse": path.reverse, "round": number, "place": place, "order_seed": seed},
            **{"device": host.device, "qdiscs": list(host.qdiscs), "device_mbps": host.mbps},
            "default": host.default,
            **whole,
            "start_over_s": None if over is None else round(over, 3),
            "mss": int(last[0].get("mss", 0)),
            "cpu_percent": processor,
            "window_offered": int(max(one.get("snd_wnd", 0) for one in last)),
            "limited": {
                "receiver": round(max(_limited(rows, "rwnd_limited") for rows in samples), 4),
                "send_buffer": round(max(_limited(rows, "sndbuf_limited") for rows in samples), 4),
                # A receiver never has anything to send, and who has a number of bytes to send has
                # sent them some time.
                "program": 0.0 if path.reverse or path.size else _idle(samples, begin, end),
            },
        },
    }


def _connection(rows: Rows, *, reverse: bool) -> Json:
    def whole(key: str) -> list[int | None]:
        return [None if value is None else int(value) for value in _series(rows, key)]

    return {
        "t": [round(t, 3) for t, _ in rows],
        "cwnd": whole("cwnd"),
        "ssthresh": whole("ssthresh"),
        "rtt_us": [0 if ms is None else round(ms * 1e3) for ms in _series(rows, "rtt")],
        "received": [x or 0 for x in whole("bytes_received" if reverse else "bytes_acked")],
        "delivered": whole("delivered"),
        "retransmitted": [x or 0 for x in whole("retrans")],
        "unacked": [x or 0 for x in whole("unacked")],
        "pacing_bps": whole("pacing_rate"),
        "delivery_bps": whole("delivery_rate"),
    }
