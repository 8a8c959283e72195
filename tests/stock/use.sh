#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# use.sh DIRECTORY: the examples of docs/use.md, which are in DIRECTORY, built; before them
# what `make install` wrote for the next boot.  Run as root in a guest (by tests/stock.py)
# whose /lib/modules holds our modules, all of which are to be loaded at boot, ltcp to be the
# default and allowed.  KTAP.
#
# shellcheck disable=SC2317 # functions that result() calls by name
#
# They run in a namespace "client"; another one, "server", is what they connect to.
# shellcheck source=tests/stock/ktap.sh
. "$(dirname "$0")/ktap.sh"
cd "$1" || exit 1
server=192.0.2.2
export server PATH="$PATH:/usr/local/bin"
trace=/sys/kernel/tracing

client() {
	timeout 120 ip netns exec client "$@"
}

# The services that read those files at boot, in their order.
next_boot() {
	/lib/systemd/systemd-modules-load || die "modules are not loaded"
	/lib/systemd/systemd-sysctl || die "sysctls are not set"
	for file in /lib/modules/*/updates/longfat/*.ko; do
		module=$(basename "$file" .ko)
		[ -d "/sys/module/$module" ] || die "$module is not loaded"
	done
	said=$(sysctl -n net.ipv4.tcp_congestion_control)
	[ "$said" = ltcp ] || die "the default is $said"
	said=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
	[ "$said" = "reno cubic ltcp" ] || die "allowed is: $said"
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="reno cubic"
}

# What COMMAND sends from the client to port $1, or what is sent from there, is ltcp's.
by_ltcp() {
	port=$1
	shift
	echo >"$trace/trace"
	"$@" || die "$* failed"
	grep -qE "ltcp: src=\[::ffff:192\.0\.2\.[12]\]:($port .*|[0-9]+ dest=.*:$port) reason=init" \
		"$trace/trace" || die "ltcp was not used: $(tail "$trace/trace")"
}

# Takes what comes at port 9000, connection after connection.
sink() {
	ip netns exec server python3 -c '
import socket, sys
s = socket.create_server(("", 9000))
print("ready", flush=True)
while True:
    c, _ = s.accept()
    while c.recv(1 << 18):
        pass
' >"$tmp/sink" &
	until grep -q ready "$tmp/sink"; do sleep 0.2; done
}

send() {
	by_ltcp 9000 client "$@" "$server" 9000 ltcp <file >"$tmp/used" || exit 1
	[ "$(cat "$tmp/used")" = ltcp ] || die "it says: $(cat "$tmp/used")"
}

as_nobody() {
	client setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# Before it is allowed: each language says what the page says.
refused() {
	for command in ./send "python3 send.py" ./send-go; do
		# shellcheck disable=SC2086 # a command and its argument
		said=$(as_nobody $command "$server" 9000 ltcp </dev/null 2>&1) && die "$command may"
		case $said in
		*[Oo]"peration not permitted"*) ;;
		*) die "$command says: $said" ;;
		esac
		# shellcheck disable=SC2086
		said=$(as_nobody $command "$server" 9000 nosuch </dev/null 2>&1) && die "nosuch is there"
		case $said in
		*[Nn]"o such file or directory"*) ;;
		*) die "$command says: $said" ;;
		esac
	done
	as_nobody with-cc ltcp curl -sS -T file "http://$server:8080/nobody" 2>&1 |
		grep -x "with-cc: ltcp: Operation not permitted" || die "with-cc is silent"
}

allowed() {
	sh -eu allow.sh || die "allow.sh failed"
	for command in ./send "python3 send.py" ./send-go; do
		# shellcheck disable=SC2086
		said=$(as_nobody $command "$server" 9000 ltcp </dev/null 2>&1) || die "$said"
		[ "$said" = ltcp ] || die "$said"
	done
}

# Uploads are stored, downloads come from the same directory.
start_nginx() {
	mkdir -p "$tmp/www"
	chmod 777 "$tmp" "$tmp/www"
	cat >nginx.conf <<END
user root;
pid $tmp/nginx.pid;
error_log $tmp/nginx.log;
events {}
http {
	access_log off;
	client_max_body_size 0;
	server {
		listen 8080;
		root $tmp/www;
		location / {
			dav_methods PUT;
		}
	}
}
END
	ip netns exec server "$@" || die "nginx does not start: $(cat "$tmp/nginx.log")"
}

stop_nginx() {
	kill "$(cat "$tmp/nginx.pid")"
	while [ -e "$tmp/nginx.pid" ]; do sleep 0.2; done
}

upload() {
	by_ltcp 8080 client sh -eu curl.sh || exit 1
	cmp file "$tmp/www/file" || die "it did not arrive"
}

download() {
	stop_nginx
	start_nginx sh -eu nginx.sh
	by_ltcp 8080 client curl -sS -o "$tmp/got" "http://$server:8080/file" || exit 1
	cmp file "$tmp/got" || die "it did not arrive"
}

start_sshd() {
	mkdir -p /run/sshd /root/.ssh
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/host"
	ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
	cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
	echo "StrictHostKeyChecking accept-new" >/root/.ssh/config
	chmod -R go= /root/.ssh
	ip netns exec server /usr/sbin/sshd -h "$tmp/host" -E "$tmp/sshd"
}

over_ssh() {
	by_ltcp 22 client sh -eu ssh.sh || die "$(cat "$tmp/sshd")"
	cmp file /root/copy || die "it did not arrive"
	by_ltcp 22 client sh -eu rsync.sh || die "$(cat "$tmp/sshd")"
	cmp file /root/copies/file || die "it did not arrive"
}

plain='import socket, sys
s = socket.create_connection((sys.argv[1], 9000))
print(s.getsockopt(6, 13, 16).rstrip(b"\0").decode())
s.setsockopt(6, 13, b"reno")'

# The words that docs/observe.md explains; as a diagnostic, the output that it shows.
words="cwnd:[0-9]+ ssthresh:[0-9]+ unacked:[0-9]+ retrans:[0-9]+/[0-9]+ rtt:[0-9./]+
minrtt:[0-9.]+ pacing_rate delivery_rate send busy:[0-9]+ms"
observed() {
	ip netns exec client tc qdisc add dev eth0 root netem delay 20ms loss 0.2%
	python=$(command -v python3)
	client "$python" send.py "$server" 9000 ltcp </dev/zero >/dev/null 2>&1 &
	for _ in $(seq 100); do
		client ss -tin dport = :9000 >"$tmp/ss"
		missing=
		for word in $words; do
			grep -qE "[[:space:]]$word" "$tmp/ss" || missing="$missing $word"
		done
		[ -n "$missing" ] || break
		sleep 0.2
	done
	kill $!
	ip netns exec client tc qdisc delete dev eth0 root
	[ -z "$missing" ] || die "ss does not say$missing: $(cat "$tmp/ss")"
	sed 's/^/# /' "$tmp/ss" >&3
}

route() {
	client sh -eu route.sh || die "route.sh failed"
	client ip route show | grep "congctl ltcp" || die "$(client ip route show)"
	said=$(client python3 -c "$plain" "$server") || die "another one cannot be chosen: $said"
	[ "$said" = ltcp ] || die "a connection over the route has $said"
	sed 's/congctl/congctl lock/' route.sh >"$tmp/lock.sh"
	client sh -eu "$tmp/lock.sh"
	said=$(client python3 -c "$plain" "$server" 2>&1) && die "another one can be chosen: $said"
	case $said in *"Operation not permitted"*) ;; *) die "$said" ;; esac
	client ip route change 192.0.2.0/24 dev eth0
	said=$(client python3 -c "$plain" "$server")
	[ "$said" = cubic ] || die "without congctl it has $said"
}

namespaces() {
	sysctl -qw net.ipv4.tcp_congestion_control=ltcp
	ip netns add later
	said=$(ip netns exec later cat /proc/sys/net/ipv4/tcp_congestion_control)
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
	ip netns delete later
	[ "$said" = ltcp ] || die "a new namespace begins with $said"
	list=/proc/sys/net/ipv4/tcp_allowed_congestion_control
	said=$(ip netns exec server cat "$list")
	[ "$said" = "$(cat "$list")" ] || die "a namespace has a list of its own: $said"
	ip netns exec server sh -c "echo reno >$list" && die "a namespace may change the list"
	# Allowed since allow.sh.
	sh -eu namespace.sh || die "namespace.sh failed"
	ip netns exec server sysctl -qw net.ipv4.tcp_congestion_control=cubic
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="reno cubic"
	said=$(sh -eu namespace.sh 2>&1) && die "it may, and is not allowed"
	case $said in
	*'setting key "net.ipv4.tcp_congestion_control": Operation not permitted'*) ;;
	*) die "$said" ;;
	esac
}

# Who makes an algorithm the machine's default allows it to all, until the list is written anew.
default_allows() {
	list=net.ipv4.tcp_allowed_congestion_control
	sysctl -qw "$list=reno cubic"
	sysctl -qw net.ipv4.tcp_congestion_control=ltcp
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
	said=$(sysctl -n "$list")
	[ "$said" = "reno cubic ltcp" ] || die "allowed is: $said"
	said=$(as_nobody ./send "$server" 9000 ltcp </dev/null 2>&1) || die "$said"
	sysctl -qw "$list=reno cubic"
	said=$(as_nobody ./send "$server" 9000 ltcp </dev/null 2>&1) && die "it is still allowed"
	case $said in *[Oo]"peration not permitted"*) ;; *) die "$said" ;; esac
}

begun='import socket
s = socket.socket()
s.setblocking(False)
s.connect_ex(("192.0.2.2", 9))
print(s.getsockopt(6, 13, 16).rstrip(b"\0").decode())'

# Root of a user namespace gives the routes of his an algorithm that is allowed to nobody.
own_route() {
	list=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
	case " $list " in *" ltcp "*) die "it is allowed: $list" ;; esac
	cat >"$tmp/own.sh" <<END
ip link add eth0 type veth peer name eth1
ip address add 192.0.2.1/24 dev eth0
ip link set eth0 up
ip link set eth1 up
ip route change 192.0.2.0/24 dev eth0 congctl ltcp
python3 -c '$begun'
END
	said=$(as_nobody unshare --user --map-root-user --net sh -eu "$tmp/own.sh" 2>&1) ||
		die "$said"
	[ "$said" = ltcp ] || die "a connection over the route has $said"
}

echo "KTAP version 1"
echo "1..14"
exec 3>&1
result "the next boot" next_boot
echo 1 >"$trace/events/longfat/enable"
head -c 2000000 /dev/urandom >file
chmod 644 file
ip netns add client
ip netns add server
ip link add eth0 netns client type veth peer name eth0 netns server
for n in 1 2; do
	[ "$n" = 1 ] && name=client || name=server
	ip -n "$name" link set lo up
	ip -n "$name" link set eth0 up
	ip -n "$name" address add "192.0.2.$n/24" dev eth0
done
sink
start_nginx nginx -c "$PWD/nginx.conf"
start_sshd
result "C" send ./send
result "Python" send python3 send.py
result "Go" send ./send-go
result "refused until allowed" refused
result "curl" upload
result "nginx" download
result "ssh and rsync" over_ssh
result "allowed" allowed
result "ss" observed
result "a route" route
result "namespaces" namespaces
result "a default is allowed to all" default_allows
result "a route of a user's namespace" own_route
exit $failed
