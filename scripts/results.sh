#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# results.sh [PAGE...]: measure again what these pages show (all of them without an argument), keep
# it in docs/results, and renew the pages.
#
# The runs are those of `make report FIGURE=`, for all figures of these pages: what is there is not
# made again, so that an interrupted call goes on where it was.  `DRY=1 make report` says how long they
# take.  What is not of runs, such as what an ACK costs, is measured anew; it wants a machine that
# does nothing else.  The exit status is 1 if something failed.
set -eu
cd "$(dirname "$0")/.."
lab=scripts/longfat

figures=$("$lab" python -m longfat.pages list "$@")
status=0
if [ -n "$figures" ]; then
	# One run that failed does not keep the others from the pages.
	# shellcheck disable=SC2086 # a list
	PROFILE=full scripts/report.sh $figures || status=1
	# shellcheck disable=SC2086
	"$lab" python -m longfat.pages keep $figures
fi
"$lab" python -m longfat.pages measure "$@" || status=1
"$lab" python -m longfat.pages pages || status=1
exit "$status"
