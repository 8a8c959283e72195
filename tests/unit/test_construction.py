# SPDX-License-Identifier: GPL-2.0
"""Bugs that the modules cannot have, because they do without what has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longfat.build import modules

MODULES = sorted(modules.sources())
HEADERS = sorted(path.name for path in (modules.ROOT / "include/longfat").glob("*.h"))

# What a module would need for it, and why none has it.
WITHOUT = {
    "timers": r"\b(\w+_timer\w*|timer_(?!h\b)\w+|hrtimer\w*)\b",
    "work": r"\b(INIT_(DELAYED_)?WORK|schedule_work|queue_(delayed_)?work|kthread\w*)\b",
    "kfuncs": r"\b(register_btf_kfunc_id_set|__bpf_kfunc|BTF_ID_FLAGS|BTF_KFUNCS_START)\b",
    "kernel versions": r"\b(LINUX_VERSION_CODE|KERNEL_VERSION|RHEL_RELEASE\w*)\b",
    "functions that came later": r"\bget_random_u32_(below|above|inclusive)\b|\bprandom_u32_max\b",
    "memory without bounds": r"\b(strcpy|strcat|sprintf|vsprintf|alloca)\b",
}
MEMORY = (
    r"\b(k[mzc]alloc\w*|kmem_cache_\w+|kvm?alloc\w*|vmalloc\w*|alloc_percpu\w*|krealloc\w*"
    r"|kmemdup\w*|kstrn?dup\w*|alloc_pages?\w*|__get_free_pages?)\b"
)


def code(path: Path) -> str:
    """A source without its comments and strings."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(), flags=re.S)
    return re.sub(r'"(\\.|[^"\\])*"', '""', text)


def all_sources() -> list[Path]:
    headers = [modules.ROOT / "include/longfat" / name for name in HEADERS]
    return [*modules.sources().values(), *headers]


@pytest.mark.parametrize("what", WITHOUT)
def test_without(what: str) -> None:
    """There is none of it in a module, or in what it includes."""
    for path in all_sources():
        found = re.search(WITHOUT[what], code(path))
        assert not found, f"{path.name}: {what}: {found and found[0]}"


@pytest.mark.parametrize("name", MODULES)
def test_hooks_that_changed(name: str) -> None:
    """What the kernel has changed is set by what include/ has for it."""
    text = code(modules.sources()[name])
    for hook in ("min_tso_segs", "tso_segs", "cong_control", "cwnd_event", "cwnd_event_tx_start"):
        shimmed = hook == "cong_control" and "LF_DEFINE_CONG_CONTROL(" in text
        assert shimmed or not re.search(rf"\.{hook}\s*=", text), f"{hook} is set as it is"


@pytest.mark.parametrize("name", MODULES)
def test_memory(name: str) -> None:
    """Composite takes memory, in one place that may not sleep, and goes on without it; the
    others have what the connection has, and nothing that could fail or leak."""
    used = re.findall(MEMORY, code(modules.sources()[name]))
    assert used == (["kzalloc"] if name == "tcp_composite" else []), f"memory is taken: {used}"


def test_memory_of_composite() -> None:
    """What its page says that kmalloc() gives, by the sizes that KUnit's suite holds it to."""
    source = (modules.ROOT / "tests/kunit/composite_kunit.c").read_text()
    held = re.findall(r"static_assert\(sizeof\(struct (\w+)\) == (\d+)\)", source)
    sizes = {name: int(size) for name, size in held}
    page = (modules.ROOT / "docs/composite.md").read_text()
    streams, given = (
        [cell.strip() for cell in row.split("|")[2:-1]]
        for row in re.findall(r"^\| (?:streams|bytes) \|.*$", page, re.M)
    )
    for cell, bytes_ in zip(streams[1:], given[1:], strict=True):
        first, last = int(cell.split(" to ")[0]), int(cell.split(" to ")[-1])
        for n in (first, last):
            room = sizes["composite_book"] + n * sizes["composite_stream"]
            # Between powers of two there are 96 and 192.
            caches = (size for size in (64, 96, 128, 192, 256, 512, 1024) if size >= room)
            assert int(bytes_) == next(caches), n
    assert streams[-1].endswith(" to 64")


def test_memory_may_not_sleep() -> None:
    """->init is called in softirq too, and its memory is nobody's emergency.  Where a program
    selects it, it is that program's."""
    text = re.sub(r"\s+", " ", code(modules.sources()["tcp_composite"]))
    assert re.search(r"kzalloc\([^;]*GFP_ATOMIC \| __GFP_NOWARN \| __GFP_ACCOUNT\)", text)


def test_memory_of_headers() -> None:
    for name in HEADERS:
        used = re.findall(MEMORY, code(modules.ROOT / "include/longfat" / name))
        assert not used, f"memory is taken: {name}: {used}"


@pytest.mark.parametrize("name", MODULES)
def test_registration(name: str) -> None:
    """Every module says what it is, is pinned by its users and does not drop an error."""
    text = modules.sources()[name].read_text()
    for macro in ("MODULE_DESCRIPTION", "MODULE_LICENSE", "MODULE_AUTHOR"):
        assert re.search(rf'^{macro}\("[^"]+"\);$', text, re.M), f"no {macro}"
    assert "\nMODULE_VERSION(LF_VERSION);\n" in text, "no MODULE_VERSION(LF_VERSION)"
    assert re.search(r"\.owner\s*= THIS_MODULE", text)
    checked = "BUILD_BUG_ON(sizeof(struct "
    if re.search(r"^LF_REGISTER\(\w+, struct \w+\);$", text, re.M):
        text = (modules.ROOT / "include/longfat/register.h").read_text()
        checked = "BUILD_BUG_ON(sizeof(state) > ICSK_CA_PRIV_SIZE);"
    assert checked in text
    calls = re.findall(r"^\s*(.*)\btcp_register_congestion_control\(", text, re.M)
    assert calls
    assert set(calls) <= {"return ", "err = "}, f"an error is dropped: {calls}"


def test_build() -> None:
    """What 6.15 took away: EXTRA_CFLAGS."""
    for file in ("Kbuild", "include/longfat/probe.mk", "tests/kunit/Kbuild"):
        assert "EXTRA_CFLAGS" not in (modules.ROOT / file).read_text(), file
