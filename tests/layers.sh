# The tree keeps its own rules, and the checker sees each kind of breach, on every floor and in every room, in a copy of the tree in
# which they are planted.
# build: plain
. "$(dirname "$0")/lib.sh"

cd "$ROOT" && SHIM=$(dirname "$CLEAR")/libclear_rt.so tests/check-layers . || fail "the tree breaks its rules"
cd "$TMP" || exit 1
mkdir clean tree || fail "no directory"
(cd "$ROOT" && cp -r base schema ingest query export serve cli tests docs "$TMP/clean/") || fail "no copy"
cp -r clean/. tree || fail "no copy"

plant() { # plant PATH TEXT: with that text at the end of that file, which may be new
    mkdir -p "tree/$(dirname "$1")" && printf '%b\n' "$2" >>"tree/$1"
    echo "$1" >>planted.txt
}

breach() { # breach PATH REGEX TEXT: the checker must say REGEX of that text in that file
    plant "$1" "$3"
    printf '^%s:[0-9]+: .*(%s)\n' "$1" "$2" >>wanted.txt
}

expect_breaches() { # the checker says all that is in wanted.txt and nothing else; then all is as before
    local said regex path
    said=$(tree/tests/check-layers tree 2>/dev/null) && fail "the checker saw nothing of $(cat wanted.txt)"
    while IFS= read -r regex; do
        grep -Eq -- "$regex" <<<"$said" || fail "not seen: $regex. The checker said: $said"
    done <wanted.txt
    grep -Ev -f wanted.txt <<<"$said" && fail "the lines above were not planted"
    while IFS= read -r path; do
        if [ -f "clean/$path" ]; then cp "clean/$path" "tree/$path"; else rm -f "tree/$path"; fi
    done <planted.txt
    cp clean/docs/design.md tree/docs/design.md
    rm -f wanted.txt planted.txt
    find tree -type d -empty -delete
}

first_file() { # first_file ROOM
    find "clean/$1" -maxdepth 1 -name "*.${2:-c}" | LC_ALL=C sort | head -n 1 | sed 's,^clean/,,'
}

