# SPDX-License-Identifier: GPL-2.0
"""What a result is known by: everything that decided its bytes.

A result carries its identity:

plan        what `fill` writes into a run's directory, the seed, the memory of a virtual kernel, and
            what the summary is computed with besides
programs    what carries the plan out
kernel      on uml its version and its configuration; else what it calls itself
modules     module that the run loads, of ours or given -> what that was
iperf3      its version, if it is the traffic
id          one hash of all of these

A title, which seeds there are besides, and a key whose value leaves the files as they were are in
none of these.  Nor are ip, tc and sysctl, which only pass on what the plan says.

On uml a program and a module are known by what they compile to, so that a comment changes nothing.
Other backends compile on their own systems.  There both are known by their sources without the
comments.

A result is older if a Platform does not know one of these parts, and for no other reason.  Of the
kernel and of iperf3 that is asked on uml alone: another backend takes what its system has, and a
result of it only names them.

A Platform is this machine's (`here`), or that of the published results (`published`), which a small
file describes so that no kernel and no compiler is needed to say which of them are current.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from longfat.build import given, kernel, modules, objects, tools
from longfat.build.modules import ROOT
from longfat.core import cache
from longfat.core.errors import LabError
from longfat.run import iperf3
from longfat.run.plan import Plan, make
from longfat.run.scenario import Scenario

Json = dict[str, Any]

PUBLISHED = ROOT / "docs/results/platform.json"
RENEW = "scripts/longfat python -m longfat.pages platform"
# Raised when result.py computes a result otherwise from the same samples: all are older then.
COMPUTATION = 2
OF_OBJECTS = 2  # the same of runs with objects
OF_RATES = 1  # the same of runs of which the bottleneck's rate changes
INSMOD = "insmod"  # of `files`, if a module that was given wants more than to be loaded
UML = "uml"  # the backend of which results repeat to the byte


# --- the plan


def loaded(scenario: Scenario) -> list[str]:
    """The modules that a run loads: those of its flows, and what these need of those that were
    given.  A run without a flow of a module does not depend on it, though its file sets one of its
    parameters for other runs."""
    owners, known = given.registered(), given.known()
    found: set[str] = set()
    todo = [owners[cc] for cc in scenario.algorithms if cc in owners]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += (
                [other for other in known[name].needs if other in known] if name in known else []
            )
    return sorted(found)


def _insmod(names: list[str], settings: dict[str, dict[str, str]]) -> str:
    """A program in insmod's place that knows what modules need, and the parameters that are for
    the load; "" if there is no such thing."""
    known = given.known()
    lines = []
    for name in names:
        needs = known[name].needs if name in known else ()
        # In alphabetical order run.sh may come later to what is needed.
        before = [
            f"[ -e /sys/module/{x} ] || insmod ./{x}.ko || exit"
            if x in known
            else f"modprobe {x} || exit"
            for x in needs
        ]
        words = [shlex.quote(f"{key}={value}") for key, value in settings.get(name, {}).items()]
        if before or words:
            text = "\n\t".join([*before, " ".join(['set -- "$1"', *words])])
            lines.append(f"./{name}.ko)\n\t{text}\n\t;;\n")
    if not lines:
        return ""
    path = "PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
    return f'#!/bin/sh\ncase $1 in\n{"".join(lines)}esac\n{path} exec insmod "$@"\n'


def files(plan: Plan, scenario: Scenario) -> dict[str, str]:
    """What a run's directory has besides programs and modules: name -> content."""
    found = {
        "setup.sh": plan.setup,
        "traffic": plan.traffic,
        "main.sh": plan.main,
        "spaces": "".join(f"{ns}\n" for ns in plan.spaces),
        **plan.files,
    }
    if scenario.trace:
        found["tracing"] = ""
    # A module may register several names: its parameters may stand under any of them.
    owners, known, names = given.registered(), given.known(), loaded(scenario)
    settings: dict[str, list[str]] = {module: [] for module in names}
    # A plain variable is set as the module is loaded: what an init makes of it is made once.
    at_load: dict[str, dict[str, str]] = {}
    for cc in sorted(scenario.module):
        module = owners[cc]
        if module not in settings:
            continue
        for key, value in scenario.module[cc].items():
            text = str(int(value) if isinstance(value, bool) else value)
            if module in known and key not in known[module].written:
                text = f'"{text}"' if re.search(r"\s", text) else text  # as the kernel reads it
                at_load.setdefault(module, {})[key] = text
            else:
                settings[module].append(f"{key}={text}")
    # What is in BPF has no parameters.  The others are modules for run.sh.
    in_bpf = [module for module in names if module in known and known[module].bpf]
    registers = [
        shlex.join(["sh", "./register.sh", f"./{given.file_of(one)}", *known[one].names])
        for one in in_bpf
    ]
    found["setup.sh"] = "".join(f"{line} >/dev/null || exit\n" for line in registers) + plan.setup
    found |= {
        f"{module}.conf": "\n".join(of) + "\n"
        for module, of in settings.items()
        if module not in in_bpf
    }
    if script := _insmod(names, at_load):
        found[INSMOD] = script
    return found


