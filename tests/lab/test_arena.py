# SPDX-License-Identifier: GPL-2.0
"""`longfat evaluate` for real: a criterion of each family, and algorithms that do not survive."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from rich.console import Console
from test_bpf import compiled, counted
from test_yours import YOURS, private

from examples import examples
from longfat.arena import carry, cost, keep, pages, plan, score
from longfat.arena.score import Mark, Scores
from longfat.build.modules import ROOT
from longfat.core import cache
from longfat.run import result
from longfat.run.backends import Backend, Counted, Uml

__all__ = ["counted", "private"]

# Of each family the cheapest: the RFC's, the suite's, nsperf's, and who gets what.
FAMILIES = ["7.7", "tcpeval-4.4.6", "nsperf-coexistence", "pairs"]
TWICE = ["7.7", "tcpeval-4.4.6"]
OUTSIDE = ["7.7", "nsperf-coexistence", "tcpeval-4.4.6"]
# What all of a profile may take on two cores, seconds.
WHOLE = {"smoke": 600, "standard": 7200}
CORES, WORKERS = len(os.sched_getaffinity(0)), 2

# Reno that in its first loss does what its name says.
BROKEN = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <net/tcp.h>

static u32 broken_ssthresh(struct sock *sk)
{{
	{what}
	return tcp_reno_ssthresh(sk);
}}

static struct tcp_congestion_ops broken __read_mostly = {{
	.ssthresh	= broken_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= tcp_reno_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "{name}",
}};

static int __init broken_register(void)
{{
	return tcp_register_congestion_control(&broken);
}}

static void __exit broken_unregister(void)
{{
	tcp_unregister_congestion_control(&broken);
}}

module_init(broken_register);
module_exit(broken_unregister);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("fails on purpose");
"""
WHAT = {
    "crashes": "*(int *)8 = 1;",
    "hangs": "for (;;) barrier();",
    "divides": "tcp_sk(sk)->snd_ssthresh /= (u32)jiffies & 0;",
}


@pytest.fixture(scope="module")
def backend() -> Iterator[Uml]:
    one = Uml()
    one.prepare(lambda _: None)
    yield one


def carry_out(of: plan.Evaluation, out: Path, where: Backend, stall: float = 300) -> Scores:
    plan.write_scenarios(of, out)
    console = Console(file=io.StringIO())
    left = carry.left(of, out, where)
    carry.carry_out(left, out, where, workers=WORKERS, console=console, stall=stall)
    return score.score(of, out)


def nothing_failed(scores: Scores) -> None:
    for (name, place, cc), cell in scores.cells.items():
        assert not cell.failed and not cell.missing, (name, place, cc)


def small_enough(of: plan.Evaluation, out: Path) -> int:
    """All of `standard` is to have at most 100 MB, with a card for each that it is of.  Returns how
    many bytes there are."""
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    standard = plan.evaluation(["reno"], [], "standard")
    assert size / len(of.runs) < 100e6 / len(standard.runs)
    return size


def test_one_of_each_family(backend: Uml, tmp_path: Path) -> None:
    """Every number is there, and the same bytes come again."""
    of = plan.evaluation(["reno"], ["cubic"], "smoke", only=FAMILIES)
    scores = carry_out(of, tmp_path / "one", backend)
    nothing_failed(scores)
    for (name, _, cc), cell in scores.cells.items():
        assert cell.value is not None or not cell.points, (name, cell.number.name, cc)
    assert carry.left(of, tmp_path / "one", backend) == []
    pages.write(scores, tmp_path / "one")
    small_enough(of, tmp_path / "one")
    by_id = {one.id: one for one in of.criteria}
    reno, _ = of.all
    # A deep buffer is CUBIC's, whoever begins.
    share = scores.cell(by_id["nsperf-coexistence"], 1, reno).by_path()
    deep = [share[f"from {start}, 4bdp"] for start in ("0s", "4s")]
    assert all(x is not None and x < 50 for x in deep)
    again = plan.evaluation(["reno"], ["cubic"], "smoke", only=TWICE)
    carry_out(again, tmp_path / "two", backend)
    for run in again.runs:
        was, now = (carry.file_of(run, tmp_path / x).read_bytes() for x in ("one", "two"))
        assert was == now, run.name


def test_algorithms_that_do_not_survive(private: Uml, tmp_path: Path) -> None:
    """Their cells say so, with the kernel's words; the others go on."""
    paths = []
    for name, what in WHAT.items():
        path = tmp_path / f"tcp_{name}.c"
        path.write_text(BROKEN.format(what=what, name=name))
        paths.append(path)
    private.take(paths, lambda _: None)
    of = plan.evaluation([*WHAT], ["cubic"], "smoke", only=["7.7"])
    # One that hangs does so for as long as it is let, and the others need their time.
    every = of.runs
    of.runs = [run for run in every if run.cc.text != "hangs"]
    carry_out(of, tmp_path / "out", private)
    of.runs = [run for run in every if run.cc.text == "hangs"]
    carry_out(of, tmp_path / "out", private, stall=20)
    of.runs = every
    scores = score.score(of, tmp_path / "out")
    (criterion,) = of.criteria
    said = {}
    for cc in of.contenders:
        cell = scores.cell(criterion, 0, cc)
        assert cell.mark == Mark.FAILED, cc.text
        said[cc.text] = cell.failed[0].failed
    assert "Kernel panic" in said["crashes"]
    assert "given up: it hangs: 20 s have passed" in said["hangs"]
    assert "Kernel panic" in said["divides"]
    assert scores.cell(criterion, 0, of.against[0]).mark == Mark.STANDARD
    made = pages.write(scores, tmp_path / "out")
    assert "Failed:" in made[0].read_text()


