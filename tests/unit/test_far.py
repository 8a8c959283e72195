# SPDX-License-Identifier: GPL-2.0
"""The ssh backend between two hosts that are network namespaces, with a program in ssh's place
that runs what it is given there; and what is left behind when anything goes wrong: nothing.

A real ssh, and modules, are in tests/machines.py."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from test_cli import Longfat, longfat

from examples import examples
from longfat.build import tools
from longfat.core.errors import LabError
from longfat.machines import remote
from longfat.machines.remote import Machine, Session
from longfat.run import far, result, scenario

__all__ = ["longfat"]

ROOT = Path(__file__).resolve().parents[2]
LONGFAT = [sys.executable, "-m", "longfat"]

# In ssh's place.  What runs there is no part of what ends here.
SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
host=$2
shift 2
case $host in
far) exec setsid --wait nsenter --target "$LONGFAT_FAR" --net sh -c "$*" ;;
lost) # for what has nothing to do with far.sh it is there
	case $* in *far.sh*) echo ready; sleep 3 ;; *) exit 0 ;; esac
	echo "Timeout, server lost not responding." >&2
	exit 255
	;;
down) echo "ssh: connect to host down port 22: Connection timed out" >&2; exit 255 ;;
*) exec setsid --wait sh -c "$*" ;;
esac
"""

HOSTS = """
[sender]
ssh = "near"
[receiver]
ssh = "far"
address = "10.9.0.2"
port = 5301
"""

SCENARIO = """
title = "between two hosts"
duration = "{seconds}s"
warmup = "1s"
[link]
rate = "50mbit"
buffer = "1bdp"
[host.sysctl]
"net.ipv4.tcp_reordering" = 5
[[flow]]
cc = "{cc}"
rtt = "40ms"
[[flow]]
cc = "cubic"
rtt = "40ms"
start = "1s"
"""

# What both hosts are told, as it is.
SETTINGS = "sysctl net.ipv4.tcp_no_metrics_save net.ipv4.tcp_reordering"


