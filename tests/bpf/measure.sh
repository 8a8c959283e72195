#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# measure.sh BPF DIR: what longfat-bpf costs on this kernel, into DIR, as root.
#
#	loads		what `longfat-bpf -v load` says of each algorithm
#	writable	which members of a sender BPF may write
#	same		the case of that name of tests/stock/bpf.sh
#	module, bpf	tests/bench/ack_cost.c of the algorithms as modules, and as BPF
#
# The last two are left out where BPF has no modules of this kernel.
set -eu
PATH=$1:$PATH
from=$1
to=$2
algorithms="ghstcp ltcp"

# cost KIND: of what is loaded.
cost() {
	insmod "$from/ack_cost.ko" rounds=3 algorithms="\"$algorithms\""
	cat /proc/longfat_ack_cost >"$to/$1"
	rmmod ack_cost
}

uname -r >"$to/kernel"
for name in $algorithms; do
	echo "$name"
	longfat-bpf -v load "$name"
	longfat-bpf unload "$name"
done >"$to/loads"
writable "$from"/writable-* >"$to/writable"
[ -e "$from/ack_cost.ko" ] || exit 0
BPF=$from CASES=same sh "$(dirname "$0")/../stock/bpf.sh" >"$to/same" || { cat "$to/same"; exit 1; }
for name in $algorithms; do
	insmod "$from/tcp_$name.ko"
done
cost module
for name in $algorithms; do
	rmmod "tcp_$name"
	longfat-bpf load "$name"
done
cost bpf
for name in $algorithms; do
	longfat-bpf unload "$name"
done
