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

# As if this kernel, whose /sys is not here, had bbr as a module, and as if these were allowed.
echo "reno cubic bbr ${ALGORITHMS##* }" >"$tmp/allowed"
mount --bind "$tmp/allowed" /proc/sys/net/ipv4/tcp_allowed_congestion_control
mkdir -p /sys/module/tcp_bbr
touch /sys/module/tcp_bbr/refcnt

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
grep -qx tcp_bbr /etc/modules-load.d/longfat.conf || die "bbr is allowed and not loaded before"
grep -v '^#' /etc/sysctl.d/90-longfat.conf >"$tmp/sysctl"
diff - "$tmp/sysctl" <<END || die "that is not what was asked for"
net.ipv4.tcp_allowed_congestion_control = reno cubic bbr $first
net.ipv4.tcp_congestion_control = $first
END

# A later wish is the whole wish.
make "$@" install LOAD="$first"
[ ! -e /etc/sysctl.d/90-longfat.conf ] || die "what nobody asks for any more is still there"
! grep bbr /etc/modules-load.d/longfat.conf || die "bbr was not asked for"

# One that this kernel has loaded before stays: said, and of that one only.
module=${MODULES%% *}
mkdir "/sys/module/$module" "$tmp/bin"
cat >"$tmp/bin/uname" <<END
#!/bin/sh
[ "\$*" = -r ] && echo "$kernel" || exec /bin/uname "\$@"
END
chmod +x "$tmp/bin/uname"
PATH=$tmp/bin:$PATH make "$@" install >"$tmp/said"
[ "$(grep -c 'stays loaded' "$tmp/said")" = 1 ] || die "$(cat "$tmp/said")"
grep -q "^$module stays loaded as it was before" "$tmp/said" || die "$(cat "$tmp/said")"
rmdir "/sys/module/$module"

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
