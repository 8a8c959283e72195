# SPDX-License-Identifier: GPL-2.0
"""The longfat lab: congestion control experiments on the real kernel TCP stack."""
