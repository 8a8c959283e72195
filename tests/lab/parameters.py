#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A module's parameters, given anything that can be written.

    parameters.py MODULE.ko TABLE

TABLE is JSON: parameter -> what is valid, "1 to 500" or "a, b" or "true, false".  Values are
written into /sys/module while it is loaded, and given when it is loaded; fixed ones, and
random ones that are the same each time.  For each: the error that the kernel answers with,
what the parameter is afterwards, and what the kernel's log has.  Run as root in a guest (by
test_parameters.py); exit status 1, and what was wrong, at the first that is not as it should be.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import random
import re
import sys
from pathlib import Path

FILE = Path(sys.argv[1])
MODULE = FILE.stem
TABLE: dict[str, str] = json.loads(Path(sys.argv[2]).read_text())
PARAMETERS = Path(f"/sys/module/{MODULE}/parameters")
FINIT_MODULE, DELETE_MODULE = 313, 176  # x86-64

libc = ctypes.CDLL(None, use_errno=True)
log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)

# Refused whatever the parameter is; none of it is the name of a choice.
NONSENSE = [
    *(b"\n", b" ", b"\t", b"\n\n", b"\r", b"\v", b"-", b"+", b"--", b"0x", b"x1", b"garbage"),
    *(b"nan", b"inf", b"1e3", b"1.0", b"1,1", b"1_0", b"1;reboot", b"$(reboot)", b"%s%n%x%p"),
    *(b"../../etc/passwd", b"'1'", b"\x1b[31m1", b"\x7f", b"\xff" * 40, b"\xc3", b"\xc3\xa9"),
    "\uff11\uff12".encode(),  # digits, elsewhere
    *(b"z" * 31, b"z" * 32, b"z" * 33, b"z" * 63, b"z" * 64, b"z" * 4000, b"1" * 4000 + b"z"),
    *(b"=", b"=1", b"1=1", b"#1", b"\\1", b"1\\n", b"null", b"None", b"true1", b"0b1", b"0o1"),
]


def kernel_number(text: bytes) -> int | None:
    """As kstrtou32(text, 0, ...): a number, or None; OverflowError if it has no room."""
    text = text.removeprefix(b"+")
    base, digits = 10, b"0123456789"
    if re.match(rb"0[xX][0-9a-fA-F]", text):
        base, digits, text = 16, b"0123456789abcdefABCDEF", text[2:]
    elif text.startswith(b"0"):
        base, digits = 8, b"01234567"
    number = text[: len(text) - len(text.lstrip(digits))]
    if not number:
        return None
    if int(number, base) >= 1 << 64:
        raise OverflowError
    if text[len(number) :] not in (b"", b"\n"):
        return None
    if int(number, base) >= 1 << 32:
        raise OverflowError
    return int(number, base)


def expected(valid: str, text: bytes) -> tuple[int, str]:
    """The error that `text` is to be answered with, 0 for none, and what is shown then."""
    if " to " in valid:
        low, high = map(int, valid.split(" to "))
        try:
            number = kernel_number(text)
        except OverflowError:
            return errno.ERANGE, ""
        if number is None:
            return errno.EINVAL, ""
        return (0, str(number)) if low <= number <= high else (errno.ERANGE, "")
    word = text.removesuffix(b"\n").decode("latin-1")
    if valid == "true, false":
        words = {"0": "N", "n": "N", "N": "N", "off": "N"}
        words |= {"1": "Y", "y": "Y", "Y": "Y", "on": "Y"}
        return (0, words[word]) if word in words else (errno.EINVAL, "")
    return (0, word) if word in valid.split(", ") else (errno.EINVAL, "")


def values(name: str, valid: str) -> list[bytes]:
    """What to give this parameter."""
    rng = random.Random(f"{MODULE} {name}")
    found = list(NONSENSE)
    if " to " in valid:
        low, high = map(int, valid.split(" to "))
        edges = {0, 1, low, high, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**64}
        numbers = {n + d for n in edges for d in (-1, 0, 1)} | {10**30, 16**1000}
        numbers |= {rng.randint(0, 2 * high) for _ in range(10)}
        numbers |= {rng.getrandbits(rng.randint(1, 80)) for _ in range(10)}
        good = [b"%d" % n for n in sorted(numbers)]
        good += [b"0x%x" % high, b"0X%X" % high, b"0x%x" % (high + 1), b"0%o" % high, b"08", b"00"]
    else:
        words = [word.encode() for word in valid.split(", ")]
        words += [b"0", b"1", b"n", b"y", b"N", b"Y", b"off", b"on", b"2", b"-1"]
        good = words + [word.upper() for word in words] + [word[:-1] for word in words if word[1:]]
        good += [word + word for word in words]
    found += good
    for one in (*good[:6], good[-1]):
        found += [one + b"\n", one + b" ", b" " + one, one + b"\n\n", b"\n" + one, b"+" + one]
        found += [b"-" + one, one + b"\0", one + b"\0z", one + b"\xa0", b"++" + one, one + b"\r\n"]
    for _ in range(30):
        found.append(bytes(rng.randrange(1, 256) for _ in range(rng.randint(1, 60))))
        changed = bytearray(rng.choice(good)[:60])
        for _ in range(rng.randint(1, 2)):
            changed.insert(rng.randint(0, len(changed)), rng.randrange(1, 256))
        found.append(bytes(changed))
    return [one for one in dict.fromkeys(found) if one]


