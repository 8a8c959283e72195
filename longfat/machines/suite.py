# SPDX-License-Identifier: GPL-2.0
"""Debian suites in chroots: a kernel's headers with the compilers they want.

Headers of another suite bring build tools linked to that suite's libc, so what is
built for a suite is built inside of it.  mmdebstrap makes the chroots, into the
cache.  A chroot is never changed afterwards: commands see it below an overlay of
their own in memory, in a mount and process namespace that ends with them.

All of it needs root; sudo is asked where we are not.
"""

from __future__ import annotations

import datetime
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from longfat.build import debian
from longfat.core import cache, scratch
from longfat.core.errors import LabError
from longfat.core.process import closing
from longfat.core.root import Unavailable, as_root

# What an external module needs to be built with gcc and with clang.
_BUILD = ("gcc", "make", "clang", "kmod", "linux-headers-amd64")
# What a guest needs besides its kernel.  busybox is for virtme's initramfs.
_GUEST = (
    "busybox-static",
    "ethtool",
    "iperf3",
    "iproute2",
    "mount",
    "procps",
    "python3",
)

# What builds and checks Debian packages.
_PACKAGES = ("debhelper", "dh-dkms", "dkms", "lintian", "python3-venv")
# The programs of docs/observe.md and docs/use.md; systemd's load modules and set sysctls at boot.
_USE = (
    "bpftrace",
    "curl",
    "golang-go",
    "libc6-dev",
    "nginx-light",
    "openssh-server",
    "rsync",
    "systemd",
)

# What builds bpf/ besides clang, and what loads a BPF object of anybody's.
_BPF = ("libbpf-dev", "bpftool")

# Suite -> its packages; a suite with _GUEST also gets its kernel, to be booted.  A name
# may end in an architecture: "-i386" for the 32-bit build (the last Debian with its kernel).
SUITES = {
    "bullseye": _BUILD + _GUEST,
    "bookworm": _BUILD + _GUEST + _PACKAGES + _USE + _BPF,
    "bookworm-i386": ("gcc", "make", "kmod", "linux-headers-686"),
    # perl is what W=1 checks kernel-doc comments with.
    "trixie": (*_BUILD, *_GUEST, *_BPF, "perl"),
    "sid": (*_BUILD, *_GUEST, *_BPF, "dkms"),
}

Bind = tuple[Path, str]  # a directory of the host, and where it is seen inside

# Exclude files by dpkg, once the essential packages are there.  If mmdebstrap knew of the
# exclusions itself, it would filter every archive through a slow script.
_DPKG = r"""#!/bin/sh
cat >"$1/etc/dpkg/dpkg.cfg.d/longfat" <<END
force-unsafe-io
path-exclude=/usr/share/doc/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/man/*
END
"""

# The kernel is unpacked, not installed: its package would bring an initramfs
# generator and run it.  It must be the headers' kernel exactly; the signed package
# may lag behind in sid, the unsigned one never does.  Newer suites split it up.
# Drivers of real hardware are three quarters of it, and no guest of ours has any.
_KERNEL = r"""#!/bin/sh
set -e
kernel=$(basename "$1"/lib/modules/*)
cd "$1/tmp"
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
fetch() {
    apt-get -qq download "$1" >fetch.log 2>&1
}
if fetch "linux-modules-$kernel" && fetch "linux-base-$kernel"; then
    fetch "linux-binary-$kernel" || fetch "linux-binary-unsigned-$kernel"
else
    fetch "linux-image-$kernel" || fetch "linux-image-$kernel-unsigned"
fi || { cat fetch.log >&2; exit 1; }
set --
for drop in sound net/wireless net/mac80211 net/bluetooth drivers/net/wireless \
    drivers/net/ethernet drivers/gpu drivers/hwmon drivers/iio drivers/infiniband \
    drivers/media drivers/mtd drivers/platform drivers/scsi drivers/staging drivers/usb
do
    set -- "$@" --exclude="./*lib/modules/*/kernel/$drop"
done
for archive in linux-*.deb; do
    dpkg-deb --fsys-tarfile "$archive" |
        tar -x -C .. --keep-directory-symlink "$@" --exclude=./usr/share
done
rm linux-*.deb fetch.log
cd ..
ls "boot/vmlinuz-$kernel" "lib/modules/$kernel/vmlinuz" 2>/dev/null | grep -q . ||
    { echo "no kernel image for $kernel" >&2; exit 1; }
chroot . depmod "$kernel"
"""

