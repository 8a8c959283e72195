# SPDX-License-Identifier: GPL-2.0
"""Other machines, by ssh: its own configuration, keys and jump hosts, and never a password.

A session there runs guest/far.sh, which undoes what was done whatever ends it.
"""

from __future__ import annotations

import io
import queue
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from longfat.core import process
from longfat.core.errors import LabError

GUEST = Path(__file__).parents[1] / "guest"
BEAT = 5.0  # seconds from byte to byte that say that this end is there
SILENCE = 20  # seconds without one after which the far end undoes everything
CLEAN = 200.0  # seconds that this may take: to unload a module alone, guest/far.sh has 150
_OPTIONS = ("BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3")

# What ssh says -> what to do about it.
_HINTS = {
    "Permission denied": "the lab asks for no password: let `ssh -o BatchMode=yes {}` work",
    "Host key verification failed": "connect once by `ssh {}`, and accept its key",
    "REMOTE HOST IDENTIFICATION": "its key has changed: see `ssh {}`",
    "Could not resolve": "no such name, and no such Host in ssh's configuration",
    "Connection refused": "no ssh server listens there",
    "timed out": "the host is down, or a firewall is between",
    "a password is required": "sudo asks for a password there: allow it without one, or use root",
}


@dataclass(frozen=True)
class Machine:
    """Where a session runs."""

    role: str
    ssh: str  # the destination, as ssh is given it
    sudo: bool = False
    config: Path | None = None  # for ssh -F

    @property
    def where(self) -> str:
        return f"{self.role} {self.ssh}"

    def command(self, script: str) -> list[str]:
        """What runs this there, a shell's; it holds no single quotes."""
        options = [word for option in _OPTIONS for word in ("-o", option)]
        config = ["-F", str(self.config)] if self.config else []
        sudo = "sudo -n " if self.sudo else ""
        return ["ssh", "-T", *config, *options, "--", self.ssh, f"exec {sudo}sh -c '{script}'"]

    def explain(self, said: str) -> str:
        """What ssh said, and what to do."""
        lines = [line for line in said.strip().splitlines() if not line.startswith("Warning:")]
        text = " ".join(lines[-3:]) or "it said nothing"
        for word, hint in _HINTS.items():
            if word in said:
                text += f" ({hint.format(self.ssh)})"
                break
        return f"{self.where}: {text}"

    def ask(self, script: str) -> str:
        """What a short script says; LabError if it fails."""
        done = subprocess.run(
            self.command(script), stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if done.returncode:
            raise LabError(self.explain(done.stderr or done.stdout))
        return done.stdout


def _archive(files: Mapping[str, bytes], trees: Iterable[tuple[str, Path]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
        for name, path in trees:
            tar.add(path, name)
    return out.getvalue()


class Session:
    """guest/far.sh at work on a machine, for as long as the block; what it was given is `files`
    (name -> content) and `trees` (name -> directory)."""

    def __init__(
        self,
        machine: Machine,
        files: Mapping[str, bytes],
        trees: Iterable[tuple[str, Path]] = (),
        *,
        silence: int = SILENCE,
    ) -> None:
        self.machine = machine
        scripts = {name: (GUEST / name).read_bytes() for name in ("far.sh", "far-job.sh")}
        self._sent = _archive({**scripts, **files}, trees)
        self._silence = silence
        self._heard: queue.Queue[tuple[str, bytes]] = queue.Queue()
        self._clean = self._over = False
        self._failed = threading.Event()  # it will leave no files
        self._left: list[str] = []
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        # A login shell may be any; what is between the quotes is for sh.
        script = (
            "umask 077; d=$(mktemp -d ${TMPDIR:-/tmp}/longfat.XXXXXXXX) && cd $d && "
            f"head -c {len(self._sent)} | tar -xf - || {{ rm -rf $d; exit 1; }}; "
            f"exec sh ./far.sh {self.machine.role} {self._silence}"
        )
        self._errors = tempfile.TemporaryFile()
        self._context = process.started(
            self.machine.command(script),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._program = self._context.__enter__()
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._send, self._hear)
        ]
        for thread in self._threads:
            thread.start()
        return self

    def _send(self) -> None:
        """All that it needs, and then a byte from time to time; then the end, once nobody wants
        more of it."""
        assert self._program.stdin
        with suppress(OSError, ValueError), self._program.stdin as to:
            to.write(self._sent)
            to.flush()
            while not self._ended.wait(BEAT):
                to.write(b".")
                to.flush()

    def _hear(self) -> None:
        assert self._program.stdout
        given = False
        with suppress(OSError, ValueError):
            while line := self._program.stdout.readline():
                word, _, rest = line.decode(errors="replace").strip().partition(" ")
                content = rest.encode()
                if word == "files":
                    content = self._program.stdout.read(int(rest))
                    given = True
                if word == "clean":
                    self._clean = True
                elif word == "left":
                    self._left.append(rest)
                else:
                    self._heard.put((word, content))
                if word == "failed":
                    self._failed.set()
        self._heard.put(("over", b""))
        if not given:
            self._failed.set()

    def _said(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def wait(self, word: str, poll: Callable[[], None]) -> bytes:
        """Until it says this, and what it says; `poll` is called about five times a second.
        LabError if it failed, or is gone."""
        while True:
            try:
                heard, content = self._heard.get(timeout=0.2)
            except queue.Empty:
                poll()
                continue
            if heard == word:
                return content
            if heard == "failed":
                raise LabError(f"{self.machine.where}: {content.decode(errors='replace')}")
            if heard == "over":
                self._over = True
                if self._clean or self._left:
                    raise LabError(f"{self.machine.where}: it ended before its time")
                with suppress(subprocess.TimeoutExpired):
                    self._program.wait(5)
                said = self._said()
                if not said.strip():
                    said = "the connection was lost; what was changed there is put back by itself"
                raise LabError(self.machine.explain(said))

    def check(self) -> None:
        """LabError if it has failed, or is gone, while another one is waited for."""
        if self._failed.is_set():
            self.wait("files", lambda: None)

    def files(self, to: Path, poll: Callable[[], None]) -> None:
        """What it leaves, into this directory: files of out/ that are not there yet, whatever else
        is in the archive.  (Debian 12's Python has no filters of tarfile.)"""
        content = self.wait("files", poll)
        (to / "out").mkdir(exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            for one in tar:
                path = to / "out" / Path(one.name).name
                if one.name == f"out/{path.name}" and one.isfile() and not path.exists():
                    path.write_bytes(cast(IO[bytes], tar.extractfile(one)).read())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let it undo what it did, and wait for that."""
        self._ended.set()
        end = time.monotonic() + CLEAN
        while self._threads[1].is_alive() and time.monotonic() < end:
            self._threads[1].join(0.2)
        self._context.__exit__(None, None, None)
        for thread in self._threads:
            thread.join(5)
        assert self._program.stdout
        self._program.stdout.close()
        said = self._said()
        self._errors.close()
        if self._left:
            words = f"{self.machine.where}: was not put back: {'; '.join(self._left)}"
        elif not self._clean and not self._over:
            words = f"{self.machine.explain(said)}: it did not say that all was put back; see there"
        else:
            return
        if kind is None:
            raise LabError(words)
        print(f"longfat: {words}", file=sys.stderr)
