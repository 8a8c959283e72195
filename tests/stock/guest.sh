#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh MODULE:ALGORITHM,...: the stock-kernel acceptance, run as root in a guest
# (by tests/stock.py) whose /lib/modules holds our modules.  KTAP.
#
#	CASES	the cases to run for each module, instead of all
#	EXCEPT	those of them to leave out
#	TURNS	those of them that one module has, another one for each
#
# A case is a function here or a case of sockets.py.  All run for the first algorithm
# of a module; for its other names those in which a name matters.
# shellcheck disable=SC2317 # functions that result() calls by name
here=$(dirname "$0")
# shellcheck source=tests/stock/ktap.sh
. "$here/ktap.sh"
mark="longfat: acceptance begins"

ALL="load autoload autoload_setsockopt autoload_nobody one_socket iperf ss_shows unprivileged
rights in_use uninstall parameters load_refused trace bpftrace before_first_ack syn_lost listener reconnect storm idle hostile
namespace"
NAMES="load autoload autoload_setsockopt one_socket unprivileged"
# The kernel never lets go of the module after it, so it is a module's last.
LAST="namespace"

unload() {
	[ ! -d "/sys/module/$module" ] || rmmod "$module"
}

# Anew for each case: loaded, nobody's default, and restricted.
reload() {
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
	unload && modprobe "$module"
}

cc() {
	cat "/proc/sys/net/ipv4/tcp_${1}congestion_control"
}

# listed NAME WORDS: NAME is one of WORDS.
listed() {
	for word in $2; do
		[ "$word" != "$1" ] || return 0
	done
	return 1
}

# await FILE PATTERN: read lines until one matches PATTERN; fails at the end of FILE.
await() {
	while IFS= read -r line; do
		# shellcheck disable=SC2254 # a pattern it is
		case $line in $2) return 0 ;; esac
	done <"$1"
	return 1
}

# --- the cases, for $module and $algorithm -----------------------------------

load() {
	unload || die "rmmod failed"
	listed "$algorithm" "$(cc available_)" && die "it is there without its module"
	modprobe "$module" || die "modprobe failed"
	listed "$algorithm" "$(cc available_)" || die "available: $(cc available_)"
	listed "$algorithm" "$(cc allowed_)" && die "not restricted: $(cc allowed_)"
	[ "$(cc '')" = cubic ] || die "the default became $(cc '')"
}

autoload() {
	unload || die "rmmod failed"
	sysctl -w "net.ipv4.tcp_congestion_control=$algorithm" || die "sysctl failed"
	[ "$(cc '')" = "$algorithm" ] || die "the default is $(cc '')"
	[ -d "/sys/module/$module" ] || die "no module $module was loaded"
	rmmod "$module" && die "rmmod took the default away"
	sysctl -w net.ipv4.tcp_congestion_control=cubic
	rmmod "$module" || die "rmmod failed, and it is nobody's default any more"
}

autoload_setsockopt() {
	unload || die "rmmod failed"
	python3 "$here/sockets.py" autoload_setsockopt "$algorithm" "$module"
}

autoload_nobody() {
	unload || die "rmmod failed"
	python3 "$here/sockets.py" autoload_nobody "$algorithm" "$module"
}

# Refused while a socket or a namespace uses it, with their names; nothing is removed.
uninstall() {
	reload || die "not loaded"
	ip netns add lf-user
	rm -f "$tmp/holder"
	mkfifo "$tmp/holder"
	ip netns exec lf-user python3 -c "
import socket
s = socket.create_server(('127.0.0.1', 7000))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'$algorithm')
print('holds it', flush=True)
s.accept()" >"$tmp/holder" 2>&1 &
	holder=$!
	await "$tmp/holder" "holds it" || die "nobody holds it"
	sysctl -qw "net.ipv4.tcp_congestion_control=$algorithm"
	# What it would remove, it would from here; the modules of the next cases are there.
	said=$(cd "$here/../.." && scripts/install.sh uninstall "$(uname -r)" "$module" 2>&1)
	status=$?
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
	kill "$holder"
	wait
	ip netns del lf-user
	[ "$status" != 0 ] || die "it was uninstalled: $said"
	for part in "nothing was removed." "$algorithm is in use:" \
		"net.ipv4.tcp_congestion_control=$algorithm is its default" \
		"lf-user: socket LISTEN "; do
		case $said in *"$part"*) ;; *) die "no '$part': $said" ;; esac
	done
	[ -e "$(modinfo -F filename "$module")" ] || die "its file was removed"
	unload || die "rmmod failed, and nobody uses it any more"
}

