# The views over events (off_cpu, thread_times, region_latency, critical_path, timeline) and the queries that make profiles of them,
# against sums that Python makes of the rows, and a program that keeps its own books.
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

expect_status 0 profile --quiet -o none.profile --trace "$FIXTURES/wait_books" 10 >books.txt
# Beside its waits: regions of known lengths in a thread, one around its last wait, a sleep, a system call and a mark.
python3 - t.db <<'PYTHON' || fail 'rows of further kinds'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
process, tid = db.execute("SELECT process_id, tid FROM threads WHERE name = 'gamma'").fetchone()
last, = db.execute("SELECT max(start_ns + duration_ns) FROM events WHERE tid = ?", (tid,)).fetchone()
begin, trace = db.execute("SELECT start_ns, trace_id FROM events WHERE tid = ? AND kind = 'mutex' ORDER BY start_ns DESC LIMIT 1", (tid,)).fetchone()
kind, = db.execute("SELECT kind FROM objects LIMIT 1").fetchone()
def thing(name):
    columns = [row[1] for row in db.execute("PRAGMA table_info(objects)")]
    values = {"kind": "region", "name": name, "identity": "test " + name}
    known = [column for column in columns if column in values]
    return db.execute(f"INSERT INTO objects ({', '.join(known)}) VALUES ({', '.join('?' * len(known))})", [values[column] for column in known]).lastrowid
def event(kind, name, start, duration):
    db.execute("INSERT INTO events (process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id) VALUES (?, ?, ?, ?, ?, ?, 0, ?)",
               (process, tid, start, duration, kind, things[name], trace))
things = {name: thing(name) for name in ("parse", "request", "nanosleep", "read", "reached")}
for i in range(1000):
    event("region", "parse", 1000 * i, 17 * (i * 7919 % 1000) + 1) # 1, 18, ..., 16984: each once, in no order
event("region", "request", begin - 1000, last - begin + 2000)
event("sleep", "nanosleep", 5, 70)
event("syscall", "read", 80, 11)
event("syscall", "read", 95, 12)
event("mark", "reached", 99, 0)
db.commit()
PYTHON
check_db t.db
"$CLEAR" runs >/dev/null || fail 'sealing the changed run' # the facts of its regions
PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/trace_views.py" t.db || fail 'the lines above'

# As profiles: the sums of pprof are those of the view.
for query in trace-sync-by-waiter trace-sync-by-owner trace-sched trace-off-cpu trace-critical-path; do
    "$CLEAR" export --query "$query" -o "$query.pb.gz"
    pprof -raw "$query.pb.gz" >"$query.raw"
done
total() { awk -v column="$2" '/^Samples:/ { on = 1; getline; next } /^Locations/ { on = 0 } on && /^ *[0-9]/ { sub(/:.*/, ""); total += $column } END { printf "%d\n", total }' "$1.raw"; }
WAITED="SELECT sum(duration_ns) FROM lock_waits"
expect_equal "$(total trace-sync-by-waiter 2)" "$(sql t.db "$WAITED")" 'time by waiter'
expect_equal "$(total trace-sync-by-owner 2)" "$(sql t.db "$WAITED WHERE release_id IS NOT NULL")" 'time by owner'
expect_equal "$(total trace-off-cpu 2)" "$(sql t.db "SELECT ($WAITED) + 70 + 11 + 12")" 'time off the CPU'
expect_equal "$(total trace-critical-path 2)" "$(sql t.db 'SELECT max(ended_ns) - min(started_ns) FROM processes')" 'the whole run'
# beta and gamma wait for what beta and alpha hold in wait_for_first and hold_first.
expect_match "$(pprof -sample_index=delay_ns -top trace-sync-by-owner.pb.gz)" 'hold_first' 'the function of an owner'
expect_equal "$(pprof -sample_index=waits -top trace-sync-by-owner.pb.gz | grep -c 'wait_for_second')" 0 'the function of a waiter'

# In the text: what is no wait stands beside the waits.
expect_equal "$("$CLEAR" trace --json --lock region | python3 -c 'import json, sys; print(sum(e["class"] == "region" for e in json.load(sys.stdin)))')" 1001 'regions'
expect_match "$("$CLEAR" trace --slowest 3 --lock parse | sed -n 3p)" ' 17.0 us +gamma [0-9]+ +region +parse( |$)' 'the longest of a name'
