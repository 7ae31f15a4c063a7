# The Debian packages (make deb), and the RPM packages (make rpm) with the same files, are the same bytes from two directories, one of them a tarball without git (make dist); lintian finds no error;
# in a bare Debian they are installed, record a program, are upgraded and removed, and the command of ncurses is what it was.
# long: builds everything twice, and makes a Debian
# plain: packages of the optimized build
# timeout: 3600
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip 'only root can enter a new root'
command -v mmdebstrap >/dev/null || skip 'mmdebstrap and lintian are not installed: make long installs them'
unset SOURCE_DATE_EPOCH

# ---- the same sources, two directories

pack() { make -s -C "$ROOT" DEB_BUILD="$TMP/$1" dist >dist.txt || fail "make dist: $(cat dist.txt)"; }
pack first && pack second
cmp first/clear-*.tar.gz second/clear-*.tar.gz || fail 'make dist: other bytes the second time'
for place in one "another/and deeper"; do
    mkdir -p "$place" && tar -xzf first/clear-*.tar.gz -C "$place" && mv "$place"/clear-* "$place/src" || fail 'the tarball'
done
mv "another/and deeper/src" another/longer-name && rmdir "another/and deeper"
expect_equal "$(find one -name .git)" '' 'git in the tarball'
for place in one/src another/longer-name; do make -s -j2 -C "$place" deb >"made.txt" 2>&1 || fail "make deb in $place: $(tail -n 20 made.txt)"; done
for file in one/src/build/deb/*.deb; do cmp "$file" "another/longer-name/build/deb/${file##*/}" || fail "${file##*/} depends on the directory"; done
expect_equal "$(find one/src/build/deb -name '*.deb' | wc -l)" 3 'packages'
grep -qF "$TMP" one/src/build/deb/out/clear && fail 'the program names the directory that it was built in'
cp one/src/build/deb/*.deb .
lintian --fail-on error ./*.deb >lintian.txt 2>&1 || fail "lintian: $(cat lintian.txt)"

# ---- the same files as RPM packages

command -v rpmbuild >/dev/null || skip 'rpm is not installed: make long installs it'
for place in one/src another/longer-name; do make -s -C "$place" rpm >"made.txt" 2>&1 || fail "make rpm in $place: $(tail -n 20 made.txt)"; done
for file in one/src/build/deb/*.rpm; do cmp "$file" "another/longer-name/build/deb/${file##*/}" || fail "${file##*/} depends on the directory"; done
for package in clear libclear-rt libclear-rt-dev; do
    file=$(echo one/src/build/deb/$package-0.1.0-1.*.rpm)
    dpkg-deb --fsys-tarfile $package\_*.deb | tar -tf - | sed -n 's,^\./,/,; /[^/]$/p' | grep -v '^/usr/share/doc/' | sort >deb.list
    rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$file" 2>/dev/null | sed -n 's/^[-l][^ ]* //p' | sort >rpm.list
    expect_same_file rpm.list deb.list "files of $package"
done
rpm -qpR one/src/build/deb/clear-0*.rpm 2>/dev/null >needs.txt
for library in $(objdump -p one/src/build/deb/out/clear | awk '$1 == "NEEDED" { print $2 }'); do grep -qF "$library()" needs.txt || fail "$library is needed and not named"; done
mkdir rpm-root && rpm --root "$TMP/rpm-root" --nodeps --noscripts -i one/src/build/deb/*.rpm >rpm.txt 2>&1 || fail "installing: $(cat rpm.txt)"
rpm --root "$TMP/rpm-root" --nodeps -V clear libclear-rt libclear-rt-dev >rpm.txt 2>&1 || fail "what was installed: $(cat rpm.txt)"
"$TMP/rpm-root/usr/bin/clear-profile" profile -q --db rpm.db "$FIXTURES/heap_counts" >/dev/null || fail 'recording with what was installed'
expect_equal "$("$TMP/rpm-root/usr/bin/clear-profile" runs --db rpm.db --json | grep -c heap_counts)" 1 'the run'

# ---- what it is linked with

for place in one/src another/longer-name; do
    (cd "$place" && packaging/sbom 0.1.0 1764000000 build/deb/out/clear build/deb/out/libclear_rt.so >sbom.json) || fail 'sbom'
done
cmp one/src/sbom.json another/longer-name/sbom.json || fail 'sbom: depends on the directory'
# The other tool that knows packages of libraries: dpkg-shlibdeps made the Depends of the package.
for package in $(dpkg-deb -f clear_*.deb Depends | tr ',' '\n' | awk '$1 ~ /^lib/ && $1 !~ /^libclear-rt/ { print $1 }'); do
    grep -qF "pkg:deb/debian/$package@$(dpkg-query -W -f '${Version}' "$package" | sed 's/+/%2B/g; s/:/%3A/g')?" one/src/sbom.json || fail "sbom: $package, which the package depends on, is missing"
done

# ---- a bare Debian

mmdebstrap --quiet --variant=essential --include=apt "$(. /etc/os-release && echo "$VERSION_CODENAME")" root >mmdebstrap.txt 2>&1 || fail "no Debian: $(tail -n 5 mmdebstrap.txt)"
inside() { # inside COMMAND: in the new root, whose /proc and /dev/null are there only as long as that
    unshare -m sh -c 'mount -t proc proc root/proc && exec chroot root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=xterm DEBIAN_FRONTEND=noninteractive sh -c "$1"' sh "$1"
}
cp ./*.deb "$FIXTURES/heap_counts" root/root/ || fail "the program to record"
[ ! -f /etc/resolv.conf ] || cp /etc/resolv.conf root/etc/resolv.conf
before=$(sha256sum root/usr/bin/clear)
inside 'apt-get update -q && apt-get install -qy --no-install-recommends /root/libclear-rt_*.deb /root/clear_*.deb /root/libclear-rt-dev_*.deb' >install.txt 2>&1 || fail "installing: $(tail -n 20 install.txt)"
expect_equal "$(sha256sum root/usr/bin/clear)" "$before" 'the clear of ncurses'
inside 'cd /root && clear-profile profile -q --db t.db -o t.profile ./heap_counts >/dev/null && clear-profile runs --db t.db --json' >runs.json || fail 'recording there'
grep -q heap_counts runs.json || fail 'no run was recorded'
inside 'PATH=/usr/lib/clear/bin:$PATH && clear version && clear && clear -x' >version.txt || fail 'clear as ours'
expect_match "$(head -n 1 version.txt)" '^clear [0-9]' 'clear at once'
expect_match "$(cat version.txt)" $'\033' 'and as it was'
inside 'test -s /usr/lib/systemd/system/clear-collect.service && test -s /usr/include/clear.h && dpkg --verify clear libclear-rt libclear-rt-dev' || fail 'not all is there as it was packed'

# ---- a newer one, and none

mkdir newer
for file in ./*.deb; do
    dpkg-deb -R "$file" unpacked && sed -i 's/0\.1\.0/0.1.1/g' unpacked/DEBIAN/control && dpkg-deb --root-owner-group -b unpacked newer >/dev/null && rm -rf unpacked || fail 'a newer package'
done
cp newer/*.deb root/root/
inside 'apt-get install -qy --no-install-recommends /root/*_0.1.1_*.deb && dpkg -s clear | grep -x "Version: 0.1.1" && cd /root && clear-profile runs --db t.db' >upgrade.txt 2>&1 || fail "upgrading: $(tail -n 20 upgrade.txt)"
inside 'apt-get purge -qy clear libclear-rt libclear-rt-dev' >remove.txt 2>&1 || fail "removing: $(tail -n 20 remove.txt)"
expect_equal "$(sha256sum root/usr/bin/clear)" "$before" 'the clear of ncurses afterwards'
expect_equal "$(find root/usr root/etc root/var/lib/dpkg/info -name 'clear-profile*' -o -name 'libclear*' -o -path '*/clear/*' -not -path '*/doc/*')" '' 'left by purge'
