# SPDX-License-Identifier: GPL-2.0
"""Modules that are given by their path: what is built of them, and what scenarios may ask of
them.  tests/lab/test_yours.py builds and loads real ones."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from conftest import One, Toml
from test_runner import Fake, backend

from longfat.build import bpf, given, modules, tools
from longfat.build.given import Given
from longfat.core import process
from longfat.core.errors import LabError
from longfat.machines import vm
from longfat.run import backends, identity, loading, plan, scenario

__all__ = ["backend"]

PARAMETERS = {
    **{"beta": "int", "most": "array of uint", "gentle": "bool", "note": "charp"},
    **{"small": "byte", "own": "", "fixed": "", "which": "array of bool"},
    **{"paths": "array of charp"},
}


@pytest.fixture
def bar(tmp_path: Path, tree: Path) -> Iterator[Given]:
    """A module with two names that needs another one and one of the kernel's."""
    helper = Given("helper", (), {}, where=tmp_path)
    one = Given(
        *("bar_cc", ("bar", "bar-2"), PARAMETERS),
        written=("own",),
        needs=("helper", "tcp_diag"),
        source="s",
        object="o",
        where=tmp_path,
    )
    for each in (one, helper):
        each.file.write_text(each.module)
    given.give([one, helper])
    yield one
    given.forget()


# --- in BPF

STRUCT_OPS = 'int x __attribute__((section(".struct_ops"))) = 1;\n'
BTF = 'int y __attribute__((section(".BTF"))) = 1;\n'
EM_BPF = b"\xf7\0"


def thing(to: Path, text: str, machine: bytes = EM_BPF) -> Path:
    """An object file of a machine, with the sections of this text."""
    (to / "x.c").write_text(text)
    path = to / "foo.bpf.o"
    assert not process.call(["cc", "-c", "-o", str(path), str(to / "x.c")]).returncode
    data = bytearray(path.read_bytes())
    data[18:20] = machine or data[18:20]
    path.write_bytes(data)
    return path


def test_an_object_of_bpf_is_known_by_its_content(tmp_path: Path) -> None:
    one = bpf.collect(thing(tmp_path, STRUCT_OPS + BTF))
    assert list(one.files) == ["foo.bpf.o"] and one.bpf
    other = tmp_path / "bar.o"
    other.write_bytes(one.path.read_bytes())
    same = bpf.collect(other)
    assert list(same.files) == ["bar.bpf.o"] and same.bare_digest() == one.bare_digest()
    thing(tmp_path, STRUCT_OPS.replace("1", "2") + BTF)
    assert bpf.collect(one.path).bare_digest() != same.bare_digest()


@pytest.mark.parametrize(
    ("text", "machine", "words"),
    [
        (STRUCT_OPS + BTF, b"", "is an object file, but not of BPF: clang --target=bpf"),
        (BTF, EM_BPF, r"has no section .struct_ops or .struct_ops.link"),
        (STRUCT_OPS, EM_BPF, "has no BTF.*compile with -g"),
    ],
)
def test_what_is_no_algorithm_in_bpf(tmp_path: Path, text: str, machine: bytes, words: str) -> None:
    with pytest.raises(LabError, match=f"foo.bpf.o: {words}"):
        bpf.collect(thing(tmp_path, text, machine))


def test_an_object_with_a_name_that_scripts_would_break(tmp_path: Path) -> None:
    path = thing(tmp_path, STRUCT_OPS + BTF).rename(tmp_path / "my algo.bpf.o")
    with pytest.raises(LabError, match=r"my algo\.bpf\.o: a module's name has .*: rename it"):
        bpf.collect(path)


@pytest.mark.parametrize("name", ["nosuch.o", "x.bpf.c", "."])
def test_what_is_no_object(tmp_path: Path, name: str) -> None:
    (tmp_path / "x.bpf.c").write_text("int x;\n")
    with pytest.raises(LabError, match="clang --target=bpf -O2 -g -c makes one"):
        bpf.collect(tmp_path / name)


