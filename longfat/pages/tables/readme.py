# SPDX-License-Identifier: GPL-2.0
"""The figures of README.md."""

from __future__ import annotations

from longfat.pages.data import RESULTS, markdown
from longfat.run import result
from longfat.show import report


def demo() -> str:
    """The table of `make demo`."""
    rows = [
        report.row(result.read(RESULTS / f"demo-{cc}-s1.json"))[1:-1]
        for cc in ("reno", "cubic", "hstcp", "ghstcp", "ltcp")
    ]
    return markdown(list(report.HEADINGS[1:-1]), rows)


PARTS = {"README.md": {"demo": demo}}
