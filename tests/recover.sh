#!/usr/bin/env bash
# A run whose end cannot be stored is kept and recovered: a warehouse that is locked for a while, or for good. tests/kill_clear.sh kills
# clear, tests/disk_full.sh has a full disk. The programs count what they do themselves.
# alone: it looks for what is left in /dev/shm
. "$(dirname "$0")/lib.sh"

cat >lock.py <<'END'
"""lock.py DB FILE: locks the warehouse against writers until FILE is there."""
import os, sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
db.execute("PRAGMA journal_mode = WAL") # as another recorder has it
db.execute("BEGIN IMMEDIATE")
open("locked", "w").close()
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
db.execute("ROLLBACK")
END
locked_profile() { # locked_profile COMMAND...: the file is locked as soon as the program runs; until there is a file `free`
    rm -f locked free stop out.txt
    "$CLEAR" profile --db t.db --interval 1000 --label kept --tag a=b -- "$@" >out.txt 2>err.txt &
    pid=$!
    wait_for "the program's start" test -s count
    python3 lock.py t.db free &
    lock=$!
    wait_for 'a lock' test -e locked
    touch stop
    wait_for 'a message about the lock' grep -q 'locked by another process' err.txt
}
recorded() { sql "$1" "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress' AND run_id = (SELECT max(id) FROM runs)"; }
counted() { sed -n 's/^done //p' out.txt; }

"$CLEAR" profile -q --db t.db true || fail 'no first run'
expect_equal "$("$CLEAR" recover --db t.db)" 'nothing to recover' 'recover without a reason'

# Locked at the start: the program starts, and its run is stored when the lock goes. tests/locked.sh has other locks.
rm -f locked free
python3 lock.py t.db free &
lock=$!
wait_for 'a lock' test -e locked
"$CLEAR" profile --db t.db -- sh -c 'touch ran; exit 3' >out.txt 2>err.txt &
pid=$!
wait_for 'a message about the lock' grep -q 'is locked by another process (python3, pid [0-9]*); the program starts, and the run is stored as soon' err.txt
wait_for 'the program' test -e ran
touch free
wait "$pid"
expect_equal $? 3 'status of a program whose warehouse was locked'
wait "$lock"
expect_equal "$(sql t.db 'SELECT exit_status, flags FROM runs ORDER BY id DESC LIMIT 1')" '3|' 'its run'

# The lock goes: the run is stored as if nothing had been.
rm -f count
locked_profile "$FIXTURES/progress" count 300000 stop
touch free
wait "$pid"
expect_equal $? 9 'status of the program'
wait "$lock"
expect_equal "$(recorded t.db)" "$(counted)" 'allocations'
expect_equal "$(sql t.db 'SELECT exit_status, flags FROM runs ORDER BY id DESC LIMIT 1')" '9|' 'the run'
[ ! -e t.db.lost ] || fail 'something was kept'

# Ctrl-C: kept, only for the user, and the status is that of the program.
rm -f count
locked_profile "$FIXTURES/progress" count 300000 stop
kill -INT "$pid"
wait "$pid"
expect_equal $? 9 'status of the program when the end is kept'
place=$(sed -n 's/.*stores it: clear recover //p' err.txt)
[ -d "$place" ] || fail "no place is named: $(cat err.txt)"
expect_equal "$(stat -c %a "$place" "$(dirname "$place")" | sort -u)" 700 'who may read what is kept'
expect_equal "$(dirname "$place")" "$TMP/t.db.lost" 'the place'
expect_match "$("$CLEAR" recover --db t.db --list)" "^$place: .* label kept, .* 1 process: .*progress count 300000 stop" 'list'
expect_equal "$("$CLEAR" recover --db t.db --list --json | python3 -c '
import json, sys
one, = (lost for lost in json.load(sys.stdin) if lost["label"] == "kept") # not those of other tests
print(one["label"], one["run"], one["processes"], one["running"], one["warehouse"])')" "kept None 1 0 $TMP/t.db" 'list as JSON'
touch free
wait "$lock"

# Of a version with another layout, which its size tells: left.
cp -a "$place" copy
printf '\377' | dd of=copy/control bs=1 seek=8 conv=notrunc 2>/dev/null
expect_status 1 "$CLEAR" recover --db other.db copy >said.txt 2>&1
expect_match "$(cat said.txt)" 'control: is not that of a recording of this version' 'another layout'
[ -d copy ] || fail 'a recording of another layout was removed'
rm -rf copy other.db

# Once into another warehouse, by a copy, then where it belongs.
cp -a "$place" copy
cp -a "$place" copy.again
"$CLEAR" recover --db other.db copy >said.txt 2>&1 || fail "another warehouse: $(cat said.txt)"
expect_equal "$(recorded other.db)" "$(counted)" 'allocations in another warehouse'
expect_equal "$(sql other.db 'SELECT label, exit_status, key, value FROM runs JOIN tags ON run_id = id')" 'kept|9|a|b' 'the run there'
# The same recording once more, as after a kill between storing and removing: nothing is there twice.
"$CLEAR" recover --db other.db copy.again >said.txt 2>&1 || fail "the same recording twice: $(cat said.txt)"
expect_equal "$(recorded other.db)" "$(counted)" 'allocations after the same recording twice'
expect_equal "$(sql other.db 'SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM tags), (SELECT count(*) FROM processes)')" '1|1|1' \
    'runs, tags and processes after the same recording twice'
