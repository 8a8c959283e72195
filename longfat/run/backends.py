# SPDX-License-Identifier: GPL-2.0
"""Where an experiment runs: each backend carries out one run directory.

A run directory holds what guest/run.sh needs; afterwards it holds `samples`,
`log`, `kernel` and `status`, and `trace` if the scenario asks for it.  A backend
differs only in what surrounds run.sh.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from longfat.build import bpf, given, kernel, modules, tools
from longfat.core import cache, cores, process, scratch
from longfat.core.errors import Disturbed, LabError, Unwritable
from longfat.machines import remote, suite, vm
from longfat.run import disciplines, far, identity, lflink, loading, result
from longfat.run.identity import Made, Platform
from longfat.run.plan import ACK, FIRST_PORT, SYNC, VARY, Plan
from longfat.run.plan import make as make_plan
from longfat.run.scenario import Scenario

MODULES = Path("/sys/module")  # what is loaded into this machine's kernel
_AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"
_CONTROLS = "controls"

LOADS = 120  # wall seconds that loading modules once may take, at most
BOOTS = 120  # the same of an emulated machine before that: 20 where nothing else runs
BUILDS = 600  # seconds that building modules on another machine may take

# Of what `take` keeps; raised when it is made otherwise.
_KIND = 3


class Backend(ABC):
    """One way of running experiments; `prepare` once, then `execute` many."""

    name: str
    exact: bool  # virtual time: cores are never short
    virtual = False  # the virtual-time kernel: it has lflink, and netem can be seeded
    own_system = False  # runs do not see this machine's programs, but those of another system
    elsewhere = False  # runs are on other machines, which are given what they need
    lasting = False  # its kernel is not started for a run, and has then what a run leaves in it
    no_modules = ""  # why it takes none of the user's
    no_bpf = ""  # why it takes no congestion control in BPF

    def __init__(self) -> None:
        self._load_timeout = float(LOADS)
        self._platform: Platform | None = None
        self._given: dict[str, Path] = {}  # module -> what was built of it for this kernel

    def prepare(self, say: Callable[[str], None]) -> None:
        """Build or check what runs need; LabError says why this backend cannot run."""
        # Before the build: an edit from now on belongs to the next one.
        self._platform = Platform.of_sources()
        self._prepare(say)

    @abstractmethod
    def _prepare(self, say: Callable[[str], None]) -> None:
        """What `prepare` does for this backend."""

    @property
    def platform(self) -> Platform:
        """What runs are made on, as of `prepare`."""
        return self._platform or Platform.of_sources()

    @property
    def prefix(self) -> str:
        """What the namespaces of a run are called."""
        return "lf"

    def on(self, scenario: Scenario) -> Backend:
        """The one that carries this scenario out; LabError if that would be on another kernel."""
        if scenario.kernel:
            raise LabError(
                f"{scenario.name}: kernel = {scenario.kernel!r}: the {self.name} backend has a "
                f"kernel of its own; leave kernel out, or use --backend uml"
            )
        return self

    def plan(self, scenario: Scenario, seed: int) -> Plan:
        """What is carried out."""
        return make_plan(scenario, seed, prefix=self.prefix, virtual=self.virtual)

    @abstractmethod
    def execute(
        self,
        run: Path,
        scenario: Scenario,
        seed: int,
        *,
        timeout: float,
        cancel: threading.Event = process.NEVER,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        """Carry out the prepared directory `run`."""

    def outcome(
        self, scenario: Scenario, seed: int, plan: Plan, run: Path, parts: result.Json
    ) -> result.Json:
        """The result of a directory that was carried out."""
        return result.make(scenario, seed, self.name, plan, run, parts)

    def module_files(self) -> Path | None:
        """Where the .ko files are that a run loads by itself, if it does."""
        return None

    def link_file(self, name: str) -> Path:
        """A module that is a part of the network."""
        raise NotImplementedError(f"{self.name}: not virtual, so no plan of it has lflink")

    # --- modules that are none of the tree's

    def given_file(self, module: str) -> Path:
        """What was built for this kernel."""
        return self._given.get(module, given.known()[module].file)

    def check_takes(self, paths: Sequence[Path], objects: Sequence[Path]) -> None:
        """LabError if this backend takes no modules or no `objects` of BPF and there are some."""
        for those, why in ((paths, self.no_modules), (objects, self.no_bpf)):
            if those and why:
                raise LabError(why)

    def take(
        self,
        paths: Sequence[Path],
        say: Callable[[str], None],
        *,
        objects: Sequence[Path] = (),
        timeout: float = LOADS,
        again: bool = False,
    ) -> None:
        """Build these modules for the kernel of this backend, which is prepared, and make known
        what they and these `objects` of BPF register, or if that is done for another kernel check
        that it is the same; `say` is given what compiler and kernel said, now or when it was built.
        Each load may take `timeout` wall seconds, up to LOADS."""
        self._load_timeout = min(timeout, LOADS)
        self.check_takes(paths, objects)
        for source in (*map(given.collect, paths), *map(bpf.collect, objects)):
            found = self._found(source, say)
            if again:
                given.check_same(found, self.kernel_of_modules())
            else:
                given.give(found)
            self._given |= {one.module: one.file for one in found}
            of = {one.module: Made(one.source, (one.object,)) for one in found}
            self._platform = self.platform.having(of)

    def _found(self, source: given.Source, say: Callable[[str], None]) -> list[given.Given]:
        """What `source` is on this kernel, built unless it was before."""
        said: list[str] = []

        def tell(text: str) -> None:
            said.append(text)
            say(f"{source.path}: {given.placed(text, source.path)}")

        def make(to: Path) -> None:
            given.write_found(self._make_module(source, to, tell), said, to)

        key = source.digest(self.kernel_of_modules(), _KIND)
        where = cache.entry(f"given-{self.name}-{key}", make, (given.FOUND,))
        found, kept = given.read_found(where)
        if not said:  # it was built before, here or by another lab
            for text in kept:
                tell(text)
        return found

    def _make_module(
        self, source: given.Source, to: Path, say: Callable[[str], None]
    ) -> list[given.Given]:
        """Fill the directory `to` with what `source` compiles to; what that registers."""
        with scratch.directory("run") as run:
            run.chmod(0o755)
            if source.bpf:
                source.copy(to)
            else:
                self._build_module(source, run / "source", to, say)
            return loading.find(
                source, to, run / "load", self.try_modules, say, lasting=self.lasting
            )

    def _build_module(
        self, source: given.Source, place: Path, to: Path, say: Callable[[str], None]
    ) -> None:
        """Fill the directory `to` with what `source` compiles to in `place`."""
        source.copy(place)
        done, seen_at = self.compile(place)
        said = given.words(done.stdout, seen_at)
        if done.returncode:
            words = given.placed(said, source.path)
            raise LabError(
                f"{source.path}: cannot be built for {self.kernel_of_modules()}:\n{words}"
            )
        if said:
            say(f"the compiler said:\n{said}")
        for file in given.objects_in(place, source, self.kernel_of_modules()):
            shutil.copy(file, to / f"{given.module_name(file)}.ko")

    @abstractmethod
    def kernel_of_modules(self) -> str:
        """The kernel that modules are built for, by which they are kept."""

    @abstractmethod
    def compile(self, place: Path) -> tuple[subprocess.CompletedProcess[str], str]:
        """Build the modules in `place` for this kernel: what that said, and how it calls
        `place`."""

    @abstractmethod
    def try_modules(self, run: Path, names: Sequence[str]) -> None:
        """Run guest/load.sh in this kernel for the directory `run`."""


def fill(
    run: Path,
    plan: Plan,
    scenario: Scenario,
    backend: Backend,
    *,
    main: str = "",
) -> None:
    """Write what guest/run.sh needs into the empty directory `run`; `main` in the place of the
    plan's own."""
    backend.on(scenario)  # or it says why not
    if plan.programs and main:
        raise LabError(f"{scenario.name}: this measures with the lab's traffic, not with iperf3")
    if plan.programs and not backend.own_system:
        tools.need("iperf3")
    for name, text in identity.files(plan, scenario).items():
        (run / name).write_text(text)
    if backend.elsewhere:
        return
    if main:
        (run / "main.sh").write_text(main)
    (run / "bin").mkdir()
    for program in ("lfgen", "lforder", "lfcap"):
        if f"bin/{program} " in (main or plan.main):
            shutil.copy(tools.programs() / program, run / "bin")
    for module in (lflink.FILE, ACK, SYNC, VARY):
        if re.search(rf"^insmod \./{module}\b", plan.setup, re.M):
            shutil.copy(backend.link_file(module), run)
    if any(link.aqm in disciplines.NEWER for link in scenario.path):
        (run / "bin/tc").symlink_to(tools.newest_tc() / "tc")
    for script in ("run.sh", "init.sh"):
        shutil.copy(tools.GUEST / script, run / script)
        (run / script).chmod(0o755)
    if (run / identity.INSMOD).exists():
        (run / identity.INSMOD).rename(run / "bin/insmod")
        (run / "bin/insmod").chmod(0o755)
    known = given.known()
    loaded = identity.loaded(scenario)
    for module in loaded:
        if module in known:
            shutil.copy(backend.given_file(module), run)
    if any(known[module].bpf for module in loaded if module in known):
        shutil.copy(tools.GUEST / "register.sh", run)
    if built := backend.module_files():
        for module in loaded:
            if module in known:
                continue
            if not (built / f"{module}.ko").exists():
                raise modules.not_built(module)
            shutil.copy(built / f"{module}.ko", run)


