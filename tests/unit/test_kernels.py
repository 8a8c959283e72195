# SPDX-License-Identifier: GPL-2.0
"""`--kernel` and the key `kernel`: which kernel that is, what stands for a tree, what is refused
before a build.  The kernels that are built here are Makefiles."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from conftest import One, Toml
from test_cli import Longfat, longfat
from test_report import run, text_of
from test_runner import Fake

from longfat.build import given, kernel, modules, tools, trees
from longfat.core.errors import LabError
from longfat.run import identity, kernels, scenario
from longfat.run.backends import Uml
from longfat.run.identity import Made, Platform
from longfat.run.result import Json
from longfat.show import report

__all__ = ["longfat"]

# As far as the lab looks at a kernel; `linux` leaves what it was called with.
MAKEFILE = """\
# SPDX-License-Identifier: GPL-2.0
VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 170
EXTRAVERSION = -rc1

allnoconfig:
	grep -v -e ABSENT $(KCONFIG_ALLCONFIG) >.config
linux:
	echo $(LOCALVERSION) >called
	touch linux vmlinux Module.symvers
modules: linux
"""
FILES = {
    "Makefile": MAKEFILE,
    ".gitignore": "*.o\n",
    "arch/um/Makefile": "",
    "arch/um/kernel/time.c": 'if (!strcmp(str, "=inf-cpu"))\n',
    "net/ipv4/Kconfig": "menuconfig TCP_CONG_ADVANCED\nconfig TCP_CONG_NEW\n",
    "net/ipv4/tcp_cong.c": "int one;\n",
    "include/linux/tcp.h": "",
    "Documentation/a/b": "not read\n",
}


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What one test makes known no other knows."""
    yield
    kernel.choose.cache_clear()
    kernel.offered().clear()
    given.forget()


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A tree without git."""
    top = tmp_path / "plain"
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def git(path: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    return subprocess.check_output(["git", "-C", str(path), *who, *words], text=True).strip()


@pytest.fixture
def repository(tmp_path: Path, plain: Path) -> Path:
    """The same with one commit."""
    top = tmp_path / "repository"
    shutil.copytree(plain, top)
    git(top, "init", "-q")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "one")
    return top


def state(path: Path, commit: str = "") -> str:
    return trees.look(path, commit).state


# --- which kernel a name is


def test_debian() -> None:
    assert kernel.choose("") == kernel.choose("debian:6.12") == kernel.LAB
    old, new = kernel.choose("debian:6.1"), kernel.choose("debian:7.2")
    assert (old.package, old.suite) == ("linux-source-6.1", "bookworm")
    assert (new.package, new.suite) == ("linux-source-7.2", "sid")
    assert len({one.key for one in (kernel.LAB, old, new)}) == 3
    assert len({one.configuration for one in (kernel.LAB, old, new)}) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("debian:6", "is no kernel of Debian, such as debian:6.12"),
        ("debian:", "is no kernel of Debian"),
        ("/no/such", "no kernel '/no/such': /no/such: there is no such directory; valid: debian:V"),
        ("{empty}", "{empty}: is not the source of a kernel that runs in user mode"),
        ("{repository}@nosuch", "{repository}: has no commit 'nosuch'"),
        ("{plain}@HEAD", "{plain}: has no commit 'HEAD'"),
        ("/no/such@HEAD", "/no/such: there is no such directory"),
        (6.1, "the name of a kernel is a string"),
    ],
)
def test_what_is_no_kernel(
    tmp_path: Path, plain: Path, repository: Path, text: object, words: str
) -> None:
    (tmp_path / "empty").mkdir()
    names = {name: tmp_path / name for name in ("empty", "repository", "plain")}
    with pytest.raises(ValueError) as caught:
        kernel.check(text.format(**names) if isinstance(text, str) else text)
    assert words.format(**names) in str(caught.value)


def test_a_commit_without_user_mode(repository: Path) -> None:
    git(repository, "rm", "-rqf", "arch/um")
    git(repository, "commit", "-qm", "two")
    with pytest.raises(ValueError, match="repository@HEAD: is not the source of a kernel"):
        kernel.check(f"{repository}@HEAD")
    assert kernel.check(f"{repository}@HEAD~1")


def test_the_version_is_the_makefile_s(plain: Path, repository: Path) -> None:
    assert trees.look(plain, "").version == trees.look(repository, "HEAD").version == "6.1.170-rc1"


# --- what stands for a tree


def test_a_clean_checkout_is_its_commit(repository: Path, tmp_path: Path) -> None:
    """So is a clone without files; a commit is not what lies in the checkout."""
    before = state(repository)
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    assert before == state(repository, "HEAD") == state(bare, "HEAD")
    file = repository / "net/ipv4/tcp_cong.c"
    file.write_text("int two;\n")
    assert state(repository) != before == state(repository, "HEAD")
    git(repository, "commit", "-qam", "two")
    assert state(repository) == state(repository, "HEAD") != before == state(repository, "HEAD~1")


@pytest.mark.parametrize("kind", ["plain", "repository"])
def test_content_alone_counts(tmp_path: Path, plain: Path, repository: Path, kind: str) -> None:
    """Not dates, nor what a build leaves; as much text with the old date is another tree."""
    top = tmp_path / kind
    before = state(top)
    file = top / "net/ipv4/tcp_cong.c"
    was = file.stat()
    os.utime(file, (0, 0))
    (top / "net/ipv4/tcp_cong.o").write_text("built")
    assert state(top) == before
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
    file.write_text("int two;\n")
    changed = state(top)
    assert changed != before
    file.write_text("int one;\n")
    assert state(top) == before
    (top / "net/ipv4/tcp_new.c").write_text("")
    assert state(top) not in (before, changed)
    (top / "net/ipv4/tcp_new.c").unlink()
    file.chmod(0o755)
    assert state(top) != before
    file.unlink()
    assert state(top) not in (before, changed)


def test_a_change_in_the_second_of_the_index(repository: Path) -> None:
    """Git tells it by the index's date, so ours has that date too."""
    git(repository, "config", "core.trustctime", "false")
    file = repository / "net/ipv4/tcp_cong.c"
    os.utime(file, (1000, 1000))
    git(repository, "update-index", "--refresh")
    os.utime(repository / ".git/index", (1000, 1000))
    before = state(repository)
    file.write_text("int two;\n")
    os.utime(file, (1000, 1000))
    assert state(repository) != before


