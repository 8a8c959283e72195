# SPDX-License-Identifier: GPL-2.0
"""Every parameter of every module, written and loaded with anything that there is."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import guest
import pytest

from longfat.build import modules
from longfat.run.backends import Uml


@pytest.mark.parametrize("name", sorted(x.removeprefix("tcp_") for x in modules.sources()))
def test_parameters(uml: Uml, name: str, tmp_path: Path) -> None:
    """What is not valid is refused with EINVAL or ERANGE and one line in the log, and changes
    nothing; tests/lab/parameters.py says what is given, and judges."""
    table = tmp_path / "table"
    table.write_text(json.dumps(modules.parameters(name)))
    program = Path(__file__).parent / "parameters.py"
    said = guest.boot(
        uml,
        f"{sys.executable} parameters.py tcp_{name}.ko table\n",
        [table, program],
    )
    given = re.findall(r"^(\w+): (\d+) values (written|loaded with)$", said, re.M)
    assert len(given) == 2 * len(modules.parameters(name))
    assert all(int(count) >= (50 if how == "written" else 20) for _, count, how in given)
