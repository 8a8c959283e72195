# SPDX-License-Identifier: GPL-2.0
"""Two machines of the user's as the ends of an experiment: the file that names them, what of a
scenario holds between them, and what each of them does."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from longfat.core import units
from longfat.core.errors import LabError
from longfat.machines.remote import SILENCE, Machine
from longfat.run import iperf3, ss
from longfat.run.iperf3 import Connection
from longfat.run.scenario import Link, Scenario

CONNECT = 10  # seconds in which a server has to answer
GRACE = 60  # seconds that an experiment may take longer than it should

# Of a link, what describes the path; it is there already, and nothing else of it can be made.
_DESCRIBES = {"rate", "buffer", "mtu", "loss"}
# What of a host's settings is a sysctl.
_HOST = {"timestamps": "net.ipv4.tcp_timestamps", "sack": "net.ipv4.tcp_sack"}

_Word = Annotated[str, StringConstraints(pattern=r"^[^\s\-'\"][^\s'\"]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Sender(_Strict):
    ssh: _Word
    sudo: bool = False


class _Receiver(_Sender):
    address: _Word
    port: int = Field(default=5201, ge=1, le=65535)


class _File(_Strict):
    sender: _Sender
    receiver: _Receiver
    config: str = ""
    cap: Annotated[int, BeforeValidator(units.size)] = 20 * 10**9


@dataclass(frozen=True)
class Hosts:
    sender: Machine
    receiver: Machine
    address: str  # of the receiver, for the sender
    port: int  # of the first connection
    cap: int  # bytes of all runs together


def load(path: Path) -> Hosts:
    """The file of --hosts; LabError says what is wrong in it."""
    try:
        found = _File.model_validate(tomllib.loads(path.read_text()))
    except OSError as error:
        raise LabError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"{path}: is not TOML: {error}") from error
    except ValidationError as error:
        lines = []
        for one in error.errors():
            key, message = ".".join(map(str, one["loc"])), one["msg"]
            if one["type"] == "extra_forbidden":
                message = "unknown key"
            if one["type"] == "string_pattern_mismatch":
                message = "is one word without quotes, and does not begin with -"
            lines.append(f"{path}: {key}: {message}")
        raise LabError("\n".join([*lines, "docs/measure.md has an example"])) from error
    # As it would be beside the file.
    config = path.parent / found.config if found.config else None
    return Hosts(
        Machine("sender", found.sender.ssh, found.sender.sudo, config),
        Machine("receiver", found.receiver.ssh, found.receiver.sudo, config),
        found.receiver.address,
        found.receiver.port,
        found.cap,
    )


# --- what of a scenario holds


def _refused(scenario: Scenario) -> Iterable[str]:
    """The keys that ask for something that cannot be made of a path that is there."""
    for name in ("udp", "short", "request", "video", "links", "trace", "pcap"):
        if getattr(scenario, name):
            yield {"links": "several links"}.get(name, name)
    for name, one in Link.model_fields.items():
        if name not in _DESCRIBES and getattr(scenario.link, name) != one.default:
            yield f"link.{name}"
    for name, one in type(scenario.host).model_fields.items():
        if name not in {*_HOST, "sysctl"} and getattr(scenario.host, name) != one.default:
            yield f"host.{name}"
    for i, flow in enumerate(scenario.flow):
        for name in ("reverse", "access", "bytes", "off", "socket_buffer"):
            if getattr(flow, name):
                yield f"flow[{i}].{name}"


def fitting(scenario: Scenario) -> Scenario:
    """The scenario as it is carried out between two machines; LabError if some of it cannot be."""
    refused = list(_refused(scenario))
    if refused:
        raise LabError(
            f"{scenario.name}: {', '.join(refused)}: the ssh backend has the path that is there: "
            "flows with cc, count, parallel, start, duration and jitter, host.timestamps, "
            "host.sack, host.sysctl and [module]. Of [link] rate, buffer, mtu and loss only "
            "describe it"
        )
    made = scenario.model_copy(update={"traffic": "iperf3"})
    try:
        made.for_iperf3()
    except ValueError as error:
        raise LabError(f"{scenario.name}: the ssh backend sends with iperf3: {error}") from error
    return made


def settings(scenario: Scenario) -> dict[str, str]:
    """The sysctls that both ends get; with a ? those that only root can have.  Buffers are as they
    are there."""
    found = {"?net.ipv4.tcp_no_metrics_save": "1"}
    for key, name in _HOST.items():
        if not getattr(scenario.host, key):
            found[name] = "0"
    return found | {key: str(value) for key, value in scenario.host.sysctl.items()}


def most(scenario: Scenario) -> float:
    """Bytes that a run sends at the link's described rate."""
    last = [
        min(scenario.duration, f.start + (f.duration or scenario.duration)) for f in scenario.flow
    ]
    return (max(last) - min(f.start for f in scenario.flow)) * scenario.link.rate / 8


# --- what each end does, in guest/far-job.sh


def _said(file: str) -> str:
    """A shell's words for what iperf3 said of its failure."""
    return f"$(grep -h error {file} {file}.err | head -n 1)"


def receiver(connections: list[Connection]) -> str:
    """A server for each connection alone."""
    out = []
    for one in connections:
        file = f"out/server-{one.ident}"
        out += [
            f'! ss -Hltn "sport = :{one.port}" | grep -q . || '
            f'fail "port {one.port} is taken: give another one by port in the file of --hosts"',
            f"iperf3 --server --one-off --port {one.port} --interval {one.interval:g} --json "
            f">{file} 2>{file}.err &",
            f'until ss -Hltn "sport = :{one.port}" | grep -q .; do kill -0 $! 2>/dev/null || '
            f'fail "iperf3 cannot listen on port {one.port}: {_said(file)}"; sleep 0.05; done',
        ]
    return "\n".join([*out, "echo ready", "wait"]) + "\n"


def sockets(connections: list[Connection], address: str) -> str:
    """For ss: the sender's connections, those that control a test too."""
    ports = [one.port for one in connections]
    return " ".join(ss.to(address, min(ports), max(ports)))


def sender(connections: list[Connection], address: str, most: int) -> str:
    """All clients; the first that fails ends it, and so do more bytes than `most`."""
    # How long the kernel keeps a connection of which it hears nothing, where iperf3 can say so.
    late = f"--snd-timeout {SILENCE * 1000}"
    out = [
        f"late=; ! iperf3 --help | grep -q -e --snd-timeout || late='{late}'",
        "echo ready",
        f"limit {most} &",
    ]
    for one in connections:
        file = f"out/client-{one.ident}"
        out += [
            f"(sleep {one.start:.3f}; iperf3 --client {address} --port {one.port} "
            f"--connect-timeout {CONNECT * 1000} $late --congestion {one.cc} --time {one.seconds} "
            f"--interval {one.interval:g} --json >{file} 2>{file}.err; "
            f"! grep -q '\"error\"\\|iperf3: error' {file} {file}.err) &",
            f"client_{one.ident}=$!",
        ]
    for one in connections:
        file = f"out/client-{one.ident}"
        out.append(f'wait "$client_{one.ident}" || fail "{_said(file)}"')
    return "\n".join(out) + "\n"


def sent(out: Path, connections: list[Connection]) -> int:
    """How many bytes a run has sent, by what its clients said."""
    said = [iperf3.said((out / f"client-{one.ident}").read_text()) for one in connections]
    return sum(int(one["end"]["sum_sent"]["bytes"]) for one in said)