def test_a_tree_without_git_may_have_been_built(plain: Path) -> None:
    before = state(plain)
    for name in (".config", "vmlinux", "linux", "include/generated/x.h", ".git/HEAD"):
        (plain / name).parent.mkdir(parents=True, exist_ok=True)
        (plain / name).write_text("built")
    (plain / "Documentation/a/b").write_text("other")
    assert state(plain) == before


def test_git_may_not_know_the_kernel(tmp_path: Path, plain: Path) -> None:
    """In a repository of something else, or where .gitignore has everything, as Debian's does."""
    before = state(plain)
    git(tmp_path, "init", "-q")
    assert state(plain) == before
    (plain / ".gitignore").write_text("/*\n")
    before = state(plain)
    git(plain, "init", "-q")
    git(plain, "add", "-A")
    assert state(plain) == before


def test_nothing_is_written_into_a_repository(repository: Path) -> None:
    (repository / "net/ipv4/tcp_cong.c").write_text("int dirty;\n")

    def everything() -> dict[str, bytes]:
        files = (path for path in repository.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files}

    before = everything()
    tree = trees.look(repository, "")
    tree.archive(repository.parent / "a.tar")
    assert everything() == before
    listed = subprocess.check_output(
        ["tar", "-xOf", repository.parent / "a.tar", "net/ipv4/tcp_cong.c"]
    )
    assert listed == b"int dirty;\n"


@pytest.mark.parametrize("kind", ["plain", "repository"])
def test_a_tree_that_changes_is_not_built(
    tmp_path: Path, plain: Path, repository: Path, kind: str
) -> None:
    tree = trees.look(tmp_path / kind, "")
    (tmp_path / kind / "net/ipv4/tcp_cong.c").write_text("int two;\n")
    with pytest.raises(LabError, match="has changed while it was read"):
        tree.archive(tmp_path / "a.tar")


# --- the build


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel is built with make alone."""
    monkeypatch.setattr(kernel, "require", lambda: None)
    monkeypatch.setattr(tools, "need", lambda *programs: None)


def built(path: Path) -> Path:
    kernel.choose.cache_clear()
    return kernel.build(kernel.choose(str(path)))


@pytest.mark.usefixtures("quick")
def test_trees_side_by_side(plain: Path, repository: Path) -> None:
    """Each state has its own entry, whose kernel says which it is; congestion controls that we do
    not know are in it; the user's tree is as it was."""
    first = built(repository)
    assert built(repository) == first
    (repository / "net/ipv4/tcp_cong.c").write_text("int two;\n")
    second = built(repository)
    assert first != second and first.is_dir()
    for entry, tree in ((first, state(repository, "HEAD")), (second, state(repository))):
        assert (entry / "linux/called").read_text() == f"-{tree[:12]}\n"
        assert (entry / "version").read_text() == f"6.1.170-rc1-{tree[:12]}\n"
        assert "CONFIG_TCP_CONG_NEW=y" in (entry / "config").read_text().splitlines()
        assert not (entry / "source.tar").exists()
        assert not (entry / "linux/Documentation/a/b").exists()
    assert built(plain) not in (first, second)
    assert not (repository / "called").exists() and not (plain / "called").exists()