def test_a_run_registers_its_own_objects_alone(one: One, tmp_path: Path, tree: Path) -> None:
    """Before the network, in the run's script; it has no parameters and is no module."""
    for name in ("foo", "bar"):
        given.give([Given(f"{name}.bpf", (name, f"{name}-2"), {}, source="s", where=tmp_path)])
    try:
        text = one(cc='cc = "bar-2"')
        written = identity.files(plan.make(text, 1, prefix="lf", virtual=False), text)
        first, second = written["setup.sh"].splitlines()[:2]
        assert first == "sh ./register.sh ./bar.bpf.o bar bar-2 >/dev/null || exit"
        assert second == "set -e" and not [x for x in written if x.endswith(".conf")]
        assert given.known()["bar.bpf"].file == tmp_path / "bar.bpf.o"
        assert given.refusal("bar", "beta", 1) == "bar has no parameter 'beta'; valid: it has none"
    finally:
        given.forget()


@pytest.mark.parametrize("kind", [backends.Uml, backends.Host])
def test_backends_without_bpf_say_why(kind: type[backends.Backend], tmp_path: Path) -> None:
    with pytest.raises(LabError, match="--bpf: .*use --backend vm"):
        kind().take([], print, objects=[tmp_path])


# --- what is built


def test_a_file_and_what_it_includes(tmp_path: Path) -> None:
    """That is beside or below it; not what is elsewhere, nor the other files there."""
    (tmp_path / "sub").mkdir()
    texts = {
        "tcp-x.c": '#include <net/tcp.h>\n# include "a.h"\n#include "../up.h"\n#include "no.h"\n',
        "a.h": '#include "sub/b.h"\n#include "a.h"\n',
        "sub/b.h": "",
        "other.c": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = given.collect(tmp_path / "tcp-x.c")
    assert sorted(found.files) == ["a.h", "sub/b.h", "tcp-x.c"]
    assert found.kbuild == "obj-m := tcp-x.o\n"
    found.copy(tmp_path / "copy")
    copied = {str(x.relative_to(tmp_path / "copy")) for x in (tmp_path / "copy").rglob("*.*")}
    assert copied == {"a.h", "sub/b.h", "tcp-x.c"}
    assert (tmp_path / "copy/Kbuild").read_text() == found.kbuild + given.CALM


def test_our_headers_are_there_for_who_includes_them(tmp_path: Path, tree: Path) -> None:
    (tmp_path / "x.c").write_text("#include <longfat/growth.h>\n")
    found = given.collect(tmp_path / "x.c")
    assert sorted(found.files) == ["include/longfat/growth.h", "x.c"]
    assert "-I$(src)/include $(lf-probes-y)" in found.kbuild


def test_a_directory_without_what_a_build_left(tmp_path: Path) -> None:
    names = "Makefile a.c data/table.txt a.o a.ko a.mod a.mod.c .a.o.cmd modules.order"
    for name in [*names.split(), "Module.symvers", ".git/config", "__pycache__/x"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")
    found = given.collect(tmp_path)
    assert sorted(found.files) == ["Makefile", "a.c", "data/table.txt"]
    assert found.kbuild == ""


def test_its_makefile_is_used_as_it_is(tmp_path: Path) -> None:
    """All that it sets is set; what the lab adds comes behind it, in the copy."""
    made = tmp_path / "x/Makefile"
    made.parent.mkdir()
    made.write_text("obj-m := x.o\nCFLAGS_MODULE += -Werror -DOWN")  # no newline
    made.chmod(0o444)
    given.collect(made.parent).copy(tmp_path / "copy")
    words = given.command("headers", str(tmp_path / "copy"))
    assert not [word for word in words if word.startswith("CFLAGS_MODULE")]
    copied = tmp_path / "copy/Makefile"
    with copied.open("a") as file:
        file.write("cc-option = $(1)\nall:\n\t@echo $(CFLAGS_MODULE)\n")
    said = process.call(["make", "-s", "-C", str(copied.parent), "all"]).stdout.split()
    assert said[:3] == ["-Werror", "-DOWN", "-Wno-error"] and len(said) > 3
    assert made.read_text().splitlines()[-1] == "CFLAGS_MODULE += -Werror -DOWN"


def test_what_is_kept_is_known_by_the_content(tmp_path: Path) -> None:
    """And by the kernel, whatever the directory is called; for what was compiled elsewhere the
    comments do not count."""
    digests = []
    for where, text in (("a", "int x;"), ("b", "int x; /* why */"), ("c", "int x;")):
        (tmp_path / where).mkdir()
        (tmp_path / where / "x.c").write_text(text)
        found = given.collect(tmp_path / where / "x.c")
        digests.append((found.digest("6.1"), found.bare_digest(), found.digest("6.2")))
    assert digests[0] == digests[2] and digests[0][1] == digests[1][1]
    assert len({digests[0][0], digests[1][0], digests[0][2]}) == 3


def test_a_makefile_is_part_of_what_a_module_is(tmp_path: Path) -> None:
    """Its flags decide what the code does."""
    found = set()
    for number, flag in enumerate(("-DBETA=512", "-DBETA=700")):
        where = tmp_path / str(number)
        where.mkdir()
        (where / "x.c").write_text("int x = BETA;")
        (where / "Makefile").write_text(f"obj-m := x.o\nccflags-y := {flag}\n")
        found.add(given.collect(where).bare_digest())
    assert len(found) == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nosuch.c", "there is no such file"),
        ("tcp_x.ko", "is no module's source.* give its source"),
        ("notes.txt", "is no module's source"),
        ("tcp x.c", "a module's name .*: rename it"),
        ("empty", "has no Kbuild and no Makefile: .*there is none"),
        ("bare", r"has no Kbuild and no Makefile: .*there is one.c, two.c"),
    ],
)
def test_what_cannot_be_built(tmp_path: Path, name: str, words: str) -> None:
    for made in ("tcp_x.ko", "notes.txt", "tcp x.c", "empty/.x", "bare/one.c", "bare/two.c"):
        (tmp_path / made).parent.mkdir(exist_ok=True)
        (tmp_path / made).write_text("")
    (tmp_path / "bare/one.mod.c").write_text("")
    with pytest.raises(LabError, match=f"{name}: {words}"):
        given.collect(tmp_path / name)


