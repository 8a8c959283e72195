# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The Debian packages: built, without errors for lintian, installed, removed, nothing left.
. tests/packages/common.sh
everything >"$tmp/before"
version=$(dpkg-parsechangelog -S Version)
[ "$version" = "$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)" ] ||
	die "debian/changelog has version $version, dkms.conf another"

scripts/deb.sh "$tmp/out"
lintian --fail-on error,warning --allow-root "$tmp"/out/*.deb || die "lintian complains"
dpkg-deb -c "$tmp"/out/longfat-dkms_*.deb >"$tmp/dkms"
dpkg-deb -c "$tmp"/out/longfat-tools_*.deb >"$tmp/tools"
for module in $MODULES; do
	grep -q "/usr/share/man/man4/$module.4.gz" "$tmp/dkms" || die "no manual page of $module"
	grep -q "/usr/src/longfat-$version/$module.c" "$tmp/dkms" || die "no source of $module"
done
for file in man/man1/longfat.1.gz longfat/longfat/cli.py longfat/longfat/guest/lfgen.c \
	bash-completion/completions/longfat; do
	grep -q "/usr/share/$file" "$tmp/tools" || die "longfat-tools has no $file"
done
dpkg-deb -c "$tmp"/out/longfat-bpf_*.deb >"$tmp/bpf"
for file in /usr/sbin/longfat-bpf /lib/systemd/system/longfat-bpf@.service \
	/usr/share/man/man8/longfat-bpf.8.gz; do
	grep -q "\.$file\$" "$tmp/bpf" || die "longfat-bpf has no $file"
done
# All data that pip would install, and as it is here.
python3 -B -m longfat.core.data "$tmp/data"

# DKMS in a chroot cannot build for the kernel that runs, which is another's.
dpkg -i "$tmp"/out/longfat-dkms_*.deb "$tmp"/out/longfat-tools_*.deb
dkms status "longfat/$version" | grep -q . || die "DKMS knows nothing of it"
dkms autoinstall -k "$kernel"
installed updates/dkms
refused "is the package longfat-dkms's: apt-get remove it first" make dkms KVER="$kernel"
installed updates/dkms

# What the manual page's examples name is there.
named=$(sed -n 's|^longfat .*\(/usr/share/longfat/[^ ]*\).*|\1|p' man/longfat.1)
[ -n "$named" ] || die "the manual page of longfat has no example with a file"
for file in $named; do
	[ -e "$file" ] || die "the manual page names $file, which is not there"
done

# The command is there and finds its files; its Python packages are not in this chroot.
for module in $MODULES; do
	[ -e "/usr/share/longfat/$module.c" ] || die "no source of $module for the lab"
done
diff -r "$tmp/data" /usr/share/longfat | grep -v '^Only in /usr/share/longfat' >"$tmp/differ" ||
	true
[ ! -s "$tmp/differ" ] || die "longfat-tools has other data: $(cat "$tmp/differ")"
PYTHON=false sh -x "$(command -v longfat)" >"$tmp/said" 2>&1 || true
grep -qx '+ tree=/usr/share/longfat' "$tmp/said" || die "$(cat "$tmp/said")"

# As installed it knows its algorithms; a kernel of the guest's loads them in tests/stock.
dpkg -i "$tmp"/out/longfat-bpf_*.deb
longfat-bpf parameters ltcp | grep -q '^beta=150' || die "longfat-bpf does not run"
systemd-analyze --man=no verify "longfat-bpf@ltcp.service" || die "the service is none"

dpkg -r longfat-bpf longfat-tools longfat-dkms
absent
[ -z "$(dkms status "longfat/$version")" ] || die "$(dkms status)"
dpkg -P longfat-bpf longfat-tools longfat-dkms
everything | diff "$tmp/before" - || die "removing left that"
