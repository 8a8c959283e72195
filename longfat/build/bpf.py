# SPDX-License-Identifier: GPL-2.0
"""Congestion control in BPF: an object file with struct_ops programs, given by its path.

It is compiled already, and the same for every kernel, so it is copied as it is and known by its
content.  Which congestion controls it registers is found as for a module, by loading it once.
"""

from __future__ import annotations

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from longfat.build.given import BPF, Source, check_name
from longfat.core.errors import LabError

_COMPILE = "clang --target=bpf -O2 -g -c makes one of a .bpf.c file"
_SECTIONS = (".struct_ops", ".struct_ops.link")


def _of(file: Path) -> set[str]:
    """The sections of an object file of BPF; LabError if it is none."""
    try:
        with file.open("rb") as opened:
            elf = ELFFile(opened)
            if elf["e_machine"] != "EM_BPF":
                raise LabError(f"{file}: is an object file, but not of BPF: {_COMPILE}")
            return {section.name for section in elf.iter_sections()}
    except ELFError as error:
        raise LabError(f"{file}: is no object file of BPF ({error}): {_COMPILE}") from error


def collect(path: Path) -> Source:
    """What `path` names; LabError if that is no congestion control in BPF."""
    if path.is_dir() or not path.exists():
        what = "is a directory" if path.is_dir() else "there is no such file"
        raise LabError(f"{path}: {what}; --bpf takes an object file of BPF: {_COMPILE}")
    sections = _of(path)
    if not sections & set(_SECTIONS):
        raise LabError(
            f"{path}: has no section {' or '.join(_SECTIONS)}, so it registers nothing: a "
            f'congestion control is a struct tcp_congestion_ops with SEC("{_SECTIONS[0]}")'
        )
    if ".BTF" not in sections:
        raise LabError(f"{path}: has no BTF, by which the kernel knows its types: compile with -g")
    name = path.name.removesuffix(".o").removesuffix(BPF)
    check_name(path, name)
    return Source(path, {f"{name}{BPF}.o": path}, bpf=True)
