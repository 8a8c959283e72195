# SPDX-License-Identifier: GPL-2.0
"""What docs/bpf.md says of kernels, by docs/results/bpf.json."""

from __future__ import annotations

from longfat.measure.cost import TYPICAL
from longfat.pages.data import markdown, measured, older
from longfat.run.result import Json

ALGORITHMS = ("ghstcp", "ltcp")
MISSING = "Not measured yet."
BOTH = ("module", "BPF")
PHASES = {
    "slow start": "slow_start {} {}",
    "avoidance": "avoidance {} {}",
    "a loss": "loss {} 1",
}


def kernels() -> dict[str, Json]:
    """Release -> what was measured of it, from the oldest."""

    def number(release: str) -> list[int]:
        return [int(part) for part in release.partition("-")[0].split(".")[:2]]

    known: dict[str, Json] = measured("bpf")["kernels"]
    return dict(sorted(known.items(), key=lambda item: number(item[0])))


def _each() -> list[tuple[str, str, Json]]:
    return [(release, cc, one) for release, one in kernels().items() for cc in ALGORITHMS]


def loads() -> str:
    """What the verifier looks at, and what a load takes."""
    rows = []
    for release, cc, one in _each():
        hooks = one["verified"][cc]
        took = one["load"][cc]
        counted = one["of"] != "here"
        rows.append(
            [
                release,
                cc,
                f"{hooks['cong_avoid']:,}",
                f"{sum(hooks.values()) - hooks['cong_avoid']:,}",
                f"{took:,}" if counted else f"{took:,} ms",
            ]
        )
    headings = ["kernel", "", "verified: cong_avoid", "other hooks", "load, 10^6 instructions"]
    return markdown(headings, rows, prose=(1,))


def replays() -> str:
    """Recorded calls, and who did them again."""
    rows = []
    for release, cc, one in _each():
        if who := one.get("replayed", {}).get(cc):
            first = who["program"]
            hooks = [key for key in first if key != "calls"]
            if any(other != first for other in who.values()):
                raise ValueError(f"{release}: replays of {cc} have different numbers of calls")
            rows.append([release, cc, *(f"{first[key]:,}" for key in ("calls", *hooks))])
    names = ["calls", "init", "cong_avoid", "ssthresh", "undo_cwnd", "tx_start"]
    return markdown(["kernel", "", *names], rows, prose=(1,)) if rows else MISSING


def beside() -> str:
    """One scenario with a module, and what another run of it, or of BPF, had."""
    found = measured("bpf").get("beside")
    if not found:
        return MISSING
    rows = []
    for cc in ALGORITHMS:
        for kind, name in {"again": "the module again", "bpf": "BPF"}.items():
            one, sent = found[cc][kind], found[cc]["retransmissions"]
            cells = [one["acknowledgments"], one["same"], one["most"], sent["module"], sent[kind]]
            rows.append([cc, name, *(f"{cell:,}" for cell in cells)])
    headings = ["", "beside the module", "acknowledgments", "with the same window"]
    headings += ["else, packets at most", "sent again: the module", "the other"]
    return markdown(headings, rows, prose=(1,))


def cost() -> str:
    """Instructions of an ACK, and of a loss, in the module and in BPF."""
    kinds = {phase: kind.format(*TYPICAL) for phase, kind in PHASES.items()}
    rows = []
    for release, one in kernels().items():
        if found := one.get("instructions"):
            for cc in (*ALGORITHMS, "reno"):
                cells = [
                    f"{found[how][cc][kind]:.0f}"
                    for kind in kinds.values()
                    for how in ("module", "bpf")
                ]
                rows.append([release, cc, *cells])
    headings = [f"{phase}: {how}" for phase in kinds for how in BOTH]
    return markdown(["kernel", "", *headings], rows, prose=(1,)) if rows else MISSING


def timed() -> str:
    """What a call takes of real time."""
    rows = [
        [release, one["processor"], *(str(one["ns"][cc]) for cc in (*ALGORITHMS, "reno"))]
        for release, one in kernels().items()
        if "ns" in one
    ]
    headings = ["kernel", "processor", *(f"{cc}, ns" for cc in (*ALGORITHMS, "reno"))]
    return markdown(headings, rows, prose=(1,)) if rows else MISSING


def writable() -> str:
    """Members of a sender that BPF may write, by kernel."""
    known = kernels()
    members = sorted({member for one in known.values() for member in one["writable"]})
    rows = [
        [f"`{member}`", *("yes" if one["writable"][member] else "no" for one in known.values())]
        for member in members
    ]
    return markdown(["", *known], rows)


PARTS = {
    "docs/bpf.md": {
        "loads": loads,
        "replays": replays,
        "beside": beside,
        "cost": cost,
        "timed": timed,
        "writable": writable,
        "older": older,
    }
}
