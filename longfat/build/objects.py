# SPDX-License-Identifier: GPL-2.0
"""What compiled code is known by: what is loaded and run of it, and not what its source looks like.

A comment, a line that moved and a local variable's new name give the same digest; a constant that
changed gives another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, Symbol, SymbolTableSection

from longfat.core import cache

# Beside what is built, in the cache: name -> digest.
DIGESTS = "digests.json"

# Loaded, but about the build, not about what the code does: the kernel's version and the module's
# description, lines of the source, how to walk the stack, the kernel's own structure.
_ABOUT = re.compile(
    r"\.modinfo|__versions|\.note.*|__bug_table|\.eh_frame|\.gnu\.linkonce\.this_module"
)


def _counts(section: Section) -> bool:
    loaded = bool(section["sh_flags"] & SH_FLAGS.SHF_ALLOC)
    return loaded and bool(section["sh_size"]) and not _ABOUT.fullmatch(section.name)


def _target(elf: ELFFile, symbol: Symbol, addend: int) -> str:
    """What a relocation refers to: a local symbol's place in its section, whatever it is called,
    or another's name."""
    where = symbol["st_shndx"]
    if symbol["st_info"]["bind"] == "STB_LOCAL" and isinstance(where, int):
        return f"{elf.get_section(where).name} {symbol['st_value'] + addend}"
    return f"{symbol.name} {addend}"


def digest(path: Path) -> str:
    """Stands for the loaded sections of an object file: contents, and what they refer to."""
    parts = []
    with path.open("rb") as file:
        elf = ELFFile(file)
        references = {
            section["sh_info"]: section
            for section in elf.iter_sections()
            if isinstance(section, RelocationSection)
        }
        for number, section in enumerate(elf.iter_sections()):
            if not _counts(section):
                continue
            empty = section["sh_type"] == "SHT_NOBITS"
            content = section["sh_size"] if empty else section.data().hex()
            refers = []
            if number in references:
                table = references[number]
                symbols = elf.get_section(table["sh_link"])
                assert isinstance(symbols, SymbolTableSection)
                for one in table.iter_relocations():
                    to = _target(elf, symbols.get_symbol(one["r_info_sym"]), one["r_addend"])
                    refers.append(f"{one['r_offset']} {one['r_info_type']} {to}")
            parts.append("\n".join([f"{section.name} {content}", *sorted(refers)]))
    return cache.digest(*sorted(parts))


def write_digests(paths: Iterable[Path], to: Path) -> None:
    """Put the digests of these object files into the directory `to`."""
    found = {path.stem: digest(path) for path in sorted(paths)}
    (to / DIGESTS).write_text(json.dumps(found) + "\n")


def read_digests(where: Path) -> dict[str, str]:
    """What `write_digests` put there."""
    found: dict[str, str] = json.loads((where / DIGESTS).read_text())
    return found


# A string or a character, which may have what looks like a comment in it; or a comment.
_TOKEN = re.compile(r'("(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|//[^\n]*|/\*.*?\*/', re.S)


def bare(text: str) -> str:
    """C without comments, and without blank space and lines that say nothing."""
    text = _TOKEN.sub(lambda found: found[1] or " ", text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def bare_shell(text: str) -> str:
    """A shell script without the lines that are comments or empty."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("#"))