def memory_for_connections(scenario: Scenario) -> int:
    """Megabytes that a guest needs beside what is in flight, if there are many connections: each
    has what its sender has not sent yet, half a megabyte as the kernel counts it."""
    return round(0.6 * max(0, scenario.connections - 300))


def memory(scenario: Scenario) -> int:
    """Megabytes of a virtual kernel: room for what is in flight and queued.  They are on its
    command line, which goes into its random pool."""
    return min(16384, 1024 + round(16 * scenario.most_in_flight / 2**20)) + memory_for_connections(
        scenario
    )


def memory_emulated(scenario: Scenario) -> int:
    """Megabytes of an emulated machine with a stock kernel."""
    return 2048 + memory_for_connections(scenario)


def plan_digest(scenario: Scenario, seed: int, *, virtual: bool) -> str:
    """The part `plan`.  Namespaces are called as on uml, whatever a backend calls them."""
    plan = make(scenario, seed, prefix="lf", virtual=virtual)
    # With what `result.make` reads the samples.
    reading = (
        COMPUTATION,
        *(scenario.duration, scenario.warmup, scenario.sample, scenario.queue_sample),
        *(scenario.link.rate, round(scenario.capacity)),
        [
            (group.rtt, getattr(group, "cc", ""), getattr(group, "chunk", 0))
            for group in scenario.groups
        ],
        *(plan.flows, plan.udp, plan.objects),
    )
    # What only some runs have.
    objects = [OF_OBJECTS] if plan.objects else []
    rates = [f"rates {OF_RATES}"] if "rate" in scenario.link.changing else []
    order = [_bare("lforder.c")] if "./bin/lforder " in plan.main else []
    order += [_bare("sch_lfvary.c")] if scenario.changing else []
    order += [_bare("sch_lfsync.c")] if scenario.synchronised else []
    order += [_bare("sch_lfack.c")] if scenario.misled else []
    order += [_bare("lfcap.c")] if scenario.captures else []
    written = sorted(files(plan, scenario).items())
    return cache.digest(seed, memory(scenario), reading, *objects, *rates, *written, *order)


# --- what carries it out


@dataclass(frozen=True)
class Made:
    """What a thing is known by: its source without comments, and all that this compiled to, by
    this compiler or another."""

    source: str
    objects: tuple[str, ...] = ()


# What carries a run out, besides tools.DECIDING.
_SHELL = ("run.sh", "init.sh")


def _besides() -> list[str]:
    """The texts of those.  lflink is known by its source, as it is compiled for each kernel.
    Kbuild is not among them: it lists modules, and a run depends on those that it loads."""
    scripts = [objects.bare_shell((tools.GUEST / name).read_text()) for name in _SHELL]
    return [*scripts, _bare("lflink.c")]


def _bare(name: str) -> str:
    return objects.bare((tools.GUEST / name).read_text())


def _programs_source() -> str:
    texts = [_bare(f"{Path(name).stem}.c") for name in tools.DECIDING]
    return cache.digest(*texts, *_besides(), *kernel.BOOT)


def _kernel_of(built: Path, what: kernel.Kernel) -> str:
    # Debian's version has the revision of its package, too.
    version = (built / "version").read_text().split("-")[0].strip()
    return f"{version} {what.configuration}"


def other_kernel(scenario: Scenario) -> kernel.Kernel | None:
    """The kernel that a scenario chooses, if that is not the lab's.  Modules are compiled for it,
    so what they are known by is their source."""
    what = kernel.choose(scenario.kernel)
    return None if what == kernel.LAB else what


def _by_version(name: str) -> tuple[list[int], str]:
    return [int(x) for x in name.split()[0].split(".") if x.isdigit()], name


