#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh OUT: the comparison of `make demo`, and a real iperf3 over the same path.
set -eu
out=$1
lab=$(dirname "$0")/longfat
scenario=$(dirname "$0")/../tests/scenarios/demo.toml

runs=$out/runs
"$lab" run --no-force "$scenario" -o "$runs"
set -- "$runs"/demo-reno-s1.json "$runs"/demo-cubic-s1.json "$runs"/demo-hstcp-s1.json \
	"$runs"/demo-ghstcp-s1.json "$runs"/demo-ltcp-s1.json
"$lab" table "$@"
"$lab" plot "$@" -o "$out"
"$lab" page "$@" -o "$out/demo.html" --title "longfat demo"
echo
echo "A real iperf3 -c ... -C ltcp over the same path, in virtual time:"
"$lab" iperf3 "$scenario" -C ltcp -t 2
