# SPDX-License-Identifier: GPL-2.0
"""The command line: what it answers, and its exit status."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import typer.main
from conftest import Toml
from rich.console import Console

from longfat import cli
from longfat.core import process
from longfat.core.errors import LabError
from longfat.run import result, runner
from longfat.show import report

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    command.callback.__name__ for command in cli.app.registered_commands if command.callback
]


class Answer(NamedTuple):
    status: int
    out: str
    err: str


# Runs the command line in this process.
Longfat = Callable[..., Answer]


@pytest.fixture
def longfat(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Longfat:
    def call(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["longfat", *map(str, arguments)])
        status = 0
        try:
            cli.main()
        except SystemExit as error:
            assert error.code is None or isinstance(error.code, int)
            status = error.code or 0
        said = capsys.readouterr()
        return Answer(status, said.out, said.err)

    return call


@pytest.fixture
def results(tmp_path: Path) -> list[Path]:
    from test_report import run

    paths = [tmp_path / f"{cc}.json" for cc in ("foo", "reno")]
    for path in paths:
        result.write(run(path.stem), path)
    return paths


def test_help(longfat: Longfat) -> None:
    answer = longfat("--help")
    assert answer.status == 0
    for command in COMMANDS:
        assert command in answer.out


def test_without_arguments_it_helps(longfat: Longfat) -> None:
    answer = longfat()
    assert answer.status in (0, 2)
    assert "summarise" in answer.out + answer.err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(longfat: Longfat, command: str) -> None:
    answer = longfat(command, "--help")
    assert answer.status == 0
    assert f"Usage: longfat {command}" in answer.out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_in_a_command_s_help_is_right(longfat: Longfat, command: str) -> None:
    """It is of this command, its files are there, and the parser takes it."""
    help = " ".join(longfat(command, "--help").out.split())
    found = re.search(r"Example: (.*?) (╭|$)", help)
    assert found, help
    line = found[1].removeprefix('eval "$(').removesuffix(')"').removeprefix("LONGFAT_CHECK=1 ")
    words = line.split()
    assert words[:2] == ["scripts/longfat", command]
    assert (ROOT / words[0]).is_file()
    assert all((ROOT / word).is_file() for word in words if word.startswith("tests/"))
    group = typer.main.get_group(cli.app)
    group.commands[command].make_context(command, words[2:], resilient_parsing=False)


def test_manual_page_has_every_command() -> None:
    page = (ROOT / "man/longfat.1").read_text()
    found = re.findall(r"^\.It Cm (\w+)", page, re.M)
    # `python` is of scripts/longfat itself.
    assert sorted(found) == sorted([*COMMANDS, "python"])
    for command in COMMANDS:
        entry = page.partition(f".It Cm {command}")[2].partition(".It ")[0]
        options = typer.main.get_group(cli.app).commands[command].params
        known = {name.lstrip("-") for param in options for name in param.opts}
        assert set(re.findall(r"Fl -?(\w+)", entry)) <= known


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("longfat su", {"summarise"}),
        ("longfat run --backend ", {"uml", "vm", "vm-counted", "host", "ssh"}),
        ("longfat run --ba", {"--backend"}),
        ("longfat iperf3 x.toml -C lt", {"ltcp"}),
    ],
)
def test_completion_in_bash(tmp_path: Path, line: str, wanted: set[str]) -> None:
    """What bash offers after `line`, with the script that `longfat completion` prints."""
    program = tmp_path / "longfat"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m longfat "$@"\n')
    program.chmod(0o755)
    script = (
        f'PATH={tmp_path}:$PATH; eval "$(longfat completion bash)"; complete -p longfat >&2; '
        f"IFS=' '; COMP_WORDS=({line.rstrip()}{' ' * line.endswith(' ')}"
        f"{'' if not line.endswith(' ') else chr(39) * 2}); "
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _longfat_completion longfat; "
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "-uc", script], capture_output=True, text=True)
    assert set(done.stdout.split()) == wanted, done.stderr


@pytest.mark.parametrize("shell", cli.SHELLS)
def test_completion_script(longfat: Longfat, shell: str) -> None:
    assert "_LONGFAT_COMPLETE=complete_" + shell in longfat("completion", shell).out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["--nosuch"],
        ["run"],
        ["run", "--nosuch"],
        ["run", "x.toml", "--seed", "one"],
        ["run", "x.toml", "--jobs"],
        ["table"],
        ["page", "x.json"],
        ["clean", "x"],
        ["measure"],
        ["measure", "x", "--port", "0"],
        ["measure", "x", "--seconds", "0"],
    ],
)
def test_wrong_command_line(longfat: Longfat, arguments: list[str]) -> None:
    answer = longfat(*arguments)
    assert answer.status == 2
    assert "Traceback" not in answer.err
    assert "Error: " in answer.err


def test_errors_are_for_people(longfat: Longfat, tmp_path: Path, toml: Toml) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(toml(cc='cc = "renno"'))
    for arguments, words in (
        (["run", bad], f"longfat: {bad}: flow[0].cc: no congestion control 'renno'; valid: "),
        (["run", tmp_path / "none.toml"], "none.toml: cannot be read"),
        (
            ["run", ROOT / "tests/scenarios/demo.toml", "--backend", "x"],
            "valid: uml, vm, vm-counted, host, ssh",
        ),
        (["run", ROOT / "tests/scenarios/demo.toml", "--build"], "are of --backend ssh"),
        (["compare", tmp_path / "x.toml", "--rate", "5mbit"], "says what the path is: leave --r"),
        (["compare", tmp_path / "x.toml", "reno"], "one file of `measure --save`, and nothing"),
        (["evaluate", "reno", "--only", "9"], "--only 9: no such criterion; valid: 5.1.1, "),
        (["evaluate", "reno", "--workflow", "slurm", "-j", "3"], "slurm/config.yaml (jobs)"),
        (["evaluate", "reno", "--workflow", "x"], "--workflow x: no such profile; valid: "),
        (["table", tmp_path / "none.json"], "is not a result file"),
        (["plot", bad], "is not a result file"),
        (["page", bad, "-o", tmp_path / "x.html"], "is not a result file"),
        (["summarise", bad, "-o", tmp_path / "out"], "is not a result file"),
        (["iperf3", bad], "no congestion control 'renno'"),
        (["check", "nosuch"], "no suite nosuch; valid: "),
        (["completion", "tcsh"], "no completion for 'tcsh'; valid: bash, zsh, fish"),
        (["watch", "--field", "x"], "no field 'x'; valid: cwnd, "),
        (["watch", "--interval", "0"], "0.01 s is the shortest"),
        (["watch", "-o", "x.png"], "x.png: the picture is SVG"),
        (["watch", "-t", "1", "nonsense"], "ss does not take the filter 'nonsense': "),
        (["watch", "-t", "0.01", "sport = :1"], "no connection with a cwnd was seen: "),
        (["measure", "127.0.0.1", "--cap", "20"], "--bytes or --cap: '20' is not a size"),
        (["measure", "127.0.0.1", "--bytes", "0.1TB"], "--bytes or --cap: '0.1TB' is not a size"),
        (["measure", "127.0.0.1", "--parallel", "1,0"], "--parallel 1,0: is numbers from 1"),
        (["measure", "127.0.0.1", "--parallel", "8,08"], "a number is given twice"),
        (["measure", "127.0.0.1", "--minutes", "-1"], "--minutes up to 10080"),
    ):
        answer = longfat(*arguments)
        assert answer.status == 1, arguments
        assert words in answer.err, arguments
        assert answer.err.startswith("longfat: ")
        assert "Traceback" not in answer.err
        assert answer.out == ""


@pytest.mark.parametrize("command", ["check", "cost", "kunit"])
def test_in_an_installed_lab(
    longfat: Longfat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """What needs tests/ says so before anything is built, and its help and manual page do."""
    monkeypatch.setattr("longfat.build.modules.ROOT", tmp_path)
    monkeypatch.setattr("longfat.cli._prepare", pytest.fail)
    answer = longfat(command)
    assert answer.status == 1 and answer.out == ""
    assert answer.err.startswith(f"longfat: {tmp_path}/tests/")
    assert answer.err.endswith("run scripts/longfat of the tree instead\n")
    assert answer.err.count("\n") == 1
    entry = (ROOT / "man/longfat.1").read_text().partition(f".It Cm {command}")[2]
    for text in (longfat(command, "--help").out, entry.partition(".It ")[0]):
        assert "Needs the source tree." in " ".join(text.split())


def test_nothing_is_prepared_for_a_wrong_scenario(
    longfat: Longfat, tmp_path: Path, toml: Toml, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel is built after everything was checked, not before."""

    def prepared(*_: object) -> None:
        raise AssertionError("prepared")

    monkeypatch.setattr("longfat.cli.Uml.prepare", prepared)
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text(toml())
    bad.write_text(toml(cc='cc = "renno"'))
    assert longfat("run", good, bad, "-o", tmp_path / "out").status == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), process.Cancelled("cancelled")])
