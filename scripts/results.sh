#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# results.sh: run the published scenarios again, keep their summaries in
# docs/results and their pictures in docs/img, renew the tables of the pages.
# Takes about ten minutes on two cores.
set -eu
cd "$(dirname "$0")/.."
lab=scripts/longfat
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$lab" run -o "$scratch" tests/scenarios/demo.toml tests/scenarios/ltcp-fig7.toml \
	tests/scenarios/ltcp-fig7-1g.toml tests/scenarios/ltcp-fig6.toml \
	tests/scenarios/ltcp-10g.toml
"$lab" summarise "$scratch"/*.json -o docs/results
"$lab" plot "$scratch"/ltcp-fig6-*.json -o "$scratch/fig6"
"$lab" plot "$scratch"/demo-*.json -o "$scratch/demo"
mkdir -p docs/img
mv "$scratch/fig6/cwnd.svg" docs/img/ltcp-fig6-cwnd.svg
mv "$scratch/demo/cwnd.svg" docs/img/demo-cwnd.svg
mv "$scratch/demo/goodput.svg" docs/img/demo-goodput.svg
"$lab" python scripts/pages.py
