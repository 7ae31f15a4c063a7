#!/usr/bin/env bash
# Whatever ends the process that reads segments and writes rows: the program runs to its own end, its status and its output are what they
# are without clear, one line says what to type, and clear recover stores all that the program did, to the last allocation.
# tests/kill_clear.sh kills the other one of the two.
# plain: a sanitizer catches the SIGSEGV of the test
. "$(dirname "$0")/lib.sh"

recorder() { pgrep -P "$pid" -x clear-recorder || fail "no recorder: $(ps --ppid "$pid" -o pid,comm) $(cat err.txt)"; }
start() { # start COMMAND...: in the background, until it has written the file `count`
    rm -f count stop out.txt
    "$CLEAR" profile --db t.db --interval 0.1 -o out -- "$@" >out.txt 2>err.txt &
    pid=$!
    wait_for "the program's start" test -s count
}
recorded() { sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress' AND run_id = (SELECT max(id) FROM runs)"; }
flushed() { [ "$(recorded)" ] 2>/dev/null; }
gone() { ! kill -0 "$1" 2>/dev/null; }
place() { sed -n 's/.*this stores it: clear recover //p' err.txt; }
expect_recovered() { # expect_recovered WHAT [PROCESSES]: by the command that was named
    local lost
    lost=$(place)
    [ -d "$lost" ] || fail "$1: no place is named: $(cat err.txt)"
    expect_match "$("$CLEAR" recover "$lost")" "^$lost: run [0-9]+, .* ${2:-1 process}: .*progress count 300000 stop" "$1: what recover says"
    expect_equal "$(recorded)" "$(sed -n 's/^done //p' out.txt)" "$1: recovered allocations"
    expect_equal "$(sql t.db 'SELECT exit_status, flags FROM runs ORDER BY id DESC LIMIT 1')" '9|' "$1: the run"
    [ ! -e "$lost" ] || fail "$1: $lost is left"
    check_db t.db
}

for signal in SEGV KILL ABRT; do
    rm -f t.db*
    start "$FIXTURES/progress" count 300000 stop
    [ $signal = KILL ] || wait_for 'a flush' flushed # else none, or one, or a part of one
    one=$(recorder)
    kill "-$signal" "$one"
    wait_for 'a message while the program runs' grep -q 'the recorder was ended by signal .*; the program runs on, and what it does is kept$' err.txt
    kill -0 "$pid" || fail "SIG$signal of the recorder ended the command"
    touch stop
    wait "$pid"
    expect_equal $? 9 "status after SIG$signal"
    expect_match "$(cat err.txt)" 'clear: the recording is not all stored, because the recorder was ended by signal .*; it is kept, and this stores it: clear recover /' \
        "what clear says after SIG$signal"
    expect_recovered "SIG$signal"
done

# Out of memory, under a limit of its own: it dies, or can store nothing more. (What a limit of a group of processes does is a SIGKILL, as above.)
rm -f t.db*
start "$FIXTURES/progress" count 300000 stop
wait_for 'a flush' flushed
prlimit --pid "$(recorder)" --data=1000000
touch stop
wait "$pid"
expect_equal $? 9 'status without memory'
if grep -q '^clear: run 1 in t.db: ' err.txt; then # what it had was enough for the end
    expect_equal "$(recorded)" "$(sed -n 's/^done //p' out.txt)" 'stored with the memory that it had'
else
    expect_match "$(cat err.txt)" 'clear: .*(out of|allocate) memory' 'what clear says without memory'
    expect_recovered 'no memory' '(1 process|0 processes)' # 0: only the end was not stored, or what comes behind it
fi

# In the middle of storing the end: the file is locked then.
cat >lock.py <<'END'
import os, sqlite3, sys, time
db = sqlite3.connect("t.db", isolation_level=None, timeout=20)
db.execute("PRAGMA journal_mode = WAL")
db.execute("BEGIN IMMEDIATE")
open("locked", "w").close()
while not os.path.exists("free"):
    time.sleep(0.02)
db.execute("ROLLBACK")
END
lock() { rm -f locked free; python3 lock.py & locker=$!; wait_for 'a lock' test -e locked; }
start "$FIXTURES/progress" count 300000 stop
one=$(recorder)
lock
touch stop
wait_for 'a message about the lock' grep -q 'the run is stored as soon as it is free' err.txt
kill -KILL "$one"
wait "$pid"
expect_equal $? 9 'status when the recorder ends after the program'
touch free
wait "$locker"
expect_recovered 'the recorder ended after the program'

# Signals still reach the program, and those that were for the recorder do not end it. A signal that ends the program ends clear.
rm -f count stop
"$CLEAR" profile --db t.db --start=off -o out -- perl -e '$| = 1; $SIG{TERM} = sub { print "asked\n"; kill "KILL", $$ };
    open(my $count, ">", "count"); print $count 1; close $count; select undef, undef, undef, 0.02 while 1' >out.txt 2>err.txt &
pid=$!
wait_for "the program's start" test -s count
kill -SEGV "$(recorder)"
wait_for 'a message' grep -q 'the program runs on' err.txt
kill -USR2 "$pid"
kill -TERM "$pid"
wait "$pid"
expect_equal $? 137 'status of a program that a signal ended'
expect_equal "$(cat out.txt)" asked 'what the program said'
"$CLEAR" recover "$(place)" >/dev/null || fail 'recover of a program that a signal ended'
expect_equal "$(sql t.db 'SELECT exit_signal FROM runs ORDER BY id DESC LIMIT 1')" 9 'the signal in the run'

# Nor is anything lost where the file was locked already when the program was to start.
lock
start "$FIXTURES/progress" count 300000 stop
touch stop
wait_for 'a message about the lock' grep -q 'the run is stored as soon as it is free' err.txt
kill -KILL "$(recorder)"
wait "$pid"
expect_equal $? 9 'status of a program that started beside a lock'
touch free
wait "$locker"
expect_recovered 'the file was locked from the beginning'

(ulimit -d 20000; "$CLEAR" profile --db small.db -o out -- true 2>&1; echo "status $?") >said.txt
expect_match "$(cat said.txt)" '^clear: a process may have no more than 20480000 bytes of data here \(ulimit -d\), and a recording needs 24 MiB or more; the program was not started
status 1$' 'ulimit -d 20000'
