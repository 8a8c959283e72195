#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bpf.sh: longfat-bpf on a stock kernel, as root in a guest (by tests/stock.py).  KTAP.
#
#	BPF	where tests/bpf/build.sh has put longfat-bpf and the rest (/bpf); with lf_replay.ko
#	CASES	the cases to run, instead of all
#	MEGABYTES	of each kind of path in "same", for fewer calls
#
# The last two cannot be taken back: no kernel takes modules behind them.
#
# shellcheck disable=SC2317,SC2016 # functions that result() calls by name; another shell's words
here=$(dirname "$0")
# shellcheck source=tests/stock/ktap.sh
. "$here/ktap.sh"
BPF=${BPF:-/bpf}
PATH=$BPF:$PATH
ALGORITHMS="ghstcp ltcp"
ALL="loads same parameters again another_layout settings trace trace_killed in_use is_default
is_default_elsewhere module_first bpf_first user no_btf no_jit no_struct_ops no_kfuncs no_ipv6 refused
no_bpffs cannot_mount killed twice service secure_boot no_modules"
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

# same ALGORITHM: each call of a hook in this kernel does what it does in a program that has the
# module's source; and so do the module itself and BPF, asked by this kernel.
same() {
	recording load "$1" || die "not loaded"
	unshare -n python3 "$here/../bpf/traffic.py" "$1" ${MEGABYTES:+"$MEGABYTES"} || die "no traffic"
	drain "$tmp/calls" || die "nothing recorded"
	longfat-bpf unload "$1" || die "not unloaded"
	"replay-$1" "$tmp/calls" >"$tmp/replayed" || die "$(cat "$tmp/replayed")"
	for hook in init cong_avoid ssthresh undo_cwnd tx_start; do
		! grep -q " $hook 0[, ]*" "$tmp/replayed" || die "no call of $hook"
	done
	echo "program: $(cat "$tmp/replayed")" >&3
	longfat-bpf load "$1" || die "not loaded to be asked"
	asked "$1" BPF || exit
	longfat-bpf unload "$1" || die "not unloaded behind it"
	modprobe "tcp_$1" || die "no module"
	asked "$1" module || exit
	rmmod "tcp_$1" || die "the module is still in use"
	# A difference would be seen: the last byte is of the state behind the last call.
	printf x | dd of="$tmp/calls" bs=1 seek=$(($(stat -c %s "$tmp/calls") - 1)) conv=notrunc status=none
	! "replay-$1" "$tmp/calls" || die "a difference is not seen"
}

