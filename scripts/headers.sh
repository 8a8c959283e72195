#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# headers.sh KDIR KVER: can modules be built for this kernel?  If not, why.
[ -e "$1/Makefile" ] && exit 0
cat >&2 <<END
No kernel headers in $1.
  Debian, Ubuntu:  apt-get install linux-headers-$2
  Fedora:          dnf install kernel-devel-$2
  Arch:            pacman -S linux-headers
or name those of another kernel: make KDIR=/path/to/its/build
\`make demo\` needs none: it builds its own kernel and runs the modules there.
END
exit 1
