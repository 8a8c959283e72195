# SPDX-License-Identifier: GPL-2.0
"""Modules that are none of the tree's: a researcher's own, given by their path.

A path is a .c file, or a directory with a Kbuild or a Makefile of obj-m.  It is copied, built for
the kernel of the run and loaded there once, which tells what it registers: a name may be made up
by the module's code, so no look at its source says that.  What came of it is kept in the cache, by
the content of the source.  This file knows how; longfat.run.backends has the kernels.

`give` makes modules known to the scenarios of this process.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from longfat.build import modules, objects
from longfat.core import cache
from longfat.core.errors import LabError

# In the cache beside the .ko files: what they are, and what was said of them.
FOUND = "found.json"
# A module's directory is copied, so it is not a whole disk.
MOST_BYTES = 100 << 20

# Ends the name of what is no module but an object of BPF (longfat.build.bpf).
BPF = ".bpf"

# In words that are kept: the directory of the source, which may lie elsewhere the next time.
_PLACE = "\0"

# What a build leaves, and what is of no use to one.
_PRODUCT = re.compile(r".*\.(ko|o|a|mod|mod\.c|cmd|order)|Module\.symvers|\..*|__pycache__")
_QUOTED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
_OURS = re.compile(r"^\s*#\s*include\s*<longfat/", re.M)

# For one .c file.  The first line alone, unless it includes ours: then as the tree's Kbuild.
_KBUILD = "obj-m := {name}.o\n"
_KBUILD_OURS = (
    "include $(src)/include/longfat/probe.mk\n" "ccflags-y := -I$(src)/include $(lf-probes-y)\n"
)

# What the kernel makes an error by name, which a plain -Wno-error leaves one.  So it does with code
# that cannot work, such as a hook with other arguments: that stays an error.
_STYLE = ("strict-prototypes", "date-time", "designated-init")

# At the end of what is made of a Kbuild or Makefile, and so behind its own flags: no warning is an
# error.
CALM = "\nCFLAGS_MODULE += {}\n".format(
    " ".join(["-Wno-error", *(f"$(call cc-option,-Wno-error={x})" for x in _STYLE)])
)

# What make says of itself.
_NOISE = re.compile(
    r"make(\[\d+\])?: ((Entering|Leaving) directory|\*\*\*) .*"
    r"|\s+(CC|LD|MODPOST|AS|AR|GEN|CLEAN) .*"
    r"|warning: the compiler differs from .*|\s+The kernel was built by: .*|\s+You are using: .*"
    r"|\s+BTF .*|Skipping BTF generation .*|"
)


@dataclass(frozen=True)
class Source:
    """What is built: the path as it was given, and where each file of it goes."""

    path: Path
    files: Mapping[str, Path]
    kbuild: str = ""  # made for it
    bpf: bool = False  # compiled already

    def digest(self, *how: object) -> str:
        """Stands for all that the build reads, built `how`."""
        parts = [part for name in sorted(self.files) for part in (name, self.files[name])]
        return cache.digest(*how, self.kbuild, *parts)

    def bare_digest(self) -> str:
        """Stands for its code without comments and for what builds it, where it is known by its
        source."""
        if self.bpf:
            return cache.digest(*self.files.values())
        parts: list[object] = []
        for name, path in sorted(self.files.items()):
            code = name.endswith((".c", ".h"))
            parts += [name, objects.bare(path.read_text(errors="replace")) if code else path]
        return cache.digest(self.kbuild, *parts)

    def copy(self, to: Path) -> None:
        """Into the directory `to`, which is made.  There warnings are not errors, also where the
        module's own Makefile wants them to be, or the kernel's in matters of style."""
        for name, path in self.files.items():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to / name)
        if self.kbuild:
            (to / "Kbuild").write_text(self.kbuild)
        if not self.bpf:
            # Kbuild reads the first of these that is there.
            first = next(to / name for name in ("Kbuild", "Makefile") if (to / name).exists())
            text = first.read_bytes()
            first.unlink()  # it may be read-only
            first.write_bytes(text + CALM.encode())


@dataclass(frozen=True)
class Given:
    """A module that was built and loaded, or an object of BPF that was loaded."""

    module: str  # as the kernel calls it; of BPF, the file's name
    names: tuple[str, ...]  # that it registers
    parameters: Mapping[str, str]  # name -> the type that modinfo says, "" if it says none
    written: tuple[str, ...] = ()  # of these, whose setter is the module's own: written to /sys
    needs: tuple[str, ...] = ()  # modules
    source: str = ""  # digests, as longfat.run.identity.Made has them
    object: str = ""
    where: Path = field(default=Path(), compare=False)  # the files' directory

    @property
    def bpf(self) -> bool:
        return self.module.endswith(BPF)

    @property
    def file(self) -> Path:
        return self.where / file_of(self.module)


def file_of(module: str) -> str:
    """The name of the file that is loaded."""
    return f"{module}.{'o' if module.endswith(BPF) else 'ko'}"


# --- the source


def _included(path: Path) -> dict[str, Path]:
    """A .c file, and the files beside it and below that it includes, by their place."""
    found: dict[str, Path] = {}
    todo = [path]
    while todo:
        file = todo.pop()
        place = os.path.relpath(file, path.parent)
        if place in found or place.startswith("..") or not file.is_file():
            continue
        found[place] = file
        text = file.read_text(errors="replace")
        todo += [file.parent / name for name in _QUOTED.findall(text)]
    return found


def _below(path: Path) -> dict[str, Path]:
    """The files of a directory but for what a build leaves, by their place."""
    found: dict[str, Path] = {}
    size = 0
    for root, directories, files in os.walk(path, followlinks=False):
        directories[:] = sorted(x for x in directories if not _PRODUCT.fullmatch(x))
        for name in sorted(files):
            file = Path(root) / name
            if _PRODUCT.fullmatch(name) or not file.is_file():
                continue
            size += file.stat().st_size
            found[str(file.relative_to(path))] = file
            if size > MOST_BYTES:
                raise LabError(
                    f"{path}: holds more than {MOST_BYTES >> 20} MB; --module takes the directory "
                    f"of a module's source alone"
                )
    return found


def check_name(path: Path, name: str) -> None:
    """LabError if a file of this name is none that scripts and the kernel take."""
    if not re.fullmatch(r"[\w-]+", name):
        raise LabError(f"{path}: a module's name has letters, digits, _ and - alone: rename it")


def collect(path: Path) -> Source:
    """What `path` names; LabError if that is nothing that could be built."""
    if path.is_dir():
        if any((path / name).is_file() for name in ("Kbuild", "Makefile")):
            return Source(path, _below(path))
        sources = ", ".join(sorted(x.name for x in path.glob("*.c") if ".mod." not in x.name))
        raise LabError(
            f"{path}: has no Kbuild and no Makefile: write one with `obj-m := NAME.o`, or give "
            f"the .c file itself (there is {sources or 'none'})"
        )
    if not path.exists():
        raise LabError(f"{path}: there is no such file or directory")
    if path.suffix != ".c":
        built = " It is built for each kernel: give its source." if path.suffix == ".ko" else ""
        raise LabError(
            f"{path}: is no module's source, which is a .c file, or a directory with a Kbuild or "
            f"a Makefile.{built}"
        )
    check_name(path, path.stem)
    files = _included(path)
    kbuild = _KBUILD.format(name=path.stem)
    if any(_OURS.search(file.read_text(errors="replace")) for file in files.values()):
        kbuild += _KBUILD_OURS
        headers = sorted((modules.ROOT / "include/longfat").glob("*.*"))
        files |= {f"include/longfat/{one.name}": one for one in headers}
    return Source(path, files, kbuild)


# --- the build


def command(headers: str, place: str, *, arch: str = "") -> list[str]:
    """What builds the copy of a source in `place` with a kernel's `headers`; the directory is in no
    string of the code."""
    jobs = len(os.sched_getaffinity(0))
    return [
        # A Makefile's $(PWD) is the shell's, and make -C leaves it as it was.
        *("env", f"PWD={place}"),
        *("make", "-C", headers, f"M={place}", *([f"ARCH={arch}"] if arch else []), f"-j{jobs}"),
        *(f"KCFLAGS=-fmacro-prefix-map={place}/=", "modules"),
    ]


def words(said: str, place: str) -> str:
    """What a compiler said of a copy in `place`, without what make says of itself; to be kept."""
    lines = [line for line in said.splitlines() if not _NOISE.fullmatch(line)]
    return "\n".join(lines).replace(f"{place}/", _PLACE)


def placed(text: str, path: Path) -> str:
    """Such words of the source `path`: of the files as they were given."""
    at = path if path.is_dir() else path.parent
    return text.replace(_PLACE, f"{at}/" if str(at) != "." else "")


def objects_in(place: Path, source: Source, kernel: str) -> list[Path]:
    """The .ko files that a build has left; LabError if there is none, or two have one name."""
    found = sorted(place.rglob("*.ko"))
    if not found:
        raise LabError(
            f"{source.path}: its Kbuild or Makefile made no module for {kernel}: obj-m names none, "
            f"or only where an option is set that this kernel does not have"
        )
    of: dict[str, Path] = {}
    for file in found:
        other = of.setdefault(module_name(file), file)
        if other is not file:
            both = " and ".join(str(x.relative_to(place)) for x in (other, file))
            raise LabError(f"{source.path}: two modules are called {module_name(file)}: {both}")
    return found


def information(file: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """What modinfo says: the type of each parameter, "" where it is the module's own, and the
    modules that it needs; nothing of BPF."""
    with file.open("rb") as opened:
        section = ELFFile(opened).get_section_by_name(".modinfo")
        text = section.data().decode(errors="replace") if section else ""
    entries = [entry.partition("=")[::2] for entry in text.split("\0") if "=" in entry]
    types: dict[str, str] = {}
    for key in ("parm", "parmtype"):  # the second has a type where the first has a text
        for name, _, rest in (value.partition(":") for tag, value in entries if tag == key):
            types[name] = rest if key == "parmtype" else types.get(name, "")
    needs = [name for tag, value in entries if tag == "depends" for name in value.split(",")]
    return types, tuple(name.replace("-", "_") for name in needs if name)


def module_name(file: Path) -> str:
    """As the kernel calls it."""
    return file.stem if file.suffix == ".o" else file.stem.replace("-", "_")


def in_order(files: Iterable[Path]) -> list[Path]:
    """These files, those that others need first."""
    of = {module_name(file): file for file in files}
    found: dict[str, Path] = {}
    begun: set[str] = set()

    def add(name: str) -> None:
        if name in of and name not in begun:
            begun.add(name)
            for other in information(of[name])[1]:
                add(other)
            found[name] = of[name]

    for name in sorted(of):
        add(name)
    return list(found.values())


# --- what the first load said


def write_found(found: Iterable[Given], said: Sequence[str], to: Path) -> None:
    """Keep beside the .ko files what they are, and what is to be said of them each time."""
    entries = [{k: v for k, v in asdict(one).items() if k != "where"} for one in found]
    (to / FOUND).write_text(json.dumps({"modules": entries, "said": said}, indent=1) + "\n")


def read_found(where: Path) -> tuple[list[Given], list[str]]:
    """What `write_found` put there."""
    kept = json.loads((where / FOUND).read_text())
    entries: list[dict[str, Any]] = kept["modules"]
    for entry in entries:
        entry |= {key: tuple(entry[key]) for key in ("names", "written", "needs")}
    return [Given(**entry, where=where) for entry in entries], kept["said"]


# --- what this process knows

_given: dict[str, Given] = {}
_awaited = False


def give(found: Iterable[Given]) -> None:
    """Make modules known; LabError if two of them have one name."""
    for one in found:
        taken = _given.get(one.module)
        if taken:
            raise LabError(f"two modules are called {one.module}: rename a file")
        for name in one.names:
            if other := owners().get(name):
                raise LabError(f"both {other} and {one.module} register {name!r}")
        _given[one.module] = one


def check_same(found: Iterable[Given], kernel: str) -> None:
    """LabError unless these, built for another kernel, are as those that are known."""
    for one in found:
        first = _given.get(one.module)
        if not first or replace(one, source=first.source, object=first.object) != first:
            raise LabError(
                f"the module {one.module} has other names or parameters on {kernel} than on the "
                f"kernel before: run them one kernel at a time"
            )


def forget() -> None:
    """All that was given."""
    _given.clear()


@contextmanager
def awaited() -> Iterator[None]:
    """Within it any congestion control may come yet: a scenario is checked before the modules are
    built, but for their names."""
    global _awaited
    _awaited = True
    try:
        yield
    finally:
        _awaited = False


def may_come() -> bool:
    """Whether a name that is not known may be one of a module that is not built yet."""
    return _awaited


def known() -> Mapping[str, Given]:
    """Module -> what was given."""
    return _given


def owners() -> dict[str, str]:
    """Congestion control -> the module that registers it, of those that were given."""
    return {name: one.module for one in _given.values() for name in one.names}


def registered() -> dict[str, str]:
    """Congestion control -> the module that registers it, of the tree or given.  A module that was
    given stands in the place of the tree's of the same name."""
    ours = {name: module for name, module in modules.owners().items() if module not in _given}
    return ours | owners()


