# SPDX-License-Identifier: GPL-2.0
"""Experiments on several virtual-time kernels: each scenario says on which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from longfat.build import kernel
from longfat.core.errors import LabError
from longfat.run.backends import LOADS, Backend, Uml
from longfat.run.scenario import Scenario


class Kernels:
    """The uml backend with each of these kernels, by what scenarios call them."""

    name = Uml.name
    exact = Uml.exact

    def __init__(self, texts: Iterable[str], *, spared: Collection[str] = ()) -> None:
        """Of those that are `spared` one that cannot be made ready is left out."""
        self._each = {text: Uml(kernel.choose(text), text) for text in texts}
        self._spared = spared
        self.without: dict[str, str] = {}  # those that were left out, and why

    def _ready(self, text: str, make: Callable[[Uml], None]) -> None:
        if text in self.without:
            return
        try:
            make(self._each[text])
        except LabError as error:
            if text not in self._spared:
                raise
            self.without[text] = str(error)

    def prepare(self, say: Callable[[str], None]) -> None:
        """Build what is not there yet, one kernel after the other."""
        for text in self._each:
            self._ready(text, lambda one: one.prepare(say))

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
        again = False

        def make(one: Uml) -> None:
            one.take(paths, say, objects=objects, timeout=timeout, again=again)

        for text in self._each:
            self._ready(text, make)
            again = again or text not in self.without

    def on(self, scenario: Scenario) -> Backend:
        """Where a scenario runs."""
        return self._each[scenario.kernel]
