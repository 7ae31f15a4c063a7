#!/usr/bin/env bash
# Other SQLite programs have the warehouse open in a transaction: no recording waits for them to begin, a command that must wait says so
# and for whom, what a recorder could not store is kept, and a closed warehouse is one file as soon as nobody else has it open.
# plain: a library is preloaded into clear, before that of a sanitizer
. "$(dirname "$0")/lib.sh"

cat >hold.py <<'END_OF_PYTHON'
"""hold.py DB SQL...: runs the statements, says so, and holds what they locked until its input ends."""
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
for sql in sys.argv[2:]:
    db.execute(sql).fetchall()
print("held", flush=True)
sys.stdin.read()
END_OF_PYTHON
cat >built.c <<'END_OF_C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void *grows(void) { void *volatile block = malloc(10); return block; }
int main(void) { for (int i = 0; i < 321; i++) grows(); puts("grown"); fflush(stdout); return getchar() == EOF ? 5 : 6; }
END_OF_C
READ=(BEGIN 'SELECT * FROM runs')
hold() { # hold SQL...: another program has t.db so until `release`; 7 and 8 are its ends
    mkfifo to from
    python3 hold.py t.db "$@" <to >from 8>&- 7>&- &
    holder=$!
    exec 7>to 8<from
    read -r -u 8 said && [ "$said" = held ] || fail "hold.py $*"
}
release() {
    exec 7>&- 8<&-
    wait "$holder" || fail 'hold.py failed'
    rm to from
}
start() { # start COMMAND...: in the background, without the ends of the pipes
    : >out.txt
    : >err.txt
    "$CLEAR" "$@" >out.txt 2>err.txt 7>&- 8>&- 9>&- &
    pid=$!
}
is_one_file() {
    expect_equal "$(echo t.db*)" t.db "files $*"
    expect_equal "$(sql t.db 'PRAGMA journal_mode')" delete "mode of the closed warehouse $*"
}
locked_by() { echo "t.db is locked by another process \\(python3, pid $holder\\); $1"; }

"$CLEAR" profile -q --no-files --db t.db true || fail 'no first run'
is_one_file 'after a run'

# ---- a recording, while others have the file as it is closed, and as a recorder has it ----

for sql in 'BEGIN|SELECT * FROM runs' 'BEGIN IMMEDIATE' 'BEGIN EXCLUSIVE' 'PRAGMA journal_mode = WAL|BEGIN IMMEDIATE'; do
    IFS='|' read -ra statements <<<"$sql"
    before=$(sql t.db 'SELECT max(id) FROM runs')
    # The other ends while the program runs: the run goes on in the warehouse.
    hold "${statements[@]}"
    mkfifo input
    exec 9<>input
    start profile --no-files --db t.db --interval 0.02 --label late --tag how=late built.c <input
    wait_for_text grown out.txt
    expect_match "$(cat err.txt)" "$(locked_by 'the program starts, and the run is stored as soon as the file is free')" "$sql: at the start"
    release
    wait_for_text 'clear: t.db is free; the run is stored in it' err.txt
    exec 9>&-
    wait "$pid"
    expect_equal $? 5 "$sql: status of the program"
    expect_equal "$(sql t.db "SELECT id - $before, label, exit_status, flags, (SELECT value FROM tags WHERE run_id = id AND key = 'how') FROM runs WHERE id > $before")" \
        '1|late|5||late' "$sql: the run"
    expect_equal "$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'grows' AND run_id > $before")" 321 "$sql: allocations"
    expect_equal "$(sql t.db "SELECT path LIKE '%/built.c', text = CAST(readfile('built.c') AS TEXT) FROM sources JOIN source_texts ON source_texts.id = text_id WHERE run_id > $before")" \
        '1|1' "$sql: the source"
    # It does not: the end of the run waits, says so, and Ctrl-C keeps the run.
    hold "${statements[@]}"
    start profile --no-files --db t.db --label kept built.c </dev/null
    wait_for_text "$(locked_by 'the run is stored as soon as it is free')" err.txt
    expect_equal "$(cat out.txt)" grown "$sql: the program's output"
    kill -INT "$pid"
    wait "$pid"
    expect_equal $? 5 "$sql: status of the program when its run is kept"
    release
    "$CLEAR" recover --db t.db >said.txt 2>&1 || fail "$sql: recover: $(cat said.txt)"
    expect_equal "$(sql t.db "SELECT id - $before, label, exit_status, flags FROM runs WHERE id > $before + 1")" '2|kept|5|' "$sql: the recovered run"
    expect_equal "$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'grows' AND run_id = $before + 2")" 321 "$sql: recovered allocations"
    expect_equal "$(sql t.db "SELECT count(*) FROM sources WHERE run_id = $before + 2")" 1 "$sql: the recovered source"
    is_one_file "after $sql"
    [ ! -e t.db.lost ] || fail "$sql: something is left"
    rm -f input
done

# The supervisor stands still while the recorder starts the program, and finds a signal together with the word that the program runs: it is the program's.
echo 'trap "echo got it; exit 3" USR2; echo ready; for i in $(seq 100); do sleep 0.1; done' >wants_usr2.sh
hold 'BEGIN EXCLUSIVE'
start profile -q --no-files --db t.db bash wants_usr2.sh
wait_for 'a recorder' pgrep -P "$pid" -x clear-recorder >/dev/null
kill -STOP "$pid"
wait_for_text ready out.txt
kill -USR2 "$pid"
kill -CONT "$pid"
release
wait "$pid"
expect_equal "$? $(tail -n 1 out.txt)" '3 got it' "a signal that comes as the supervisor hears of the program: $(cat err.txt)"