# Every room: an include from the next room above it that has something to give, and its private headers from elsewhere.
plant_in_rooms() {
    local room given index=0 above path header floor
    mapfile -t lines < <(tree/tests/rooms --listed tree)
    for line in "${lines[@]}"; do
        index=$((index + 1))
        room=${line%%:*}
        path=$(first_file "$room")
        [ -n "$path" ] || path=$(first_file "$room" h)
        above=$(printf '%s\n' "${lines[@]:index}" | grep -v '| -$' | head -n 1)
        header=${above##*| } header=${above%%:*}/${header%% *}
        if [[ $room/ == ingest/shim/* && ${above%%:*}/ != ingest/shim/* ]]; then
            breach "$path" "ingest/shim includes ingest/segment.h" "#include \"$header\""
        elif [ -n "$above" ]; then
            breach "$path" "$room does not use ${above%%:*} " "#include \"$header\""
        fi
        given=" ${line##*| } "
        for header in $(cd "clean/$room" && ls -- *.h 2>/dev/null); do
            [ "$room" != base ] || break # all of its headers are for everybody
            [[ $given == *" $header "* ]] && continue
            floor=cli/main.c
            [ "$room" != cli ] || floor=cli/manual/page.c
            breach "$floor" "$room/$header is private to $room|$room/$header belongs to the runtime" "#include \"$room/$header\""
            break
        done
        echo "$room" >>rooms_planted.txt
    done
}
plant_in_rooms
# Another floor is a breach of its own, and so is whatever cli/main.c uses of a room that it does not know.
printf '%s\n' '^[a-z_/]+\.[ch]:[0-9]+: [a-z]+ may not include ' '^ingest/shim/[a-z_/]+\.c:[0-9]+: ingest/shim[a-z_/]* does not use ' \
    '^ingest/budget_rule\.h:[0-9]+: ingest/shim/core/[a-z]+\.h belongs to the runtime alone' \
    '^cli/main\.c:[0-9]+: cli does not use ' >>wanted.txt
[ "$(find clean/base clean/schema clean/ingest clean/query clean/export clean/serve clean/cli -name '*.[ch]' -printf '%h\n' | sort -u | wc -l)" = \
    "$(wc -l <rooms_planted.txt)" ] || fail "not every room was planted in: $(cat rooms_planted.txt)"
expect_breaches

# Floors.
breach base/arena.c 'base may not include schema/db.h' '#include "schema/db.h"'
breach schema/db.c 'schema may not include ingest/writer/row_writer.h' '#include "ingest/writer/row_writer.h"'
breach query/runs/select.c 'query may not include ingest/writer/row_writer.h' '#include "ingest/writer/row_writer.h"'
breach ingest/writer/row_writer.c 'ingest may not include query/runs/select.h' '#include "query/runs/select.h"'
breach ingest/read/input.c 'ingest may not include cli/cli.h' '  #  include "cli/cli.h"'
breach serve/token.c 'serve may not include cli/cli.h' '#include "cli/cli.h"'
breach export/pprof.h 'export may not include cli/cli.h' '#include "cli/cli.h"'
breach export/csv.c 'written from the root' '#include "rows.h"'
breach export/file.c 'no floor nowhere' '#include "nowhere/rows.h"'
breach ingest/writer/pending.c 'belongs to the runtime' '#include "ingest/shim/core/runtime.h"'
breach ingest/shim/core/runtime.c 'ingest/shim includes ingest/segment.h' '#include "base/hash.h"'
breach ingest/shim/heap/heap.c 'includes libc alone, not <zlib.h>' '#include <zlib.h>'
breach ingest/shim/planted_room/new.c 'ingest/shim includes ingest/segment.h' '#include "base/hash.h"'
breach ingest/shim/planted_room/new.c 'may not call exit' 'void f(void) {\n    exit(1);\n}'
printf '%s\n' '(does not use|is private to) ' '^docs/design.md: does not know the room ingest/shim/planted_room' >>wanted.txt
expect_breaches

# Rooms: on the floor itself, a room that is not in the list, and a list that says what is not so.
breach query/stray.c 'belongs into a room' 'int stray;'
plant query/fresh/fresh.c 'int fresh;'
sed -i 's/^query\/sql: query\/runs schema/query\/sql: ingest\/writer query\/runs schema/; s/^serve: \(.*\)$/serve: \1 toggle.h/' tree/docs/design.md
printf '%s\n' '^docs/design.md: does not know the room query [(]' '^docs/design.md: does not know the room query/fresh' \
    '^docs/design.md: query/sql uses nothing of ingest/writer' '^docs/design.md: nobody else includes serve/toggle.h' >>wanted.txt
expect_breaches

# An edge that points upwards stays a breach when the list has it.
plant query/sql/ask.c '#include "query/profile/model.h"'
plant ingest/writer/row_writer.c '#include "ingest/read/input.h"'
tree/tests/rooms --write tree || fail "tests/rooms --write"
printf '%s\n' '^docs/design.md: query/sql may not use query/profile: ' '^docs/design.md: ingest/writer may not use ingest/read: ' >>wanted.txt
expect_breaches

# Names that are there twice: the second file in the order of names is blamed.
breach schema/db.c 'struct sums is something else in base/sums.h' 'struct sums {\n    int x;\n};'
plant cli/main.c 'struct planted_here {\n    int x;\n};'
breach export/csv.c 'struct planted_here is something else in cli/main.c' 'struct planted_here {\n    int x;\n};'
breach export/arena.c 'arena is something else in base/arena.c' 'int planted;'
breach serve/graph.h 'graph is something else in query/profile/graph/graph.c' 'extern int planted;'

# A diagnosis that is too long; a section of the doctor that only one of its two views has.
breach schema/doctor/lock.sql 'a diagnosis of more than 80 lines' '-- one line more'
breach schema/views/finding_codes.sql 'only one of it and schema/views/doctor.sql reads doctor_planted' 'FROM doctor_planted'
plant schema/views/doctor.sql 'FROM doctor_forgotten'
printf '%s\n' '^schema/views/finding_codes.sql:1: .*doctor_forgotten$' >>wanted.txt

# SQL made by printf, on one line and over several; SQL of three lines.
breach query/runs/select.c 'SQL made by printf' 'void f(char *b) {\n    sprintf(b, "SELECT * FROM runs WHERE id = %d", 1);\n}'
breach query/runs/run_set.c 'SQL made by printf' 'void f(char *b) {\n    snprintf(b, 10,\n             "DELETE FROM runs WHERE id = %d",\n             1);\n}'
breach schema/db.c 'SQL made by printf' 'void f(void) {\n    char *b = sqlite3_mprintf("INSERT INTO tags VALUES (%Q)", "x");\n}'
breach export/pprof.h 'SQL made by printf' 'void f(struct buffer *b) {\n    buffer_printf(b, " WHERE run_id = %d", 1);\n}'
breach ingest/writer/row_writer.c 'lives in schema/' 'const char sql[] =\n    "SELECT id"\n    " FROM runs"\n    " WHERE id = :run";'
breach export/pprof.c 'lives in schema/' '#define SQL \\\n    "WITH a AS (SELECT 1)" \\\n    " SELECT *" \\\n    " FROM a"'

# The runtime must not end, print, or allocate.
breach ingest/shim/core/runtime.c 'may not call exit' 'void f(void) {\n    exit(1);\n}'
breach ingest/shim/cpu/cpu.c 'may not call _exit' 'void f(void) {\n    if (1) _exit(1);\n}'
breach ingest/shim/heap/heap.c 'may not call abort' 'void f(void) {\n    abort();\n}'
breach ingest/shim/locks/locks.c 'may not call fprintf' 'void f(void) {\n    fprintf(stderr, "x");\n}'
breach ingest/shim/api/api.c 'may not call snprintf' 'void f(char *b) {\n    snprintf(b, 1, "x");\n}'
breach ingest/shim/stacks/intern.c 'may not call malloc' 'void *f(void) {\n    return malloc(1);\n}'
breach ingest/shim/core/real.c 'may not call strdup' '#define F(x) strdup(x)'

# Functions that are too long or take too much.
breach base/buffer.c 'a function of 10[0-9] lines' "void f(void) {\n$(for _ in $(seq 102); do printf '    ;\\n'; done)}"
breach base/map.c 'a function of 8 parameters' 'static int f(int a, int b, int c, int d,\n             int e, int g, int h, int (*callback)(int, int)) {\n}'
breach cli/cli.h 'a function of 9 parameters' 'void f(int a, int b, int c, int d, int e, int g, int h, int i, int j);'
expect_breaches

# What is allowed.
plant cli/main.c '#include "base/hash.h"\n#include "export/export.h"'
plant base/buffer.c '/* #include "schema/db.h" */'
plant base/arena.c '#include "schema/db.h" /* layers-ok: planted by the test */'
plant base/map.c 'static int f(int a, int b, int c, int d, int e, int g, int (*callback)(int, int)) {\n}'
plant base/map.c '/* layers-ok: planted by the test */\nint f(int a, int b, int c, int d, int e, int g, int h, int i);'
plant query/runs/select.c 'void f(char *b) {\n    sprintf(b, "%d runs", 1);\n    db_prepare("SELECT 1");\n}'
plant ingest/writer/row_writer.c 'const char sql[] =\n    "SELECT id"\n    " FROM runs";\nconst char help[] =\n    "a"\n    "b"\n    "c";'
plant ingest/shim/core/runtime.c 'void f(void) {\n    real.free(p); /* not exit(1) */\n    my_exit(1);\n}'
said=$(tree/tests/check-layers tree 2>&1) || fail "wrongly blamed: $said"
plant query/gate/accepted.h '#include "query/doctor/calls_private.h"'
plant query/doctor/calls_private.h 'extern int x;'
plant query/fresh/fresh.c '#include "query/profile/model.h"'
tree/tests/rooms --write tree || fail "tests/rooms --write"
said=$(tree/tests/check-layers tree 2>&1) || fail "written down, and still blamed: $said"

# A command that nobody tests or describes.
sed -i '0,/^ *ROW(profile, /s//    ROW(transmogrify, ASK, "x"),\n&/' tree/cli/main.c
said=$(tree/tests/check-layers tree 2>&1) && fail "a new command without test, text and code was not seen"
for what in 'no function' 'no scenario' 'no table of options' 'no section SYNOPSIS'; do
    expect_match "$said" "transmogrify.*$what|$what" "a new command"
done