def records() -> list[str]:
    """What the kernel's log has that was not read yet."""
    found = []
    while True:
        try:
            found.append(os.read(log, 8192).decode().partition(";")[2].rstrip("\n"))
        except BlockingIOError:
            return found


def why(error: int) -> str:
    return os.strerror(error) if error else "accepted"


def check(condition: object, given: object, what: str) -> None:
    if not condition:
        sys.exit(f"{MODULE}: {given}: {what}")


def judge_log(given: str, name: str, refused: bool, said: list[str]) -> None:
    """Our own line for what is refused, naming the parameter, and nothing else."""
    check(len(said) == refused, given, f"the log has {said}")
    if refused:
        line = re.fullmatch(rf"{MODULE}: {name}=(.*) refused: valid is (.+)", said[0], re.S)
        check(line and len(line[1]) <= 4 * 32, given, f"the log has {said}")
        check(said[0].isascii() and said[0].isprintable(), given, f"the log has {said}")


def load(arguments: bytes) -> int:
    """Load the module; the error, 0 for none."""
    with FILE.open("rb") as file:
        if libc.syscall(FINIT_MODULE, file.fileno(), arguments, 0) == 0:
            return 0
    return ctypes.get_errno()


def unload() -> None:
    check(libc.syscall(DELETE_MODULE, MODULE.encode(), os.O_NONBLOCK) == 0, "", "it stays")


def write(name: str, text: bytes) -> None:
    """Into a parameter of the loaded module."""
    given = f"{name} <- {text[:80]!r}"
    path = PARAMETERS / name
    was = path.read_text()
    error = 0
    with path.open("wb", buffering=0) as file:
        try:
            file.write(text)
        except OSError as refused:
            error = refused.errno or -1
    # A 0 ends what the kernel takes for text.
    should, shown = expected(TABLE[name], text.partition(b"\0")[0])
    check(error == should, given, f"{why(error)}, and should be {why(should)}")
    now = path.read_text()
    check(now == (was if should else f"{shown}\n"), given, f"it was {was!r}, it is {now!r}")
    judge_log(given, name, bool(should), records())


def give(name: str, text: bytes) -> None:
    """To a module that is loaded with it."""
    # Also where the kernel sees a space and Python does not.
    quoted = b'"' + text + b'"' if re.search(rb"[\s\xa0]", text) or not text else text
    given = f"loading with {name}={text[:80]!r}"
    error = load(name.encode() + b"=" + quoted)
    should, shown = expected(TABLE[name], text)
    check(error == should, given, f"{why(error)}, and should be {why(should)}")
    # The kernel says of what is refused that it is "invalid", and lets that be read with the
    # next line of the log where it was cut.
    said = [x for x in records() if not x.startswith(f"{MODULE}: `")]
    if should:
        check(not PARAMETERS.exists(), given, "it was refused, and is loaded")
    else:
        now = (PARAMETERS / name).read_text()
        check(now == f"{shown}\n", given, f"it is {now!r}")
        unload()
    judge_log(given, name, bool(should), said)


def main() -> None:
    # That it is from outside of the kernel's tree is said once.
    check(load(b"") == 0, "", "it cannot be loaded")
    names = {path.name for path in PARAMETERS.iterdir()} if PARAMETERS.exists() else set()
    check(names == set(TABLE), sorted(names), f"the source has {sorted(TABLE)}")
    defaults = {name: (PARAMETERS / name).read_text() for name in TABLE}
    os.lseek(log, 0, os.SEEK_END)
    for name, valid in TABLE.items():
        given = values(name, valid)
        for text in given:
            write(name, text)
        # Nothing is written, and nothing is read: no value, and no error.
        was = (PARAMETERS / name).read_text()
        with (PARAMETERS / name).open("wb", buffering=0) as file:
            file.write(b"")
        check((PARAMETERS / name).read_text() == was, f"{name} <- nothing", "it changed")
        check(not records(), f"{name} <- nothing", "the log has something")
        print(f"{name}: {len(given)} values written", flush=True)
    unload()
    for name, valid in TABLE.items():
        # Quotes are for the kernel, and so is the end of a text.
        given = [one for one in values(name, valid) if not re.search(rb'["\0]', one)][::3]
        for text in (b"", *given):
            give(name, text)
        print(f"{name}: {len(given) + 1} values loaded with", flush=True)
    # Whatever was tried, loaded again it has its defaults.
    check(load(b"") == 0, "", "it cannot be loaded any more")
    for name, default in defaults.items():
        check((PARAMETERS / name).read_text() == default, name, f"the default was {default!r}")
    unload()


if __name__ == "__main__":
    main()
