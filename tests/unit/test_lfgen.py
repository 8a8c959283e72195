# SPDX-License-Identifier: GPL-2.0
"""lfgen and the plans that it cannot carry out: it says so and ends with 1.

Compiled with the address and undefined behaviour sanitizers where there are any;
what it does with a good plan is shown by every run of the lab.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import One

from longfat.build import tools
from longfat.run import plan

SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
TIMES = "end 0.05\nsample 0.01\nqsample 0.01\n"
TCP = "tcp 0 {ns} {ns} 10.0.0.2 5001 reno 0 1 0 0 0 0 0\n"
# No such namespace, on whatever machine this is.
NOWHERE = "longfat-no-such-space"

# Runs lfgen with a plan.
Lfgen = Callable[[str | bytes], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tools.need("cc")
    out = tmp_path_factory.mktemp("lfgen") / "lfgen"
    command = ["cc", "-g", "-Wall", "-Wextra", "-Werror", "-o", str(out)]
    source = [str(tools.GUEST / "lfgen.c"), "-lm"]
    # The program must have no warning, a compiler may have no sanitizers.
    plain = subprocess.run([*command, *source], capture_output=True, text=True)
    assert plain.returncode == 0, plain.stderr
    subprocess.run([*command, *SANITIZERS, *source], capture_output=True)
    return out


@pytest.fixture
def lfgen(program: Path, tmp_path: Path) -> Lfgen:
    def run(text: str | bytes) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "traffic"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        (tmp_path / "some").write_text("0.5 1000\n0.7 20\n")
        return subprocess.run(
            [str(program), str(file)],
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=10,
        )

    return run


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The message, after checking that it is the one line that refuses."""
    assert done.stderr == "", "a sanitizer's report, or noise"
    assert done.returncode == 1
    lines = done.stdout.rstrip("\n").splitlines()
    assert lines and lines[-1].startswith("x ")
    return lines[-1][2:]


def test_a_good_plan(lfgen: Lfgen) -> None:
    """It says when it began, on the clock that the kernel's events have."""
    before = time.monotonic_ns()
    done = lfgen(TIMES)
    after = time.monotonic_ns()
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"o \d+\.\d{9}\n", done.stdout)
    assert before <= int(done.stdout[2:].replace(".", "")) <= after
    assert lfgen(f"\n   \n{TIMES}").returncode == 0


def test_usage(program: Path) -> None:
    for arguments in ([], ["a", "b"]):
        done = subprocess.run([str(program), *arguments], capture_output=True, text=True)
        assert done.returncode == 2
        assert "usage" in done.stderr


def test_no_plan(program: Path, tmp_path: Path) -> None:
    command = [str(program), str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "No such file" in refused(done)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "end 1\n",
        "end 1\nsample 1\n",
        "sample 1\nqsample 1\n",
        "end 0\nsample 1\nqsample 1\n",
        "end x\nsample 1\nqsample 1\n",
        "end 1\nsample 0\nqsample 1\n",
        "end 1\nsample 1\nqsample 1e-12\n",
    ],
)
def test_times_are_needed(lfgen: Lfgen, text: str) -> None:
    assert "end, sample and qsample are needed" in refused(lfgen(text))


@pytest.mark.parametrize("bad", ["-1", "1e30", "nan", "inf", "-inf"])
@pytest.mark.parametrize("which", ["end", "sample", "qsample"])
def test_times_that_are_none(lfgen: Lfgen, which: str, bad: str) -> None:
    times = {"end": "0.05", "sample": "0.01", "qsample": "0.01", which: bad}
    refused(lfgen("".join(f"{key} {value}\n" for key, value in times.items())))


@pytest.mark.parametrize("line", ["colour red", "tcpx", "END 1", "a" * 600, "x" * 5000, "\x01"])
def test_unknown_directive(lfgen: Lfgen, line: str) -> None:
    assert "unknown directive" in refused(lfgen(f"{TIMES}{line}\n"))


def test_binary(lfgen: Lfgen) -> None:
    refused(lfgen(b"\xff\xfe\x00\x80\n"))


LINES = {
    "tcp": TCP.format(ns=NOWHERE),
    "udp": f"udp 0 {NOWHERE} {NOWHERE} 10.0.0.2 5001 1000 500 0 1 0 0\n",
    "objects": f"objects 0 {NOWHERE} {NOWHERE} 10.0.0.2 5001 reno 0 1 kept some\n",
    "queue": f"queue {NOWHERE} eth0\n",
    "link": f"link {NOWHERE} eth0\n",
}


