# Every table and view works in the stock sqlite3 shell and in Python's sqlite3, on a warehouse with rows in it.
# quick
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/heap_threads" >/dev/null
expect_status 0 profile -- "$FIXTURES/lock_counts" >/dev/null
views=$(sql t.db "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY 1")
for view in frames stacks heap lock_use run_summary doctor places; do grep -qx "$view" <<<"$views" || fail "there is no view $view"; done
for view in $views; do
    sql t.db "SELECT * FROM $view" >"rows-$view" || fail "view $view"
done
for view in frames stacks heap lock_use run_summary doctor doctor_heap doctor_lock; do [ -s "rows-$view" ] || fail "view $view has no row"; done
check_db t.db
python3 - <<'PYTHON' || fail "Python's sqlite3"
import json, sqlite3
db = sqlite3.connect("file:t.db?mode=ro", uri=True)
names = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")]
assert len(names) > 30, names
for name in names:
    db.execute(f'SELECT * FROM "{name}"').fetchall()
for evidence, traces in db.execute("SELECT evidence, trace_ids FROM doctor"):
    json.loads(evidence)
    for trace in json.loads(traces):
        assert db.execute("SELECT 1 FROM traces WHERE id = ?", (trace,)).fetchone(), trace
for name, sql in db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
    assert sql.rstrip().endswith(("STRICT", "WITHOUT ROWID")) and "STRICT" in sql, name
PYTHON
# Closed, it is one file.
[ ! -e t.db-wal ] && [ ! -e t.db-shm ] || fail "left beside the warehouse: $(ls t.db*)"
