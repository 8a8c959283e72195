#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What an ACK costs, on whatever kernel this is: cost.sh DIR ROUNDS ALGORITHM...
#
# DIR holds our modules and ack_cost.ko; "rows", the kernel's release and the log are left
# there, or "error".  It measures every algorithm of the kernel, and those of the list that the
# kernel has as modules.  composite has one stream here and is called composite-1, since the
# others have names; its draws are the same each time.
set -u
dir=$1
rounds=$2
shift 2
PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

measure() {
	for file in "$dir"/tcp_*.ko; do
		case $file in
		*/tcp_composite.ko) insmod "$file" streams=1 seed=1 || return ;;
		*) insmod "$file" || return ;;
		esac
	done
	for cc; do
		modprobe -q "tcp_$cc" 2>/dev/null
	done
	all=$(cat /proc/sys/net/ipv4/tcp_available_congestion_control)
	insmod "$dir/ack_cost.ko" rounds="$rounds" algorithms="\"$all\"" || return
	cat /proc/longfat_ack_cost >"$dir/rows"
}

# What the kernel logs from here on belongs to this run.
mark="longfat: cost begins"
echo "$mark" >/dev/kmsg
uname -r >"$dir/kernel"
measure "$@" 2>"$dir/error" && rm "$dir/error"
dmesg | sed "1,/$mark/d" >"$dir/log"
