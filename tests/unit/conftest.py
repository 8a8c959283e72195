# SPDX-License-Identifier: GPL-2.0
"""What the unit tests share: a tree with one module, a cache, and scenarios in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat.build import modules
from longfat.run import scenario
from reporter import pytest_configure as pytest_configure

# A module as the lab reads it; the second parameter is none, its line is indented.
MODULE = """\
#include <longfat/growth.h>
LF_PARAM_UINT(beta, 150, 1, 500, "decrease, in 1/1000");
	LF_PARAM_UINT(not_one, indented 1, 2);
LF_PARAM_BOOL(gentle, 1, "be gentle");
LF_PARAM_ENUM(mode, 0,
	"what to do", "auto", "fixed");

static struct tcp_congestion_ops foo __read_mostly = {
	.init		= foo_init,
	.name		= "foo",
	.owner		= THIS_MODULE,
};
"""

# Text of a scenario file from its parts; each part may be replaced or added to.
Toml = Callable[..., str]
# The only scenario that such a text describes.
One = Callable[..., scenario.Scenario]


@pytest.fixture(autouse=True)
def private_cache(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """No test touches the user's cache."""
    path = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(path))
    return path / "longfat"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A tree whose only module is tcp_foo, with parameters beta, gentle and mode."""
    root = tmp_path / "tree"
    (root / "include/longfat").mkdir(parents=True)
    (root / "tests/kunit").mkdir(parents=True)
    (root / "tcp_foo.c").write_text(MODULE)
    (root / "Kbuild").write_text("obj-m := tcp_foo.o\n")
    (root / "include/longfat/growth.h").write_text("/* */\n")
    monkeypatch.setattr(modules, "ROOT", root)
    modules.sources.cache_clear()
    modules.owners.cache_clear()
    yield root
    modules.sources.cache_clear()
    modules.owners.cache_clear()


@pytest.fixture
def toml() -> Toml:
    def text(
        *,
        top: str = "",
        duration: str = 'duration = "10s"',
        rate: str = 'rate = "10mbit"',
        buffer: str = 'buffer = "100p"',
        link: str = "",
        cc: str = 'cc = "reno"',
        rtt: str = 'rtt = "20ms"',
        flow: str = "",
        rest: str = "",
    ) -> str:
        return "\n".join(
            [
                *('title = "a title"', duration, top),
                *("[link]", rate, buffer, link),
                *("[[flow]]", cc, rtt, flow, rest),
            ]
        )

    return text


@pytest.fixture
def one(tree: Path, tmp_path: Path, toml: Toml) -> One:
    """The scenario of a text from `toml`."""

    def load(**parts: str) -> scenario.Scenario:
        path = tmp_path / "one.toml"
        path.write_text(toml(**parts))
        (found,) = scenario.load(path)
        return found

    return load
