#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The tree's C in programs of this machine, with the address and undefined behaviour
sanitizers: tests/shim is the kernel that it is compiled with, as far as it needs one.

    scripts/longfat python tests/userspace.py [suite...]

Runs the suites of tests/kunit so, which the lab's own kernel has no sanitizers for.  What
they are about, the kernel's TCP, is the shim's here: what counts is the kernel's verdict
(scripts/longfat kunit), and that of the sanitizers here.

KTAP, one subtest for each suite.  Exit status 0: all passed; 1: something failed; 4: clang
or its sanitizers are not installed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
from longfat.build import modules
from longfat.core import process, scratch
from longfat.core.errors import LabError

HERE = Path(__file__).resolve().parent
SANITIZERS = "address,undefined"
# The suites that are run once more with what BPF has in the place of the kernel's arithmetic,
# and of include/longfat/bounds.h, as "SUITE-bpf".
BPF = ("ghstcp", "growth", "hstcp", "ltcp")
# Wall seconds for a suite, also on a machine that is busy; they take a few.
SLOWEST = 900


def compile_program(tree: Path, source: str, out: Path, *options: str, sanitizers: str) -> str:
    """Compile `source`, a path in `tree`, which has the modules and include/.  What the
    compiler says; it is an error if there is no `out` then."""
    line = [
        *("clang", *options),
        *("-gline-tables-only", "-Wall", "-Wno-unused-function", "-Werror"),
        *(f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all"),
        *(f"-I{HERE / 'shim'}", f"-I{tree / 'bpf/arith'}", f"-I{tree / 'include'}"),
        # The shim is the newest kernel (include/longfat/probe.mk).
        *("-DLF_HAVE_SND_CWND", "-DLF_HAVE_TX_START", "-DLF_HAVE_QUEUE_CWR"),
        *("-DLF_HAVE_CONG_CONTROL_ACK", "-DLF_HAVE_MIN_TSO_SEGS", "-DLF_HAVE_TSO_RTT_LOG"),
        "-DLF_HAVE_ACCECN",
        *(str(tree / source), "-lm", "-o", str(out)),
    ]
    return subprocess.run(line, capture_output=True, text=True).stderr


def run_program(
    command: list[str], out: Path, *, slowest: float = SLOWEST, **options: Any
) -> tuple[int, str]:
    """Run a program with sanitizers, its output in the file `out`: its status, and what it
    said.  LabError if it has no end in `slowest` seconds.  It ends with whoever runs it."""
    # Where addresses have many random bits older sanitizers do not find their memory.
    status = process.run(
        ["setarch", "-R", *command],
        output=out,
        timeout=slowest,
        **options,
    )
    return status, out.read_text(errors="replace")


def missing(sanitizers: str = SANITIZERS) -> str | None:
    """What this machine lacks for `sanitizers`, None if nothing."""
    if not shutil.which("clang"):
        return "clang is not installed: apt-get install clang libclang-rt-dev"
    with scratch.directory("userspace") as directory:
        main = "LLVMFuzzerTestOneInput" if "fuzzer" in sanitizers else "main"
        (directory / "x.c").write_text(f"int {main}() {{ return 0; }}\n")
        compile_program(directory, "x.c", directory / "x", sanitizers=sanitizers)
        if (directory / "x").exists():
            return None
    return f"clang has no -fsanitize={sanitizers} here: apt-get install libclang-rt-dev"


def suites() -> list[str]:
    """What the suites of tests/kunit are called, and those of BPF."""
    found = sorted(path.stem.removesuffix("_kunit") for path in HERE.glob("kunit/*_kunit.c"))
    return [*found, *(f"{name}-bpf" for name in BPF)]


def run_suite(tree: Path, suite: str, *cases: str) -> tuple[int, str]:
    """Run these cases (all, if none) of a suite of `tree`; its status, and what it says."""
    suite, _, bpf = suite.partition("-")
    instead: list[str] = []
    if bpf:
        bounds = tree / "bpf/shim/longfat/bounds.h"
        instead = [f"-I{tree / 'bpf/arith'}", "-include", str(bounds)]
    with scratch.directory("userspace") as directory:
        program = directory / suite
        said = compile_program(
            tree,
            f"tests/kunit/{suite}_kunit.c",
            program,
            # A case runs for less time than an optimiser would.
            *("-O0", f'-DKBUILD_MODNAME="{suite}_kunit"'),
            *instead,
            sanitizers=SANITIZERS,
        )
        if not program.exists():
            return 1, said
        return run_program([str(program), *cases], directory / "said")


def carried_out(suite: str) -> ktap.Result:
    """The result of a suite."""
    try:
        status, said = run_suite(modules.ROOT, suite)
    except LabError as error:
        return ktap.Result(suite, False, str(error))
    return ktap.Result(suite, not status, said, indent="    ")


def main(names: list[str]) -> int:
    names = names or suites()
    if reason := missing():
        return ktap.document(len(names), (ktap.Result(x, skip=reason) for x in names))
    return ktap.document(len(names), map(carried_out, names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
