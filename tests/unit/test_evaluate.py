# SPDX-License-Identifier: GPL-2.0
"""The command `longfat evaluate`, and a job of its workflow: what they say and leave behind."""

from __future__ import annotations

import errno
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from test_arena import own, small
from test_cli import Longfat, longfat
from test_runner import Fake, backend

from longfat.arena import __main__ as job
from longfat.arena import carry, workflow
from longfat.build import kernel, modules, tools
from longfat.core.errors import CANNOT_WRITE, LabError, Unwritable
from longfat.run import result
from longfat.run.backends import Uml

__all__ = ["backend", "longfat", "own"]

PAGE = (modules.ROOT / "docs/evaluation.md").read_text()
COMMANDS = list(dict.fromkeys(re.findall(r"^    scripts/longfat (evaluate .*)$", PAGE, re.M)))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page(longfat: Longfat, command: str) -> None:
    """Their words are right, down to the parameters of modules; it says what they cost."""
    words = shlex.split(command)
    answer = longfat(*words, *([] if "--dry" in words else ["--dry"]))
    assert answer.status == 0, answer.err
    assert "processor time" in answer.out
    assert re.search(r"^\d+ runs, about .* memory of a run, at most \d+\.\d GB$", answer.err, re.M)


def test_a_wrong_parameter_is_said_beforehand(longfat: Longfat) -> None:
    words = ["evaluate", "cwhstcp:exponent=2", "--only", "7.7", "--dry"]
    answer = longfat(*words)
    assert answer.status == 1
    assert "cwhstcp has no parameter 'exponent'; valid: " in answer.err
    # What a module of one's own has is only known when it is built.
    assert longfat("evaluate", "mine:x=1", *words[2:], "--module", "tcp_mine.c").status == 0


@pytest.mark.parametrize("dry", [[], ["--dry"]])
def test_bpf_is_refused_in_words(longfat: Longfat, dry: list[str]) -> None:
    answer = longfat("evaluate", "mine", "--bpf", "mine.bpf.o", *dry)
    assert (answer.status, answer.err) == (1, f"longfat: {Uml.no_bpf}\n")
    assert "`--bpf`" in PAGE


@pytest.fixture
def fake(backend: Fake, own: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """What runs everything, in the place of the lab's kernel."""
    monkeypatch.setattr("longfat.cli._backend", lambda _: backend)
    return backend


def test_interrupted_it_keeps_what_is_done(
    longfat: Longfat, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how to go on, the pages have what is there, and the same command does the rest."""
    real = result.write
    written: list[Path] = []

    def write(data: Any, path: Path) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(path)
        real(data, path)

    monkeypatch.setattr(result, "write", write)
    command = ["evaluate", "reno", "-o", tmp_path / "out", "-j", "1"]
    answer = longfat(*command)
    assert answer.status == 130
    assert "4 of 4 runs are left to do" in answer.err
    assert "what is done is kept; the same command goes on" in answer.err
    assert "not measured yet" in (tmp_path / "out/league.html").read_text()
    (kept,) = (tmp_path / "out/runs").iterdir()
    assert [kept] == written
    before, begun = kept.read_bytes(), len(fake.started)
    monkeypatch.setattr(result, "write", real)
    answer = longfat(*command)
    assert answer.status == 0 and "3 of 4 runs are left to do" in answer.err
    assert kept.read_bytes() == before and len(fake.started) == begun + 3
    # What there is to do is said by criterion, as with --dry.
    assert re.search(r"^ *1 +3 +\d+ s *$", answer.err, re.M)


def test_a_missing_tool_is_named(
    longfat: Longfat, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is run, or written down as a failure."""
    monkeypatch.setattr(kernel, "build", lambda *_: tools.need("nosuch-tool"))
    answer = longfat("evaluate", "reno", "-o", tmp_path / "out")
    assert answer.status == 1 and "Traceback" not in answer.err
    assert "nosuch-tool" in answer.err and not (tmp_path / "out").exists()


# --- a job


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (Unwritable("x: cannot be written"), CANNOT_WRITE),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), CANNOT_WRITE),
        (LabError("it failed"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_the_exit_status_of_a_job(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    status: int,
) -> None:
    """A full disk is no failure of the algorithm."""

    def run(*_: object) -> None:
        raise raised

    monkeypatch.setattr(workflow, "run", run)
    assert job.main(["run", "--out", "x", "y"]) == status
    assert str(raised).partition("\n")[0] in capsys.readouterr().err


def test_a_job_on_a_full_disk_leaves_no_failure(
    own: Path, backend: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, out = small(), tmp_path / "out"
    monkeypatch.setattr(workflow, "carried_out", lambda _: 0)
    workflow.submit(of, of.runs, out, [], workflow.find("full"), 1)
    monkeypatch.setattr(workflow, "Uml", lambda: backend)

    def full(*_: object) -> None:
        raise Unwritable("no space is left")

    monkeypatch.setattr(result, "write", full)
    assert job.main(["run", "--out", str(out), of.runs[0].name]) == CANNOT_WRITE
    assert not carry.error_of(of.runs[0], out).exists()


def test_a_workflow_that_ended_early_is_no_success(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though a run of it failed by itself, which is said elsewhere."""
    of, out = small(), tmp_path / "out"

    def ended(_: list[str]) -> int:
        path = carry.error_of(of.runs[0], out)
        path.parent.mkdir(parents=True)
        path.write_text("it crashed\n")
        return 1

    monkeypatch.setattr(workflow, "carried_out", ended)
    with pytest.raises(LabError, match="ended early, 1 of 4 runs are done and kept"):
        workflow.submit(of, of.runs, out, [], workflow.find("full"), 1)
