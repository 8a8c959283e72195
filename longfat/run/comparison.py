# SPDX-License-Identifier: GPL-2.0
"""A comparison as the command line has it, written as the scenario file that it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from longfat.core import scratch, units
from longfat.core.errors import LabError, cannot_write
from longfat.core.files import check_directory, replacing
from longfat.run import scenario
from longfat.run.scenario import Scenario

# Key of the scenario -> the word of the command line that set it.
WORDS = {
    "flow[0].cc": "ALGORITHM",
    "flow[1].cc": "--beside",
    "link.rate": "--rate",
    "flow[0].rtt": "--rtt",
    "flow[1].rtt": "--rtt",
    "link.buffer": "--buffer",
    "link.loss": "--loss",
    "flow[0].count": "--flows",
    "kernel": "--kernel",
    "duration": "--duration",
    "warmup": "--warmup",
    "seeds": "--seed",
}


@dataclass(frozen=True)
class Comparison:
    """Algorithms, each on every path of these; of what has several values each is tried."""

    algorithms: Sequence[str]
    rate: Sequence[str]
    rtt: Sequence[str]
    buffer: Sequence[str]
    loss: Sequence[str]
    flows: Sequence[str]
    kernel: Sequence[str] = ("",)  # "" is the lab's
    beside: str = ""
    duration: str = "60s"
    warmup: str = "20s"
    seeds: Sequence[int] = (1,)


def _string(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)


def _number(word: str, kind: Callable[[str], float]) -> str:
    """A number, or what was written, of which the scenario says what is wrong."""
    try:
        return repr(kind(word))
    except ValueError:
        return _string(word)


def text(of: Comparison) -> str:
    """The scenario file."""
    values = {
        "link.rate": [_string(word) for word in of.rate],
        "link.buffer": [_string(word) for word in of.buffer],
        "link.loss": [_number(word, float) for word in of.loss],
        "flow.0.rtt": [_string(word) for word in of.rtt],
        "flow.0.count": [_number(word, int) for word in of.flows],
        "kernel": [_string(word) for word in of.kernel],
        "flow.0.cc": [_string(word) for word in of.algorithms],
    }
    # Who is beside has the RTT of the others, so both change together.
    cases = of.rtt if of.beside and len(of.rtt) > 1 else []
    varied = {key: some for key, some in values.items() if len(some) > 1 or key == "flow.0.cc"}
    if cases:
        del varied["flow.0.rtt"]
    title = ", ".join(of.algorithms) + (f" beside {of.beside}" if of.beside else "")
    lines = [
        f"title = {_string(title)}",
        f"duration = {_string(of.duration)}",
        f"warmup = {_string(of.warmup)}",
        f"seeds = [{', '.join(map(str, of.seeds))}]",
        *([f"kernel = {values['kernel'][0]}"] if of.kernel[0] else []),
        "",
        "[link]",
        f"rate = {values['link.rate'][0]}",
        f"buffer = {values['link.buffer'][0]}",
        f"loss = {values['link.loss'][0]}",
        "",
        "[[flow]]",
        f"cc = {values['flow.0.cc'][0]}",
        f"rtt = {values['flow.0.rtt'][0]}",
        f"count = {values['flow.0.count'][0]}",
        "",
    ]
    if of.beside:
        lines += ["[[flow]]", f"cc = {_string(of.beside)}", f"rtt = {values['flow.0.rtt'][0]}", ""]
    for word in cases:
        both = [f'"flow.{n}.rtt" = {_string(word)}' for n in (0, 1)]
        lines += [f"[case.{_string(word)}]", *both, ""]
    lines += ["[vary]", *(f"{_string(key)} = [{', '.join(some)}]" for key, some in varied.items())]
    return "\n".join(lines) + "\n"


def scenarios(of: Comparison, name: str) -> list[Scenario]:
    """The scenarios of the file, were it called `name`; LabError in the words of the command
    line."""
    given: dict[str, tuple[Sequence[str], Callable[[str], object]]] = {
        "ALGORITHM": (of.algorithms, scenario.in_name),
        "--rate": (of.rate, units.rate),
        "--rtt": (of.rtt, units.seconds),
        "--buffer": (of.buffer, units.buffer),
        "--loss": (of.loss, _loss),
        "--flows": (of.flows, int),
        "--kernel": (of.kernel, scenario.in_name),
    }
    for option, (words, read) in given.items():
        found: dict[object, str] = {}
        for word in words:
            try:
                value = read(word)
            except ValueError:  # of which the scenario says what is wrong
                value = word
            if value in found:
                same = "have one name in results" if read is scenario.in_name else "are the same"
                said = "is given twice" if found[value] == word else f"and {word} {same}"
                raise LabError(f"{option}: {found[value]} {said}")
            found[value] = word
    with scratch.directory("run") as where:
        path = where / f"{name}.toml"
        path.write_text(text(of))
        try:
            return scenario.load(path)
        except LabError as error:
            lines = [line.removeprefix(f"{path}: ") for line in str(error).splitlines()]
            raise LabError("\n".join(map(_in_words, lines))) from error


def _loss(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return units.probability(word)


def _in_words(line: str) -> str:
    for key, word in WORDS.items():
        if line.startswith(f"{key}: "):
            return f"{word}: {line.removeprefix(f'{key}: ')}"
    return line


_REMEDY = "choose another name"


def check(of: Comparison, path: Path) -> None:
    """LabError if the file cannot be written there, or if another one is there."""
    check_directory(path.parent, _REMEDY)
    try:
        there = path.read_text(errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise cannot_write(error, path, _REMEDY) from error
    if there != text(of):
        raise LabError(f"{path}: is there, and is another comparison: {_REMEDY}")


def write(of: Comparison, path: Path) -> None:
    """Write the file."""
    with replacing(path, f"free space, or {_REMEDY}") as partial:
        partial.write_text(text(of))
