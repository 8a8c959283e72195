# SPDX-License-Identifier: GPL-2.0
"""Experiments for tests: the virtual-time kernel, and one function to run scenarios."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import pytest
from rich.console import Console

from longfat.build import debian, kernel, modules
from longfat.machines import vm
from longfat.run import plan, result, runner, scenario
from longfat.run.backends import Uml, fill
from longfat.run.result import Json
from reporter import pytest_configure as pytest_configure

SCENARIOS = Path(__file__).parents[1] / "scenarios"
PUBLISHED = Path(__file__).parents[1] / "published"

# The smallest useful path: 20 Mbit/s, 40 ms, a buffer of one BDP.
SMALL = """
title = "test"
duration = "10s"
warmup = "2s"
[link]
rate = "20mbit"
buffer = "1bdp"
{link}
[[flow]]
cc = "{cc}"
rtt = "40ms"
{flow}
{more}
"""

# Room for windows of a few hundred packets, and for several losses.
FAST = """
title = "test"
duration = "40s"
warmup = "10s"
{top}
[link]
rate = "50mbit"
buffer = "0.5bdp"
{link}
[[flow]]
cc = "{cc}"
rtt = "60ms"
{flow}
{more}
"""

EMPTY = {"top": "", "link": "", "cc": "ltcp", "flow": "", "more": ""}

Experiment = Callable[..., list[Json]]


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What test_NAME.py has of an algorithm NAME is marked so; long ones are left out where
    `make check` has to end soon."""
    for item in items:
        if item.path.stem.replace("test_", "tcp_", 1) in modules.sources():
            item.add_marker("algorithm")
    if not os.environ.get("LONGFAT_LONG"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="long: make stress runs it"))


@pytest.fixture(autouse=True)
def kernel_is_built(request: pytest.FixtureRequest) -> None:
    """One of `make check` does not wait for the other kernel that it is on."""
    for mark in request.node.iter_markers("kernel"):
        (text,) = mark.args
        if not kernel.built(kernel.choose(text)) and not os.environ.get("LONGFAT_LONG"):
            pytest.skip(f"{text} is not in the cache: `longfat run --kernel {text}` builds it")


@pytest.fixture(scope="session")
def uml() -> Uml:
    backend = Uml()
    backend.prepare(lambda _: None)
    return backend


@pytest.fixture
def experiment(uml: Uml, tmp_path: Path) -> Experiment:
    """Run a scenario file, of its scenarios those that are named like `only`; or a text
    such as SMALL with its {parts} filled in."""

    def run(
        file: Path | None = None,
        *,
        only: str = "*",
        seeds: list[int] | None = None,
        out: str = "out",
        text: str = SMALL,
        **parts: str,
    ) -> list[Json]:
        if file is None:
            file = tmp_path / "small.toml"
            file.write_text(text.format(**EMPTY | parts))
        chosen = [one for one in scenario.load(file) if fnmatch(one.name, only)]
        assert chosen, f"{file} has nothing named like {only}"
        jobs = runner.jobs_for(chosen, seeds, tmp_path / out)
        cores = len(os.sched_getaffinity(0))
        runner.run(jobs, uml, workers=cores, timeout=600, console=Console(quiet=True))
        return [result.read(job.path) for job in jobs]

    return run


def ends(uml: Uml, path: Path, text: str, script: str, receiver: str, sender: str) -> float:
    """What `script` prints, which runs at the receiver and at the first sender of the scenario
    with these words.  The scenario's own flows are not started."""
    file = path / "one.toml"
    file.write_text(text)
    (one,) = scenario.load(file)
    run = path / "run"
    run.mkdir()
    shutil.copy(Path(__file__).with_name(script), run)
    main = (
        f"ip netns exec lf-d python3 {script} {receiver} >>said &\nsleep 1\n"
        f"ip netns exec lf-s0 python3 {script} {sender} >>said || exit\nwait\n"
    )
    fill(run, plan.make(one, 1, prefix="lf", virtual=True), one, uml, main=main)
    uml.execute(run, one, 1, timeout=120)
    assert (run / "status").read_text().strip() == "0", (run / "error").read_text()
    return float((run / "said").read_text())


def cwnd(one: Json) -> tuple[list[float], list[int]]:
    """(times, windows) of the only connection, from the warm-up on."""
    connection = one["flows"][0]["connections"][0]
    first = next(i for i, t in enumerate(connection["t"]) if t >= one["scenario"]["warmup"])
    return connection["t"][first:], connection["cwnd"][first:]


def decreases(window: list[int]) -> list[int]:
    """Where the window begins to fall, once for each loss event."""
    found: list[int] = []
    for i in range(1, len(window)):
        if window[i] < 0.97 * window[i - 1] and (not found or i - found[-1] > 10):
            found.append(i)
    return found


@pytest.fixture(scope="session")
def machine() -> None:
    """Virtual machines can be booted here."""
    try:
        vm.check()
    except vm.Unavailable as error:
        pytest.skip(str(error))


def linux_tree(where: Path) -> Path:
    """A Linux tree as somebody works on it: Debian's 6.1 in a git repository, where a line of
    tcp_cong.c is changed, and which has a congestion control that only it has."""
    of = kernel.choose("debian:6.1")
    version = debian.version(of.package, of.suite)  # asks for what there is, of an empty cache too
    debian.unpack(f"{of.package}={version}", of.suite, where / "package")
    (archive,) = (where / "package").rglob("linux-source-*.tar.xz")
    tree = where / "linux"
    tree.mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", tree, "--strip-components=1"], check=True)
    shutil.rmtree(where / "package")
    below = tree / "net/ipv4"
    begin = "static int __init tcp_congestion_default(void)\n{\n"
    bbr = "obj-$(CONFIG_TCP_CONG_BBR)"
    option = 'config TCP_CONG_ONLY\n\ttristate "only"\n\n'
    for name, line, text in (
        ("tcp_cong.c", begin, f'{begin}\tpr_info("a tree of my own\\n");\n'),
        ("Kconfig", "config TCP_CONG_BBR\n", f"{option}config TCP_CONG_BBR\n"),
        ("Makefile", bbr, f"{bbr.replace('BBR', 'ONLY')} += tcp_only.o\n{bbr}"),
    ):
        before = (below / name).read_text()
        assert line in before
        (below / name).write_text(before.replace(line, text, 1))
    reno = Path(__file__).parents[1] / "yours/vintage/tcp_cubic.c"
    (below / "tcp_only.c").write_text(reno.read_text().replace('"cubic"', '"only"'))
    git = ["git", "-C", str(tree), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-Af"], ["commit", "-qm", "mine"]):
        subprocess.run([*git, *words], check=True)
    return tree