def test_modules_from_outside(private: Uml, tmp_path: Path) -> None:
    """Two that no tree has, one with a parameter, get their cards: alone, beside a standard, and
    with random objects."""
    private.take([YOURS / "tcp_loud.c", YOURS / "pair.c"], lambda _: None)
    of = plan.evaluation(["loud", "half:beta=700"], ["cubic"], "smoke", only=OUTSIDE)
    scores = carry_out(of, tmp_path, private)
    for criterion in of.criteria:
        for cc in of.contenders:
            assert scores.cell(criterion, 0, cc).value is not None, (criterion.id, cc.text)
    pages.write(scores, tmp_path, ["--module", "tcp_loud.c"])
    assert "--module tcp_loud.c" in (tmp_path / "cards/loud.html").read_text()
    assert (tmp_path / "cards/half_beta_700.html").is_file()


def _slower(of: plan.Evaluation, out: Path, where: Backend) -> tuple[float, Scores]:
    """How many times the processor seconds that were estimated these runs take, and the scores."""
    used = carry.processor_s()
    scores = carry_out(of, out, where)
    return (carry.processor_s() - used) / sum(map(cost.seconds, of.runs)), scores


@pytest.mark.long
def test_what_is_in_bpf(backend: Uml, counted: Counted, tmp_path: Path) -> None:
    """In the emulator, with its card, the commands that make it again, and its estimate as good
    as the lab's own kernel has: machines differ in speed."""
    (tmp_path / "mine.bpf.c").write_text(examples(ROOT / "docs/your-own.md")["mine.bpf.c"])
    found = compiled(tmp_path / "mine.bpf.c")
    counted.take([], lambda _: None, objects=[found])
    lab = plan.evaluation(["cubic"], [], "smoke", only=["7.7"])
    machine, _ = _slower(lab, tmp_path / "lab", backend)
    of = plan.evaluation(["mine_bpf"], [], "smoke", only=["7.7"], counted=True)
    emulated, scores = _slower(of, tmp_path / "out", counted)
    assert 0.3 < emulated / machine < 2
    cell = scores.cell(of.criteria[0], 0, of.contenders[0])
    assert cell.value is not None and cell.value > 50
    pages.write(scores, tmp_path / "out", ["--bpf", found.name])
    card = (tmp_path / "out/cards/mine_bpf.md").read_text()
    assert "7.7-mine_bpf.toml --bpf mine.bpf.o --backend vm-counted" in card


@pytest.mark.long
@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("profile", WHOLE)
def test_all_of_a_profile(profile: str, backend: Uml, tmp_path: Path) -> None:
    """It takes what it may on two cores at most, and not much more than it said; on another day the
    same bytes come again.  LONGFAT_TIMES names the file that says so (docs/results/PROFILE.json).
    """
    of = plan.evaluation(["ltcp"], [], profile)
    with carry.timed(tmp_path):
        scores = carry_out(of, tmp_path, backend)
        pages.write(scores, tmp_path)
    took = carry.took(tmp_path)
    assert not scores.errors
    nothing_failed(scores)
    size = small_enough(of, tmp_path)
    cores, seconds = min(WORKERS, CORES), sum(cost.seconds(run) for run in of.runs)
    assert took["cpu_s"] < 1.5 * seconds
    assert took["wall_s"] < WHOLE[profile] * 2 / cores
    made = {
        "runs": _digest(tmp_path, f"{plan.RUNS}/*.json"),
        "tables": _digest(tmp_path, "*.csv"),
        "pages": _digest(tmp_path, *json.loads((tmp_path / pages.PAGES).read_text())),
    }
    found = keep.kept(scores) | {"bytes": made, "days": [date.today().isoformat()]}
    found |= {"took": took, "cores": cores, "estimate_s": round(seconds), "size": size}
    before = ROOT / f"docs/results/{profile}.json"
    if before.exists():
        was = json.loads(before.read_text())
        if was["modules"] == found["modules"] and not keep.is_older(was, backend.platform):
            for name in made:
                # How a page looks may change from version to version.
                if name != "pages" or was["version"] == found["version"]:
                    assert was["bytes"][name] == made[name], name
            found["days"] = sorted({*was["days"], *found["days"]})
    if file := os.environ.get("LONGFAT_TIMES"):
        result.write_whole(json.dumps(found, indent=0) + "\n", Path(file))


def _digest(out: Path, *patterns: str) -> str:
    paths = sorted(path for pattern in patterns for path in out.glob(pattern))
    return cache.digest(*(word for x in paths for word in (str(x.relative_to(out)), x.read_text())))
