#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bpf.sh: longfat-bpf on a stock kernel, as root in a guest (by tests/stock.py).  KTAP.
#
#	/bpf	longfat-bpf; recording, the same, which writes down each call of a hook; drain and
#		replay-*, tests/bpf; kill.so, of kill.c there
#	CASES	the cases to run, instead of all
#
# shellcheck disable=SC2317,SC2016 # functions that result() calls by name; another shell's words
here=$(dirname "$0")
# shellcheck source=tests/stock/ktap.sh
. "$here/ktap.sh"
PATH=/bpf:$PATH
ALGORITHMS="ghstcp ltcp"
ALL="loads same parameters settings trace in_use is_default module_first bpf_first user no_btf no_jit
no_struct_ops no_bpffs cannot_mount killed twice"
CASES=${CASES:-$ALL}

available() {
	grep -qw "$1" /proc/sys/net/ipv4/tcp_available_congestion_control
}

# says PART COMMAND...: it fails, and says this in one line.
says() {
	part=$1
	shift
	said=$("$@" 2>&1) && die "$* succeeded"
	case $said in "longfat-bpf: "*"$part"*) ;; *) die "no '$part': $said" ;; esac
	[ "$(echo "$said" | wc -l)" = 1 ] || die "more than a line: $said"
}

# Nothing of an algorithm is there.
nothing() {
	for name in $ALGORITHMS; do
		! available "$name" || die "$name is registered"
		[ ! -e "/sys/fs/bpf/longfat/$name" ] || die "$name is pinned"
	done
}

# Whatever the case before has left.
clean() {
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
	for name in $ALGORITHMS; do
		! available "$name" || longfat-bpf unload "$name" || rmmod "tcp_$name"
	done >/dev/null 2>&1
}

loads() {
	for name in $ALGORITHMS; do
		longfat-bpf -v load "$name" || die "not loaded"
		available "$name" || die "not available"
		! grep -qw "$name" /proc/sys/net/ipv4/tcp_allowed_congestion_control ||
			die "not restricted"
	done
	longfat-bpf list | grep -c "	loaded$" | grep -qx 2 || die "$(longfat-bpf list)"
	for name in $ALGORITHMS; do
		longfat-bpf unload "$name" || die "not unloaded"
	done
	nothing
}

# same ALGORITHM: each call of a hook in this kernel does what it does in a program.
same() {
	/bpf/recording load "$1" || die "not loaded"
	unshare -n timeout 200 python3 "$here/../bpf/traffic.py" "$1" || die "no traffic"
	/bpf/drain "$tmp/calls" || die "nothing recorded"
	longfat-bpf unload "$1" || die "not unloaded"
	"/bpf/replay-$1" "$tmp/calls" >"$tmp/replayed" || die "$(cat "$tmp/replayed")"
	cat "$tmp/replayed" >&3
	for hook in init cong_avoid ssthresh undo_cwnd tx_start; do
		! grep -q " $hook 0[, ]*" "$tmp/replayed" || die "no call of $hook"
	done
}

parameters() {
	longfat-bpf load ltcp beta=300 rtt_alpha=1 || die "not loaded"
	longfat-bpf set ltcp one_layer=off beta=301 || die "not set"
	longfat-bpf parameters ltcp >"$tmp/now"
	for setting in beta=301 rtt_alpha=1 one_layer=N window_threshold=50; do
		grep -q "^$setting	" "$tmp/now" || die "not $setting: $(cat "$tmp/now")"
	done
	says "beta=0 refused: valid is 1 to 500" longfat-bpf set ltcp window_threshold=99 beta=0
	longfat-bpf parameters ltcp | cmp - "$tmp/now" || die "half of it was set"
	longfat-bpf unload ltcp
	says "ltcp is not loaded as BPF" longfat-bpf set ltcp beta=1
	longfat-bpf parameters ltcp | grep -q "^beta=150	" || die "no default"
}

