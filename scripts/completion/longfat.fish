# SPDX-License-Identifier: GPL-2.0
longfat completion fish | source
