# SPDX-License-Identifier: GPL-2.0
"""What a program can do to an algorithm through sockets, on the lab's kernel: cases of
tests/stock/sockets.py, which tests/stock runs on Debian's own."""

from __future__ import annotations

import sys

import guest
import pytest

from longfat.build import modules
from longfat.run.backends import Uml

# Those that need neither a second program nor tracing.  The kernel never lets go of the module
# after the last one.
CASES = (
    *("one_socket", "unprivileged", "in_use", "before_first_ack", "syn_lost", "listener"),
    *("reconnect", "hostile", "namespace"),
)

SCRIPT = """
ip link set lo up
# Nobody answers there.
ip link add silent0 type veth peer name silent1
ip link set silent0 up
ip link set silent1 up
mkdir bin
printf '#!/bin/sh\\nexec insmod "%s/$1.ko"\\n' "$PWD" >bin/modprobe
chmod 755 bin/modprobe
PATH=$PWD/bin:$PATH
sysctl -qw net.ipv4.tcp_congestion_control=cubic
modprobe {module}
for case in {cases}; do
	{python} sockets.py "$case" {cc} {module} || exit 1
	echo "done $case"
done
"""


@pytest.mark.parametrize("name", sorted(x.removeprefix("tcp_") for x in modules.sources()))
def test_sockets(uml: Uml, name: str) -> None:
    said = guest.boot(
        uml,
        SCRIPT.format(cases=" ".join(CASES), python=sys.executable, cc=name, module=f"tcp_{name}"),
        [modules.ROOT / "tests/stock/sockets.py"],
    )
    assert [x for x in said.splitlines() if x.startswith("done")] == [f"done {x}" for x in CASES]
