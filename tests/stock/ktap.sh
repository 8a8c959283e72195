# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034 # failed is for who sources this
#
# For the scripts beside it, which run in a guest: their results as KTAP.  $tmp is a
# directory that ends with them, $failed what they are to exit with.
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
count=0
failed=0

die() {
	echo "$*"
	exit 1
}

# result NAME COMMAND...: one result; what COMMAND says are its diagnostics.
result() {
	titled=$1 # no local variables in sh
	shift
	count=$((count + 1))
	if ("$@") >"$tmp/said" 2>&1; then
		echo "ok $count - $titled"
	else
		sed 's/^/# /' "$tmp/said"
		echo "not ok $count - $titled"
		failed=1
	fi
}
