#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The stock-kernel acceptance: our modules, built against the headers of Debian's own
kernels and installed as modules are, in a virtual machine that runs that kernel.

    scripts/longfat python tests/stock.py [suite|use|bpf|bpf-SUITE|NAME:CASE...]

What is tested is in stock/guest.sh and stock/sockets.py, and in stock/use.sh, which has the
next boot of docs/install.md, the output of docs/observe.md and the examples of docs/use.md;
stock/bpf.sh has longfat-bpf; this builds, boots and passes on what they say.  KTAP, one subtest
for each boot.  Exit status 0: all passed; 1:
something failed; 4: this machine runs no virtual machine, and says why.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ktap
from longfat.build import modules
from longfat.core import root, scratch
from longfat.core.errors import LabError
from longfat.machines import suite, vm

# Below the guest's root, in the chroot: what "make install" does.  DESTDIR: what this machine's
# kernel allows is not the guest's.
SETUP = """
set -e
cp -r /mnt/longfat /src
kernel=$(basename /lib/modules/*)
make -C "/lib/modules/$kernel/build" M=/src modules
cd /src
DESTDIR=/ scripts/install.sh install "$kernel" $(basename -s .ko -a *.ko)
depmod "$kernel"
"""


# For the next boot too, as docs/install.md says.  The examples of docs/use.md are built there
# as well, where a compiler is fast.
EXAMPLES = (
    f"export LOAD='{' '.join(sorted(modules.owners()))}' ALLOW=ltcp DEFAULT=ltcp"
    + SETUP
    + """
mkdir /examples
python3 /mnt/longfat/tests/examples.py /mnt/longfat/docs/use.md /examples
cd /examples
sh -eu ./build.sh
"""
)


# longfat-bpf and what tests/stock/bpf.sh asks for besides, and as its package installs it.
BPF = (
    SETUP
    + """
make -C "/lib/modules/$kernel/build" M=/src/tests/bpf/kernel modules
tests/bpf/build.sh /bpf
cp tests/bpf/kernel/lf_replay.ko /bpf
while read -r file where; do
    mkdir -p "/$where" bpf/build
    cp /bpf/longfat-bpf bpf/build
    cp "$file" "/$where"
done <debian/longfat-bpf.install
"""
)

# For a kernel whose own Debian has no libbpf that would do: longfat-bpf with all in it, of
# another Debian.  A second one calls nothing of the kernel.
WHOLE = r"""
set -e
cd /mnt/longfat
mkdir whole
make -C bpf B=/build LIBS='-static -lbpf -lelf -lz'
cp /build/longfat-bpf whole
make -C bpf B=/own LIBS='-static -lbpf -lelf -lz' \
    MORE='-include ../tests/bpf/own_reno.bpf.h'
cp /own/longfat-bpf whole/own-reno
"""


def acceptance(cases: str, *, without: str = "", turns: str = "") -> str:
    """The command that runs `cases` for every module, all of them if empty, but `without`; those of
    `turns` for one module, each for another."""
    names: dict[str, list[str]] = {module: [] for module in modules.sources()}
    for algorithm, module in modules.owners().items():
        names[module].append(algorithm)
    words = " ".join(f"{module}:{','.join(all_of_it)}" for module, all_of_it in names.items())
    chosen = f"CASES='{cases}' EXCEPT='{without}' TURNS='{turns}'"
    return f"{chosen} sh /mnt/longfat/tests/stock/guest.sh {words}"


def bpf(cases: str = "", megabytes: str = "") -> str:
    """The command that runs `cases` for longfat-bpf, all of them if empty."""
    return f"CASES='{cases}' MEGABYTES={megabytes} sh /mnt/longfat/tests/stock/bpf.sh"


# What depends on the kernel, and not only on what longfat-bpf says of it.
ANY_KERNEL = (
    "loads same settings trace in_use module_first bpf_first no_ipv6 secure_boot no_modules"
)

