# SPDX-License-Identifier: GPL-2.0
"""Carrying out jobs: files that are whole, and nothing left behind.

The backend is one of our own that writes what a run leaves.
"""

from __future__ import annotations

import concurrent.futures
import io
import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import One
from rich.console import Console

from longfat.build import modules, tools
from longfat.core import process
from longfat.core.errors import LabError
from longfat.run import backends, identity, plan, result, runner
from longfat.run.scenario import Scenario

SAMPLES = (
    "o 5.000000000\nq 0 0 0 0 0 0 0\nf 0 0 10 9 1 1 0 0 0 0 0 0\n"
    "f 10 0 10 9 1 1 0 1000 0 0 0 0\nf 10 1 10 9 1 1 0 1000 0 0 0 0\nq 10 0 0 0 7 0 0\n"
)


class Fake(backends.Backend):
    """Ends at once, except for the seeds that it was told to wait or fail for."""

    name = "fake"
    exact = True

    def __init__(self) -> None:
        super().__init__()
        self.fail: set[int] = set()
        self.hang: set[int] = set()
        self.started: list[int] = []
        self.at_once = 0
        self.most = 0
        self.lock = threading.Lock()

    def _prepare(self, say: Callable[[str], None]) -> None:
        pass

    def kernel_of_modules(self) -> str:
        return "no kernel"

    def compile(self, place: Path) -> tuple[subprocess.CompletedProcess[str], str]:
        raise NotImplementedError

    def try_modules(self, run: Path, names: Sequence[str]) -> None:
        raise NotImplementedError

    def execute(
        self,
        run: Path,
        scenario: Scenario,
        seed: int,
        *,
        timeout: float,
        cancel: threading.Event = process.NEVER,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        with self.lock:
            self.started.append(seed)
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        try:
            while seed in self.hang:
                if cancel.wait(0.02):
                    raise LabError("cancelled")
            time.sleep(0.02)
        finally:
            with self.lock:
                self.at_once -= 1
        log = "WARNING: broken\n" if seed in self.fail else "fine\n"
        for name, text in (("samples", SAMPLES), ("log", log), ("kernel", "6\n"), ("status", "0")):
            (run / name).write_text(text)


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "lfgen").write_text("")
    monkeypatch.setattr(tools, "programs", lambda: programs)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    return Fake()


def run(jobs: list[runner.Job], backend: Fake, workers: int = 2) -> None:
    console = Console(file=io.StringIO())
    runner.run(jobs, backend, workers=workers, timeout=60, console=console)


def nothing_left(tmp_path: Path) -> bool:
    return not list((tmp_path / "scratch").iterdir()) and not any(
        thread.name.startswith("ThreadPool") for thread in threading.enumerate()
    )


def test_a_result_for_each_job(one: One, backend: Fake, tmp_path: Path) -> None:
    jobs = runner.jobs_for([one()], [1, 2, 3, 4, 5], tmp_path / "out")
    run(jobs, backend)
    assert sorted(backend.started) == [1, 2, 3, 4, 5]
    assert backend.most <= 2
    names = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert names == [f"one-s{seed}.json" for seed in range(1, 6)]
    for job in jobs:
        data = result.read(job.path)
        assert (data["seed"], data["backend"]) == (job.seed, "fake")
        assert (job.reached, job.packets) == (10, 7)
    assert nothing_left(tmp_path)


def test_a_failure_ends_the_others(one: One, backend: Fake, tmp_path: Path) -> None:
    backend.fail, backend.hang = {1}, {2, 3}
    jobs = runner.jobs_for([one()], [1, 2, 3, 4], tmp_path / "out")
    with pytest.raises(LabError, match=r"one, seed 1: the kernel complained") as caught:
        run(jobs, backend)
    assert not list((tmp_path / "out").glob("*.json")), "a failed run leaves no result"
    kept = tmp_path / "out/one-s1.failed"
    assert str(kept) in str(caught.value)
    assert (kept / "log").read_text() == "WARNING: broken\n"
    assert 4 not in backend.started, "what was not started is not started"
    assert nothing_left(tmp_path)


def test_the_others_go_on_where_they_are_to(one: One, backend: Fake, tmp_path: Path) -> None:
    """What failed is kept and told, in the order of the jobs; the others have results."""
    backend.fail = {1, 3}
    jobs = runner.jobs_for([one()], [1, 2, 3, 4], tmp_path / "out")
    console = Console(file=io.StringIO(), width=1000)
    failed = runner.run(jobs, backend, workers=2, timeout=60, console=console, keep_going=True)
    kept = [tmp_path / f"out/one-s{seed}.failed" for seed in (1, 3)]
    why = "the kernel complained during the run:"
    assert [failure.line for failure in failed] == [f"{path}: {why}" for path in kept]
    assert all((path / "log").read_text() == "WARNING: broken\n" for path in kept)
    results = sorted(path.name for path in (tmp_path / "out").glob("*.json"))
    assert results == ["one-s2.json", "one-s4.json"]
    assert "all it left" in console.file.getvalue()  # type: ignore[attr-defined]
    assert nothing_left(tmp_path)


