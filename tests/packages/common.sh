# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# For the cases beside it, which run as root at the top of a copy of the tree, in a
# Debian that ends with them; $MODULES and $ALGORITHMS are the tree's.
set -eu
# The only kernel with headers here; the running one is another.
kernel=$(basename /lib/modules/*)
export kernel
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP

die() {
	echo "$*"
	exit 1
}

# Everything that an installation may touch, but for what depmod makes; a package's
# removal also leaves what dpkg, DKMS and man-db keep of it.
everything() {
	find /etc /lib/modules /usr/local /usr/share/man /usr/src -newermt 1970-01-01 \
		! -name 'modules.*' ! -path '*/kernel/*' ! -type d | sort
}

# refused WORDS COMMAND...: it fails, and says why.
refused() {
	words=$1
	shift
	if "$@" >"$tmp/said" 2>&1; then die "not refused: $*"; fi
	grep -qF -e "$words" "$tmp/said" || die "$* does not say '$words': $(cat "$tmp/said")"
}

# Is every module installed for $kernel in directory $1, for that kernel, whole?
installed() {
	for module in $MODULES; do
		file=$(modinfo -k "$kernel" -F filename "$module")
		case $file in
		"/lib/modules/$kernel/$1/$module.ko"*) ;;
		*) die "modprobe $module would take $file" ;;
		esac
		magic=$(modinfo -k "$kernel" -F vermagic "$module")
		case $magic in "$kernel "*) ;; *) die "$module is for $magic" ;; esac
	done
}

absent() {
	for module in $MODULES; do
		! modinfo -k "$kernel" "$module" >/dev/null 2>&1 || die "$module is still there"
	done
}
