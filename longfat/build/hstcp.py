# SPDX-License-Identifier: GPL-2.0
"""Write include/longfat/hstcp_table.h: HighSpeed TCP's a(w) and b(w), from RFC 3649's formulas.

    python3 -m longfat.build.hstcp >include/longfat/hstcp_table.h

RFC 3649, section 5, with Low_Window 38, High_Window 83000 and High_Decrease 0.1:

    b(w) = (0.1 - 0.5) (ln w - ln 38) / (ln 83000 - ln 38) + 0.5
    a(w) = w^2 p(w) 2 b(w) / (2 - b(w)),  p(w) = 1 / (12.8 w^1.2)

12.8 is what the RFC's own program (appendix B) divides by; its text rounds 1 / 12.8 to 0.078.

The nodes are eight to an octave, 32, 36, 40, ... 2^32, for linear interpolation between
them.  Below 38, where a = 1 and b = 1/2 instead, they follow the formulas too, so that the
cell with the bend is as good as the others.  From FLOOR on b stays what it is there: a few
nodes on, a(w) would begin to fall, and at 567000 packets b(w) would reach 0.
"""

from __future__ import annotations

from math import log

NODES_PER_OCTAVE = 8
FIRST_OCTAVE = 5  # 2^5 = 32
LAST_OCTAVE = 32
FLOOR = 147456  # packets; a node
A_SHIFT = 10  # LF_RATE_SHIFT
B_SHIFT = 16


def b(w: float) -> float:
    """The share of a window of `w` packets that a loss takes away."""
    return (0.1 - 0.5) * (log(min(w, FLOOR)) - log(38)) / (log(83000) - log(38)) + 0.5


def a(w: float) -> float:
    """Growth at window `w`, packets per round trip; below 1 where Reno's 1 holds."""
    return float(w**2 / (12.8 * w**1.2)) * 2 * b(w) / (2 - b(w))


def nodes() -> list[int]:
    """The windows of the table, packets."""
    step = 1 / NODES_PER_OCTAVE
    return [
        round(2**octave * (1 + i * step))
        for octave in range(FIRST_OCTAVE, LAST_OCTAVE)
        for i in range(NODES_PER_OCTAVE)
    ] + [2**LAST_OCTAVE]


def header() -> str:
    """The whole file."""
    rows = [
        f"\t{{ {round(a(w) * 2**A_SHIFT):9d}, {round(b(w) * 2**B_SHIFT):5d} }},"
        f"\t/* {w:10d}  {a(w):11.4f}  {b(w):.4f} */"
        for w in nodes()
    ]
    return "\n".join(
        [
            "/* SPDX-License-Identifier: GPL-2.0 */",
            "/* Made by longfat/build/hstcp.py, which says how; change that. */",
            f"#define LF_HSTCP_OCTAVE\t{FIRST_OCTAVE}\t/* the first node is at 2^this */",
            f"#define LF_HSTCP_NODES\t{NODES_PER_OCTAVE.bit_length() - 1}"
            "\t/* log2 of the nodes in an octave */",
            "",
            "static const struct {",
            f"\tu32 a;\t/* packets per round trip << {A_SHIFT} */",
            f"\tu32 b;\t/* << {B_SHIFT} */",
            "} lf_hstcp_table[] = {",
            "\t/*    a,     b */\t/*     window         a(w)    b(w) */",
            *rows,
            "};",
        ]
    )


if __name__ == "__main__":
    print(header())