# A tracer of ghstcp that is ready: its output goes to $tmp/trace.
begin_trace() {
	rm -f "$tmp/ready"
	mkfifo "$tmp/ready"
	longfat-bpf trace ghstcp >"$tmp/trace" 2>"$tmp/ready" &
	tracer=$!
	head -n 1 "$tmp/ready" | grep -q tracing || die "it does not begin"
}

# One connection with ghstcp.
connection() {
	python3 -c '
import socket
with socket.create_server(("127.0.0.1", 0)) as s, socket.socket() as c:
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ghstcp")
    c.connect(s.getsockname())
'
}

# A connection has the parameters that there were when it began.
settings() {
	longfat-bpf load ghstcp mode=reno || die "not loaded"
	begin_trace
	connection
	longfat-bpf set ghstcp mode=auto || die "not set"
	connection
	kill "$tracer"
	wait "$tracer"
	said=$(grep -o "reason=init .* mode=[01]" "$tmp/trace" | grep -o "mode=." | uniq | tr '\n' ' ')
	[ "$said" = "mode=1 mode=0 " ] || die "$said: $(cat "$tmp/trace")"
	longfat-bpf unload ghstcp
}

# One line for each decision, with the fields of the module's trace event.
trace() {
	longfat-bpf load ghstcp || die "not loaded"
	begin_trace
	says "ghstcp is traced already" longfat-bpf trace ghstcp
	connection
	kill "$tracer"
	wait "$tracer" || die "it failed"
	address='\[::ffff:127\.0\.0\.1\]:[0-9]+'
	fields="cwnd=10 ssthresh=2147483647 srtt_us=[0-9]+ min_rtt_us=[0-9]+"
	fields="$fields mode=0 rtt_us=[0-9]+ min_us=0 std_us=0 low_us=0 high_us=0 r_permille=0"
	grep -qE "^[0-9]+\.[0-9]{6}: longfat:ghstcp: src=$address dest=$address reason=init $fields$" \
		"$tmp/trace" || die "$(cat "$tmp/trace")"
	longfat-bpf unload ghstcp
}

# A connection that has it goes on; the name is free.
in_use() {
	longfat-bpf load ltcp || die "not loaded"
	python3 - <<-'END' || die "the connection does not go on"
		import socket, subprocess
		with socket.create_server(("127.0.0.1", 0)) as s, socket.socket() as c:
		    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ltcp")
		    c.connect(s.getsockname())
		    p = s.accept()[0]
		    subprocess.run(["longfat-bpf", "unload", "ltcp"], check=True)
		    for _ in range(100):
		        c.sendall(b"x" * 10000)
		        got = 0
		        while got < 10000:
		            got += len(p.recv(10000))
		    name = c.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
		    assert name.rstrip(b"\0") == b"ltcp", name
	END
	! available ltcp || die "it is still registered"
	longfat-bpf load ltcp || die "not loaded again"
	longfat-bpf unload ltcp
}

is_default() {
	longfat-bpf load ltcp || die "not loaded"
	sysctl -qw net.ipv4.tcp_congestion_control=ltcp || die "it cannot be the default"
	says "ltcp is the default here" longfat-bpf unload ltcp
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
	longfat-bpf unload ltcp || die "not unloaded"
}

module_first() {
	modprobe tcp_ltcp || die "no module"
	says "ltcp is taken" longfat-bpf load ltcp
	says "ltcp is not loaded as BPF, but registered otherwise" longfat-bpf unload ltcp
	longfat-bpf list | grep -q "^ltcp	not loaded: the name is taken" || die "$(longfat-bpf list)"
	rmmod tcp_ltcp
	nothing
}

bpf_first() {
	longfat-bpf load ltcp || die "not loaded"
	said=$(insmod "$(modinfo -F filename tcp_ltcp)" 2>&1) && die "both are there"
	case $said in *"File exists"*) ;; *) die "$said" ;; esac
	[ ! -d /sys/module/tcp_ltcp ] || die "the module stayed"
	longfat-bpf unload ltcp
	modprobe tcp_ltcp || die "the module cannot be loaded now"
	rmmod tcp_ltcp
}

