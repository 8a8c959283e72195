# SPDX-License-Identifier: GPL-2.0
"""What `pip install .`, `pipx install .` and the Debian package give: the command and its data,
outside of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from longfat.build import modules
from longfat.core import data
from longfat.machines import suite
from longfat.run import result
from packages import tree

SCENARIO = """
title = "outside of the tree"
duration = "10s"
trace = true
[link]
rate = "20mbit"
buffer = "1bdp"
[[flow]]
cc = "ltcp"
rtt = "40ms"
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by the hatchling that pyproject.toml names, which is one of the test tools."""
    out = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "-w", str(out)]
    pip += ["--no-build-isolation", "--check-build-dependencies", str(modules.ROOT)]
    done = subprocess.run(pip, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has it, and the packages that these tests run with."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin/python"), "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    others = Path(pytest.__file__).parents[1]
    (site / "others.pth").write_text(f"{others}\n")
    return venv


def outside(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    # A user's PATH, without what only root has there.
    environment["PATH"] = f"{installed}/bin:/usr/bin:/bin"
    return subprocess.run(
        ["longfat", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_what_it_says_of_itself(wheel: Path) -> None:
    """The version of dkms.conf, the packages of requirements.txt, and no file twice."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        said = Parser().parsestr(archive.read(metadata).decode())
    version = re.search(r'^PACKAGE_VERSION="(.*)"', (modules.ROOT / "dkms.conf").read_text(), re.M)
    assert version and said["Version"] == version[1]
    text = (modules.ROOT / "longfat/requirements.txt").read_text()
    assert said.get_all("Requires-Dist") == re.findall(r"^[\w.-]+==\S+", text, re.M)
    assert len(names) == len(set(names))
    inside = {name.removeprefix("longfat/share/") for name in names if "longfat/share/" in name}
    assert inside == {str(path) for path in data.files(modules.ROOT)}
    # All of the package that is no Python: programs, kernel configurations, pages.
    ours = [path for path in (modules.ROOT / "longfat").rglob("*") if path.is_file()]
    assert {f"{path.relative_to(modules.ROOT)}" for path in ours if path.suffix != ".pyc"} <= set(
        names
    )


def test_it_runs_outside_of_the_tree(installed: Path, tmp_path: Path) -> None:
    """A scenario with one of our modules, which is built from the installed source, and with one of
    the user's own."""
    own = SCENARIO[SCENARIO.index("[[flow]]") :].replace("ltcp", "loud")
    (tmp_path / "small.toml").write_text(SCENARIO + own)
    shutil.copy(modules.ROOT / "tests/yours/tcp_loud.c", tmp_path)
    words = ["run", "small.toml", "--module", "tcp_loud.c", "-o", "out"]
    done = outside(installed, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    one = result.read(tmp_path / "out/small-s1.json")
    assert one["summary"]["utilisation"] > 0.9
    assert one["flows"][0]["connections"][0]["events"]
    assert one["flows"][1]["cc"] == "loud"
    done = outside(installed, tmp_path, "table", "out/small-s1.json")
    assert done.returncode == 0 and "ltcp" in done.stdout


def test_its_own_scenarios(installed: Path, tmp_path: Path) -> None:
    """As the help names them; a file that is here is the one that is meant."""
    done = outside(installed, tmp_path, "run", "--help")
    assert "tests/scenarios/demo.toml" in done.stdout
    wrong = tmp_path / "tests/scenarios/demo.toml"
    ask = ["run", "tests/scenarios/demo.toml", "--backend", "nosuch"]
    assert "no backend 'nosuch'" in outside(installed, tmp_path, *ask).stderr
    wrong.parent.mkdir(parents=True)
    wrong.write_text("title = 1\n")
    assert "tests/scenarios/demo.toml: title: " in outside(installed, tmp_path, *ask).stderr


def test_its_help_names_what_is_installed(installed: Path, tmp_path: Path) -> None:
    done = outside(installed, tmp_path, "run", "--help")
    assert "longfat run tests/scenarios/demo.toml" in done.stdout
    assert "scripts/longfat" not in done.stdout


def test_what_needs_the_tree_says_so(installed: Path, tmp_path: Path) -> None:
    for command in ("check", "cost", "kunit"):
        done = outside(installed, tmp_path, command)
        assert done.returncode == 1 and "needs longfat's source tree" in done.stderr


def test_its_scripts(installed: Path) -> None:
    """bpftrace's programs are made from the sources beside them."""
    (share,) = installed.glob("lib/python*/site-packages/longfat/share")
    done = subprocess.run(
        [share / "scripts/bpftrace/decisions", "-p", "ltcp"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "tracepoint:longfat:ltcp\n" in done.stdout
    assert tomllib.loads((share / "tests/stress/chaos.toml").read_text())
    assert (installed / "share/man/man1/longfat.1").is_file()
    assert (installed / "share/doc/longfat/your-own.md").is_file()


@pytest.mark.long
@pytest.mark.usefixtures("machine")
def test_the_debian_package(tmp_path: Path) -> None:
    """A module of the user's own, and a comparison, by what longfat-tools has.  Its command makes
    itself the environment of a user, or takes the one that is in the cache."""
    source, packages, own = (tmp_path / name for name in ("source", "packages", "own"))
    modules.copy(tree(), source)
    packages.mkdir()
    own.mkdir()
    # debhelper is there.
    build = "cp -r /mnt/source /src && cd /src && scripts/deb.sh out && cp out/*.deb /mnt/packages"
    binds = [(source, "/mnt/source"), (packages, "/mnt/packages")]
    done = suite.run("bookworm", build, binds=binds, timeout=1200)
    assert done.returncode == 0, done.stdout
    (made,) = packages.glob("longfat-tools_*.deb")
    subprocess.run(["dpkg-deb", "-x", made, tmp_path / "root"], check=True)
    (own / "small.toml").write_text(SCENARIO.replace("ltcp", "half").replace("trace = true", ""))
    shutil.copy(modules.ROOT / "tests/yours/pair.c", own)
    mine = {key: os.environ[key] for key in ("HOME", "XDG_CACHE_HOME") if key in os.environ}
    compare = "compare half ltcp --rate 20mbit --duration 10s --warmup 2s"
    for words in ("run small.toml -o out", compare):
        done = subprocess.run(
            [tmp_path / "root/usr/bin/longfat", *words.split(), "--module", "pair.c"],
            cwd=own,
            env=mine | {"PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=1200,
        )
        assert done.returncode == 0, done.stderr
    assert result.read(own / "out/small-s1.json")["flows"][0]["cc"] == "half"
    runs = [result.read(path) for path in sorted((own / "compared").glob("*.json"))]
    assert [one["flows"][0]["cc"] for one in runs] == ["half", "ltcp"]
    assert all(one["summary"]["utilisation"] > 0.9 for one in runs)
    assert (own / "compared/compare.html").exists()
