#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# One experiment, on whatever kernel this is: run.sh DIR
#
# DIR holds setup.sh (the network), traffic (lfgen's plan), spaces (the names of
# its namespaces), a .conf for each module of ours that is used, lfgen, and what
# else the backend put there; samples, kernel version, log and exit status are
# left in DIR.  Everything that is made here is removed again, whatever happens.
set -u
dir=$1
cd "$dir" || exit 1
PATH=$dir/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH LFGEN_PROGRESS="$dir/progress"
old_mem=$(cat /proc/sys/net/ipv4/tcp_mem)

cleanup() {
	while read -r ns; do
		ip netns pids "$ns" 2>/dev/null | xargs -r kill -9
		ip netns del "$ns" 2>/dev/null
	done <"$dir/spaces"
	sysctl -qw "net.ipv4.tcp_mem=$old_mem"
	# Backwards: a parameter set twice gets its first value back last.
	[ ! -e "$dir/kept" ] || tac "$dir/kept" | while IFS='=' read -r file value; do
		echo "$value" >"$file"
	done
}
trap cleanup EXIT
trap 'exit 130' INT TERM

fail() {
	echo "$1" >"$dir/error"
	exit 1
}

# What the kernel says from here on belongs to this run.
mark="longfat: begin $$ $(cat /proc/sys/kernel/random/uuid)"
echo "$mark" >/dev/kmsg
# A module that lies here belongs to this kernel; else it must be installed.
for conf in *.conf; do
	[ -e "$conf" ] || continue
	module=${conf%.conf}
	if [ -e "/sys/module/$module" ]; then
		:
	elif [ -e "$module.ko" ]; then
		insmod "./$module.ko" || fail "$module.ko cannot be loaded"
	else
		modprobe "$module" || fail "module $module cannot be loaded into this kernel: \
run \`make install\` (it needs this kernel's headers), or use --backend uml"
	fi
	while IFS='=' read -r key value; do
		[ -n "$key" ] || continue
		file=/sys/module/$module/parameters/$key
		echo "$file=$(cat "$file")" >>kept
		echo "$value" >"$file" ||
			fail "$module: $key=$value refused: $(dmesg | tail -n 1)"
	done <"$conf"
done

uname -r >kernel
# tcp_mem is sized from memory; under pressure the stack would close windows.
sysctl -qw net.ipv4.tcp_mem="100000000 100000000 100000000"
sh ./setup.sh 2>setup.log || fail "the network could not be built: $(cat setup.log)"
sh ./main.sh || fail "$(sed -n 's/^x //p' samples 2>/dev/null | tail -n 1)"
dmesg >log.all
grep -qF "$mark" log.all || fail "the kernel's log lost this run's begin: too much was logged"
awk -v mark="$mark" 'found { print } index($0, mark) { found = 1 }' log.all >log
echo 0 >status
