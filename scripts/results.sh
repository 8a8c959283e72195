#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# results.sh [PAGE...]: run the published scenarios of these pages again (of all of them
# without an argument), keep what is to be kept in docs/results and docs/img, and renew the
# pages' tables.  What that needs is installed first (deps.sh).
#
# Results lie in RESULTS (default out/results) until the end; what is there is not run
# again, so that an interrupted call goes on where it was.  On two cores demo takes a
# minute, ltcp ten, ghstcp forty, cwhstcp ninety, composite seventy, sabul ninety, security
# five, performance two, speed twenty, stress thirty; performance and speed want a machine
# that does nothing else.
set -eu
cd "$(dirname "$0")/.."
lab=scripts/longfat
out=${RESULTS:-out/results}
at=tests/scenarios
pages="demo ltcp ghstcp cwhstcp composite sabul security performance speed stress"

run() {
	"$lab" run --no-force -o "$out" "$@"
}

# picture NAME FILE [OPTION...]: picture NAME of the results *FILE*, as docs/img/FILE-NAME.svg
picture() {
	name=$1
	file=$2
	shift 2
	"$lab" plot "$@" "$out/$file"*.json -o "$out/img"
	mkdir -p docs/img
	mv "$out/img/$name.svg" "docs/img/$file-$name.svg"
}

demo() {
	run $at/demo.toml
	"$lab" summarise "$out"/demo-*.json -o docs/results
	picture cwnd demo
}

ltcp() {
	keep ltcp ltcp-fig7-1g ltcp-fig7 ltcp-10g ltcp-fig6
	picture cwnd ltcp-fig6
}

# keep PAGE FILE...: the results of these scenario files, with what the page observes.  All
# run at once, so that every core has work: name the long ones first.
keep() {
	page=$1
	shift
	for name; do
		echo "$at/$name.toml"
	done | xargs "$lab" run --no-force -o "$out"
	for name; do
		"$lab" python -m longfat.pages.docs keep "$page" "$name" "$out"
	done
}

ghstcp() {
	keep ghstcp ghstcp-overflow-10g ghstcp-fill-10g ghstcp-10g ghstcp-1g ghstcp-fill-1g \
		ghstcp-fig8 ghstcp-fig7 ghstcp-fig6 ghstcp-gro
	picture events ghstcp-fig6-trend-0ms --event mode
	picture events ghstcp-fig6-refined-0ms --event mode
	picture cwnd ghstcp-fill-1g
}

cwhstcp() {
	keep cwhstcp cwhstcp-table3-1g cwhstcp-fig6 cwhstcp-fig7 cwhstcp-table3 cwhstcp-exponent \
		cwhstcp-buffer cwhstcp-five cwhstcp-table2 cwhstcp-burst cwhstcp-burst-alone \
		cwhstcp-burst-blocks
	picture cwnd cwhstcp-table2-s1
	picture cwnd cwhstcp-table3-c_10-s1
}

composite() {
	keep composite composite-share-1g-1500 composite-share-1g composite-share-100m \
		composite-smooth-100m composite-transfer composite-share-connections composite-pacing \
		composite-smooth-seeds composite-flood composite-share-10m composite-smooth composite-one
}

sabul() {
	keep sabul sabul-fig3 sabul-fig4 sabul-queue sabul-fig2-1g sabul-fig2-oc12 sabul-fig1 \
		sabul-fig2-tso sabul-offsets sabul-slow
}

security() {
	PYTHONPATH=scripts:tests/lab "$lab" python tests/lab/share.py
}

# What an ACK costs; times are this machine's.
performance() {
	"$lab" cost --rounds 201 -o docs/results/ack-cost.json
	"$lab" stack $at/stack.toml -o docs/results/stack-cost.json
}

speed() {
	"$lab" bench $at/bench.toml -o docs/results/lab-speed.json
	"$lab" bench $at/profile.toml --profile -o docs/results/lab-profile.json
	"$lab" bench $at/bench-vm.toml --backend vm -o docs/results/vm-speed.json
	"$lab" python tests/bench/trials.py
}

stress() {
	scripts/deps.sh stress
	mix=tests/stress/chaos.toml
	"$lab" stress $mix --minutes 10 -o "$out"
	"$lab" stress $mix --smp --minutes 10 --timeout 3600 -o "$out"
	cp "$out/stress-uml.json" "$out/stress-smp.json" docs/results
}

# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- $pages
for page; do
	case " $pages " in *" $page "*) continue ;; esac
	echo "results: no page '$page'; valid: $pages" >&2
	exit 1
done
scripts/deps.sh check
for page; do
	"$page"
done
"$lab" python -m longfat.pages pages
