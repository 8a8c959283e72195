# SPDX-License-Identifier: GPL-2.0
"""`longfat kunit`: suites that did not run are no success."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longfat.build import kernel
from longfat.check import kunit
from longfat.core.errors import LabError
from longfat.run.backends import Uml

ENDED = "[    0.02] # module: a_kunit\n[    0.02] # Totals: pass:7 fail:0 skip:0 total:7\n"
BOTH = ENDED + ENDED.replace("a_k", "b_k")


@pytest.mark.parametrize(
    ("log", "quiet"),
    [(BOTH, True), (BOTH + "[ 0.1] WARNING: CPU: 0 PID: 1 at x\n", False)],
)
def test_all_suites_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str, quiet: bool
) -> None:
    said = run(tmp_path, monkeypatch, log)
    assert said[0][1] == "# Totals: pass:7 fail:0 skip:0 total:7" and said[1] == quiet


@pytest.mark.parametrize(("log", "silent"), [("", "a_kunit, b_kunit"), (ENDED * 3, "b_kunit")])
def test_a_module_without_suites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str, silent: str
) -> None:
    """As on a kernel that wants another word to run them."""
    with pytest.raises(LabError, match=f"no KUnit suite ran of {silent}$"):
        run(tmp_path, monkeypatch, log)


def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str) -> tuple[list[str], bool]:
    for name in ("a_kunit", "b_kunit"):
        (tmp_path / f"{name}.ko").touch()

    def boot_alone(_: Uml, scratch: Path, **options: Any) -> int:
        assert {path.name for path in scratch.glob("*.ko")} == {"a_kunit.ko", "b_kunit.ko"}
        (scratch / "dmesg").write_text(log)
        return 0

    monkeypatch.setattr(Uml, "boot_alone", boot_alone)
    monkeypatch.setattr(kernel, "build_modules", lambda *_, **__: tmp_path)
    return kunit.run(kernel.LAB, Uml())