@pytest.mark.usefixtures("quick")
def test_what_a_kernel_may_be_without(plain: Path) -> None:
    """It is kept with what that means; what it must have is named before the build."""
    text = MAKEFILE.replace("-e ABSENT", "-e TCP_CONG_NV= -e CONFIG_NET_SCH_RED=")
    (plain / "Makefile").write_text(text)
    entry = built(plain)
    said = kernel.without(entry).splitlines()
    assert said == ['NET_SCH_RED: link.aqm = "red"', "TCP_CONG_NV: that congestion control"]
    (plain / "Makefile").write_text(text.replace("ABSENT", "x").replace("-e TC", "-e VETH -e TC"))
    with pytest.raises(LabError) as caught:
        built(plain)
    assert str(caught.value) == f"{plain} does not take these options: CONFIG_VETH=y"
    (plain / "arch/um/kernel/time.c").write_text("/* older */\n")
    with pytest.raises(LabError, match=r"time\.c does not have 'inf-cpu', so there is no virtual"):
        built(plain)


@pytest.mark.usefixtures("quick")
def test_a_compiler_that_is_too_old(plain: Path, tmp_path: Path) -> None:
    """The kernel's own check says so as it is configured; nothing of it is built then."""
    says = "***\n*** Compiler is too old.\n***   Your GCC version:    4.8.5\n***\n"
    (tmp_path / "says").write_text(says)
    refuses = f"allnoconfig:\n\tcat {tmp_path}/says >&2; exit 1\n"
    text = MAKEFILE.replace("allnoconfig:\n", refuses).replace("touch", f"touch {tmp_path}/begun")
    (plain / "Makefile").write_text(text)
    words = r"^configuring the kernel failed .*:\n(.*\n)*\*\*\* Compiler is too old\.\n.*4\.8\.5"
    with pytest.raises(LabError, match=words):
        built(plain)
    assert not (tmp_path / "begun").exists()


def test_the_lab_s_own_has_every_option(plain: Path) -> None:
    """What others may lack it may not."""
    with pytest.raises(LabError, match="does not take these options: CONFIG_TCP_CONG_NV=y"):
        kernel._check_options(["CONFIG_TCP_CONG_NV=y"], kernel.LAB, "it")


# --- scenarios


def test_the_key_changes_no_identity(one: One) -> None:
    """What a run is told is the same on all kernels; which it was made on is another part of it."""
    plain, other = one(), one(top='kernel = "debian:6.1"')
    assert other.kernel == "debian:6.1" and plain.kernel == ""
    assert identity.plan_digest(plain, 1, virtual=True) == identity.plan_digest(
        other, 1, virtual=True
    )


def test_what_results_of_another_kernel_are_known_by(one: One) -> None:
    """On the platform of the lab's own kernel, which the published one is, by the configuration and
    the modules' sources; where that kernel is, by its version, too."""
    run = one(cc='cc = "foo"', top='kernel = "debian:6.1"'), 1
    old = kernel.choose("debian:6.1").configuration
    there = Platform(Made("p", ("P",)), {"tcp_foo": Made("f", ("F",))}, (f"6.1.170 {old}",))
    lab = replace(there, kernels=(f"6.12.1 {kernel.LAB.configuration}",))
    line: Json = {"backend": "uml", "identity": there.identity(*run, "uml")}
    assert line["identity"]["modules"] == {"tcp_foo": "f"}
    assert there.knows(line, *run) and lab.knows(line, *run)
    assert replace(lab, modules={"tcp_foo": Made("f", ("another compiler's",))}).knows(line, *run)
    assert not replace(there, kernels=(f"6.1.171 {old}",)).knows(line, *run)
    for other in (lab, there):
        assert not replace(other, modules={"tcp_foo": Made("g", ("F",))}).knows(line, *run)
    # What was made on the lab's own is none of another kernel, nor the other way.
    ours = {"backend": "uml", "identity": lab.identity(*run, "uml")}
    assert not lab.knows(ours, *run) and not there.knows(ours, *run)
    assert not lab.knows(line, one(cc='cc = "foo"'), 1)
    named = one(cc='cc = "foo"', top='kernel = "debian:6.12"')
    assert lab.identity(named, 1, "uml") == lab.identity(one(cc='cc = "foo"'), 1, "uml")


