# SPDX-License-Identifier: GPL-2.0
"""Results as data files of flent (https://flent.org), from which it draws its own plots: one for
each run, as flent's test tcp_nup makes them.

Each bulk flow is one of its uploads: goodput between two samples, and of its connections window,
RTT and pacing rate as flent's tcp_info has them.  Nobody pings in the lab, so the series of its
ping has no values.
"""

from __future__ import annotations

import datetime
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longfat.core.errors import LabError
from longfat.core.files import replacing
from longfat.run.result import Json, jain
from longfat.show.export import distinct, sampled

FORMAT = 4  # of flent's files
TEST = "tcp_nup"
# Runs have no date; virtual time begins here.
BEGIN = 1_700_000_000

Values = dict[float, float]  # by time


def _date(seconds: float) -> str:
    at = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _rates(connection: Json) -> Iterator[tuple[float, float]]:
    """Time, and Mbit/s of goodput since the sample before."""
    t, received = connection["t"], connection["received"]
    for i in range(1, len(t)):
        yield t[i], (received[i] - received[i - 1]) * 8e-6 / (t[i] - t[i - 1])


def _raw(connection: Json) -> Iterator[Json]:
    """What flent's own sampling of tcp_info writes down, in its units."""
    goodput = dict(_rates(connection))
    pacing = sampled(connection, "pacing_rate")
    for i, t in enumerate(connection["t"]):
        values = {
            "val": goodput.get(t),
            "tcp_cwnd": connection["cwnd"][i],
            "tcp_rtt": connection["rtt_us"][i] / 1e3 or None,
        }
        if pacing and pacing[i] is not None:
            values["tcp_pacing_rate"] = pacing[i] * 8e-6
        yield {"t": BEGIN + t} | {key: x for key, x in values.items() if x is not None}


def _together(series: list[Values]) -> dict[str, Values]:
    """The sum of all flows that there are at a time, their mean and Jain's index."""
    at = {t: [one[t] for one in series if t in one] for t in sorted({t for x in series for t in x})}
    return {
        "TCP upload sum": {t: sum(values) for t, values in at.items()},
        "TCP upload avg": {t: sum(values) / len(values) for t, values in at.items()},
        "TCP upload fairness": {t: jain(values) or 1.0 for t, values in at.items()},
    }


def document(result: Json) -> Json:
    """The content of a file."""
    scenario = result["scenario"]
    if not any(flow.get("connections") for flow in result["flows"]):
        raise LabError(
            f"{scenario['name']}, seed {result['seed']}: is a summary, without samples, or has no "
            f"bulk flow, so flent would have nothing to draw"
        )
    series: dict[str, Values] = {}
    raw: dict[str, list[Json]] = {}
    about: dict[str, Json] = {}
    for number, flow in enumerate(result["flows"], 1):
        name = f"TCP upload::{number}"
        series[name] = {}
        for connection in flow.get("connections", []):
            for t, rate in _rates(connection):
                series[name][t] = series[name].get(t, 0) + rate
        raw[name] = [x for one in flow.get("connections", []) for x in _raw(one)]
        about[name] = {"CONG_CONTROL": flow["cc"], "UNITS": "Mbits/s"}
    series |= _together(list(series.values()))
    times = sorted({t for values in series.values() for t in values})
    duration = scenario["duration"]
    metadata: dict[str, Any] = {
        **{"NAME": TEST, "TITLE": f"{scenario['name']}, seed {result['seed']}"},
        **{"NOTE": scenario["title"], "DATA_FILENAME": name_of(result)},
        **{"TIME": _date(BEGIN), "T0": _date(BEGIN), "TOTAL_LENGTH": duration},
        **{"LENGTH": duration, "STEP_SIZE": scenario["sample"], "IP_VERSION": 4},
        **{"HOST": "receiver", "HOSTS": ["receiver"], "LOCAL_HOST": "sender"},
        **{"KERNEL_NAME": "Linux", "KERNEL_RELEASE": result["kernel"]},
        **{"TEST_PARAMETERS": {"upload_streams": str(len(result["flows"]))}},
        "SERIES_META": about,
    }
    return {
        "version": FORMAT,
        "metadata": metadata,
        "x_values": times,
        "results": {name: [values.get(t) for t in times] for name, values in series.items()}
        | {"Ping (ms) ICMP": [None] * len(times)},
        "raw_values": raw | {"Ping (ms) ICMP": []},
    }


def name_of(result: Json) -> str:
    """The name of a result's file."""
    return f"{result['scenario']['name']}-s{result['seed']}.flent.gz"


def write(results: list[Json], out: Path) -> list[Path]:
    """A file for each result below `out`; LabError if two would be the same file."""
    distinct(results)
    written = []
    for one in results:
        path = out / name_of(one)
        text = json.dumps(document(one), separators=(",", ":"))
        with replacing(path, "free space, or choose a directory by -o") as partial:
            partial.write_bytes(gzip.compress(text.encode(), mtime=0))
        written.append(path)
    return written
