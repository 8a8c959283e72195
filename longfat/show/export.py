# SPDX-License-Identifier: GPL-2.0
"""Results as tables for other programs, as CSV or Parquet: a row for each observation, which says
of which run, flow and connection it is.

runs      each run: its path, and the summary
settings  each key of a scenario that the runs do not have in common, of each run that has it
flows     each bulk flow
samples   each sample of each connection
queue     each sample of the bottleneck's queue
events    each field of each trace event of a connection
objects   each object (a short flow, an answer, a chunk of video) that was complete
"""

from __future__ import annotations

import csv
import importlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from longfat.core import data
from longfat.core.errors import LabError
from longfat.core.files import replacing
from longfat.run.result import OBJECTS, Json

Row = tuple[Any, ...]

# Of a result, as they are in it.
_SUMMARY: dict[str, type] = {
    **{"goodput_bps": int, "capacity_bps": int, "utilisation": float, "loss": float},
    **{"dropped": int, "retransmissions": int, "jain": float},
}
_TOTALS: dict[str, type] = {
    **{"base_rtt_ms": float, "goodput_bps": int, "received_bytes": int},
    **{"retransmissions": int, "ce_marks": int, "completion_s": float},
}
_SERIES: dict[str, type] = {
    **{"cwnd": int, "ssthresh": int, "rtt_us": int, "received": int, "delivered": int},
    **{"state": int, "min_rtt_us": int, "retransmissions": int, "ce_marks": int},
    **{"pacing_rate": int},
}
_SPREAD = ("mean", "p50", "p95", "p99", "max")
_RUN = {"run": str, "seed": int}
_FLOW = {**_RUN, "group": int, "flow": int, "cc": str}
_CONNECTION = {**_FLOW, "connection": int, "t": float}

# Column -> type, of each table; any value but those of the keys may be missing.
COLUMNS: dict[str, dict[str, type]] = {
    "runs": {
        **_RUN,
        **{"title": str, "backend": str, "kernel": str, "id": str},
        **{"duration_s": float, "warmup_s": float, "rate_bps": int, "mtu": int, "aqm": str},
        **{"ecn": bool, "buffer": float, "buffer_unit": str, "random_loss": float},
        **_SUMMARY,
        **{f"queue_delay_ms_{name}": float for name in _SPREAD},
    },
    "settings": {**_RUN, "key": str, "value": str},
    "flows": {
        **_FLOW,
        **_TOTALS,
        **{f"rtt_ms_{name}": float for name in _SPREAD},
    },
    "samples": {**_CONNECTION, **_SERIES},
    "queue": {**_RUN, "t": float, "packets": int, "dropped": int},
    "events": {**_CONNECTION, "event": str, "field": str, "number": float, "text": str},
    "objects": {**_RUN, "kind": str, "entry": int, "t": float, "seconds": float, "bytes": int},
}


# What the kernel says, this or more, as long as it has no value: before the first RTT sample.
_NONE_YET = {"min_rtt_us": 2**32 - 1, "pacing_rate": 2**63}


def _key(result: Json) -> Row:
    return result["scenario"]["name"], result["seed"]


def distinct(results: list[Json]) -> None:
    """LabError if run and seed do not tell two of these results apart."""
    for (run, seed), count in Counter(map(_key, results)).items():
        if count > 1:
            raise LabError(
                f"{run}, seed {seed}: {count} results are called so: export those of one "
                f"directory at a time, each with its own -o"
            )


def sampled(connection: Json, name: str) -> list[Any] | None:
    """Samples of a connection, None where there was no value yet; None of a result of before they
    were kept."""
    samples: list[Any] | None = connection.get(name)
    if samples and (none := _NONE_YET.get(name)):
        return [None if x is None or x >= none else x for x in samples]
    return samples


def _runs(result: Json) -> Iterator[Row]:
    scenario, summary = result["scenario"], result["summary"]
    link = scenario["link"]
    yield (
        *_key(result),
        *(scenario["title"], result["backend"], result["kernel"]),
        result.get("identity", {}).get("id"),
        *(scenario.get("duration"), scenario.get("warmup"), link["rate"], link["mtu"], link["aqm"]),
        *(link.get("ecn"), *link.get("buffer", (None, None)), link.get("loss")),
        *(summary.get(name) for name in _SUMMARY),
        *(summary["queue_delay_ms"][name] for name in _SPREAD),
    )


# What names a scenario and sets nothing.
_NAMES = ("name", "title", "seeds")


