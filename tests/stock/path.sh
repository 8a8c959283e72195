# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2086 # $rate is words
#
# For the scripts beside it: a router as the path between two hosts, 10.77.1.1 and 10.77.2.1.  It is
# the namespace `path`, with a device to each, west and east: a rate and a buffer in both
# directions, losses towards the far one, the whole delay on the way back.

# The header of Ethernet does not count.
rate="rate 50mbit -14"

on() {
	where=$1
	shift
	ip netns exec "$where" "$@"
}

router() {
	ip -n path addr add 10.77.1.2/24 dev west
	ip -n path addr add 10.77.2.2/24 dev east
	for device in west east; do
		# A buffer in packets would count a batch as one.
		on path ethtool -K "$device" tso off gso off gro off >/dev/null
		ip -n path link set "$device" up
	done
	on path sysctl -qw net.ipv4.ip_forward=1
	# Here what is on its way counts, too: 250 packets.
	tc -n path qdisc add dev west root netem $rate limit 375 delay 60ms
}

# Half of a BDP of 250 packets, and so much loss.
shape() {
	tc -n path qdisc replace dev east root netem $rate limit 125 loss "$1"
}
