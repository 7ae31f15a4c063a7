# make install puts everything below DESTDIR and PREFIX, it works from there, and make uninstall takes it away.
# build: plain
. "$(dirname "$0")/lib.sh"

out=$(dirname "$CLEAR")
in_tree() { make -s -C "$ROOT" OUT="$out" BUILD="$BUILD" DESTDIR="$TMP/dest" PREFIX=/opt/clear "$@" >make.txt 2>&1 || fail "make $*: $(cat make.txt)"; }
in_tree install
for file in bin/clear lib/clear/libclear_rt.so include/clear.h share/pkgconfig/clear.pc share/man/man1/clear.1 share/man/man1/clear-profile.1 share/man/man5/clear.yaml.5 \
    share/bash-completion/completions/clear share/zsh/site-functions/_clear share/fish/vendor_completions.d/clear.fish share/clear/ci/gate.sh share/clear/ci/gitlab.yml; do
    [ -s "dest/opt/clear/$file" ] || fail "$file was not installed"
done
(cd / && PATH="$TMP/dest/opt/clear/bin:$PATH" clear profile --db "$TMP/t.db" -o "$TMP/t.profile" -- "$FIXTURES/heap_counts") >out.txt || fail "from there: $?"
expect_tables out.txt
# The units, as systemd reads them; the command is where it will be only in the real place.
units=dest/opt/clear/lib/systemd/system
expect_match "$(cat $units/clear-collect.service)" '^ExecStart=/opt/clear/bin/clear collect --dir /run/clear ' 'the command of the unit'
expect_match "$(cat $units/clear-collect.path)" '^DirectoryNotEmpty=/run/clear$' 'what begins it'
if command -v systemd-analyze >/dev/null; then
    sed -i "s,/opt/clear,$TMP/dest&," $units/clear-collect.service
    systemd-analyze verify --man=no "$PWD/$units"/clear-collect.{service,path} 2>units.txt || fail "systemd-analyze verify: $(cat units.txt)"
fi
printf '#include <clear.h>\nint main(void) { return 0; }\n' >uses.c
flags=$(PKG_CONFIG_PATH=$TMP/dest/opt/clear/share/pkgconfig pkg-config --define-variable=prefix="$TMP/dest/opt/clear" --cflags clear) || fail 'pkg-config'
expect_equal "${flags% }" "-I$TMP/dest/opt/clear/include" 'the flags of clear.pc'
# shellcheck disable=SC2086
"${CC:-gcc}" -std=c11 -Wall -Wextra -Werror $flags -o uses uses.c && ./uses || fail 'clear.h does not compile'
printf '#include <clear.h>\nint main() { return 0; }\n' >uses.cc
g++ -Wall -Wextra -Werror -Idest/opt/clear/include -o uses uses.cc && ./uses || fail 'clear.h does not compile as C++'
in_tree uninstall
expect_equal "$(find dest -type f)" '' 'left by uninstall'

# A command of somebody else is not overwritten: install names the choices, and puts nothing anywhere.
mkdir -p dest/opt/clear/bin dest/opt/clear/include
printf '#!/bin/sh\necho theirs\n' >dest/opt/clear/bin/clear
printf 'theirs\n' >dest/opt/clear/include/clear.h
chmod +x dest/opt/clear/bin/clear
cp -R dest before
make -s -C "$ROOT" OUT="$out" BUILD="$BUILD" DESTDIR="$TMP/dest" PREFIX=/opt/clear install >refused.txt 2>&1 && fail 'another clear was overwritten'
expect_match "$(cat refused.txt)" 'bin/clear is not ours, and stays as it is' 'the refusal'
expect_match "$(cat refused.txt)" 'make install PREFIX=/opt/clear NAME=clear-profile' 'the first choice'
diff -r before dest || fail 'a refused install left something'
# Under another name both are there; a file that has to give way comes back.
in_tree install NAME=clear-profile
expect_equal "$(dest/opt/clear/bin/clear)" theirs 'the other clear'
expect_match "$(dest/opt/clear/bin/clear-profile version)" '^clear ' 'clear under another name'
grep -q 'complete -F _clear clear-profile' dest/opt/clear/share/bash-completion/completions/clear-profile || fail 'completion of the other name'
[ -s dest/opt/clear/share/man/man1/clear-profile-profile.1 ] || fail 'manual pages under the other name'
in_tree install NAME=clear-profile
in_tree uninstall
diff <(cd before && find . -type f -exec sha256sum {} + | sort) <(cd dest && find . -type f -exec sha256sum {} + | sort) || fail 'uninstall did not put back what was there'

# What belongs to a Debian package is named with it, and can be shared by the alternatives. A small system of its own stands for the
# whole one.
if command -v dpkg-divert >/dev/null && [ "$(id -u)" = 0 ]; then
    mkdir -p system/usr/bin system/var/lib/dpkg/info system/var/lib/dpkg/updates system/etc/alternatives system/var/lib/dpkg/alternatives system/var/log
    printf '#!/bin/sh\necho theirs\n' >system/usr/bin/clear
    chmod +x system/usr/bin/clear
    printf 'Package: ncurses-bin\nStatus: install ok installed\nMaintainer: m\nArchitecture: amd64\nVersion: 1\nDescription: d\n' >system/var/lib/dpkg/status
    printf '/usr/bin/clear\n' >system/var/lib/dpkg/info/ncurses-bin.list
    : >system/var/lib/dpkg/diversions
    in_system() { make -s -C "$ROOT" OUT="$out" BUILD="$BUILD" DESTDIR="$TMP/system" PREFIX=/usr "$@"; }
    in_system install >refused.txt 2>&1 && fail "a package's clear was overwritten"
    expect_match "$(cat refused.txt)" 'bin/clear belongs to the package ncurses-bin' 'the owner'
    in_system install ALTERNATIVE=1 >installed.txt 2>&1 || fail "with alternatives: $(cat installed.txt)"
    expect_equal "$(readlink system/etc/alternatives/clear)" /usr/bin/clear.diverted 'the default'
    expect_equal "$(system/usr/bin/clear.diverted)" theirs "the package's own"
    update-alternatives --root "$TMP/system" --set clear /usr/bin/clear-profile >/dev/null || fail 'choosing'
    expect_equal "$(readlink system/etc/alternatives/clear)" /usr/bin/clear-profile 'the choice'
    in_system install ALTERNATIVE=1 >again.txt 2>&1 || fail "again: $(cat again.txt)"
    in_system uninstall >uninstalled.txt 2>&1 || fail "uninstall: $(cat uninstalled.txt)"
    [ ! -h system/usr/bin/clear ] && expect_equal "$(system/usr/bin/clear)" theirs 'what uninstall put back'
    expect_equal "$(cat system/var/lib/dpkg/diversions)" '' 'diversions left'
fi

make -s -C "$ROOT" help >help.txt || fail "make help"
for target in all demo test asan bench check-layers install uninstall format clean; do grep -q "^ *$target " help.txt || fail "make help does not list $target"; done
