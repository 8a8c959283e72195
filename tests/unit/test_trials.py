# SPDX-License-Identifier: GPL-2.0
"""What might make the lab faster: which kernels they are."""

from __future__ import annotations

import sys
import tomllib

import pytest
from pydantic import ValidationError

from longfat.build import kernel
from longfat.build.modules import ROOT

sys.path.insert(0, str(ROOT / "tests/bench"))
import trials


def every() -> dict[str, trials.Trial]:
    text = (ROOT / "tests/bench/trials.toml").read_text()
    return {name: trials.Trial.model_validate(keys) for name, keys in tomllib.loads(text).items()}


def test_the_first_is_the_lab_as_it_is() -> None:
    first, *others = every().values()
    assert first == trials.Trial(about=first.about)
    assert first.boots() == kernel.LAB
    assert all(other.model_copy(update={"about": first.about}) != first for other in others)


def test_another_kernel_has_another_name() -> None:
    """By which the cache knows it."""
    made = {one.boots() for one in every().values()}
    assert len({one.key for one in made}) == len(made) == 4
    assert all("/" not in one.key and " " not in one.key for one in made)


def test_what_no_trial_has() -> None:
    with pytest.raises(ValidationError, match="hugh"):
        trials.Trial.model_validate({"about": "a", "hugh": True})
