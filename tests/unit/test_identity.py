# SPDX-License-Identifier: GPL-2.0
"""What a result is known by: what changes it, and what does not."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import One

from longfat.build import modules, objects, tools
from longfat.core.errors import LabError
from longfat.pages import catalogue, work
from longfat.run import identity, scenario
from longfat.run.identity import Made, Platform, plan_digest

CODE = """\
#include <stdio.h>
/* A comment. */
static int limit = 3;
static const char *const names[] = {"a", "b"};

static int twice(int given)
{
	return given * limit;
}

int main(int count, char **words)
{
	return printf("%s\\n", words[0]) + twice(count) + names[count & 1][0];
}
"""

# Text, what it becomes, whether that is the same code.
CHANGES = [
    ("/* A comment. */", "/* Another\n\n, longer. */\n\n", True),
    ("given", "number", True),
    ("twice", "thrice", True),
    ("static int limit", "\n\n\nstatic int limit", True),
    ("limit = 3", "limit = 4", False),
    ('"b"', '"c"', False),
    ("given * limit", "given + limit", False),
    ("printf", "fprintf(stderr, words[0]) + printf", False),
    ("names[count & 1]", "names[!(count & 1)]", False),
]


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[[str], str]:
    def digest(text: str) -> str:
        (tmp_path / "a.c").write_text(text)
        command = ["cc", "-O2", "-g", "-c", "-o", "a.o", "a.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
        return objects.digest(tmp_path / "a.o")

    return digest


@pytest.mark.parametrize(("old", "new", "same"), CHANGES)
def test_what_code_is_known_by(
    compiled: Callable[[str], str], old: str, new: str, same: bool
) -> None:
    assert old in CODE
    assert (compiled(CODE.replace(old, new)) == compiled(CODE)) is same


def test_relocations_are_part_of_it(compiled: Callable[[str], str]) -> None:
    """Which function is called is in no byte of the code."""
    text = "int {0}(void); int f(void) {{ return {0}() + 1; }}"
    assert compiled(text.format("a")) != compiled(text.format("b"))
    text = "int a = 1, b = 2; int *f(void) {{ return &{0}; }}"
    assert compiled(text.format("a")) != compiled(text.format("b"))


def test_source_without_comments() -> None:
    text = 'a  = "// no /* comment */"; // one\n\n\t/* more\n than */ b = \'"\'; /* " */\n'
    assert objects.bare(text) == 'a = "// no /* comment */";\nb = \'"\';'
    assert objects.bare("a/**/b") == "a b"
    assert objects.bare_shell("#!/bin/sh\n# why\n\techo '#'\n\n") == "echo '#'"


# --- the plan


def plan_of(one: scenario.Scenario, seed: int = 1) -> str:
    return plan_digest(one, seed, virtual=True)


def test_what_decides_the_plan(one: One) -> None:
    """What reaches a run, or is computed with; not what it is called, nor its other seeds."""
    before = plan_of(one(cc='cc = "foo"'))
    same = one(cc='cc = "foo"', top="seeds = [1, 2]").model_copy(update={"title": "b", "name": "c"})
    assert plan_of(same) == before
    assert plan_digest(same, 1, virtual=True) != plan_digest(same, 2, virtual=True)
    different = [
        one(cc='cc = "foo"', rest="[module.foo]\nbeta = 100"),
        one(cc='cc = "foo"', top='warmup = "1s"'),
        one(cc='cc = "foo"', top="trace = true"),
        one(cc='cc = "foo"', top='queue_sample = "20ms"'),
        one(cc='cc = "foo"', link="loss = 0.001"),
        one(cc='cc = "reno"'),
        one(cc='cc = "foo"', flow="count = 2"),
        # The same connections, added up otherwise.
        one(cc='cc = "foo"', flow="parallel = 2"),
    ]
    assert len({before, *map(plan_of, different)}) == len(different) + 1


def test_rates_that_change_are_read_otherwise(one: One, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their queue's delay is, and no other result becomes older by it."""
    changing = one(link='[[link.at]]\ntime = "1s"\nrate = "1mbit"')
    others = [one(), one(link='[[link.at]]\ntime = "1s"\ndelay = "20ms"')]
    before = [plan_of(x) for x in (changing, *others)]
    monkeypatch.setattr(identity, "OF_RATES", 77)
    after = [plan_of(x) for x in (changing, *others)]
    assert before[0] != after[0] and before[1:] == after[1:]