user() {
	for words in "load ltcp" "unload ltcp" list; do
		# shellcheck disable=SC2086 # words
		says "is root's: sudo longfat-bpf $words" \
			setpriv --reuid 65534 --clear-groups longfat-bpf $words
	done
	# A user that is root of a namespace is none of the kernel's.
	says cannot setpriv --reuid 65534 --clear-groups \
		unshare --user --map-root-user longfat-bpf load ltcp
	nothing
}

# without PATH COMMAND...: with nothing in the directory PATH
without() {
	path=$1
	shift
	unshare --mount sh -c 'mount -t tmpfs none "$1"; shift; exec "$@"' sh "$path" "$@"
}

no_btf() {
	says "this kernel has no BTF" without /sys/kernel/btf longfat-bpf load ltcp
	nothing
}

# A kernel whose files say so: this one's cannot be changed.
no_jit() {
	mkdir -p "$tmp/core"
	echo 0 >"$tmp/core/bpf_jit_enable"
	says "the BPF JIT is off" unshare --mount sh -c \
		'mount --bind "$1" /proc/sys/net/core; shift; exec "$@"' sh "$tmp/core" longfat-bpf load ltcp
	nothing
}

# The BTF of an object is that of a kernel which has none of the rest.
no_struct_ops() {
	says "takes no congestion control as BPF" unshare --mount sh -c \
		'mount --bind "$1" /sys/kernel/btf/vmlinux; shift; exec "$@"' \
		sh /bpf/ltcp.bpf.o longfat-bpf load ltcp
	nothing
}

no_bpffs() {
	unshare --mount sh -c 'umount -l /sys/fs/bpf 2>/dev/null; set -e
		longfat-bpf load ltcp; longfat-bpf list | grep -q "^ltcp	loaded"; longfat-bpf unload ltcp' ||
		die "not without bpffs"
	nothing
}

cannot_mount() {
	says "there is no bpffs" without /sys/fs longfat-bpf load ltcp
	nothing
}

# Killed at each of its steps, the next load is as the first.
killed() {
	for step in bpf_object__load bpf_map__pin bpf_map__attach_struct_ops; do
		LONGFAT_KILL=$step LD_PRELOAD=/bpf/kill.so longfat-bpf load ltcp && die "not killed"
		! available ltcp || die "registered, and killed at $step"
		longfat-bpf list | grep -q "^ltcp	not loaded$" || die "$step: $(longfat-bpf list)"
		longfat-bpf load ltcp || die "$step: not loaded again"
		longfat-bpf unload ltcp || die "$step: not unloaded"
	done
	nothing
}

twice() {
	longfat-bpf load ltcp || die "not loaded"
	says "ltcp is loaded already" longfat-bpf load ltcp
	longfat-bpf unload ltcp
	says "ltcp is not loaded as BPF" longfat-bpf unload ltcp
}

quiet() {
	dmesg --level=emerg,alert,crit,err,warn --notime | tail -n "+$((boot + 1))" |
		grep -v -e "loading out-of-tree module taints kernel" \
			-e "module verification failed: signature and/or required key missing" \
			-e "^clocksource: " -e "^hrtimer: interrupt took " \
			-e "^perf: interrupt took too long" >"$tmp/left"
	[ ! -s "$tmp/left" ] || die "$(cat "$tmp/left")"
}

# shellcheck disable=SC2086 # a list
set -- $CASES
echo "KTAP version 1"
case " $* " in *" same "*) echo "1..$(($# + 2))" ;; *) echo "1..$(($# + 1))" ;; esac
mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
modprobe sch_netem
# What a case measures is a diagnostic.
exec 3>"$tmp/figures"
dmesg --level=emerg,alert,crit,err,warn --notime >"$tmp/boot"
boot=$(wc -l <"$tmp/boot")
for case; do
	clean
	if [ "$case" = same ]; then
		for name in $ALGORITHMS; do
			result "same $name" same "$name"
		done
	else
		result "$case" "$case"
	fi
	sed 's/^/# /' "$tmp/figures"
	: >"$tmp/figures"
done
result "nothing in the kernel's log" quiet
exit $failed