"$CLEAR" recover --db t.db >said.txt 2>&1 || fail "recover: $(cat said.txt)"
expect_match "$(cat said.txt)" "^$place: run 4, label kept" 'what recover says'
[ ! -e t.db.lost ] && [ ! -e copy ] && [ ! -e copy.again ] || fail 'something is left'
expect_equal "$(recorded t.db)" "$(counted)" 'recovered allocations'
expect_equal "$(sql t.db 'SELECT id, exit_status, flags FROM runs ORDER BY id DESC LIMIT 1')" '4|9|' 'the recovered run'
expect_equal "$(sql t.db "SELECT uuid FROM runs WHERE id = 4")" "$(sql other.db 'SELECT uuid FROM runs')" 'uuid'
check_db t.db
check_db other.db

# A program that was built for the recording has names, though its files are gone. One that runs is left until it has ended.
printf '%s\n' '#include <fcntl.h>' '#include <stdlib.h>' '#include <unistd.h>' '__attribute__((noinline)) void *grows(void) { void *volatile block = malloc(10); return block; }' \
    'int main(void) { for (int i = 0; i < 321; i++) grows(); close(creat("count", 0600)); while (access("stop", F_OK)) usleep(10000); }' >built.c
rm -f count stop
"$CLEAR" profile --db t.db built.c >out.txt 2>err.txt &
pid=$!
wait_for "the program's start" test -e count
kill -KILL "$pid"
wait "$pid" 2>/dev/null
expect_match "$("$CLEAR" recover --db t.db 2>&1)" '1 recording left, because the program runs' 'recover while the program runs'
expect_match "$("$CLEAR" recover --db other.db 2>&1)" '[0-9] recordings? for other warehouses' 'recover elsewhere'
"$CLEAR" profile -q --db other.db true
touch stop
wait_for 'a recording that is complete' eval '"$CLEAR" recover --db t.db --list | grep -q "t.db, complete"'
"$CLEAR" recover --db t.db >said.txt 2>&1 || fail "recover: $(cat said.txt)"
expect_equal "$(sql t.db "SELECT function, file LIKE '%/built.c', sum(alloc_count) FROM heap WHERE run_id = 5 AND function = 'grows' GROUP BY 1, 2")" 'grows|1|321' \
    'the program that was built'
expect_equal "$("$CLEAR" recover --db t.db --json)" '[]' 'recover once more'
"$CLEAR" profile -q --db other.db true
# Killed when all was stored and the recording not removed yet: the next one stores what perf left in place of it, not beside it.
if perf_records cpu-clock; then
    rm -f count stop
    "$CLEAR" profile --db perf.db --cpu=perf --counters -o out -- "$FIXTURES/progress" count 300000 stop >out.txt 2>err.txt &
    pid=$!
    wait_for "the program's start" test -s count
    has_computed() { # perf has samples of it by then
        local program
        program=$(pgrep -P "$pid" -x progress | head -n 1) && [ "$(awk '{ print $14 + $15 }' "/proc/$program/stat")" -ge 50 ]
    }
    wait_for 'half a second of CPU time' has_computed
    kill -KILL "$pid"
    touch stop
    wait "$pid" 2>/dev/null
    is_complete() { "$CLEAR" recover --db perf.db --list | grep -q 'perf.db, complete'; }
    wait_for 'a recording that is complete' is_complete
    place=$("$CLEAR" recover --db perf.db --list --json | python3 -c "
import json, sys
print(*(lost['directory'] for lost in json.load(sys.stdin) if lost['warehouse'] == '$TMP/perf.db'))")
    perf_has_ended() { ! pgrep -f "$place/perf.data" >/dev/null; }
    wait_for 'the end of perf, which writes its samples then' perf_has_ended
    cp -a "$place" once.more
    "$CLEAR" recover --db perf.db >said.txt 2>&1 || fail "recover: $(cat said.txt)"
    stored() { sql perf.db "SELECT count(*), (SELECT count(*) FROM counters), (SELECT sum(cpu_ns) FROM cpu), (SELECT count(*) FROM processes) FROM profiles"; }
    first=$(stored)
    [ "$(sql perf.db 'SELECT count(*) FROM cpu')" -gt 0 ] || fail "perf left no sample: $(cat said.txt)"
    "$CLEAR" recover --db perf.db once.more >said.txt 2>&1 || fail "recover once more: $(cat said.txt)"
    expect_equal "$(stored)" "$first" 'profiles, counters, CPU time and processes after the same recording twice'
    check_db perf.db
fi
mkdir none
expect_status 1 "$CLEAR" recover none 2>err.txt
expect_match "$(cat err.txt)" 'none: is not a recording' 'a directory without one'
free_shm_check
