#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The examples of a page that tests run: fenced blocks below "<!-- run: NAME -->".

    tests/examples.py PAGE DIRECTORY

writes each block to the file DIRECTORY/NAME.  Needs no more than Python's library.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^<!-- run: ([\w.-]+) -->\n+```\w*\n(.*?)^```$", re.M | re.S)


def examples(page: Path) -> dict[str, str]:
    """Name -> text, in the order of the page."""
    text = page.read_text()
    found = dict(BLOCK.findall(text))
    marks = text.count("<!-- run: ")
    if len(found) != marks:
        raise SystemExit(f"{page}: {marks} marks, {len(found)} blocks of different names")
    return found


if __name__ == "__main__":
    for name, code in examples(Path(sys.argv[1])).items():
        Path(sys.argv[2], name).write_text(code)
