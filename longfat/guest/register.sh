#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The congestion controls of an object of BPF, registered: register.sh FILE [NAME...]
#
# bpftool registers all that the file has, and says what it could not.  It fails unless each NAME
# is there then, or, without one, unless anything was registered.  On the standard output is the
# number by which bpftool takes out again what was registered, a line each.
set -u
PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
file=$1
shift
said=$(mktemp)
trap 'rm -f "$said"' EXIT

fail() {
	echo "${file##*/}: $1" >&2
	cat "$said" >&2
	exit 1
}

[ -e /sys/kernel/btf/vmlinux ] || fail "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
command -v bpftool >/dev/null || fail "bpftool is missing"
bpftool struct_ops register "$file" >"$said" 2>&1 || status=$?
numbers=$(sed -n 's/^Registered .* id \([0-9]*\)$/\1/p' "$said")
[ -n "$numbers" ] || fail "bpftool could not register it (status ${status:-0})"
for name; do
	grep -qw -e "$name" /proc/sys/net/ipv4/tcp_available_congestion_control ||
		fail "did not register $name"
done
echo "$numbers"
# Of several some could not be.
[ -z "${status:-}" ] || cat "$said" >&2
