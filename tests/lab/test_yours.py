# SPDX-License-Identifier: GPL-2.0
"""`longfat run --module`: modules that are none of the tree's, as tests/yours has them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ends
from rich.console import Console

from longfat.build import given, modules
from longfat.core import cache
from longfat.core.errors import LabError
from longfat.run import result, runner, scenario
from longfat.run.backends import Uml
from longfat.run.result import Json

YOURS = Path(__file__).parents[1] / "yours"

PATH = """
title = "yours"
duration = "4s"
[link]
rate = "20mbit"
buffer = "1bdp"
"""
FLOWS = ("half", "half-2", "vintage", "loud", "own")
SETTINGS = """
[module.half]
beta = 700
most = "0,10"
note = "two words"
[module.own]
rate = 125000
"""
OURS = """
[[flow]]
cc = "{0}"
rtt = "40ms"
[[flow]]
cc = "reno"
rtt = "30ms"
[module.{0}]
slow_start = "classic"
"""


def kept() -> set[Path]:
    return set(cache.directory().glob("given-*"))


@pytest.fixture
def private() -> Iterator[Uml]:
    """A backend of its own: what it is given, others do not have, and nobody has after it."""
    before = kept()
    one = Uml()
    one.prepare(lambda _: None)
    yield one
    given.forget()
    for path in kept() - before:
        cache.remove(path)


@pytest.fixture
def yours(tmp_path: Path) -> Path:
    """The modules, which nobody has built before."""
    to = tmp_path / "yours"
    shutil.copytree(YOURS, to)
    for path in to.rglob("*.c"):
        path.write_text(f"{path.read_text()}/* {tmp_path} */\n")
    return to


def flow(name: str) -> str:
    return f'[[flow]]\ncc = "{name}"\nrtt = "20ms"\n'


def experiment(private: Uml, text: str, to: Path) -> Json:
    file = to.parent / "one.toml"
    file.write_text(text)
    (job,) = runner.jobs_for(scenario.load(file), None, to)
    runner.run([job], private, workers=1, timeout=300, console=Console(quiet=True))
    return result.read(job.path)


def test_what_is_out_there(
    private: Uml, yours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module of two names that its file does not have, a directory whose Makefile wants C99 and
    no warnings, a function that is not static, an option of its own: all in one run, with
    parameters of every kind."""
    said: list[str] = []
    files = ("pair.c", "vintage", "tcp_loud.c", "own-option.c")
    private.take([yours / name for name in files], said.append)
    one = experiment(private, PATH + "".join(map(flow, FLOWS)) + SETTINGS, tmp_path / "out")
    half, second, vintage, loud, own = one["flows"]
    assert [each["cc"] for each in one["flows"]] == list(FLOWS)
    assert sorted(one["identity"]["modules"]) == ["own_option", "pair", "tcp_loud", "tcp_vintage"]
    # What its init makes of a parameter, and one without a file.
    assert "pair: keeps 700, note is 'two words'" in one["log"]
    assert max(second["connections"][0]["cwnd"]) == 10 < max(half["connections"][0]["cwnd"])
    assert 0.8e6 < own["goodput_bps"] < 1e6
    assert min(vintage["goodput_bps"], loud["goodput_bps"]) > 1e6
    words = "\n".join(said)
    assert f"{yours}/tcp_loud.c:6:6: warning: no previous prototype" in words
    for line, flag in ((22, "strict-prototypes"), (24, "unused-variable"), (26, "date-time")):
        assert re.search(rf"{yours}/vintage/main\.c:{line}:\d+: warning: .*\[-W{flag}", words)
    assert "tcp_cubic.ko is left out" in words and "rename the file, and change .name" in words
    # What is kept needs no compiler, and what was said of it is said again, of where it is now.
    given.forget()
    said.clear()
    monkeypatch.setattr(private, "compile", None)
    yours = yours.rename(tmp_path / "moved")
    private.take([yours / name for name in files], said.append)
    assert set(FLOWS) <= set(given.owners())
    assert "\n".join(said) == words.replace(f"{tmp_path}/yours", str(yours))


# Of several names that a module registers, the first.
OF_MODULE = {module: cc for cc, module in sorted(modules.owners().items(), reverse=True)}


@pytest.mark.parametrize(("module", "cc"), sorted(OF_MODULE.items()))
def test_ours_is_the_same_to_the_byte(private: Uml, tmp_path: Path, module: str, cc: str) -> None:
    """Built with the tree or given by its path: the same result file."""
    text = f"trace = true{PATH}{OURS.format(cc)}"
    built = experiment(private, text, tmp_path / "built")
    assert built["flows"][0]["connections"][0]["events"]
    private.take([modules.sources()[module]], lambda _: None)
    experiment(private, text, tmp_path / "given")
    first, second = (tmp_path / where / "one-s1.json" for where in ("built", "given"))
    assert first.read_bytes() == second.read_bytes()
    assert built["identity"]["modules"][module] == given.known()[module].object


def test_an_option_of_its_own(private: Uml, tmp_path: Path) -> None:
    """A program sets it for its connection, by the module's hook in the place of setsockopt: the
    rate is that one, and neither the module's nor the link's."""
    private.take([YOURS / "own-option.c"], lambda _: None)
    asks = "ask own OWN_RATE 500000 1000000"
    got = ends(private, tmp_path, PATH + flow("own"), "rated.py", "take 1000000", asks)
    assert got == pytest.approx(500000, rel=0.1)


def test_a_warning_of_the_kernel_fails_the_run(private: Uml, tmp_path: Path) -> None:
    """With its log, from the run's begin."""
    private.take([YOURS / "warns.c"], lambda _: None)
    with pytest.raises(LabError, match="one, seed 1: the kernel complained") as caught:
        experiment(private, PATH + flow("warns"), tmp_path / "out")
    words = str(caught.value)
    assert "WARNING: CPU: 0 PID: 0 at warns.c:8 warns_cong_avoid" in words
    assert "a window of 21" in words and "Linux version" not in words
    assert not list((tmp_path / "out").glob("*.json"))


BROKEN = """\
#include <linux/module.h>
#include <net/tcp.h>
static void broken_cong_avoid(struct sock *sk, u32 ack) { }
static struct tcp_congestion_ops broken = { .cong_avoid = broken_cong_avoid };
MODULE_LICENSE("GPL");
"""
NONE = '#include <linux/module.h>\nMODULE_LICENSE("GPL");\n'


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("broken", BROKEN, r"cannot be built for .*\n.*broken\.c:4:59: error: init.* incompatible"),
        ("none", NONE, "is no congestion control:\nnone.ko: registers no congestion control"),
        (
            "dies",
            "",
            r"cannot be loaded: .* kernel died of it:\n(.*\n)*.*panic.* dies: there is no",
        ),
        ("refuses", "", r"cannot be loaded:\n.*No such device\n(.*\n)*.* this is not the hardware"),
    ],
)
def test_what_fails_is_told(private: Uml, tmp_path: Path, name: str, text: str, words: str) -> None:
    """In the compiler's or the kernel's words, and nothing of it is kept."""
    file = YOURS / f"{name}.c"
    if text:
        file = tmp_path / f"{name}.c"
        file.write_text(text)
    before = kept()
    with pytest.raises(LabError, match=rf"{name}\.c: {words}"):
        private.take([file], lambda _: None)
    assert kept() <= before and not list(cache.directory().glob(".given-*.partial"))
    assert not given.known()
