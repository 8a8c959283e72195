#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# install.sh install|uninstall|dkms|dkms-remove KVER MODULE...
#
#	LOAD	algorithms to load at boot		/etc/modules-load.d/longfat.conf
#	ALLOW	algorithms that every user may choose
#		(others allowed now stay allowed)	/etc/sysctl.d/90-longfat.conf
#	DEFAULT	the algorithm of every new connection	the same
#	PREFIX	where manual pages go, below share/man (/usr/local)
#	DESTDIR	for a package: put before every path, nothing on this machine is asked
#
# dkms first removes every version of ours that DKMS has.
#
# Uninstalling refuses while an algorithm is some network namespace's default, a
# socket uses it or a sysctl file other than ours names it, and lists them all;
# nothing is removed then.
set -eu

action=$1 kver=$2
shift 2
root=${DESTDIR:-}
target=$root/lib/modules/$kver/updates/longfat
man=$root${PREFIX:-/usr/local}/share/man
loads=$root/etc/modules-load.d/longfat.conf
sysctls=$root/etc/sysctl.d/90-longfat.conf
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
sources=$root/usr/src/longfat-$version

die() {
	echo "$action: $*" >&2
	exit 1
}

put() {
	install -D -m 644 "$1" "$2"
	echo "installed $2"
}

remove() {
	for file; do
		[ -e "$file" ] || continue
		rm -f "$file"
		echo "removed $file"
	done
}

# The congestion controls that a module registers, from its source.
algorithms() {
	sed -nE 's/^[[:space:]{]*\.name\s*=\s*"([^"]+)".*/\1/p' "$1.c"
}

# owner ALGORITHM MODULE...: the module that registers the algorithm.
owner() {
	wanted=$1
	shift
	for module; do
		for name in $(algorithms "$module"); do
			[ "$name" != "$wanted" ] || echo "$module"
		done
	done
}

# Algorithms of others that everyone may choose now: somebody wanted that, so they stay.
allowed_others() {
	read -r names </proc/sys/net/ipv4/tcp_allowed_congestion_control
	for other in $names; do
		[ -n "$(owner "$other" "$@")" ] || echo "$other"
	done
}

# Files for the next boot, if LOAD, ALLOW or DEFAULT asks for them.  They load the modules
# first: the kernel refuses a list of allowed algorithms if one of them is not loaded.
persist() {
	modules=
	for chosen in ${LOAD:-} ${ALLOW:-} ${DEFAULT:-}; do
		module=$(owner "$chosen" "$@")
		[ -n "$module" ] || die "no module of ours registers '$chosen'; there are:" \
			"$(for one; do algorithms "$one"; done | tr '\n' ' ')"
		case " $modules " in *" $module "*) ;; *) modules="$modules $module" ;; esac
	done
	case ${DEFAULT:-} in *" "*) die "DEFAULT='$DEFAULT': one algorithm only" ;; esac
	[ -n "$modules" ] || return 0
	allowed="reno cubic"
	if [ -n "${ALLOW:-}" ] && [ -z "$root" ]; then
		allowed=$(allowed_others "$@")
		for other in $allowed; do
			[ ! -e "/sys/module/tcp_$other/refcnt" ] || modules="$modules tcp_$other"
		done
	fi
	{
		echo "# Written by longfat's make install, removed by make uninstall."
		# shellcheck disable=SC2086 # a list
		printf '%s\n' $modules
	} >"$tmp"
	put "$tmp" "$loads"
	[ -n "${ALLOW:-}${DEFAULT:-}" ] || {
		remove "$sysctls"
		return
	}
	{
		echo "# Written by longfat's make install, removed by make uninstall."
		# shellcheck disable=SC2086 # a list
		[ -z "${ALLOW:-}" ] ||
			echo "net.ipv4.tcp_allowed_congestion_control =" $allowed $ALLOW
		[ -z "${DEFAULT:-}" ] ||
			echo "net.ipv4.tcp_congestion_control = $DEFAULT"
	} >"$tmp"
	put "$tmp" "$sysctls"
}

pages() {
	for module; do
		scripts/man.sh "$module.c" >"$tmp"
		put "$tmp" "$man/man4/$module.4"
	done
	put man/longfat.1 "$man/man1/longfat.1"
}

remove_pages() {
	for module; do
		remove "$man/man4/$module.4"
	done
	remove "$man/man1/longfat.1"
}

