#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What far.sh runs and watches: far-job.sh.  The directory holds main.sh, which carries the
# experiment out, and if they are needed:
#
#	settings	a sysctl a line, KEY=VALUE; with a ? before it, where that may be set
#	algorithms	a congestion control a line, and the module that has it
#	named		a module a line, of those that the other end sends with
#	*.conf		parameters of a module of this name, KEY=VALUE
#	source/		their sources, of which they are built and loaded
#	sockets		ss's filter for the connections that it makes, for far.sh
#
# It says on its last line of errors why it failed.  What it changes it writes down beforehand:
# `kept` has the old value of each file that it writes to, `loaded` each module.
set -eu
available=/proc/sys/net/ipv4/tcp_available_congestion_control

fail() {
	echo "$*" >&2
	exit 1
}

# keep FILE VALUE: write it, and remember what it was
keep() {
	[ -e "$1" ] || fail "this kernel has no $1"
	old=$(cat "$1")
	[ "$old" != "$2" ] || return 0
	echo "$1=$old" >>kept
	echo "$2" 2>/dev/null >"$1" || fail "$1 cannot be set to $2: only root may, sudo = true"
}

build() {
	[ ! -e source/modules.order ] || return 0
	headers=/lib/modules/$(uname -r)/build
	[ -d "$headers" ] || fail "--build: $headers is missing: install this kernel's headers" \
		"(Debian: linux-headers-$(uname -r))"
	make -C "$headers" "M=$(pwd)/source" modules >build.log 2>&1 ||
		fail "--build: $(grep -m 1 -i error build.log || tail -n 1 build.log)"
}

load() {
	cc=$1 module=$2
	if [ -d source ] && [ -e "source/$module.c" ]; then
		[ ! -e "/sys/module/$module" ] || grep -qx "$module" loaded 2>/dev/null ||
			fail "--build: a module $module is loaded already: remove it (rmmod $module)," \
				"or leave --build out"
		build
		[ -e "/sys/module/$module" ] || {
			echo "$module" >>loaded
			insmod "source/$module.ko" || fail "$module.ko cannot be loaded: only root may," \
				"sudo = true"
		}
	elif ! grep -qw -- "$cc" "$available"; then
		echo "$module" >>loaded
		modprobe "$module" || fail "$module cannot be loaded: install it there" \
			"(docs/install.md) or use --build; and only root may, sudo = true"
	fi
	grep -qw -- "$cc" "$available" || fail "the kernel has no congestion control $cc"
}

# limit BYTES: end all once the connections have sent more, by what is seen each second.  Of one that
# has ended counts what was seen last.
limit() {
	: >sent
	while sleep 1; do
		ss -tinH "$(cat sockets)" | awk '
			FILENAME == "sent" { of[$1] = $2; next }
			/^[^ \t]/ { key = $4 }
			{
				for (i = 1; i <= NF; i++)
					if (sub("^bytes_acked:", "", $i) && $i + 0 > of[key] + 0)
						of[key] = $i
			}
			END {
				for (key in of) {
					print key, of[key]
					sum += of[key]
				}
				exit sum > most
			}' most="$1" sent - >sent.new || {
			echo "the cap is used up (cap in the file of --hosts)" >&2
			kill $$
		}
		mv sent.new sent
	done
}

mkdir out
uname -r >out/kernel
if [ -e algorithms ]; then
	while read -r cc module; do
		load "$cc" "$module"
	done <algorithms
fi
# iperf3's client tells its server the algorithm, and who asks its kernel for one has it loaded.
if [ -e named ]; then
	while read -r module; do
		[ -e "/sys/module/$module" ] || echo "$module" >>loaded
	done <named
fi
for conf in *.conf; do
	[ -s "$conf" ] || continue
	while IFS='=' read -r key value; do
		[ -z "$key" ] || keep "/sys/module/${conf%.conf}/parameters/$key" "$value"
	done <"$conf"
done
if [ -e settings ]; then
	while IFS='=' read -r key value; do
		file=/proc/sys/$(echo "${key#\?}" | tr . /)
		[ "${key#\?}" = "$key" ] || [ -w "$file" ] || continue
		keep "$file" "$value"
	done <settings
fi
# shellcheck disable=SC1091 # written by the lab
. ./main.sh
