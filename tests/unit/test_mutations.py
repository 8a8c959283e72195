# SPDX-License-Identifier: GPL-2.0
"""The table of bugs, tests/mutations.toml, still fits the tree; and the corpus of the fuzzer.

That their tests go red is shown by tests/mutations.py, which takes minutes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fuzz
import mutations
import stock
from longfat.build import modules

BUGS = mutations.bugs()


@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_bug_fits(bug: mutations.Bug, tmp_path: Path) -> None:
    """What a bug changes is there, once; and its test exists."""
    target = tmp_path / bug.file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text((modules.ROOT / bug.file).read_text())
    bug.put_into(tmp_path)
    assert target.read_text() != (modules.ROOT / bug.file).read_text()
    # Without a reason any failure would do.
    assert bug.says
    if bug.kind == "kunit":
        assert bug.file in mutations.included(mutations.suite_of(bug.test))
    elif bug.kind == "fuzz":
        assert bug.file in mutations.included(modules.ROOT / f"tcp_{bug.test}.c")
    elif bug.kind == "stock":
        machine, case = bug.test.split(":")
        assert machine in stock.BOOTS
        assert f"\n{case}() {{\n" in (modules.ROOT / "tests/stock/guest.sh").read_text()
    else:
        assert bug.kind in ("unit", "lab")
        file, case = bug.test.split("::")
        text = (modules.ROOT / "tests" / bug.kind / file).read_text()
        assert f"\ndef {case.partition('[')[0]}(" in text


def test_bug_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("twice twice")
    bug = mutations.Bug("a bug", "a row", "file", [("twice", "once")], "kunit", "case", "")
    with pytest.raises(ValueError, match="a bug: file has 2 times: twice"):
        bug.put_into(tmp_path)


def test_every_row_has_a_bug() -> None:
    """Each kind of bug, and one that is shown in `make check`."""
    rows = mutations.rows()
    assert len(set(rows)) == len(rows)
    assert {bug.row for bug in BUGS} == set(rows)
    assert {bug.row for bug in BUGS if bug.kind not in ("lab", "stock")} == set(rows)


@pytest.mark.parametrize("rule", mutations.rules())
def test_every_rule_is_shown(rule: str) -> None:
    """A bug breaks it, and it is one of tests/fuzz, the shim's or a sanitizer's."""
    assert [bug for bug in BUGS if bug.kind == "fuzz" and rule in bug.says]
    asked, _, what = rule.rpartition("not true: ")
    if "not true: " in rule:
        rules = [*fuzz.HERE.glob("*.[ch]")]
        text = " ".join(" ".join(path.read_text().split()) for path in rules)
        assert f"require({what}," in text, asked


def test_every_rule_is_named() -> None:
    """What the fuzzer asks, but for that the module can be loaded, is in the table."""
    asked = set()
    for path in fuzz.HERE.glob("*.[ch]"):
        text = " ".join(path.read_text().split())
        asked |= set(re.findall(r'\brequire\(((?!cond, )(?:(?!require\().)*?), "', text))
    assert len(asked) > 20 and "!THIS_MODULE->init()" in asked
    asked.remove("!THIS_MODULE->init()")
    assert {f"not true: {what}" for what in asked} <= set(mutations.rules())


def test_names_are_unique() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS)


def test_every_module_has_a_corpus() -> None:
    for module in modules.sources():
        file = fuzz.HERE / f"{module.removeprefix('tcp_')}.corpus"
        inputs = fuzz.read_corpus(file)
        assert inputs and len(set(inputs)) == len(inputs)
        assert max(map(len, inputs)) <= fuzz.LENGTH


def test_corpus_keeps_its_comment(tmp_path: Path) -> None:
    file = tmp_path / "x.corpus"
    file.write_text("# why\n\n00ff # a\n")
    assert fuzz.read_corpus(file) == [b"\x00\xff"]
    fuzz.write_corpus(file, [b"\x02\x03", b"\x01", b""])
    assert file.read_text() == "# why\n01\n0203\n"
