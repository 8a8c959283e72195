# SPDX-License-Identifier: GPL-2.0
"""Experiments on several virtual-time kernels: each scenario says on which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from longfat.build import kernel
from longfat.run.backends import LOADS, Backend, Uml
from longfat.run.scenario import Scenario


class Kernels:
    """The uml backend with each of these kernels, by what scenarios call them."""

    name = Uml.name
    exact = Uml.exact

    def __init__(self, texts: Iterable[str]) -> None:
        self._each = {text: Uml(kernel.choose(text), text) for text in texts}

    def prepare(self, say: Callable[[str], None]) -> None:
        """Build what is not there yet, one kernel after the other."""
        for one in self._each.values():
            one.prepare(say)

    def check_takes(self, paths: Sequence[Path], objects: Sequence[Path]) -> None:
        """As all of them do."""
        for one in self._each.values():
            one.check_takes(paths, objects)

    def take(
        self,
        paths: Sequence[Path],
        say: Callable[[str], None],
        *,
        objects: Sequence[Path] = (),
        timeout: float = LOADS,
    ) -> None:
        """Build these modules for each kernel; none of them takes `objects` of BPF."""
        for number, one in enumerate(self._each.values()):
            one.take(paths, say, objects=objects, timeout=timeout, again=number > 0)

    def on(self, scenario: Scenario) -> Backend:
        """Where a scenario runs."""
        return self._each[scenario.kernel]
