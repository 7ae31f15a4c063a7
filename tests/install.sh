# make install puts everything below DESTDIR and PREFIX, it works from there, and make uninstall takes it away.
. "$(dirname "$0")/lib.sh"

out=$(dirname "$CLEAR")
in_tree() { make -s -C "$ROOT" OUT="$out" BUILD="$BUILD" DESTDIR="$TMP/dest" PREFIX=/opt/clear "$@" >make.txt 2>&1 || fail "make $*: $(cat make.txt)"; }
in_tree install
for file in bin/clear lib/clear/libclear_rt.so include/clear.h share/pkgconfig/clear.pc share/man/man1/clear.1 share/man/man1/clear-profile.1 share/man/man5/clear.yaml.5 \
    share/bash-completion/completions/clear share/zsh/site-functions/_clear share/fish/vendor_completions.d/clear.fish; do
    [ -s "dest/opt/clear/$file" ] || fail "$file was not installed"
done
(cd / && PATH="$TMP/dest/opt/clear/bin:$PATH" clear profile --db "$TMP/t.db" -o "$TMP/t.profile" -- "$FIXTURES/heap_counts") >out.txt || fail "from there: $?"
expect_tables out.txt
printf '#include <clear.h>\nint main(void) { return 0; }\n' >uses.c
flags=$(PKG_CONFIG_PATH=$TMP/dest/opt/clear/share/pkgconfig pkg-config --define-variable=prefix="$TMP/dest/opt/clear" --cflags clear) || fail 'pkg-config'
expect_equal "${flags% }" "-I$TMP/dest/opt/clear/include" 'the flags of clear.pc'
# shellcheck disable=SC2086
"${CC:-gcc}" -std=c11 -Wall -Wextra -Werror $flags -o uses uses.c && ./uses || fail 'clear.h does not compile'
printf '#include <clear.h>\nint main() { return 0; }\n' >uses.cc
g++ -Wall -Wextra -Werror -Idest/opt/clear/include -o uses uses.cc && ./uses || fail 'clear.h does not compile as C++'
in_tree uninstall
expect_equal "$(find dest -type f)" '' 'left by uninstall'
make -s -C "$ROOT" help >help.txt || fail "make help"
for target in all demo test asan bench check-layers install uninstall format clean; do grep -q "^ *$target " help.txt || fail "make help does not list $target"; done