def test_two_modules_of_one_name(tmp_path: Path) -> None:
    """One would be copied over the other; to the kernel - and _ are the same."""
    source = given.Source(tmp_path, {})
    for name in ("a/my-cc.ko", "b/other.ko"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("")
    assert len(given.objects_in(tmp_path, source, "6.1")) == 2
    (tmp_path / "b/my_cc.ko").write_text("")
    with pytest.raises(LabError, match="two modules are called my_cc: a/my-cc.ko and b/my_cc.ko"):
        given.objects_in(tmp_path, source, "6.1")


def test_a_whole_disk_is_no_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "MOST_BYTES", 1 << 20)
    (tmp_path / "Makefile").write_text("")
    with (tmp_path / "big").open("wb") as file:
        file.truncate(2 << 20)
    with pytest.raises(LabError, match="holds more than 1 MB"):
        given.collect(tmp_path)


def test_the_compiler_s_words_are_of_the_file_that_was_given() -> None:
    said = (
        "make: Entering directory '/k'\n  CC [M]  /tmp/p/x.o\n/tmp/p/x.c:3:1: error: no\n"
        "    3 | nonsense\n\nmake[1]: Leaving directory '/k'\n"
    )
    words = given.words(said, "/tmp/p")
    assert given.placed(words, Path("my/x.c")) == "my/x.c:3:1: error: no\n    3 | nonsense"
    assert given.placed(words, Path("x.c")).startswith("x.c:3:1: error: no\n")


# --- what was loaded


