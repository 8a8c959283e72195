#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The first process of a virtual-time kernel.  The host's file system is its
# root, so whatever programs write to is covered before anything runs.
if [ $$ -ne 1 ]; then
	echo "init.sh: only for the first process of a virtual kernel" >&2
	exit 1
fi
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
# Still the host's /proc: the directory that the kernel's process was started in.
dir=$(cd /proc/self/cwd && pwd -P)
# -n: or mount would make /run/mount, which is still the host's.
mount -n -t proc proc /proc
mount -n -t sysfs sys /sys
mount -n -t tracefs trace /sys/kernel/tracing
mount -n -t tmpfs run /run
mkdir /run/netns
sh "$dir/run.sh" "$dir" >"$dir/out" 2>&1
dmesg >"$dir/dmesg"
exec "$dir/poweroff"