@pytest.mark.parametrize("kind", LINES)
def test_cut_off_lines(lfgen: Lfgen, kind: str) -> None:
    words = LINES[kind].split()
    for count in range(1, len(words)):
        cut = " ".join(words[:count])
        assert "cannot read" in refused(lfgen(f"{TIMES}{cut}\n")), cut


@pytest.mark.parametrize("kind", ["tcp", "udp", "objects"])
def test_no_number_in_place_of_each(lfgen: Lfgen, kind: str) -> None:
    words = LINES[kind].split()
    for at, word in enumerate(words):
        if word.isdigit() and at != 0:
            bad = " ".join([*words[:at], "many", *words[at + 1 :]])
            assert "cannot read" in refused(lfgen(f"{TIMES}{bad}\n")), bad


@pytest.mark.parametrize("kind", ["tcp", "udp", "objects"])
def test_no_time_in_place_of_start(lfgen: Lfgen, kind: str) -> None:
    words = LINES[kind].split()
    at = {"tcp": 7, "udp": 8, "objects": 7}[kind]
    for bad in ("nan", "-1", "1e30"):
        said = refused(lfgen(TIMES + " ".join([*words[:at], bad, *words[at + 1 :]]) + "\n"))
        assert NOWHERE not in said, "refused for the time, before anything is made"


@pytest.mark.parametrize("kind", LINES)
def test_no_such_namespace(lfgen: Lfgen, kind: str) -> None:
    assert f"namespace {NOWHERE}" in refused(lfgen(TIMES + LINES[kind]))


def test_names_that_are_too_long_do_not_overflow(lfgen: Lfgen) -> None:
    for kind, line in LINES.items():
        said = refused(lfgen(TIMES + line.replace(NOWHERE, "n" * 100)))
        assert "cannot read" in said or "namespace nnn" in said, kind
    long = TCP.format(ns=NOWHERE).replace("10.0.0.2", "1" * 300)
    refused(lfgen(TIMES + long))


def test_an_address_that_is_none(lfgen: Lfgen) -> None:
    said = refused(lfgen(TIMES + TCP.format(ns=NOWHERE).replace("10.0.0.2", "10.0.0")))
    assert "10.0.0 is no IPv4 address" in said


def test_too_many_queues(lfgen: Lfgen) -> None:
    assert "too many queues" in refused(lfgen(TIMES + LINES["queue"] * 3))
    assert "too many queues" in refused(lfgen(TIMES + LINES["queue"] * 50))


def test_too_many_flows(lfgen: Lfgen) -> None:
    assert "more than 4096 flows" in refused(lfgen(TIMES + LINES["tcp"] * 4097))


@pytest.mark.parametrize(
    ("how", "text", "says"),
    [
        ("kept", None, "No such file"),
        ("kept", "", "no objects"),
        ("kept", "1 x\n", "object 1 is none"),
        ("new", "1 100\n2", "object 2 is none"),
        ("asked", "0.5 200\n", "object 1 is none"),
        ("asked", "-1 200 100\n", "is no time"),
    ],
)
def test_objects_that_are_none(
    lfgen: Lfgen, tmp_path: Path, how: str, text: str | None, says: str
) -> None:
    if text is not None:
        (tmp_path / "other").write_text(text)
    line = LINES["objects"].replace("kept some", f"{how} other")
    assert says in refused(lfgen(TIMES + line))


def test_it_reads_what_the_lab_writes(lfgen: Lfgen, one: One, tmp_path: Path) -> None:
    """Every directive of a plan is understood; only the namespaces are not there."""
    scenario = one(
        link="loss = 0.1",
        flow='count = 2\nparallel = 2\nbytes = "1MB"\nsocket_buffer = "1MB"\njitter = "1s"',
        rest='[[udp]]\nrate = "8mbit"\nrtt = "1ms"\non = "1s"\noff = "1s"\n'
        '[[short]]\nrtt = "1ms"\nper_second = 2.5\nmean_size = "10kB"\n'
        '[[request]]\nrtt = "1ms"\nmean_size = "10kB"\n'
        '[[video]]\nrtt = "1ms"\nrate = "1mbit"\n',
    )
    made = plan.make(scenario, 1, prefix=NOWHERE, virtual=True)
    for name, content in made.files.items():
        (tmp_path / name).write_text(content)
    assert f"cannot enter namespace {NOWHERE}-r" in refused(lfgen(made.traffic))
