# SPDX-License-Identifier: GPL-2.0
"""`make report`: the figures and tables of the papers, run again and held against what the papers
print, and our own.  docs/report.md says how.

tests/published/figures.toml is the catalogue: claim, topology, scenario files, and what is to
hold, as data. A module here for each paper, and for each page of our own claims, knows how a
figure is drawn and what its numbers are; the verdict on them is computed.
"""
