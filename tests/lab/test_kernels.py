# SPDX-License-Identifier: GPL-2.0
"""Runs on kernels that are not the lab's own.

A kernel takes minutes to be built, so these are run where it is in the cache, or by `make stress`.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import linux_tree
from rich.console import Console

from longfat.build import given, kernel
from longfat.run import result, runner, scenario
from longfat.run.kernels import Kernels
from longfat.run.result import Json

YOURS = Path(__file__).parents[1] / "yours"
OLD = "debian:6.1"
PATH = """
title = "kernels"
duration = "4s"
trace = true
[link]
rate = "20mbit"
buffer = "1bdp"
[[flow]]
cc = "ltcp"
rtt = "40ms"
[[flow]]
cc = "half"
rtt = "40ms"
[vary]
kernel = [{kernels}]
"""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    given.forget()
    kernel.offered().clear()
    kernel.choose.cache_clear()


def experiment(where: Path, *texts: str) -> list[Json]:
    """A run on each kernel, of a module of the tree and one that is none of it."""
    file = where / "k.toml"
    file.write_text(PATH.format(kernels=", ".join(f'"{text}"' for text in texts)))
    machines = Kernels(texts)
    machines.prepare(lambda _: None)
    machines.take([YOURS / "pair.c"], lambda _: None)
    jobs = runner.jobs_for(scenario.load(file), None, where / "out")
    runner.run(jobs, machines, workers=1, timeout=300, console=Console(quiet=True))
    return [result.read(job.path) for job in jobs]


def test_two_kernels_side_by_side(tmp_path: Path) -> None:
    """Each result says its own kernel; each has modules that were built for it; it repeats."""
    if not kernel.built(kernel.choose(OLD)) and not os.environ.get("LONGFAT_LONG"):
        pytest.skip(f"{OLD} is not in the cache: `longfat run --kernel {OLD}` builds it")
    ours, old = experiment(tmp_path, "", OLD)
    assert re.fullmatch(r"6\.12\.\d+", ours["kernel"])
    assert re.fullmatch(r"6\.1\.\d+", old["kernel"])
    assert ours["identity"]["kernel"].startswith(f"{ours['kernel']} ")
    assert old["identity"]["kernel"].startswith(f"{old['kernel']} ")
    assert ours["identity"]["plan"] == old["identity"]["plan"]
    assert sorted(ours["identity"]["modules"]) == sorted(old["identity"]["modules"])
    for one in (ours, old):
        assert [flow["cc"] for flow in one["flows"]] == ["ltcp", "half"]
        assert one["summary"]["utilisation"] > 0.7
        assert one["flows"][0]["connections"][0]["events"]
    given.forget()
    assert experiment(tmp_path, OLD)[0] == old


@pytest.mark.long
def test_a_tree_of_one_s_own(tmp_path: Path) -> None:
    """It runs and says which state of the tree it is; what is changed then is another kernel.  It
    stays in the cache: test_your_own.py has the same tree."""
    tree = linux_tree(tmp_path)
    head = subprocess.check_output(["git", "-C", tree, "rev-parse", "HEAD^{tree}"], text=True)
    (one,) = experiment(tmp_path, str(tree))
    assert re.fullmatch(rf"6\.1\.\d+-{head[:12]}", one["kernel"])
    first = kernel.choose(str(tree)).key
    assert kernel.choose(f"{tree}@HEAD").key == first
    with (tree / "net/ipv4/tcp_cong.c").open("a") as file:
        file.write("/* more */\n")
    kernel.choose.cache_clear()
    assert kernel.choose(str(tree)).key != first == kernel.choose(f"{tree}@HEAD").key
