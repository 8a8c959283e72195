#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pair.sh OUT ROLE [CASE...]: the ssh backend, and `longfat measure`, between two virtual machines (by
# tests/machines.py), as root in each of them: near, which has the lab, and far.  Both have Debian's
# package of our modules, sshd and iperf3.  PYTHONPATH has the lab and what it needs.  KTAP from near,
# which starts itself again for each case.
#
# Emulated, a handshake of ssh's takes seconds.  So the scripts' own commands for far have a
# connection that stays, and time is looked at, not counted in turns.  It is that since the boot,
# as the clocks are set.
#
# shellcheck disable=SC2317 # functions that result() calls by name
#
# OUT is the same directory for both.  What near wants of the emulator of far it asks for by a file
# there: OUT/stop, OUT/cont and OUT/quit; tests/machines.py adds .done to its name when that is done.
# shellcheck source=tests/stock/ktap.sh
. "$(dirname "$0")/ktap.sh"
# shellcheck source=tests/stock/path.sh
. "$(dirname "$0")/path.sh"
out=$1
role=$2
near="10.77.1.1"
far="10.77.2.1"
ltcp=/sys/module/tcp_ltcp

lab() {
	python3 -B -m longfat "$@"
}

seconds() {
	read -r since _ </proc/uptime
	echo "${since%.*}"
}

# await SECONDS COMMAND...: until it is true
await() {
	end=$(($(seconds) + $1))
	within=$1
	shift
	until "$@"; do
		[ "$(seconds)" -lt "$end" ] || die "after $within s there is not: $*"
		sleep 0.5
	done
}

found() {
	"$@" >/dev/null 2>&1
}

listens() {
	ss -Hltn "sport = :$1" | grep -q .
}

# The clocks are two hours apart.
clock() {
	date -s "$(date -d "$1" '+%F %T')" >/dev/null
}

# The network card that both emulators know.
card() {
	modprobe virtio_net
	await 60 found ls /sys/bus/virtio/drivers/virtio_net/virtio*/net
	basename /sys/bus/virtio/drivers/virtio_net/virtio*/net/*
}

server() {
	mkdir -p /run/sshd /root/.ssh
	rm -f /run/nologin
	ssh-keygen -q -A
	# The other machine may boot much later.
	await 1800 found cp "$out/key.pub" /root/.ssh/authorized_keys
	chmod -R go= /root/.ssh
	/usr/sbin/sshd -E /run/sshd.log
	await 60 listens 22
}

be_far() {
	clock '1 hour'
	ip netns add path
	ip link set "$(card)" name west netns path
	ip link add east netns path type veth peer name eth0
	ip addr add $far/24 dev eth0
	ip link set lo up
	ip link set eth0 up
	ip route add default via 10.77.2.2
	ethtool -K eth0 tso off gso off gro off >/dev/null
	router
	shape 0%
	server
	iperf3 --server >/dev/null 2>&1 &
	await 60 listens 5201
	touch "$out/far.ready"
	echo "# far is ready after $(seconds) s"
	# It is ended from without.
	sleep infinity
}

joined() {
	ip addr replace $near/24 dev eth0
	ip route replace default via 10.77.1.2
}

be_near() {
	clock '1 hour ago'
	ip link set "$(card)" name eth0
	ip link set lo up
	ip link set eth0 up
	joined
	# As `measure` proposes.
	tc qdisc replace dev eth0 root fq
	sysctl -qw net.ipv4.tcp_no_metrics_save=1
	mkdir -p /root/.ssh
	ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
	cp /root/.ssh/id_ed25519.pub "$out/key.new"
	mv "$out/key.new" "$out/key.pub"
	cat >/root/.ssh/config <<END
Host near
	HostName $near
Host far
	HostName $far
Host *
	StrictHostKeyChecking accept-new
	BatchMode yes
	ConnectTimeout 60
	ServerAliveInterval 5
	ServerAliveCountMax 3
END
	server
	echo "# near is ready after $(seconds) s"
	await 1800 test -e "$out/far.ready"
	await 300 at_far true
	printf '[sender]\nssh = "near"\n[receiver]\nssh = "far"\naddress = "%s"\nport = 5301\n' \
		$far >/root/to-far.toml
	printf '[sender]\nssh = "far"\n[receiver]\nssh = "near"\naddress = "%s"\nport = 5301\n' \
		$near >/root/to-near.toml
}

# Over a connection that is there already, if there is one.
at_far() {
	ssh -n -o ControlMaster=auto -o ControlPersist=yes -o ControlPath=/run/to-far far "$@"
}

# What is to be cut must not hold this one, too.
leave_far() {
	ssh -o ControlPath=/run/to-far -O exit far
}

# All that an experiment may change at one end.
# shellcheck disable=SC2016 # for a shell at each end
settings='
	cd /proc/sys/net/ipv4 && grep -s . tcp_* | grep -v available
	sed -n "s/^\(tcp_[a-z]*\) .*/module \1/p" /proc/modules
	for left in /tmp/longfat.*; do [ ! -e "$left" ] || echo "$left"; done
	# Who is dead is not there: the first process of this guest waits for nobody.
	ps -o stat=,args= -C iperf3 | grep -v "^Z" | grep -v -- --server$
	true'

# look WHEN END: to /run/WHEN.END
look() {
	case $2 in
	near) sh -c "$settings" ;;
	far) at_far "$settings" ;;
	esac >"/run/$1.$2"
}

