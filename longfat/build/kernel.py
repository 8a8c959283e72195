# SPDX-License-Identifier: GPL-2.0
"""The lab's kernels: Debian's kernel source, or a Linux tree of the user's, built as User-Mode
Linux, which has virtual time; Debian's also for an emulator with two processors; and our modules
built against them."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache as once
from pathlib import Path
from typing import Any

from longfat.build import debian, modules, objects, tools, trees
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
    tree: trees.Tree | None = None  # in the package's place

    @property
    def other(self) -> bool:
        """Whether its source is not the one that the configuration was written for."""
        return bool(self.tree) or self.package != PACKAGE

    @property
    def key(self) -> str:
        """Names this configuration."""
        other = (self.package, self.suite, self.flags)
        if self.tree:
            other = (self.tree.state, "", self.flags)
        more: tuple[str, ...] = () if other == (PACKAGE, SUITE, "") else other
        more += NEWER if self.other else ()
        return f"{self.name}-{cache.digest(*self.config, *more)}"

    @property
    def configuration(self) -> str:
        """Stands for its options, and for its source but the version; a comment beside the options
        changes nothing."""
        lines = [line for file in self.config for line in file.read_text().splitlines()]
        options = [x for x in lines if x.startswith("CONFIG_") or x.endswith(" is not set")]
        source = self.tree.state if self.tree else self.package
        return cache.digest(self.arch, source, self.flags, *options)

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

# What others have of these: qdiscs that are newer than the lab's own kernel.
NEWER = ("NET_SCH_DUALPI2",)

# What is asked of all others.
OTHERS = tools.CONFIG / "other-kernels.toml"

# Beside a built one: what it does not have of the lab's options.
WITHOUT = "without"

# Ends the name of the file in the place of a module that cannot be built for another kernel.
_FAILED = ".failed"

# What the virtual-time kernel is told, beside where it is and how much memory it has.
BOOT = (
    *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw"),
    *("con=null", "con0=null,fd:1", "quiet", "uml_dir=./", "umid=uml"),
    *("time-travel=inf-cpu", "time-travel-start=1700000000000000000"),
    *("init=/proc/self/cwd/init.sh", "panic=-1"),
)


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


# --- kernels by name


@once
def _others() -> dict[str, dict[str, Any]]:
    return tomllib.loads(OTHERS.read_text())


def _debian(version: str) -> Kernel:
    suites = _others()["debian"]
    suite = str(suites.get(version, suites["newest"]))
    return replace(LAB, package=f"linux-source-{version}", suite=suite)


def check(text: object) -> str:
    """The name of a kernel, as --kernel and scenarios have it; ValueError if it names none.  Reads
    next to nothing, so that what is wrong is said at once."""
    if text == "":
        return ""
    if not isinstance(text, str):
        raise ValueError("the name of a kernel is a string")
    if text.startswith("debian:"):
        if re.fullmatch(r"\d+\.\d+", text.removeprefix("debian:")):
            return text
        raise ValueError(f"{text!r} is no kernel of Debian, such as debian:6.12")
    try:
        trees.check(*trees.split(text))
    except LabError as error:
        raise ValueError(
            f"no kernel {text!r}: {error}; valid: debian:VERSION, the directory of a Linux tree, "
            f"or DIRECTORY@COMMIT of a git repository"
        ) from error
    return text


@once
def choose(text: str) -> Kernel:
    """The virtual-time kernel of this name; "" is the lab's.  A tree is looked at once."""
    if text.startswith("debian:"):
        return _debian(text.removeprefix("debian:"))
    return replace(LAB, tree=trees.look(*trees.split(text))) if text else LAB


_offered: dict[str, frozenset[str]] = {}


def offer(text: str, names: Iterable[str]) -> None:
    """Make known which congestion controls the kernel of this name has."""
    _offered[text] = frozenset(names)


def offered() -> dict[str, frozenset[str]]:
    """Kernel -> its congestion controls, of those that are not the lab's and are built."""
    return _offered


# --- the build


def _logged(command: list[str], log: Path, what: str, **kwargs: object) -> None:
    with log.open("ab") as out:
        before = out.tell()
        result = process.call(command, output=out, **kwargs)
    if result.returncode:
        said = log.read_bytes()[before:].decode(errors="replace")
        tail = "\n".join(said.splitlines()[-15:])
        raise LabError(f"{what} failed (whole output: {log}):\n{tail}")


