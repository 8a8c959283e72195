#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# measure.sh OUT NAME LOSS LENGTH: `longfat measure` on a path with such loss, for so long (options of
# it), as root in a guest (by tests/machines.py) that has Debian's package of our modules and iperf3.
# KTAP; the transcript, the scenario and the results go to OUT, by this name.  PYTHONPATH has the lab
# and what it needs.
#
# shellcheck disable=SC2317 # functions that result() calls by name
#
# The two hosts are namespaces.
# shellcheck source=tests/stock/ktap.sh
. "$(dirname "$0")/ktap.sh"
# shellcheck source=tests/stock/path.sh
. "$(dirname "$0")/path.sh"
out=$1
name=$2
loss=$3
length=$4
near=10.77.1.1
far=10.77.2.1

network() {
	for ns in near path far; do
		ip netns add $ns
		ip -n $ns link set lo up
	done
	ip link add eth0 netns near type veth peer name west netns path
	ip link add east netns path type veth peer name eth0 netns far
	ip -n near addr add $near/24 dev eth0
	ip -n far addr add $far/24 dev eth0
	on near ethtool -K eth0 tso off >/dev/null
	on far ethtool -K eth0 tso off gso off gro off >/dev/null
	ip -n near link set eth0 up
	ip -n far link set eth0 up
	router
	ip -n near route add default via 10.77.1.2
	ip -n far route add default via 10.77.2.2
	on near sysctl -qw net.ipv4.tcp_no_metrics_save=1
	tc -n near qdisc add dev eth0 root fq
}

measured() {
	shape "$loss"
	on far iperf3 --server >/dev/null 2>&1 &
	until on far ss -Hltn "sport = :5201" | grep -q .; do sleep 0.1; done
	{
		# shellcheck disable=SC2086 # options
		on near python3 -B -m longfat measure $far -C ltcp,ghstcp,cubic $length \
			--save "$out/$name.toml" -o "$out/$name" || echo "exit status $?"
	} >"$out/$name.said" 2>&1
	kill $!
	[ -s "$out/$name.toml" ] || die "$(cat "$out/$name.said")"
}

echo "KTAP version 1"
echo 1..1
network
modprobe -a tcp_ltcp tcp_ghstcp || echo "Bail out! the package's modules cannot be loaded"
result "a path is measured" measured
exit $failed
