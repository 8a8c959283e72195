# SPDX-License-Identifier: GPL-2.0
"""Commands under a Debian suite's own kernel, in a virtual machine.

virtme-ng boots the kernel of the suite's chroot with that chroot as the guest's
root, below an overlay in memory: the guest may write anywhere and changes nothing.
It needs no disk image, no network and no KVM; emulation boots in about 20 s.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from longfat.core import scratch
from longfat.core.errors import LabError
from longfat.core.process import closing, kill
from longfat.machines import suite as suites
from longfat.machines.suite import Bind

QEMU = "qemu-system-x86_64"

# For `run`: the guest's clock and counters go by 1 ns for each instruction, and jump when the
# guest is idle.  So nothing in the guest is late because this machine is busy or slow.
COUNTED: dict[str, Any] = {"kvm": False, "cpus": 1, "qemu": ("-icount", "shift=0,sleep=off")}

# Where the guest sees the directory that its command, status and log pass through.
_CONTROL = "/run/longfat-vm"

# The guest's side.  Its output goes through virtme's port, which without udev has no name
# below /dev; with udev it is our output already, and nobody can open it twice.  The root is 9p,
# which knows no fifo.  Warnings go to the console too, which outlives a dying guest.
_MAIN = f"""for port in /sys/class/virtio-ports/*; do
    if [ "$(cat "$port/name")" = virtme.stdout ]; then
        exec 2>&1 </dev/null
        ! (: >"/dev/${{port##*/}}") 2>/dev/null || exec >"/dev/${{port##*/}}" 2>&1
    fi
done
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
echo 5 >/proc/sys/kernel/printk
mount -t tmpfs tmpfs /tmp
cd /
sh {_CONTROL}/command
echo $? >{_CONTROL}/status.new
dmesg --decode --nopager >{_CONTROL}/dmesg
mv {_CONTROL}/status.new {_CONTROL}/status
"""


class VmError(LabError):
    """A virtual machine did not boot, died, or took too long."""


class Unavailable(VmError):
    """This machine lacks what virtual machines need; says what."""


class Completed(subprocess.CompletedProcess[str]):
    """What a guest's command left behind; stderr is part of stdout."""

    dmesg: str  # the kernel's log, as dmesg --decode prints it
    accelerator: str  # "kvm", or "tcg": emulation


def _tail(path: Path, lines: int = 25) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])


def check() -> None:
    """Raise Unavailable, saying what to install, if this machine lacks what `run` needs."""
    if not shutil.which(QEMU):
        raise Unavailable(f"{QEMU} is missing: apt-get install qemu-system-x86")
    if not importlib.util.find_spec("virtme"):
        raise Unavailable("virtme-ng is missing from the lab's Python environment: pip install it")
    if not shutil.which("file") and not shutil.which("strings"):
        raise Unavailable("virtme-ng reads a kernel's version with file: apt-get install file")


KVM = Path("/dev/kvm")
KVM_BOOTS = 10  # wall seconds, at most


