#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# lint.sh [FILE...]: what the checkers say about the tree, or about these files of it, in KTAP,
# one result for each.
#
#	PYTHON		the interpreter whose environment has ruff and mypy
#	LINT_KERNEL	a built User-Mode Linux tree, instead of the lab's own; none: do without
#
# A checker that is not installed is a skip.  A checker that found nothing to look at
# fails; otherwise it would pass for ever unnoticed.
# shellcheck disable=SC2317 # functions that result() calls by name
set -u
cd "$(dirname "$0")/.." || exit 1
PYTHON=${PYTHON:-python3}
PATH=$(dirname "$(command -v "$PYTHON")"):$PATH
export PATH PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
# Below `make check`: do not pass its options and job server on to our own makes.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
number=0
failed=0
# The files to look at, one a line; all of them if there is none.
chosen=$(printf '%s\n' "$@")
# Ours; a build in the tree leaves some more.
sources=$(printf '%s\n' tcp_*.c | grep -v '\.mod\.c$')

# result NAME COMMAND...: one result; what COMMAND says are its diagnostics, and its
# status 4 is a skip for the reason on its last line.
result() {
	name=$1
	shift
	number=$((number + 1))
	"$@" >"$tmp/said" 2>&1
	case $? in
	0) echo "ok $number $name" ;;
	4) echo "ok $number $name # SKIP $(tail -n 1 "$tmp/said")" ;;
	*)
		sed 's/^/# /' "$tmp/said"
		echo "not ok $number $name"
		failed=1
		;;
	esac
}

need() {
	command -v "$1" >/dev/null && return
	echo "$1 is not installed: $2"
	return 4
}

# The files of the tree, with what is new and without what is ignored; an unpacked
# archive has no git and nothing that is ignored.
files() {
	if [ "$chosen" ]; then
		echo "$chosen"
	elif git ls-files >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard
	else
		find . -type f ! -path '*/.*_cache/*' | sed 's|^\./||'
	fi | while IFS= read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done
}

# looked_at FILE: whether it is one of those to look at
looked_at() {
	[ -z "$chosen" ] || echo "$chosen" | grep -qxF -- "$1"
}

# some SUFFIX...: whether files to look at end so
some() {
	for suffix; do
		[ -z "$chosen" ] || files | grep -q "\\$suffix\$" || continue
		return 0
	done
	echo "none of these files is one for it"
	return 4
}

# Sets $kernel to the tree of the lab's kernel, which is built if it was not yet.
kernel=${LINT_KERNEL:-}
find_kernel() {
	[ "$kernel" != none ] || {
		echo "no kernel is built yet: scripts/longfat build"
		return 4
	}
	[ -z "$kernel" ] || return 0
	kernel=$(PYTHONPATH=. "$PYTHON" -c \
		'from longfat.build import kernel; print(kernel.build() / "linux")' 2>"$tmp/err") && return
	echo "there is no kernel tree:"
	tail -n 20 "$tmp/err"
	return 1
}