# Nothing is under way from an earlier case.
calm() {
	look before near && look before far && ! grep -q "^/tmp/longfat" /run/before.*
}

# as_before END...
as_before() {
	for end_of; do
		look now "$end_of" 2>/dev/null &&
			cmp -s "/run/before.$end_of" "/run/now.$end_of" || return
	done
}

# put_back SECONDS END...: it is as before there, after so long at most
put_back() {
	(await "$1" as_before "$2" ${3:+"$3"}) && return
	shift
	for end_of; do
		echo "what $end_of had, and what it has:"
		diff "/run/before.$end_of" "/run/now.$end_of"
	done
	die "that is left"
}

scenario() {
	cat >"/root/$1.toml" <<END
title = "by ssh"
duration = "$2s"
warmup = "1s"
[link]
rate = "50mbit"
buffer = "0.5bdp"
[host.sysctl]
"net.ipv4.tcp_reordering" = 5
[[flow]]
cc = "ltcp"
rtt = "60ms"
[module.ltcp]
beta = 200
END
}

# over_ssh NAME OPTION...: a run, which leaves nothing behind
over_ssh() {
	name=$1
	shift
	scenario "$name" 4
	lab run "/root/$name.toml" --backend ssh --hosts /root/to-far.toml "$@" -o "$out/ssh" ||
		die "it failed; sshd said: $(tail -n 3 /run/sshd.log)"
	[ -s "$out/ssh/$name-s1.json" ] || die "no result"
	put_back 0 near far
}

# A run that would take ten minutes: $lab is its process, once it is in the middle.
begun() {
	scenario "$1" 600
	# What a shell starts in the background is deaf to Ctrl-C.
	env --default-signal=INT python3 -B -m longfat run "/root/$1.toml" --backend ssh \
		--hosts "/root/$2.toml" -o "$out/ssh" >"$tmp/lab" 2>&1 &
	lab=$!
	await 300 connected
}