# An iperf3 server for one test; returns when it listens.
serve() {
	rm -f "$tmp/server"
	mkfifo "$tmp/server"
	iperf3 -s -1 --forceflush >"$tmp/server" 2>&1 &
	# Held open, and far from full: the server never waits for a reader.
	exec 3<>"$tmp/server"
	await "$tmp/server" "Server listening*"
}

iperf() {
	serve || die "no iperf3 server"
	iperf3 -c 127.0.0.1 -C "$algorithm" -J -n 4M >"$tmp/json" || die "$(cat "$tmp/json")"
	wait
	used=$(sed -n 's/.*"sender_tcp_congestion":[^"]*"\(.*\)".*/\1/p' "$tmp/json")
	[ "$used" = "$algorithm" ] || die "iperf3 -C $algorithm reports '$used'"
}

ss_shows() {
	serve || die "no iperf3 server"
	mkfifo "$tmp/client"
	iperf3 -c 127.0.0.1 -C "$algorithm" -t 60 -i 0.2 --forceflush >"$tmp/client" 2>&1 &
	client=$!
	exec 4<>"$tmp/client"
	await "$tmp/client" "*sec*" || die "no transfer"
	ss -tinH dport = 5201 >"$tmp/ss"
	kill "$client"
	wait
	rm "$tmp/client"
	grep -q "[[:space:]]$algorithm .*bytes_sent" "$tmp/ss" || die "$(cat "$tmp/ss")"
}

# refused PARAMETER VALUE WHY: the kernel refuses it with WHY, and keeps the old one.
refused() {
	read -r old <"$1"
	said=$(printf '%s\n' "$2" | tee "$1" 2>&1 >/dev/null) && die "$1 took '$2'"
	case $said in *": $3") ;; *) die "'$2' to $1: $said; should be: $3" ;; esac
	read -r now <"$1"
	[ "$now" = "$old" ] || die "'$2' was refused and changed $1: $old, now $now"
	bad=$((bad + 1))
}

# The range of parameter $1, "MIN MAX", if its description has one.
range() {
	modinfo -F parm "$module" | sed -n "s/^$1:.*(\([0-9]*\) to \([0-9]*\)[,)].*/\1 \2/p"
}

complaints() {
	dmesg | grep -c "$module: .* refused: valid is"
}

parameters() {
	reload || die "not loaded"
	[ -d "/sys/module/$module/parameters" ] || return 0
	before=$(complaints)
	bad=0
	for file in "/sys/module/$module/parameters"/*; do
		read -r value <"$file"
		[ -n "$value" ] || die "$file has no value"
		refused "$file" garbage "Invalid argument"
		refused "$file" "" "Invalid argument"
		limits=$(range "${file##*/}")
		if [ -n "$limits" ]; then
			min=${limits% *}
			max=${limits#* }
			refused "$file" -1 "Invalid argument"
			refused "$file" 99999999999 "Numerical result out of range"
			refused "$file" $((max + 1)) "Numerical result out of range"
			[ "$min" = 0 ] || refused "$file" $((min - 1)) "Numerical result out of range"
			for good in "$min" "$max" "$value"; do
				echo "$good" >"$file" || die "$file refused $good"
				read -r now <"$file"
				[ "$now" = "$good" ] || die "$file: $good became $now"
			done
		fi
	done
	lines=$(($(complaints) - before))
	[ "$lines" = "$bad" ] || die "$bad values refused, $lines lines in the log"
}

load_refused() {
	reload || die "not loaded"
	[ -d "/sys/module/$module/parameters" ] || return 0
	set --
	for file in "/sys/module/$module/parameters"/*; do
		limits=$(range "${file##*/}")
		set -- "$@" "${file##*/}=garbage" ${limits:+"${file##*/}=$((${limits#* } + 1))"}
		case $limits in [1-9]*) set -- "$@" "${file##*/}=0" ;; esac
	done
	unload || die "rmmod failed"
	object=$(modinfo -F filename "$module")
	before=$(complaints)
	for setting; do
		insmod "$object" "$setting" && die "insmod took $setting"
		[ ! -d "/sys/module/$module" ] || die "refused $setting, and is loaded"
	done
	lines=$(($(complaints) - before))
	[ "$lines" = $# ] || die "$# settings refused, $lines lines in the log: $*"
	modprobe "$module"
}

