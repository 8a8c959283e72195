#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deb.sh OUT: build the Debian packages from a copy of the tree.  They, and the files that
# describe the build, go into directory OUT.
set -eu
missing=
for package in clang debhelper dh-dkms dpkg-dev gcc libbpf-dev make; do
	case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
	*" installed") ;;
	*) missing="$missing $package" ;;
	esac
done
[ -z "$missing" ] || {
	echo "deb: packages are missing: apt-get install$missing" >&2
	exit 1
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$build/longfat"
tar -c --exclude=./.git --exclude="./${out##*/}" --exclude='*.o' --exclude='*.ko' \
	--exclude='*.mod' --exclude='*.mod.c' --exclude='.*.cmd' --exclude=__pycache__ . |
	tar -x -C "$build/longfat"
# -d: without it all of build-essential would be required; what is needed was asked for.
(cd "$build/longfat" && dpkg-buildpackage -us -uc -b -d) >"$build/log" 2>&1 || {
	tail -n 40 "$build/log" >&2
	exit 1
}
for file in "$build"/*.*; do
	mv "$file" "$out"
	echo "$1/${file##*/}"
done
