#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh MODULE:ALGORITHM...: the stock-kernel acceptance, run as root in a guest
# (tests/stock.py) whose /lib/modules holds our modules.  KTAP.
#
#	CASES	the cases to run for each module, instead of all
#
# shellcheck disable=SC2317 # functions that result() calls by name
set -u
here=$(dirname "$0")
params=/sys/module/%s/parameters
count=0
failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

ALL="modprobe autoload autoload_setsockopt one_socket iperf ss unprivileged namespace
in_use parameters load_refused trace before_first_ack listener reconnect storm idle hostile"
CASES=${CASES:-$ALL}