# asked ALGORITHM WHAT: what has the name in this kernel does the recorded calls again.
asked() {
	insmod "$BPF/lf_replay.ko" algorithm="$1" || die "no replay"
	cat "$tmp/calls" >/proc/lf_replay || failed=1
	said=$(cat /proc/lf_replay)
	rmmod lf_replay
	echo "$2: $said" >&3
	[ "$said" = "$(cat "$tmp/replayed")" ] || die "$2: $said"
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

# What is loaded takes parameters as a new one would: those that are not named have their default.
again() {
	longfat-bpf --again load ltcp beta=300 || die "not loaded"
	longfat-bpf --again load ltcp window_threshold=99 || die "not a second time"
	longfat-bpf parameters ltcp | grep -e "^beta=150" -e "^window_threshold=99" -c | grep -qx 2 ||
		die "$(longfat-bpf parameters ltcp)"
	says "beta=0 refused" longfat-bpf --again load ltcp beta=0
	longfat-bpf unload ltcp || die "not unloaded"
}

# A longfat-bpf with other data in its maps is noticed; it can be unloaded.
another_layout() {
	another-layout load ltcp || die "not loaded"
	for words in "parameters ltcp" "set ltcp beta=1" "trace ltcp" "--again load ltcp"; do
		# shellcheck disable=SC2086 # words
		says "ltcp was loaded by another version of longfat-bpf" longfat-bpf $words
	done
	longfat-bpf unload ltcp || die "not unloaded"
	nothing
}

# A tracer of ghstcp that is ready: its output goes to $tmp/trace.
begin_trace() {
	rm -f "$tmp/ready"
	mkfifo "$tmp/ready"
	longfat-bpf trace ghstcp >"$tmp/trace" 2>"$tmp/ready" &
	tracer=$!
	head -n 1 "$tmp/ready" | grep -q tracing || die "it does not begin"
}

# One connection with $1, ghstcp if it is empty; process $2 is killed right before it.
connection() {
	python3 -c '
import os, socket, sys
if len(sys.argv) > 2:
    os.kill(int(sys.argv[2]), 9)
with socket.create_server(("127.0.0.1", 0)) as s, socket.socket() as c:
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
    c.connect(s.getsockname())
    p = s.accept()[0]
    c.sendall(bytes(10000))
    left = 10000
    while left:
        left -= len(p.recv(left))
' "${1:-ghstcp}" ${2:+"$2"}
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

# A trace that was killed: events end, and what is left of them is not the next one's.
trace_killed() {
	longfat-bpf load ghstcp || die "not loaded"
	begin_trace
	connection ghstcp "$tracer"
	wait "$tracer"
	[ "$(waiting)" -gt 0 ] || die "no events at once: what is tested?"
	sleep 6
	before=$(waiting)
	connection
	[ "$(waiting)" = "$before" ] || die "there are events, and nobody listens"
	begin_trace
	kill "$tracer"
	wait "$tracer"
	[ ! -s "$tmp/trace" ] || die "old events: $(cat "$tmp/trace")"
	longfat-bpf unload ghstcp
}

# Bytes of events that nobody has read.
waiting() {
	drain --size lf_events
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

# So it is for other namespaces, of a process or with a name.
is_default_elsewhere() {
	allowed=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
	longfat-bpf load ltcp || die "not loaded"
	# Only what is allowed for everybody can be the default of another namespace.
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="$allowed ltcp"
	ip netns add lf-named
	ip netns exec lf-named sysctl -qw net.ipv4.tcp_congestion_control=ltcp || die "not there"
	says "ltcp is the default in the network namespace lf-named" longfat-bpf unload ltcp
	ip netns exec lf-named sleep 1000 &
	sleeper=$!
	until [ "$(readlink "/proc/$sleeper/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do :; done
	ip netns del lf-named
	says "ltcp is the default in the network namespace of process $sleeper" longfat-bpf unload ltcp
	kill "$sleeper"
	wait "$sleeper"
	[ "$(readlink /proc/self/ns/net)" = "$(readlink /proc/1/ns/net)" ] || die "another namespace"
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="$allowed"
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
		sh "$BPF/build-longfat-bpf/ltcp.bpf.o" longfat-bpf load ltcp
	nothing
}

# unlike A B COMMAND...: with a BTF that says B where this kernel's says A
unlike() {
	sed "s/$1/$2/g" /sys/kernel/btf/vmlinux >"$tmp/btf"
	! cmp -s "$tmp/btf" /sys/kernel/btf/vmlinux || die "this kernel has no $1"
	shift 2
	unshare --mount sh -c 'mount --bind "$1" /sys/kernel/btf/vmlinux; shift; exec "$@"' \
		sh "$tmp/btf" "$@"
}

# From Linux 5.6 to 5.12.  Debian's 5.10 is one; the case too_old runs there.
no_kfuncs() {
	says "BPF cannot call functions of this kernel" \
		unlike bpf_kfunc_desc_tab bpf_another_thing_ longfat-bpf load ltcp
	nothing
}

too_old() {
	says "BPF cannot call functions of this kernel" longfat-bpf load ltcp
	says "BPF cannot call functions of this kernel" longfat-bpf load ghstcp
	nothing
}

# No verifier of Linux 5.13 to 6.0 is at hand, but 5.10's, which is older.  It takes what the kernel
# verifies elsewhere; what is called of the kernel is BPF there, and the BTF says that it could be.
old_verifier() {
	for name in $ALGORITHMS; do
		unlike bpf_struct_ops_map bpf_kfunc_desc_tab "$BPF/own-reno" load "$name" || die "refused"
		available "$name" || die "not available"
		connection "$name" || die "no connection with it"
		"$BPF/own-reno" unload "$name" || die "not unloaded"
	done
	nothing
}

# CONFIG_IPV6=n: there are no such members, and IPv4's events are as always.
no_ipv6() {
	unlike skc_v6_ xxx_v6_ longfat-bpf load ghstcp || die "not loaded"
	begin_trace
	connection
	kill "$tracer"
	wait "$tracer"
	grep -q "src=\[::ffff:127.0.0.1\]" "$tmp/trace" || die "$(cat "$tmp/trace")"
	longfat-bpf unload ghstcp
}

# What an old verifier says.
refused() {
	says "ltcp cannot be loaded: the kernel refuses it: " "$BPF/refused" load ltcp
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
		LONGFAT_KILL=$step LD_PRELOAD="$BPF/kill.so" longfat-bpf load ltcp && die "not killed"
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

# --- the service ------------------------------------------------------------

# systemd, as it boots in a container of this kernel; $booted is its process.
boot_systemd() {
	unshare --fork --kill-child --pid --mount --cgroup sh -c '
		mount -t proc proc /proc
		mount -t tmpfs run /run
		mount -t tmpfs tmp /tmp
		mount -t cgroup2 cgroup /sys/fs/cgroup
		exec env -i container=longfat /lib/systemd/systemd --unit=basic.target' \
		>"$tmp/systemd" 2>&1 </dev/null &
	until booted=$(pgrep -f "^/lib/systemd/systemd --unit=basic.target"); do sleep 0.2; done
	waited=0
	until inside systemctl is-active basic.target >/dev/null 2>&1; do
		sleep 1
		waited=$((waited + 1))
		[ "$waited" -lt 1200 ] || die "it does not boot: $(cat "$tmp/systemd"; inside systemctl)"
	done
}

inside() {
	nsenter -t "$booted" --mount --pid --cgroup env -u BPF PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# With it goes all that it started.
end_systemd() {
	kill -KILL "$booted"
	wait
}

# Loaded at boot with its parameters before sysctl names it; reloaded, stopped, and restarted
# where it is the default.
service() {
	unit=longfat-bpf@ltcp
	echo 'PARAMETERS="window_threshold=77 beta=200"' >/etc/default/longfat-bpf-ltcp
	echo net.ipv4.tcp_congestion_control=ltcp >/etc/sysctl.d/ltcp.conf
	systemctl enable "$unit" || die "not enabled"
	boot_systemd
	inside systemctl is-active "$unit" || die "$(inside systemctl status "$unit")"
	longfat-bpf parameters ltcp | grep -e "^window_threshold=77" -e "^beta=200" -c | grep -qx 2 ||
		die "$(longfat-bpf parameters ltcp)"
	[ "$(sysctl -n net.ipv4.tcp_congestion_control)" = ltcp ] || die "sysctl came before it"
	echo 'PARAMETERS="window_threshold=78"' >/etc/default/longfat-bpf-ltcp
	inside systemctl restart "$unit" || die "not restarted, as the default"
	longfat-bpf parameters ltcp | grep -e "^window_threshold=78" -e "^beta=150" -c | grep -qx 2 ||
		die "$(longfat-bpf parameters ltcp)"
	echo 'PARAMETERS="window_threshold=79"' >/etc/default/longfat-bpf-ltcp
	inside systemctl reload "$unit" || die "not reloaded"
	longfat-bpf parameters ltcp | grep -q "^window_threshold=79" || die "old parameters"
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
	inside systemctl stop "$unit" || die "not stopped"
	nothing
	echo 'PARAMETERS="beta=0"' >/etc/default/longfat-bpf-ltcp
	! inside systemctl start "$unit" || die "started with a bad parameter"
	inside journalctl -u "$unit" | grep -q "beta=0 refused: valid is" || die "no word of it"
	end_systemd
	rm /etc/default/longfat-bpf-ltcp /etc/sysctl.d/ltcp.conf
	systemctl disable "$unit"
}

# --- what cannot be taken back ------------------------------------------------

# not_loadable: the kernel refuses the module; BPF is loaded and used.
not_loadable() {
	said=$(insmod "$(modinfo -F filename tcp_ltcp)" 2>&1) && die "the module was loaded"
	echo "insmod tcp_ltcp.ko: ${said##*: }" >&3
	longfat-bpf load ltcp beta=300 || die "not loaded"
	python3 - <<-'END' || die "no connection has it"
		import socket
		with socket.create_server(("127.0.0.1", 0)) as s, socket.socket() as c:
		    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"ltcp")
		    c.connect(s.getsockname())
		    p = s.accept()[0]
		    c.sendall(b"x" * 10000)
		    assert p.recv(10000)
		    name = c.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
		    assert name.rstrip(b"\0") == b"ltcp", name
	END
	longfat-bpf list >&3
	longfat-bpf unload ltcp
	nothing
}

# Secure Boot puts Debian's kernel into lockdown; our module has no signature.
secure_boot() {
	mountpoint -q /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security
	echo integrity >/sys/kernel/security/lockdown || die "no lockdown"
	not_loadable
}

no_modules() {
	sysctl -qw kernel.modules_disabled=1 || die "it takes modules"
	not_loadable
}

quiet() {
	dmesg --level=emerg,alert,crit,err,warn --notime | tail -n "+$((boot + 1))" |
		grep -v -e "loading out-of-tree module taints kernel" \
			-e "module verification failed: signature and/or required key missing" \
			-e "^clocksource: " -e "^hrtimer: interrupt took " \
			-e "^perf: interrupt took too long" \
			-e "^device-mapper: core: CONFIG_IMA_DISABLE_HTABLE is disabled" \
			-e "^Lockdown: insmod: unsigned module loading is restricted" \
			-e "^Kernel is locked down from securityfs" >"$tmp/left"
	[ ! -s "$tmp/left" ] || die "$(cat "$tmp/left")"
}

# result(), and behind it what was measured.
measured() {
	result "$@"
	sed 's/^/# /' "$tmp/figures"
	: >"$tmp/figures"
}

# shellcheck disable=SC2086 # a list
set -- $CASES
echo "KTAP version 1"
case " $* " in *" same "*) echo "1..$(($# + 2))" ;; *) echo "1..$(($# + 1))" ;; esac
mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
modprobe sch_netem
exec 3>>"$tmp/figures"
dmesg --level=emerg,alert,crit,err,warn --notime >"$tmp/boot"
boot=$(wc -l <"$tmp/boot")
for case; do
	clean
	if [ "$case" = same ]; then
		for name in $ALGORITHMS; do
			measured "same $name" same "$name"
		done
	else
		measured "$case" "$case"
	fi
done
result "nothing in the kernel's log" quiet
exit $failed
