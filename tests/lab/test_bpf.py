# SPDX-License-Identifier: GPL-2.0
"""`longfat run --bpf`: congestion control in BPF, on Debian's own kernel."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from examples import examples
from longfat.build import debian, given
from longfat.build.modules import ROOT
from longfat.core import cache, process
from longfat.core.errors import LabError
from longfat.machines import suite
from longfat.run import result, runner, scenario
from longfat.run.backends import Counted

SOURCE = "linux-source-6.1"
SELFTESTS = "tools/testing/selftests/bpf"
CLANG = "clang --target=bpf -O2 -g -D__x86_64__ -I. -I/usr/include/x86_64-linux-gnu -c"

PATH = """
title = "in BPF"
duration = "4s"
[link]
rate = "20mbit"
buffer = "1bdp"
"""


@pytest.fixture
def counted(machine: None) -> Iterator[Counted]:
    one = Counted()
    one.prepare(lambda _: None)
    yield one
    given.forget()


def compiled(source: Path) -> Path:
    """The object of a .c file, by the compiler of the suite whose kernel takes it."""
    done = suite.run("bookworm", f"cd /c && {CLANG} {source.name}", binds=[(source.parent, "/c")])
    assert not done.returncode, done.stdout
    return source.with_suffix(".o")


def selftests() -> Path:
    """The kernel's own algorithms in BPF, and what they include, in one directory."""

    def make(to: Path) -> None:
        debian.unpack(f"{SOURCE}={version}", "bookworm", to)
        archive = next(to.rglob("*.tar.xz"))
        names = [f"*/{SELFTESTS}/{x}" for x in ("progs/bpf_cubic.c", "progs/bpf_dctcp.c")]
        names.append(f"*/{SELFTESTS}/bpf_tcp_helpers.h")
        done = process.call(["tar", "-xJf", str(archive), "-C", str(to), "--wildcards", *names])
        assert not done.returncode, done.stdout
        for found in [*to.rglob("bpf_*.[ch]")]:
            found.rename(to / found.name)
        for left in [x for x in to.iterdir() if x.is_dir()]:
            shutil.rmtree(left)

    version = debian.version(SOURCE, "bookworm")
    return cache.entry(f"bpf-selftests-{version}", make, ("bpf_cubic.c", "bpf_tcp_helpers.h"))


def run(machine: Counted, cc: list[str], to: Path) -> result.Json:
    file = to / "one.toml"
    file.write_text(PATH + "".join(f'[[flow]]\ncc = "{x}"\nrtt = "40ms"\n' for x in cc))
    (job,) = runner.jobs_for(scenario.load(file), None, to)
    runner.run([job], machine, workers=1, timeout=600, console=Console(quiet=True))
    return result.read(job.path)


def test_of_your_own(counted: Counted, tmp_path: Path) -> None:
    """The program of docs/your-own.md: the lab finds its name, which its file does not have, and
    the result names it by its content."""
    file = tmp_path / "mine.bpf.c"
    file.write_text(examples(ROOT / "docs/your-own.md")[file.name])
    thing = compiled(file)
    said: list[str] = []
    counted.take([], said.append, objects=[thing])
    assert given.owners() == {"mine_bpf": "mine.bpf"} and not said
    one = run(counted, ["mine_bpf"], tmp_path)
    assert one["flows"][0]["cc"] == "mine_bpf" and one["kernel"] == suite.kernel("bookworm")
    assert one["identity"]["modules"] == {"mine.bpf": cache.digest(thing)}
    assert one["summary"]["utilisation"] > 0.8
    assert counted.platform.knows(one, scenario.load(tmp_path / "one.toml")[0], 1)


@pytest.mark.long
def test_the_kernel_s_own(counted: Counted, tmp_path: Path) -> None:
    """bpf_cubic and bpf_dctcp of its selftests, which are in no tree of ours; the second has a
    struct besides that no kernel takes, and this is told."""
    for path in selftests().iterdir():
        shutil.copy(path, tmp_path)
    objects = [compiled(tmp_path / f"{name}.c") for name in ("bpf_cubic", "bpf_dctcp")]
    said: list[str] = []
    counted.take([], said.append, objects=objects)
    assert given.owners() == {name: f"{name}.bpf" for name in ("bpf_cubic", "bpf_dctcp")}
    (words,) = said
    assert "bpf_dctcp.o: not all of it is registered" in words and "dctcp_nouse" in words
    one = run(counted, ["bpf_cubic", "cubic"], tmp_path)
    theirs, ours = (flow["goodput_bps"] for flow in one["flows"])
    assert 0.5 < theirs / ours < 2  # the same algorithm, beside each other for four seconds
    assert list(one["identity"]["modules"]) == ["bpf_cubic.bpf"]


@pytest.mark.long
def test_what_the_kernel_refuses_is_told(counted: Counted, tmp_path: Path) -> None:
    """In the words of its verifier, and nothing of it is kept."""
    shutil.copy(ROOT / "tests/yours/refused.bpf.c", tmp_path)
    before = set(cache.directory().glob("given-*"))
    with pytest.raises(LabError, match="no write support to tcp_sock at off 0") as caught:
        counted.take([], lambda _: None, objects=[compiled(tmp_path / "refused.bpf.c")])
    assert f"{tmp_path}/refused.bpf.o: cannot be loaded" in str(caught.value)
    assert set(cache.directory().glob("given-*")) == before and not given.known()
