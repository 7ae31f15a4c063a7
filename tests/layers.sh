# The tree keeps its own rules, and the checker sees each kind of breach that is planted in a copy of it.
# timeout: 600
# quick
. "$(dirname "$0")/lib.sh"

cd "$ROOT" && SHIM=$(dirname "$CLEAR")/libclear_rt.so tests/check-layers . || fail "the tree breaks its rules"
cd "$TMP" || exit 1

planted() { # planted PATH REGEX TEXT: with that text at the end of that file, the checker fails and says REGEX of it
    local path=$1 regex=$2 text=$3 said
    rm -rf tree && mkdir tree || fail "no copy"
    (cd "$ROOT" && cp -r base schema ingest query export serve cli tests docs README.md "$TMP/tree/") || fail "no copy"
    printf '%b\n' "$text" >>"tree/$path"
    said=$(tree/tests/check-layers tree 2>&1) && fail "not seen in $path: $text"
    grep -Eq "^$path:[0-9]+: .*$regex" <<<"$said" || fail "$path with \"$text\": the checker said \"$said\""
}

allowed() { # allowed PATH TEXT: that text is no breach
    local path=$1 text=$2 said
    rm -rf tree && mkdir tree || fail "no copy"
    (cd "$ROOT" && cp -r base schema ingest query export serve cli tests docs README.md "$TMP/tree/") || fail "no copy"
    printf '%b\n' "$text" >>"tree/$path"
    said=$(tree/tests/check-layers tree 2>&1) || fail "wrongly blamed: $path with \"$text\": $said"
}

# Floors.
planted base/buffer.c 'base may not include schema/db.h' '#include "schema/db.h"'
planted schema/db.c 'schema may not include ingest/store/store.h' '#include "ingest/store/store.h"'
planted query/runs/select.c 'query may not include ingest/store/store.h' '#include "ingest/store/store.h"'
planted ingest/store/store.c 'ingest may not include query/runs/select.h' '#include "query/runs/select.h"'
planted ingest/store/store.c 'ingest may not include cli/cli.h' '  #  include "cli/cli.h"'
planted export/pprof.h 'export may not include cli/cli.h' '#include "cli/cli.h"'
planted export/pprof.h 'written from the root' '#include "rows.h"'
planted export/pprof.h 'no floor nowhere' '#include "nowhere/rows.h"'
planted ingest/store/store.c 'belongs to the runtime' '#include "ingest/shim/runtime.h"'
planted ingest/shim/runtime.c 'ingest/shim includes ingest/segment.h' '#include "base/hash.h"'
planted ingest/shim/runtime.c 'includes libc alone, not <zlib.h>' '#include <zlib.h>'
allowed cli/main.c '#include "base/hash.h"\n#include "export/export.h"'
allowed base/buffer.c '/* #include "schema/db.h" */'
allowed base/buffer.c '#include "schema/db.h" /* layers-ok: planted by the test */'

