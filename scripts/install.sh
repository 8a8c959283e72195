#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# install.sh install|uninstall KVER MODULE...
#
# Uninstalling refuses while an algorithm is some network namespace's default or
# a socket uses it, and names both; nothing is removed then.
set -eu

action=$1 kver=$2
shift 2
target=${DESTDIR:-}/lib/modules/$kver/updates/longfat

die() {
	echo "$action: $*" >&2
	exit 1
}

# The congestion controls that a module registers, from its source.
algorithms() {
	sed -nE 's/^\s*\.name\s*=\s*"([^"]+)".*/\1/p' "$1.c"
}

# One process for each network namespace that has one, and the named ones.
namespaces() {
	for link in /proc/[0-9]*/ns/net; do
		inode=$(readlink "$link" 2>/dev/null) || continue
		pid=${link#/proc/}
		echo "$inode ${pid%%/*}"
	done | sort -u -k1,1 | while read -r _ pid; do
		name=$(ip netns identify "$pid" 2>/dev/null) || name=
		echo "nsenter -t $pid -n|${name:-the namespace of process $pid}"
	done
	ip netns list 2>/dev/null | while read -r name _; do
		echo "ip netns exec $name|$name"
	done
}

# Who uses algorithm $1, one line each.
users() {
	namespaces | sort -u -t'|' -k2,2 | while IFS='|' read -r enter name; do
		default=$($enter cat /proc/sys/net/ipv4/tcp_congestion_control \
			2>/dev/null </dev/null) || continue
		[ "$default" != "$1" ] ||
			echo "  $name: net.ipv4.tcp_congestion_control=$1 is its default"
		# ss shows the algorithm as a word of a socket's second line.
		$enter ss -Htinap 2>/dev/null </dev/null | awk -v cc="$1" -v ns="$name" '
			/^[^\t ]/ { socket = $0; next }
			{ for (i = 1; i <= NF; i++) if ($i == cc) {
				gsub(/[ \t]+/, " ", socket)
				print "  " ns ": socket " socket } }'
	done
}

[ -n "${DESTDIR:-}" ] || [ "$(id -u)" -eq 0 ] ||
	die "needs root (or DESTDIR=, for a package)"

case $action in
install)
	mkdir -p "$target"
	for module; do
		install -m 644 "$module.ko" "$target/" || die "$module.ko is not built: run make"
		echo "installed $target/$module.ko"
	done
	[ -n "${DESTDIR:-}" ] || depmod "$kver"
	;;
uninstall)
	busy=
	for module; do
		[ -z "${DESTDIR:-}" ] || continue
		[ -e "/sys/module/$module" ] || continue
		for algorithm in $(algorithms "$module"); do
			found=$(users "$algorithm")
			[ -z "$found" ] || busy="$busy
$algorithm is in use:
$found"
		done
	done
	[ -z "$busy" ] || die "nothing was removed.$busy
Set those namespaces to another algorithm and close those sockets, then again."
	for module; do
		[ ! -e "/sys/module/$module" ] || [ -n "${DESTDIR:-}" ] ||
			rmmod "$module" || die "$module cannot be unloaded, nothing was removed.
No namespace or socket was found to use it.  Kernels (6.1 and 7.2 were seen to) lose a
reference each time a namespace is refused $module's algorithm as its default; only
a reboot gives it back."
	done
	for module; do
		[ ! -e "$target/$module.ko" ] || echo "removed $target/$module.ko"
		rm -f "$target/$module.ko"
	done
	rmdir "$target" 2>/dev/null || true
	[ -n "${DESTDIR:-}" ] || depmod "$kver"
	;;
*)
	die "install or uninstall"
	;;
esac
