# SPDX-License-Identifier: GPL-2.0
"""longfat-bpf without a kernel that loads BPF: what it says of parameters, which are to be the
modules', and of what is wrong on its command line.  tests/stock/bpf.sh has the rest."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from longfat.build import modules

ALGORITHMS = ("ghstcp", "ltcp")
# LF_LAYOUT -> digest of the members that the structures of about.h have with it.
LAYOUTS = {2: "7f9bc7bb8e5f"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("clang") or not Path("/usr/include/bpf/libbpf.h").exists():
        pytest.skip("clang or libbpf-dev is not installed: make deps")
    # Where an ordinary user may look, too.
    where = tmp_path_factory.mktemp("bpf")
    for path in (where, *where.parents[:2]):
        path.chmod(0o755)
    done = subprocess.run(
        ["make", "-C", str(modules.ROOT / "bpf"), f"B={where}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return where / "longfat-bpf"


def said(program: Path, *words: str) -> tuple[int, str, str]:
    """Status, output and complaints of longfat-bpf, as an ordinary user runs it."""
    user = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run([*user, str(program), *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def defaults(name: str) -> dict[str, str]:
    """Parameter -> the default in the module's source."""
    text = modules.sources()[modules.owners()[name]].read_text()
    return dict(re.findall(r"^LF_PARAM_\w+\((\w+), (\w+),", text, re.M))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_parameters_are_the_modules(program: Path, name: str) -> None:
    status, out, err = said(program, "parameters", name)
    assert (status, err) == (0, "")
    shown = dict(re.findall(r"^(\w+)=\S+\t\((.*)\)$", out, re.M))
    kinds = {"true, false": "N, Y"}
    assert shown == {key: kinds.get(x, x) for key, x in modules.parameters(name).items()}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_defaults_are_the_modules(program: Path, name: str) -> None:
    _, out, _ = said(program, "parameters", name)
    shown = dict(re.findall(r"^(\w+)=(\S+)", out, re.M))
    for key, default in defaults(name).items():
        valid = modules.parameters(name)[key]
        if " to " in valid:
            assert shown[key] == default
        elif valid == "true, false":
            assert shown[key] == "NY"[int(default)]
        else:
            # The index of a choice, by a name of which the choice is the end or the first.
            assert shown[key] in valid.split(", ")


def beyond(valid: str) -> tuple[str, str]:
    """The numbers beside a range."""
    low, high = map(int, valid.split(" to "))
    return str(low - 1), str(high + 1)


BAD = [
    (name, key, value)
    for name in ALGORITHMS
    for key, valid in modules.parameters(name).items()
    for value in (
        ("", "garbage", "-1", "99999999999", "1 ", *beyond(valid))
        if " to " in valid
        else ("", "garbage", "train ")
    )
]


@pytest.mark.parametrize(("name", "key", "value"), BAD)
def test_a_bad_value_is_refused_in_the_modules_words(
    program: Path, name: str, key: str, value: str
) -> None:
    valid = modules.parameters(name)[key].replace("true, false", "N, Y")
    status, out, err = said(program, "load", name, f"{key}={value}")
    assert (status, out) == (1, "")
    assert err == f"longfat-bpf: {key}={value} refused: valid is {valid}\n"


