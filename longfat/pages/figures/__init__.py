# SPDX-License-Identifier: GPL-2.0
"""`make report`: the figures and tables of the five papers, run again and held against what
the papers print.  docs/report.md says how.

tests/published/figures.toml is the catalogue: claim, topology, scenario files, and what is to
hold, as data.  A module here for each paper knows how a figure is drawn and what its numbers
are; the verdict on them is computed.
"""
