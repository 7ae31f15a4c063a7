# The diagnoses over single events: a convoy and two locks in two orders in programs with that fault and without it; what the others need is
# put on both sides of each threshold.
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

found() { sql t.db "SELECT code || ' ' || severity || ' ' || subject FROM doctor_trace WHERE run_id = (SELECT max(id) FROM runs) AND code = '$1'"; }
record() { expect_status 0 profile --quiet -o none.profile --trace -- "$@" >/dev/null; }

record "$FIXTURES/fault_convoy"
expect_equal "$(found convoy)" 'convoy warning fault_convoy:journal' 'a convoy'
# Its figures, by counting for each wait those that are not over.
python3 - t.db <<'PYTHON' || fail 'the figures of a convoy'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
waits = db.execute("SELECT start_ns, start_ns + duration_ns FROM events JOIN objects ON objects.id = object_id WHERE events.kind = 'mutex' AND name GLOB '*journal'").fetchall()
depths = [sum(begin <= start < end for begin, end in waits) for start, _ in waits]
evidence = json.loads(db.execute("SELECT evidence FROM doctor_trace WHERE code = 'convoy'").fetchone()[0])
duration, = db.execute("SELECT duration_ns FROM runs").fetchone()
total = sum(end - start for start, end in waits)
assert evidence["count"] == len(waits) and evidence["time_ns"] == total and evidence["most_waiters"] == max(depths), evidence
assert evidence["behind_percent"] == round(100 * sum(depth >= 3 for depth in depths) / len(waits)), (evidence, depths)
assert evidence["time_percent"] == round(100 * total / duration), evidence
PYTHON
record "$FIXTURES/fault_convoy" --mended
expect_equal "$(found convoy)" '' 'a convoy of the mended program'

record "$FIXTURES/trace_inversion"
expect_match "$(found inversion)" '^inversion warning trace_inversion:(ledger and trace_inversion:journal|journal and trace_inversion:ledger)$' 'two orders'
expect_equal "$(sql t.db "SELECT DISTINCT function FROM doctor_trace, json_each(trace_ids) JOIN places ON places.trace_id = value WHERE code = 'inversion' ORDER BY 1" | tr '\n' ' ')" 'archive audit ' 'both stacks'
expect_match "$("$CLEAR" doctor | tr -s '\n ' ' ')" ' audit [(]trace_inversion.c:[0-9]+[)] asks for trace_inversion:journal under trace_inversion:ledger' 'who asks for what'
record "$FIXTURES/trace_inversion" --mended
expect_equal "$(found inversion)" '' 'two orders of the mended program'

# Others waited 5 times 2 ms while the owner was in a call, or asleep; a region of 10 ms among short ones.
record "$FIXTURES/wait_books" 1
python3 - t.db <<'PYTHON' || fail 'the thresholds'
import json, os, sqlite3, subprocess, sys
db = sqlite3.connect(sys.argv[1])
run, process = db.execute("SELECT run_id, id FROM processes ORDER BY id DESC LIMIT 1").fetchone()
db.execute("UPDATE runs SET duration_ns = 1000000000 WHERE id = ?", (run,))
db.execute("DELETE FROM events WHERE process_id = ?", (process,))
lock, = db.execute("SELECT id FROM objects WHERE name GLOB '*wait_books:first'").fetchone()
trace, other = [row[0] for row in db.execute("SELECT id FROM traces WHERE id > 0 ORDER BY id LIMIT 2")]
name = db.execute("INSERT INTO objects(kind, identity, name) VALUES ('name', 'test of the doctor', 'work')").lastrowid
def event(tid, kind, start, duration, object_id, address=0, owner=None, stack=trace):
    db.execute("INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
               (process, tid, start, duration, kind, object_id, address, stack, owner))
def findings():
    db.execute("DELETE FROM seals")
    db.commit()
    subprocess.run([os.environ["CLEAR"], "runs", "--db", sys.argv[1]], check=True, stdout=subprocess.DEVNULL) # seals the runs again
    return {row[0]: (row[1], json.loads(row[2]), json.loads(row[3])) for row in
            db.execute("SELECT code, severity, evidence, trace_ids FROM doctor_trace WHERE run_id = ?", (run,))}
