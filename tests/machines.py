#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""`longfat measure` and the ssh backend with real parts: Debian's kernel in an emulator whose time
is counted in instructions, the Debian package of our modules, sshd, iperf3, and netem as the path.

    scripts/longfat python tests/machines.py [--write]

What runs there is stock/measure.sh.  What was best on its paths has to be what the lab says of the
scenarios that it wrote.  With --write the transcripts of docs/measure.md are renewed.  KTAP.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
from longfat.build import modules
from longfat.core import root, scratch
from longfat.core.errors import LabError
from longfat.machines import suite, vm
from longfat.run.backends import Counted
from packages import tree

SUITE = "bookworm"
PATHS = {"clean": "50 Mbit/s x 60 ms", "lossy": "the same with 0.1 % loss"}
PARTS = {
    **{name: f"measured on Debian's kernel: {title}" for name, title in PATHS.items()},
    "ssh": "the ssh backend on Debian's kernel",
}
PAGE = modules.ROOT / "docs/measure.md"
# Enough for three contenders.
LENGTH = "--rounds 7 --seconds 3"

# In the chroot, where a compiler is fast.
SETUP = """
set -e
cp -r /mnt/longfat /src
cd /src
scripts/deb.sh /packages
dpkg -i /packages/longfat-dkms_*.deb
dkms autoinstall -k "$(basename /lib/modules/*)"
"""


def environment() -> Path:
    """The packages of the lab's Python; LabError if they are not for the guest's."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if not (suite.chroot(SUITE) / "usr/bin" / version).exists():
        raise root.Unavailable(f"Debian {SUITE} has another Python than {version}, of this lab")
    return Path(sys.prefix) / "lib" / version / "site-packages"


def carried_out(out: Path, part: str) -> ktap.Result:
    """What a guest of its own says of one part of it."""
    said: list[str] = []
    try:
        with scratch.directory("stock") as copy:
            modules.copy(tree(), copy)
            done = vm.run(
                f"LENGTH='{LENGTH}' PYTHONPATH=/mnt/longfat:/mnt/python "
                f"sh /mnt/longfat/tests/stock/measure.sh /mnt/out {part}",
                suite=SUITE,
                setup=SETUP,
                binds=[(copy, "/mnt/longfat"), (environment(), "/mnt/python"), (out, "/mnt/out")],
                output=said.append,
                arguments=Counted.arguments,
                timeout=7200,
                **vm.COUNTED,
            )
    except LabError as error:
        return ktap.Result(PARTS[part], False, str(error))
    return ktap.Result(PARTS[part], done.returncode == 0, "".join(said), indent="    ")


def beside(out: Path, name: str) -> ktap.Result:
    """Whether the lab has the same best one."""
    title = f"the lab recommends what was best: {PATHS[name]}"
    if not (out / f"{name}.toml").exists():
        return ktap.Result(title, False, "nothing was measured")
    command = [sys.executable, "-m", "longfat", "compare", str(out / f"{name}.toml")]
    done = subprocess.run(
        [*command, "-o", str(out / f"lab-{name}")],
        env={**os.environ, "PYTHONPATH": str(modules.ROOT), "COLUMNS": "120"},
        capture_output=True,
        text=True,
    )
    (out / f"{name}.compared").write_text(done.stdout)
    return ktap.Result(
        title,
        "that is what was measured, and what the lab says." in done.stdout,
        done.stdout + done.stderr,
    )


def blocks(out: Path) -> dict[str, str]:
    """What the page shows of it, by the names of its places there."""
    found = {}
    for name in PATHS:
        said = (out / f"{name}.said").read_text().replace("/mnt/out/", "")
        # Of the first picture that is drawn there.
        said = "".join(x for x in said.splitlines(True) if not x.startswith("Matplotlib is"))
        words = f"-C ltcp,ghstcp,cubic {LENGTH} --save {name}.toml -o {name}"
        found[f"{name} measured"] = f"$ longfat measure 10.77.2.1 {words}\n{said}"
        lab = (out / f"{name}.compared").read_text()
        found[f"{name} compared"] = f"$ longfat compare {name}.toml\n{lab}"
    return found


def write(out: Path) -> None:
    text = PAGE.read_text()
    for name, said in blocks(out).items():
        lines = "\n".join(f"    {line}".rstrip() for line in said.splitlines())
        before, begin, rest = text.partition(f"<!-- begin {name} -->\n")
        _, end, after = rest.partition(f"<!-- end {name} -->")
        text = f"{before}{begin}\n{lines}\n\n{end}{after}"
        if not end:
            raise SystemExit(f"{PAGE}: has no place for {name}")
    PAGE.write_text(text)


def main(words: list[str]) -> int:
    count = len(PARTS) + len(PATHS)
    try:
        vm.check()
        root.as_root(["true"])
        environment()
    except LabError as error:
        return ktap.document(count, [ktap.Result("machines", skip=str(error))] * count)
    with (
        scratch.directory("stock") as out,
        ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):

        def results() -> Iterator[ktap.Result]:
            yield from pool.map(partial(carried_out, out), PARTS)
            yield from (beside(out, name) for name in PATHS)

        status = ktap.document(count, results())
        if "--write" in words and not status:
            write(out)
        if kept := os.environ.get("LONGFAT_KEEP"):
            subprocess.run(["cp", "-r", str(out), kept], check=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
