# SPDX-License-Identifier: GPL-2.0
"""Chaos: what a seed makes of a mix, and what makes a run fail."""

from __future__ import annotations

import errno
import re
import shutil
import threading
from collections import Counter
from pathlib import Path

import pytest

from longfat.build import modules
from longfat.core.errors import LabError
from longfat.run.backends import Uml
from longfat.stress import chaos

MIX = Path(__file__).parents[1] / "stress/chaos.toml"
TEXT = MIX.read_text()


def times(lines: str) -> list[float]:
    return [float(x) for x in re.findall(r"^(?:at|fault) (\S+)", lines, re.M)]


@pytest.fixture
def mix() -> chaos.Chaos:
    return chaos.load(MIX)


def test_a_seed_is_one_plan(mix: chaos.Chaos) -> None:
    assert chaos.plan(mix, 3, faults=True) == chaos.plan(mix, 3, faults=True)
    assert chaos.plan(mix, 3, faults=True) != chaos.plan(mix, 4, faults=True)


def test_every_algorithm_and_parameter_takes_part(mix: chaos.Chaos) -> None:
    _, lines, _ = chaos.plan(mix, 1, faults=True)
    assert set(re.findall(r"^cc (\S+)", lines, re.M)) == modules.algorithms()
    found = re.findall(r"^param (\S+) (\S+) (.*)$", lines, re.M)
    for name, module in modules.owners().items():
        for key in modules.parameters(name):
            assert [x for x in found if x[:2] == (module, key)]
    assert not [valid for _, _, valid in found if "true" in valid]


def test_what_happens_is_in_order(mix: chaos.Chaos) -> None:
    for seed in range(20):
        _, lines, _ = chaos.plan(mix, seed, faults=True)
        assert times(lines) == sorted(times(lines))


def test_in_the_end_every_link_is_up_and_quiet(mix: chaos.Chaos) -> None:
    _, lines, _ = chaos.plan(mix, 2, faults=True)
    last: dict[str, str] = {}
    for dev, state in re.findall(r"link set (\S+) (up|down)$", lines, re.M):
        last[dev] = state
    netem: dict[str, str] = {}
    for dev, what in re.findall(r"replace dev (\S+) root \S+ \S+ netem (.*)$", lines, re.M):
        netem[dev] = what
    assert set(last.values()) == {"up"} and len(last) == mix.link.hosts + 1
    assert all("loss" not in what and "corrupt" not in what for what in netem.values())


def test_both_ends_of_a_wire_have_one_mtu(mix: chaos.Chaos) -> None:
    _, lines, _ = chaos.plan(mix, 2, faults=True)
    found = re.findall(r"mtu (\d+) && .* mtu (\d+)$", lines, re.M)
    assert found and all(near == far for near, far in found)
    assert lines.count(" mtu ") == 2 * len(found)


def test_faults_only_where_the_kernel_injects_them(mix: chaos.Chaos) -> None:
    _, lines, _ = chaos.plan(mix, 1, faults=False)
    assert "\nfault " not in lines and "set fail_nth 0\n" in lines


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("loss = [0.0, 0.05]", "loss = [0.5, 0.05]", "link.loss: .*the first is above"),
        ("loss = [0.0, 0.05]", "loss = 0.05", "link.loss: .*write .least, most"),
        ("at_once = 150", "at_once = 0", "traffic.at_once"),
        ('drain = "900s"', "", "drain: "),
        ("hosts = 4", "hosts = 4\nhost = 5", "link.host: "),
        ("hosts = 4", "hosts = ", "TOML|line|value"),
    ],
)
def test_a_wrong_mix_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in TEXT
    path = tmp_path / "mix.toml"
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(LabError, match=said):
        chaos.load(path)


def finished(
    run: Path, *, summary: str = "completed 7\nfailures 0\n", log: str = "[ 0.0] Linux\n"
) -> None:
    (run / "summary").write_text(summary)
    (run / "dmesg").write_text(log)
    (run / "status").write_text("0\n")


def test_a_good_run(tmp_path: Path) -> None:
    finished(tmp_path, log="[ 1.0] tcp_ltcp: beta=0 refused: valid is 1 to 500\n")
    counters, wrong = chaos.judge(tmp_path)
    assert not wrong and counters == {"completed": 7, "failures": 0, "splats": 0}


@pytest.mark.parametrize(
    "line",
    [
        "BUG: KASAN: slab-out-of-bounds in ltcp_init",
        "UBSAN: shift-out-of-bounds in tcp_ltcp.c:5:6",
        "WARNING: possible circular locking dependency detected",
        "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
        # These found nothing, and will find nothing more.
        "ODEBUG: Out of memory. ODEBUG disabled",
        "turning off the locking correctness validator.",
    ],
)
def test_a_line_of_the_log_fails_a_run(tmp_path: Path, line: str) -> None:
    finished(tmp_path, log=f"[    1.000000] {line}\n")
    counters, wrong = chaos.judge(tmp_path)
    assert counters["splats"] == 1 and line in wrong[0]


def test_a_run_without_a_log_has_failed(tmp_path: Path) -> None:
    finished(tmp_path, log="")
    assert any("no kernel log" in line for line in chaos.judge(tmp_path)[1])


def test_what_did_not_happen_is_said() -> None:
    total = Counter(dict.fromkeys(chaos.EVERYTHING, 1))
    assert chaos.idle(total) == []
    total["zero_windows"] = 0
    assert chaos.idle(total) == ["zero windows"]


def test_what_chaos_says_fails_a_run(tmp_path: Path) -> None:
    finished(tmp_path, summary="x connection 3: other data arrived than was sent\nfailures 1\n")
    assert chaos.judge(tmp_path)[1] == ["connection 3: other data arrived than was sent"]