class Two:
    """Two hosts, and what runs on them."""

    def __init__(self, where: Path) -> None:
        self.where = where
        (where / "bin").mkdir()
        (where / "tmp").mkdir()
        (where / "bin/ssh").write_text(SSH)
        (where / "bin/ssh").chmod(0o755)
        (where / "hosts.toml").write_text(HOSTS)
        self.environment = {
            **os.environ,
            "PATH": f"{where / 'bin'}:{os.environ['PATH']}:/usr/sbin:/sbin",
            **{"PYTHONPATH": str(ROOT), "TMPDIR": str(where / "tmp"), "COLUMNS": "200"},
            "LONGFAT_LOCKS": str(where / "tmp"),
        }

    def scenario(self, seconds: int = 3, cc: str = "reno") -> Path:
        path = self.where / "two.toml"
        path.write_text(SCENARIO.format(seconds=seconds, cc=cc))
        return path

    def words(self, *words: object) -> list[str]:
        options = ["--backend", "ssh", "--hosts", self.where / "hosts.toml", "-o", self.where]
        return ["run", *map(str, [*words, *options])]

    def lab(self, *words: object) -> list[str]:
        return [*LONGFAT, *self.words(*words)]

    def start(self, script: str, *path: str) -> subprocess.Popen[str]:
        """A shell's script on the near host; `path` are options for what is between them."""
        hosts = [sys.executable, str(ROOT / "tests/two_hosts.py"), *path, "sh", "-c", script]
        return subprocess.Popen(
            hosts, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def call(self, script: str) -> subprocess.CompletedProcess[str]:
        program = self.start(script)
        out, wrong = program.communicate(timeout=120)
        return subprocess.CompletedProcess(script, program.returncode, out, wrong)

    def left(self) -> list[str]:
        """Directories of sessions, which end with them."""
        return [path.name for path in (self.where / "tmp").glob("longfat.*")]


@pytest.fixture
def two(tmp_path: Path) -> Two:
    made = Two(tmp_path)
    done = made.call("command -v iperf3 ss setsid flock")
    if done.returncode:
        pytest.skip(f"no namespaces, tun devices or programs: {done.stderr.strip()[-200:]}")
    return made


def settings() -> str:
    """A script: what is set on both hosts."""
    return f'{SETTINGS}; nsenter --target "$LONGFAT_FAR" --net {SETTINGS}'


def awaited(what: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)


def test_flows_between_two_hosts(two: Two) -> None:
    """What each flow had; what was set for it is as it was."""
    script = f"({settings()}) >{two.where}/a; {shlex.join(two.lab(two.scenario()))} && "
    # In the middle of it, both are set.
    watch = f'while ! {SETTINGS} | grep -q "reordering = 5"; do sleep 0.05; done; {settings()}'
    done = two.call(f"({watch}) >{two.where}/m & {script} ({settings()}) >{two.where}/b")
    assert done.returncode == 0, done.stderr
    before, during, after = ((two.where / name).read_text() for name in "amb")
    assert before == after
    assert during.count("reordering = 5") == 2 and during.count("metrics_save = 1") == 2
    assert two.left() == []
    assert "This sends up to 0.0187 GB" in done.stderr

    one = result.read(two.where / "two-s1.json")
    assert one["backend"] == "ssh" and one["kernel"] == os.uname().release
    assert one["hosts"]["address"] == "10.9.0.2"
    assert [flow["cc"] for flow in one["flows"]] == ["reno", "cubic"]
    first, second = (flow["connections"][0]["t"] for flow in one["flows"])
    assert first[0] == 0 and second[0] == 1 and len(first) > len(second) > 10
    # What is not seen from the ends is not said.
    assert one["summary"]["loss"] is None and one["summary"]["utilisation"] is None
    assert 0 < one["summary"]["goodput_bps"] < 55e6
    assert 39 < one["flows"][0]["base_rtt_ms"] < 200


def busy(two: Two, program: subprocess.Popen[str]) -> None:
    """Until a client sends."""

    def sends() -> bool:
        assert program.poll() is None, program.communicate()
        return any((two.where / "tmp").glob("longfat.*/out/client-0"))

    awaited(sends)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_end_in_the_middle(two: Two, number: signal.Signals) -> None:
    """By Ctrl-C or a crash of the lab: all is put back, and nothing runs any more."""
    lab = shlex.join(two.lab(two.scenario(seconds=60)))
    script = (
        # What a shell starts in the background is deaf to Ctrl-C.
        f"({settings()}) >{two.where}/a; env --default-signal=INT {lab} & "
        f"wait $!; echo $? >{two.where}/rc;"
        # The far end says that it has done with it, by removing its directory.
        f"while [ -e {two.where}/tmp/longfat.* ] 2>/dev/null || [ $? = 2 ]; do sleep 0.1; done;"
        f"({settings()}) >{two.where}/b; ps -ef | grep -c '[i]perf3 --client'"
    )
    program = two.start(script)
    busy(two, program)
    # Its number in its own namespace; it is found by its command line here.
    (pid,) = (
        int(path.name)
        for path in Path("/proc").iterdir()
        if path.name.isdigit() and is_lab(path, str(two.where))
    )
    os.kill(pid, number)
    out, wrong = program.communicate(timeout=60)
    assert (two.where / "rc").read_text().strip() in ("130", "137"), wrong
    assert (two.where / "a").read_text() == (two.where / "b").read_text()
    assert two.left() == [] and out.strip() == "0"


def is_lab(path: Path, where: str) -> bool:
    try:
        words = (path / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[1:4] == [b"-m", b"longfat", b"run"] and any(where.encode() in w for w in words)


def test_one_end_crashes(two: Two) -> None:
    """What guards the far end is killed itself: what guards that puts all back."""
    lab = shlex.join(two.lab(two.scenario(seconds=60)))
    program = two.start(f"({settings()}) >{two.where}/a; {lab}; ({settings()}) >{two.where}/b")
    busy(two, program)
    main = [
        int(path.name)
        for path in Path("/proc").iterdir()
        if path.name.isdigit() and is_guard(path, str(two.where))
    ]
    # Its child is the one that watches.
    os.kill(min(main), signal.SIGKILL)
    _, wrong = program.communicate(timeout=60)
    assert "longfat: " in wrong and "Traceback" not in wrong
    assert (two.where / "a").read_text() == (two.where / "b").read_text()
    assert two.left() == []


def test_the_receiver_is_gone(two: Two) -> None:
    """The lab does not wait for the sender, which may send into nowhere for long."""
    file = two.scenario(seconds=60, cc="cubic")
    file.write_text(file.read_text().rpartition("[[flow]]")[0])
    hosts = two.where / "hosts.toml"
    # A server is there already.
    hosts.write_text(HOSTS.replace('"far"', '"lost"').replace("5301", "5201"))
    began = time.monotonic()
    done = two.call(f"{shlex.join(two.lab(file))}; echo $?")
    assert done.stdout.strip() == "1"
    assert "receiver lost: Timeout, server lost not responding." in done.stderr
    assert time.monotonic() - began < 40 and two.left() == []


def test_a_path_that_is_gone(two: Two) -> None:
    """No connection of the sender's is left, which would hold a module for minutes."""
    cut = two.where / "cut"
    lab = shlex.join(two.lab(two.scenario(seconds=60)))
    program = two.start(
        f"{lab} & while [ ! -e {cut} ]; do sleep 0.1; done; sleep 1; kill -KILL $!; wait $!;"
        f"while [ -e {two.where}/tmp/longfat.* ] 2>/dev/null || [ $? = 2 ]; do sleep 0.1; done;"
        "ss -Hnt state connected | grep :53",
        *("--while", str(cut), "--then-loss", "100%"),
    )
    busy(two, program)
    time.sleep(1)
    cut.touch()
    out, wrong = program.communicate(timeout=60)
    assert out == "", wrong
    assert two.left() == []


def is_guard(path: Path, where: str) -> bool:
    try:
        words = (path / "cmdline").read_bytes().split(b"\0")
        here = os.readlink(path / "cwd")
    except OSError:
        return False
    return words[:3] == [b"sh", b"./far.sh", b"sender"] and here.startswith(where)


@pytest.mark.parametrize(
    ("other", "cc", "words"),
    [
        ({"10.9.0.2": "10.9.0.9"}, "reno", "sender near: "),
        ({'"far"': '"down"'}, "reno", "receiver down: ssh: connect to host down port 22"),
        ({}, "vegas", "tcp_vegas cannot be loaded: install it there"),
        ({"tcp_reordering": "tcp_nosuch"}, "reno", "this kernel has no /proc/sys/net/ipv4"),
        ({"[sender]": 'cap = "10MB"\n[sender]'}, "reno", "above the cap of 0.01 GB (cap in "),
        # The path has more than the scenario says.
        (
            {"[sender]": 'cap = "6MB"\n[sender]', '"50mbit"': '"1mbit"'},
            *("reno", "sender near: the cap is used up (cap in the file of --hosts)"),
        ),
        ({"5301": "5201"}, "reno", "receiver far: port 5201 is taken"),
    ],
)
def test_what_fails(two: Two, other: dict[str, str], cc: str, words: str) -> None:
    file = two.scenario(cc=cc)
    for path in (two.where / "hosts.toml", file):
        for old, new in other.items():
            path.write_text(path.read_text().replace(old, new))
    script = f"({settings()}) >{two.where}/a; {shlex.join(two.lab(file))}; echo $?;"
    done = two.call(f"{script} ({settings()}) >{two.where}/b")
    assert done.stdout.strip() == "1" and words in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert (two.where / "a").read_text() == (two.where / "b").read_text()
    assert two.left() == []


def test_it_takes_no_algorithms_of_one_s_own(longfat: Longfat, tmp_path: Path) -> None:
    """Which is said before anything goes to the machines, which there are none of."""
    two = Two(tmp_path)
    file = two.scenario()
    for option, words in (("--module", "the tree's modules, by --build"), ("--bpf", "takes none")):
        answer = longfat(*two.words(file, option, file))
        assert answer.status == 1 and f"longfat: {option}: the ssh backend" in answer.err
        assert words in answer.err


def test_the_cap_is_that_of_all_runs(two: Two) -> None:
    """Of two runs, one of which has less than it: 50 Mbit/s for 3 s are at most 19 MB."""
    hosts, file = two.where / "hosts.toml", two.scenario()
    hosts.write_text(f'cap = "26MB"\n{HOSTS}')
    text = file.read_text().replace("50mbit", "1mbit")
    file.write_text(text.replace("warmup", "seeds = [1, 2]\nwarmup"))
    done = two.call(shlex.join(two.lab(file)))
    assert done.returncode == 1 and "sender near: the cap is used up" in done.stderr
    assert [path.name for path in two.where.glob("two-s*.json")] == ["two-s1.json"]


def test_a_run_that_failed_leaves_nothing_of_the_cap(two: Two) -> None:
    """What it has sent is not known, so those after it send nothing."""
    hosts, file = two.where / "hosts.toml", two.scenario()
    hosts.write_text(f'cap = "6MB"\n{HOSTS}')
    text = file.read_text().replace("50mbit", "1mbit")
    file.write_text(text.replace("warmup", "seeds = [1, 2]\nwarmup"))
    done = two.call(f"{shlex.join(two.lab(file))} --keep-going")
    assert done.returncode == 1 and "sender near: the cap is used up" in done.stderr
    assert "two, seed 2: of the cap in the file of --hosts nothing is left" in done.stderr
    assert not [*two.where.glob("two-s*.json")]


# --- a session by itself

HERE = Machine("sender", "near")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """ssh leads to this machine."""
    made = Two(tmp_path)
    for key in ("PATH", "TMPDIR", "LONGFAT_LOCKS"):
        monkeypatch.setenv(key, made.environment[key])
    return tmp_path / "tmp"


def nothing() -> None:
    """For a poll."""


def test_files_come_back(here: Path, tmp_path: Path) -> None:
    """Files alone, and none over one that came before, from the other end."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/kernel").write_text("the first one's")
    script = b"echo ready; cat given >out/copy; ln -s /etc/passwd out/link; mkdir out/more"
    with Session(HERE, {"main.sh": script, "given": b"\0\xff"}) as one:
        one.wait("ready", nothing)
        one.files(tmp_path, nothing)
    assert (tmp_path / "out/copy").read_bytes() == b"\0\xff"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["copy", "kernel"]
    assert (tmp_path / "out/kernel").read_text() == "the first one's"
    assert not list(here.glob("longfat.*"))


def test_a_machine_of_which_nothing_is_heard(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection stands, but the lab does not speak any more, as behind a network that is
    gone: the far end puts all back."""
    monkeypatch.setattr(remote, "BEAT", 3600)
    main = f"echo ready; sleep 600 & echo $! >{tmp_path}/pid; wait".encode()
    with Session(HERE, {"main.sh": main}, silence=1) as one:
        one.wait("ready", nothing)
        with pytest.raises(LabError, match="sender near: it ended before its time"):
            one.wait("files", nothing)
        assert not list(here.glob("longfat.*"))
        assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_one_experiment_at_a_time(here: Path) -> None:
    with Session(HERE, {"main.sh": b"echo ready; sleep 600"}) as one:
        one.wait("ready", nothing)
        with (
            pytest.raises(LabError, match="another experiment has this machine as its sender"),
            Session(HERE, {"main.sh": b""}) as other,
        ):
            other.wait("files", nothing)


def test_what_cannot_be_put_back_is_said(here: Path) -> None:
    """A file of which the old value is refused."""
    main = b"echo ready; mkdir sub; echo $PWD/sub=1 >>kept"
    session = Session(HERE, {"main.sh": main})
    with (
        pytest.raises(LabError, match=r"sender near: was not put back: /.*/sub, it was 1"),
        session,
    ):
        session.files(here, nothing)


UNLOAD = """
read -r now _ </proc/uptime
late=$((${now%.*} + $1))
say() { echo "$*"; }
sleep() { echo >>tries; [ $(wc -l <tries) -lt 100 ] || command sleep 1; }
rmmod() { [ $(wc -l <tries) -ge $after ] && rm module || ! echo "Module is in use"; }
"""


def test_what_the_receivers_kernel_loads_by_itself(tmp_path: Path) -> None:
    """It goes when the experiment does, unless it was there before."""
    shutil.copy(tools.GUEST / "far-job.sh", tmp_path)
    (tmp_path / "main.sh").write_text("true\n")
    there = next(path.name for path in Path("/sys/module").iterdir())
    (tmp_path / "named").write_text(f"tcp_not_there\n{there}\n")
    subprocess.run(["sh", "far-job.sh"], cwd=tmp_path, check=True)
    assert (tmp_path / "loaded").read_text() == "tcp_not_there\n"


@pytest.mark.parametrize(
    ("seconds", "after", "said"),
    [(9, 99, ""), (0, 99, "left the module {}: Module is in use\n")],
)
def test_a_module_that_is_held(tmp_path: Path, seconds: int, after: int, said: str) -> None:
    """It is tried for as long as the kernel may keep a connection."""
    text = (ROOT / "longfat/guest/far.sh").read_text()
    unload = text[text.index("unload() {") :].partition("\n}\n")[0]
    for name in ("module", "tries"):
        (tmp_path / name).touch()
    name = f"../..{tmp_path}/module"
    script = f"after={after}; {UNLOAD}{unload}\n}}\nunload {name}"
    done = subprocess.run(
        ["sh", "-c", script, "sh", str(seconds)], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == (said.format(name), "")
    assert (tmp_path / "module").exists() == bool(said)


# --- files and scenarios


def test_a_file_of_hosts(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(
        'config = "ssh_config"\n' + HOSTS.replace('"near"\n', '"me@near"\nsudo = true\n')
    )
    found = far.load(file)
    assert found.sender == Machine("sender", "me@near", True, tmp_path / "ssh_config")
    assert (found.address, found.port, found.cap) == ("10.9.0.2", 5301, 20 * 10**9)
    words = found.sender.command("true")
    assert words[:4] == ["ssh", "-T", "-F", str(tmp_path / "ssh_config")]
    assert words[-3:] == ["--", "me@near", "exec sudo -n sh -c 'true'"]
    assert "BatchMode=yes" in words


def test_the_file_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(examples(ROOT / "docs/measure.md")["hosts.toml"])
    found = far.load(file)
    assert found.sender.sudo and found.receiver.ssh == "me@b.example"
    assert (found.address, found.port) == ("192.0.2.7", 5201)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('address = "10.9.0.2"', "", "receiver.address: Field required"),
        ('"near"', '"-oProxyCommand=x"', "sender.ssh: is one word without quotes"),
        ('"10.9.0.2"', '"x; reboot"', "receiver.address: is one word"),
        ("port = 5301", "password = 1", "receiver.password: unknown key"),
        ("[sender]", "[sender", "is not TOML"),
    ],
)
def test_a_wrong_file_of_hosts(tmp_path: Path, old: str, new: str, words: str) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(HOSTS.replace(old, new))
    with pytest.raises(LabError, match=words):
        far.load(file)


def load(tmp_path: Path, text: str) -> scenario.Scenario:
    file = tmp_path / "one.toml"
    file.write_text(text)
    return scenario.load(file)[0]


def test_what_of_a_scenario_holds(tmp_path: Path) -> None:
    """What describes the path may be there; what would change it may not."""
    text = SCENARIO.format(seconds=3, cc="reno")
    one = load(tmp_path, text.replace('"1bdp"', '"1bdp"\nloss = 0.01\nmtu = 9000'))
    assert far.fitting(one).traffic == "iperf3"
    assert far.settings(one)["net.ipv4.tcp_reordering"] == "5"
    assert far.most(one) == 3 * 50e6 / 8
    text = text.replace('"1bdp"', '"1bdp"\naqm = "codel"\njitter = "1ms"')
    text = text.replace("[host.sysctl]", "[host]\npacing = false\n[host.sysctl]")
    refused = load(tmp_path, text + "bytes = \"1MB\"\n[[udp]]\nrate = '1mbit'\nrtt = '1ms'\n")
    with pytest.raises(LabError) as caught:
        far.fitting(refused)
    for key in ("udp", "link.aqm", "link.jitter", "host.pacing", "flow[1].bytes"):
        assert key in str(caught.value)
    short = SCENARIO.format(seconds=3, cc="reno").replace('start = "1s"', 'start = "1.5s"')
    with pytest.raises(LabError, match="iperf3 sends for whole seconds"):
        far.fitting(load(tmp_path, short))


def test_words_of_ssh() -> None:
    said = HERE.explain("Warning: x\nme@near: Permission denied (publickey).\n")
    assert said.startswith("sender near: me@near: Permission denied (publickey). (the lab asks for")
    assert "ssh -o BatchMode=yes near" in said