connected() {
	kill -0 "$lab" || die "it failed: $(cat "$tmp/lab")"
	ss -Hnt state established "( dport = :5301 or sport = :5301 )" | grep -q .
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# Who of the lab, its ssh and iperf3 sees first that nothing comes any more says so.
lost="the connection was lost\|Timeout, server\|timed out"

# ended STATUS WORDS: the lab ends so, and says so
ended() {
	(await 240 gone "$lab") || die "it said so far: $(cat "$tmp/lab")"
	wait "$lab"
	status=$?
	[ "$status" = "$1" ] || die "exit status $status and not $1: $(cat "$tmp/lab")"
	grep -q "$2" "$tmp/lab" || die "it did not say '$2': $(cat "$tmp/lab")"
}

interrupted() {
	begun interrupted to-far
	[ "$(cat "$ltcp/parameters/beta")" = 200 ] || die "the parameter is not set"
	at_far sysctl -n net.ipv4.tcp_reordering | grep -qx 5 || die "the sysctl is not set at far"
	kill -INT "$lab"
	ended 130 ""
	put_back 0 near far
}

killed() {
	begun killed to-far
	kill -KILL "$lab"
	wait "$lab"
	put_back 300 near far
}

# Nothing passes any more, and nobody is told.
cut_off() {
	begun cut to-far
	leave_far
	ip addr del "$near/24" dev eth0
	ended 1 "$lost"
	joined
	put_back 300 near far
}

emulator() {
	touch "$out/$1"
	await 120 test -e "$out/$1.done"
}

# The other machine hangs, and comes back when everybody has given it up.
hung() {
	begun hung to-near
	leave_far
	emulator stop
	ended 1 "$lost"
	put_back 0 near
	emulator cont
	put_back 300 near far
}

unload='
	rmmod tcp_ltcp tcp_ghstcp 2>/dev/null
	! grep -q "^tcp_\(ltcp\|ghstcp\) " /proc/modules'

# measured NAME LOSS WRITTEN: with so much loss; a pattern for what the scenario has of it
measured() {
	name=$1
	lossy "$2" || die "the path's loss cannot be set"
	# What the kernel loads here for root goes by itself.
	lab measure "$far" -C ltcp,ghstcp,cubic --rounds 7 --seconds 30 --save "$out/$name.toml" \
		-o "$out/$name" >"$out/$name.said" 2>&1
	status=$?
	cat "$out/$name.said"
	lossy 0% || die "the path's loss cannot be put back"
	# A server that is root loads what it is asked for, if that is installed, and keeps it.
	await 150 at_far "$unload"
	[ "$status" = 0 ] || die "exit status $status"
	for wanted in '^rtt = "[67]' "$3"; do
		grep -q "$wanted" "$out/$name.toml" ||
			die "that is not the path: $(cat "$out/$name.toml")"
	done
	put_back 0 near far
}

lossy() {
	at_far ". '$(dirname "$0")/path.sh' && shape $1"
}

# The other machine is gone for good.
crashed() {
	begun crashed to-far
	leave_far
	emulator quit
	ended 1 "$lost"
	put_back 0 near
}

# part SECONDS NAME COMMAND...: a result, which fails after so long
part() {
	echo "# begins after $(seconds) s: $2"
	most=$1
	title=$2
	shift 2
	result "$title" timeout --verbose --kill-after 60 "$most" sh "$0" "$out" "$role" "$@"
}

case $role in
far) be_far ;;
esac
if [ $# -gt 2 ]; then
	shift 2
	lab=
	trap '[ -z "$lab" ] || { kill "$lab" && wait "$lab"; } 2>/dev/null; rm -rf "$tmp"' EXIT
	joined
	await 240 calm
	"$@"
	exit
fi
echo "KTAP version 1"
echo 1..9
be_near
part 600 "a module of the package is loaded and removed" over_ssh packaged
part 600 "Ctrl-C, and all is put back" interrupted
part 600 "the lab is killed, and all is put back" killed
part 900 "the network is gone, and all is put back" cut_off
part 900 "the sender hangs for a while, and all is put back" hung
# If it failed.
[ -e "$out/cont.done" ] || (emulator cont)
part 1500 "measured between clocks that are two hours apart" measured pair 0% '^loss = '
part 1500 "the same with 0.1 % loss" measured lossy-pair 0.1% '^loss = 0\.00\(0[5-9]\|1\)'
part 1200 "a module is built of sources that are newer than the clock, and removed" \
	over_ssh built --build
part 600 "the receiver crashes, and all is put back" crashed
exit $failed