def _flat(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Each key of a part of a scenario by its path, as [vary] has it, and its value."""
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        inner = {str(i): one for i, one in enumerate(value)}.items()
    else:
        yield at, value if isinstance(value, str) else json.dumps(value)
        return
    for key, one in inner:
        yield from _flat(one, f"{at}.{key}" if at else key)


def _settings(result: Json) -> dict[str, str]:
    scenario = {key: one for key, one in result["scenario"].items() if key not in _NAMES}
    return dict(_flat(scenario))


def _varied(results: list[Json]) -> Callable[[Json], Iterator[Row]]:
    """What gives the rows of `settings`, when these are all the results."""
    every = [_settings(one) for one in results]
    varied = [
        key
        for key in dict.fromkeys(key for of in every for key in of)
        if len({of.get(key) for of in every}) > 1
    ]

    def rows(result: Json) -> Iterator[Row]:
        of = _settings(result)
        for key in varied:
            if key in of:
                yield *_key(result), key, of[key]

    return rows


def _flow(result: Json, flow: Json) -> Row:
    return *_key(result), flow["group"], flow["number"], flow["cc"]


def _flows(result: Json) -> Iterator[Row]:
    for flow in result["flows"]:
        yield (
            *_flow(result, flow),
            *(flow.get(name) for name in _TOTALS),
            *(flow["rtt_ms"][name] for name in _SPREAD),
        )


def _connections(result: Json) -> Iterator[tuple[Row, Json]]:
    for flow in result["flows"]:
        for number, connection in enumerate(flow.get("connections", [])):
            yield (*_flow(result, flow), number), connection


def _samples(result: Json) -> Iterator[Row]:
    for key, connection in _connections(result):
        t = connection["t"]
        columns = [sampled(connection, name) or [None] * len(t) for name in _SERIES]
        yield from ((*key, *values) for values in zip(t, *columns, strict=True))


def _queue(result: Json) -> Iterator[Row]:
    if queue := result.get("queue"):
        for values in zip(queue["t"], queue["packets"], queue["dropped"], strict=True):
            yield *_key(result), *values


def _events(result: Json) -> Iterator[Row]:
    for key, connection in _connections(result):
        for event in connection.get("events", []):
            for name, value in event.items():
                if name not in ("t", "name"):
                    number = None if isinstance(value, str) else value
                    text = value if isinstance(value, str) else None
                    yield *key, event["t"], event["name"], name, number, text


def _completed(result: Json) -> Iterator[Row]:
    for kind in OBJECTS:
        for entry in result.get(kind, []):
            done = entry.get("completions", {"t": [], "seconds": [], "bytes": []})
            for values in zip(done["t"], done["seconds"], done["bytes"], strict=True):
                yield *_key(result), kind, entry[kind], *values


_ROWS: dict[str, Callable[[Json], Iterator[Row]]] = {
    "runs": _runs,
    "flows": _flows,
    "samples": _samples,
    "queue": _queue,
    "events": _events,
    "objects": _completed,
}


def _csv(rows: Iterable[Iterator[Row]], columns: dict[str, type], path: Path) -> int:
    count = 0
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        for of_run in rows:
            for row in of_run:
                out.writerow(row)
                count += 1
    return count


def _parquet(rows: Iterable[Iterator[Row]], columns: dict[str, type], path: Path) -> int:
    arrow = _arrow()
    types = {int: arrow.int64(), float: arrow.float64(), str: arrow.string(), bool: arrow.bool_()}
    schema = arrow.schema([(name, types[kind]) for name, kind in columns.items()])
    count = 0
    with importlib.import_module("pyarrow.parquet").ParquetWriter(path, schema) as out:
        for of_run in rows:
            of_columns = list(zip(*of_run, strict=True)) or [()] * len(columns)
            arrays = [
                arrow.array([x if x is None else kind(x) for x in values], type=types[kind])
                for values, kind in zip(of_columns, columns.values(), strict=True)
            ]
            out.write_table(arrow.table(arrays, schema=schema))
            count += len(of_columns[0])
    return count


def _arrow() -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise LabError(
            "Parquet needs the Python package pyarrow, which is ten times the lab and so not one "
            f"of its own: `{data.COMMAND} python -m pip install pyarrow` (of a pipx's lab: `pipx "
            "inject longfat pyarrow`); --csv needs none"
        ) from error


FORMATS = {"csv": _csv, "parquet": _parquet}


def write(results: list[Json], out: Path, form: str) -> list[Path]:
    """The tables of these results, each a file of this format below `out`; those without a row,
    such as the events of runs that recorded none, are not written.  LabError if two results are of
    one run and seed."""
    distinct(results)
    if form == "parquet":
        _arrow()
    written = []
    of = _ROWS | {"settings": _varied(results)}
    for name, columns in COLUMNS.items():
        path = out / f"{name}.{form}"
        with replacing(path, "free space, or choose a directory by -o") as partial:
            count = FORMATS[form]((of[name](result) for result in results), columns, partial)
        if count:
            written.append(path)
        else:
            path.unlink()
    return written
