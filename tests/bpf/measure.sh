#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# measure.sh BPF DIR: what longfat-bpf costs on this kernel, into DIR, as root.
#
#	loads		what `longfat-bpf -v load` says of each algorithm, three times
#	writable	which members of a sender BPF may write
#	same		the case of that name of tests/stock/bpf.sh
#	module, bpf	tests/bench/ack_cost.c of the algorithms as modules, and as BPF
#
# Both have the kernel's Reno, too; in bpf it is a second time there, behind hooks that are BPF.
# Where BPF has no modules of this kernel, there is instead of the last three
#
#	timed		algorithm, calls of lf_cong_avoid, ns of all, of several connections each
set -eu
PATH=$1:$PATH
from=$1
to=$2
here=$(dirname "$0")
algorithms="ghstcp ltcp"

# cost KIND REST: of what is loaded, and of REST.
cost() {
	insmod "$from/ack_cost.ko" rounds=3 algorithms="\"$algorithms $2\""
	cat /proc/longfat_ack_cost >"$to/$1"
	rmmod ack_cost
}

# timed_as NAME FILE REGISTERED: a connection with what is registered by this name, while the
# hooks in FILE are there.
timed_as() {
	echo "$1 $(timed "$2" unshare -n python3 "$here/bulk.py" "$3")"
}

uname -r >"$to/kernel"
for name in $algorithms; do
	for _ in 1 2 3; do
		echo "$name"
		longfat-bpf -v load "$name"
		longfat-bpf unload "$name"
	done
done >"$to/loads"
writable "$from"/writable-* >"$to/writable"
if ! [ -e "$from/ack_cost.ko" ]; then
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		timed_as reno "$from/reno.o" reno_by_bpf
		for name in $algorithms; do
			longfat-bpf load "$name"
			timed_as "$name" - "$name"
			longfat-bpf unload "$name"
		done
	done >"$to/timed"
	exit 0
fi
BPF=$from CASES=same sh "$here/../stock/bpf.sh" >"$to/same" || { cat "$to/same"; exit 1; }
for name in $algorithms; do
	insmod "$from/tcp_$name.ko"
done
cost module reno
for name in $algorithms; do
	rmmod "tcp_$name"
	longfat-bpf load "$name"
done
bpftool struct_ops register "$from/reno.o" >"$to/registered"
cost bpf "reno reno_by_bpf"
for name in $algorithms; do
	longfat-bpf unload "$name"
done
bpftool struct_ops unregister name lf_reno >>"$to/registered"
