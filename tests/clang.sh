# The runtime builds with clang too, and what it records is what the program counted. (CC=clang make builds all of it.)
# plain: the runtime, which has no sanitizers
# long: builds the runtime and the fixtures anew
. "$(dirname "$0")/lib.sh"

command -v clang >/dev/null || skip 'no clang here: only gcc builds the runtime'
make -s -j2 -C "$ROOT" CC=clang BUILD="$TMP/build" OUT="$TMP/out" "$TMP/out/libclear_rt.so" >make.txt 2>&1 || fail "the runtime: $(tail -5 make.txt)"
# All other sources are compiled, and no code is made of them.
(cd "$ROOT" && find base schema ingest query export serve cli -name '*.c' ! -path 'ingest/shim/*') |
    (cd "$ROOT" && xargs -P 2 -n 24 clang -std=c11 -D_GNU_SOURCE -DCLEAR_VERSION='"test"' -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
        -Wwrite-strings -Wno-missing-field-initializers -fsyntax-only -I. -I"$BUILD/gen") >compiled.txt 2>&1 || fail "clang: $(grep -m 3 error: compiled.txt)"
export CLEAR_RT_LIBRARY=$TMP/out/libclear_rt.so
for name in heap_counts lock_counts; do
    profile -q -- "$FIXTURES/$name" >out.txt || fail "$name: $?"
    expect_tables out.txt
    expect_exact
done
