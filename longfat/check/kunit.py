# SPDX-License-Identifier: GPL-2.0
"""The KUnit suites of tests/kunit, on the virtual-time kernel."""

from __future__ import annotations

import re
import shutil

from longfat.build import kernel
from longfat.core.errors import LabError
from longfat.run import result, runner
from longfat.run.backends import Uml

# Each module's suites run as it is loaded.
_LOAD = """for module in "$1"/*.ko; do
insmod "$module" || echo "not ok - insmod $module" >/dev/kmsg
done
"""


# Newer kernels want the second one to run suites as their module is loaded.
_ARGUMENTS = ("kunit.enable=1", "kunit.autorun=1")


def run(what: kernel.Kernel, where: Uml) -> tuple[list[str], bool]:
    """Run them on the kernel `what` in `where`, which is prepared: the kernel's log, which has
    their KTAP, and whether the kernel had nothing to complain of.  Their failures are no
    complaints: they are in the KTAP."""
    with runner.run_directory() as scratch, runner.terminable():
        for module in (every := [*kernel.build_modules(what, tests="kunit").glob("*.ko")]):
            shutil.copy(module, scratch)
        (scratch / "run.sh").write_text(_LOAD)
        status = where.boot_alone(scratch, megabytes=1024, timeout=600, arguments=_ARGUMENTS)
        log = scratch / "dmesg"
        text = log.read_text() if log.exists() else (scratch / "console").read_text()
    lines = [re.sub(r"^\[[^]]*\] ", "", line) for line in text.splitlines()]
    ran = set(re.findall(r"# module: (\w+)", text))
    if silent := sorted({module.stem for module in every} - ran):
        raise LabError(f"no KUnit suite ran of {', '.join(silent)}")
    return lines, not status and not any(result.SPLAT.search(line) for line in lines)
