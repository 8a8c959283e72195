# SPDX-License-Identifier: GPL-2.0
"""The tables of the pages of docs/, made from committed results: a module for each page.

A page marks each generated part with `<!-- begin NAME -->` and `<!-- end NAME -->`; PARTS in its
module says what makes it.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from longfat.build.modules import ROOT
from longfat.core.errors import LabError
from longfat.pages.data import READ

PAGES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def renew() -> None:
    """Renew the generated parts of every page."""
    for page in PAGES:
        for name, parts in import_module(f"{__name__}.{page}").PARTS.items():
            path = ROOT / name
            text = path.read_text()
            READ.clear()
            for part, make in parts.items():
                pattern = re.compile(
                    rf"(<!-- begin {part} -->\n).*?(<!-- end {part} -->)", flags=re.DOTALL
                )
                if not pattern.search(text):
                    raise LabError(f"{name} has no part {part}")
                try:
                    table = make().replace("\\", "\\\\")
                except FileNotFoundError as error:
                    table = f"Not measured yet: {Path(error.filename).name} is missing."
                text = pattern.sub(rf"\g<1>{table}\n\g<2>", text)
            path.write_text(text)
