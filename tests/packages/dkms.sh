# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# DKMS: its four steps one by one, then `make dkms`, twice, and `make dkms-remove`; kernels for
# which the modules are not meant; signed if DKMS can.
. tests/packages/common.sh
package=$(sed -n 's/^PACKAGE_NAME="\(.*\)"/\1/p' dkms.conf)
package=$package/$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

everything >"$tmp/before"

# The sources alone, where DKMS looks for them.
# shellcheck disable=SC2086 # a list
DESTDIR=/ scripts/install.sh dkms "$kernel" $MODULES
dkms add "$package"
dkms build "$package" -k "$kernel" || die "$(cat "/var/lib/dkms/$package/build/make.log")"
dkms status "$package" -k "$kernel" | grep -q ': built' || die "$(dkms status)"
absent
dkms install "$package" -k "$kernel"
dkms status "$package" -k "$kernel" | grep -q ': installed' || die "$(dkms status)"
installed updates/dkms
if command -v openssl >/dev/null; then
	for module in $MODULES; do
		modinfo -k "$kernel" -F signer "$module" | grep -q DKMS ||
			die "$module is not signed: $(modinfo -k "$kernel" "$module")"
	done
fi

for old in 4.19.0-27-amd64 5.4.0-200-generic 5.9.16; do
	refused BUILD_EXCLUSIVE dkms build "$package" -k "$old" \
		--kernelsourcedir "/lib/modules/$kernel/build"
done
for good in 5.10.0-46-amd64 5.15.0-1-generic 6.1.0 10.0.1; do
	said=$(dkms build "$package" -k "$good" --kernelsourcedir /nonexistent 2>&1) || true
	case $said in *BUILD_EXCLUSIVE*) die "$good is refused: $said" ;; esac
done

dkms remove "$package" --all
absent
rm -rf "/usr/src/${package%/*}-${package#*/}"
[ -z "$(dkms status "$package")" ] || die "$(dkms status)"

make dkms KVER="$kernel"
installed updates/dkms
# Again, which is an upgrade: what the version before had alone is gone.
touch "/usr/src/${package%/*}-${package#*/}/stale.c"
make dkms KVER="$kernel"
installed updates/dkms
[ ! -e "/usr/src/${package%/*}-${package#*/}/stale.c" ] || die "the old sources are still there"
for module in $MODULES; do
	[ -s "/usr/local/share/man/man4/$module.4" ] || die "no manual page of $module"
done
# Written by hand, as docs/install.md says: a boot that finds no module would fail on them.
mkdir -p /etc/modules-load.d /etc/sysctl.d
echo tcp_ltcp >/etc/modules-load.d/longfat.conf
echo net.ipv4.tcp_congestion_control = ltcp >/etc/sysctl.d/90-longfat.conf
make dkms-remove KVER="$kernel"
absent

everything >"$tmp/after"
diff "$tmp/before" "$tmp/after" || die "that is what is left of it"
