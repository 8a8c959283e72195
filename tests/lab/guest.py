# SPDX-License-Identifier: GPL-2.0
"""The lab's kernel for a test that brings its own program instead of an experiment."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from longfat.run import result, runner
from longfat.run.backends import Uml


def boot(uml: Uml, script: str, files: Iterable[Path] = ()) -> str:
    """Run the shell script as root in a kernel of its own; what it says.

    It begins in a directory with `files` and our modules.  It must end with status 0, and the
    kernel must not have complained.
    """
    with runner.run_directory() as scratch:
        built = uml.module_files()
        assert built
        for file in [*built.glob("*.ko"), *files]:
            shutil.copy(file, scratch)
        (scratch / "main.sh").write_text(script)
        (scratch / "run.sh").write_text('cd "$1" && sh -eu main.sh; echo "status $?"\n')
        status = uml.boot_alone(scratch, megabytes=512, timeout=300)
        out = scratch / "out"
        said = out.read_text(errors="replace") if out.exists() else "it said nothing\n"
        log = scratch / "dmesg" if (scratch / "dmesg").exists() else scratch / "console"
        lines = log.read_text(errors="replace").splitlines()
    *rest, last = said.splitlines()
    assert status == 0 and last == "status 0", said + "\n".join(lines[-50:])
    bad = [line for line in lines if result.SPLAT.search(line)]
    assert not bad, "the kernel complained:\n" + "\n".join(lines)
    return "\n".join(rest)
