# SPDX-License-Identifier: GPL-2.0
"""Linux trees of one's own: a directory, or a commit of a git repository.

A tree is known by its content.  In a repository that is git's name for a tree: of the commit, or
of all files as they are now, new ones included, but for those that .gitignore has.  So a commit
and a clean checkout of it are one.  Without git, or where git knows nothing of the kernel, all
files are read; dates and sizes would say less than that, and reading takes seconds.  Nothing is
written into a tree or its repository.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from longfat.build import tools
from longfat.core import scratch
from longfat.core.errors import LabError

# What is neither copied nor read: no file of our configuration is in it, and it is a third of
# the source; and what a build in the tree has left.
UNUSED = ("*/Documentation/*/*", "*/tools/testing/*", "*/amd/include/asic_reg/*")
_BUILT = (
    *("*.o", "*.ko", "*.a", "*.so", "*.cmd", "*.mod", "*.mod.c", "*.order", "*.tmp", ".tmp_*"),
    *("*/include/generated", "*/include/config", "./.config*", "./vmlinux*", "./System.map"),
    *("./linux", "./Module.symvers", "./.version", "./.git"),
)
# In a fixed order, without what two copies of one tree differ in.
_TAR = ("tar", "--format=gnu", "--sort=name", "--mtime=@0", "--owner=0", "--group=0")


@dataclass(frozen=True)
class Tree:
    """The source of a kernel, as it was when it was looked at."""

    state: str  # stands for its content
    version: str  # "6.1.170"
    path: Path = field(compare=False)
    commit: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """As the user calls it."""
        return f"{self.path}@{self.commit}" if self.commit else str(self.path)

    def archive(self, to: Path) -> None:
        """Write it into the tar file `to`; LabError if it has changed since."""
        with _git_beside(self.path) as git:
            if git or self.commit:
                now = _git_state(self.path, self.commit, git)
                if now == self.state:
                    _git(self.path, "archive", "--format=tar", f"--output={to}", now, more=git)
            else:
                now = _content(self.path, to)
        if now != self.state:
            raise LabError(f"{self.name}: has changed while it was read; start again")


def split(text: str) -> tuple[Path, str]:
    """A path, and the commit behind its @, if there is one."""
    path, at, commit = text.rpartition("@")
    if at and not Path(text).expanduser().exists():
        return Path(path).expanduser(), commit
    return Path(text).expanduser(), ""


def check(path: Path, commit: str) -> None:
    """Raise LabError unless this looks like a Linux tree.  Reads next to nothing of it."""
    if not path.is_dir():
        raise LabError(f"{path}: there is no such directory")
    if commit:
        tools.need("git")
        _git(path, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", of=commit)
        found = _git_file(path, commit, "arch/um/Makefile") is not None
    else:
        found = (path / "Makefile").is_file() and (path / "arch/um/Makefile").is_file()
    if not found:
        raise LabError(
            f"{path}{'@' * bool(commit)}{commit}: is not the source of a kernel that runs in user "
            f"mode: it has no arch/um/Makefile"
        )


def look(path: Path, commit: str) -> Tree:
    """The tree at `path`, or that of a commit of the repository there."""
    check(path, commit)
    with _git_beside(path) as git:
        state = _git_state(path, commit, git) if git or commit else _content(path)
    text = _git_file(path, commit, "Makefile") if commit else (path / "Makefile").read_text()
    return Tree(state, _version(text or ""), path.resolve(), commit)


def _version(makefile: str) -> str:
    """As the Makefile of a kernel has it."""
    found = {}
    for line in makefile.splitlines()[:12]:
        key, _, value = line.partition("=")
        found[key.strip()] = value.strip()
    words = [found.get(key, "0") or "0" for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return ".".join(words) + found.get("EXTRAVERSION", "")


# --- by its files


def _content(path: Path, to: Path | None = None) -> str:
    """Stands for the files of a directory; writes them into the tar file `to`."""
    excluded = [f"--exclude={pattern}" for pattern in (*UNUSED, *_BUILT)]
    command = [*_TAR, "--numeric-owner", *excluded, "-C", str(path), "-cf", "-", "."]
    digest = hashlib.sha256()
    with (
        (to or Path(os.devnull)).open("wb") as out,
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said) as tar,
    ):
        assert tar.stdout
        while part := tar.stdout.read(1 << 20):
            digest.update(part)
            out.write(part)
        if tar.wait():
            said.seek(0)
            words = said.read().decode(errors="replace").strip()
            raise LabError(f"{path}: cannot be read: {words}")
    return f"files-{digest.hexdigest()[:12]}"


# --- by git


def _git(path: Path, *words: str, more: dict[str, str] | None = None, of: str = "") -> str:
    """What git says of the repository at `path`; LabError if it fails."""
    done = _ask(path, *words, more=more)
    if done.returncode:
        what = f"has no commit {of!r}" if of else f"git {words[0]} failed"
        raise LabError(f"{path}: {what}: {done.stderr.strip() or 'see git log there'}")
    return done.stdout.strip()


def _ask(
    path: Path, *words: str, more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    quiet = ("core.fsmonitor=false", "core.untrackedCache=false", "core.splitIndex=false")
    settings = [word for setting in quiet for word in ("-c", setting)]
    return subprocess.run(
        ["git", *settings, "-C", str(path), *words],
        env=ours | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"} | (more or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )


@contextmanager
def _git_beside(path: Path) -> Iterator[dict[str, str]]:
    """What has git keep new objects and the index in a directory of ours; empty where `path` is
    not the top of a checkout, or of one that does not have the kernel."""
    top = shutil.which("git") and _ask(path, "rev-parse", "--is-inside-work-tree", "--show-prefix")
    has = ("ls-files", "--error-unmatch", "Makefile", "arch/um/Makefile")
    if not top or top.stdout.split() != ["true"] or _ask(path, *has).returncode:
        yield {}
        return
    names = ("objects", "index")
    said = _git(path, "rev-parse", *(word for name in names for word in ("--git-path", name)))
    objects, index = (path / line for line in said.splitlines())
    with scratch.directory("run") as ours:
        (ours / "objects").mkdir()
        if index.exists():
            shutil.copy2(index, ours / "index")  # its date tells git which files to read again
        yield {
            "GIT_INDEX_FILE": str(ours / "index"),
            "GIT_OBJECT_DIRECTORY": str(ours / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects.resolve()),
        }


def _git_state(path: Path, commit: str, git: dict[str, str]) -> str:
    """Git's name for the tree of a commit, or for the files as they are now."""
    if commit:
        return _git(path, "rev-parse", "--verify", f"{commit}^{{tree}}")
    _git(path, "add", "--all", "--", ".", more=git)
    return _git(path, "write-tree", more=git)


def _git_file(path: Path, commit: str, name: str) -> str | None:
    """A file of a commit, None if it has none of this name."""
    done = _ask(path, "show", f"{commit}:{name}")
    return None if done.returncode else done.stdout
