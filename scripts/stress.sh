#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# stress.sh MINUTES SEED OUT: in turn, chaos on the kernel with sanitizers and on the one with
# two processors, each for MINUTES; the fuzzer, a tenth of that for each module; known bugs that
# only a kernel shows; longfat-bpf on stock kernels; `longfat measure` and the ssh backend on one; the
# lab's long tests and those on other kernels.  A step that fails does not stop the others.  The
# end says what became of each, and the exit status is 1 if one failed.  docs/stress.md.
set -u
cd "$(dirname "$0")/.." || exit 1
lab=scripts/longfat
mix=tests/stress/chaos.toml
minutes=$1 seed=$2 out=$3
status=0
summary=

# step WHAT COMMAND...
step() {
	what=$1
	shift
	echo "stress: $what"
	if "$@"; then
		verdict=good
	else
		verdict="FAILED ($?)"
		status=1
	fi
	summary="$summary
stress: $what: $verdict"
}

step "chaos, sanitizers" "$lab" stress $mix --minutes "$minutes" --seed "$seed" -o "$out"
export LONGFAT_CHECK=1
step "defects, two processors" "$lab" python tests/sanitizers.py smp
step "chaos, two processors" "$lab" stress $mix --smp --minutes "$minutes" \
	--timeout 3600 --seed "$seed" -o "$out"
for kernel in debian:6.1 debian:7.2; do
	step "KUnit, $kernel" "$lab" kunit --kernel "$kernel"
done
step "fuzzer" "$lab" python tests/fuzz.py --seconds "$(awk "BEGIN { print int($minutes * 6) + 1 }")"
export LONGFAT_LONG=1
step "bugs put in" "$lab" python tests/mutations.py lab stock
step "acceptance, stock kernels" "$lab" python tests/stock.py bullseye bookworm sid
step "BPF, stock kernels" "$lab" python tests/stock.py bpf bpf-trixie bpf-sid \
	bpf-bullseye
step "measure and ssh, a stock kernel" "$lab" python tests/machines.py
step "long tests" "$lab" python -m pytest -q -m "long or kernel" tests/lab
echo "$summary"
exit $status