def found_by(
    tmp_path: Path, script: Callable[[Path], None], *names: str, lasting: bool = False
) -> tuple[list[Given], list[str]]:
    """What is made of a load in which guest/load.sh is `script`."""
    built = tmp_path / "built"
    built.mkdir()
    object_file = next(tools.programs().glob("getrandom.so"))
    for name in names:
        (built / f"{name}.ko").write_bytes(object_file.read_bytes())
    (tmp_path / "x.c").write_text("")
    said: list[str] = []

    def try_modules(run: Path, tried: Sequence[str]) -> None:
        assert sorted(tried) == sorted(names)
        script(run)

    source = given.collect(tmp_path / "x.c")
    found = loading.find(
        source, built, tmp_path / "load", try_modules, said.append, lasting=lasting
    )
    return found, said


def test_what_a_load_tells(tmp_path: Path) -> None:
    """Names, and the files of parameters that modinfo does not name."""

    def script(run: Path) -> None:
        (run / "found").write_text(
            "cc one a\ncc one a-2\nparameter one own 644\nparameter one fixed 444\nfailed two\n"
        )
        (run / "two.log").write_text(f"insmod: {run}/two.ko\nTCP: cubic already registered\n")

    (one,), (said,) = found_by(tmp_path, script, "one", "two")
    assert (one.names, one.written) == (("a", "a-2"), ("own",))
    assert one.parameters == {"own": "", "fixed": ""}
    assert "two.ko is left out" in said and "insmod: two.ko" in said
    # What the next refusal would be is said at once.
    assert "rename the file, and change .name" in said
    given.write_found([one], [said], tmp_path)
    assert given.read_found(tmp_path) == ([one], [said])


def test_what_was_said_is_said_again(
    backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the files as they are given then; nothing is built again.  What fails is not kept."""
    said: list[str] = []
    built: list[given.Source] = []
    warning = given.words("/tmp/p/x.c:1:1: warning: no", "/tmp/p")

    def make(source: given.Source, to: Path, say: Callable[[str], None]) -> list[Given]:
        built.append(source)
        say(warning)
        say("two.ko is left out")
        if len(built) == 1:
            raise LabError("it is none")
        return []

    monkeypatch.setattr(backend, "_make_module", make)
    for where in ("first", "first", "second"):
        (tmp_path / where).mkdir(exist_ok=True)
        file = tmp_path / where / "x.c"
        file.write_text(f"/* {tmp_path} */\n")
        said.clear()
        with suppress(LabError):
            backend.take([file], said.append)
        assert said == [f"{file}: {file}:1:1: warning: no", f"{file}: two.ko is left out"]
    assert len(built) == 2


def test_a_module_that_is_none(tmp_path: Path) -> None:
    def script(run: Path) -> None:
        (run / "found").write_text("failed one\n")
        (run / "one.log").write_text("No such device\n")

    words = r"x\.c: cannot be loaded:\none\.ko: No such device\ntwo\.ko: registers no congestion"
    with pytest.raises(LabError, match=words):
        found_by(tmp_path, script, "one", "two")


@pytest.mark.parametrize("lasting", [True, False])
def test_a_module_that_cannot_be_removed(tmp_path: Path, lasting: bool) -> None:
    """That matters where the kernel is the machine's own."""

    def script(run: Path) -> None:
        (run / "found").write_text("cc one a\nstays one\n")
        (run / "one.stays").write_text("rmmod: busy\n")

    words = r"x\.c: stays in this kernel until the machine is started .*:\none\.ko: rmmod: busy$"
    with pytest.raises(LabError, match=words) if lasting else nullcontext():
        found_by(tmp_path, script, "one", lasting=lasting)
    assert backends.Host.lasting and not backends.Uml.lasting and not backends.Vm.lasting


def test_a_kernel_that_complains(tmp_path: Path) -> None:
    def script(run: Path) -> None:
        (run / "found").write_text("cc one a\n")
        (run / "log").write_text("WARNING: CPU: 0\n")

    with pytest.raises(LabError, match="x.c: the kernel complained when it was loaded:\nWARNING"):
        found_by(tmp_path, script, "one")


def test_what_others_need_is_loaded_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = {"a": ("c", "tcp_diag"), "b": (), "c": ("b", "a")}
    monkeypatch.setattr(given, "information", lambda file: ({}, needs[file.stem]))
    files = [tmp_path / f"{name}.ko" for name in "abc"]
    assert [file.stem for file in given.in_order(files)] == ["b", "c", "a"]


# --- what scenarios may ask


def test_its_names_are_known(bar: Given, one: One) -> None:
    for name in bar.names:
        assert identity.loaded(one(cc=f'cc = "{name}"')) == ["bar_cc", "helper"]
    with pytest.raises(LabError, match=r"no congestion control 'baz'; valid: bar, bar-2, bbr"):
        one(cc='cc = "baz"')


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("beta = 2147483648", "modinfo says that it is int, -2147483648 to 2147483647"),
        ("beta = true", "modinfo says that it is int"),
        ('beta = "x"', "modinfo says that it is int"),
        ("small = 256", "modinfo says that it is byte, 0 to 255"),
        ('gentle = "yes"', "modinfo says that it is bool"),
        ("note = 3", "modinfo says that it is charp"),
        ('note = "a\\nb"', "no quotes and is one line"),
        ("note = 'a\"b'", "no quotes and is one line"),
        ('most = "1,-1"', "modinfo says that it is array of uint, such as"),
        ('most = "1,x"', "modinfo says that it is array of uint"),
        ('which = "1,2"', 'modinfo says that it is array of bool, such as "1,0"'),
        ('which = "Y,maybe"', "modinfo says that it is array of bool"),
        ("paths = 1", 'modinfo says that it is array of charp, such as "a,b"'),
        ("gamma = 1", "bar has no parameter 'gamma'; valid: beta, fixed, gentle"),
    ],
)
def test_a_parameter_is_checked(bar: Given, one: One, setting: str, words: str) -> None:
    with pytest.raises(LabError, match=words):
        one(cc='cc = "bar"', rest=f"[module.bar]\n{setting}")


