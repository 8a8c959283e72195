# SPDX-License-Identifier: GPL-2.0
"""The algorithm of docs/contributing.md in a copy of the tree: its source and nothing else is
added, and it runs as the page says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from examples import examples
from longfat.build import modules
from longfat.run import result

SOURCES = ("tcp_*.c", "Kbuild", "include", "longfat", "scripts")


def test_an_algorithm_is_one_file(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for pattern in SOURCES:
        for path in modules.ROOT.glob(pattern):
            if path.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(path, tree / path.name, ignore=ignored)
            else:
                shutil.copy(path, tree)
    page = examples(modules.ROOT / "docs/contributing.md")
    for name in ("tcp_foo.c", "foo.toml"):
        (tree / name).write_text(page[name])

    done = subprocess.run(
        [sys.executable, "-m", "longfat", "run", "foo.toml", "-o", "out"],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    data = result.read(tree / "out/foo-s1.json")
    assert [flow["cc"] for flow in data["flows"]] == ["foo", "reno"]
    assert data["summary"]["utilisation"] > 0.9
    events = data["flows"][0]["connections"][0]["events"]
    assert events[0]["reason"] == "init"
    # The parameter of the scenario is the module's, and its rule is that of the page.
    assert {event["beta"] for event in events} == {300}
    assert "decrease" in {event["reason"] for event in events}
    # Less is given away for a loss: more than half of the link.
    foo, reno = (flow["goodput_bps"] for flow in data["flows"])
    assert foo > reno