# Rooms: a new edge is not in docs/design.md, a new public header neither, and an edge that points upwards stays a breach when it is.
planted_room() { # planted_room PATH REGEX TEXT [REGEX-WHEN-WRITTEN]
    local path=$1 regex=$2 text=$3 said
    rm -rf tree && mkdir tree || fail "no copy"
    (cd "$ROOT" && cp -r base schema ingest query export serve cli tests docs README.md "$TMP/tree/") || fail "no copy"
    printf '%b\n' "$text" >>"tree/$path"
    said=$(tree/tests/check-layers tree 2>&1) && fail "not seen in $path: $text"
    expect_match "$said" "$regex" "$path with \"$text\""
    tree/tests/rooms --write tree || fail "tests/rooms --write"
    if [ $# -gt 3 ]; then
        said=$(tree/tests/check-layers tree 2>&1) && fail "written down, but still upwards: $path: $text"
        expect_match "$said" "$4" "$path with \"$text\", written down"
    else
        said=$(tree/tests/check-layers tree 2>&1) || fail "written down, and still blamed: $said"
    fi
}
planted_room query/sql/ask.c 'the code has .*query/sql: query/profile query/runs' '#include "query/profile/model.h"' \
    'query/sql may not use query/profile'
planted_room ingest/store/store.c 'the code has .*ingest/store: .*ingest/read' '#include "ingest/read/input.h"' 'ingest/store may not use ingest/read'
planted_room query/diff/diff.h 'the code has .*query/doctor: .*calls_private.h' '#include "query/doctor/calls_private.h"'
planted_room query/stray.c 'belongs into a room' 'int stray;' 'belongs into a room'

planted schema/db.c 'struct sums is something else in ingest/store/sums.h' 'struct sums {\n    int x;\n};'

# SQL made by printf, on one line and over several.
planted query/runs/select.c 'SQL made by printf' 'void f(char *b) {\n    sprintf(b, "SELECT * FROM runs WHERE id = %d", 1);\n}'
planted query/runs/select.c 'SQL made by printf' 'void f(char *b) {\n    snprintf(b, 10,\n             "DELETE FROM runs WHERE id = %d",\n             1);\n}'
planted schema/db.c 'SQL made by printf' 'void f(void) {\n    char *b = sqlite3_mprintf("INSERT INTO tags VALUES (%Q)", "x");\n}'
planted export/pprof.h 'SQL made by printf' 'void f(struct buffer *b) {\n    buffer_printf(b, " WHERE run_id = %d", 1);\n}'
allowed query/runs/select.c 'void f(char *b) {\n    sprintf(b, "%d runs", 1);\n    db_prepare("SELECT 1");\n}'

# SQL that is longer than two lines.
planted ingest/store/store.c 'lives in schema/' 'const char sql[] =\n    "SELECT id"\n    " FROM runs"\n    " WHERE id = :run";'
planted export/pprof.c 'lives in schema/' '#define SQL \\\n    "WITH a AS (SELECT 1)" \\\n    " SELECT *" \\\n    " FROM a"'
allowed ingest/store/store.c 'const char sql[] =\n    "SELECT id"\n    " FROM runs";\nconst char help[] =\n    "a"\n    "b"\n    "c";'

# The runtime must not end, print, or allocate.
planted ingest/shim/runtime.c 'may not call exit' 'void f(void) {\n    exit(1);\n}'
planted ingest/shim/runtime.c 'may not call _exit' 'void f(void) {\n    if (1) _exit(1);\n}'
planted ingest/shim/runtime.c 'may not call abort' 'void f(void) {\n    abort();\n}'
planted ingest/shim/runtime.c 'may not call fprintf' 'void f(void) {\n    fprintf(stderr, "x");\n}'
planted ingest/shim/runtime.c 'may not call snprintf' 'void f(char *b) {\n    snprintf(b, 1, "x");\n}'
planted ingest/shim/runtime.c 'may not call malloc' 'void *f(void) {\n    return malloc(1);\n}'
planted ingest/shim/runtime.c 'may not call strdup' '#define F(x) strdup(x)'
allowed ingest/shim/runtime.c 'void f(void) {\n    real.free(p); /* not exit(1) */\n    my_exit(1);\n}'

# A function that no screen holds.
planted base/buffer.c 'a function of 10[0-9] lines' "void f(void) {\n$(for _ in $(seq 102); do printf '    ;\\n'; done)}"

# A command that nobody tests or tells of.
planted_command() {
    rm -rf tree && mkdir tree || fail "no copy"
    (cd "$ROOT" && cp -r base schema ingest query export serve cli tests docs README.md "$TMP/tree/") || fail "no copy"
    sed -i '0,/^ *ROW(profile, /s//    ROW(transmogrify, ASK, "x"),\n&/' tree/cli/main.c
    said=$(tree/tests/check-layers tree 2>&1) && fail "a new command without test, text and code was not seen"
    for what in 'no function' 'no scenario' 'no table of options' 'no section SYNOPSIS'; do
        expect_match "$said" "transmogrify.*$what|$what" "a new command"
    done
}
planted_command