@pytest.mark.parametrize("setting", ["beta=0x96", "beta=+150", "one_layer=off", "rtt_alpha=1/2"])
def test_a_good_value_gets_as_far_as_the_kernel(program: Path, setting: str) -> None:
    status, _, err = said(program, "load", "ltcp", setting)
    assert (status, err) == (1, "longfat-bpf: load is root's: sudo longfat-bpf load ltcp\n")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("load cubic", "no algorithm 'cubic' is here; there are: ghstcp ltcp"),
        ("load ltcp beta", "'beta' is no setting: write parameter=value"),
        ("load ltcp gamma=1", "ltcp has no parameter 'gamma'; there are: window_threshold "),
        ("unload ltcp", "unload is root's: sudo longfat-bpf unload ltcp"),
        ("list", "list is root's: sudo longfat-bpf list"),
        ("trace ltcp", "trace is root's: sudo longfat-bpf trace ltcp"),
        ("parameters vegas", "no algorithm 'vegas' is here; there are: ghstcp ltcp"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(program: Path, words: str, complaint: str) -> None:
    status, out, err = said(program, *words.split())
    assert (status, out) == (1, "")
    assert err.startswith(f"longfat-bpf: {complaint}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", ["", "load", "unload", "set ltcp", "list ltcp", "frobnicate"])
def test_no_such_command(program: Path, words: str) -> None:
    status, out, err = said(program, *words.split())
    assert (status, out) == (2, "")
    assert err.startswith("Usage: longfat-bpf")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_hook_of_the_module_is_one_of_bpf(name: str) -> None:
    """All but get_info, which the kernel does not let BPF have."""
    text = modules.sources()[f"tcp_{name}"].read_text()
    ops = text.partition("struct tcp_congestion_ops")[2].partition("};")[0]
    hooks = (modules.ROOT / "bpf/shim/longfat/hooks.h").read_text()
    theirs = set(re.findall(r"^\t\.(\w+)\s*= \(void \*\)", hooks, re.M))
    ours = set(re.findall(r"^\t\.(\w+)\s*=", ops, re.M)) - {"owner", "name", "flags"}
    assert ours - theirs == {"get_info"}
    assert "LF_OPS_TX_START" in ops and "LF_OP_TX_START" in hooks


@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_ifdef_in_an_algorithm(name: str) -> None:
    text = modules.sources()[f"tcp_{name}"].read_text()
    assert not re.search(r"^\s*#\s*(if|ifdef|ifndef)\b", text, re.M)


def written(source: Path) -> set[str]:
    """The members of a socket that a module writes, or a header that it includes."""
    texts, names = [source.read_text()], set()
    for one in texts:
        for name in re.findall(r"^#include <(longfat/[^>]+)>$", one, re.M):
            if name not in names:
                names.add(name)
                texts.append((modules.ROOT / "include" / name).read_text())
    text = "\n".join(texts)
    direct = re.findall(r"\btp->(\w+)(?:\[[^]]*\])?\s*(?:[-+|&]?=(?!=)|\+\+|--)", text)
    return {*re.findall(r"WRITE_ONCE\((?:sk|tp)->(\w+),", text), *direct}


def test_what_keeps_the_others_out_is_what_the_page_says() -> None:
    """By what the newest kernel that was asked lets BPF write."""
    page = (modules.ROOT / "docs/bpf.md").read_text()
    refused = set(re.findall(r"^\| `(\w+)` \|.*\| no \|$", page, re.M))
    said: dict[str, set[str]] = {}
    for name, member in re.findall(r"^\| (\w+) \| `(\w+)` \|$", page, re.M):
        said.setdefault(name, set()).add(member)
    for module, source in modules.sources().items():
        name = module.removeprefix("tcp_")
        assert written(source) & refused == said.get(name, set()), name
        assert (name in ALGORITHMS) == (name not in said), name


def test_each_member_that_a_module_writes_is_asked_for() -> None:
    lines = (modules.ROOT / "tests/bpf/members").read_text().splitlines()
    asked = {line.split()[2] for line in lines}
    for module, source in modules.sources().items():
        assert written(source) <= asked, module


@pytest.mark.parametrize(
    "page", ["README.md", "docs/bpf.md", "man/longfat-bpf.8", "debian/control"]
)
def test_pages_agree_on_the_oldest_kernel(page: str) -> None:
    assert "Linux 6.1" in (modules.ROOT / page).read_text()


def test_another_layout_of_maps_is_another_number() -> None:
    """A structure that changes while what is loaded outlives its longfat-bpf."""
    text = (modules.ROOT / "bpf/shim/longfat/about.h").read_text()
    number = re.search(r"^#define LF_LAYOUT\s+(\d+)$", text, re.M)
    member = r"^\t(?:__[us]\d+|char|struct \w+)\s.*?;|^#define LF_\w+_MAX.*$"
    members = re.findall(member, text, re.M)
    assert number
    # Both change together: raise LF_LAYOUT, and put what is said here into LAYOUTS.
    digest = hashlib.sha256("\n".join(re.sub(r"\s+", " ", x) for x in members).encode())
    assert LAYOUTS[int(number[1])] == digest.hexdigest()[:12]
