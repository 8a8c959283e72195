# SPDX-License-Identifier: GPL-2.0
"""The lab is killed, has no space, no network, no tool, or the wrong kernel: it says so,
leaves nothing, and the next one works.

Where that takes a kernel to run it is in tests/lab/test_robust.py, the cache's part of it in
test_cache.py.  The kernel that is built here is a Makefile.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from longfat.build import modules, tools
from longfat.core import process, scratch
from longfat.core.errors import Disturbed, LabError, Unwritable
from longfat.run import scenario
from longfat.run.backends import Uml

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

# Builds the kernel from the archive in package/ as if it came from Debian.
BUILD = """
import shutil, sys
from pathlib import Path
from longfat import cli
from longfat.build import debian, kernel
from longfat.run import runner
work = Path(sys.argv[1])
debian.version = lambda package, suite: "6.12.1-1"
def unpack(package, suite, to):
    with (work / "fetched").open("a") as log:
        log.write(package + "\\n")
    shutil.copytree(work / "package", to)
debian.unpack = unpack
one = kernel.Kernel("uml", "um", (work / "config",), "linux")
kernel.tools.need = lambda *programs: None
def app(**_):
    with runner.terminable():
        print(kernel.build(one))
cli.command = lambda: app
cli.main()
"""

# As far as the lab looks at a kernel.  Two levels of make, as there are in a real one.
MAKEFILE = """
allnoconfig:
	cp $(KCONFIG_ALLCONFIG) .config
linux:
	mkdir -p um && touch um/half
	$(MAKE) below
below:
	sh -c 'echo $$$$ >>$(WORK)/pids; while [ ! -e $(WORK)/go ]; do sleep 0.05; done'
	touch linux vmlinux Module.symvers
modules: linux
"""


def pack(work: Path, files: dict[str, str]) -> Path:
    """A package of a kernel's source with these files."""
    tree = work / "tree"
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    (work / "package/usr/src").mkdir(parents=True)
    archive = work / "package/usr/src/linux-source-6.12.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(tree, "linux-source-6.12")
    return archive


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "config").write_text("CONFIG_UML=y\n")
    (tmp_path / "tmp").mkdir()
    return tmp_path


@pytest.fixture
def source(work: Path) -> Path:
    return pack(work, {"Makefile": MAKEFILE, "arch/um/Makefile": ""})


def environment(work: Path) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": str(SCRIPTS.parent),
        "XDG_CACHE_HOME": str(work / "cache"),
        "TMPDIR": str(work / "tmp"),
        "WORK": str(work),
    }


def start(work: Path, script: str = BUILD) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(work)],
        env=environment(work),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What a shell runs in the background inherits an interrupt that is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def refused(work: Path) -> str:
    """What the build says when it fails; that it leaves nothing."""
    process = start(work)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert said.startswith("longfat: ") and "Traceback" not in said
    assert entries(work) == []
    return said


def entries(work: Path) -> list[str]:
    """The cache's directories: what was made, and halves of it."""
    return [path.name for path in (work / "cache/longfat").iterdir() if path.is_dir()]


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(work: Path) -> list[int]:
    """Those of the processes in `pids` that live."""
    found = []
    file = work / "pids"
    for pid in file.read_text().split() if file.exists() else []:
        try:
            if psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE:
                found.append(int(pid))
        except psutil.NoSuchProcess:
            pass
    return found


@pytest.fixture(autouse=True)
def survivors(work: Path) -> Iterator[None]:
    yield
    for pid in alive(work):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_kernel_build_is_ended(work: Path, number: signal.Signals) -> None:
    """Its compilers end with the lab, and the next build begins anew."""
    victim = start(work)
    until(lambda: alive(work))
    victim.send_signal(number)
    victim.communicate(timeout=60)
    assert victim.returncode == (-9 if number == signal.SIGKILL else 130)
    until(lambda: not alive(work))
    if number != signal.SIGKILL:
        assert entries(work) == []
    (work / "go").touch()
    said, _ = start(work).communicate(timeout=60)
    assert Path(said.strip(), "linux/Module.symvers").exists()
    assert len(entries(work)) == 1