def test_kernels_in_one_file(tmp_path: Path, toml: Toml) -> None:
    path = tmp_path / "k.toml"
    vary = '[vary]\nkernel = ["debian:6.1", "debian:6.12"]'
    path.write_text(toml(rest=vary))
    assert [one.name for one in scenario.load(path)] == ["k-debian_6.1", "k-debian_6.12"]
    with pytest.raises(LabError, match=r"k\.toml: kernel: case or vary of the file choose it"):
        scenario.load(path, kernel="debian:7.2")
    path.write_text(toml(top='kernel = "debian:6.1"'))
    assert [one.kernel for one in scenario.load(path, kernel="debian:7.2")] == ["debian:7.2"]
    path.write_text(toml(top='kernel = "x"'))
    with pytest.raises(LabError, match=r"k\.toml: kernel: no kernel 'x': .*; valid: debian:VER"):
        scenario.load(path)


def test_a_kernel_s_own_congestion_control(tmp_path: Path, toml: Toml) -> None:
    """Valid on it alone, and it may come while it is not built."""
    path = tmp_path / "k.toml"
    path.write_text(toml(cc='cc = "prague"', top='kernel = "debian:6.1"'))
    with given.awaited():
        scenario.load(path)
    kernel.offer("debian:6.1", ["reno", "prague"])
    scenario.load(path)
    path.write_text(toml(cc='cc = "prague"'))
    with pytest.raises(LabError, match=r"the lab: this kernel has no congestion control 'prague'"):
        scenario.load(path)
    path.write_text(toml(cc='cc = "bbr"', top='kernel = "debian:6.1"'))
    with pytest.raises(LabError, match=r"debian:6\.1: this .* no .* 'bbr'; valid: .*prague, reno"):
        scenario.load(path)


class Machine(Fake):
    """A kernel that is not there."""

    def __init__(self, what: kernel.Kernel, text: str) -> None:
        super().__init__()
        self.what = what
        self.names.append(text)

    names: ClassVar[list[str]] = []

    def on(self, scenario: scenario.Scenario) -> Machine:
        return self


