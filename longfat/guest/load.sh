#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What modules register, on whatever kernel this is: load.sh DIR MODULE...
#
# DIR holds MODULE.ko for each, or MODULE.o of BPF.  They are loaded in this order and removed
# again.  DIR/found says what came of it, a line each:
#
#	cc MODULE NAME			the module registers this congestion control
#	parameter MODULE NAME MODE	the file of a parameter has this mode
#	failed MODULE			it cannot be loaded; DIR/MODULE.log says why
#	stays MODULE			it cannot be removed; DIR/MODULE.stays says why
#
# DIR/log is what the kernel said, and DIR/kernel its release.
set -u
dir=$1
shift
PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
available=/proc/sys/net/ipv4/tcp_available_congestion_control

# Mark a place in the kernel's log, and print what is behind it.
mark() {
	mark="longfat: $1 $$ $(cat /proc/sys/kernel/random/uuid)"
	echo "$mark" >/dev/kmsg
}

behind() {
	dmesg | sed "0,/$1/d"
}

# load MODULE: as a module, or as BPF, of which DIR/MODULE.numbers then says how to take it out.
load() {
	[ -e "$dir/$1.o" ] || { insmod "$dir/$1.ko"; return; }
	sh "$dir/register.sh" "$dir/$1.o" >"$dir/$1.numbers"
}

unload() {
	[ -e "$dir/$1.numbers" ] || { rmmod "$1"; return; }
	while read -r number; do
		bpftool struct_ops unregister id "$number" || return
	done <"$dir/$1.numbers" >/dev/null
}

uname -r >"$dir/kernel"
mark "modules begin"
begin=$mark
loaded=
for module; do
	# What it needs and is the kernel's own; that may register names, too.
	[ ! -s "$dir/$module.needs" ] ||
		xargs modprobe -a <"$dir/$module.needs" 2>"$dir/$module.log"
	before=" $(cat $available) "
	mark "load $module"
	if ! load "$module" 2>>"$dir/$module.log"; then
		behind "$mark" >>"$dir/$module.log"
		echo "failed $module"
		continue
	fi
	loaded="$module $loaded"
	tr ' ' '\n' <$available | while read -r cc; do
		case $before in
		*" $cc "*) ;;
		*) echo "cc $module $cc" ;;
		esac
	done
	for file in "/sys/module/$module/parameters/"*; do
		[ ! -e "$file" ] ||
			echo "parameter $module ${file##*/} $(stat -c %a "$file")"
	done
done >"$dir/found"
# A module without an exit stays, which only matters where the kernel does.
for module in $loaded; do
	unload "$module" 2>"$dir/$module.stays" || echo "stays $module"
done >>"$dir/found"
behind "$begin" >"$dir/log"
