# SPDX-License-Identifier: GPL-2.0
"""The test suites, as tests/suites.toml names them, and the lanes that they are in."""

from __future__ import annotations

import tomllib

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from longfat.build import modules
from longfat.core.errors import LabError


class Suite(BaseModel):
    """One table of tests/suites.toml, which says what each key means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str
    command: str
    timeout: float = Field(1800, gt=0)
    cores: int | None = Field(None, gt=0)
    alone: bool = False
    lanes: frozenset[str] = frozenset()

    def most(self, cores: int) -> int:
        """How many of so many cores it has a use for."""
        return min(self.cores or cores, cores)


def load() -> dict[str, Suite]:
    """Name -> suite, in the order of the file."""
    path = modules.tests_of("suites.toml")
    try:
        tables = tomllib.loads(path.read_text())
        return {name: Suite.model_validate(table) for name, table in tables.items()}
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise LabError(f"{path}: {error}") from None


def lanes(suites: dict[str, Suite]) -> list[str]:
    """The names of the lanes."""
    return sorted({lane for suite in suites.values() for lane in suite.lanes})


def choose(names: list[str]) -> dict[str, Suite]:
    """The suites that `names` are of, which are suites or lanes; all of them if it is empty."""
    suites = load()
    if unknown := set(names) - set(suites) - set(lanes(suites)):
        raise LabError(
            f"no suite {', '.join(sorted(unknown))}; valid: {', '.join(suites)}; "
            f"several at once: {', '.join(lanes(suites))}"
        )
    return {
        name: suite
        for name, suite in suites.items()
        if not names or name in names or suite.lanes & set(names)
    }
