# SPDX-License-Identifier: GPL-2.0
"""What modules register, found by loading them once into the kernel that runs will have."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from longfat.build import given, objects, tools
from longfat.build.given import Given, Source
from longfat.core.errors import LabError
from longfat.run.result import SPLAT

LOAD = ("load.sh", "register.sh")  # of guest/

# Of what was said: a verifier tells all that it has looked at, and what it refused at the end.
MOST_LINES = 40

# A copy of one of its own is refused for the one name and, after that is mended, for the other.
_COPY = "this kernel has one of its own that is called so: rename the file, and change .name in it"

# What the kernel says -> what to do.
_HINTS = {
    "already registered": _COPY,
    "already loaded": _COPY,
    "Unknown symbol": "the module needs a function that this kernel does not have or not export",
    ".struct_ops.link": 'SEC(".struct_ops.link") needs Linux 6.4: use SEC(".struct_ops")',
}


def _text(path: Path) -> str:
    return path.read_text(errors="replace").strip() if path.exists() else ""


def _why(run: Path, name: str) -> str:
    """What insmod or bpftool and the kernel said of what could not be loaded."""
    lines = _text(run / f"{name}.log").replace(f"{run}/", "").replace("/lab/", "").splitlines()
    text = "\n".join(["..."] * (len(lines) > MOST_LINES) + lines[-MOST_LINES:])
    for said, hint in _HINTS.items():
        if said in text:
            text += f"\n({hint})"
    return text


def find(
    source: Source,
    built: Path,
    run: Path,
    try_modules: Callable[[Path, Sequence[str]], None],
    say: Callable[[str], None],
    *,
    lasting: bool = False,
) -> list[Given]:
    """What the files of `built` are, which `source` was compiled to, after `try_modules` has
    loaded them in the directory `run`, which is made.

    Of several one may fail, such as a copy of the kernel's own: `say` is told, without the name of
    the source.  LabError if none registers anything, if the kernel complained, or if one stays in
    a kernel that is `lasting`.
    """
    run.mkdir()
    ordered = given.in_order(built.iterdir())
    names = [file.stem for file in ordered]
    of = {file.stem: given.information(file) for file in ordered}
    for script in LOAD:
        shutil.copy(tools.GUEST / script, run)
    for file in ordered:
        shutil.copy(file, run)
        foreign = [name for name in of[file.stem][1] if name not in of]
        if foreign:
            (run / f"{file.stem}.needs").write_text(" ".join(foreign) + "\n")
    try:
        try_modules(run, names)
    except LabError as error:
        raise LabError(f"{source.path}: cannot be loaded: {error}") from error
    log = _text(run / "log")
    if SPLAT.search(log):
        raise LabError(f"{source.path}: the kernel complained when it was loaded:\n{log}")
    lines = [line.split() for line in _text(run / "found").splitlines()]
    failed, stays = (
        [words[1] for words in lines if words[0] == what] for what in ("failed", "stays")
    )
    if lasting and stays:
        why = "\n".join(f"{given.file_of(x)}: {_text(run / f'{x}.stays')}" for x in stays)
        raise LabError(
            f"{source.path}: stays in this kernel until the machine is started again, as it cannot "
            f"be removed (a module needs a module_exit for that):\n{why}"
        )
    registers = {
        name: tuple(words[2] for words in lines if words[:2] == ["cc", name]) for name in names
    }
    if not any(registers.values()):
        told = [f"{given.file_of(name)}: {_why(run, name)}" for name in failed]
        told += [
            f"{given.file_of(name)}: registers no congestion control"
            for name in names
            if name not in failed
        ]
        what = "cannot be loaded" if failed else "is no congestion control"
        raise LabError("\n".join([f"{source.path}: {what}:", *told]))
    for name in registers:
        if source.bpf and _text(run / f"{name}.log"):
            say(f"not all of it is registered: {_why(run, name)}")
    for name in failed:
        say(f"{name}.ko is left out, as it cannot be loaded: {_why(run, name)}")
    found = []
    for name in names:
        if name in failed:
            (built / f"{name}.ko").unlink()
            continue
        types, needs = of[name]
        modes = {words[2]: int(words[3], 8) for words in lines if words[:2] == ["parameter", name]}
        types = {key: "" for key in modes} | types
        written = tuple(sorted(key for key in modes if modes[key] & 0o200 and not types[key]))
        found.append(
            Given(
                name,
                registers[name],
                types,
                written,
                needs,
                source.bare_digest(),
                source.bare_digest() if source.bpf else objects.digest(built / f"{name}.ko"),
            )
        )
    return found