# Killed while it waits, and another clear removes what it had built.
before=$(sql t.db 'SELECT max(id) FROM runs')
hold "${READ[@]}"
mkfifo input
exec 9<>input
start profile --no-files --db t.db --label killed built.c <input
wait_for_text grown out.txt
kill -KILL "$pid"
wait "$pid" 2>/dev/null
release
exec 9>&-
"$CLEAR" profile -q --no-files --db other.db true || fail 'no other run'
is_complete() { "$CLEAR" recover --db t.db --list | grep -q 't.db, complete'; }
wait_for 'a recording that is complete' is_complete
"$CLEAR" recover --db t.db >said.txt 2>&1 || fail "recover after a kill: $(cat said.txt)"
expect_equal "$(sql t.db "SELECT id - $before, label, (SELECT sum(alloc_count) FROM heap WHERE function = 'grows' AND run_id = id) FROM runs WHERE id > $before")" \
    '1|killed|321' 'the run of a recorder that was killed while it waited'

# A reader in WAL mode is in nobody's way, and nobody waits for it at the end; whoever closes the file last leaves one.
hold 'PRAGMA journal_mode = WAL' "${READ[@]}"
before=$(sql t.db 'SELECT max(id) FROM runs')
start profile -q --no-files --db t.db true
wait "$pid" || fail "a reader in WAL mode: $(cat err.txt)"
expect_equal "$(cat err.txt)" '' 'what is said where nobody waits'
expect_equal "$(sql t.db "SELECT max(id) - $before FROM runs")" 1 'a run beside a reader'
release
"$CLEAR" tag --db t.db 1 one=file >said.txt 2>&1 || fail "$(cat said.txt)"
is_one_file 'after a reader in WAL mode'

# A -wal that a killed writer left, and a reader of it.
cat >killed.py <<'END_OF_PYTHON'
import os, sqlite3
db = sqlite3.connect("t.db", isolation_level=None)
for sql in "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "INSERT INTO tags VALUES (1, 'killed', '9')":
    db.execute(sql)
os.kill(os.getpid(), 9)
END_OF_PYTHON
python3 killed.py 2>/dev/null
[ -s t.db-wal ] || fail 'no -wal is left'
hold "${READ[@]}"
start profile -q --no-files --db t.db true
wait "$pid" || fail "a -wal that was left: $(cat err.txt)"
expect_equal "$(cat err.txt)" '' 'what is said of a -wal that was left'
release
"$CLEAR" tag --db t.db 1 two=files >said.txt 2>&1 || fail "$(cat said.txt)"
expect_equal "$(sql t.db "SELECT value FROM tags WHERE key = 'killed'")" 9 'what the killed writer had stored'
is_one_file 'after a killed writer'

# ---- other commands ----

cp t.db other.db && rm input
"$CLEAR" profile -q --no-files --db other.db true
printf 'main;work 7\n' >stacks.folded
waits() { # waits COMMAND...: says for whom, and goes on when that one ends
    hold "${READ[@]}"
    start "$@"
    wait_for 'what it says' eval 'grep -Eq "$(locked_by "waiting for it, 10 s at most")" err.txt || ! kill -0 "$pid" 2>/dev/null'
    expect_match "$(cat err.txt)" "$(locked_by 'waiting for it, 10 s at most')" "$*"
    release
    wait "$pid" || fail "$*: $(cat err.txt)"
    is_one_file "after $*"
}
waits tag --db t.db 1 a=b
waits label --db t.db 1 first
waits pin --db t.db 1
waits ingest --db t.db stacks.folded
waits merge t.db other.db
waits gc --db t.db --keep 30d
waits rm --db t.db 2
expect_equal "$(sql t.db "SELECT label, (SELECT value FROM tags WHERE run_id = id AND key = 'a') FROM runs WHERE id = 1")" 'first|b' 'what waited'

# The documented time is over: a failure, and nothing has changed.
hold "${READ[@]}"
cp t.db before.db
expect_status 1 "$CLEAR" tag --db t.db 1 never=this 2>err.txt 7>&- 8>&-
expect_match "$(cat err.txt)" "t.db: .*database is locked by another process \\(python3, pid $holder\\)" 'giving up'
release
expect_same_file t.db before.db 'after giving up'

# Nobody else needs to wait for a reader: those who read.
hold "${READ[@]}"
start runs --db t.db
wait "$pid" || fail "runs: $(cat err.txt)"
expect_equal "$(cat err.txt)" '' 'what a reader says beside a reader'
release

# ---- no locks at all ----

cat >nolock.c <<'END_OF_C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#define DEFINE(name) \
    int name(int file, int command, ...) { \
        va_list list; \
        va_start(list, command); \
        void *argument = va_arg(list, void *); \
        va_end(list); \
        int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name); \
        if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) return errno = ENOLCK, -1; \
        return real(file, command, argument); \
    }
DEFINE(fcntl)
DEFINE(fcntl64)
END_OF_C
"${CC:-cc}" -shared -fPIC -o nolock.so nolock.c -ldl || fail 'nolock.c'
for command in "profile --db t.db touch ran" "profile --db new.db touch ran" "tag --db t.db 1 a=c" "runs --db t.db"; do
    # shellcheck disable=SC2086
    expect_status 1 env LD_PRELOAD="$PWD/nolock.so${LD_PRELOAD:+:$LD_PRELOAD}" "$CLEAR" $command >out.txt 2>err.txt
    expect_match "$(cat err.txt)" 'cannot be locked \(No locks available\), which SQLite needs: keep it on another file system' "$command without locks"
    [ ! -e ran ] && [ ! -e new.db ] || fail "$command without locks: $(ls)"
done
check_db t.db
