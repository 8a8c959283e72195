#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# measure.sh OUT PART: `longfat measure` and the ssh backend with real parts, as root in a guest (by
# tests/machines.py) that has Debian's package of our modules, sshd and iperf3.  KTAP; transcripts,
# scenarios and results go to OUT.  PYTHONPATH has the lab and what it needs.
#
# shellcheck disable=SC2317 # functions that result() calls by name
#
# Two hosts are namespaces with their own sshd; between them is a router, which is the path: a rate,
# a buffer and losses towards the far one, the whole delay on the way back.
# shellcheck source=tests/stock/ktap.sh
. "$(dirname "$0")/ktap.sh"
out=$1
part=$2
near=10.77.1.1
far=10.77.2.1
ltcp=/sys/module/tcp_ltcp

on() {
	where=$1
	shift
	ip netns exec "$where" "$@"
}

lab() {
	on near python3 -B -m longfat "$@"
}

network() {
	for ns in near path far; do
		ip netns add $ns
		ip -n $ns link set lo up
	done
	ip link add eth0 netns near type veth peer name west netns path
	ip link add east netns path type veth peer name eth0 netns far
	ip -n near addr add $near/24 dev eth0
	ip -n path addr add 10.77.1.2/24 dev west
	ip -n path addr add 10.77.2.2/24 dev east
	ip -n far addr add $far/24 dev eth0
	# A buffer in packets would count a batch as one.
	on near ethtool -K eth0 tso off >/dev/null
	for place in "path west" "path east" "far eth0"; do
		# shellcheck disable=SC2086 # two words
		set -- $place
		on "$1" ethtool -K "$2" tso off gso off gro off >/dev/null
	done
	ip -n near link set eth0 up
	ip -n path link set west up
	ip -n path link set east up
	ip -n far link set eth0 up
	ip -n near route add default via 10.77.1.2
	ip -n far route add default via 10.77.2.2
	on path sysctl -qw net.ipv4.ip_forward=1
	on near sysctl -qw net.ipv4.tcp_no_metrics_save=1
	tc -n near qdisc add dev eth0 root fq
	tc -n path qdisc add dev west root netem delay 60ms limit 10000
}

# 50 Mbit/s, half of a BDP of 250 packets, and so much loss
path() {
	tc -n path qdisc replace dev east root netem rate 50mbit -14 limit 125 loss "$1"
}

servers() {
	mkdir -p /run/sshd /root/.ssh
	ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
	ssh-keygen -q -A
	cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
	chmod -R go= /root/.ssh
	for ns in near far; do
		on $ns /usr/sbin/sshd -E "$tmp/sshd-$ns"
		until on $ns ss -Hltn "sport = :22" | grep -q .; do sleep 0.1; done
	done
	printf 'Host near\nHostName %s\nHost far\nHostName %s\nHost *\n%s\n' $near $far \
		"StrictHostKeyChecking accept-new" >/root/.ssh/config
	on far iperf3 --server >/dev/null 2>&1 &
	until on far ss -Hltn "sport = :5201" | grep -q .; do sleep 0.1; done
	printf '[sender]\nssh = "near"\n[receiver]\nssh = "far"\naddress = "%s"\nport = 5301\n' \
		$far >/root/hosts.toml
}

# measured NAME LOSS
measured() {
	path "$2"
	{
		# shellcheck disable=SC2086 # options
		lab measure $far -C ltcp,ghstcp,cubic $LENGTH --save "$out/$1.toml" -o "$out/$1" ||
			echo "exit status $?"
	} >"$out/$1.said" 2>&1
	[ -s "$out/$1.toml" ] || die "$(cat "$out/$1.said")"
}

# All that an experiment may change.
settings() {
	for ns in near far; do
		on $ns sysctl -a 2>/dev/null | grep '^net.ipv4.tcp_' | grep -v available
	done
	lsmod | sed -n 's/^\(tcp_[a-z]*\) .*/\1/p' | sort
	ls -d /tmp/longfat.* 2>/dev/null
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
	lab run "/root/$name.toml" --backend ssh --hosts /root/hosts.toml "$@" -o "$out/ssh" ||
		die "it failed; sshd said: $(tail -n 3 "$tmp"/sshd-*)"
	[ -s "$out/ssh/$name-s1.json" ] || die "no result"
	settings | diff "$tmp/before" - || die "that is left"
}

# The lab, and then the whole session at the sender, are killed in the middle.
killed() {
	scenario killed 600
	lab run /root/killed.toml --backend ssh --hosts /root/hosts.toml -o "$out/ssh" &
	until [ -e "$ltcp" ] && on near ss -Hnt "dport = :5301" | grep -q .; do sleep 0.2; done
	[ "$(cat "$ltcp/parameters/beta")" = 200 ] || die "the parameter is not set"
	case $1 in
	lab) kill -KILL "$(pgrep -f -o "longfat run /root/killed.toml")" ;;
	# As a network that is gone: nothing passes any more, and nobody is told.
	network) ip -n near addr del "$near/24" dev eth0 ;;
	esac
	i=0
	until settings | cmp -s "$tmp/before" -; do
		i=$((i + 1))
		[ "$i" -lt 300 ] || die "after 60 s that is left: $(settings | diff "$tmp/before" -)"
		sleep 0.2
	done
	[ "$1" != network ] || ip -n near addr add "$near/24" dev eth0
	wait
}

echo "KTAP version 1"
network
servers
modprobe -a tcp_ltcp tcp_ghstcp || echo "Bail out! the package's modules cannot be loaded"
case $part in
clean)
	echo 1..1
	result "a path without loss is measured" measured clean 0%
	;;
lossy)
	echo 1..1
	result "a path with loss is measured" measured lossy 0.1%
	;;
ssh)
	echo 1..4
	path 0%
	rmmod tcp_ltcp tcp_ghstcp
	settings >"$tmp/before"
	result "a module of the package is loaded and removed" over_ssh packaged
	result "a module is built there and removed" over_ssh built --build
	result "the lab is killed, and all is put back" killed lab
	result "the network is gone, and all is put back" killed network
	;;
esac
pkill sshd
pkill iperf3
exit $failed
