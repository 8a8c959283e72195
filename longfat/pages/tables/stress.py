# SPDX-License-Identifier: GPL-2.0
"""The long run of chaos that docs/stress.md tells of."""

from __future__ import annotations

from longfat.pages.data import markdown, measured, older
from longfat.run.result import Json

# Kernel -> what `longfat stress` calls it.
KERNELS = {"sanitizers": "uml", "two processors": "smp"}


def seen() -> str:
    runs: dict[str, Json] = {kernel: measured(f"stress-{name}") for kernel, name in KERNELS.items()}
    rows = [
        ["minutes", *(f"{one['wall_s'] / 60:.0f}" for one in runs.values())],
        ["version", *(one["version"] for one in runs.values())],
        ["seeds", *(f"{one['first']} and on" for one in runs.values())],
        ["failed", *(str(len(one["failed"])) for one in runs.values())],
    ]
    # In the order in which they are said.
    for key in dict.fromkeys(key for one in runs.values() for key in one["total"]):
        counts = [one["total"].get(key) for one in runs.values()]
        shown = ["" if n is None else f"{n:,}" for n in counts]
        rows.append([key.replace("_", " "), *shown])
    return markdown(["", *runs], rows)


PARTS = {"docs/stress.md": {"seen": seen, "older": older}}
