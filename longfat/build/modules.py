# SPDX-License-Identifier: GPL-2.0
"""What the tree's modules are called.  Nothing here knows what one of them does."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from longfat.build.objects import bare
from longfat.core import cache as user_cache
from longfat.core import data, process
from longfat.core.errors import LabError

ROOT = data.root()

# In the lab kernel and, as modules or built in, in distribution kernels.
IN_TREE = frozenset(
    "reno bbr bic cdg cubic dctcp highspeed htcp hybla illinois lp nv scalable "
    "vegas veno westwood yeah".split()
)


@cache
def sources() -> dict[str, Path]:
    """Module name -> its source file, for every tcp_*.c of the tree but what a build in it
    has left."""
    found = sorted(ROOT.glob("tcp_*.c"))
    return {path.stem: path for path in found if not path.name.endswith(".mod.c")}


@cache
def owners() -> dict[str, str]:
    """Congestion control name -> the module that registers it."""
    found = {}
    for module, path in sources().items():
        for name in re.findall(r'^[\s{]*\.name\s*=\s*"([^"]+)"', path.read_text(), re.M):
            found[name] = module
    return found


def algorithms() -> frozenset[str]:
    """Every congestion control that an experiment may name."""
    return IN_TREE | frozenset(owners())


def parameters(name: str) -> dict[str, str]:
    """Parameter -> what is valid ("1 to 500", or "0, 1/3"), for the module that registers
    `name`, from the LF_PARAM_ lines of its source; ValueError if there is no such module."""
    if name not in owners():
        raise ValueError(f"no module of ours is {name!r}; valid: {', '.join(sorted(owners()))}")
    text = sources()[owners()[name]].read_text()
    found = {}
    for kind, arguments in re.findall(r"^LF_PARAM_([A-Z]+)\((.*?)\);", text, re.M | re.S):
        key, *rest = re.findall(r'"[^"]*"|[^\s,]+', arguments)
        if kind == "UINT":
            found[key] = f"{rest[1]} to {rest[2]}"
        elif kind == "BOOL":
            found[key] = "true, false"
        else:
            found[key] = ", ".join(word.strip('"') for word in rest[2:])
    return found


def accepts(valid: str, value: int | str | bool) -> bool:
    """Whether a parameter for which `valid` is valid takes `value`."""
    if valid == "true, false":
        return isinstance(value, bool)
    if " to " in valid:
        low, high = map(int, valid.split(" to "))
        return type(value) is int and low <= value <= high
    return not isinstance(value, bool) and str(value) in valid.split(", ")


def not_built(name: str) -> LabError:
    """What to say of a module of the tree of which the build made no .ko."""
    kbuild = ROOT / "Kbuild"
    text = kbuild.read_text()
    if f"{name}.o" in text or "wildcard" in text:
        why = f"though {kbuild} has it; the build's log is in {user_cache.directory()}"
    else:
        why = f"as {kbuild} has no line for it: add `obj-m += {name}.o`"
    return LabError(f"{name}.ko was not built of {sources()[name]}, {why}")


def tests_of(name: str) -> Path:
    """tests/NAME; LabError where the lab is installed without it, as its package is."""
    path = ROOT / "tests" / name
    if not path.exists():
        raise LabError(
            f"{path} is missing: this command needs longfat's source tree, and {ROOT} is an "
            f"installed lab; run scripts/longfat of the tree instead"
        )
    return path


def files(*, tests: str = "") -> list[Path]:
    """Everything that the modules are built from, in a fixed order; with `tests`, also what
    is in that directory of tests/."""
    found = [
        *sources().values(),
        ROOT / "Kbuild",
        *sorted((ROOT / "include").rglob("*.*")),
    ]
    if tests:
        where = tests_of(tests)
        found += [*sorted(where.glob("*.*")), where / "Kbuild"]
    return found


def copy(paths: Iterable[Path], to: Path) -> None:
    """Copy these files of the tree into the directory `to`, at the same places there."""
    for path in paths:
        target = to / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


# The number of a release, of which the code knows nothing.
_VERSION = re.compile(r"^#include <longfat/version\.h>$|^MODULE_VERSION\(.*\);$", re.M)


def _all_of(module: str) -> list[Path]:
    """The source of a module and all of ours that it includes, but its version."""
    found: set[Path] = set()
    todo = [sources()[module]]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            text = _VERSION.sub("", path.read_text())
            names = re.findall(r"^#include <(longfat/[\w./]+)>", text, re.M)
            todo += [ROOT / "include" / name for name in names]
    return sorted(found)


def bare_digest(module: str) -> str:
    """Stands for the source of a module and all of ours that it includes, without comments and
    its version."""
    texts = [bare(_VERSION.sub("", path.read_text())) for path in _all_of(module)]
    return user_cache.digest(*texts)


def bare_digests() -> dict[str, str]:
    """Congestion control of ours -> its module's bare_digest."""
    return {name: bare_digest(module) for name, module in sorted(owners().items())}


def tree_version() -> str:
    """What the tree is called that runs are made with; with a + if it is changed, other than in
    what is written of them."""
    git = ["git", "-C", str(ROOT)]
    try:
        said = process.call([*git, "describe", "--always"])
        if said.returncode == 0:
            changed = process.call([*git, "diff", "--quiet", "HEAD", "--", ".", ":!docs"])
            return str(said.stdout).strip() + ("+" if changed.returncode else "")
    except OSError:
        pass
    log = ROOT / "debian/changelog"
    found = re.search(r"\((.*?)\)", log.read_text()) if log.exists() else None
    return found[1] if found else "unknown"


def stamp() -> dict[str, Any]:
    """What a measurement that is no run says that it is of."""
    return {"version": tree_version(), "modules": bare_digests()}
