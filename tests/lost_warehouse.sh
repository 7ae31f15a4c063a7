#!/usr/bin/env bash
# The warehouse goes while the program runs (its directory is removed, another file takes its name), or may not grow (ulimit -f): the
# status is the program's, one line says what happened and what to type, and that stores the run. tests/disk_full.sh has a full disk.
. "$(dirname "$0")/lib.sh"

place() { # place FILE: what clear said to type
    local said
    said=$(sed -n 's/.*this stores it: clear recover //p' "$1")
    [ -n "$said" ] || fail "$1 says nothing of clear recover: $(cat "$1")"
    echo "$said"
}
stop_program() {
    touch stop
    wait "$pid"
    expect_equal $? 9 "status, $1"
}
start() { # start DATABASE: until the program runs
    rm -f count stop
    "$CLEAR" profile --db "$1" --interval 1000 -o "$TMP/out" -- "$FIXTURES/progress" "$TMP/count" 300000 "$TMP/stop" >out.txt 2>err.txt &
    pid=$!
    wait_for "the program's start" test -s count
}
expect_stored() { # expect_stored DATABASE WHAT
    expect_equal "$(sql "$1" "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress'")" "$(sed -n 's/^done //p' out.txt)" "allocations, $2"
    expect_equal "$(sql "$1" 'SELECT count(*), max(exit_status), max(flags) FROM runs')" '1|9|' "the run, $2"
    check_db "$1"
}

mkdir gone
start gone/t.db
rm -r gone
stop_program 'its directory removed'
expect_match "$(cat err.txt)" '^clear: gone/t.db was removed or moved while the program ran, with what was stored in it$' 'message, its directory removed'
expect_match "$(place err.txt)" '^--db FILE /' 'what to type, its directory removed'
lost=$(place err.txt)
"$CLEAR" recover --db found.db "${lost#--db FILE }" >said.txt 2>&1 || fail "recover: $(cat said.txt)"
expect_stored found.db 'its directory removed'

# The name is another file's by now: that one gets the run, by the command as it was named.
start t.db
rm t.db*
"$CLEAR" schema --db t.db >schema.txt 2>&1
stop_program 'another file has its name'
expect_match "$(cat err.txt)" '^clear: t.db was removed or moved while the program ran' 'message, another file has its name'
lost=$(place err.txt) || exit
"$CLEAR" recover "$lost" >said.txt 2>&1 || fail "recover: $(cat said.txt)"
expect_stored t.db 'another file has its name'

# Files may not grow, from the beginning or from where the changes of several flushes do not fit any more. The pipe is no file.
limited() { # limited KIB INTERVAL COMMAND...
    (ulimit -f "$1"; interval=$2; shift 2; "$CLEAR" profile --interval="$interval" --db small.db -o out -- "$@" 2>&1; echo "status $?") | cat >said.txt
}
limited 0 100ms touch ran
expect_match "$(cat said.txt)" '^clear: files may have no more than 0 bytes here \(ulimit -f\), and a recording needs a MiB or more; the program was not started' 'ulimit -f 0'
expect_match "$(cat said.txt)" 'status 1$' 'ulimit -f 0'
[ ! -e ran ] || fail 'the program ran'
cat >stacks.c <<'END'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) static int deeper(unsigned path, int left) {
    if (left == 0) { free(malloc(8)); return 1; }
    return path & 1 ? deeper(path >> 1, left - 1) + 1 : deeper(path >> 1, left - 1) + 2;
}
int main(void) { for (unsigned path = 0; path < 16384; path++) { deeper(path, 14); if (path % 16 == 0) usleep(1000); } return 5; }
END
${CC:-gcc} -O0 -o stacks stacks.c
is_run_after() { # is_run_after LIMIT
    expect_equal "$(sql small.db 'SELECT count(*), max(exit_status) FROM runs')" '1|5' "the run after $1"
    check_db small.db
}
# Of one flush the -wal holds all: then the run is stored, and the limit is met where that becomes one file. The next clear makes it one.
limited 1400 5s ./stacks
expect_match "$(cat said.txt)" 'the run is stored, but .*nothing is lost.*a file has the most bytes that it may have \(ulimit -f\)' 'a limit that one file meets'
expect_match "$(cat said.txt)" 'status 5$' 'a limit that one file meets'
[ -s small.db-wal ] || fail 'there is no -wal'
"$CLEAR" schema --db small.db >out.txt 2>&1 || fail "schema: $(cat out.txt)"
[ ! -e small.db-wal ] || fail 'it is still two files'
is_run_after 'a limit that one file meets'
rm -r small.db*
# Of several flushes, which a busy machine may have fewer of, it does not: then the end of the run is kept beside the file.
limited 1400 100ms ./stacks
expect_match "$(cat said.txt)" 'a file has the most bytes that it may have \(ulimit -f\)' 'a limit that is met at the end'
expect_match "$(cat said.txt)" 'status 5$' 'a limit that is met at the end'
if ! grep -q 'the run is stored, but ' said.txt; then
    lost=$(place said.txt) || exit
    "$CLEAR" recover "$lost" >out.txt 2>&1 || fail "recover: $(cat out.txt)"
fi
is_run_after 'a limit that is met at the end'
