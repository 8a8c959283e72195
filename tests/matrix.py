#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The compile matrix: every module against every supported kernel's headers, with
gcc and with clang, W=1 and no warning from compiler, modpost, objtool or kernel-doc.
One of them is a 32-bit kernel, where a plain division of 64 bits calls a function that
no kernel has: modpost finds it.  Some are built again with headers as patches make them, or as
kernels between these have them.

    scripts/longfat python tests/matrix.py [suite...]

Speaks KTAP, one result for each kernel and compiler.  Exit status 0: all passed or
skipped; 4: all skipped; 1: something failed.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
from longfat.build import modules
from longfat.core import root, scratch
from longfat.core.errors import LabError
from longfat.machines import suite

# What is no compiler, but a way to build beside them: gcc, with other headers.
BBR = "gcc, BBRv3's headers"
MODES = "gcc, the headers of ECN modes"
# BBRv3's in the oldest kernel and the newest.
PATCHED = {"bullseye": [BBR], "trixie": [MODES], "sid": [BBR]}


def ways(name: str) -> list[str]:
    """How suite `name` builds: the compilers that it has (clang is one for each architecture, so
    i386 has gcc), and with other headers."""
    found = [compiler for compiler in ("gcc", "clang") if compiler in suite.SUITES[name]]
    return [*found, *PATCHED.get(name, [])]


# Debian's kernels are configured for gcc, and the configuration chooses compiler
# options: clang knows some of them not at all, and does not get those that the kernel
# would give it.  So answer for clang, as Kconfig would, in the chroot's headers (an
# overlay that lasts for one build).  Left out are mitigations that the older suites'
# clang has not, and named address spaces, which that kernel's headers keep from clang.
# The kernel's own makefiles then choose options and warnings for clang; none of them
# is filtered here.
CLANG = r"""
cd /lib/modules/*/build
version=$(clang -dumpversion | awk -F. '{ print $1 * 10000 + $2 * 100 + $3 }')
for drop in CC_NO_ARRAY_BOUNDS CC_NO_STRINGOP_OVERFLOW GCC_NO_STRINGOP_OVERFLOW \
    CC_HAS_MIN_FUNCTION_ALIGNMENT CC_HAS_NAMED_AS CC_HAS_NAMED_AS_FIXED_SANITIZERS \
    USE_X86_SEG_SUPPORT CC_HAS_UBSAN_BOUNDS_STRICT UBSAN_BOUNDS_STRICT \
    FTRACE_MCOUNT_USE_CC INIT_STACK_ALL_ZERO RETHUNK MITIGATION_RETHUNK SLS MITIGATION_SLS
do
    sed -i "/CONFIG_$drop\\W/d" include/config/auto.conf include/generated/autoconf.h
done
sed -i -E -e 's/CC_IS_GCC/CC_IS_CLANG/' -e 's/(GCC_VERSION\W)[0-9]+/\10/' \
    -e "s/(CLANG_VERSION\\W)0/\\1$version/" -e 's/(-Wimplicit-fallthrough)=5/\1/' \
    include/config/auto.conf include/generated/autoconf.h
"""

# Kernels with BBRv3 have ->tso_segs in the place of ->min_tso_segs.  In the chroot's headers, as
# above.
TSO_SEGS = r"""
headers=$(echo /usr/src/linux-headers-*-common/include/net/tcp.h)
new='(*tso_segs)(struct sock *sk, unsigned int mss_now)'
sed -i "s/(\*min_tso_segs)(struct sock \*sk)/$new/" "$headers"
grep -qF "u32 $new;" "$headers"
"""

# Linux 6.15 to 6.17 have ECN as modes, and tcp_ecn_queue_cwr() not in a header yet.
ECN_MODES = r"""
headers=$(echo /usr/src/linux-headers-*-common/include/net/tcp.h)
mode='static inline bool tcp_ecn_mode_rfc3168(const struct tcp_sock *tp)'
sed -i "s/^#define.TCP_ECN_OK\W.*/$mode { return tp->ecn_flags \& 1; }/" "$headers"
grep -qF "$mode" "$headers" && ! grep -qw TCP_ECN_OK "$headers"
"""

