# SPDX-License-Identifier: GPL-2.0
from longfat.cli import main

main()
