# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# `make install` and `make uninstall`: files for the next boot, what is refused, signing
# by hand as docs/install.md says, and nothing left.
. tests/packages/common.sh
here="KVER=$kernel KDIR=/lib/modules/$kernel/build"
# shellcheck disable=SC2086 # several
set -- $here
everything >"$tmp/before"
find . -type f | sort >"$tmp/tree"
first=${ALGORITHMS%% *}

make "$@"
refused "registers 'nosuch'; there are: " make "$@" install LOAD=nosuch
refused "one algorithm only" make "$@" install DEFAULT="$first $first"
everything | diff "$tmp/before" - || die "a refused installation left that"

# Without a wish, nothing of the next boot is touched.
make "$@" install
installed updates/longfat
for module in $MODULES; do
	[ -s "/usr/local/share/man/man4/$module.4" ] || die "no manual page of $module"
done
[ -s /usr/local/share/man/man1/longfat.1 ] || die "no manual page of longfat"
! everything | grep '^/etc/\(modules-load\|sysctl\).*longfat' || die "nobody asked for that"

make "$@" install LOAD="$ALGORITHMS" ALLOW="$first" DEFAULT="$first"
for module in $MODULES; do
	grep -qx "$module" /etc/modules-load.d/longfat.conf || die "$module is not to be loaded"
done
grep -v '^#' /etc/sysctl.d/90-longfat.conf >"$tmp/sysctl"
diff - "$tmp/sysctl" <<END || die "that is not what was asked for"
net.ipv4.tcp_allowed_congestion_control = reno cubic $first
net.ipv4.tcp_congestion_control = $first
END

# Another file that needs the algorithm.
echo "net.ipv4.tcp_congestion_control=$first" >/etc/sysctl.d/99-mine.conf
everything >"$tmp/full"
refused "/etc/sysctl.d/99-mine.conf:1: net.ipv4.tcp_congestion_control=$first" \
	make "$@" uninstall
everything | diff "$tmp/full" - || die "a refused uninstallation changed that"
# A comment, and a name that only begins the same, do not.
printf '# tcp_congestion_control=%s\n' "$first" >/etc/sysctl.d/99-mine.conf
printf 'net.ipv4.tcp_congestion_control=x%s\n' "$first" >>/etc/sysctl.d/99-mine.conf
make "$@" uninstall
rm /etc/sysctl.d/99-mine.conf
absent
everything | diff "$tmp/before" - || die "uninstalling left that"

mkdir "$tmp/run"
python3 tests/examples.py docs/install.md "$tmp/run"
sh -eu "$tmp/run/key"
sh -eu "$tmp/run/sign"
make "$@" install
for module in $MODULES; do
	[ "$(modinfo -k "$kernel" -F signer "$module")" = "my module key" ] ||
		die "$module is not signed: $(modinfo -k "$kernel" "$module")"
done
make "$@" uninstall
everything | diff "$tmp/before" - || die "uninstalling left that"

rm mok.key mok.der
make clean
find . -type f | sort | diff "$tmp/tree" - || die "make clean left that"
