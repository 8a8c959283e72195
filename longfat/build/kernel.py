# SPDX-License-Identifier: GPL-2.0
"""The lab's own kernels: Debian's kernel source built as User-Mode Linux, which has
virtual time, or for an emulator with two processors; and our modules built against them."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from longfat.build import debian, modules, objects, tools
from longfat.core import cache, process
from longfat.core.errors import LabError

SUITE = "trixie"
PACKAGE = "linux-source-6.12"


@dataclass(frozen=True)
class Kernel:
    """What one of the kernels is built from."""

    name: str
    arch: str
    config: tuple[Path, ...]  # fragments over allnoconfig
    image: str  # what is booted, in the kernel's tree; also the name of what makes it
    package: str = PACKAGE
    suite: str = SUITE
    flags: str = ""  # more of them for the compiler

    @property
    def key(self) -> str:
        """Names this configuration."""
        other = (self.package, self.suite, self.flags)
        more = () if other == (PACKAGE, SUITE, "") else other
        return f"{self.name}-{cache.digest(*self.config, *more)}"

    @property
    def configuration(self) -> str:
        """Stands for its options; a comment beside them changes nothing."""
        lines = [line for file in self.config for line in file.read_text().splitlines()]
        options = [x for x in lines if x.startswith("CONFIG_") or x.endswith(" is not set")]
        return cache.digest(self.arch, self.package, self.flags, *options)

    @property
    def needs(self) -> tuple[str, ...]:
        """What is in the directory of a built one."""
        return ("version", f"linux/{self.image}", "linux/Module.symvers", "linux/Makefile")


# Virtual time; the same with sanitizers, many times slower; two processors, for the vm
# backend.
LAB = Kernel("uml", "um", (tools.CONFIG / "lab.config", tools.CONFIG / "uml.config"), "linux")
SANITIZERS = Kernel(
    "uml-sanitizers", "um", (*LAB.config, tools.CONFIG / "uml-sanitizers.config"), "linux"
)
SMP = Kernel(
    "smp",
    "x86_64",
    (tools.CONFIG / "lab.config", tools.CONFIG / "smp.config"),
    "arch/x86/boot/bzImage",
)

# What the virtual-time kernel is told, beside where it is and how much memory it has.
BOOT = (
    *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw"),
    *("con=null", "con0=null,fd:1", "quiet", "uml_dir=./", "umid=uml"),
    *("time-travel=inf-cpu", "time-travel-start=1700000000000000000"),
    *("init=/proc/self/cwd/init.sh", "panic=-1"),
)

# A third of the archive, which no file of our configuration is in.
_UNUSED = ("*/Documentation/*/*", "*/tools/testing/*", "*/amd/include/asic_reg/*")


def require() -> None:
    """Raise LabError where a virtual-time kernel cannot run, and say what can."""
    if platform.machine() != "x86_64":
        raise LabError(
            f"the uml backend needs x86-64, this is {platform.machine()}: use "
            f"--backend host on a machine whose kernel has netem and our modules"
        )
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if scope.exists() and scope.read_text().strip() == "3":
        raise LabError(
            "the uml backend needs ptrace, kernel.yama.ptrace_scope=3 forbids it: use "
            "--backend vm, or reboot with a lower setting"
        )


def _logged(command: list[str], log: Path, what: str, **kwargs: object) -> None:
    with log.open("ab") as out:
        result = process.call(command, output=out, **kwargs)
    if result.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise LabError(f"{what} failed (whole output: {log}):\n{tail}")


def _make(path: Path, version: str, what: Kernel) -> None:
    tools.need("make", "cc", "flex", "bison", "bc", "xz", "perl")
    if what.arch == "x86_64":
        tools.need_header("gelf.h", "libelf-dev")  # objtool's
    debian.unpack(f"{what.package}={version}", what.suite, path / "package")
    archive = next((path / "package").rglob("linux-source-*.tar.xz"), None)
    if not archive:
        raise LabError(f"Debian's package {what.package} {version} holds no linux-source-*.tar.xz")
    tree = path / "linux"
    tree.mkdir()
    log = cache.directory() / f"kernel-build-{what.key}.log"
    log.unlink(missing_ok=True)
    _logged(
        ["tar", "-xf", str(archive), "-C", str(tree), "--strip-components=1"]
        + [f"--exclude={big}" for big in _UNUSED],
        log,
        "unpacking the kernel",
    )
    shutil.rmtree(path / "package")
    if not (tree / "arch/um/Makefile").exists():
        raise LabError(
            f"{archive.name} of Debian's {what.package} {version} is not the source of a kernel "
            f"that runs in user mode: it has no arch/um/Makefile"
        )
    configuration = "".join(file.read_text() for file in what.config)
    wanted = path / "config"
    wanted.write_text(configuration)
    # No user, host or time in the image: two builds of one source are one kernel.
    env = os.environ | {
        "KCONFIG_ALLCONFIG": str(wanted),
        "KBUILD_BUILD_USER": "longfat",
        "KBUILD_BUILD_HOST": "lab",
        "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
    }
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    make = ["make", "-C", str(tree), f"ARCH={what.arch}", f"KCFLAGS={what.flags}", jobs]
    _logged([*make, "allnoconfig"], log, "configuring the kernel", env=env)
    have = set((tree / ".config").read_text().splitlines())
    lost = [x for x in configuration.splitlines() if x.startswith("CONFIG") and x not in have]
    if lost:
        raise LabError(f"{what.package} {version} does not take these options: {', '.join(lost)}")
    _logged([*make, Path(what.image).name, "modules"], log, "building the kernel", env=env)
    # Keep what runs and what modules are built with: headers, scripts, symbols.
    (tree / "vmlinux").unlink()
    for pattern in ("*.o", "*.a", "*.cmd"):
        for found in tree.rglob(pattern):
            if "scripts" not in found.relative_to(tree).parts:
                found.unlink()
    for found in tree.rglob("*.c"):
        if "scripts" not in found.relative_to(tree).parts:
            found.unlink()
    (path / "version").write_text(version + "\n")


def built(what: Kernel = LAB) -> Path | None:
    """The directory of the built kernel, if it is there."""
    for found in sorted(cache.directory().glob(f"kernel-*-{what.key}")):
        if all((found / file).exists() for file in what.needs):
            return found
    return None


def build(what: Kernel = LAB) -> Path:
    """The directory of the built kernel: `linux/` is its tree, `version` names it.

    Whatever version was built first for this configuration is kept; remove the
    cache entry (`longfat clean`) to move to the suite's newest.
    """
    if what.arch == "um":
        require()
    elif platform.machine() != what.arch:
        raise LabError(f"a kernel for {what.arch} is built there; this is {platform.machine()}")
    # One at a time: two labs that both begin could find different newest versions.
    with cache.lock(f"kernel-{what.key}"):
        if found := built(what):
            return found
        version = debian.version(what.package, what.suite)
        name = f"kernel-{version}-{what.key}"
        return cache.entry(name, lambda path: _make(path, version, what), what.needs)


def build_modules(what: Kernel = LAB, *, tests: str = "") -> Path:
    """A directory with every module of the tree built for this kernel; with `tests`, those
    of that directory of tests/ instead."""
    kernel = build(what)
    files = modules.files(tests=tests)
    suffix = f"-{tests}" if tests else ""

    def make(path: Path) -> None:
        tree = path / "tree"
        modules.copy(files, tree)
        log = cache.directory() / f"module-build-{what.key}{suffix}.log"
        log.unlink(missing_ok=True)
        place = tree / "tests" / tests if tests else tree
        _logged(
            ["make", "-C", str(kernel / "linux"), f"ARCH={what.arch}", f"M={place}", "W=1"]
            + [f"KCFLAGS=-Werror {what.flags}"],
            log,
            "building the modules",
        )
        for built in place.glob("*.ko"):
            built.rename(path / built.name)
        objects.write_digests(path.glob("*.ko"), path)
        shutil.rmtree(tree)

    key = cache.digest(kernel.name, *files)
    return cache.entry(f"modules-{what.name}-{key}{suffix}", make, (objects.DIGESTS,))
