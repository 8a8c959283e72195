# SPDX-License-Identifier: GPL-2.0
#
# What a user touches; `make help` lists it.  The lab itself is scripts/longfat.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
LAB  := scripts/longfat
OUT  ?= out
# How long `make stress` begins seeds on each kernel, from which on.
MINUTES ?= 30
SEED ?= 1
# What `make install` sets for the next boot, algorithms; scripts/install.sh has it.
export LOAD ALLOW DEFAULT PREFIX DESTDIR

MODULES := $(basename $(filter-out %.mod.c,$(wildcard tcp_*.c)))
# Who is in the league of docs/evaluation.md.
LEAGUE := ltcp ghstcp ghstcp:mode=hstcp cwhstcp cwhstcp:rtt_exponent=1 composite sabul reno cubic bic htcp \
	highspeed scalable illinois yeah westwood vegas bbr dctcp

all: modules

##@ On this machine's kernel, or another one (KDIR=its headers, KVER=its version)

modules: ## Build the modules (default)
	@scripts/headers.sh "$(KDIR)" "$(KVER)"
	@$(MAKE) --no-print-directory -C $(KDIR) M=$(CURDIR) modules

install: modules ## Install modules and manual pages (root); LOAD=, ALLOW=, DEFAULT="ltcp": for the next boot
	@scripts/install.sh install "$(KVER)" $(MODULES)

uninstall: ## Unload and remove them; refuses while one is in use, and says by whom (root)
	@scripts/install.sh uninstall "$(KVER)" $(MODULES)

dkms: ## Instead of install: DKMS builds and installs them for every kernel (root)
	@scripts/install.sh dkms "$(KVER)" $(MODULES)

dkms-remove: ## Take them out of DKMS again (root)
	@scripts/install.sh dkms-remove "$(KVER)" $(MODULES)

bpf: ## Build bpf/build/longfat-bpf, which loads ltcp and ghstcp without a module (clang, libbpf-dev)
	@$(MAKE) --no-print-directory -C bpf

deb: ## Build the Debian packages longfat-dkms, longfat-bpf and longfat-tools; into OUT
	@scripts/deb.sh "$(OUT)"

clean: ## Remove what was built in the tree; out/ stays
	@rm -rf *.o .*.o *.ko *.mod *.mod.c .*.cmd .tmp_versions modules.order Module.symvers bpf/build

##@ In the lab (any kernel, no headers)

deps: ## Install the Debian packages that the lab needs (sudo if not root)
	@scripts/deps.sh

demo: deps ## Five algorithms on 1 Gbit/s x 120 ms, table, pictures, iperf3 -C ltcp; into OUT
	@scripts/demo.sh "$(OUT)"

check: ## All tests but the hours of `make stress` (installs what they need); SUITE=fast: those of three minutes; SUITE="name ...": docs/testing.md
	@scripts/deps.sh check
	@LONGFAT_CHECK=1 $(LAB) check $(SUITE)

results: ## Measure again what the pages of docs/ show, and renew them; PAGE="ltcp ghstcp cwhstcp composite sabul crosscheck demo kernels evaluation slow_start use security performance bpf speed testing your-own stress"
	@scripts/results.sh $(PAGE)

report: ## The papers' figures, reproduced, and our own: all of them, or FIGURE="id ..."; PROFILE=quick (a first look, 10 minutes after the first build) or full (hours); DRY=1 only says what it costs; more: docs/report.md
	@PROFILE=$(PROFILE) JOBS=$(JOBS) TIMEOUT=$(TIMEOUT) AGAIN=$(AGAIN) OLDER=$(OLDER) DRY=$(DRY) scripts/report.sh $(FIGURE)

evaluate: ## The league's algorithms by most criteria, the profile smoke (an hour by its estimate); by more: PROFILE=standard; by all: PROFILE=full (a day; it says how long), ALGORITHMS="ltcp sabul"; into evaluated/
	@scripts/deps.sh
	@$(LAB) evaluate $(or $(ALGORITHMS),$(LEAGUE)) --profile $(or $(PROFILE),smoke)

bench: ## What an ACK, and carrying data, costs in each congestion control; how fast the lab runs; what the vm backend holds
	@scripts/deps.sh check
	@$(LAB) cost
	@$(LAB) stack tests/scenarios/stack.toml --turns 1 --counted
	@$(LAB) bench tests/scenarios/bench.toml
	@$(LAB) bench tests/scenarios/bench-vm.toml --backend vm --repeat 1

stress: ## Chaos on a kernel with sanitizers and on two processors, seed after seed; then the fuzzer, bugs put in that a kernel shows, and the lab's long tests; MINUTES=30 SEED=1
	@scripts/deps.sh stress
	@scripts/stress.sh $(MINUTES) $(SEED) "$(OUT)"

hooks: ## Let `git commit` run the linters on what is committed; out again: git config --unset core.hooksPath
	@git config core.hooksPath scripts/hooks

clean-cache: ## Remove the lab's kernels, chroots and Python environments
	@$(LAB) clean

help: ## This list
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2} \
		END {print "\nExperiments of your own: scripts/longfat run FILE, compare, measure HOST, evaluate; scripts/longfat --help"}' \
		$(MAKEFILE_LIST)

.PHONY: all modules install uninstall dkms dkms-remove bpf deb clean deps demo check results report evaluate bench stress hooks clean-cache help