@pytest.mark.parametrize(
    "setting", ['which = "1,0"', 'which = "Y,off"', "which = true", 'paths = "1,2"', "most = 1"]
)
def test_a_list_is_of_what_the_array_is_of(bar: Given, one: One, setting: str) -> None:
    one(cc='cc = "bar"', rest=f"[module.bar]\n{setting}")


def test_what_a_run_of_it_is_given(bar: Given, one: One, backend: Fake, tmp_path: Path) -> None:
    """Plain variables are for the load, and what its own setter takes is written; what it needs
    comes first."""
    told = one(
        cc='cc = "bar-2"',
        rest='[module.bar]\nbeta = 3\ngentle = true\nnote = "two words"\nmost = "0,0x10"\n'
        "own = 4\n[module.bar-2]\nfixed = 5\nsmall = 7",
    )
    run = tmp_path / "run"
    run.mkdir()
    backends.fill(run, plan.make(told, 1, prefix="lf", virtual=False), told, backend)
    assert (run / "bar_cc.conf").read_text() == "own=4\n"
    assert (run / "helper.conf").read_text() == "\n"
    assert {path.name for path in run.glob("*.ko")} == {"bar_cc.ko", "helper.ko"}
    script = run / "bin/insmod"
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    text = script.read_text()
    words = "beta=3 gentle=1 'note=\"two words\"' most=0,0x10 fixed=5 small=7"
    assert f'set -- "$1" {words}\n' in text
    needed = (
        "[ -e /sys/module/helper ] || insmod ./helper.ko || exit\n\tmodprobe tcp_diag || exit\n"
    )
    assert needed in text
    assert backend.platform.having({}).identity(told, 1, "vm")["modules"] == {}


def test_a_run_without_it_is_as_ever(bar: Given, one: One, backend: Fake, tmp_path: Path) -> None:
    told = one(cc='cc = "foo"', rest="[module.bar]\nbeta = 3")
    backends.fill(tmp_path, plan.make(told, 1, prefix="lf", virtual=False), told, backend)
    assert not list((tmp_path / "bin").glob("insmod"))
    assert not list(tmp_path.glob("bar*.conf"))