@pytest.fixture
def failures(
    one: One, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[runner.Failure]]:
    """Carry out some seeds, of which `spoil` changes what a run leaves."""

    def carry_out(seeds: list[int], spoil: Callable[[Path, int], object]) -> list[runner.Failure]:
        real = Fake.execute

        def execute(self: Fake, run: Path, scenario: Scenario, seed: int, **more: Any) -> None:
            real(self, run, scenario, seed, **more)
            spoil(run, seed)

        monkeypatch.setattr(Fake, "execute", execute)
        jobs = runner.jobs_for([one()], seeds, tmp_path / "out")
        console = Console(file=io.StringIO(), width=1000)
        return runner.run(jobs, backend, workers=2, timeout=60, console=console, keep_going=True)

    return carry_out


def test_what_cannot_be_read_is_one_failure(
    failures: Callable[..., list[runner.Failure]], tmp_path: Path
) -> None:
    """Samples without a queue, or a version that is no text, fail their own run alone."""

    def spoil(run: Path, seed: int) -> None:
        if seed == 1:
            (run / "samples").write_text("o 5\n")
        if seed == 2:
            (run / "kernel").write_bytes(b"\xff")

    failed = failures([1, 2, 3], spoil)
    why = "what it left cannot be read: "
    assert failed[0].said.startswith(f"one, seed 1: {why}IndexError")
    assert failed[1].said.startswith(f"one, seed 2: {why}UnicodeDecodeError")
    assert (tmp_path / "out/one-s1.failed/samples").read_text() == "o 5\n"
    assert [path.name for path in (tmp_path / "out").glob("*.json")] == ["one-s3.json"]


def test_a_kernel_may_say_anything(
    failures: Callable[..., list[runner.Failure]], tmp_path: Path
) -> None:
    """A module that prints bytes which are no text is not told apart by them."""

    def spoil(run: Path, seed: int) -> None:
        (run / "log").write_bytes(b"\xff\xfe" + (b"WARNING: broken" if seed == 2 else b""))
        (run / "dmesg").write_bytes(b"\xff\n")

    (failed,) = failures([1, 2], spoil)
    assert failed.job.seed == 2 and "the kernel complained" in failed.said
    assert result.read(tmp_path / "out/one-s1.json")["log"] == ["\ufffd\ufffd"]


def test_packets_of_a_run_before_are_removed(one: One, backend: Fake, tmp_path: Path) -> None:
    """As soon as it is made without; those of other results stay."""
    out = tmp_path / "out"
    out.mkdir()
    before = ["one-s1-before", "one-s1-behind", "one-s1-s0", "one-s1-d"]
    others = ["one-s1-mine", "one-s2-before", "one-s1-s1-before", "one-s10-d"]
    for name in before + others:
        (out / f"{name}.pcapng").write_text("")
    run(runner.jobs_for([one()], [1], out), backend)
    assert {path.stem for path in out.glob("*.pcapng")} == {*others}


