# SPDX-License-Identifier: GPL-2.0
from .cli import main

main()