# Loaded modules of this kernel that may be other ones than those installed now.
still_loaded() {
	[ -z "$root" ] && [ "$kver" = "$(uname -r)" ] || return 0
	for module; do
		[ -e "/sys/module/$module" ] || continue
		new=$(modinfo -k "$kver" -F srcversion "$module" 2>/dev/null) || continue
		[ -n "$new" ] && [ "$new" = "$(cat "/sys/module/$module/srcversion")" ] ||
			echo "$module stays loaded as it was before, until the next boot or" \
				"'rmmod $module' when nothing uses it"
	done
}

# The versions of ours that DKMS has; it says "longfat/1.0: added", and before 3.0
# "longfat, 1.0: added".
registered() {
	dkms status longfat | sed -nE 's#^longfat(/|, )([^,:]+)[,:].*#\2#p' | sort -u
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

# Lines of sysctl files other than ours that name algorithm $1: they would fail at the
# next boot.
settings() {
	for file in /etc/sysctl.conf /etc/sysctl.d/*.conf /run/sysctl.d/*.conf \
		/usr/local/lib/sysctl.d/*.conf /usr/lib/sysctl.d/*.conf; do
		if [ ! -f "$file" ] || [ "$file" = "$sysctls" ]; then continue; fi
		grep -nE '^[^#;]*tcp_(allowed_)?congestion_control[[:space:]]*=' "$file" |
			grep -E "[[:space:]=\"]$1([[:space:]\"]|\$)" | sed "s|^\([0-9]*\):|  $file:\1: |"
	done
}

# Take the modules out of the kernel.  If one is in use, say by whom and give up.
unload() {
	[ -z "$root" ] || return 0
	busy=
	for module; do
		for algorithm in $(algorithms "$module"); do
			found=$(settings "$algorithm")
			[ ! -e "/sys/module/$module" ] || found="$(users "$algorithm")${found:+
$found}"
			[ -z "$found" ] || busy="$busy
$algorithm is in use:
$found"
		done
	done
	[ -z "$busy" ] || die "nothing was removed.$busy
Set those namespaces to another algorithm (sysctl net.ipv4.tcp_congestion_control=cubic),
close those sockets and take the name out of those files, then again."
	for module; do
		[ ! -e "/sys/module/$module" ] ||
			rmmod "$module" || die "$module cannot be unloaded, nothing was removed.
No namespace or socket was found to use it.  Kernels (6.1 and 7.2 were seen to) lose a
reference each time a namespace is refused $module's algorithm as its default; only
a reboot gives it back."
	done
}

# What serves every kernel that has the modules goes with the last of them.
remove_rest() {
	for other in "$root"/lib/modules/*/updates/longfat; do
		[ ! -e "$other" ] || return 0
	done
	remove_pages "$@"
	remove "$loads" "$sysctls"
}

[ -n "$root" ] || [ "$(id -u)" -eq 0 ] || die "needs root (or DESTDIR=, for a package)"
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
trap 'exit 130' INT TERM HUP

case $action in
install)
	for module; do
		[ -e "$module.ko" ] || die "$module.ko is not built: run make"
	done
	persist "$@"
	for module; do
		put "$module.ko" "$target/$module.ko"
	done
	pages "$@"
	[ -n "$root" ] || depmod "$kver"
	still_loaded "$@"
	;;
uninstall)
	unload "$@"
	for module; do
		remove "$target/$module.ko"
	done
	rmdir "$target" 2>/dev/null || true
	[ -n "$root" ] || depmod "$kver"
	remove_rest "$@"
	;;
dkms)
	if [ -z "$root" ]; then
		command -v dkms >/dev/null || die "dkms is not installed: apt-get install dkms"
		for old in $(registered); do
			! dpkg-query -S "/usr/src/longfat-$old/dkms.conf" >/dev/null 2>&1 ||
				die "longfat $old is the package longfat-dkms's: apt-get remove it first"
			echo "longfat $old, which DKMS has, is replaced"
			dkms remove "longfat/$old" --all
			rm -rf "/usr/src/longfat-$old"
		done
	fi
	for file in dkms.conf Kbuild include/longfat/*; do
		put "$file" "$sources/$file"
	done
	for module; do
		put "$module.c" "$sources/$module.c"
	done
	# A package has its pages where its others are.
	[ -z "$root" ] || exit 0
	dkms add "longfat/$version"
	dkms autoinstall -k "$kver"
	pages "$@"
	still_loaded "$@"
	;;
dkms-remove)
	unload "$@"
	dkms remove "longfat/$version" --all
	rm -rf "$sources"
	remove_rest "$@"
	;;
*)
	die "no such action: install, uninstall, dkms or dkms-remove"
	;;
esac