def _last_words(console: str) -> str:
    """What a kernel that died said: from its first complaint on, or what came last."""
    first = result.SPLAT.search(console)
    return console[console.rfind("\n", 0, first.start()) + 1 :][:6000] if first else console[-2000:]


def kernel_memory() -> Path:
    """Where a virtual-time kernel has its memory, in a file without a name."""
    shm = Path("/dev/shm")
    return shm if shm.is_dir() else Path("/tmp")


class Uml(Backend):
    """The virtual-time kernel, one core and one process for each run."""

    name = "uml"
    exact = True
    no_bpf = (
        "--bpf: the uml backend has no congestion control in BPF: the kernel calls it by machine "
        "code that a BPF JIT makes, and User-Mode Linux has none (its interpreter of BPF does not "
        "do); use --backend vm, or vm-counted for virtual time"
    )
    virtual = True
    processors = 1
    slowness = 1
    rarer = 1

    def __init__(self, what: kernel.Kernel = kernel.LAB, text: str = "") -> None:
        super().__init__()
        self.sanitizers = what == kernel.SANITIZERS
        self._what = what
        self.text = text  # what users call the kernel; "" is the lab's

    def on(self, scenario: Scenario) -> Backend:
        # The lab's own has two names.
        if scenario.kernel and kernel.choose(scenario.kernel) != self._what:
            raise LabError(
                f"{scenario.name}: kernel = {scenario.kernel!r}: this is on the lab's own kernel "
                f"alone; leave kernel out, or use `longfat run`"
            )
        return self

    def _prepare(self, say: Callable[[str], None]) -> None:
        kernel.require()
        tools.need("ip", "tc", "ethtool", "sysctl", "taskset", "setarch", "insmod")
        name = "virtual-time kernel with sanitizers" if self.sanitizers else "virtual-time kernel"
        if self.text:
            name += f" {self.text}"
        say(f"{name} (the first time: about five minutes)")
        self._kernel = kernel.build(self._what)
        say("modules")
        self._modules = kernel.build_modules(self._what)
        self._links = kernel.build_links(self._what)
        self._programs = tools.programs()
        self._tc = tools.seeding_tc()
        self._platform = Platform.here(self._what)
        if self.text:
            self._offer()

    def _offer(self) -> None:
        """Make known which congestion controls this kernel has, and say what it is without."""
        built = kernel.failed(self._modules) | kernel.failed(self._links)
        missing = [f"{name}.ko: {why}" for name, why in built.items()]
        for line in [*kernel.without(self._kernel).splitlines(), *missing]:
            print(f"longfat: {self.text} is without {line}", file=sys.stderr)

        def ask(to: Path) -> None:
            with scratch.directory("run") as run:
                run.chmod(0o755)
                (run / "run.sh").write_text(f'cat {_AVAILABLE} >"$1/{_CONTROLS}"\n')
                status = self.boot_alone(run, megabytes=512, timeout=120)
                if status or not (run / _CONTROLS).exists():
                    said = (run / "console").read_text(errors="replace")[-2000:]
                    raise LabError(f"{self.text}: was built, but does not run:\n{said}")
                shutil.copy(run / _CONTROLS, to)

        there = cache.entry(f"controls-{self._kernel.name}", ask, (_CONTROLS,))
        kernel.offer(self.text, (there / _CONTROLS).read_text().split())

    def module_files(self) -> Path:
        return self._modules

    def link_file(self, name: str) -> Path:
        file = self._links / name
        if why := kernel.failed(self._links).get(file.stem):
            hint = "; `pcap = true` takes the network with a router, which does without"
            raise LabError(
                f"{name}, a part of this run's network, cannot be built for {self.text}"
                f"{hint if name == lflink.FILE else ''}: {why}"
            )
        return file

    def kernel_of_modules(self) -> str:
        return f"the virtual-time kernel ({self._kernel.name})"

    def compile(self, place: Path) -> tuple[subprocess.CompletedProcess[str], str]:
        headers = str(self._kernel / "linux")
        command = given.command(headers, str(place), arch=self._what.arch)
        return process.call(command), str(place)

    def try_modules(self, run: Path, names: Sequence[str]) -> None:
        (run / "run.sh").write_text(f'sh "$1/load.sh" "$1" {" ".join(names)}\n')
        if self.boot_alone(run, megabytes=512, timeout=self._load_timeout):
            said = (run / "console").read_text(errors="replace")[-4000:]
            raise LabError(f"the virtual-time kernel died of it:\n{said}")

    def below(self, run: Path) -> list[str]:
        """The command below which the kernel runs, such as a profiler."""
        return []

    def seeding_tc(self) -> Path | None:
        """The directory of a tc that knows netem's seed, unless the system's own does."""
        return self._tc

    def execute(
        self,
        run: Path,
        scenario: Scenario,
        seed: int,
        *,
        timeout: float,
        cancel: threading.Event = process.NEVER,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        shutil.copy(self._programs / "poweroff", run / "poweroff")
        if self._tc and not (run / "bin/tc").exists():
            shutil.copy(self._tc / "tc", run / "bin/tc")
        megabytes = identity.memory(scenario)
        status = self.boot(
            run,
            seed,
            megabytes=megabytes,
            timeout=timeout,
            cancel=cancel,
            tick=tick,
        )
        if status:
            console = (run / "console").read_text(errors="replace")
            why = f"the virtual-time kernel ended with status {status}"
            kind = LabError
            if "ran out of space" in console:
                kind = Unwritable
                why += (
                    f" because there is no space left in {kernel_memory()}, where its memory is "
                    f"(it takes up to {megabytes} MB): free some, run fewer at once (-j 1), or "
                    f"mount it with a larger size="
                )
            elif status == -signal.SIGKILL:
                kind = Disturbed
                why += (
                    f": it was killed, perhaps for want of memory (it takes up to {megabytes} MB), "
                    f"so run fewer at once (-j 1)"
                )
            raise kind(f"{why}:\n{_last_words(console)}")

    def boot_alone(
        self, run: Path, *, megabytes: int, timeout: float, arguments: tuple[str, ...] = ()
    ) -> int:
        """Boot the kernel for the script run/run.sh and nothing else; its exit status."""
        shutil.copy(tools.GUEST / "init.sh", run)
        (run / "init.sh").chmod(0o755)
        shutil.copy(tools.programs() / "poweroff", run)
        return self.boot(
            run,
            1,
            megabytes=megabytes,
            timeout=timeout,
            arguments=arguments,
        )

    def boot(
        self,
        run: Path,
        seed: int,
        *,
        megabytes: int,
        timeout: float,
        cancel: threading.Event = process.NEVER,
        tick: Callable[[], None] = lambda: None,
        arguments: tuple[str, ...] = (),
    ) -> int:
        """Boot the kernel with run/init.sh as its first process; its exit status."""
        command = [
            str(self._kernel / "linux/linux"),
            f"mem={megabytes}M",
            *kernel.BOOT,
            *arguments,
        ]
        # The command line goes into the kernel's random pool, so it must not name
        # this run: the directory is found through the process's own.
        # Address-space randomisation off, a fixed environment, a seeded pool.
        env = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/",
            "LF_SEED": str(seed),
            "LD_PRELOAD": ":".join(str(self._programs / name) for name in tools.PRELOADED),
            "TMPDIR": str(kernel_memory()),
        }
        with cores.taken() as core:
            return process.run(
                [*self.below(run), "setarch", "-R", "taskset", "-c", str(core), *command],
                output=run / "console",
                timeout=timeout,
                cancel=cancel,
                tick=tick,
                env=env,
                cwd=run,
            )