def test_interrupted(
    longfat: Longfat,
    results: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
) -> None:
    def stop(_: object) -> None:
        raise error

    monkeypatch.setattr(result, "read_all", stop)
    answer = longfat("table", *results)
    assert answer.status == 130
    assert "interrupted" in answer.err and "Traceback" not in answer.err


def test_a_bug_is_not_hidden(
    longfat: Longfat, results: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def bug(_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(result, "read_all", bug)
    with pytest.raises(ZeroDivisionError):
        longfat("table", *results)


def test_message_is_not_markup(
    longfat: Longfat, results: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise LabError("flow[0].cc and [bold]")

    monkeypatch.setattr(result, "read_all", fail)
    assert "flow[0].cc and [bold]" in longfat("table", *results).err


def test_table(longfat: Longfat, results: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "console", Console(width=200))
    answer = longfat("table", *results, "--flows")
    assert answer.status == 0
    assert answer.out.count("a title") == 1
    assert "foo" in answer.out and "test-foo, seed 7" in answer.out
    assert "reno" in answer.out and "test-reno, seed 7" in answer.out


def test_a_number_in_a_table_is_never_cut(
    longfat: Longfat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_report import run

    monkeypatch.setattr(cli, "console", Console(width=40))
    one = run(flows=2)
    path = tmp_path / "x.json"
    result.write(one, path)
    answer = longfat("table", path, path)
    rows = [line.split() for line in answer.out.splitlines() if "test-foo" in line]
    assert rows == [" ".join(report.row(one)).split()] * 2


def test_table_of_a_list_of_summaries(
    longfat: Longfat, results: list[Path], tmp_path: Path
) -> None:
    """As docs/results has them, also beside a result; a run that failed is said."""
    lines = [result.summarise(result.read(path)) | {"observed": 1} for path in results]
    failed = {"failed": "no [reason]", "scenario": lines[0]["scenario"], "seed": 9}
    path = tmp_path / "list.json"
    path.write_text(json.dumps([*lines, failed]))
    answer = longfat("table", path, results[0], "--flows")
    assert answer.status == 0
    assert answer.out.count("test-foo, seed 7") == 2 and answer.out.count("test-reno, seed 7") == 1
    assert answer.err == f"{path}: test-foo, seed 9, failed: no [reason]\n"
    answer = longfat("plot", path, "-o", tmp_path / "out")
    assert answer.status == 1 and "a summary has no samples to draw" in answer.err
    answer = longfat("summarise", path, "-o", tmp_path / "out")
    assert answer.status == 1 and "not a result file but a list, which `table` reads" in answer.err
    path.write_text(json.dumps([failed]))
    answer = longfat("table", path)
    assert answer.status == 1 and f"longfat: no result in {path}\n" in answer.err
    path.write_text('[{"scenario": "x"}]')
    answer = longfat("table", path)
    assert answer.status == 1 and f"{path}: is not a result file but something else" in answer.err


def test_plot(longfat: Longfat, results: list[Path], tmp_path: Path) -> None:
    answer = longfat("plot", *results, "-o", tmp_path / "out")
    assert answer.status == 0
    assert answer.out.split() == [
        str(tmp_path / "out" / name) for name in ("cwnd.svg", "goodput.svg", "rtt.svg", "queue.svg")
    ]


def test_page(longfat: Longfat, results: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "new/page.html"
    assert longfat("page", *results, "-o", page, "--title", "a title").status == 0
    assert "<h1>a title</h1>" in page.read_text()


def test_plot_of_events(longfat: Longfat, results: list[Path], tmp_path: Path) -> None:
    answer = longfat("plot", *results, "-o", tmp_path / "out", "--event", "level")
    assert answer.status == 1 and "set trace = true" in answer.err
    assert not (tmp_path / "out").exists()
    from test_report import traced

    result.write(traced(), results[0])
    answer = longfat("plot", *results, "-o", tmp_path / "out", "--event", "level")
    assert answer.status == 0
    assert answer.out.split()[-1] == str(tmp_path / "out/events.svg")


def test_show(longfat: Longfat, toml: Toml, tmp_path: Path) -> None:
    """The network of each scenario of a file, with nothing built."""
    path = tmp_path / "x.toml"
    path.write_text(toml(rest='[vary]\n"flow.0.cc" = ["reno", "cubic"]'))
    answer = longfat("show", path)
    assert answer.status == 0
    assert [line for line in answer.out.splitlines() if line.startswith("x-")] == [
        "x-reno: a title, 10 s",
        "x-cubic: a title, 10 s",
    ]
    answer = longfat("show", path, "-o", tmp_path / "out")
    files = [tmp_path / f"out/x-{cc}.svg" for cc in ("reno", "cubic")]
    assert answer.out.split() == [str(file) for file in files]
    assert all(file.read_text().startswith("<svg ") for file in files)
    path.write_text("x = 1")
    answer = longfat("show", path)
    assert answer.status == 1 and f"{path}: x: unknown key" in answer.err


def test_summarise(longfat: Longfat, results: list[Path], tmp_path: Path) -> None:
    assert longfat("summarise", *results, "-o", tmp_path / "out").status == 0
    small = result.read(tmp_path / "out/foo.json")
    assert "queue" not in small
    answer = longfat("table", tmp_path / "out/foo.json", "--flows")
    assert answer.status == 0 and "foo" in answer.out
    answer = longfat("plot", tmp_path / "out/foo.json", "-o", tmp_path)
    assert answer.status == 1 and "foo" in answer.err


def test_jobs_for(tmp_path: Path, toml: Toml) -> None:
    path = tmp_path / "x.toml"
    path.write_text(toml(top="seeds = [1, 5]", rest='[vary]\n"flow.0.cc" = ["reno", "cubic"]'))
    found = cli._load([path])
    assert [job.path.name for job in runner.jobs_for(found, None, tmp_path)] == [
        "x-reno-s1.json",
        "x-reno-s5.json",
        "x-cubic-s1.json",
        "x-cubic-s5.json",
    ]
    assert [job.seed for job in runner.jobs_for(found, [9], tmp_path)] == [9, 9]


def test_no_two_runs_write_one_file(longfat: Longfat, tmp_path: Path, toml: Toml) -> None:
    """Two scenario files of one name, in different directories."""
    paths = [tmp_path / d / "x.toml" for d in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(toml())
    with pytest.raises(LabError, match=r"x-s1\.json"):
        runner.jobs_for(cli._load(paths), None, tmp_path)
    with pytest.raises(LabError, match=r"x-s3\.json"):
        runner.jobs_for(cli._load(paths[:1]), [3, 3], tmp_path)


def test_as_a_program(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "longfat", "table", str(tmp_path / "none.json")],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("longfat: ") and "Traceback" not in done.stderr
    assert done.stdout == ""


def test_what_failed_is_listed_at_the_end(
    longfat: Longfat, toml: Toml, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --keep-going: the results that there are, then the failures; exit status 1."""
    (tmp_path / "x.toml").write_text(toml())
    asked = []

    def run(jobs: list[runner.Job], *_: object, keep_going: bool, **__: object) -> object:
        asked.append(keep_going)
        return [runner.Failure(jobs[1], "x, seed 2: broken\nlong") for _ in range(keep_going)]

    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(cli, "_prepare", lambda _: None)
    words = ("run", tmp_path / "x.toml", "--seed", 1, "--seed", 2, "--seed", 3, "-o", tmp_path)
    answer = longfat(*words, "--keep-going")
    assert answer.status == 1 and asked == [True]
    assert answer.out.split() == [str(tmp_path / f"x-s{seed}.json") for seed in (1, 3)]
    assert answer.err.endswith("longfat: 1 of 3 runs failed:\nx, seed 2: broken\n")
    assert longfat(*words).status == 0 and asked == [True, False]
