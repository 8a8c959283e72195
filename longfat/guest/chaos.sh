#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# One run of chaos, on whatever kernel this is: run.sh DIR
#
# DIR holds setup.sh (the network), plan (of chaos), spaces (the names of the
# namespaces) and our modules; summary, error and status are left in it.
set -u
dir=$1
cd "$dir" || exit 1
PATH=$dir/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
kmemleak=/sys/kernel/debug/kmemleak

fail() {
	echo "$1" >>"$dir/error"
}

# A named number of /proc/meminfo, kB.
meminfo() {
	awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo
}

# What sockets leave in the slabs once everything is closed.
sockets() {
	for slab in TCP TCPv6 tw_sock_TCP tw_sock_TCPv6 request_sock_TCP \
		request_sock_TCPv6 net_namespace; do
		# Freed ones may lie in a quarantine, or in a processor's own list.
		[ ! -e "/sys/kernel/slab/$slab/shrink" ] ||
			echo 1 >"/sys/kernel/slab/$slab/shrink"
		awk -v name="$slab" '$1 == name { print $1, $2 }' /proc/slabinfo
	done
}

# Once with everything first, so that memory that is allocated only once is allocated.
settle() {
	# TIME_WAIT is a minute, and so is the life of a connection without a socket.
	sleep "$1"
	# The kernel frees a namespace only when the next one goes.
	ip netns add lf-last && ip netns del lf-last
	sleep 1
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	sockets
	free=$(meminfo MemFree)
}

# What happened in all namespaces, by TCP's own counters: a name and a number for each.
happened() {
	while read -r ns; do
		ip netns exec "$ns" cat /proc/net/netstat /proc/net/snmp
	done <spaces | awk '
		$1 == of { for (i = 2; i <= NF; i++) n[name[i]] += $i; of = ""; next }
		{ of = $1; split($0, name) }
		END {
			printf "marks %d\n", n["TCPDeliveredCE"]
			printf "zero_windows %d\n", n["TCPFromZeroWindowAdv"]
			printf "bad_checksums %d\n", n["InCsumErrors"]
			printf "sent_again %d\n", n["RetransSegs"]
			printf "timeouts %d\n", n["TCPTimeouts"]
			printf "duplicates %d\n", n["TCPDSACKRecv"]
			printf "reordered %d\n", n["TCPSACKReorder"] + n["TCPTSReorder"]
			printf "undone %d\n", n["TCPFullUndo"] + n["TCPPartialUndo"] + \
				n["TCPDSACKUndo"] + n["TCPLossUndo"]
			printf "mtu_probes %d\n", n["TCPMTUPSuccess"] + n["TCPMTUPFail"]
		}'
}

mount -t debugfs debug /sys/kernel/debug 2>/dev/null
# Skip names that do not exist.
echo >/proc/sys/kernel/modprobe
for module in *.ko; do
	insmod "./$module" || fail "$module cannot be loaded"
done
sh ./setup.sh 2>setup.log || fail "the network could not be built: $(cat setup.log)"
[ ! -e error ] || exit 1
settle 6 >before
before=$free
# Forget what the boot logged.
[ ! -e $kmemleak ] || { echo scan >$kmemleak && echo clear >$kmemleak; }

chaos plan >summary || fail "chaos ended with status $?"

happened >>summary
settle 130 >after
after=$free
{ [ -s before ] && cmp -s before after; } ||
	fail "sockets or namespaces are left: before: $(tr '\n' ' ' <before), after: $(tr '\n' ' ' <after)"
lost=$((before - after))
[ $lost -ge 0 ] || lost=0
echo "memory_kb $lost" >>summary
allowed=$(($(meminfo MemTotal) / 16 + 16384))
[ $lost -le $allowed ] ||
	fail "$lost kB of memory did not come back, $allowed are allowed"
for module in *.ko; do
	rmmod "${module%.ko}" || fail "${module%.ko} cannot be removed in the end"
done
while read -r ns; do
	ip netns del "$ns"
done <spaces
if [ -e $kmemleak ]; then
	sleep 10
	echo scan >$kmemleak
	sleep 10
	echo scan >$kmemleak
	cat $kmemleak >leaked
	[ ! -s leaked ] ||
		fail "$(grep -c ^unreferenced leaked) objects leaked: $(head -n 30 leaked)"
fi
echo 0 >status
