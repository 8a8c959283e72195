#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# build.sh DIR: longfat-bpf and what its tests ask for besides, into DIR.
#
#	longfat-bpf		and the objects in it
#	recording		the same, which writes down each call of a hook; drain reads them
#	refused			the same, with hooks that no kernel takes
#	another-layout		the same, with other data in its maps
#	replay-NAME		does recorded calls once more
#	kill.so			kills longfat-bpf at a step of load
#	writable, writable-*	ask the kernel which members of a sender BPF may write
#	timed			what calls take, by the kernel's own count
#	reno.o			the kernel's Reno, behind hooks that are BPF
set -eu
cd "$(dirname "$0")/../.."
to=$1

# program NAME FLAGS: longfat-bpf with the objects built with FLAGS.
program() {
	make -C bpf B="$to/build-$1" MORE="$2"
	cp "$to/build-$1/longfat-bpf" "$to/$1"
}

mkdir -p "$to"
program longfat-bpf ""
program recording "-DLF_RECORD='\"../tests/bpf/record.bpf.h\"' -I.."
program refused "-DLF_RECORD='\"../tests/bpf/refused.bpf.h\"' -I.."
program another-layout -DLF_LAYOUT=1
gcc -Wall -Werror -o "$to/drain" tests/bpf/drain.c -lbpf
gcc -Wall -Werror -shared -fPIC -o "$to/kill.so" tests/bpf/kill.c
for name in ghstcp ltcp; do
	gcc -O1 -Itests/shim -Ibpf/arith -Iinclude \
		-DLF_HAVE_SND_CWND -DLF_HAVE_TX_START -DKBUILD_MODNAME='"replay"' \
		-DSOURCE="\"../../tcp_$name.c\"" -o "$to/replay-$name" tests/bpf/replay.c
done
gcc -Wall -Werror -o "$to/writable" tests/bpf/writable.c -lbpf
gcc -Wall -Werror -o "$to/timed" tests/bpf/timed.c -lbpf
# object SOURCE NAME FLAGS...
object() {
	source=$1 name=$2
	shift 2
	clang --target=bpf -mcpu=v3 -O2 -g -ffreestanding -Wall -Werror -Ibpf/shim -Ibpf/arith -Iinclude \
		"$@" -c -o "$to/$name" "tests/bpf/$source"
}
object reno.bpf.c reno.o
while read -r of type member; do
	object writable.bpf.c "writable-$member" -DOF="$of" -DTYPE="$type" -DMEMBER="$member"
done <tests/bpf/members