def test_one_in_the_place_of_the_tree_s(tree: Path, one: One, tmp_path: Path) -> None:
    """Its plan is that of the tree's, so results are the same."""
    rest = "[module.foo]\nbeta = 100\ngentle = false"
    ours = one(cc='cc = "foo"', rest=rest)
    before = identity.plan_digest(ours, 1, virtual=True)
    own = dict.fromkeys(("beta", "gentle", "mode"), "")
    found = Given("tcp_foo", ("foo",), own, tuple(own), where=tmp_path)
    try:
        given.give([found])
        assert identity.plan_digest(one(cc='cc = "foo"', rest=rest), 1, virtual=True) == before
        given.forget()
        given.give([Given("tcp_foo", ("other",), {}, where=tmp_path)])
        with pytest.raises(LabError, match="no congestion control 'foo'"):
            one(cc='cc = "foo"')
    finally:
        given.forget()


def test_two_that_are_called_alike(bar: Given, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="two modules are called bar_cc: rename a file"):
        given.give([Given("bar_cc", ("x",), {}, where=tmp_path)])
    with pytest.raises(LabError, match="both bar_cc and other register 'bar-2'"):
        given.give([Given("other", ("bar-2",), {}, where=tmp_path)])


def test_a_scenario_is_checked_before_anything_is_built(
    tree: Path, tmp_path: Path, toml: Toml
) -> None:
    """But for the names that are to come."""
    path = tmp_path / "one.toml"
    with given.awaited():
        path.write_text(toml(cc='cc = "new"', rest="[module.new]\nbeta = 3"))
        scenario.load(path)
        # A changed copy of the tree's may have more parameters.
        path.write_text(toml(cc='cc = "foo"', rest="[module.foo]\nmore = 3"))
        scenario.load(path)
        for wrong in (toml(cc='cc = "new"', link="los = 1"), toml(cc='cc = "a name of its own"')):
            path.write_text(wrong)
            with pytest.raises(LabError):
                scenario.load(path)
    path.write_text(toml(cc='cc = "new"'))
    with pytest.raises(LabError, match="no congestion control 'new'"):
        scenario.load(path)
    assert "new" not in modules.algorithms()


# --- on this machine


# What was removed, in this order; and by what the kernel's own are in use.
Loaded = tuple[list[str], dict[str, str]]


class Release(NamedTuple):
    release: str