# Makes $ROOT, the chroot $LOWER below an overlay in memory, and runs its arguments.
# The directory $SCRATCH is the mount point of everything, so nothing outlives us.
_OVERLAY = r"""set -e
mount -t tmpfs -o mode=755 longfat "$SCRATCH"
cd "$SCRATCH"
mkdir lower upper work root tmp
mount --bind "$LOWER" lower
mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work longfat root
export ROOT="$SCRATCH/root"
exec "$@"
"""

# Runs its arguments after the binds ("HOST INSIDE ... --") in the chroot $ROOT.
_CHROOT = r"""set -e
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
while [ "$1" != -- ]; do
    mkdir -p "$ROOT$2"
    mount --bind "$1" "$ROOT$2"
    shift 2
done
shift
cd /
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    chroot "$ROOT" "$@"
"""


class SuiteError(LabError):
    """A chroot could not be made, or what ran in it took too long."""


# A mount and process namespace of its own, which ends with its first process.
_PRIVATE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]

# Ends with the process that started it.
_TIED = ["setpriv", "--pdeathsig", "KILL"]

# sudo stands between us and what runs as root, and it outlives its caller.  So this runs, as
# root, its arguments after the first.  It ends them when the process whose number is the first
# argument is gone, is a zombie, or is another process by now.
_WATCH = r"""
lab=$1
shift
born() {
	IFS= read -r stat <"/proc/$lab/stat" || return
	# After the name, which may hold anything: the state, and the start as the 20th.
	set -- ${stat##*) }
	[ "$1" = Z ] || [ "$1" = X ] || echo "${20}"
} 2>/dev/null
then=$(born)
[ "$then" ] || exit 1
# A command that is not waited for at once would have no input.
exec 3<&0
setpriv --pdeathsig KILL "$@" <&3 3<&- &
child=$!
(
	while [ "$(born)" = "$then" ]; do sleep 0.5; done
	kill -KILL "$child"
) >/dev/null 2>&1 3<&- &
watch=$!
wait "$child"
status=$?
kill "$watch" 2>/dev/null
exit "$status"
"""


def tied(command: Sequence[str], *, env: dict[str, str] | None = None) -> list[str]:
    """As as_root(), and what that runs ends with this process however it ends."""
    line = [*_TIED, *command]
    if os.geteuid():
        line = [*_TIED, "sh", "-c", _WATCH, "longfat-watch", str(os.getpid()), *command]
    return as_root(line, env=env)


def _make(name: str, path: Path) -> None:
    """Make the chroot of suite `name` at `path`, an empty directory."""
    if not shutil.which("mmdebstrap"):
        raise Unavailable("mmdebstrap is missing: apt-get install mmdebstrap")
    command = [*_PRIVATE, "mmdebstrap", "--quiet", "--mode=root", "--variant=essential"]
    command.append("--skip=check/qemu")
    command.append('--aptopt=APT::Install-Recommends "false"')
    command.append('--aptopt=Acquire::Retries "3"')
    # A mirror that is a snapshot has an old index; its signature is checked all the
    # same, and what is made here only builds and runs tests.
    command.append('--aptopt=Acquire::Check-Valid-Until "false"')
    command.append(f"--include={','.join(SUITES[name])}")
    suite, _, architecture = name.partition("-")
    command.append(f"--architectures={architecture or 'amd64'}")
    mirror = os.environ.get("LONGFAT_DEBIAN_MIRROR")
    if architecture:
        # Without the archive of security updates, whose index for an old architecture
        # was found broken: what is built there is looked at and thrown away.
        mirror = debian.mirror()
    where = [suite, str(path), *([mirror] if mirror else [])]
    with scratch.directory("suite") as work:
        for hook, text, wanted in (
            ("essential", _DPKG, True),
            ("customize", _KERNEL, set(_GUEST) <= set(SUITES[name])),
        ):
            script = work / hook
            script.write_text(text)
            script.chmod(0o755)
            if wanted:
                command.append(f"--{hook}-hook={script}")
        log = work / "log"
        try:
            with log.open("w") as out:
                process = subprocess.Popen(
                    tied([*command, *where]), stdout=out, stderr=out, text=True
                )
                with closing(process):
                    process.wait()
            if process.returncode:
                tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
                raise SuiteError(f"mmdebstrap could not make Debian {name}:\n{tail}")
        except BaseException:
            # As root: the cache, as an ordinary user, could not remove this.
            subprocess.run(as_root(["find", str(path), "-xdev", "-mindepth", "1", "-delete"]))
            raise


