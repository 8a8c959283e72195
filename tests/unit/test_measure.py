# SPDX-License-Identifier: GPL-2.0
"""`longfat measure` with a real iperf3: between two hosts that are network namespaces, and what it
says where there is no path to measure."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path

import pytest

from longfat.measure.path import client
from longfat.run import result, scenario, ss
from longfat.run.result import Json

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/measure.md"
HOSTS = [sys.executable, str(ROOT / "tests/two_hosts.py")]
LONGFAT = [sys.executable, "-m", "longfat"]

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("iperf3", "ss"))), reason="iperf3 or ss is not installed"
)


def call(command: list[str]) -> subprocess.CompletedProcess[str]:
    """What a command says that finds the lab, as wide as it wants to be."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def measure(*words: object) -> subprocess.CompletedProcess[str]:
    return call([*LONGFAT, "measure", *map(str, words)])


def hosts() -> None:
    """Skips the test where there can be no two."""
    done = call([*HOSTS, "true"])
    if done.returncode:
        pytest.skip(f"no namespaces or tun devices here: {done.stderr.strip()[-200:]}")


@contextmanager
def server(environment: Mapping[str, str] = {}, user: Sequence[str] = ()) -> Iterator[int]:
    """The port of a server on this host; `user` is a command that makes it another one's."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    program = subprocess.Popen(
        [*user, "iperf3", "--server", "--port", str(port)],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )
    try:
        asked = ["ss", "-Hltn", f"sport = :{port}"]
        while not subprocess.run(asked, capture_output=True).stdout:
            assert program.poll() is None
            time.sleep(0.01)
        yield port
    finally:
        program.kill()
        program.wait()


def shown() -> tuple[str, str]:
    """The command of the page, and what came of it."""
    text = PAGE.read_text().partition("\n    $ tests/two_hosts.py ")[2]
    command, _, rest = text.partition("\n")
    block = takewhile(lambda line: not line or line.startswith("    "), rest.splitlines())
    return "tests/two_hosts.py " + command, "\n".join(block)


def shape(text: str) -> list[str]:
    """The lines of what it says whatever it measured."""
    words = ("measured on the path", "goodput  sent again", "cc     rounds", "The path: ")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    found = [line for line in lines if any(" ".join(word.split()) in line for word in words)]
    return [re.sub(r"\d+(\.\d+)?", "N", line) for line in found]


def test_between_two_hosts(tmp_path: Path) -> None:
    """The command of the page in short, and what came of it there; it leaves no setting behind."""
    hosts()
    command, transcript = shown()
    words = shlex.split(command)
    assert words[words.index("scripts/longfat") :][:3] == ["scripts/longfat", "measure", "10.9.0.2"]
    for option, value in (("--rounds", "2"), ("--seconds", "1"), ("-C", "cubic,reno")):
        words[words.index(option) + 1] = value
    path, rest = words[1 : words.index("scripts/longfat")], words[words.index("measure") :]
    out = tmp_path / "out"
    settings = "sysctl -a 2>/dev/null | grep '^net.*tcp_'; tc qdisc show"
    save = tmp_path / "path.toml"
    inner = shlex.join([*LONGFAT, *rest, "-o", str(out), "--save", str(save)])
    script = f"({settings}) >{tmp_path}/a; {inner} && ({settings}) >{tmp_path}/b"
    done = call([*HOSTS, *path, "sh", "-c", script])
    assert done.returncode == 0, done.stderr
    before, after = ((tmp_path / name).read_text() for name in "ab")
    assert before == after and "tcp_wmem" in before

    files = sorted(out.glob("*.json"))
    assert len(files) == 4 and (out / "measured.html").is_file()
    for file in files:
        one = result.read(file)
        # Nothing is faster than the path; what is slower is this machine's other work.
        assert 40 <= one["flows"][0]["base_rtt_ms"] < 200
        assert 0 < one["path"]["bytes"] < 50e6 / 8 * 2 and one["backend"] == "path"
        (flow,) = one["flows"]
        assert len(flow["connections"][0]["t"]) >= 3 and flow["rtt_ms"]["p50"] >= 40
    assert "Too few rounds to tell: 2, and 2 contenders need 6." in done.stdout
    assert "2 rounds of one run each" in done.stderr and "round 2 of 2" in done.stderr
    assert shape(done.stdout) == shape(transcript)

    # So short a measurement is of little use to the lab, and says so.
    (cubic, _) = scenario.load(save)
    assert cubic.flow[0].cc == "cubic" and 0.04 <= cubic.flow[0].rtt < 0.2
    assert "the path" in done.stdout and "a guess" in done.stdout
    assert len(result.read_all(tmp_path / "path.measured.json")) == 4

    again = measure("10.9.0.2", "-o", out)
    assert again.returncode == 1 and "has the results of another measurement" in again.stderr


def warnings() -> dict[str, list[str]]:
    """What the page says was done, and what came of it."""
    found: dict[str, list[str]] = {}
    for block in re.findall(r"^(?:    .*\n)+", PAGE.read_text(), re.M):
        first, *rest = textwrap.dedent(block).splitlines()
        if first.startswith(("near# ", "far# ")):
            found[first] = rest
    return found


def numberless(lines: Iterable[str]) -> list[str]:
    return [re.sub(r"\d+(\.\d+)?", "N", line) for line in lines]


def test_every_warning_of_the_page_is_tried() -> None:
    assert len(warnings()) == 6


@pytest.mark.parametrize("done", warnings())
def test_a_warning(tmp_path: Path, done: str) -> None:
    """What limits besides the algorithm is made to happen."""
    hosts()
    where, _, command = done.partition("# ")
    if "ethtool" in command and not shutil.which("ethtool"):
        pytest.skip("ethtool is not installed")
    there = 'nsenter --target "$LONGFAT_FAR" --net ' if where == "far" else ""
    words = ("-C", "reno", "--rounds", "1", "--seconds", "2", "-o", str(tmp_path / "out"))
    inner = shlex.join([*LONGFAT, "measure", "10.9.0.2", *words])
    # Devices are those of the namespace in which /sys was mounted.
    script = f"mount -t sysfs sysfs /sys && {there}{command} >/dev/null && {inner}"
    said = call([*HOSTS, "sh", "-c", script])
    assert said.returncode == 0, said.stderr
    wanted = warnings()[done]
    assert {*numberless(wanted)} <= {*numberless(said.stdout.splitlines())}, said.stdout


def test_iperf3_is_the_limit(tmp_path: Path) -> None:
    """Over loopback.  As other work may take the processor away, less of one is called all."""
    code = "from longfat.measure.path import limits; limits.BUSY = 10; "
    code += "from longfat.cli import main; main()"
    with server() as port:
        words = ["--port", str(port), "-C", "reno", "--rounds", "1", "--seconds", "2"]
        words += ["--cap", "900GB", "-o", str(tmp_path / "out")]
        done = call([sys.executable, "-c", code, "measure", "127.0.0.1", *words])
    assert done.returncode == 0, done.stderr
    lines = [line.removeprefix("    ") for line in PAGE.read_text().splitlines()]
    at = next(n for n, line in enumerate(lines) if "iperf3 used up a processor of" in line)
    assert "\n".join([*lines[at : at + 2], ""]) in done.stdout


def loopback(tmp_path: Path, port: int, *words: object, host: str = "127.0.0.1") -> list[Json]:
    """What one round to a server on this host gives."""
    out = tmp_path / "out"
    rest = ("-C", "reno", "--rounds", 1, "--seconds", 1, "--cap", "900GB", "-o", out)
    done = measure(host, "--port", port, *words, *rest)
    assert done.returncode == 0, done.stderr
    return [result.read(file) for file in sorted(out.glob("*.json"))]


def test_in_reverse(tmp_path: Path) -> None:
    """What arrives here is measured, and what only the sender knows is not."""
    with server() as port:
        (one,) = loopback(tmp_path, port, "--reverse")
    (flow,) = one["flows"]
    (rows,) = flow["connections"]
    assert one["path"]["reverse"] and one["summary"]["goodput_bps"] > 0
    assert rows["received"][-1] > 0 and not flow["rtt_ms"]["p50"]


def test_several_connections(tmp_path: Path) -> None:
    with server() as port:
        alone, three = loopback(tmp_path, port, "--parallel", "1,3")
    assert [len(one["flows"][0]["connections"]) for one in (alone, three)] == [1, 3]
    assert three["scenario"]["case_name"] == "reno x3"
    assert all(rows["received"][-1] > 0 for rows in three["flows"][0]["connections"])


def test_a_number_of_bytes(tmp_path: Path) -> None:
    """Many enough for ss to see some of it."""
    with server() as port:
        (one,) = loopback(tmp_path, port, "--bytes", "1GB")
    (flow,) = one["flows"]
    assert 1e9 <= one["path"]["sent_bytes"] < 1.1e9
    assert flow["completion_s"] == pytest.approx(one["path"]["seconds"], rel=0.2)


def test_ipv6(tmp_path: Path) -> None:
    with server() as port:
        (one,) = loopback(tmp_path, port, host="::1")
    assert one["path"]["address"] == "::1" and one["summary"]["goodput_bps"] > 0
    (rows,) = one["flows"][0]["connections"]
    assert rows["received"][-1] > 0


def test_no_server(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = measure("127.0.0.1", "--port", port, "-C", "reno", "-o", tmp_path / "out")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"longfat: 127.0.0.1, port {port}: nothing listens there")
    assert last.endswith(f"start `iperf3 -s -p {port}` at the far end")
    assert done.stdout == "" and not (tmp_path / "out").exists()


@pytest.mark.parametrize("where", ["-o", "--save"])
def test_a_file_where_a_directory_should_be(tmp_path: Path, where: str) -> None:
    """Before anything is measured."""
    file = tmp_path / "file"
    file.touch()
    for place in (file, file / "x") if where == "-o" else (file / "x.toml", file / "x/y.toml"):
        done = measure("127.0.0.1", "-C", "reno", "-o", tmp_path / "out", where, place)
        assert done.returncode == 1
        wrong = f"{place if where == '-o' else place.parent}: cannot be written: Not a directory"
        assert done.stderr == f"longfat: {wrong}: choose another one by -o or --save\n"


@pytest.mark.parametrize("name", ["x.toml", "x.measured.json"])
def test_what_is_there_is_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    done = measure("127.0.0.1", "-C", "reno", "--save", tmp_path / "x.toml")
    assert done.returncode == 1 and f"{name}: is there: choose another name" in done.stderr
    assert (tmp_path / name).read_text() == "mine"


def broken(tmp_path: Path, fails: str, after: int) -> subprocess.CompletedProcess[str]:
    """After so many runs this statement ends it, and no scenario can be saved."""
    code = (
        "from longfat.core import errors, process\n"
        "from longfat.measure.path import client, lab\n"
        "run, runs = client.run, []\n"
        "def one(*words, **options):\n"
        f"    if len(runs) == {after}:\n"
        f"        {fails}\n"
        "    runs.append(run(*words, **options))\n"
        "    return runs[0]\n"
        "def save(*words):\n"
        "    raise errors.LabError('it cannot be saved')\n"
        "client.run, lab.save = one, save\n"
        "from longfat.cli import main\n"
        "main()"
    )
    with server() as port:
        words = ["--port", str(port), "-C", "reno", "--rounds", "3", "--seconds", "1"]
        words += ["--cap", "900GB", "-o", str(tmp_path / "out")]
        words += ["--save", str(tmp_path / "x.toml")]
        return call([sys.executable, "-c", code, "measure", "127.0.0.1", *words])


def test_what_ended_it_is_said_whatever_else_fails(tmp_path: Path) -> None:
    done = broken(tmp_path, "raise errors.LabError('the path is gone')", 1)
    assert done.returncode == 1 and "it cannot be saved" in done.stderr
    (*_, last, counted) = done.stderr.splitlines()
    assert last == "longfat: the path is gone" and counted.startswith("1 of 3 runs are done and k")
    shutil.rmtree(tmp_path / "out")
    done = broken(tmp_path, "raise KeyboardInterrupt", 1)
    assert done.returncode == 130 and "it cannot be saved" in done.stderr
    assert "1 of 3 runs are done and kept in" in done.stderr


def test_an_end_before_the_first_result(tmp_path: Path) -> None:
    done = broken(tmp_path, "raise KeyboardInterrupt", 0)
    assert done.returncode == 130 and "\n0 of 3 runs are done\n" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="the kernel loads modules for root alone")
def test_an_error_leaves_no_module_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that came when the kernel was asked for the algorithm."""
    there = tmp_path / "module"
    there.mkdir()
    rmmod = tmp_path / "rmmod"
    rmmod.write_text(f'#!/bin/sh\nrmdir "{there}/$1" && echo "$1" >>{tmp_path}/removed\n')
    rmmod.chmod(0o755)
    modprobe = tmp_path / "modprobe"
    modprobe.write_text('#!/bin/sh\necho "insmod /lib/modules/6.1/kernel/$2.ko"\n')
    modprobe.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    code = (
        "from pathlib import Path\n"
        "from longfat.measure.path import host\n"
        "from longfat.run import backends\n"
        f"backends.MODULES = Path({str(there)!r})\n"
        "host._refused = lambda cc: (backends.MODULES / f'tcp_{cc}').mkdir() or 0\n"
        "from longfat.cli import main\n"
        "main()"
    )
    words = ["measure", "127.0.0.1", "--port", "1", "-C", "reno", "-o", str(tmp_path / "out")]
    done = call([sys.executable, "-c", code, *words])
    assert done.returncode == 1 and "nothing listens there" in done.stderr
    assert (tmp_path / "removed").read_text() == "tcp_reno\n" and not [*there.iterdir()]


