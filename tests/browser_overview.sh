# The page that a run opens on, in a browser: the doctor's first line with its links, each figure as clear prints it, and the ways from there by mouse
# and keys: to who held a lock, to the hottest function's line, to who allocates, to what got worse.
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
# Figures that can be added up by hand, with a lock whose holder is known.
cat "$ROOT/schema/tables.sql" "$ROOT/tests/query_data.sql" | sqlite3 held.db || fail "making held.db"
sqlite3 held.db "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, hold_ns) VALUES (2, 1, 100, 1, 'mutex', 1, 700000000)" || fail 'a holder'
cat >weather.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void grown(long count) {
    for (long i = 0; i < count; i++) free(*(void *volatile *)&(void *){malloc(4096)});
}
int main(int argc, char **argv) {
    if (argc != 2) return 1;
    grown(atol(argv[1]));
    return 0;
}
END
"$CC" -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o weather weather.c || fail "compiling the weather"
"$CLEAR" profile -q --db t.db --label before ./weather 100 >/dev/null || fail weather
"$CLEAR" profile -q --db t.db --label after ./weather 20000 >/dev/null || fail weather
"$CLEAR" profile -q --db t.db --label phases --interval 100ms "$FIXTURES/phases" >/dev/null || fail phases
printf 'main;parse;read 4000\nmain;eval;alloc 3000\nmain;eval 1000\n' >known.folded
"$CLEAR" ingest --db t.db --label known known.folded >/dev/null 2>&1 || fail known
python3 "$ROOT/tests/browser_overview.py" || fail "the overview"
check_db t.db
