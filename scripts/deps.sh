#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# deps.sh [vm|check|stress]: install the Debian packages that the lab needs and that are
# missing.  With "vm" also those for real time, with "check" those for tests and
# measurements, with "stress" those for `make stress`.  It names them first.
set -eu

packages="bc bison ca-certificates ethtool flex gcc iperf3 iproute2 kmod libc6-dev
	make perl procps python3-venv util-linux xz-utils"
case ${1:-} in
vm | check | stress) packages="$packages file mmdebstrap qemu-system-x86" ;;
esac
case ${1:-} in
check | stress)
	packages="$packages chromium clang fonts-dejavu-core git libbpf-dev libclang-rt-dev mandoc linux-perf
		shellcheck sparse"
	;;
esac
# What a kernel for x86 is built with.
[ "${1:-}" != stress ] || packages="$packages libelf-dev"

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
	echo "deps: this is not Debian or Ubuntu; the lab needs the equivalents of:" >&2
	# shellcheck disable=SC2086 # one word each
	echo $packages >&2
	exit 0
fi
missing=
for package in $packages; do
	case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
	*" installed") ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
	sudo=sudo
	command -v sudo >/dev/null || {
		echo "deps: neither root nor sudo; as root, run: apt-get install$missing" >&2
		exit 1
	}
fi
echo "deps: installing these packages${sudo:+ with sudo}:$missing"
$sudo apt-get -qq update
# shellcheck disable=SC2086 # a list
$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
	--no-install-recommends $missing >/dev/null
