# SPDX-License-Identifier: GPL-2.0
"""HighSpeed TCP's table against RFC 3649: the module that makes it, the header that
was made, and the error of what growth reads from it, include/longfat/hstcp.h.

The RFC's own table, and everything that needs no real numbers, is in tests/kunit.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from math import isclose
from pathlib import Path

import pytest

from longfat.build import hstcp, modules, tools

SANITIZERS = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]
UNIT = Path(__file__).resolve().parent
HEADER = modules.ROOT / "include/longfat/hstcp_table.h"


def measured(out: Path, include: Path = modules.ROOT / "include") -> dict[str, float]:
    """What hstcp_error.c says of the headers below `include`, by name."""
    tools.need("cc")
    command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(out)]
    command += [f"-I{UNIT.parent / 'shim'}", f"-I{modules.ROOT / 'bpf/arith'}", f"-I{include}"]
    source = [str(UNIT / "hstcp_error.c"), "-lm"]
    # The headers must have no warning, a compiler may have no sanitizer.
    plain = subprocess.run([*command, *source], capture_output=True, text=True)
    assert plain.returncode == 0, plain.stderr
    subprocess.run([*command, *SANITIZERS, *source], capture_output=True)
    done = subprocess.run([str(out)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def error(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return measured(tmp_path_factory.mktemp("hstcp") / "error")


def test_growth_is_within_one_percent(error: dict[str, float]) -> None:
    assert error["rule"] < 0.01


def test_a_is_within_a_thousandth(error: dict[str, float]) -> None:
    """What the header promises of the interpolation alone."""
    assert error["a"] < 0.001


def test_b_is_within_a_thousandth(error: dict[str, float]) -> None:
    """Five times better than needed, and as the header has it."""
    assert error["b"] < 0.001


def test_a_loss_takes_the_share_of_the_formula(error: dict[str, float]) -> None:
    assert error["decrease"] < 0.001


def test_every_window_has_a_rule(error: dict[str, float]) -> None:
    assert error["uncovered"] == 0
    assert error["windows"] > 4_000_000


def test_the_error_would_be_seen(tmp_path: Path) -> None:
    """One node of the table off by 2 % of a, or 0.006 of b, is a failure above."""
    text = HEADER.read_text()
    window = 1024
    row = next(line for line in text.splitlines() if f"/* {window:10d} " in line)
    a, b = (int(word) for word in row[row.index("{") + 1 : row.index("}")].split(","))
    for name, bad_row, limit in (
        ("rule", row.replace(f"{a:9d}", f"{a * 102 // 100:9d}"), 0.01),
        ("b", row.replace(f"{b:5d}", f"{b + 393:5d}"), 0.005),
    ):
        assert bad_row != row
        include = tmp_path / name
        (include / "longfat").mkdir(parents=True)
        for file in ("hstcp.h", "growth.h", "bounds.h"):
            (include / "longfat" / file).symlink_to(HEADER.parent / file)
        (include / "longfat" / HEADER.name).write_text(text.replace(row, bad_row))
        assert measured(tmp_path / f"{name}-error", include)[name] > limit


def test_the_header_is_what_the_module_prints() -> None:
    command = [sys.executable, "-m", "longfat.build.hstcp"]
    done = subprocess.run(command, cwd=modules.ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    same = done.stdout == HEADER.read_text()
    assert same, f"run: python3 -m longfat.build.hstcp >include/longfat/{HEADER.name}"


def test_formulas() -> None:
    """RFC 3649, section 5, where it gives numbers: b at both ends, and the response
    function W = 0.12 / p^0.835 within what its rounded constants leave open."""
    assert isclose(hstcp.b(38), 0.5)
    assert isclose(hstcp.b(83000), 0.1)
    for w in (100, 1000, 10000, 83000, 10**6, 10**8):
        a, b = hstcp.a(w), hstcp.b(w)
        # AIMD's own: a window saws from (1 - b) W to W, one loss in 1 / p packets.
        p = a * (2 - b) / (2 * b * w**2)
        assert isclose(w, 0.12 / p**0.835, rel_tol=0.05), w


def test_nodes() -> None:
    """Eight in each octave, evenly, so that a window finds its own by shifts alone."""
    nodes = hstcp.nodes()
    assert nodes[0] == 32 and nodes[-1] == 2**32
    assert len(nodes) == 8 * 27 + 1
    for i, node in enumerate(nodes):
        assert node == (8 + i % 8) * 2 ** (i // 8) * 4


def test_b_is_held_before_a_would_fall() -> None:
    nodes = [node for node in hstcp.nodes() if node > 38]
    a = [hstcp.a(node) for node in nodes]
    b = [hstcp.b(node) for node in nodes]
    assert all(x < y for x, y in pairwise(a))
    assert all(x >= y for x, y in pairwise(b))
    assert hstcp.FLOOR in nodes and hstcp.FLOOR > 83000
    assert b[-1] == hstcp.b(hstcp.FLOOR)
    # What the header gives as 0.070.
    assert isclose(b[-1], 0.070, abs_tol=0.0005)
