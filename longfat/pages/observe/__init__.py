# SPDX-License-Identifier: GPL-2.0
"""What is looked at in all samples of a run, before they are dropped: a module for each page."""
