# SPDX-License-Identifier: GPL-2.0
"""What docs/contributing.md says how to add is where users look for it: each key and choice of a
scenario, each AQM, each backend."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

from longfat.build import kernel, tools
from longfat.build.modules import ROOT
from longfat.run.backends import BACKENDS
from longfat.run.disciplines import AQMS, DISCIPLINES, NEWER
from longfat.run.scenario import Scenario

LAB = (ROOT / "docs/lab.md").read_text()
LOADED = {"name", "case_name", "links"}  # from the file's name and its tables


def keys(model: type[BaseModel] = Scenario) -> Iterator[tuple[str, object]]:
    """Name and type of every key of a scenario file, in tables and lists of them too."""
    for name, field in model.model_fields.items():
        if name in LOADED:
            continue
        yield name, field.annotation
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from keys(kind)


@pytest.mark.parametrize("key", sorted({name for name, _ in keys()}))
def test_every_key_is_described(key: str) -> None:
    assert re.search(rf"`(\w+\.)*{key}(\.\w+)*`", LAB), f"docs/lab.md does not describe `{key}`"


def test_every_choice_is_described() -> None:
    words = {word for _, kind in keys() if get_origin(kind) is Literal for word in get_args(kind)}
    missing = {word for word in words if f'"{word}"' not in LAB}
    assert words and not missing, f"docs/lab.md does not have {missing}"


@pytest.mark.parametrize("aqm", AQMS)
def test_the_lab_s_kernels_have_every_aqm(aqm: str) -> None:
    if aqm == "sync":
        assert (tools.GUEST / "sch_lfsync.c").exists()
        return
    if aqm in NEWER:
        assert f"NET_SCH_{aqm.upper()}" in kernel.NEWER
        return
    for what in (kernel.LAB, kernel.SANITIZERS, kernel.SMP):
        text = "".join(path.read_text() for path in what.config)
        option = f"CONFIG_NET_SCH_{aqm.upper()}=y"
        if aqm == "police":
            option = "CONFIG_NET_ACT_POLICE=y"
        assert f"\n{option}\n" in text, f"longfat/build/config/lab.config does not have {option}"


@pytest.mark.parametrize("aqm", AQMS)
def test_every_option_of_an_aqm_is_described(aqm: str) -> None:
    row = re.search(rf'^\| `"{aqm}"` \|.*$', LAB, re.M)
    assert row, f"docs/lab.md: the queue disciplines lack {aqm}"
    missing = [name for name in DISCIPLINES[aqm].options if f"`{name}`" not in row[0]]
    assert not missing, f"docs/lab.md: {aqm} lacks {missing}"


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_is_described(name: str) -> None:
    page = (ROOT / "man/longfat.1").read_text()
    assert re.search(rf"^\| `{name}`", LAB, re.M), f"docs/lab.md: the backends lack `{name}`"
    choices = page.partition(".It Fl -backend Ar name\n")[2].partition("\n.")[0]
    assert name in re.findall(r"[\w-]+", choices), f"man/longfat.1: run --backend lacks {name}"
