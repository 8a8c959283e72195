#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The sanitizer kernel: that it notices every kind of mistake, that KUnit's suites make none
there, and a short pass of chaos.

    scripts/longfat python tests/sanitizers.py [defects|kunit|chaos|smp...]

KTAP, one subtest for each part.  `make stress` is the long form of the last of them; `smp`
is not among them if nothing is named: it is the first part for the kernel with two
processors, which `make stress` runs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
from longfat.build import kernel, modules, tools
from longfat.core import cache
from longfat.core.errors import LabError
from longfat.run import runner
from longfat.run.backends import Uml
from longfat.stress import chaos, smp

# A defect of tests/defects -> what the kernel says of it.
DEFECTS = {
    # Lockdep first: after any other report it trusts the kernel no more, and is silent.
    "rcu": r"lf_defects\.c:\d+ suspicious rcu_dereference_check\(\) usage",
    "lock_order": r"WARNING: possible circular locking dependency detected",
    "slab_read": r"BUG: KASAN: slab-out-of-bounds in lf_slab_read",
    "after_free": r"BUG: KASAN: slab-use-after-free in lf_after_free",
    "stack_read": r"BUG: KASAN: stack-out-of-bounds in lf_stack_read",
    "vmalloc_read": r"BUG: KASAN: vmalloc-out-of-bounds in lf_vmalloc_read",
    "array_index": r"UBSAN: array-index-out-of-bounds in .*lf_defects\.c",
    "shift_overflow": r"UBSAN: shift-out-of-bounds in .*lf_defects\.c",
    "sleep_in_atomic": r"BUG: sleeping function called from invalid context at .*lf_defects\.c",
    "list_twice": r"list_add double add",
    "free_timer": r"ODEBUG: free active .* object type: timer_list",
    # After the others, whose reports it would be among.
    "leak": r"kmemleak: [1-9]\d* new suspected memory leaks",
}

# kmemleak looks at what is five seconds old, and reports what it saw twice.
_SCAN = """
for turn in 1 2; do
    sleep 10
    echo scan >/sys/kernel/debug/kmemleak
done
"""

# The same for the kernel with two processors.
SMP_DEFECTS = {
    "softirq_lock": r"WARNING: inconsistent lock state",
    "race": r"BUG: KCSAN: data-race in lf_count \[lf_defects\] / lf_count \[lf_defects\]",
    "sleep_in_atomic": DEFECTS["sleep_in_atomic"],
    "list_twice": DEFECTS["list_twice"],
    "free_timer": DEFECTS["free_timer"],
    "write_after_free": r"\[Poison overwritten\] 0x",
}


def defects() -> bool:
    """Every defect is committed once: the kernel has to say so, in words that fail a run."""
    return committed(Uml(kernel.SANITIZERS), kernel.SANITIZERS, DEFECTS, _SCAN)


def smp_defects() -> bool:
    """The same with two processors."""
    return committed(smp.Smp(), kernel.SMP, SMP_DEFECTS)


def committed(
    where: Uml | smp.Smp, what: kernel.Kernel, said_of: dict[str, str], afterwards: str = ""
) -> bool:
    """Whether the kernel says of each of these defects what it is to say."""
    where.prepare(lambda _: None)
    with runner.run_directory() as scratch:
        for module in kernel.build_modules(what, tests="defects").glob("*.ko"):
            shutil.copy(module, scratch)
        (scratch / "run.sh").write_text(f"""
mount -t debugfs debug /sys/kernel/debug
cd "$1"
for defect in {" ".join(said_of)}; do
    echo "lf: $defect" >/dev/kmsg
    insmod ./lf_defects.ko defect=$defect
done
{afterwards}""")
        shutil.copy(tools.GUEST / "init.sh", scratch)
        (scratch / "init.sh").chmod(0o755)
        shutil.copy(tools.programs() / "poweroff", scratch)
        where.boot(
            scratch,
            1,
            megabytes=512,
            timeout=600,
            arguments=("kasan_multi_shot", "log_buf_len=4M"),
        )
        log = scratch / "dmesg"
        text = log.read_text() if log.exists() else (scratch / "console").read_text()
    print(f"    1..{len(said_of)}")
    good = True
    for number, (name, said) in enumerate(said_of.items(), 1):
        # Up to the next one; a leak is found at the end.
        _, _, part = text.partition(f"lf: {name}\n")
        if name != "leak":
            part = part.partition("lf: ")[0]
        found = re.search(said, part)
        # Some line has to be one that the lab takes for a failure.
        mine, _ = smp.foreign_races(part.splitlines(), ["lf_defects"])
        noticed = bool(found) and bool(chaos.complaints(mine))
        print(f"    {'ok' if noticed else 'not ok'} {number} - {name}")
        if not noticed:
            print("\n".join(f"    # {line}" for line in part.splitlines()[:20]))
        good &= noticed
    return good


def kunit() -> bool:
    """KUnit's suites, whose own KTAP this is; the command fails where the kernel complains."""
    command = [sys.executable, "-m", "longfat", "kunit", "--sanitizers"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=modules.ROOT)
    result = re.compile(r"\s*(ok|not ok|1\.\.\d+)")
    lines = [line for line in done.stdout.splitlines() if result.match(line)]
    # A document from each module's suites; here they are one, which has the plans' sum.
    plans = [int(line[3:]) for line in lines if line.startswith("1..")]
    print(f"    1..{sum(plans)}")
    print("\n".join(f"    {line}" for line in lines if not line.startswith("1..")))
    if done.returncode:
        print("\n".join(f"    # {line}" for line in done.stdout.splitlines()[-40:]))
        print("\n".join(f"    # {line}" for line in done.stderr.splitlines()))
    return done.returncode == 0 and bool(lines)


# Virtual seconds, and seeds: what takes two minutes, and has all of EVERYTHING.
CHAOS = (6.0, 5)


def mix() -> bool:
    """The first seeds of `make stress`, each for a short while."""
    duration, runs = CHAOS
    one = chaos.load(modules.ROOT / "tests/stress/chaos.toml")
    where = Uml(kernel.SANITIZERS)
    where.prepare(lambda _: None)
    total, failed = chaos.many(
        one.model_copy(update={"duration": duration}),
        where,
        first=1,
        runs=runs,
        seconds=0,
        workers=1,
        # What a failed run leaves is to be looked at.
        out=cache.directory() / "check",
        timeout=900,
        say=lambda text: print(f"    # {text}", flush=True),
    )
    print("    # " + ", ".join(f"{key.replace('_', ' ')} {n}" for key, n in total.items()))
    # A pass in which nothing happened would hold nothing.
    idle = chaos.idle(total)
    print("    1..2")
    print(f"    {'not ok' if failed else 'ok'} 1 - {runs} seeds")
    print(f"    {'not ok' if idle else 'ok'} 2 - everything happened {', '.join(idle)}")
    return not failed and not idle


PARTS = {"defects": defects, "kunit": kunit, "chaos": mix, "smp": smp_defects}
DEFAULT = ["defects", "kunit", "chaos"]


def carried_out(name: str) -> ktap.Result:
    """The result of a part, which has printed its own."""
    try:
        with runner.terminable():
            return ktap.Result(name, PARTS[name]())
    except LabError as error:
        return ktap.Result(name, False, str(error))


def main(names: list[str]) -> int:
    try:
        kernel.require()
    except LabError as error:
        return ktap.document(len(names), (ktap.Result(x, skip=str(error)) for x in names))
    return ktap.document(len(names), map(carried_out, names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or DEFAULT))