def test_what_the_lab_does_not_have_is_said_beforehand(tmp_path: Path) -> None:
    code = "from longfat.build import modules; modules.algorithms = lambda: {'%s': 0}.keys();"
    code += "from longfat.cli import main; main()"
    words = ["measure", "127.0.0.1", "-C", "reno,cubic", "--save", str(tmp_path / "x.toml")]
    words += ["-o", str(tmp_path / "out"), "--port", "1"]
    done = call([sys.executable, "-c", code % "reno", *words])
    assert done.stderr.startswith("--save: the lab has no cubic: the scenario will be without\n")
    done = call([sys.executable, "-c", code % "other", *words])
    assert done.returncode == 1 and done.stderr.startswith("longfat: the lab has none of cubic, r")


def test_a_server_that_is_busy(tmp_path: Path) -> None:
    with server() as port:
        other = subprocess.Popen(
            [
                *("iperf3", "--client", "127.0.0.1", "--port", str(port)),
                "--bitrate",
                "1M",
                "--time",
                "300",
            ],
            stdout=subprocess.DEVNULL,
        )
        try:
            while not ss.parse(ss.ask([f"dport = :{port}"])()):
                time.sleep(0.01)
            time.sleep(0.5)  # that test has begun
            done = measure("127.0.0.1", "--port", port, "-C", "reno", "-o", tmp_path / "out")
        finally:
            other.kill()
            other.wait()
    assert done.returncode == 1, done.stdout
    assert "the server is busy with another test" in done.stderr