def _need_tools(what: Kernel) -> None:
    tools.need("make", "cc", "flex", "bison", "bc", "tar", "perl")
    if not what.tree:
        tools.need("xz")
    if what.arch == "x86_64":
        tools.need_header("gelf.h", "libelf-dev")  # objtool's


def _unpack(path: Path, version: str, what: Kernel, log: Path) -> Path:
    """The source, in the directory `path`."""
    if what.tree:
        archive = path / "source.tar"
        what.tree.archive(archive)
    else:
        debian.unpack(f"{what.package}={version}", what.suite, path / "package")
        there = next((path / "package").rglob("linux-source-*.tar.xz"), None)
        if not there:
            raise LabError(
                f"Debian's package {what.package} {version} holds no linux-source-*.tar.xz"
            )
        archive = there
    tree = path / "linux"
    tree.mkdir()
    # The archive of a package begins with a directory.
    strip = [] if what.tree else ["--strip-components=1"]
    # tar compares them with every end of a path.
    unused = [f"--exclude={pattern.removeprefix('*/')}" for pattern in trees.UNUSED]
    _logged(
        ["tar", "-xf", str(archive), "-C", str(tree), *strip, *unused], log, "unpacking the kernel"
    )
    if what.tree:
        archive.unlink()
    else:
        shutil.rmtree(path / "package")
    if not (tree / "arch/um/Makefile").exists():
        raise LabError(
            f"{archive.name} of Debian's {what.package} {version} is not the source of a kernel "
            f"that runs in user mode: it has no arch/um/Makefile"
        )
    return tree


def _options(tree: Path, where: str, pattern: str) -> list[str]:
    """The options of this name in a Kconfig of a source."""
    kconfig = tree / where / "Kconfig"
    text = kconfig.read_text() if kconfig.exists() else ""
    return re.findall(rf"^config ({pattern})$", text, re.M)


def _wanted(what: Kernel, tree: Path) -> str:
    """The configuration over allnoconfig: our options, and of another kernel the congestion
    controls that we do not know and the newer qdiscs."""
    text = "".join(file.read_text() for file in what.config)
    new: list[str] = []
    if what.other:
        controls = _options(tree, "net/ipv4", r"TCP_CONG_\w+")
        new = [x for x in controls if f"CONFIG_{x}=" not in text]
        new += _options(tree, "net/sched", "|".join(NEWER))
    return text + "".join(f"CONFIG_{name}=y\n" for name in new)


def _check_words(tree: Path, of: str) -> None:
    for file, (word, purpose) in _others()["words"].items():
        path = tree / file
        if not path.exists() or word not in path.read_text(errors="replace"):
            raise LabError(f"{of}: {file} does not have {word!r}, so there is no {purpose}")


def _check_options(lost: list[str], what: Kernel, of: str) -> str:
    """LabError if there is an option among those that the kernel does not have without which
    there are no experiments; else what it is without."""
    without = {}
    for line in lost:
        name = line.partition("=")[0].removeprefix("CONFIG_")
        purposes = [x for key, x in _others()["optional"].items() if fnmatchcase(name, key)]
        if purposes and what.other:
            without[line] = f"{name}: {purposes[0]}"
    if needed := [line for line in lost if line not in without]:
        raise LabError(f"{of} does not take these options: {', '.join(needed)}")
    return "".join(f"{line}\n" for line in without.values())


def _make(path: Path, version: str, what: Kernel) -> None:
    _need_tools(what)
    of = what.tree.name if what.tree else f"{what.package} {version}"
    log = cache.directory() / f"kernel-build-{what.key}.log"
    log.unlink(missing_ok=True)
    tree = _unpack(path, version, what, log)
    if what.other:
        _check_words(tree, of)
    configuration = _wanted(what, tree)
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
    if what.tree:
        # So `uname -r` says which of the trees of a version it is.
        make.append(f"LOCALVERSION=-{_short(what.tree)}")
    _logged([*make, "allnoconfig"], log, "configuring the kernel", env=env)
    have = set((tree / ".config").read_text().splitlines())
    lost = [x for x in configuration.splitlines() if x.startswith("CONFIG") and x not in have]
    if without := _check_options(lost, what, of):
        (path / WITHOUT).write_text(without)
    goals = [*make, Path(what.image).name, "modules"]
    _logged(goals, log, "building the kernel", env=env)
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


def _short(tree: trees.Tree) -> str:
    return tree.state.removeprefix("files-")[:12]