@functools.cache
def kvm_works(image: Path) -> bool:
    """Whether KVM boots the kernel `image` here.  A /dev/kvm that exists may still
    refuse a guest or hang it, so this tries: two CPUs, as far as the panic for want
    of a root file system, which takes two seconds where all is well."""
    if not KVM.exists():
        return False
    command = [QEMU, "-accel", "kvm", "-cpu", "host", "-smp", "2", "-m", "256", "-nodefaults"]
    command += ["-display", "none", "-serial", "stdio", "-no-reboot", "-kernel", str(image)]
    command += ["-append", "console=ttyS0 panic=-1"]
    process = subprocess.Popen(
        suites.tied(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert process.stdout
    with process.stdout, closing(process):
        try:
            output, _ = process.communicate(timeout=KVM_BOOTS)
        except subprocess.TimeoutExpired:
            return False
    return "Unable to mount root fs" in output


def _boot(
    virtme: list[str], control: Path, binds: Sequence[Bind], setup: str | Sequence[str] | None
) -> str:
    """The shell script that sets up and starts the guest, for suite.inside()."""
    lines = ["set -e"]
    shares = []
    for n, (host, guest) in enumerate([(control, _CONTROL), *binds]):
        if not re.fullmatch(r"/[\w./-]+", guest):
            raise ValueError(f"{guest!r} cannot be a directory of the guest")
        # Mounted at a name of ours: no name of theirs upsets QEMU's options.
        lines.append(f'mkdir "$SCRATCH/share{n}"')
        lines.append(f'mount --bind {shlex.quote(str(host.resolve()))} "$SCRATCH/share{n}"')
        shares.append(f'--rwdir={guest}="$SCRATCH/share{n}"')
    if setup:
        enter = shlex.join(suites.chrooted(setup, binds))
        log = shlex.quote(str(control / "setup"))
        # In a namespace of its own: the guest must not find the host's /dev in its root.
        lines.append(f"unshare --mount {enter} >{log} 2>&1 </dev/null")
        lines.append(f"rm {log}")
    lines.append('export TMPDIR="$SCRATCH/tmp" XDG_CACHE_HOME="$SCRATCH/tmp"')
    root = '--root "$ROOT" --busybox "$ROOT/bin/busybox"'
    lines.append(f"exec {shlex.join(virtme)} {root} {' '.join(shares)}")
    return "\n".join(lines)


def run(
    command: str | Sequence[str],
    *,
    suite: str = "bookworm",
    kernel: Path | None = None,
    arguments: Sequence[str] = (),
    setup: str | Sequence[str] | None = None,
    binds: Sequence[Bind] = (),
    memory: str = "2G",
    cpus: int | None = None,
    output: Callable[[str], None] | None = None,
    timeout: float = 600,
    kvm: bool | None = None,
    qemu: Sequence[str] = (),
    poll: Callable[[], bool] = lambda: False,
) -> Completed:
    """Run `command` (a string is a shell's) as root under the kernel of `suite`, or under
    the image `kernel`, which has all that it needs built in; `arguments` are more of its
    command line.

    `setup` runs before the boot, in the chroot that becomes the guest's root: the
    place to build and to install, many times faster than the guest.  The host's
    directories `binds` are seen, writable, where they say, by both; what the guest
    makes there belongs to root.

    Each line of output goes to `output` as it comes, and all of them to stdout of
    the result, whose returncode is the command's; .dmesg is the kernel's log.

    `poll` is called about five times a second; when it says True, the machine is ended
    as if its time was up.

    `cpus` is 2 with KVM and 1 without: where emulated CPUs share real ones, all but
    one wait most of the time for one that does not run (four times slower, measured).

    `timeout` is in seconds and includes setup and boot.  KVM is used if a trial
    boot proves that it works, unless `kvm` says yes or no; `qemu` are more options for
    the emulator.  Raises VmError where there is no result: setup failed, no boot, the
    guest died, the time was up.  Whatever happens, nothing of the machine is left running.
    """
    check()
    image = kernel or suites.image(suite)
    if kvm is None:
        kvm = kvm_works(image)
    if cpus is None:
        cpus = 2 if kvm else 1
    words = command if isinstance(command, str) else shlex.join(command)
    virtme = [sys.executable, "-m", "virtme.commands.run", "--kimg", str(image)]
    virtme.append(f"--mods={'none' if kernel else 'auto'}")
    virtme += [f"--kopt={word}" for word in arguments]
    virtme += ["--rw", "--force-9p", "--show-boot-console", "--disable-microvm"]
    virtme += ["--memory", memory, "--cpus", str(cpus), "--script-sh", f"sh {_CONTROL}/main"]
    if not kvm:
        virtme.append("--disable-kvm")
    virtme += [f"--qemu-opt={word}" for word in qemu]
    with scratch.directory("vm") as control:
        (control / "command").write_text(words + "\n")
        (control / "main").write_text(_MAIN)
        script = _boot(virtme, control, binds, setup)
        console = control / "console"
        out: list[str] = []
        late = threading.Event()
        with suites.inside(suite, ["sh", "-c", script]) as line, console.open("w") as err:
            process = subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=err,
                text=True,
                errors="replace",
            )

            done = threading.Event()

            def watch() -> None:
                began = time.monotonic()
                while not done.wait(0.2):
                    if poll() or time.monotonic() - began > timeout:
                        late.set()
                        kill(process)
                        return

            watcher = threading.Thread(target=watch)
            watcher.start()
            try:
                assert process.stdout
                with closing(process), process.stdout as said_so_far:
                    for text in said_so_far:
                        out.append(text)
                        if output:
                            output(text)
            finally:
                done.set()
                watcher.join()
        status = control / "status"
        if status.exists():
            result = Completed(command, int(status.read_text()), "".join(out))
            result.accelerator = "kvm" if kvm else "tcg"
            result.dmesg = (control / "dmesg").read_text(errors="replace")
            return result
        what = f"{words.strip().splitlines()[0]} in a virtual machine with Debian {suite}'s kernel"
        if (control / "setup").exists():
            raise VmError(f"{what}: the setup failed:\n{_tail(control / 'setup')}")
        said = f"output:\n{''.join(out[-15:])}\nconsole:\n{_tail(console)}"
        if late.is_set():
            raise VmError(f"{what}: not done after {timeout:g} s\n{said}")
        raise VmError(f"{what}: the guest died\n{said}")
