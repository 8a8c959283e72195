# SPDX-License-Identifier: GPL-2.0
"""What the commands of docs/your-own.md take, by docs/results/your-own-times.json."""

from __future__ import annotations

from longfat.pages.data import markdown, measured


def times() -> str:
    """A row for each command."""
    of = measured("your-own-times")
    rows = [[f"`{command}`", f"{seconds:.0f}"] for command, seconds in of["wall_s"].items()]
    rows.append(["all", f"{sum(of['wall_s'].values()):.0f}"])
    where = "with an empty cache" if of["empty_cache"] else "with a warm cache"
    return f"On {of['cores']} cores, {where}:\n\n" + markdown(["command", "seconds"], rows)


PARTS = {"docs/your-own.md": {"times": times}}