def case(rows):
    db.execute("DELETE FROM events WHERE process_id = ?", (process,))
    for row in rows:
        event(*row)
    return findings()
def blocked(last, kind="syscall"):
    """1 had the lock; 2 waited 5 times; 1 was in a call from 1 ms before each wait on, 2 ms of it (the last time `last` ns) while 2 waited."""
    rows = []
    for i in range(5):
        at = 20_000_000 * i
        rows += [(1, kind, at, 1_000_000 + (last if i == 4 else 2_000_000), name, 0, None, other), (2, "mutex", at + 1_000_000, 5_000_000, lock, 77, 1)]
    return rows
for kind in ("syscall", "sleep"):
    got = case(blocked(2_000_000, kind))
    assert got == {"io-under-lock": ("warning", {"count": 5, "time_ns": 10_000_000, "time_percent": 1}, [other, trace])}, got
assert case(blocked(1_999_999)) == {}
assert case(blocked(2_000_000, "region")) == {}, "a region does not block"
db.execute("UPDATE runs SET duration_ns = 10000000000 WHERE id = ?", (run,))
assert case(blocked(2_000_000))["io-under-lock"][0] == "note"
# A call that was over before the wait began, and one of another thread.
assert case([(1, "syscall", 0, 1000, name), (2, "mutex", 1000, 50_000_000, lock, 77, 1), (3, "syscall", 0, 60_000_000, name)]) == {}
# The owner gave the lock to somebody else, and went into the call only then, though 2 still waited; or it went into it before.
def given_up(at):
    return [(1, "release", at, 0, lock, 77), (1, "syscall", 5_000_000, 40_000_000, name, 0, None, other), (2, "mutex", 0, 50_000_000, lock, 77, 1)]
assert case(given_up(4_000_000)) == {} and set(case(given_up(6_000_000))) == {"io-under-lock"}

def regions(count, slowest):
    return [(1, "region", 100_000_000 * i, 1_000_000, name) for i in range(count - 1)] + [(1, "region", 100_000_000 * count, slowest, name)]
got = case(regions(100, 10_000_000) + [(1, "mutex", 100_000_000 * 100 + 5, 3_000, lock, 77, None, other)])
assert set(got) == {"long-region"} and got["long-region"][2] == [trace, other], got
evidence = got["long-region"][1]
assert (evidence["count"], evidence["p50_ns"], evidence["max_ns"], evidence["off_cpu_ns"]) == (100, 1_000_000, 10_000_000, 3_000), evidence
assert case(regions(99, 10_000_000)) == {} and case(regions(100, 9_999_999)) == {}
assert case([(1, "region", i * 10**8, 2_000_000, name) for i in range(100)] + [(1, "region", 10**11, 19_999_999, name)]) == {}, "less than ten times"

# Two locks by their holds alone: 1 asks for b under a, later 2 takes a under b; not so if 2 takes it afterwards.
holds = [(1, "hold", 0, 100, lock, 77), (1, "mutex", 50, 10, name, 88, None, other)]
got = case(holds + [(2, "hold", 1000, 100, name, 88), (2, "hold", 1050, 10, lock, 77)])
assert set(got) == {"inversion"} and got["inversion"][1] == {"count": 1, "back_count": 1, "time_ns": 10}, got
assert case(holds + [(2, "hold", 1000, 100, name, 88), (2, "hold", 1100, 10, lock, 77)]) == {}
assert case(holds + [(2, "hold", 1000, 100, lock, 77), (2, "hold", 1050, 10, name, 88)]) == {}, "one order"
# The same by who waits for a lock whose owner asks for another one: not so if the owner has released it before it asks, though others wait on.
asks = [(3, "mutex", 0, 100, lock, 77, 1), (1, "mutex", 50, 10, name, 88, None, other), (4, "mutex", 1000, 100, name, 88, 2), (2, "mutex", 1050, 10, lock, 77)]
assert set(case(asks)) == {"inversion"}
assert case(asks + [(2, "release", 1040, 0, name, 88)]) == {}, "released before"
assert set(case(asks + [(2, "release", 1060, 0, name, 88)])) == {"inversion"}, "released afterwards"
PYTHON
