#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The stock-kernel acceptance: our modules, built against the headers of Debian's own
kernels and installed as modules are, in a virtual machine that runs that kernel.

    tests/stock.py [suite...]

What is tested is in stock/guest.sh and stock/sockets.py; this builds, boots and passes
on what they say.  KTAP, one subtest for each kernel.  Exit status 0: all passed; 1:
something failed; 4: this machine runs no virtual machine, and says why.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from lab import modules, suite, vm
from lab.errors import LabError

# Debian's 6.1 kernel gets everything.  The newest one gets what depends on the kernel:
# cwnd_event_tx_start (idle), the interfaces of loading and selecting.
CASES = {
    "bookworm": "",
    "sid": "load autoload one_socket iperf ss_shows in_use trace storm idle",
}

# Below the guest's root, in the chroot: where "make install" would put them.
SETUP = """
set -e
cp -r /mnt/longfat /src
kernel=$(basename /lib/modules/*)
make -C "/lib/modules/$kernel/build" M=/src modules
mkdir -p "/lib/modules/$kernel/updates"
cp /src/*.ko "/lib/modules/$kernel/updates"
depmod "$kernel"
"""


def run(name: str, cases: str) -> bool:
    """Run the `cases` (all if empty) under suite `name`'s kernel; whether all passed."""
    pairs = " ".join(f"{module}:{algorithm}" for algorithm, module in modules.owners().items())
    with tempfile.TemporaryDirectory(prefix="longfat-stock-") as directory:
        tree = Path(directory)
        for path in [*modules.files(), *sorted((modules.ROOT / "tests/stock").glob("*.*"))]:
            copy = tree / path.relative_to(modules.ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        result = vm.run(
            f"CASES='{cases}' sh /mnt/longfat/tests/stock/guest.sh {pairs}",
            suite=name,
            setup=SETUP,
            binds=[(tree, "/mnt/longfat")],
            output=lambda line: print(f"    {line}", end="", flush=True),
            # Emulated, a module's cases take three minutes on a quiet machine.
            timeout=300 + 600 * len(modules.owners()),
        )
    return result.returncode == 0


def main(names: list[str]) -> int:
    try:
        vm.check()
        suite.as_root(["true"])
    except LabError as error:
        print("KTAP version 1", f"1..{len(names)}", sep="\n")
        for number, name in enumerate(names, 1):
            print(f"ok {number} - {name} # SKIP {error}")
        return 4
    print("KTAP version 1", f"1..{len(names)}", sep="\n", flush=True)
    failed = False
    for number, name in enumerate(names, 1):
        title = name
        try:
            title = f"{name} {suite.kernel(name)}"
            good = run(name, CASES[name])
        except LabError as error:
            print("\n".join(f"# {line}" for line in str(error).splitlines()))
            good = False
        print(f"{'ok' if good else 'not ok'} {number} - {title}", flush=True)
        failed |= not good
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(CASES)))
