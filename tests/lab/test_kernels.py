# SPDX-License-Identifier: GPL-2.0
"""Runs on kernels that are not the lab's own.

A kernel takes minutes to be built, so these are run where it is in the cache, or by `make stress`.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import linux_tree
from rich.console import Console
from test_composite import MARKED as BESIDE

from longfat.build import given, kernel
from longfat.run import plan, result, runner, scenario
from longfat.run.backends import Uml, fill
from longfat.run.disciplines import DISCIPLINES
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
cc = "{cc}"
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


def experiment(where: Path, *texts: str, cc: str = "ltcp") -> list[Json]:
    """A run on each kernel, of a module of the tree, or of what the kernel has, and one that is
    none of it."""
    file = where / "k.toml"
    file.write_text(PATH.format(cc=cc, kernels=", ".join(f'"{text}"' for text in texts)))
    machines = Kernels(texts)
    machines.prepare(lambda _: None)
    machines.take([YOURS / "pair.c"], lambda _: None)
    jobs = runner.jobs_for(scenario.load(file), None, where / "out")
    runner.run(jobs, machines, workers=1, timeout=300, console=Console(quiet=True))
    return [result.read(job.path) for job in jobs]


@pytest.mark.kernel(OLD)
def test_two_kernels_side_by_side(tmp_path: Path) -> None:
    """Each result says its own kernel; each has modules that were built for it; it repeats."""
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


# --- what newer kernels have

NEW = "debian:7.2"
MARKED = """
title = "what a newer kernel has"
duration = "12s"
warmup = "2s"
kernel = "debian:7.2"
[link]
rate = "20mbit"
buffer = "10bdp"
ecn = true
{link}
[[flow]]
cc = "cubic"
rtt = "20ms"
[host]
sysctl = {{ "net.ipv4.tcp_ecn" = {ecn} }}
"""


@pytest.fixture
def newer() -> Uml:
    found = Uml(kernel.choose(NEW), NEW)
    found.prepare(lambda _: None)
    return found


def marked(uml: Uml, where: Path, link: str, ecn: int) -> tuple[Json, Json]:
    """A result, and what tc says at the end of the discipline."""
    where.mkdir()
    (where / "m.toml").write_text(MARKED.format(link=link, ecn=ecn))
    (one,) = scenario.load(where / "m.toml")
    made = plan.make(one, 1, prefix="lf", virtual=True)
    run = where / "run"
    run.mkdir()
    fill(run, made, one, uml, main=f"{made.main}tc -n lf-r -j -s qdisc show dev bottleneck >said\n")
    uml.execute(run, one, 1, timeout=120)
    found = result.make(one, 1, "uml", made, run)
    _, child = json.loads((run / "said").read_text())
    return found, child


# Each option, and what tc calls it and says of it: a binary fraction may be a little less.
DUALPI2 = {
    "target": ("30ms", "target", 30000),
    "tupdate": ("20ms", "tupdate", 20000),
    "alpha": (0.25, "alpha", 0.25),
    "beta": (2.5, "beta", 2.5),
    "coupling_factor": (3, "coupling", 3),
    "step_thresh": ("2ms", "step-thresh-us", 2000),
    "min_qlen_step": (7, "min-qlen-step", 7),
    "classic_protection": (20, "c-protection", 20),
    "memlimit": ("2MB", "memory-limit", 2000000),
    "drop": ("drop_enqueue", "drop-early", "drop-enqueue"),
    "overload": ("overflow", "drop-overload", "overflow"),
    "split_gso": (True, None, None),
}


@pytest.mark.kernel(NEW)
def test_dualpi2(newer: Uml, tmp_path: Path) -> None:
    """It has what it was told, by a tc of its own; and the queue is as long as it was told."""
    assert DUALPI2.keys() == DISCIPLINES["dualpi2"].options.keys()
    told = ", ".join(f"{key} = {json.dumps(value)}" for key, (value, *_) in DUALPI2.items())
    found, said = marked(newer, tmp_path / "a", f'aqm = "dualpi2"\naqm_options = {{ {told} }}', 1)
    assert said["kind"] == "dualpi2" and said["options"]["limit"] == 333
    for _, name, want in DUALPI2.values():
        if name and isinstance(want, str):
            assert said["options"][name] == want
        elif name:
            assert said["options"][name] == pytest.approx(want, abs=0.01, rel=1e-3)
    assert found["flows"][0]["ce_marks"] > 100 and found["summary"]["dropped"] == 0
    other, _ = marked(newer, tmp_path / "b", 'aqm = "dualpi2"', 1)
    # Its own target is 15 ms.
    delays = [one["summary"]["queue_delay_ms"]["mean"] for one in (other, found)]
    assert 10 < delays[0] < 18 and 22 < delays[1] < 36, delays


@pytest.mark.kernel(NEW)
def test_accurate_ecn_tells_of_each_mark(newer: Uml, tmp_path: Path) -> None:
    """The sender has counted as many as CoDel has marked, but for those on the way; by RFC 3168 it
    counts all that it hears of until it has answered."""
    link = 'aqm = "codel"'
    accurate, said = marked(newer, tmp_path / "a", link, 3)
    assert said["ecn_mark"] >= 10
    marks = accurate["flows"][0]["connections"][0]["ce_marks"][-1]
    assert marks == pytest.approx(said["ecn_mark"], abs=1)
    classic, said = marked(newer, tmp_path / "b", link, 1)
    assert classic["flows"][0]["connections"][0]["ce_marks"][-1] > 5 * said["ecn_mark"]


@pytest.mark.kernel(NEW)
def test_a_composite_has_its_share_by_counted_marks(newer: Uml, tmp_path: Path) -> None:
    """With accurate ECN each marked packet is one stream's, as a lost one: eight streams have half
    beside eight connections.  By RFC 3168 a mark is every stream's."""
    shares = []
    for ecn in (3, 1):
        text = BESIDE.replace("20mbit", "50mbit").replace("{n}", "8")
        file = tmp_path / f"marks-{ecn}.toml"
        file.write_text(f'kernel = "{NEW}"\n{text}[host.sysctl]\n"net.ipv4.tcp_ecn" = {ecn}\n')
        job = runner.Job(scenario.load(file)[0], 1, tmp_path / f"marks-{ecn}.json")
        runner.run([job], newer, workers=1, timeout=300, console=Console(quiet=True))
        ours, beside = (flow["goodput_bps"] for flow in result.read(job.path)["flows"])
        shares.append(ours / (ours + beside))
    assert shares[0] == pytest.approx(0.5, abs=0.04) and shares[1] < 0.42, shares


@pytest.mark.long
def test_a_tree_of_one_s_own(tmp_path: Path) -> None:
    """It runs and says which state of the tree it is; a congestion control that no other has is in
    it.  What is changed then is another kernel.  It stays in the cache: test_your_own.py has the
    same tree."""
    tree = linux_tree(tmp_path)
    head = subprocess.check_output(["git", "-C", tree, "rev-parse", "HEAD^{tree}"], text=True)
    (one,) = experiment(tmp_path, str(tree), cc="only")
    assert one["flows"][0]["cc"] == "only" and one["flows"][0]["goodput_bps"] > 1e6
    assert re.fullmatch(rf"6\.1\.\d+-{head[:12]}", one["kernel"])
    first = kernel.choose(str(tree)).key
    assert kernel.choose(f"{tree}@HEAD").key == first
    with (tree / "net/ipv4/tcp_cong.c").open("a") as file:
        file.write("/* more */\n")
    kernel.choose.cache_clear()
    assert kernel.choose(str(tree)).key != first == kernel.choose(f"{tree}@HEAD").key