# checkpatch FILE...: with the options in $options
checkpatch() {
	for file; do
		shift
		[ -e "$file" ] || {
			echo "no $file"
			return 1
		}
		! looked_at "$file" || set -- "$@" "$file"
	done
	[ $# -gt 0 ] || return 0
	# shellcheck disable=SC2086 # several options
	perl "$script" --no-summary --terse ${options:-} -f "$@"
}

check_c() {
	some .c .h || return
	need perl "make deps" || return
	find_kernel || return
	script=$kernel/scripts/checkpatch.pl
	[ -e "$script" ] || script=$kernel/source/scripts/checkpatch.pl
	status=0

	# An algorithm tells trace.h its reasons and fields in lists for the preprocessor, and
	# composite has its table of reciprocals by one.
	options="--ignore COMPLEX_MACRO,MACRO_ARG_REUSE"
	# shellcheck disable=SC2086 # a list, as below
	checkpatch $sources || status=1
	for file in include/longfat/*.h; do
		case $file in
		*/trace.h)
			# All of it is machinery for the preprocessor, in the style of the
			# kernel's own trace headers, on which checkpatch is as mistaken.
			options="--ignore COMPLEX_MACRO,SPACING,TRAILING_SEMICOLON"
			options="$options,MULTISTATEMENT_MACRO_USE_DO_WHILE,OPEN_ENDED_LINE"
			options="$options,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE"
			options="$options,PARENTHESIS_ALIGNMENT"
			;;
		# The argument is a name that is pasted and made a string.
		*/params.h | */register.h) options="--ignore MACRO_ARG_REUSE" ;;
		# In a module most of it is nothing, or the head of a loop.
		*/bounds.h) options="--ignore COMPLEX_MACRO,MACRO_ARG_UNUSED" ;;
		*) options= ;;
		esac
		checkpatch "$file" || status=1
	done
	options=
	[ ! -d tests/kunit ] || checkpatch tests/kunit/*.[ch] tests/bench/*.c tests/defects/*.c || status=1
	# These are programs: libc's types and attributes, its names in messages, %m, and
	# a sscanf() of which the caller looks at the count.
	options="--ignore PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,AVOID_EXTERNS"
	options="$options,EMBEDDED_FUNCTION_NAME,NAKED_SSCANF,MULTIPLE_ASSIGNMENTS"
	# It takes the exponent of the number 0x1p-53 for a subtraction.
	options="$options,SPACING"
	# The kernel itself has a struct Qdisc, for which checkpatch keeps a list of its own.
	options="$options,CAMELCASE"
	checkpatch longfat/guest/*.c || status=1
	rm -f .checkpatch-camelcase.*
	# The kernel's names are macros and types here; libc's are called as they are.
	options="$options,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE,NEW_TYPEDEFS"
	options="$options,MACRO_WITH_FLOW_CONTROL,TRAILING_SEMICOLON,MACRO_ARG_UNUSED"
	checkpatch tests/fuzz/*.[ch] tests/shim/*/*.h || status=1
	# What a map holds changes by itself; a message is as long as it has to be.
	options="$options,VOLATILE,LONG_LINE_STRING,MULTISTATEMENT_MACRO_USE_DO_WHILE"
	options="$options,LINE_SPACING"
	checkpatch bpf/*.c bpf/*/*/*.h tests/bpf/*.[ch] || status=1
	return "$status"
}

check_sparse() {
	[ -z "$chosen" ] || {
		echo "it takes a build: make check SUITE=lint"
		return 4
	}
	need sparse "make deps" || return
	need make "make deps" || return
	find_kernel || return
	copy=$tmp/tree
	mkdir "$copy"
	# shellcheck disable=SC2086
	cp -R $sources Kbuild include "$copy" || return 1
	make -C "$kernel" ARCH=um M="$copy" C=2 CF=-D__CHECK_ENDIAN__ W=1 \
		>"$tmp/build" 2>&1 || {
		tail -n 40 "$tmp/build"
		return 1
	}
	for file in $sources; do
		grep -q "CHECK  *$copy/$file\$" "$tmp/build" || {
			echo "sparse did not see $file:"
			tail -n 20 "$tmp/build"
			return 1
		}
	done
	# The kernel's own headers are not ours to mend.
	! grep -E "^$copy/.*(warning|error):" "$tmp/build" | sed "s|^$copy/||" | grep .
}

check_shell() {
	need shellcheck "make deps" || return
	files | while IFS= read -r file; do
		case $file in
		*.sh) echo "$file" ;;
		*) ! head -n 1 "$file" | tr -d '\0' | grep -qE '^#!.*[/ ](ba|da)?sh\b' ||
			echo "$file" ;;
		esac
	done >"$tmp/scripts"
	[ "$chosen" ] || grep -qx tests/lint.sh "$tmp/scripts" || {
		echo "the search for scripts does not find this one"
		return 1
	}
	[ -s "$tmp/scripts" ] || {
		echo "none of these files is a script"
		return 4
	}
	xargs -d '\n' shellcheck -f gcc <"$tmp/scripts"
}

# Both need what scripts/longfat puts into its environment for tests.
from="run it by \`scripts/longfat check lint\`"

check_ruff() {
	need ruff "$from" || return
	some .py || return
	if [ "$chosen" ]; then
		files | grep '\.py$' | xargs -d '\n' ruff "$@" --no-cache --quiet
	else
		ruff "$@" --no-cache --quiet longfat tests hatch_build.py
	fi
}

check_types() {
	need mypy "$from" || return
	some .py || return
	set --
	for path in tests/*.py tests/bench/*.py tests/unit; do
		[ ! -e "$path" ] || set -- "$@" "$path"
	done
	types mypy longfat hatch_build.py "$@" && types mypy-lab tests/lab
}

# types CACHE FILE...: in a cache of its own, as both have a module conftest
types() {
	kept=${XDG_CACHE_HOME:-$HOME/.cache}/longfat/$1
	shift
	mypy --strict --no-error-summary --no-color-output --cache-dir "$kept" "$@"
}

# Algorithms probe headers (include/longfat/probe.mk): distributions backport.
check_versions() {
	# shellcheck disable=SC2086
	! grep -nE 'LINUX_VERSION|KERNEL_VERSION|UTS_RELEASE|linux/version\.h' $sources
}

# Every page, those made from the sources too.  Whether a page that one refers to is
# installed is this machine's affair.
check_man() {
	some .1 .4 .c || return
	need mandoc "make deps" || return
	mkdir "$tmp/man"
	cp man/* "$tmp/man" || return 1
	for file in $sources; do
		scripts/man.sh "$file" >"$tmp/man/${file%.c}.4" || return 1
	done
	mandoc -T lint "$tmp/man"/* 2>&1 | grep -vE 'referenced manual not found|mandoc\.db' \
		>"$tmp/lint"
	sed "s|^mandoc: $tmp/man/||" "$tmp/lint" && [ ! -s "$tmp/lint" ]
}

check_notes() {
	# In two parts, or this file would be found.
	files | tr '\n' '\0' | xargs -0 grep -HInwE 'TO''DO|FIX''ME|X''XX' >"$tmp/notes"
	status=$?
	cat "$tmp/notes"
	# grep: 0 found some, 1 none; xargs makes 123 of the latter.
	[ ! -s "$tmp/notes" ] && { [ "$status" -eq 1 ] || [ "$status" -eq 123 ]; }
}

echo "KTAP version 1"
echo "1..9"
result checkpatch check_c
result sparse check_sparse
result shellcheck check_shell
result "ruff check" check_ruff check --output-format concise
result "ruff format" check_ruff format --check
result mypy check_types
result "manual pages" check_man
result "no kernel versions in algorithms" check_versions
result "no notes to ourselves" check_notes
exit $failed
