#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The algorithms' arithmetic under a fuzzer: each tcp_*.c as it is, in a program of its own
(tests/fuzz/fuzz.c), with libFuzzer and the address and undefined behaviour sanitizers.

    scripts/longfat python tests/fuzz.py [--runs N | --seconds S] [--seed I] [--renew] [module...]

First the inputs of tests/fuzz/NAME.corpus, then N more (or as many as S seconds have room
for) that the fuzzer makes of them.  --seed chooses which; not to the last one, as libFuzzer
also goes by addresses and by the clock.
--renew puts the corpus anew: of what it had and what was found, those that reach something.

KTAP, one result for each module.  Exit status 0: all passed; 1: something failed, and an
input that shows it is kept and named; 4: clang or its libFuzzer is not installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
import userspace
from longfat.build import modules
from longfat.core import cache, scratch
from longfat.core.errors import LabError

HERE = Path(__file__).resolve().parent / "fuzz"
SANITIZERS = f"fuzzer,{userspace.SANITIZERS}"
# Longest input: some sixty steps.
LENGTH = 256
# Wall seconds for one input, also on a machine that is busy; it takes milliseconds.
SLOWEST = 300


def read_corpus(file: Path) -> list[bytes]:
    """The inputs of a corpus, one a line in hexadecimal; # begins a comment."""
    lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
    return [bytes.fromhex(line) for line in lines if line]


def write_corpus(file: Path, inputs: list[bytes]) -> None:
    """Write `inputs` as a corpus, below the comment lines that it begins with."""
    head = []
    if file.exists():
        for line in file.read_text().splitlines():
            if not line.startswith("#"):
                break
            head.append(line)
    lines = [*head, *(one.hex() for one in sorted(inputs, key=lambda x: (len(x), x)) if one)]
    file.write_text("".join(f"{line}\n" for line in lines))


def build(name: str, tree: Path, out: Path) -> str:
    """Compile the module tcp_`name` of `tree` with the fuzzer; what the compiler says."""
    rules = HERE / f"rules_{name}.h"
    if not rules.exists():
        rules = HERE / "rules_window.h"
    return userspace.compile_program(
        tree,
        "tests/fuzz/fuzz.c",
        out,
        *("-O1", f"-DNAME=tcp_{name}", f"-DSTATE={name}"),
        f'-DMODULE="{tree}/tcp_{name}.c"',
        f'-DRULES="{rules}"',
        sanitizers=SANITIZERS,
    )


def fuzz(name: str, tree: Path, arguments: argparse.Namespace) -> tuple[bool, list[str]]:
    """Compile and run one module of `tree`; whether all was well, and what is to be said."""
    with scratch.directory("fuzz") as directory:
        program = directory / "fuzz"
        said = build(name, tree, program)
        if not program.exists():
            return False, said.splitlines()
        corpus = HERE / f"{name}.corpus"
        seeds = directory / "seeds"
        found = directory / "found"
        for path in (seeds, found):
            path.mkdir()
        if corpus.exists():
            for i, one in enumerate(read_corpus(corpus)):
                (seeds / f"{i:04}").write_bytes(one)
        line = [str(program), f"-seed={arguments.seed}", f"-max_len={LENGTH}", "-len_control=0"]
        line.append(f"-timeout={SLOWEST}")
        limit = [f"-runs={arguments.runs}"]
        if arguments.seconds:
            limit = [f"-max_total_time={arguments.seconds}"]
        line += [f"-artifact_prefix={directory}/bad-", "-print_final_stats=1"]
        # One processor has no need of another's leak report: memory is counted.
        environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0", "LC_ALL": "C"}
        try:
            status, said = userspace.run_program(
                [*line, *limit, str(found), str(seeds)],
                directory / "said",
                env=environment,
                slowest=SLOWEST + 2 * (arguments.seconds or SLOWEST),
            )
        except LabError as error:
            return False, [str(error)]
        if status:
            told = []
            for bad in directory.glob("bad-*"):
                told.append(f"input: {bad.read_bytes().hex()}")
                # Of a copy with a bug in it (tests/mutations.py) it says nothing of the tree.
                if tree == modules.ROOT:
                    kept = cache.directory() / "check" / f"fuzz-{name}-{bad.name}"
                    kept.parent.mkdir(exist_ok=True)
                    shutil.copy(bad, kept)
                    told.append(f"kept as {kept}; as a line of {corpus.name} it is shown again")
            told += [x for x in said.splitlines() if not x.startswith(("#", "INFO:"))][:40]
            return False, told
        if arguments.renew:
            merged = directory / "merged"
            merged.mkdir()
            status, said = userspace.run_program(
                [*line, "-set_cover_merge=1", str(merged), str(seeds), str(found)],
                directory / "said",
                env=environment,
            )
            if status:
                return False, said.splitlines()[-40:]
            write_corpus(corpus, [x.read_bytes() for x in merged.iterdir()])
        told = [x for x in said.splitlines() if x.startswith("stat::number_of_executed")]
        covered = [x for x in said.splitlines() if " cov: " in x][-1:]
        return True, told + [" ".join(x.split()[1:6]) for x in covered]


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the algorithms' arithmetic.")
    parser.add_argument("--runs", type=int, default=20000, help="inputs for each module")
    parser.add_argument("--seconds", type=int, help="seconds for each module, instead of inputs")
    parser.add_argument("--seed", type=int, default=1, help="which inputs the fuzzer makes")
    parser.add_argument("--renew", action="store_true", help="write the corpus anew")
    parser.add_argument("--tree", type=Path, default=modules.ROOT, help="where the modules are")
    parser.add_argument("module", nargs="*", help="ltcp, ... (all of them)")
    arguments = parser.parse_args()
    known = sorted(module.removeprefix("tcp_") for module in modules.sources())
    names = arguments.module or known
    if unknown := set(names) - set(known):
        parser.error(f"no module {', '.join(sorted(unknown))}; valid: {', '.join(known)}")
    if reason := userspace.missing(SANITIZERS):
        return ktap.document(len(names), (ktap.Result(x, skip=reason) for x in names))
    tree = arguments.tree.resolve()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = pool.map(lambda name: fuzz(name, tree, arguments), names)
        return ktap.document(
            len(names),
            (
                ktap.Result(name, good, "\n".join(told))
                for name, (good, told) in zip(names, results, strict=True)
            ),
        )


if __name__ == "__main__":
    sys.exit(main())