def test_interrupted(
    one: One, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.hang = {2, 3}
    jobs = runner.jobs_for([one()], [1, 2, 3, 4], tmp_path / "out")
    real = concurrent.futures.wait

    def wait(*args: object, **kwargs: object) -> object:
        if {2, 3} <= set(backend.started):
            raise KeyboardInterrupt
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr("longfat.run.runner.wait", wait)
    with pytest.raises(KeyboardInterrupt):
        run(jobs, backend)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["one-s1.json"]
    assert 4 not in backend.started
    assert nothing_left(tmp_path)


def test_what_a_run_is_given(one: One, backend: Fake, tmp_path: Path, tree: Path) -> None:
    scenario = one(cc='cc = "foo"', rest='[module.foo]\nbeta = 100\ngentle = false\nmode = "fixed"')
    made = plan.make(scenario, 1, prefix="lf", virtual=False)
    where = tmp_path / "run"
    where.mkdir()
    backends.fill(where, made, scenario, backend)
    assert (where / "setup.sh").read_text() == made.setup
    assert (where / "traffic").read_text() == made.traffic
    assert (where / "tcp_foo.conf").read_text().split() == ["beta=100", "gentle=0", "mode=fixed"]
    spaces = (where / "spaces").read_text().split()
    assert sorted(spaces) == ["lf-d", "lf-r", "lf-s0"]
    assert (where / "run.sh").stat().st_mode & 0o111
    assert not (where / "tracing").exists()


def test_a_result_is_known_by_what_was_built(
    one: One, backend: Fake, tmp_path: Path, tree: Path
) -> None:
    """An edit between building and the end of a run is not what was measured."""
    backend.prepare(lambda _: None)
    built = modules.bare_digest("tcp_foo")
    (tree / "tcp_foo.c").write_text((tree / "tcp_foo.c").read_text() + "int edited;\n")
    run(runner.jobs_for([one(cc='cc = "foo"')], [1], tmp_path), backend)
    (path,) = tmp_path.glob("*.json")
    found = json.loads(path.read_text())["identity"]
    assert found["modules"] == {"tcp_foo": built} and found["kernel"] == "6"
    edited = modules.bare_digest("tcp_foo")
    assert built != edited
    # Nor is a release another module.
    text = (tree / "tcp_foo.c").read_text()
    version = "#include <longfat/version.h>\nMODULE_VERSION(LF_VERSION);\n"
    (tree / "tcp_foo.c").write_text(version + text)
    assert modules.bare_digest("tcp_foo") == edited


@pytest.mark.parametrize(
    ("kbuild", "words"),
    [
        ("obj-m := tcp_bar.o\n", r"has no line for it: add `obj-m \+= tcp_foo.o`"),
        ("obj-m := tcp_foo.o\n", "though .*/Kbuild has it; the build's log is in"),
    ],
)
def test_a_module_that_was_not_built(
    one: One, backend: Fake, tmp_path: Path, tree: Path, kbuild: str, words: str
) -> None:
    """Such as one that was copied into the tree and not into Kbuild: said, not a traceback."""
    (tree / "Kbuild").write_text(kbuild)
    backend.module_files = lambda: tmp_path / "built"  # type: ignore[method-assign]
    with pytest.raises(LabError, match=rf"tcp_foo.ko was not built of .*/tcp_foo.c, .*{words}"):
        run(runner.jobs_for([one(cc='cc = "foo"')], [1], tmp_path), backend)


def test_names_of_one_module_share_its_parameters(
    one: One, backend: Fake, tmp_path: Path, tree: Path
) -> None:
    """A flow of one of its names does not undo what is set under another."""
    source = (tree / "tcp_foo.c").read_text()
    (tree / "tcp_foo.c").write_text(source + '\t.name\t\t= "foo-8",\n')
    modules.owners.cache_clear()
    scenario = one(cc='cc = "foo-8"', rest="[module.foo]\nbeta = 100")
    made = plan.make(scenario, 1, prefix="lf", virtual=False)
    backends.fill(tmp_path, made, scenario, backend)
    assert (tmp_path / "tcp_foo.conf").read_text().split() == ["beta=100"]


def test_a_module_of_no_flow_is_not_loaded(
    one: One, backend: Fake, tmp_path: Path, tree: Path
) -> None:
    """Though the file sets one of its parameters, for other runs: this one is the same without."""
    plain, told = one(), one(rest="[module.foo]\nbeta = 100")
    made = plan.make(told, 1, prefix="lf", virtual=False)
    backends.fill(tmp_path, made, told, backend)
    assert not list(tmp_path.glob("tcp_foo.*"))
    of = backend.platform.identity
    assert of(told, 1, backend.name) == of(plain, 1, backend.name)


def test_a_guest_has_memory_for_many_connections(one: One) -> None:
    """Half a megabyte for each at least; what few of them had is as it was."""
    few, many = one(flow="count = 300"), one(flow="count = 1000\nparallel = 4")
    assert identity.memory_for_connections(few) == 0
    assert 3700 / 2 < identity.memory_for_connections(many) < 4000


def test_tracing_is_asked_for(one: One, backend: Fake, tmp_path: Path) -> None:
    scenario = one(top="trace = true")
    backends.fill(tmp_path, plan.make(scenario, 1, prefix="lf", virtual=False), scenario, backend)
    assert (tmp_path / "tracing").exists()


def test_modules_of_short_flows_are_loaded_too(one: One, backend: Fake, tmp_path: Path) -> None:
    rest = '[[short]]\ncc = "foo"\nrtt = "1ms"\nper_second = 1.0\nmean_size = "1kB"'
    for name, scenario in (("with", one(rest=rest)), ("without", one())):
        where = tmp_path / name
        where.mkdir()
        backends.fill(where, plan.make(scenario, 1, prefix="lf", virtual=False), scenario, backend)
        assert (where / "tcp_foo.conf").exists() is (name == "with")


def test_one_that_stands_still(one: One, backend: Fake, tmp_path: Path) -> None:
    """It is given up; one that is only slow is not."""
    real = Fake.execute

    def execute(run: Path, *args: object, tick: Callable[[], None], **more: object) -> None:
        for step in range(40):
            if args[1] == 1:  # the seed
                (run / "progress").write_text(f"{step / 10}")
            tick()
            time.sleep(0.02)
        real(backend, run, *args, tick=tick, **more)  # type: ignore[arg-type]

    backend.execute = execute  # type: ignore[method-assign,assignment]
    jobs = runner.jobs_for([one()], [1, 2], tmp_path / "out")
    console = Console(file=io.StringIO(), width=1000)
    how = {"workers": 2, "timeout": 60.0, "console": console, "keep_going": True}
    (failed,) = runner.run(jobs, backend, stall=0.4, **how)  # type: ignore[arg-type]
    assert failed.job.seed == 2
    said = (
        "one, seed 2, given up: it hangs: 0.4 s have passed and nothing of the run, which is at 0 s"
    )
    assert failed.said == said
    assert jobs[0].path.exists()