@pytest.mark.parametrize("off", [3600, -3600])
def test_a_clock_that_is_an_hour_off(tmp_path: Path, off: int) -> None:
    """That of the far end: nothing of what is measured is a time there."""
    library = tmp_path / "clock.so"
    source = Path(__file__).with_name("other_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    other = {"LD_PRELOAD": str(library), "CLOCK_OFF": str(off)}
    there = subprocess.run(["date", "+%s"], env={**os.environ, **other}, stdout=subprocess.PIPE)
    assert abs(int(there.stdout) - time.time() - off) < 60
    with server(other) as port:
        words = ("--port", port, "-C", "reno", "--rounds", 2, "--seconds", 1)
        done = measure("127.0.0.1", *words, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for file in sorted((tmp_path / "out").glob("*.json")):
        one = result.read(file)
        assert 1 <= one["path"]["seconds"] < 30 and one["summary"]["goodput_bps"] > 0
        (rows,) = one["flows"][0]["connections"]
        assert 0 < one["flows"][0]["base_rtt_ms"] < 1000 and 0 <= rows["t"][0] < rows["t"][-1] < 30
    assert "round 2 of 2" in done.stderr


def test_the_cap_ends_a_run(tmp_path: Path) -> None:
    with server() as port:
        words = ["127.0.0.1", "--port", port, "-C", "reno", "--cap", "1MB", "-o", tmp_path / "out"]
        done = measure(*words)
    assert done.returncode == 1
    assert "the first run alone is above the cap of 1 MB" in done.stderr


def test_an_end_keeps_what_there_is(tmp_path: Path) -> None:
    """And the server is free again."""
    with server() as port:
        words = ["--seconds", "1", "--rounds", "9", "--cap", "900GB", "-o", str(tmp_path / "out")]
        program = subprocess.Popen(
            [*LONGFAT, "measure", "127.0.0.1", "--port", str(port), "-C", "reno", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert program.stderr
        for line in program.stderr:
            if line.startswith("round 1 of 9"):
                break
        time.sleep(0.7)  # in the next one
        program.send_signal(signal.SIGTERM)  # as Ctrl-C, and never ignored
        said, wrong = program.communicate(timeout=60)
        assert program.returncode == 130, wrong
        assert "of 9 runs are done and kept in" in wrong and "Traceback" not in wrong
        assert "Only reno was measured" in said
        assert list((tmp_path / "out").glob("measured-reno-s1.json"))
        again = ["iperf3", "--client", "127.0.0.1", "--port", str(port), "--bytes", "1000"]
        assert subprocess.run(again, capture_output=True).returncode == 0


def test_a_path_that_is_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something listens there, and says nothing."""
    monkeypatch.setattr(client, "STALL", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        path = client.Path("127.0.0.1", "127.0.0.1", mute.getsockname()[1])
        with pytest.raises(client.Failed, match=r"no byte has passed .*is no iperf3"):
            client.run(path, client.Contender("reno"), most=1e9)


def test_an_iperf3_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "iperf3"
    program.write_text("#!/bin/sh\necho iperf 3.0.7; echo '  -c, --client <host>'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = measure("127.0.0.1", "-C", "reno", "-o", tmp_path / "out")
    assert done.returncode == 1 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("longfat: this iperf3 is too old: it has no --connect-timeout; install")


class Old:
    """A server before 3.1, by its results: a newer one's, without what came later.  It takes one
    test."""

    # What it says of all, and of each stream.
    KNOWN = ("cpu_util_total", "cpu_util_user", "cpu_util_system", "sender_has_retransmits")
    OF_STREAM = ("id", "bytes", "retransmits", "jitter", "errors", "packets")
    RESULTS = b"\x0d"  # EXCHANGE_RESULTS, after which they come

    def __init__(self, port: int) -> None:
        self.listens = socket.create_server(("127.0.0.1", 0))
        self.port, self.behind = int(self.listens.getsockname()[1]), port
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with self.listens:
            # The first connection controls the test.
            for back in (self.results, self.pass_on):
                here, _ = self.listens.accept()
                there = socket.create_connection(("127.0.0.1", self.behind))
                for work, ends in ((self.pass_on, (here, there)), (back, (there, here))):
                    threading.Thread(target=work, args=ends, daemon=True).start()

    def pass_on(self, from_: socket.socket, to: socket.socket) -> None:
        with suppress(OSError), from_:
            while said := from_.recv(1 << 16):
                to.sendall(said)
            to.shutdown(socket.SHUT_WR)

    def results(self, from_: socket.socket, to: socket.socket) -> None:
        with suppress(OSError), from_, from_.makefile("rb") as said:
            while word := said.read(1):
                to.sendall(word)
                if word == self.RESULTS:
                    whole = json.loads(said.read(int.from_bytes(said.read(4), "big")))
                    streams = [{key: x[key] for key in self.OF_STREAM} for x in whole["streams"]]
                    old = {key: whole[key] for key in self.KNOWN} | {"streams": streams}
                    text = json.dumps(old).encode()
                    to.sendall(len(text).to_bytes(4, "big") + text)
            to.shutdown(socket.SHUT_WR)


def test_a_server_that_is_old(tmp_path: Path) -> None:
    with server() as port:
        (one,) = loopback(tmp_path, Old(port).port)
    assert one["path"]["bytes"] > 0 and one["path"]["seconds"] >= 1
    assert one["summary"]["goodput_bps"] > 0


def test_a_machine_that_is_too_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ss is always late nothing is known of a run; of a longer one it may be later, and how
    long is said."""
    monkeypatch.setattr(client, "LATE", 0.0)
    monkeypatch.setattr(client, "SHARE", 1e-6)
    with server() as port:
        path = client.Path("127.0.0.1", "127.0.0.1", port, seconds=1)
        says = r"too busy to measure, .*: ss takes ([\d.e-]+) s, as --seconds (\d+) allows$"
        with pytest.raises(client.Failed, match=says) as caught:
            client.run(path, client.Contender("reno"), most=1e12)
        assert caught.value.moved > 1e6
        takes, seconds = re.search(says, str(caught.value)).groups()  # type: ignore[union-attr]
        assert float(takes) * 0.9e6 < int(seconds) < float(takes) * 1.1e6
        monkeypatch.setattr(client, "SHARE", 0.5)
        assert client.run(path, client.Contender("reno"), most=1e12).samples


@contextmanager
def measuring(path: list[str], *words: object) -> Iterator[subprocess.Popen[str]]:
    """`longfat measure` between two hosts, with less patience."""
    code = (
        "from longfat.measure.path import client, rounds; client.STALL = 3;"
        "rounds.PATIENCE = (0.5, 0.5, 0.5, 0.5); from longfat.cli import main; main()"
    )
    command = [*HOSTS, *path, sys.executable, "-c", code, "measure", *map(str, words)]
    program = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield program
    finally:
        program.kill()
        program.communicate()


def until(program: subprocess.Popen[str], words: str) -> None:
    assert program.stderr
    for line in program.stderr:
        if words in line:
            return
    raise AssertionError(f"it never said {words!r}")


def test_a_path_that_changes_in_the_middle(tmp_path: Path) -> None:
    hosts()
    then = tmp_path / "then"
    path = ["--while", str(then), "--then-rtt", "120ms"]
    words = ["10.9.0.2", "-C", "reno", "--rounds", 3, "--seconds", 1, "-o", tmp_path / "out"]
    with measuring(path, *words) as program:
        until(program, "round 1 of 3")
        then.touch()
        said, wrong = program.communicate(timeout=120)
    assert program.returncode == 0, wrong
    assert "Note: The path changed: without a queue a round trip took 4" in said


def test_everything_is_lost_for_a_while(tmp_path: Path) -> None:
    """It says so, waits, and goes on; or ends with what it has, if that lasts."""
    hosts()
    then = tmp_path / "then"
    path = ["--while", str(then), "--then-loss", "100%"]
    words = ["10.9.0.2", "-C", "reno", "--rounds", 3, "--seconds", 1, "-o", tmp_path / "out"]
    with measuring(path, *words) as program:
        until(program, "round 1 of 3")
        then.touch()
        until(program, "again in 0 s")
        then.unlink()
        until(program, "round 2 of 3")
        then.touch()
        said, wrong = program.communicate(timeout=200)
    assert program.returncode == 1
    assert "of 3 runs are done and kept in" in wrong and "Only reno was measured" in said
    assert len(list((tmp_path / "out").glob("*.json"))) >= 2


def test_a_firewall(tmp_path: Path) -> None:
    """Nobody answers at all."""
    hosts()
    done = call(
        [*HOSTS, *LONGFAT, "measure", "10.9.0.9", "-C", "reno", "-o", str(tmp_path / "out")]
    )
    assert done.returncode == 1 and done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith("longfat: 10.9.0.9, port 5201: no answer: the host is down, or a fire")


def restricted() -> str:
    """One that is there and that root alone may choose."""
    names = {
        which: set(Path(f"/proc/sys/net/ipv4/tcp_{which}_congestion_control").read_text().split())
        for which in ("available", "allowed")
    }
    if not (found := sorted(names["available"] - names["allowed"])):
        pytest.skip("this kernel has none that is restricted")
    return found[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_a_server_that_may_not_choose(tmp_path: Path) -> None:
    """It ends the test at once, and says nothing; nothing is tried again."""
    cc = restricted()
    nobody = ("setpriv", "--reuid", "65534", "--clear-groups")
    with server(user=nobody) as port:
        words = ("--port", port, "-C", f"reno,{cc}", "--rounds", 1, "--seconds", 1)
        done = measure("127.0.0.1", *words, "--cap", "900GB", "-o", tmp_path / "out")
    assert done.returncode == 1 and "again in" not in done.stderr
    assert f"or its user may not choose {cc} there: see `sysctl " in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_an_ordinary_user_and_what_is_restricted() -> None:
    cc = restricted()
    code = (
        # All that is read of the lab is read before, as others may not see where it is.
        "import contextlib, io, os, sys\n"
        "from longfat.cli import main\n"
        "from longfat.measure.path import answer, client, host, lab, limits, rounds, seen\n"
        "words, sys.argv[1:] = sys.argv[1:], ['measure', '--help']\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main()\n"
        "sys.argv[1:] = words\n"
        "os.setuid(65534)\n"
        "main()"
    )
    # In a directory of everybody's; nothing is made there.
    words = ["measure", "127.0.0.1", "-C", cc, "-o", "/tmp/nosuch"]
    done = call([sys.executable, "-c", code, *words])
    assert done.returncode == 1 and done.stdout == ""
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"longfat: -C {cc}: only root may choose it here"), line
    assert "tcp_allowed_congestion_control=" in line