# What is done to the headers before a build.
HEADERS = {"gcc": "", "clang": CLANG, BBR: TSO_SEGS, MODES: ECN_MODES}

BUILD = r"""
make -C /lib/modules/*/build M=/src W=1 KCFLAGS=-Werror @CC@ modules || exit
for module in /src/*.ko; do
    echo "modinfo: $module"
    modinfo "$module"
done
"""


VERSION = re.findall(r'^PACKAGE_VERSION="(.*)"', (modules.ROOT / "dkms.conf").read_text(), re.M)


def modinfo(text: str) -> dict[str, dict[str, list[str]]]:
    """Module name -> field -> values, of what BUILD printed."""
    found: dict[str, dict[str, list[str]]] = {}
    for part in text.split("modinfo: ")[1:]:
        fields: dict[str, list[str]] = {}
        for key, value in re.findall(r"^(\w+): +(.*)$", part, re.M):
            fields.setdefault(key, []).append(value)
        found[Path(part.splitlines()[0]).stem] = fields
    return found


def faults(status: int, text: str) -> list[str]:
    """What is wrong with a build that ended with `status` and printed `text`."""
    lines = text.splitlines()
    if status:
        return [line for line in lines if "error" in line.lower()] or lines[-20:]
    found = [line for line in lines if re.search(r"\bwarning\b", line, re.I)]
    built = modinfo(text)
    for name in modules.sources():
        fields = built.get(name)
        if fields is None:
            found.append(f"{name}.ko was not built")
            continue
        if fields.get("name") != [name]:
            found.append(f"{name}: modinfo has the name {fields.get('name')}")
        if fields.get("license") != ["GPL"]:
            found.append(f"{name}: modinfo has the license {fields.get('license')}")
        if fields.get("version") != VERSION:
            found.append(f"{name}: modinfo has the version {fields.get('version')}, not {VERSION}")
        if not fields.get("description"):
            found.append(f"{name}: modinfo has no description")
        described = {parm.partition(":")[0] for parm in fields.get("parm", [])}
        wanted = {
            parm
            for algorithm, owner in modules.owners().items()
            if owner == name
            for parm in modules.parameters(algorithm)
        }
        if described != wanted:
            found.append(f"{name}: parameters {sorted(wanted)}, described {sorted(described)}")
    return found


def build(name: str, way: str) -> list[str]:
    """Build every module in suite `name`; what is wrong, nothing if all is well."""
    with scratch.directory("matrix") as directory:
        modules.copy(modules.files(), directory)
        script = HEADERS[way] + BUILD.replace("@CC@", "CC=clang" if way == "clang" else "")
        # Copied inside too: what root builds there, we could not remove here.
        result = suite.run(
            name,
            "cp -r /mnt/src /src && set -e\n" + script,
            binds=[(directory, "/mnt/src")],
            timeout=600,
        )
    return faults(result.returncode, result.stdout)


def results(name: str) -> list[ktap.Result]:
    """Build for suite `name`: the result of each way."""
    titles = [f"{name} {way}" for way in ways(name)]
    try:
        what = f"{name} {suite.kernel(name)}"
        return [
            ktap.Result(f"{what} {way}", not found, "\n".join(found))
            for way in ways(name)
            for found in [build(name, way)]
        ]
    except root.Unavailable as error:
        return [ktap.Result(title, skip=str(error)) for title in titles]
    except LabError as error:
        return [ktap.Result(title, False, str(error)) for title in titles]


def main(names: list[str]) -> int:
    planned = sum(len(ways(name)) for name in names)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        every = itertools.chain.from_iterable(pool.map(results, names))
        return ktap.document(planned, every)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(suite.SUITES)))