def test_run_takes_kernels(
    longfat: Longfat, tmp_path: Path, toml: Toml, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the file and by the command line; each is prepared once."""
    monkeypatch.setattr(kernels, "Uml", Machine)
    monkeypatch.setattr(Machine, "names", [])
    path = tmp_path / "k.toml"
    path.write_text(toml(rest='[vary]\nkernel = ["debian:6.1", ""]\nduration = ["10s", "11s"]'))
    answer = longfat("run", path, "-o", tmp_path / "out")
    assert answer.status == 0, answer.err
    assert Machine.names == ["debian:6.1", ""]
    assert len(list((tmp_path / "out").glob("*.json"))) == 4
    path.write_text(toml())
    assert longfat("run", path, "--kernel", "debian:7.2", "-o", tmp_path / "one").status == 0
    assert Machine.names[2:] == ["debian:7.2"]


def test_other_backends_refuse(longfat: Longfat, tmp_path: Path, toml: Toml) -> None:
    """Before anything is made, and so does what has one kernel alone."""
    path = tmp_path / "k.toml"
    path.write_text(toml())
    words = "the {} backend has a kernel of its own; leave kernel out, or use --backend uml"
    for name in ("vm", "vm-counted", "host"):
        answer = longfat("run", path, "--kernel", "debian:6.1", "--backend", name)
        assert answer.status == 1 and words.format(name) in answer.err
    answer = longfat("run", path, "--kernel", "debian:six")
    assert answer.status == 1 and "kernel: 'debian:six' is no kernel of Debian" in answer.err


def test_the_lab_s_own_kernel_alone(one: One) -> None:
    """Where no kernel is chosen; it has two names."""
    named = one(top='kernel = "debian:6.12"')
    where = Uml()
    assert where.on(one()) is where and where.on(named) is where
    with pytest.raises(LabError, match=r"kernel = 'debian:6\.1': this is on the lab's own kernel"):
        where.on(one(top='kernel = "debian:6.1"'))
    # A kernel that is tried, of scenarios that name none.
    trial = Uml(replace(kernel.LAB, flags="-O3"))
    assert trial.on(one()) is trial


def test_a_module_is_the_same_on_all_kernels() -> None:
    first = given.Given("mine", ("mine",), {"a": "int"}, source="s", object="x")
    given.give([first])
    given.check_same([replace(first, source="t", object="y")], "the other")
    for other in (
        replace(first, names=("mine", "more")),
        replace(first, parameters={}),
        replace(first, written=("a",)),
    ):
        with pytest.raises(LabError, match="mine has other names or parameters on the other"):
            given.check_same([other], "the other")


def test_tables_say_which_kernel() -> None:
    """The name that was given, and what the kernel calls itself, where there are several."""
    first, second = run("foo"), run("foo")
    second["scenario"]["kernel"], second["kernel"] = "~/linux", "6.1.170-abc"
    assert report.label(first) == "foo" and report.label(second) == "foo on ~/linux"
    text = text_of(report.table([first, second]))
    assert "kernel" in text and "6.1.170-abc" in text and "foo on ~/linux" in text
    assert "kernel" not in text_of(report.table([first]))
    assert f"{first['kernel']}, 6.1.170-abc" in report.page([first, second], "t", "c")


MODULES = """\
all:
	for c in $(M)/*.c; do $(CC) $(KCFLAGS) -c -o $${c%.c}.ko $$c || exit 1; done
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> kernel.Kernel:
    """A kernel that is another one than the lab's, and is no more than what compiles modules."""
    there = tmp_path / "kernel"
    (there / "linux").mkdir(parents=True)
    (there / "linux/Makefile").write_text(MODULES)
    (there / "version").write_text("6.1.1-1\n")
    monkeypatch.setattr(kernel, "build", lambda what: there)
    return kernel.choose("debian:6.1")


@pytest.mark.usefixtures("quick")
def test_a_module_that_another_kernel_has_no_place_for(
    tree: Path,
    compiler: kernel.Kernel,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Keeps none of the others from it, and is said each time; with the lab's own all are built,
    without a warning."""
    (tree / "tcp_foo.c").write_text("int foo;\n")
    (tree / "tcp_odd.c").write_text("int odd = no_such;\n")
    (tree / "tcp_loud.c").write_text('#warning "loud"\n')
    modules.sources.cache_clear()

    def boot(run: Path, **_: object) -> int:
        (run / "controls").write_text("reno\n")
        return 0

    machine = Uml(compiler, "old")
    monkeypatch.setattr(machine, "boot_alone", boot)
    machine._kernel = kernel.build(compiler)
    machine._modules = machine._links = kernel.build_modules(compiler)
    found = sorted(path.name for path in machine._modules.glob("*.ko"))
    assert found == ["tcp_foo.ko", "tcp_loud.ko"]
    machine._offer()
    said = capsys.readouterr().err
    assert "old is without tcp_odd.ko: " in said and "no_such" in said and "loud" not in said
    assert Platform.here(compiler).modules["tcp_odd"].objects == ()
    (tree / "tcp_odd.c").unlink()
    modules.sources.cache_clear()
    with pytest.raises(LabError, match="building the modules failed"):
        kernel.build_modules(kernel.LAB)
    for path in tree.glob("tcp_*.c"):
        path.write_text("int odd = no_such;\n")
    with pytest.raises(LabError, match="building the modules failed"):
        kernel.build_modules(compiler)


@pytest.mark.usefixtures("quick")
def test_a_network_that_another_kernel_has_no_place_for(
    tmp_path: Path, compiler: kernel.Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that need no such module run; the others are told what the compiler said.  With the
    lab's own all are built."""
    guest = tmp_path / "lab/guest"
    guest.mkdir(parents=True)
    monkeypatch.setattr(tools, "GUEST", guest)
    monkeypatch.setattr(modules, "ROOT", tmp_path / "lab")
    texts = {"lflink": "int link = no_link;\n", "sch_lfack": "int ack = no_ack;\n"}
    for name in ("lflink", "sch_lfack", "sch_lfsync", "sch_lfvary"):
        (guest / f"{name}.c").write_text(texts.get(name, ""))
    (guest / "Kbuild").write_text("")
    machine = Uml(compiler, "old")
    machine._links = kernel.build_links(compiler)
    assert kernel.build_links(compiler) == machine._links
    for name in ("sch_lfsync.ko", "sch_lfvary.ko"):
        assert machine.link_file(name).exists()
    with pytest.raises(
        LabError, match=r"^sch_lfack\.ko, .* for old: (.*\n)*.*no_ack. undecl"
    ) as caught:
        machine.link_file("sch_lfack.ko")
    assert "no_link" not in str(caught.value)
    with pytest.raises(LabError, match=r"^lflink\.ko, .* for old; `pcap = true` takes .* router"):
        machine.link_file("lflink.ko")
    with pytest.raises(LabError, match="building the modules failed"):
        kernel.build_links(kernel.LAB)