# --- parameters

_RANGES = {
    "byte": (0, 2**8 - 1),
    "short": (-(2**15), 2**15 - 1),
    "ushort": (0, 2**16 - 1),
    "int": (-(2**31), 2**31 - 1),
    "uint": (0, 2**32 - 1),
    "long": (-(2**63), 2**63 - 1),
    "ulong": (0, 2**64 - 1),
    "ullong": (0, 2**64 - 1),
    "hexint": (0, 2**32 - 1),
}
_SWITCHES = ("bool", "invbool", "bint")
_SWITCH = re.compile(r"[ynft01]|o[nf]", re.I)  # how a word begins that the kernel takes as one


def _item(kind: str, value: object) -> bool:
    """Whether a parameter of this type takes one value."""
    if kind in _RANGES:
        low, high = _RANGES[kind]
        return type(value) is int and low <= value <= high
    if kind in _SWITCHES:
        return isinstance(value, bool)
    if kind in ("charp", "string"):
        return isinstance(value, str)
    return True  # what its own setter makes of it, the kernel says


def _element(kind: str, word: str) -> object:
    """What a word of a list is to `_item`, in an array of this type."""
    if kind in _RANGES:
        with suppress(ValueError):
            return int(word, 0)
    return True if kind in _SWITCHES and _SWITCH.match(word) else word


def _list_of(kind: str) -> str:
    """An example of an array's value."""
    return "1,2,3" if kind in _RANGES else "1,0" if kind in _SWITCHES else "a,b"


def refusal(name: str, key: str, value: int | str | bool) -> str:
    """Why this parameter of the module that registers `name` cannot have this value; "" if it
    can, as far as modinfo tells."""
    of = _given[owners()[name]].parameters
    if key not in of:
        valid = ", ".join(sorted(of)) or "it has none"
        return f"{name} has no parameter {key!r}; valid: {valid}"
    if isinstance(value, str) and re.search(r'[\n"]', value):
        return f"{name}.{key} = {value!r}: a parameter has no quotes and is one line"
    kind = of[key]
    of_array = kind.removeprefix("array of ")
    if of_array != kind:
        words = value.split(",") if isinstance(value, str) else []
        items = [_element(of_array, word) for word in words] or [value]
        fits = all(_item(of_array, item) for item in items)
        kind += f', such as "{_list_of(of_array)}"'
    else:
        fits = _item(kind, value)
    if kind in _RANGES:
        kind += ", {} to {}".format(*_RANGES[kind])
    return "" if fits else f"{name}.{key} = {value!r}: modinfo says that it is {kind}"
