#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# One experiment, on whatever kernel this is: run.sh DIR
#
# DIR holds setup.sh (the network), traffic (lfgen's plan), spaces (the names of
# its namespaces), a .conf for each module of ours that is used, lfgen, a file
# named tracing if our modules' events are asked for, and what else the backend
# put there; samples, trace, kernel version, log and exit status are left in DIR.
# Everything that is made here is removed again, whatever happens.
set -u
dir=$1
cd "$dir" || exit 1
PATH=$dir/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH LFGEN_PROGRESS="$dir/progress"
old_mem=$(cat /proc/sys/net/ipv4/tcp_mem)
# An instance has a buffer and a clock of its own, apart from any other tracing.
tracing=/sys/kernel/tracing/instances/longfat-$$

cleanup() {
	while read -r ns; do
		ip netns pids "$ns" 2>/dev/null | xargs -r kill -9
		ip netns del "$ns" 2>/dev/null
	done <"$dir/spaces"
	[ ! -d "$tracing" ] || rmdir "$tracing"
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

# Record the events of every module of ours that is loaded, none being fine.
start_tracing() {
	[ -d "${tracing%/*}" ] ||
		fail "trace = true needs ${tracing%/*}, which is not here: \
mount -t tracefs tracefs /sys/kernel/tracing (in a kernel with CONFIG_FTRACE)"
	mkdir "$tracing" || fail "the tracing instance $tracing cannot be made"
	# 64 MB, hundreds of thousands of events, shared by the CPUs: a flow stays on few.
	kb=$((65536 / $(nproc)))
	{
		echo mono >"$tracing/trace_clock" &&
			echo $((kb < 8192 ? 8192 : kb)) >"$tracing/buffer_size_kb" &&
			{ [ ! -d "$tracing/events/longfat" ] ||
				echo 1 >"$tracing/events/longfat/enable"; }
	} || fail "tracing cannot be set up in $tracing"
}

save_trace() {
	echo 0 >"$tracing/tracing_on"
	lost=$(awk '/^(overrun|commit overrun|dropped events):/ { lost += $NF }
		END { print lost + 0 }' "$tracing"/per_cpu/cpu*/stats)
	[ "$lost" = 0 ] || fail "$lost trace events were lost, \
$(cat "$tracing/buffer_total_size_kb") kB of buffer are too few: \
shorten the run or set trace = false"
	cat "$tracing/trace" >trace || fail "the trace cannot be saved"
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
[ ! -e tracing ] || start_tracing
sh ./main.sh || {
	status=$?
	why=$(sed -n 's/^x //p' samples 2>/dev/null | tail -n 1)
	[ -n "$why" ] || why="the traffic ended with status $status and did not say why; \
the kernel's last words: $(dmesg | tail -n 1)"
	fail "$why"
}
[ ! -e tracing ] || save_trace
dmesg >log.all
grep -qF "$mark" log.all || fail "the kernel's log lost this run's begin: too much was logged"
awk -v mark="$mark" 'found { print } index($0, mark) { found = 1 }' log.all >log
echo 0 >status