class Host(Backend):
    """This machine's own kernel, in network namespaces; for root on a real machine."""

    name = "host"
    exact = False
    lasting = True
    no_bpf = (
        "--bpf: the host backend leaves BPF to you (`bpftool struct_ops register FILE`); use "
        "--backend vm or vm-counted"
    )

    def _prepare(self, say: Callable[[str], None]) -> None:
        other = "--backend uml (virtual time, no privilege) runs every scenario"
        if os.geteuid():
            raise LabError(f"the host backend needs root for network namespaces; {other}")
        tools.need("ip", "tc", "ethtool", "sysctl", "modprobe")
        probe = (
            "ip netns add lf-probe && ip -n lf-probe link add lf0 type veth peer name lf1 && "
            "tc -n lf-probe qdisc add dev lf0 root netem delay 1ms && "
            "tc -n lf-probe qdisc add dev lf1 root fq"
        )
        try:
            result = os.popen(f"({probe}) 2>&1").read().strip()
        finally:
            os.system("ip netns del lf-probe 2>/dev/null")
        if result:
            raise LabError(
                f"this kernel ({os.uname().release}) cannot make the network: {result}. It needs "
                f"network namespaces, veth, netem and fq (linux-image-amd64 has them); {other}"
            )

    @property
    def prefix(self) -> str:
        return f"lf{os.getpid()}"

    def kernel_of_modules(self) -> str:
        return f"this kernel ({os.uname().release}, {os.uname().version})"

    def compile(self, place: Path) -> tuple[subprocess.CompletedProcess[str], str]:
        tools.need("make", "cc", "insmod", "rmmod")
        release = os.uname().release
        headers = Path(f"/lib/modules/{release}/build")
        if not headers.is_dir():
            raise LabError(
                f"{headers} is missing, so nothing can be built for this kernel: install its "
                f"headers (Debian: linux-headers-{release}), or use --backend uml"
            )
        return process.call(given.command(str(headers), str(place))), str(place)

    def try_modules(self, run: Path, names: Sequence[str]) -> None:
        for name in names:
            _not_loaded(name)
        foreign = absent(x for file in run.glob("*.needs") for x in file.read_text().split())
        command = ["sh", str(run / "load.sh"), str(run), *names]
        try:
            process.run(command, output=run / "out", timeout=self._load_timeout)
        except BaseException:  # before load.sh had removed them
            unload([*reversed(names)])
            raise
        finally:
            _release(foreign)

    def execute(
        self,
        run: Path,
        scenario: Scenario,
        seed: int,
        *,
        timeout: float,
        cancel: threading.Event = process.NEVER,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        known = given.known()
        own = [module for module in identity.loaded(scenario) if module in known]
        for module in own:
            _not_loaded(module)
        foreign = absent(x for module in own for x in known[module].needs if x not in known)
        try:
            process.run(
                ["sh", str(run / "run.sh"), str(run)],
                output=run / "out",
                timeout=timeout,
                cancel=cancel,
                tick=tick,
                grace=20,  # to remove the namespaces and put the settings back
            )
        finally:
            unload([x.stem for x in reversed(given.in_order(known[x].file for x in own))])
            _release(foreign)


def _not_loaded(module: str) -> None:
    """Refuse where a module of this name is there, which may be another."""
    if (MODULES / module).exists():
        raise LabError(
            f"a module {module} is loaded into this kernel already: remove it (rmmod {module}), "
            f"or rename the file that --module names"
        )


def unload(names: Sequence[str], seconds: float = 10) -> None:
    """Remove these modules; connections that have just ended may hold one for a moment."""
    end = time.monotonic() + seconds
    for name in names:
        while (MODULES / name).exists():
            done = process.call(["rmmod", name])
            if not done.returncode:
                break
            if time.monotonic() > end:
                raise LabError(f"the module {name} cannot be removed: {done.stdout.strip()}")
            time.sleep(0.2)


def absent(names: Iterable[str]) -> list[str]:
    """Of these installed modules and what they need themselves those that are not loaded, each
    before what it needs.  A name may be a module's alias."""
    said = "".join(process.call(["modprobe", "--show-depends", name]).stdout for name in names)
    files = re.findall(r"^insmod \S*?([^/.\s]+)\.ko", said, re.M)  # what is needed comes first
    found = dict.fromkeys(file.replace("-", "_") for file in files)
    return [name for name in reversed(found) if not (MODULES / name).exists()]


def _release(names: Sequence[str]) -> None:
    """Remove modules of the kernel's that came with others, but for what is used by now."""
    for name in names:
        if (MODULES / name).exists():
            process.call(["rmmod", name])


class Vm(Backend):
    """Debian's own 6.1 kernel with the real modules, under virtme-ng."""

    name = "vm"
    exact = False
    own_system = True
    suite = "bookworm"
    machine: ClassVar[dict[str, Any]] = {}  # options of vm.run

    def boot(self, run: Path, **options: Any) -> vm.Completed:
        """Boot the kernel for what is in `run`, with our modules built for it; `options` are
        vm.run's."""

        def lacking() -> set[str]:
            return {p.stem for p in run.glob("*.conf")} - {p.stem for p in run.glob("*.ko")}

        setup = None
        if lacking() or not given.known():
            modules.copy(modules.files(), run / "source")
            # In the chroot, where a compiler is fast.
            setup = (
                "cd /lab/source && make -C /lib/modules/*/build M=/lab/source && "
                "mv -n *.ko .. && cd .. && for conf in *.conf; do "
                '[ ! -e "$conf" ] || [ -e "${conf%.conf}.ko" ] || exit 1; done'
            )
        try:
            done = vm.run(
                "sh /lab/run.sh /lab",
                suite=self.suite,
                setup=setup,
                binds=[(run, "/lab")],
                **self.machine,
                **options,
            )
        except LabError:
            if lacking() and list(run.glob("*.ko")):  # what was built was moved here
                raise modules.not_built(min(lacking())) from None
            raise
        (run / "out").write_text(done.stdout)
        if (run / "error").exists():  # of which the kernel may say more, such as of a module
            (run / "dmesg").write_text(done.dmesg)
        (run / "accelerator").write_text(done.accelerator)
        return done

    def kernel_of_modules(self) -> str:
        return f"Debian {self.suite}'s kernel ({suite.kernel(self.suite)})"

    def compile(self, place: Path) -> tuple[subprocess.CompletedProcess[str], str]:
        seen = "/lab/source"
        headers = f"/lib/modules/{suite.kernel(self.suite)}/build"
        done = suite.run(self.suite, given.command(headers, seen), binds=[(place, seen)])
        return done, seen

    def try_modules(self, run: Path, names: Sequence[str]) -> None:
        # Without the options of this machine: a clock of instructions would only be slower.
        command = shlex.join(["sh", "/lab/load.sh", "/lab", *names])
        binds = [(run, "/lab")]
        vm.run(command, suite=self.suite, binds=binds, timeout=BOOTS + self._load_timeout)

    def _prepare(self, say: Callable[[str], None]) -> None:
        vm.check()
        say("Debian bookworm with its kernel (the first time: a minute or two)")
        suite.chroot(self.suite)
        tools.programs()

    def execute(
        self,
        run: Path,
        scenario: Scenario,
        seed: int,
        *,
        timeout: float,
        cancel: threading.Event = process.NEVER,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        failed: list[LabError] = []

        def poll() -> bool:
            try:
                tick()
            except LabError as error:
                failed.append(error)
            return cancel.is_set() or bool(failed)

        try:
            memory = f"{identity.memory_emulated(scenario)}M"
            self.boot(run, timeout=timeout, poll=poll, memory=memory)
        except LabError:
            if cancel.is_set():
                raise process.Cancelled("cancelled") from None
            if failed:
                raise failed[0] from None
            raise


class Counted(Vm):
    """The same kernel in a virtual time: emulated, a nanosecond for each instruction, so that it
    holds rates which emulation in real time does not."""

    name = "vm-counted"
    exact = True
    # What a processor of this speed must not spend, or packets wait for it in bursts: a buffer of
    # 10 ms at 200 Mbit/s then overflows a tenth of the window too early.
    arguments = ("preempt=full", "mitigations=off", "init_on_alloc=0", "apparmor=0")
    machine = vm.COUNTED | {"arguments": arguments}

    def boot(self, run: Path, **options: Any) -> vm.Completed:
        """On one core: the emulator's two threads wait for each other (as fast, measured)."""
        before = os.sched_getaffinity(0)
        with cores.taken() as core:
            os.sched_setaffinity(0, {core})  # of this thread, and of what it starts
            try:
                return super().boot(run, **options)
            finally:
                os.sched_setaffinity(0, before)


class Ssh(Backend):
    """Two machines of the user's, and the path that is between them: a sender and a receiver, on
    which iperf3 is the traffic."""

    name = "ssh"
    exact = False
    no_modules = "--module: the ssh backend takes the tree's modules, by --build"
    no_bpf = "--bpf: the ssh backend takes none; use --backend vm or vm-counted"
    own_system = True
    elsewhere = True

    def __init__(self, hosts: far.Hosts | None = None, *, build: bool = False) -> None:
        super().__init__()
        if not hosts:
            raise LabError("--backend ssh is of `longfat run`, and needs --hosts FILE.toml")
        self.hosts, self.build = hosts, build
        self._sent = 0  # bytes, of all runs so far

    def on(self, scenario: Scenario) -> Backend:
        far.fitting(scenario)
        return super().on(scenario)

    def _prepare(self, say: Callable[[str], None]) -> None:
        tools.need("ssh")
        for machine in (self.hosts.receiver, self.hosts.sender):
            say(machine.where)
            lacking = machine.ask(
                "PATH=$PATH:/usr/sbin:/sbin; for x in iperf3 ss setsid timeout flock tar awk; do "
                "command -v $x >/dev/null || echo $x; done"
            ).split()
            if lacking:
                raise LabError(f"{machine.where}: not installed there: {', '.join(lacking)}")

    def plan(self, scenario: Scenario, seed: int) -> Plan:
        made = super().plan(far.fitting(scenario), seed)
        moved = [
            replace(one, port=self.hosts.port + one.port - FIRST_PORT) for one in made.programs
        ]
        return replace(made, programs=moved, spaces=[])

    def kernel_of_modules(self) -> str:
        return f"the kernel of {self.hosts.sender.ssh}"

    def compile(self, place: Path) -> tuple[subprocess.CompletedProcess[str], str]:
        raise NotImplementedError(self.no_modules)

    def try_modules(self, run: Path, names: Sequence[str]) -> None:
        raise NotImplementedError(self.no_modules)

    def _files(self, run: Path, scenario: Scenario) -> tuple[dict[str, bytes], dict[str, str]]:
        """What the sender needs, and each algorithm's module."""
        owners = modules.owners()
        named = {cc: owners.get(cc, f"tcp_{cc}") for cc in sorted(scenario.algorithms)}
        files = {one.name: one.read_bytes() for one in run.glob("*.conf")}
        files["algorithms"] = "".join(f"{cc} {of}\n" for cc, of in named.items()).encode()
        return files, named

    def execute(
        self,
        run: Path,
        scenario: Scenario,
        seed: int,
        *,
        timeout: float,
        cancel: threading.Event = process.NEVER,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        programs = self.plan(scenario, seed).programs
        files, named = self._files(run, scenario)
        sysctls = "".join(f"{key}={value}\n" for key, value in far.settings(scenario).items())
        files["settings"] = sysctls.encode()
        most = self.hosts.cap - self._sent
        if most <= 0:
            raise LabError("of the cap in the file of --hosts nothing is left for this run")
        files["main.sh"] = far.sender(programs, self.hosts.address, most).encode()
        files["sockets"] = far.sockets(programs, self.hosts.address).encode()
        receives = {
            "main.sh": far.receiver(programs).encode(),
            "settings": files["settings"],
            "named": "".join(f"{module}\n" for module in sorted(set(named.values()))).encode(),
        }
        hosts = self.hosts
        late = time.monotonic() + timeout

        def within(
            seconds: float, otherwise: str, beside: remote.Session | None = None
        ) -> Callable[[], None]:
            """What is to be called while something is waited for, at most for so long, and as
            long as the session `beside` is there, too."""
            end = min(late, time.monotonic() + seconds)

            def poll() -> None:
                tick()
                if cancel.is_set():
                    raise process.Cancelled("cancelled")
                if beside:
                    beside.check()
                if time.monotonic() > end:
                    raise LabError(f"{scenario.name}, seed {seed}: {otherwise}")

            return poll

        trees = []
        ours = {of for cc, of in named.items() if cc in modules.owners()}
        if self.build and ours:
            # Kbuild makes all that are there.
            others = {path for name, path in modules.sources().items() if name not in ours}
            modules.copy([x for x in modules.files() if x not in others], run / "source")
            trees = [("source", run / "source")]
        with remote.Session(hosts.receiver, receives) as there:
            there.wait("ready", within(far.GRACE, f"{hosts.receiver.where} does not get ready"))
            with remote.Session(hosts.sender, files, trees) as here:
                prepare = far.GRACE + BUILDS * self.build
                unready = f"{hosts.sender.where} does not get ready"
                here.wait("ready", within(prepare, unready, there))
                # All that is left, until it is known what this one took.
                self._sent = hosts.cap
                nothing = f"nothing passes between {hosts.sender.ssh} and {hosts.address}"
                here.files(run, within(scenario.duration + far.GRACE, nothing, there))
            there.files(run, within(far.GRACE, nothing))
        self._sent = hosts.cap - most + far.sent(run / "out", programs)
        for file in (run / "out").iterdir():
            # The kernel's is the sender's, which came first.
            file.rename(run / file.name)
        (run / "log").write_text("")
        (run / "status").write_text("0\n")
        (run / "samples").write_text(f"o 0\nq {scenario.duration:.6f} 0 0 0 0 0 0\n")

    def outcome(
        self, scenario: Scenario, seed: int, plan: Plan, run: Path, parts: result.Json
    ) -> result.Json:
        """Without what is not seen from the ends, and without an identity: the path is another one
        each time."""
        found = result.make(scenario, seed, self.name, plan, run)
        found["summary"] |= dict.fromkeys(("capacity_bps", "utilisation", "loss", "dropped"))
        waits = []
        for flow in found["flows"]:
            rtts = [us / 1e3 for one in flow["connections"] for us in one["rtt_us"] if us]
            flow["base_rtt_ms"] = min(rtts, default=0.0)
            waits += [rtt - min(rtts) for rtt in rtts]
        found["summary"]["queue_delay_ms"] = result.spread(waits, 3)
        found["queue"] = {"t": [], "packets": [], "dropped": []}
        hosts = self.hosts
        found["hosts"] = {
            **{"sender": hosts.sender.ssh, "receiver": hosts.receiver.ssh},
            **{"address": hosts.address, "built": self.build},
        }
        return found


BACKENDS: dict[str, type[Backend]] = {one.name: one for one in (Uml, Vm, Counted, Host, Ssh)}