@pytest.mark.usefixtures("source")
def test_two_builds_at_once_are_one(work: Path) -> None:
    first = start(work)
    until(lambda: alive(work))
    second = start(work)
    assert second.stderr
    assert "waiting for another longfat" in second.stderr.readline()
    (work / "go").touch()
    assert first.communicate(timeout=60)[0] == second.communicate(timeout=60)[0] != ""
    assert (work / "fetched").read_text() == "linux-source-6.12=6.12.1-1\n"


def test_not_a_kernel(work: Path) -> None:
    pack(work, {"Makefile": "all:\n", "README": "something else\n"})
    said = refused(work)
    assert "linux-source-6.12.tar.xz of Debian's linux-source-6.12 6.12.1-1 is not" in said
    assert "arch/um/Makefile" in said


def test_another_kernel(work: Path, source: Path) -> None:
    """One that does not know an option of ours."""
    (work / "config").write_text("CONFIG_UML=y\nCONFIG_NEW=y\n")
    text = MAKEFILE.replace("cp $", "grep -v NEW $").replace(" .config", " >.config")
    source.unlink()
    (work / "package/usr/src").rmdir()
    (work / "package/usr").rmdir()
    (work / "package").rmdir()
    pack(work, {"Makefile": text})
    assert "linux-source-6.12 6.12.1-1 does not take these options: CONFIG_NEW=y" in refused(work)


def test_a_kernel_that_does_not_build(work: Path) -> None:
    pack(work, {"Makefile": "allnoconfig:\n\texit 7\n", "arch/um/Makefile": ""})
    said = refused(work)
    assert "configuring the kernel failed (whole output: " in said and "Error 7" in said


def test_a_truncated_archive(work: Path, source: Path) -> None:
    source.write_bytes(source.read_bytes()[:-40])
    said = refused(work)
    assert "unpacking the kernel failed" in said and "nexpected end of input" in said


def test_a_package_without_source(work: Path, source: Path) -> None:
    source.unlink()
    assert "holds no linux-source-*.tar.xz" in refused(work)