def _week(ago: int = 0) -> str:
    """This ISO week, or the one `ago` weeks before: "2026w07"; sorts as time does."""
    day = datetime.date.today() - datetime.timedelta(weeks=ago)
    year, week, _ = day.isocalendar()
    return f"{year}w{week:02}"


def chroot(name: str) -> Path:
    """The chroot of Debian suite `name`, one of SUITES, made if it is not cached.

    Suites move, so a chroot is made anew once a week.  Where that is not possible,
    without a network say, an older one is used and said so; what is older than four
    weeks goes when a new one comes.  Raises SuiteError; Unavailable if this machine
    lacks what is needed.
    """
    if name not in SUITES:
        raise SuiteError(f"no suite {name!r}; valid: {', '.join(SUITES)}")
    stem = f"suite-{name}-{cache.digest(SUITES[name], _DPKG, _KERNEL)}"
    wanted = f"{stem}-{_week()}"
    path = cache.directory() / wanted
    if path.is_dir():
        return path
    if platform.machine() != "x86_64":
        raise Unavailable(f"the chroots of Debian are amd64, and this is {platform.machine()}")
    try:
        path = cache.entry(wanted, lambda where: _make(name, where))
    except Unavailable:
        raise
    except SuiteError as error:
        older = sorted(cache.directory().glob(f"{stem}-*"))
        if not older:
            raise
        print(f"using {older[-1]} instead: {error}", file=sys.stderr)
        return older[-1]
    for old in cache.directory().glob(f"suite-{name}-*"):
        if old.name.rpartition("-")[2] < _week(ago=4):
            subprocess.run(as_root(["rm", "-rf", "--one-file-system", str(old)]))
    return path


def remove() -> None:
    """Remove every chroot from the cache; they belong to root."""
    found = [*cache.directory().glob("suite-*"), *cache.directory().glob(".suite-*.partial")]
    if found:
        subprocess.run(as_root(["rm", "-rf", "--one-file-system", *map(str, found)]), check=True)


def kernel(name: str) -> str:
    """The release of suite `name`'s kernel, as uname -r says it: "6.1.0-56-amd64"."""
    found = sorted(path.name for path in (chroot(name) / "lib/modules").iterdir())
    if len(found) != 1:
        raise SuiteError(f"{chroot(name)} should hold one kernel's headers, and has {found}")
    return found[0]


def image(name: str) -> Path:
    """The kernel image of suite `name`, which must be one of those with a kernel."""
    release = kernel(name)
    for where in (f"boot/vmlinuz-{release}", f"lib/modules/{release}/vmlinuz"):
        if (chroot(name) / where).exists():
            return chroot(name) / where
    raise SuiteError(f"the chroot of Debian {name} has no kernel image, only headers")


def chrooted(command: Sequence[str] | str, binds: Sequence[Bind] = ()) -> list[str]:
    """What `inside` is given to run `command` (a string is a shell's) in $ROOT."""
    if isinstance(command, str):
        command = ["sh", "-c", command]
    where = [part for host, guest in binds for part in (str(host.resolve()), guest)]
    return ["sh", "-c", _CHROOT, "sh", *where, "--", *command]


@contextmanager
def inside(name: str, command: Sequence[str]) -> Iterator[list[str]]:
    """The command line that runs `command` on the host's files as root, in a mount
    and process namespace in which $ROOT is the chroot of suite `name`, writable for
    this command only.  $SCRATCH/tmp is an empty directory in memory.

    The namespace, mounts and processes, ends with its first process, and that with
    the process that started it.
    """
    lower = chroot(name)
    with scratch.directory("suite") as mount:
        yield tied(
            [*_PRIVATE, "sh", "-c", _OVERLAY, "sh", *command],
            env={"LOWER": str(lower), "SCRATCH": str(mount)},
        )


def run(
    name: str,
    command: Sequence[str] | str,
    *,
    binds: Sequence[Bind] = (),
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `command` (a string is a shell's) in the chroot of suite `name`, as root.

    It sees the host's directories `binds` where they say, writable, and its output
    (both streams, in stdout) comes back.  What it writes elsewhere is gone when it
    ends.  After `timeout` seconds it is ended, and SuiteError raised.
    """
    with inside(name, chrooted(command, binds)) as line:
        process = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        )  # fmt: skip
        with closing(process):
            try:
                output, _ = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                raise SuiteError(
                    f"{command} took longer than {timeout} s in Debian {name}"
                ) from None
    return subprocess.CompletedProcess(command, process.returncode, output)