# observed SCRIPT WORD: the bpftrace script SCRIPT, or that of `decisions SCRIPT`, shows the connection of a transfer over a
# path with delay and loss, in a line that has WORD.
observed() {
	script=$here/../../scripts/bpftrace/$1
	if [ ! -e "$script" ]; then
		"${script%/*}/decisions" -p "$1" >"$tmp/$1.bt" || die "no script for $1"
		script=$tmp/$1.bt
	fi
	timeout 300 bpftrace "$script" \
		-c "/usr/bin/python3 $here/sockets.py observed $algorithm $module" \
		>"$tmp/observed" 2>&1 || die "$1: $(cat "$tmp/observed")"
	port=$(sed -n 's/^port //p' "$tmp/observed")
	grep -E '^ *[0-9]+ ' "$tmp/observed" | grep -w "$port" | grep -q "$2" ||
		die "$1 does not show port $port with $2: $(tail -n 30 "$tmp/observed")"
}

# scripts WORD SCRIPT...: each of them shows that.
scripts() {
	word=$1
	shift
	modprobe "$module" || die "not loaded"
	mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
	tc qdisc replace dev lo root netem delay 5ms loss 1% limit 10000 || die "no netem"
	status=0
	for script; do
		(observed "$script" "$word") || status=1
		word=
	done
	tc qdisc del dev lo root
	return "$status"
}

# Everything from level warning up since we began, but for
#	what the kernel says of any module that is not its own and not signed,
#	our own line for each bad parameter that the cases above gave, and the kernel's
#	for those that it would not load with,
#	and what a slow emulated machine makes the kernel say of its clocks.
quiet() {
	dmesg --level=emerg,alert,crit,err,warn --notime >"$tmp/all"
	head -n "$boot" "$tmp/all" | cmp -s - "$tmp/boot" || die "the log lost its beginning"
	tail -n "+$((boot + 1))" "$tmp/all" |
		grep -v -e "loading out-of-tree module taints kernel" \
			-e "module verification failed: signature and/or required key missing" \
			-e "^tcp_[a-z0-9]*: .* refused: valid is " \
			-e "^tcp_[a-z0-9]*: .* invalid for parameter " \
			-e "^clocksource: " -e "^hrtimer: interrupt took " \
			-e "^perf: interrupt took too long" >"$tmp/left"
	[ ! -s "$tmp/left" ] || die "$(cat "$tmp/left")"
	[ "$(($(cat /proc/sys/kernel/tainted) & (1 << 7 | 1 << 9)))" = 0 ] || die "WARN or oops"
}

CASES=$(for case in ${CASES:-$ALL}; do listed "$case" "${EXCEPT-}" || echo "$case"; done)

# plan CASES AMONG: lines of the plan for those of CASES that are among AMONG, and that are this
# module's, the number of which is $turn.
plan() {
	next=0
	for case in $1; do
		if listed "$case" "${TURNS-}"; then
			next=$((next + 1))
			[ "$((next % modules))" = "$turn" ] || continue
		fi
		! listed "$case" "$2" || echo "$module $algorithm $case"
	done
}

modules=$#
turn=0
for names; do
	module=${names%%:*}
	names=${names#*:}
	first=${names%%,*}
	for algorithm in $(echo "$names" | tr , ' '); do
		among=$NAMES
		[ "$algorithm" != "$first" ] || among=$ALL
		plan "$CASES" "$among" | grep -vw "$LAST"
	done
	algorithm=$first
	plan "$CASES" "$LAST"
	turn=$((turn + 1))
done >"$tmp/plan"
# What follows any algorithm is run once.
! listed bpftrace "$CASES" || echo "$module $first bpftrace_any" >>"$tmp/plan"
echo "KTAP version 1"
echo "1..$(($(wc -l <"$tmp/plan") + 1))"

# Loopback with packets of an ordinary size, or a window would be a packet or two.
ip link set lo mtu 1500 up
for file in "/lib/modules/$(uname -r)/kernel/net/ipv4"/tcp_*.ko*; do
	file=${file##*/}
	modprobe "${file%%.*}"
done
echo "$mark" >/dev/kmsg
dmesg --level=emerg,alert,crit,err,warn --notime >"$tmp/boot"
boot=$(wc -l <"$tmp/boot")

while read -r module algorithm case <&9; do
	case $case in
	load | autoload | autoload_setsockopt | autoload_nobody | uninstall | iperf | ss_shows | parameters | load_refused)
		result "$algorithm: $case" "$case"
		;;
	bpftrace)
		# What a first loss is: a decrease, or the end of sabul's slow start.
		result "$algorithm: $case" scripts "decrease\| rate " "${module#tcp_}"
		;;
	bpftrace_any)
		result "$algorithm: $case" scripts "longfat:${module#tcp_}" events.bt tcp_probe.bt
		;;
	*)
		reload
		result "$algorithm: $case" \
			timeout 120 python3 "$here/sockets.py" "$case" "$algorithm" "$module"
		;;
	esac
done 9<"$tmp/plan"
result "nothing in the kernel's log" quiet
exit $failed