@dataclass(frozen=True)
class Platform:
    """What runs are made on, or may have been made on."""

    programs: Made
    modules: Mapping[str, Made]
    kernels: tuple[str, ...] = field(default=())  # of uml: "version configuration"
    iperf3: str = ""  # of uml: its version, if it is installed

    @classmethod
    def of_sources(cls) -> Self:
        """The tree's, with nothing compiled."""
        of = {module: Made(modules.bare_digest(module)) for module in modules.sources()}
        return cls(Made(_programs_source()), of)

    @classmethod
    def here(cls, what: kernel.Kernel = kernel.LAB) -> Self:
        """This machine's kernel, programs and modules, built if they are not yet."""
        sources = cls.of_sources()
        built = kernel.build(what)
        compiled = objects.read_digests(kernel.build_modules(what))
        programs = objects.read_digests(tools.programs())
        carried_out = cache.digest(
            *(programs[Path(name).stem] for name in tools.DECIDING), *_besides(), *kernel.BOOT
        )
        return cls(
            Made(sources.programs.source, (carried_out,)),
            # For another kernel one of them may not be there.
            {
                name: Made(one.source, (compiled[name],) if name in compiled else ())
                for name, one in sources.modules.items()
            },
            (_kernel_of(built, what),),
            iperf3.installed(),
        )

    @classmethod
    def published(cls, path: Path | None = None) -> Self:
        """That of docs/results, as its file says; LabError if there is none."""
        path = path or PUBLISHED
        try:
            data = json.loads(path.read_text())
            programs, *of = (
                Made(one["source"], tuple(one["objects"]))
                for one in (data["programs"], *data["modules"].values())
            )
            names = dict(zip(data["modules"], of, strict=True))
            return cls(programs, names, tuple(data["kernels"]), data["iperf3"])
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise LabError(
                f"{path}: does not say what the published results are of ({error!r}): {RENEW}"
            ) from error

    def having(self, given: Mapping[str, Made]) -> Platform:
        """This, with modules that were given besides, or instead of its own."""
        return replace(self, modules={**self.modules, **given})

    def text(self) -> str:
        """As its file has it."""

        def entry(one: Made) -> Json:
            return {"source": one.source, "objects": list(one.objects)}

        data = {
            "kernels": list(self.kernels),
            "iperf3": self.iperf3,
            "programs": entry(self.programs),
            "modules": {name: entry(one) for name, one in sorted(self.modules.items())},
        }
        return json.dumps(data, indent=1) + "\n"

    def renewed(self, now: Platform) -> Platform:
        """This, as of `now`.  The same source compiled by another compiler, and another version of
        the kernel with the same configuration, come beside what there was; anything else replaces
        it."""

        def beside(was: Made | None, one: Made) -> Made:
            if was and (was.source == one.source or set(one.objects) & set(was.objects)):
                return Made(one.source, tuple(sorted({*was.objects, *one.objects})))
            return one

        configurations = {name.split()[1] for name in now.kernels}
        kernels = {name for name in self.kernels if name.split()[1] in configurations}
        return Platform(
            beside(self.programs, now.programs),
            {name: beside(self.modules.get(name), one) for name, one in now.modules.items()},
            tuple(sorted(kernels | set(now.kernels), key=_by_version)),
            now.iperf3 or self.iperf3,
        )

    def identity(self, scenario: Scenario, seed: int, backend: str) -> Json:
        """That of a run made here, on `backend`: `whole` adds what only the run says, and the
        id."""
        exact = backend == UML
        by_object = exact and not other_kernel(scenario)
        return {
            "plan": plan_digest(scenario, seed, virtual=exact),
            "programs": self.programs.objects[0] if exact else self.programs.source,
            "modules": {
                name: one.objects[0] if by_object else one.source
                for name, one in self.modules.items()
                if name in loaded(scenario)
            },
            **({"kernel": self.kernels[0]} | self._traffic(scenario) if exact else {}),
        }

    def _has(self, name: str, other: kernel.Kernel | None) -> bool:
        """Whether a kernel is one of these.  One that is chosen, which most platforms do not
        have, is known by its configuration and source; its newest version is asked of the
        platform that has it."""
        configurations = {one.split()[1] for one in self.kernels}
        if other and other.configuration not in configurations:
            return name.split()[1:] == [other.configuration]
        return name in self.kernels

    def _traffic(self, scenario: Scenario) -> Json:
        return {"iperf3": self.iperf3} if scenario.traffic == "iperf3" else {}

    def knows(self, result: Json, scenario: Scenario, seed: int) -> bool:
        """Whether a result is current: it is of this run, made on this."""
        found, exact = result.get("identity"), result.get("backend") == UML
        if not isinstance(found, dict):
            return False
        other = other_kernel(scenario) if exact else None

        def of(one: Made | None, *, by_object: bool) -> tuple[str, ...]:
            return (one.objects if by_object else (one.source,)) if one else ()

        return bool(
            found["programs"] in of(self.programs, by_object=exact)
            and sorted(found["modules"]) == loaded(scenario)
            and all(
                what in of(self.modules.get(name), by_object=exact and not other)
                for name, what in found["modules"].items()
            )
            and (not exact or self._has(found["kernel"], other))
            and (not exact or found.items() >= self._traffic(scenario).items())
            and found["plan"] == plan_digest(scenario, seed, virtual=exact)
        )


def whole(parts: Json, kernel: str, **others: str) -> Json:
    """An identity with the kernel, as the run says unless that is known better, with what else
    (`others`: iperf3) the run says, and its id."""
    found = {"kernel": kernel} | parts | others
    return found | {"id": cache.digest(json.dumps(found, sort_keys=True))}


def unknown(published: Platform, sources: Platform) -> list[str]:
    """What of the tree's programs and modules the published platform does not know, or knows and
    is not there any more."""
    names: Iterable[str] = sorted({*published.modules, *sources.modules})

    def source(one: Made | None) -> str:
        return one.source if one else ""

    found = [
        name
        for name in names
        if source(published.modules.get(name)) != source(sources.modules.get(name))
    ]
    return (["programs"] if published.programs.source != sources.programs.source else []) + found