def test_a_host_refuses_what_is_loaded_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be another module of that name; nothing is loaded, and nothing removed."""
    loaded = next(Path("/sys/module").iterdir()).name
    called: list[list[str]] = []
    monkeypatch.setattr(process, "run", lambda command, **_: called.append(command))
    with pytest.raises(LabError, match=rf"{loaded} is loaded into this kernel already: .*rmmod"):
        backends.Host().try_modules(tmp_path, ["nosuch", loaded])
    assert not called
    backends.Host().try_modules(tmp_path, ["nosuch"])
    assert called == [["sh", f"{tmp_path}/load.sh", str(tmp_path), "nosuch"]]


@pytest.mark.parametrize(("asked", "given_"), [(3600, 120), (60, 60)])
def test_a_load_does_not_take_as_long_as_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: float, given_: float
) -> None:
    """An init that does not end is told before an hour is over; a machine has its boot besides."""
    seen: list[object] = []
    for place in (process, vm):
        monkeypatch.setattr(place, "run", lambda *_, **options: seen.append(options["timeout"]))
    for machine in (backends.Host(), backends.Vm()):
        machine.take([], print, timeout=asked)
        machine.try_modules(tmp_path, ["nosuch"])
    assert seen == [given_, given_ + backends.BOOTS]


def test_a_host_without_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "need", lambda *_: None)
    monkeypatch.setattr("os.uname", lambda: Release("9.9-nosuch"))
    with pytest.raises(LabError, match=r"/lib/modules/9\.9-nosuch/build is missing.*headers"):
        backends.Host().compile(tmp_path)


# What modprobe says that two of the kernel's modules need; `there` was loaded before.
SHOWN = {
    "tcp_diag": "insmod /lib/modules/6.1/there.ko\ninsmod /lib/modules/6.1/inet-diag.ko.xz\n"
    "insmod /lib/modules/6.1/tcp_diag.ko.xz\n",
    "udp_diag": "builtin other\ninsmod /lib/modules/6.1/inet-diag.ko.xz\n"
    "insmod /lib/modules/6.1/udp_diag.ko x=1\n",
}


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loaded:
    """A kernel that something loads into before it fails, and says what is removed."""
    there = tmp_path / "module"
    (there / "there").mkdir(parents=True)
    removed: list[str] = []
    in_use = {"udp_diag": "udp_diag", "inet_diag": "udp_diag"}  # by whom

    def call(command: list[str], **_: object) -> SimpleNamespace:
        if command[0] == "modprobe":
            return SimpleNamespace(returncode=0, stdout=SHOWN[command[2]])
        name = command[1]
        removed.append(name)
        # A connection that has ended holds what registers a name for a moment.
        busy = removed.count(name) == 1 if "diag" not in name else name in in_use
        if not busy:
            (there / name).rmdir()
        return SimpleNamespace(returncode=int(busy), stdout="in use")

    def run(*_: object, **__: object) -> int:
        for name in ("bar_cc", "helper", "inet_diag", "tcp_diag", "udp_diag"):
            (there / name).mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(backends, "MODULES", there)
    monkeypatch.setattr(process, "call", call)
    monkeypatch.setattr(process, "run", run)
    monkeypatch.setattr("time.sleep", lambda _: None)
    return removed, in_use


def test_a_host_removes_what_it_loaded(
    bar: Given, one: One, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: Loaded
) -> None:
    """Also when the run is interrupted; of two the one that needs the other first, and again while
    a connection still holds one.  What came of the kernel's own goes, too."""
    removed, in_use = loaded
    in_use.clear()
    needs = {"bar_cc": ("helper",), "helper": ()}
    monkeypatch.setattr(given, "information", lambda file: ({}, needs[file.stem]))
    with pytest.raises(KeyboardInterrupt):
        backends.Host().execute(tmp_path, one(cc='cc = "bar"'), 1, timeout=9)
    assert removed == ["bar_cc", "bar_cc", "helper", "helper", "tcp_diag", "inet_diag"]
    assert sorted(x.name for x in backends.MODULES.iterdir()) == ["there", "udp_diag"]


def test_a_host_removes_what_it_tried(tmp_path: Path, loaded: Loaded) -> None:
    """If that was interrupted, after which load.sh removes nothing; what is used by now stays."""
    removed, _ = loaded
    (tmp_path / "bar_cc.needs").write_text("tcp_diag udp_diag\n")
    with pytest.raises(KeyboardInterrupt):
        backends.Host().try_modules(tmp_path, ["helper", "bar_cc"])
    ours = ["bar_cc", "bar_cc", "helper", "helper"]
    assert removed == [*ours, "udp_diag", "tcp_diag", "inet_diag"]
    assert sorted(x.name for x in backends.MODULES.iterdir()) == ["inet_diag", "there", "udp_diag"]


def test_a_failed_run_in_a_machine_has_its_kernel_s_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tree: Path
) -> None:
    """Of a run that went well, the run's own log is enough."""

    def run(command: str, **options: object) -> SimpleNamespace:
        return SimpleNamespace(stdout="insmod: no\n", dmesg="x: not here\n", accelerator="tcg")

    monkeypatch.setattr(vm, "run", run)
    backends.Vm().boot(tmp_path)
    assert not (tmp_path / "dmesg").exists()
    (tmp_path / "error").write_text("x.ko cannot be loaded\n")
    backends.Vm().boot(tmp_path)
    assert (tmp_path / "dmesg").read_text() == "x: not here\n"