def privately(work: Path, kind: str, prepare: str, python: str) -> tuple[int, str]:
    """Run `python` with the lab after the shell script `prepare`, in a namespace of its own,
    of this `kind`: its status, and what it said."""
    unshare = ["unshare", f"--{kind}", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip(f"no {kind} namespace can be made here: run the tests as root")
    done = subprocess.run(
        [*unshare, "sh", "-ec", f'{prepare}\nexec "$0" -c "$1" "$WORK"', sys.executable, python],
        env=environment(work),
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize(
    ("mount", "why"),
    [
        ('mount -t tmpfs -o size=64k,nr_inodes=12 x "$XDG_CACHE_HOME"', "No space left on device"),
        (
            'mount --bind "$XDG_CACHE_HOME" "$XDG_CACHE_HOME"\n'
            'mount -o remount,bind,ro "$XDG_CACHE_HOME"',
            "Read-only file system",
        ),
    ],
    ids=["full", "read-only"],
)
def test_no_space_for_the_kernel(work: Path, mount: str, why: str) -> None:
    left = '\nfind "$XDG_CACHE_HOME" -name "*.partial" >"$WORK/left"'
    (work / "go").touch()
    (work / "cache").mkdir()
    script = BUILD.replace("cli.main()", f"import atexit, os\natexit.register(os.system, {left!r})")
    status, said = privately(work, "mount", mount, script + "cli.main()")
    assert status == 1 and why in said, said
    assert str(work / "cache/longfat") in said and "Traceback" not in said
    assert (work / "left").read_text() == ""
    (path,) = start(work).communicate(timeout=60)[0].split()
    assert Path(path, "version").exists()


def test_what_is_there_needs_no_writing(work: Path) -> None:
    """A kernel in a cache that is read-only is used."""
    pack(work, {"Makefile": MAKEFILE, "arch/um/Makefile": ""})
    (work / "go").touch()
    first, _ = start(work).communicate(timeout=60)
    only = 'mount --bind "$XDG_CACHE_HOME" "$XDG_CACHE_HOME"\n'
    only += 'mount -o remount,bind,ro "$XDG_CACHE_HOME"'
    status, said = privately(work, "mount", only, BUILD)
    assert (status, said) == (0, first)


def test_no_network(work: Path) -> None:
    """What apt could not reach, and the question whether there is a network."""
    script = BUILD.replace("debian.version = ", "_ = ")
    address = "export LONGFAT_DEBIAN_MIRROR=http://192.0.2.1/debian"
    status, said = privately(work, "net", address, script)
    assert status == 1, said
    assert said.startswith("longfat: ") and "Traceback" not in said
    if "apt-get is missing" not in said and "keyring" not in said:
        assert "is there a network" in said and "http://192.0.2.1/debian" in said
    assert entries(work) in ([], ["apt"])


def test_a_missing_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tools.need("sh")
    with pytest.raises(LabError, match=r"missing in .*: no-such-tool, none\. Run `make deps`"):
        tools.need("sh", "no-such-tool", "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match=rf"missing in .*{tmp_path}.*: cc\. Run"):
        tools.need("cc")


def test_a_missing_header() -> None:
    tools.need_header("stdio.h", "libc6-dev")
    with pytest.raises(LabError, match=r"no-such\.h is missing: install Debian's package none"):
        tools.need_header("no-such.h", "none")


# Runs a command that writes its pids down, in a temporary directory.
RUN = """
import sys
from pathlib import Path
from longfat.core import process, scratch
work = Path(sys.argv[1])
with scratch.directory("test") as path:
    (path / "file").write_text("x")
    process.run(
        ["sh", "-c", sys.argv[2]], output=path / "out", timeout=60,
        cwd=work, grace=int(sys.argv[3]),
    )
"""
TREE = "sh -c 'echo $$ >>pids; sleep 1000 & echo $! >>pids; wait' & echo $$ >>pids; wait"
DEAF = "trap '' TERM; echo $$ >>pids; while :; do sleep 0.1; done"
# Its lab does not live to see that it runs.
EARLY = "echo $$ >>pids; kill -KILL $PPID; sleep 1000"
TIDY = "trap 'echo tidied >tidied; exit 1' TERM; echo $$ >>pids; while :; do sleep 0.1; done"


@pytest.mark.parametrize(
    ("command", "grace"), [(TREE, 0), (TREE, 2), (EARLY, 0), (DEAF, 1), (TIDY, 5)],
    ids=["tree", "tree with grace", "early", "deaf", "tidy"],
)  # fmt: skip
def test_what_a_killed_lab_ran_ends(work: Path, command: str, grace: int) -> None:
    want = command.count(">>pids")
    victim = subprocess.Popen(
        [sys.executable, "-c", RUN, str(work), command, str(grace)], env=environment(work)
    )
    pids = work / "pids"
    if command is EARLY:
        until(lambda: pids.exists() and pids.read_text().endswith("\n"))
    else:
        until(lambda: len(alive(work)) == want)
    group = psutil.Process(victim.pid).children()
    victim.kill()
    victim.wait()
    until(lambda: not alive(work))
    assert (work / "tidied").exists() is (command is TIDY)
    # Nor does what ended it stay.
    until(lambda: not any(p.is_running() and p.status() != "zombie" for p in group))
    (left,) = (work / "tmp").iterdir()
    assert (left / "file").exists()


def test_a_command_begins_when_its_guard_knows_of_it(tmp_path: Path) -> None:
    """And if there is no guard any more, it does not."""
    made = tmp_path / "made"

    def begin(guard: subprocess.Popen[bytes]) -> int:
        line = process._guarded(["touch", str(made)], guard.pid, None, None)
        return subprocess.run(line, stderr=subprocess.DEVNULL).returncode

    with subprocess.Popen(["true"], stdin=subprocess.PIPE) as ended:
        ended.communicate()
    assert begin(ended) != 0 and not made.exists()
    script = ["sh", "-c", "read -r group && echo $group >told; read -r _"]
    with subprocess.Popen(script, stdin=subprocess.PIPE, cwd=tmp_path) as guard:
        assert begin(guard) == 0 and made.exists()
        guard.communicate()
    assert (tmp_path / "told").read_text().strip().isdigit()


@pytest.mark.parametrize("more", [{}, {"PWD": "/nowhere", "_": "mine"}])
def test_a_command_has_the_environment_that_it_is_given(
    tmp_path: Path, more: dict[str, str]
) -> None:
    given = {"PATH": os.environ["PATH"], "HOME": "/x"} | more
    process.run(["env"], output=tmp_path / "out", timeout=60, env=given, cwd=tmp_path)
    assert sorted((tmp_path / "out").read_text().splitlines()) == sorted(
        f"{key}={value}" for key, value in given.items()
    )


@pytest.mark.parametrize(
    ("name", "error"), [("none-such", FileNotFoundError), ("./it", PermissionError)]
)
def test_a_program_that_is_not_there(tmp_path: Path, name: str, error: type[OSError]) -> None:
    (tmp_path / "it").write_text("")
    with pytest.raises(error, match=name):
        process.run([name], output=tmp_path / "out", timeout=60, cwd=tmp_path)
    (tmp_path / "it").chmod(0o755)
    process.run(["./it"], output=tmp_path / "out", timeout=60, cwd=tmp_path)


def test_the_next_lab_clears_what_a_killed_one_left(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(work / "tmp"))
    kept = [work / "tmp" / name for name in ("longfat-other", "another.file", "longfat-file.x")]
    kept[0].mkdir()
    kept[1].touch()
    kept[2].touch()
    # A release, results, and what looks like ours at a glance.
    for name in ("longfat-1.0", "longfat-results.old", "longfat-run.old", "longfat-mine.12345678"):
        kept.append(work / "tmp" / name)
        (kept[-1] / "src").mkdir(parents=True)
        (kept[-1] / "src/file").touch()
    # One that is being made, and one that was when the lab was killed.
    kept.append(work / "tmp/.longfat-run.87654321")
    kept[-1].mkdir()
    half = work / "tmp/.longfat-run.11111111"
    half.mkdir()
    os.utime(half, (0, 0))
    outside = work / "outside"
    outside.mkdir()
    kept.append(work / "tmp/longfat-run.abcdefgh")
    kept[-1].symlink_to(outside)
    stale = work / "tmp/longfat-run.12345678"
    (stale / "bin").mkdir(parents=True)
    living = subprocess.Popen(
        [sys.executable, "-c", RUN, str(work), TREE, "0"], env=environment(work)
    )
    until(lambda: len(alive(work)) == 3)
    with scratch.directory("run") as mine:
        names = sorted(path.name for path in (work / "tmp").iterdir())
        (other,) = (work / "tmp").glob("longfat-test.*")
        assert names == sorted([*(path.name for path in kept), mine.name, other.name])
        assert (other / "file").exists() and not stale.exists() and not half.exists()
    assert not mine.exists()
    living.kill()
    living.wait()
    with scratch.directory("run"):
        assert not other.exists()
    assert sorted((work / "tmp").iterdir()) == sorted(kept)
    assert outside.is_dir() and all((path / "src/file").exists() for path in kept[3:7])


NESTED = """
import subprocess, sys
from pathlib import Path
from longfat.core import process
process.run(
    ["sh", "-c", "trap '' TERM; echo $$ >>pids; while :; do sleep 0.1; done"],
    output=Path("nested"), timeout=60,
)
"""


def test_what_a_command_runs_in_a_session_of_its_own_ends_with_it(work: Path) -> None:
    """A suite that is cancelled has labs of its own, and they have runs."""
    cancel = threading.Event()

    def tick() -> None:
        if alive(work):
            cancel.set()

    with pytest.raises(process.Cancelled):
        process.run(
            [sys.executable, "-c", NESTED],
            output=work / "out",
            timeout=60,
            cancel=cancel,
            tick=tick,
            env=environment(work),
            cwd=work,
            grace=5,
        )
    until(lambda: not alive(work))


# Between its caller and what is root's it stays, as sudo does, and does not end with either.
SUDO = """#!/bin/sh
while [ "$1" = -n ] || [ "$1" = -- ]; do shift; done
exec 3<&0
"$@" <&3 3<&- &
wait $!
"""

TIED = """
import os, subprocess, sys
from longfat.core import process as processes, root
from longfat.machines import suite
if sys.argv[2] == "sudo":
    os.geteuid = lambda: 1000
line = suite.tied([*suite._PRIVATE, "sh", "-c", sys.argv[1]])
with processes.closing(subprocess.Popen(line)) as process:
    sys.exit(process.wait())
"""


@pytest.fixture
def with_sudo(work: Path) -> dict[str, str]:
    """An environment in which a sudo is found first."""
    if os.geteuid():
        pytest.skip("chroots need root: run the tests as root")
    sudo = work / "bin/sudo"
    sudo.parent.mkdir()
    sudo.write_text(SUDO)
    sudo.chmod(0o755)
    found = environment(work)
    return found | {"PATH": f"{sudo.parent}:{found.get('PATH', os.environ['PATH'])}"}


@pytest.mark.parametrize("who", ["root", "sudo"])
def test_a_chroot_of_a_killed_lab_ends(with_sudo: dict[str, str], who: str) -> None:
    """What it ran, in a mount and process namespace of its own, ends with it."""
    # A name for it in the outer process namespace: its command line.
    mark = f"sleep 1000.{os.getpid()}"
    victim = subprocess.Popen([sys.executable, "-c", TIED, f"{mark} & {mark}", who], env=with_sudo)

    def sleepers() -> list[int]:
        done = subprocess.run(["pgrep", "-fx", mark], capture_output=True, text=True)
        return [int(pid) for pid in done.stdout.split()]

    try:
        until(lambda: len(sleepers()) == 2)
        victim.kill()
        victim.wait()
        until(lambda: not sleepers())
    finally:
        for pid in sleepers():
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("who", ["root", "sudo"])
def test_what_is_tied_is_otherwise_as_it_is(with_sudo: dict[str, str], who: str) -> None:
    """Its input, output and status are its own, and nobody waits for the one who watches."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", TIED, "cat; exit 7", who],
        env=with_sudo,
        input="said",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "said", "")
    assert time.monotonic() - began < 10


# The host backend with a network of one namespace, and a run that does not end.
HOST = """
import shutil, sys
from pathlib import Path
from longfat.build import tools
from longfat.run import backends, scenario
one = scenario.load(Path("tests/scenarios/realtime.toml"))[0]
run = Path(sys.argv[1], "run")
run.mkdir()
shutil.copy(tools.GUEST / "run.sh", run)
(run / "setup.sh").write_text("ip netns add lf-test\\n")
(run / "spaces").write_text("lf-test\\n")
(run / "main.sh").write_text("touch begun; sleep 1000\\n")
backends.Host().execute(run, one, 1, timeout=60)
"""


def test_a_killed_run_on_the_host_leaves_no_namespace(work: Path) -> None:
    if os.geteuid():
        pytest.skip("network namespaces on the host need root: run the tests as root")
    # /run is where ip(8) has their names; in another network tcp_mem is not the machine's.
    script = (
        "mount -t tmpfs run /run\n"
        '"$0" -c "$1" "$WORK" & victim=$!\n'
        "until [ -e $WORK/run/begun ]; do kill -0 $victim; sleep 0.1; done\n"
        "ip netns list | grep -q lf-test\n"
        "kill -KILL $victim\n"
        "while ip netns list | grep -q lf-test; do sleep 0.1; done\n"
        "echo gone\n"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--net", "sh", "-ec", script, sys.executable, HOST],
        env=environment(work),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "gone\n" in done.stdout, done.stdout + done.stderr


# An interpreter that makes a virtual environment as python3 -m venv does, as far as it is used.
PYTHON = """#!/bin/sh
case $1 in
-m)
	mkdir -p "$3/bin"
	echo made >>"$WORK/made"
	printf '#!/bin/sh\\necho $$ >>"$WORK/pids"\\nwhile [ ! -e "$WORK/go" ]; do sleep 0.05; done
[ ! -e "$WORK/offline" ]' >"$3/bin/pip"
	printf '#!/bin/sh\\necho the lab "$@"' >"$3/bin/python"
	chmod +x "$3/bin/pip" "$3/bin/python"
	;;
esac
"""


Begin = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def longfat(work: Path) -> Begin:
    """Starts scripts/longfat with that interpreter and an empty cache."""
    (work / "python").write_text(PYTHON)
    (work / "python").chmod(0o755)

    def begin(scripts: Path = SCRIPTS) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [scripts / "longfat", "table"],
            env=environment(work) | {"PYTHON": str(work / "python"), "LONGFAT_CHECK": ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return begin


def test_two_beginners_make_one_environment(work: Path, longfat: Begin) -> None:
    both = [longfat(), longfat()]
    until(lambda: alive(work))
    (work / "go").touch()
    assert [p.communicate(timeout=60)[0] for p in both] == ["the lab -m longfat table\n"] * 2
    assert (work / "made").read_text() == "made\n"


def test_an_environment_half_made_is_made_again(work: Path, longfat: Begin) -> None:
    """Killed, and then without a network: said, and the third time it works."""
    victim = longfat()
    until(lambda: alive(work))
    victim.kill()
    (work / "go").touch()
    (work / "offline").touch()
    victim.communicate(timeout=60)
    second = longfat()
    _, said = second.communicate(timeout=60)
    assert second.returncode == 1 and "requirements.txt could not be installed" in said
    (work / "offline").unlink()
    assert longfat().communicate(timeout=60)[0] == "the lab -m longfat table\n"


@pytest.mark.parametrize("name", ["requirements.txt", "constraints.txt"])
def test_other_packages_are_another_environment(work: Path, longfat: Begin, name: str) -> None:
    (work / "go").touch()
    scripts = work / "scripts"
    modules.copy([SCRIPTS / "longfat", *SCRIPTS.parent.glob("longfat/*.txt")], work)
    for _ in range(2):
        longfat(scripts).communicate(timeout=60)
    assert (work / "made").read_text() == "made\n"
    (work / "longfat" / name).write_text("other==1\n")
    longfat(scripts).communicate(timeout=60)
    assert (work / "made").read_text() == "made\n" * 2


# Programs that a script calls: some have an answer, the others stay until they are ended.
ANSWERS = {"dpkg-query": "install ok installed", "basename": "6.1.0"}
STAYS = """#!/bin/sh
echo $$ >>"$WORK/pids"
exec sleep 1000
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize(
    ("command", "stays"),
    [
        ('scripts/deb.sh "$WORK/out"', "dpkg-buildpackage"),
        ('DESTDIR="$WORK" scripts/install.sh dkms any tcp_ltcp', "install"),
        (". tests/packages/common.sh && stays", "stays"),
        (". tests/stock/ktap.sh && stays", "stays"),
    ],
    ids=["deb.sh", "install.sh", "packages/common.sh", "stock/ktap.sh"],
)
def test_an_interrupted_script_leaves_nothing(
    work: Path, command: str, stays: str, number: signal.Signals
) -> None:
    """In /tmp, by Ctrl-C or by who ends all of its programs."""
    programs = {name: f"#!/bin/sh\necho {says}\n" for name, says in ANSWERS.items()}
    (work / "bin").mkdir()
    for name, text in {**programs, stays: STAYS}.items():
        (work / "bin" / name).write_text(text)
        (work / "bin" / name).chmod(0o755)
    env = environment(work)
    victim = subprocess.Popen(
        ["sh", "-c", command],
        env=env | {"PATH": f"{work}/bin:{env['PATH']}"},
        cwd=SCRIPTS.parent,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until(lambda: alive(work))
    assert list((work / "tmp").iterdir())
    os.killpg(victim.pid, number)
    victim.wait(timeout=60)
    until(lambda: not list((work / "tmp").iterdir()))


@pytest.mark.parametrize(
    ("status", "console", "kind", "says"),
    [
        (1, "Kernel panic - not syncing: divide", LabError, "ended with status 1:\nKernel panic"),
        (1, "mem: ran out of space", Unwritable, "no space left in /dev/shm"),
        (-signal.SIGKILL, "all was well", Disturbed, "was killed, perhaps for want of memory"),
    ],
)
def test_why_the_virtual_time_kernel_ended(
    status: int,
    console: str,
    kind: type[LabError],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is the run's, what ends all runs, and what another try may spare."""
    one = tmp_path / "one.toml"
    one.write_text(
        'title = "a"\nduration = "1s"\nlink = { rate = "1mbit", buffer = "9p" }\n'
        'flow = [{ cc = "reno", rtt = "1ms" }]\n'
    )
    (tmp_path / "poweroff").touch()

    def boot(run: Path, *_: object, **__: object) -> int:
        (run / "console").write_text(console)
        return status

    machine, run = Uml(), tmp_path / "run"
    run.mkdir()
    monkeypatch.setattr(machine, "_programs", tmp_path, raising=False)
    monkeypatch.setattr(machine, "_tc", None, raising=False)
    monkeypatch.setattr(machine, "boot", boot)
    with pytest.raises(LabError, match=says) as caught:
        machine.execute(run, scenario.load(one)[0], 1, timeout=1)
    assert type(caught.value) is kind