def committed() -> list[tuple[dict[str, Any], scenario.Scenario, int]]:
    """Every line of the catalogue's files in docs/results."""
    how = work.profile(work.COMMITTED)
    found = []
    for file, (_, _, runs) in work.files(catalogue.load().figure, how).items():
        there = {(x["scenario"]["name"], x["seed"]): x for x in work.read(how.results, file)}
        found += [(there[o.name, s], o, s) for o, s in runs if (o.name, s) in there]
    return found


def test_a_new_key_with_a_default_makes_nothing_older(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it take long to say so of every committed run: twice what identities take, which
    is as much on a slow machine."""
    lines, on = committed(), Platform.published()
    assert len(lines) > 1000

    def where(one: scenario.Scenario) -> Platform:
        other = identity.other_kernel(one)
        return replace(on, kernels=(f"6.1.1 {other.configuration}",)) if other else on

    # As if all of them had just been made.
    began = time.process_time()
    lines = [
        (line | {"backend": "uml", "identity": where(one).identity(one, seed, "uml")}, one, seed)
        for line, one, seed in lines
    ]
    made = time.process_time()
    assert all(on.knows(line, one, seed) for line, one, seed in lines)
    assert time.process_time() - made < 2 * (made - began)

    class Newer(scenario.Scenario):
        colour: str = "grey"

    class Link(scenario.Link):
        weather: float = 0.5

    def newer(one: scenario.Scenario) -> scenario.Scenario:
        link = Link.model_construct(**dict(one.link))
        link._trace = one.link._trace  # what its file has
        found = Newer.model_construct(**dict(one) | {"link": link})
        assert json.loads(found.model_dump_json(serialize_as_any=True))["link"]["weather"] == 0.5
        return found

    assert all(on.knows(line, newer(one), seed) for line, one, seed in lines)


# --- the platform


ON = Platform(Made("p", ("P",)), {"tcp_foo": Made("f", ("F",))}, ("6.12.1 abc",), "iperf 3.12")


def test_what_makes_a_result_older(one: One) -> None:
    run = one(cc='cc = "foo"'), 1

    def line(backend: str = "uml", **parts: Any) -> dict[str, Any]:
        return {"backend": backend, "identity": ON.identity(*run, backend) | parts}

    assert ON.knows(line(), *run)
    assert ON.knows({"backend": "vm", "identity": line("vm")["identity"] | {"kernel": "6.1"}}, *run)
    assert not ON.knows({"backend": "uml"}, *run)
    assert not ON.knows(line(), run[0], 2)
    others: list[dict[str, Any]] = [
        {"programs": "Q"},
        {"kernel": "6.12.1 abd"},
        {"kernel": "6.12.2 abc"},
        {"modules": {"tcp_foo": "G"}},
        {"modules": {}},
        {"plan": "0"},
    ]
    for parts in others:
        assert not ON.knows(line(**parts), *run), parts
    # Known by sources there, by objects here.
    assert not ON.knows(line() | {"backend": "vm"}, *run)


def test_iperf3_is_part_of_its_own_runs(one: One) -> None:
    """As the run says; on uml it is to be this system's."""
    top = 'traffic = "iperf3"\nsample = "1s"'
    run = one(cc='cc = "foo"', top=top), 1

    def line(backend: str, **said: str) -> dict[str, Any]:
        parts = identity.whole(ON.identity(*run, backend), "6.12.1", **said)
        return {"backend": backend, "identity": parts}

    assert ON.knows(line("uml", iperf3="iperf 3.12"), *run)
    assert not ON.knows(line("uml", iperf3="iperf 3.18"), *run)
    without = ON.identity(*run, "uml")
    assert without.pop("iperf3") == "iperf 3.12"
    assert not ON.knows({"backend": "uml", "identity": without}, *run)
    assert ON.knows(line("vm", iperf3="iperf 3.18"), *run)
    ids = {line("vm", iperf3=f"iperf {version}")["identity"]["id"] for version in (1, 2)}
    assert len(ids) == 2
    others = one(cc='cc = "foo"'), 1
    assert "iperf3" not in ON.identity(*others, "uml")
    assert replace(ON, iperf3="").knows(
        {"backend": "uml", "identity": ON.identity(*others, "uml")}, *others
    )


def test_a_platform_is_renewed() -> None:
    """The same source compiled otherwise, and the next version of the kernel, come beside."""
    now = Platform(Made("p", ("Q",)), {"tcp_foo": Made("f2", ("F",))}, ("6.12.10 abc",))
    found = ON.renewed(now)
    assert found.programs == Made("p", ("P", "Q"))
    assert found.modules == {"tcp_foo": Made("f2", ("F",))}, "another comment"
    assert found.kernels == ("6.12.1 abc", "6.12.10 abc")
    assert found.iperf3 == "iperf 3.12", "none is installed here"
    assert ON.renewed(replace(now, iperf3="iperf 3.18")).iperf3 == "iperf 3.18"
    other = Platform(
        Made("q", ("R",)), {"tcp_foo": Made("g", ("G",)), "tcp_bar": Made("b")}, ("6.12.9 x",)
    )
    assert found.renewed(other) == replace(other, iperf3="iperf 3.12")
    assert found.renewed(now) == found


def test_a_platform_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "platform.json"
    path.write_text(ON.text())
    assert Platform.published(path) == ON
    for text in ("{", "{}", "[]"):
        path.write_text(text)
        with pytest.raises(LabError, match=r"platform\.json: .*longfat\.pages platform"):
            Platform.published(path)


def test_the_published_platform_knows_the_present_sources() -> None:
    """Else it says what renews it."""
    found = identity.unknown(Platform.published(), Platform.of_sources())
    assert not found, f"{', '.join(found)} changed: run `{identity.RENEW}`, then make the pages"


def test_what_a_published_platform_does_not_know(tree: Path) -> None:
    before = Platform.of_sources()
    source = tree / "tcp_foo.c"
    source.write_text("/* new */\n" + source.read_text())
    assert identity.unknown(before, Platform.of_sources()) == []
    source.write_text(source.read_text() + "int more;\n")
    assert identity.unknown(before, Platform.of_sources()) == ["tcp_foo"]
    (tree / "tcp_bar.c").write_text('\t.name\t\t= "bar",\n')
    modules.sources.cache_clear()
    assert identity.unknown(before, Platform.of_sources()) == ["tcp_bar", "tcp_foo"]


def test_programs_are_known_by_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guest = tmp_path / "guest"
    guest.mkdir()
    for name in ("lfgen.c", "getrandom.c", "lflink.c", "Kbuild", "run.sh", "init.sh"):
        (guest / name).write_text((tools.GUEST / name).read_text())
    monkeypatch.setattr(tools, "GUEST", guest)
    before = Platform.of_sources().programs
    (guest / "run.sh").write_text("# more to say\n" + (guest / "run.sh").read_text())
    (guest / "lfgen.c").write_text("/* more to say */\n" + (guest / "lfgen.c").read_text())
    (guest / "Kbuild").write_text((guest / "Kbuild").read_text() + "obj-m += other.o\n")
    assert Platform.of_sources().programs == before
    (guest / "init.sh").write_text((guest / "init.sh").read_text() + "true\n")
    assert Platform.of_sources().programs != before