def built(what: Kernel = LAB) -> Path | None:
    """The directory of the built kernel, if it is there."""
    for found in sorted(cache.directory().glob(f"kernel-*-{what.key}")):
        if all((found / file).exists() for file in what.needs):
            return found
    return None


def _version(what: Kernel) -> str:
    if what.tree:
        return f"{what.tree.version}-{_short(what.tree)}"
    return debian.version(what.package, what.suite)


def without(built: Path) -> str:
    """What of the lab's options this kernel does not have, a line each."""
    file = built / WITHOUT
    return file.read_text() if file.exists() else ""


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
        version = _version(what)
        name = f"kernel-{version}-{what.key}"
        return cache.entry(name, lambda path: _make(path, version, what), what.needs)


def _compile(files: Iterable[Path], to: Path, what: Kernel, place: str, log: Path) -> None:
    """Build the modules in `place` of these files of the tree; the .ko files are in `to` then."""
    tree = to / "tree"
    modules.copy(files, tree)
    # Warnings of another kernel's headers are none of ours.
    strict = [] if what.other else ["W=1"]
    flags = what.flags if what.other else f"-Werror {what.flags}"
    kernel = str(build(what) / "linux")
    command = ["make", "-C", kernel, f"ARCH={what.arch}", f"M={tree / place}", *strict]
    try:
        _logged([*command, f"KCFLAGS={flags}"], log, "building the modules")
        for built in (tree / place).glob("*.ko"):
            built.rename(to / built.name)
    finally:
        shutil.rmtree(tree)


def _compile_most(
    files: list[Path], each: Iterable[Path], to: Path, what: Kernel, place: str, log: Path
) -> list[LabError]:
    """The same with the modules `each` of these files; if that fails for a kernel of the user's,
    each by itself, so that what one of them has no place for in it keeps no other from it.  Of one
    that cannot be built NAME.failed has the compiler's words, and its error is returned."""
    log.unlink(missing_ok=True)
    errors: list[LabError] = []
    try:
        _compile(files, to, what, place, log)
    except LabError:
        sources = set(each)
        if not what.other or not sources:
            raise
        for one in sorted(sources):
            try:
                _compile([x for x in files if x == one or x not in sources], to, what, place, log)
            except LabError as error:
                errors.append(error)
                (to / f"{one.stem}{_FAILED}").write_text(f"{error}\n")
    return errors


def failed(built: Path) -> dict[str, str]:
    """Module of a directory of build_modules or build_links that could not be built -> what the
    compiler said."""
    return {file.stem: file.read_text().strip() for file in sorted(built.glob(f"*{_FAILED}"))}


def build_modules(what: Kernel = LAB, *, tests: str = "") -> Path:
    """A directory with every module of the tree built for this kernel; with `tests`, those
    of that directory of tests/ instead."""
    kernel = build(what)
    files = modules.files(tests=tests)
    suffix = f"-{tests}" if tests else ""

    def make(path: Path) -> None:
        log = cache.directory() / f"module-build-{what.key}{suffix}.log"
        each = [] if tests else list(modules.sources().values())
        place = f"tests/{tests}" if tests else ""
        errors = _compile_most(files, each, path, what, place, log)
        if errors and len(errors) == len(each):
            raise errors[0]
        objects.write_digests(path.glob("*.ko"), path)

    key = cache.digest(kernel.name, *files)
    return cache.entry(f"modules-{what.name}-{key}{suffix}", make, (objects.DIGESTS,))


def build_links(what: Kernel = LAB) -> Path:
    """A directory with the modules that are networks, built for this kernel: lflink.ko, the whole
    one of most runs, sch_lfvary.ko, a link that changes, sch_lfsync.ko, of which all flows lose
    at once, and sch_lfack.ko, receivers that misbehave."""
    kernel = build(what)
    each = [
        tools.GUEST / f"{name}.c" for name in ("lflink", "sch_lfack", "sch_lfsync", "sch_lfvary")
    ]
    files = [tools.GUEST / "Kbuild", *each]
    log = cache.directory() / f"link-build-{what.key}.log"

    def make(path: Path) -> None:
        place = str(tools.GUEST.relative_to(modules.ROOT))
        _compile_most(files, each, path, what, place, log)

    needs = () if what.other else tuple(f"{one.stem}.ko" for one in each)
    return cache.entry(f"links-{what.name}-{cache.digest(kernel.name, *files)}", make, needs)
