#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# report.sh [FIGURE...]: run these figures of the papers (all of them without an argument), and
# write the report; docs/report.md.  A run that is there is not made again, so that an
# interrupted report goes on where it was.
#
#	PROFILE		a directory of longfat/pages/profiles (full); committed: from docs/results, no runs
#	JOBS		runs at once (the default: one a core)
#	TIMEOUT		seconds after which a run that has not ended has failed (six hours)
#	AGAIN		not empty: make the runs of these figures again though they are there
#	OLDER		not empty: make only those that docs/results lacks, or has of older versions
#	DRY		not empty: say what would be run, and how long it takes; nothing is changed
#
# What the runs need is installed first (deps.sh), but not with DRY nor for committed.
#
# The exit status is 1 if a run failed or a figure cannot be judged; the report is there all the
# same, of all figures, and says which.
set -eu
cd "$(dirname "$0")/.."
profile=${PROFILE:-full}
jobs=${JOBS:-$(nproc)}
lab=$PWD/scripts/longfat
again=${AGAIN:+--again}
older=${OLDER:+--older}

if [ -n "${DRY:-}" ]; then
	# shellcheck disable=SC2086
	exec "$lab" python -m longfat.pages plan --dry $again $older --profile "$profile" --cores "$jobs" "$@"
fi
if [ "$profile" = committed ]; then
	exec "$lab" python -m longfat.pages html --profile committed --out out/report/committed/report.html "$@"
fi
scripts/deps.sh
out=$("$lab" python -m longfat.pages where --profile "$profile")
mkdir -p "$out" out/runs
# One report at a time: all profiles share their runs.
exec 9>out/.lock
flock -n 9 || {
	echo "report: another one is running in $PWD" >&2
	exit 1
}

# The kernel and the modules, before many want them at once; a run of another kernel is made again.
"$lab" build
# shellcheck disable=SC2086
"$lab" python -m longfat.pages plan $again $older --profile "$profile" --cores "$jobs" --out "$out/plan.json" "$@"
set -- --profile "$profile" "$@"
status=0
trap 'exit 130' INT
# What other backends need, before hours of runs.  A run without it says what is missing.
# shellcheck disable=SC2086
if [ -n "$("$lab" python -m longfat.pages beside --dry $older "$@")" ]; then
	scripts/deps.sh vm || status=1
fi
config=$PWD/longfat/pages/profiles/$profile
workflow() {
	"$lab" snakemake --snakefile "$PWD/longfat/pages/Snakefile" --directory "$out" \
		--profile "$config" \
		--config "plan=$out/plan.json" "out=$out" "longfat=$lab" \
		"step=python -m longfat.pages run --profile $profile --timeout ${TIMEOUT:-21600}" "$@"
}
# Where something else carries the runs out, the profile says how many at once.
cores="--cores $jobs"
! grep -q '^executor:' "$config/config.yaml" || cores=
# shellcheck disable=SC2086
workflow $cores || status=1
# On other backends, some in real time, when nothing else goes on any more.
# shellcheck disable=SC2086
"$lab" python -m longfat.pages beside $older --timeout "${TIMEOUT:-21600}" "$@" || status=1
"$lab" python -m longfat.pages gather "$@" || status=1
"$lab" python -m longfat.pages html "$@" || status=1
exit "$status"
