# clear doctor --what-if: a schedule that can be worked out by hand, what is refused, and a program whose mended lock is known to bring nothing.
# quick
. "$(dirname "$0")/lib.sh"

# Main (1) starts 2 and 3 after 10 ms and waits for both. 2 takes the lock after 10 ms for 100; 3 asks for it after 20 ms and has it for 100.
# Both work for 10 ms more, and main for 10.
cat "$ROOT/schema/tables.sql" - <<'SQL' | sqlite3 t.db || fail 'making t.db'
INSERT INTO runs(id, uuid, command, started_ns, duration_ns, exit_status, source) VALUES (1, 'a', 'x', 1700000000000000000, 240000000, 0, 'profile');
INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns) VALUES (1, 1, 1, 0, '/x', 1700000000000000000, 1700000000300000000);
INSERT INTO profiles(id, run_id, process_id, kind, period) VALUES (1, 1, 1, 'lock', 1);
INSERT INTO objects(id, kind, identity, name) VALUES (1, 'lock', 'a', 'x:the:lock'), (2, 'wait', 'b', 'thread'), (3, 'lock', 'c', 'x:other');
INSERT INTO locks(profile_id, object_id, address, kind, acquires, contended, wait_ns, hold_ns) VALUES (1, 1, 100, 'mutex', 2, 1, 90000000, 200000000);
INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid) VALUES
    (1, 2, 16000000, 0, 'birth', 2, 0, 0, 1), (1, 3, 10000000, 0, 'birth', 2, 0, 0, 1),
    (1, 2, 20000000, 100000000, 'hold', 1, 100, 0, NULL), (1, 3, 30000000, 90000000, 'mutex', 1, 100, 0, 2),
    (1, 3, 120000000, 100000000, 'hold', 1, 100, 0, NULL), (1, 2, 130000000, 0, 'death', 2, 0, 0, NULL),
    (1, 3, 230000000, 0, 'death', 2, 0, 0, NULL), (1, 1, 10000000, 120000000, 'join', 2, 1, 0, 2), (1, 1, 130000000, 100000000, 'join', 2, 2, 0, 3);
SQL
predict() { "$CLEAR" doctor --db t.db --what-if "lock=x:the:lock:$1" --json 2>err.txt | python3 -c 'import json, sys
found = json.load(sys.stdin)
print(found["replayed_ns"], found["predicted_ns"], found["least_ns"], found["most_ns"])' || fail "--what-if $1: $(cat err.txt)"; }
expect_equal "$(predict free)" '240000000 150000000 150000000 150000000' 'a free lock: both hold at once'
expect_equal "$(predict half)" '240000000 140000000 140000000 140000000' 'half the hold'
expect_equal "$(predict shards=8 | cut -d' ' -f1,3,4)" '240000000 150000000 240000000' 'parts: both meet in one, or do not'
expect_equal "$(predict shards=8)" "$(predict shards=8)" 'the same question'
expect_match "$("$CLEAR" doctor --db t.db --what-if lock=x:the:lock:free)" 'predicted +150\.0 ms instead of 240\.0 ms: 1\.60 times as fast; replays with other guesses take 150\.0 ms to 150\.0 ms' 'the text'
# Who joins 2 alone sees the end of 3 too, where that one had ended before: such a join is no event.
sql t.db "DELETE FROM events WHERE kind = 'join' AND owner_tid = 2; UPDATE events SET start_ns = 10000000, duration_ns = 220000000 WHERE kind = 'join'"
expect_equal "$(predict free)" '240000000 150000000 150000000 150000000' 'a join that did not wait'

refused() { # refused STATUS REGEX REQUEST [ARGUMENT...]
    local status=$1 regex=$2 request=$3
    shift 3
    expect_status "$status" "$CLEAR" doctor --db t.db --what-if "$request" "$@" >out.txt 2>err.txt
    expect_match "$(cat err.txt)" "$regex" "what is said to: $request"
    expect_equal "$(wc -c <out.txt)" 0 "output of: $request"
}
refused 2 "^clear: --what-if takes lock=NAME:free, lock=NAME:half or lock=NAME:shards=8, not 'x'" x
refused 2 "^clear: --what-if: 'gone' is not free, half or shards=N" lock=x:the:lock:gone
refused 2 '^clear: --what-if shards' lock=x:the:lock:shards=1
refused 2 "no wait for a lock 'x:other' is known .*--trace=lock,wait,hold,thread; most was waited for x:the:lock" lock=x:other:free
refused 2 '^clear: --what-if is about one whole run' lock=x:the:lock:free --peek main
sql t.db "UPDATE locks SET wait_ns = 200000000"
refused 1 'the events have only 45 % of the time of the waits for x:the:lock; a replay needs 90 %' lock=x:the:lock:free
sql t.db "UPDATE locks SET wait_ns = 90000000; UPDATE processes SET lost_events = 3"
refused 1 'the process lost 3 events' lock=x:the:lock:free
sql t.db "UPDATE processes SET lost_events = 0; UPDATE runs SET duration_ns = 900000000; UPDATE events SET start_ns = 130000000, duration_ns = 770000000 WHERE kind = 'join'"
refused 1 'the run as it was takes 230\.0 ms in a replay and 900\.0 ms in truth: its waits are not all seen' lock=x:the:lock:free
sql t.db "DELETE FROM events WHERE kind = 'hold'"
refused 1 'no hold of the lock was recorded' lock=x:the:lock:free
sql t.db "DELETE FROM events; DELETE FROM locks"
refused 2 'no thread of the run waited for a lock' lock=x:the:lock:free

# Saving takes 60 ms of sleep each time, whoever waits meanwhile: a free lock brings nothing, and half the hold brings half of 8 * 60 ms.
"$CLEAR" profile -q --db real.db --trace=lock,wait,hold,thread -- "$FIXTURES/fault_locked_save" >/dev/null 2>err.txt || fail "profile: $(cat err.txt)"
real() { "$CLEAR" doctor --db real.db --what-if "lock=fault_locked_save:prices_lock:$1" --json | python3 -c 'import json, sys
found = json.load(sys.stdin)
print(round(100 * found["predicted_ns"] / found["duration_ns"]))' || fail "--what-if $1"; }
free=$(real free) half=$(real half)
[ "$free" -ge 90 ] && [ "$free" -le 101 ] || fail "predicted of a free lock that decides nothing: $free % of the run"
[ "$half" -ge 50 ] && [ "$half" -le 85 ] || fail "predicted of half the hold: $half % of the run"
