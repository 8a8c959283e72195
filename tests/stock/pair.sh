#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pair.sh OUT ROLE: the ssh backend, and `longfat measure`, between two virtual machines (by
# tests/machines.py), as root in each of them: near, which has the lab, and far.  Both have Debian's
# package of our modules, sshd and iperf3.  PYTHONPATH has the lab and what it needs.  KTAP from near.
#
# shellcheck disable=SC2317 # functions that result() calls by name
#
# OUT is the same directory for both.  What near wants of the emulator of far it asks for by a file
# there: OUT/stop, and OUT/quit; tests/machines.py adds .done to its name when that is done.
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

await() {
	i=0
	until "$@"; do
		i=$((i + 1))
		[ "$i" -lt 900 ] || die "after 3 minutes there is not: $*"
		sleep 0.2
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
	await found ls /sys/bus/virtio/drivers/virtio_net/virtio*/net
	basename /sys/bus/virtio/drivers/virtio_net/virtio*/net/*
}

server() {
	mkdir -p /run/sshd /root/.ssh
	rm -f /run/nologin
	ssh-keygen -q -A
	await found cp "$out/key.pub" /root/.ssh/authorized_keys
	chmod -R go= /root/.ssh
	/usr/sbin/sshd -E "$tmp/sshd"
	await listens 22
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
	await listens 5201
	touch "$out/far.ready"
	# It is ended from without.
	sleep infinity
}

be_near() {
	clock '1 hour ago'
	ip link set "$(card)" name eth0
	ip addr add $near/24 dev eth0
	ip link set lo up
	ip link set eth0 up
	ip route add default via 10.77.1.2
	mkdir -p /root/.ssh
	ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
	cp /root/.ssh/id_ed25519.pub "$out/key.new"
	mv "$out/key.new" "$out/key.pub"
	printf 'Host near\nHostName %s\nHost far\nHostName %s\nHost *\n%s\n' $near $far \
		"StrictHostKeyChecking accept-new" >/root/.ssh/config
	server
	await test -e "$out/far.ready"
	printf '[sender]\nssh = "near"\n[receiver]\nssh = "far"\naddress = "%s"\nport = 5301\n' \
		$far >/root/to-far.toml
	printf '[sender]\nssh = "far"\n[receiver]\nssh = "near"\naddress = "%s"\nport = 5301\n' \
		$near >/root/to-near.toml
}

# All that an experiment may change at one end.
# shellcheck disable=SC2016 # for a shell at each end
settings='
	sysctl -a 2>/dev/null | grep "^net.ipv4.tcp_" | grep -v available
	lsmod | sed -n "s/^\(tcp_[a-z]*\) .*/\1/p" | sort
	ls -d /tmp/longfat.* 2>/dev/null
	pgrep -a iperf3 | grep -v -- --server$
	true'

both() {
	sh -c "$settings" && ssh -o ConnectTimeout=5 far "$settings"
}

as_before() {
	both 2>/dev/null | cmp -s "$tmp/before" -
}

put_back() {
	await as_before
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
		die "it failed; sshd said: $(tail -n 3 "$tmp/sshd")"
	[ -s "$out/ssh/$name-s1.json" ] || die "no result"
	as_before || die "that is left: $(both | diff "$tmp/before" -)"
}

# A run that would take ten minutes: $lab is its process, once it is in the middle.
begun() {
	scenario "$1" 600
	# What a shell starts in the background is deaf to Ctrl-C.
	env --default-signal=INT python3 -B -m longfat run "/root/$1.toml" --backend ssh \
		--hosts "/root/$2.toml" -o "$out/ssh" >"$tmp/lab" 2>&1 &
	lab=$!
	await connected
}

connected() {
	kill -0 "$lab" || die "it failed: $(cat "$tmp/lab")"
	ss -Hnt state established "( dport = :5301 or sport = :5301 )" | grep -q .
}

# ended STATUS WORDS: the lab ends so, and says so
ended() {
	wait "$lab"
	status=$?
	[ "$status" = "$1" ] || die "exit status $status and not $1: $(cat "$tmp/lab")"
	grep -q "$2" "$tmp/lab" || die "it did not say '$2': $(cat "$tmp/lab")"
}

interrupted() {
	begun interrupted to-far
	[ "$(cat "$ltcp/parameters/beta")" = 200 ] || die "the parameter is not set"
	ssh far sysctl -n net.ipv4.tcp_reordering | grep -qx 5 || die "the sysctl is not set at far"
	kill -INT "$lab"
	ended 130 ""
	as_before || die "that is left: $(both | diff "$tmp/before" -)"
}

killed() {
	begun killed to-far
	kill -KILL "$lab"
	wait "$lab"
	put_back
}

# Nothing passes any more, and nobody is told.
cut_off() {
	begun cut to-far
	ip addr del "$near/24" dev eth0
	ended 1 "the connection was lost\|Timeout, server"
	ip addr add "$near/24" dev eth0
	ip route add default via 10.77.1.2
	put_back
}

emulator() {
	touch "$out/$1"
	await test -e "$out/$1.done"
}

# The other machine hangs, and comes back when everybody has given it up.
hung() {
	begun hung to-near
	emulator stop
	ended 1 "the connection was lost\|Timeout, server"
	sh -c "$settings" >"$tmp/here"
	emulator cont
	put_back
	head -n "$(wc -l <"$tmp/here")" "$tmp/before" | cmp -s - "$tmp/here" ||
		die "that was left here: $(diff "$tmp/before" "$tmp/here")"
}

measured() {
	modprobe -a tcp_ltcp tcp_ghstcp
	lab measure "$far" -C ltcp,ghstcp,cubic --rounds 2 --seconds 4 --save "$out/pair.toml" \
		-o "$out/pair" || return 1
	rmmod tcp_ltcp tcp_ghstcp
	grep -q '^rtt = "[67]' "$out/pair.toml" || die "that is not the path: $(cat "$out/pair.toml")"
	as_before || die "that is left: $(both | diff "$tmp/before" -)"
}

# The other machine is gone for good.
crashed() {
	begun crashed to-far
	emulator quit
	ended 1 "the connection was lost\|Timeout, server"
	sh -c "$settings" >"$tmp/here"
	head -n "$(wc -l <"$tmp/here")" "$tmp/before" | cmp -s - "$tmp/here" ||
		die "that was left here: $(diff "$tmp/before" "$tmp/here")"
}

case $role in
far) be_far ;;
esac
echo "KTAP version 1"
be_near
echo 1..8
both >"$tmp/before"
result "a module of the package is loaded and removed" over_ssh packaged
result "Ctrl-C, and all is put back" interrupted
result "the lab is killed, and all is put back" killed
result "the network is gone, and all is put back" cut_off
result "the sender hangs for a while, and all is put back" hung
result "measured between clocks that are two hours apart" measured
result "a module is built of sources that are newer than the clock, and removed" \
	over_ssh built --build
result "the receiver crashes, and all is put back" crashed
exit $failed
