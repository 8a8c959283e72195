# SPDX-License-Identifier: GPL-2.0
"""What pyproject.toml does not say itself: `pip install` has the same data and the same versions
of packages as the tree."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from longfat.core import data  # noqa: E402 - of this tree


class Data(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the lab's data into the package, where longfat.core.data looks for it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for path in data.files(ROOT):
            build_data["force_include"][str(ROOT / path)] = f"longfat/share/{path}"


class Requirements(MetadataHookInterface):
    """The packages are those of longfat/requirements.txt."""

    def update(self, metadata: dict[str, Any]) -> None:
        lines = (ROOT / "longfat/requirements.txt").read_text().splitlines()
        named = (line.partition("#")[0].strip() for line in lines)
        metadata["dependencies"] = [line for line in named if line and not line.startswith("-")]
