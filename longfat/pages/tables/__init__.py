# SPDX-License-Identifier: GPL-2.0
"""The tables of the pages of docs/, made from committed results: a module for each page.

A page marks each generated part with `<!-- begin NAME -->` and `<!-- end NAME -->`; PARTS in its
module says what makes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from longfat.build.modules import ROOT
from longfat.core.errors import LabError
from longfat.pages import catalogue, data, page, work
from longfat.pages.data import READ


def figure(ident: str) -> Callable[[], str]:
    """What makes a part that is a figure of the catalogue: its tables and pictures."""

    def make() -> str:
        (chosen,) = catalogue.choose([ident])
        one = page.section(chosen, work.profile(work.COMMITTED))
        parts = [page.table(each) for each in one.tables]
        parts += [
            f"![{what}](img/{page.picture_name(one, n)})"
            for n, (what, _) in enumerate(one.pictures)
        ]
        return "\n\n".join(parts)

    return make


def picture(ident: str) -> str:
    """The first picture of a figure of the catalogue, which its page in docs/figures shows, too."""
    (chosen,) = catalogue.choose([ident])
    file = f"img/report-{ident}.svg"
    if not (data.DOCS / file).exists():
        return f"Not drawn yet: [{ident}]({chosen.where}) says what is missing."
    return f"[![{chosen.number}]({file})]({chosen.where})"


PAGES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def renew() -> None:
    """Renew the generated parts of every page."""
    for module in PAGES:
        for name, parts in import_module(f"{__name__}.{module}").PARTS.items():
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