# What runs -> suite, setup, command.  Debian's 6.1 kernel gets everything, 5.10 nearly.  The newest
# one gets what depends on the kernel: cwnd_event_tx_start (idle), the interfaces of loading and
# selecting.  `make check` has each of the others with one module (-turns): tests/lab has them with
# all, but for those of loading, unloading and bpftrace.
NEWEST = "load autoload one_socket iperf ss_shows in_use trace storm idle"
TURNS = """autoload_setsockopt autoload_nobody unprivileged rights uninstall parameters load_refused
bpftrace before_first_ack syn_lost listener reconnect hostile namespace"""
BOOTS = {
    "bookworm": ("bookworm", SETUP, acceptance("")),
    "bookworm-turns": ("bookworm", SETUP, acceptance("", turns=TURNS)),
    # The scripts need a newer bpftrace than this Debian's: docs/observe.md.
    "bullseye": ("bullseye", SETUP, acceptance("", without="bpftrace")),
    "sid": ("sid", SETUP, acceptance(NEWEST)),
    "sid-turns": ("sid", SETUP, acceptance(NEWEST, turns="autoload ss_shows in_use trace storm")),
    "bpf": ("bookworm", BPF, bpf()),
    "bpf-short": ("bookworm", BPF, bpf("loads same parameters refused killed", megabytes="1")),
    "bpf-trixie": ("trixie", BPF, bpf(ANY_KERNEL)),
    "bpf-sid": ("sid", BPF, bpf(ANY_KERNEL)),
    "bpf-bullseye": ("bullseye", "", f"BPF=/mnt/longfat/whole {bpf('too_old old_verifier')}"),
    "use": ("bookworm", EXAMPLES, "sh /mnt/longfat/tests/stock/use.sh /examples"),
}


def run(name: str, setup: str, command: str) -> bool:
    """Run `command` under suite `name`'s kernel after `setup`; whether it succeeded."""
    with scratch.directory("stock") as tree:
        parts = ["tests/stock/*.*", "tests/examples.py", "docs/use.md", "scripts/bpftrace/*"]
        parts += ["bpf/**/*.*", "bpf/Makefile", "tests/bpf/**/*", "tests/shim/*/*.h"]
        parts += ["debian/longfat-bpf*"]
        parts += ["scripts/install.sh", "scripts/man.sh", "dkms.conf", "man/*"]
        found = [path for part in parts for path in sorted(modules.ROOT.glob(part))]
        modules.copy([*modules.files(), *(path for path in found if path.is_file())], tree)
        if "whole" in command:
            made = suite.run("bookworm", WHOLE, binds=[(tree, "/mnt/longfat")], timeout=600)
            if made.returncode:
                raise LabError(f"longfat-bpf was not built:\n{made.stdout[-2000:]}")
        result = vm.run(
            command,
            suite=name,
            setup=setup,
            binds=[(tree, "/mnt/longfat")],
            output=lambda line: print(f"    {line}", end="", flush=True),
            # Emulated, a module's cases take five minutes on a quiet machine.
            timeout=300 + 900 * len(modules.sources()),
            # Recordings are of as many calls on a machine that is slow or busy.
            **(vm.COUNTED if "bpf.sh" in command else {}),
        )
    return result.returncode == 0


def accepted(name: str) -> ktap.Result:
    """What the machine of that name says of itself; it has printed its own results."""
    title = name
    machine, _, case = name.partition(":")
    release, setup, command = BOOTS[machine]
    if case:
        command = bpf(case) if machine.startswith("bpf") else acceptance(case)
    try:
        title = f"{name} {suite.kernel(release)}"
        return ktap.Result(title, run(release, setup, command))
    except LabError as error:
        return ktap.Result(title, False, str(error))


def main(names: list[str]) -> int:
    try:
        vm.check()
        root.as_root(["true"])
    except LabError as error:
        return ktap.document(len(names), (ktap.Result(x, skip=str(error)) for x in names))
    return ktap.document(len(names), map(accepted, names))


if __name__ == "__main__":
    # The short ones are parts of others.
    every = [x for x in BOOTS if not x.endswith(("-turns", "-short"))]
    sys.exit(main(sys.argv[1:] or every))