def test_a_run_without_an_end_has_failed(tmp_path: Path) -> None:
    (tmp_path / "console").write_text("Kernel panic - not syncing")
    _, wrong = chaos.judge(tmp_path)
    assert any("did not come to its end" in line for line in wrong)


RACE = """\
kern  :err   : [   9.100000] ==================================================================
kern  :err   : [   9.200000] BUG: KCSAN: data-race in {first} / tcp_poll

kern  :err   : [   9.200000] write to 0xffff888004c2a5e0 of 4 bytes by interrupt on cpu 0:
kern  :err   : [   9.200000]  {first}+0x3d/0x60 {module}
kern  :err   : [   9.200000]  tcp_ack+0x9f3/0x1480

kern  :err   : [   9.200000] read to 0xffff888004c2a5e0 of 4 bytes by task 71 on cpu 1:
kern  :err   : [   9.200000]  tcp_poll+0x11/0x2a0
kern  :err   : [   9.300000] ==================================================================
kern  :info  : [   9.400000] tcp_ltcp: beta=0 refused: valid is 1 to 500
"""


def test_a_race_of_ours_fails_a_run_and_one_of_the_kernel_is_counted(tmp_path: Path) -> None:
    finished(tmp_path, log=RACE.format(first="tcp_update_pacing_rate", module=""))
    counters, wrong = chaos.judge(tmp_path)
    assert not wrong and counters["races_of_the_kernel"] == 1
    finished(tmp_path, log=RACE.format(first="ltcp_cong_avoid", module="[tcp_ltcp]"))
    counters, wrong = chaos.judge(tmp_path)
    assert "ltcp_cong_avoid" in wrong[0] and "races_of_the_kernel" not in counters


def test_a_race_whose_report_is_cut_off_fails_a_run(tmp_path: Path) -> None:
    finished(tmp_path, log="\n".join(RACE.format(first="x", module="").splitlines()[:4]))
    assert chaos.judge(tmp_path)[1]


def test_packets_are_spread_over_processors(mix: chaos.Chaos) -> None:
    setup, lines, spaces = chaos.plan(mix, 1, faults=True, processors=2, seeded=False)
    assert setup.count("rps_cpus; do echo 3 ") == len(spaces)
    assert re.search(r"^at \S+ ip netns exec \S+ ss -tin", lines, re.M)
    assert not re.search(r"netem .* seed \d", setup + lines)
    alone, *_ = chaos.plan(mix, 1, faults=True)
    assert "rps_cpus" not in alone and re.search(r"netem .* seed \d", alone)


def test_a_slower_kernel_gets_everything_later(mix: chaos.Chaos) -> None:
    assert chaos.slower(mix, 1) == mix
    slow = chaos.slower(mix, 10)
    assert slow.duration == 10 * mix.duration and slow.traffic.gap == 10 * mix.traffic.gap
    assert slow.traffic.long == mix.traffic.long / 10
    assert slow.kernel.module == 10 * mix.kernel.module
    assert slow.kernel.fault_for == mix.kernel.fault_for
    assert slow.link.rate == (mix.link.rate[0], mix.link.rate[1] / 10)
    # As much as before happens, then.
    counts = [
        len(times(chaos.plan(one, 1, faults=True)[1])) for one in (mix, chaos.slower(mix, 10))
    ]
    assert counts[1] == pytest.approx(counts[0], rel=0.3)
    # But for programs, where they take long.
    slow, rare = chaos.slower(mix, 10), chaos.slower(mix, 10, 8)
    assert (rare.link.gap, rare.link.flap) == (8 * slow.link.gap, 8 * slow.link.flap)
    assert rare.sysctl["gap"] == "80s" and rare.traffic == slow.traffic


def many(mix: chaos.Chaos, out: Path, *, runs: int, workers: int) -> tuple[Counter[str], list[int]]:
    """Seeds from 1 on, of whatever chaos.one() is made to be."""
    return chaos.many(
        mix,
        Uml(),
        first=1,
        runs=runs,
        seconds=0,
        workers=workers,
        out=out,
        timeout=60,
        say=lambda _: None,
    )


def test_what_is_no_fault_of_a_run_ends_all(
    mix: chaos.Chaos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a later seed than the first, which waits for its end here."""

    def one(
        mix: chaos.Chaos, seed: int, where: object, *, cancel: threading.Event, **_: object
    ) -> tuple[dict[str, int], list[str]]:
        if seed == 2:
            raise LabError("no space")
        assert cancel.wait(60)
        return {}, []

    monkeypatch.setattr(chaos, "one", one)
    with pytest.raises(LabError, match="no space"):
        many(mix, tmp_path, runs=4, workers=2)


def test_memory_is_the_most_that_did_not_come_back(
    mix: chaos.Chaos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one(mix: chaos.Chaos, seed: int, *_: object, **__: object) -> object:
        return {"memory_kb": {1: 300, 2: 500, 3: 200}[seed], "bytes": 10}, []

    monkeypatch.setattr(chaos, "one", one)
    total, failed = many(mix, tmp_path, runs=3, workers=1)
    assert not failed and total == {"runs": 3, "memory_kb": 500, "bytes": 30}


def test_what_cannot_be_kept_is_said(
    mix: chaos.Chaos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def boot(self: Uml, run: Path, *_: object, **__: object) -> int:
        finished(run, summary="failures 1\nx it broke\n")
        return 0

    monkeypatch.setattr(chaos, "fill", lambda *_: None)
    monkeypatch.setattr(Uml, "boot", boot)
    monkeypatch.setattr(shutil, "copytree", no_space)
    _, wrong = chaos.one(
        mix, 1, Uml(), keep=tmp_path / "kept", timeout=60, cancel=threading.Event()
    )
    assert wrong[0] == "it broke" and "No space left" in wrong[1]
