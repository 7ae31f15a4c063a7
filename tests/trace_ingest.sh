# Foreign traces into the tables: Chrome's JSON and Perfetto's protocol buffers, written by hand (fixtures/make_traces.py), as Google's trace
# processor reads them; what clear export wrote comes back; broken files are refused whole.
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db PYTHONDONTWRITEBYTECODE=1

python3 "$ROOT/fixtures/make_traces.py" made
for kind in chrome perfetto; do
    for file in "made/$kind"/*; do
        cmp "$file" "$ROOT/fixtures/corpus/$kind/${file##*/}" || fail "$file is not what is in the corpus"
    done
done
"$CLEAR" ingest made/chrome/object.json made/chrome/cut_array.json made/perfetto/events.perfetto-trace >out.txt
rows() { sql t.db "SELECT printf('%s %d %s %d %d %s %s%s', executable, tid % 4294967296, thread, start_ns, timeline.duration_ns, timeline.kind, object, iif(is_late, ' cut', ''))
                   FROM timeline JOIN processes ON processes.id = process_id WHERE timeline.run_id = $1 ORDER BY start_ns, timeline.duration_ns DESC"; }
cat >chrome.txt <<'END'
painter 1 main é 0 20250 region paint
painter 1 main é 1500 3000 region layout
painter 1 main é 2500 1001 region measure
painter 1 main é 6500 0 mark click
painter 1 fetch 7500 4000 region fetch
painter 2 fetch 8500 2000 region fetch
painter 2  12500 7750 region never ends cut
 1  13500 6000 region other
END
cat >perfetto.txt <<'END'
server 70 worker 0 900 region parse
server 70 worker 100 100 region inner
server 1 requests 950 0 mark arrived
server 1 requests 1000 500 region request
server 70 worker 2000 1 region write
server 70 worker 6000 4000 region stepped
server 70 worker 14000 0 mark cut off cut
END
rows 1 >got.txt; expect_same_file got.txt chrome.txt "an object"
rows 2 >got.txt; expect_same_file got.txt chrome.txt "an array without its end"
rows 3 >got.txt; expect_same_file got.txt perfetto.txt "a Perfetto trace"
expect_equal "$(sql t.db 'SELECT started_ns, duration_ns FROM runs WHERE id = 3')" '1700000000000006000|14000' 'the time of day'
expect_match "$("$CLEAR" ingest made/chrome/object.json)" 'already' 'the same file again'

# Out and in: kinds, objects, threads and times are the same. Only the start of a trace is that of its first event.
expect_status 0 profile --quiet -o none.profile --trace "$FIXTURES/wait_books" 5 >books.txt
for format in perfetto chrome; do
    "$CLEAR" export 4 --format $format -o again.$format
    "$CLEAR" ingest again.$format >/dev/null
    python3 - t.db <<'PYTHON' || fail "$format: out and in"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
def events(run):
    rows = db.execute("""SELECT start_ns, events.duration_ns, tid, events.kind, name, is_late * (events.kind = '') FROM events JOIN objects ON objects.id = object_id
                         JOIN processes ON processes.id = process_id WHERE run_id = ?""", (run,)).fetchall()
    first = min(row[0] for row in rows)
    return sorted((row[0] - first, *row[1:4], row[4] or row[3]) for row in rows)
last, = db.execute("SELECT max(id) FROM runs").fetchone()
before, after = events(4), events(last)
holds = [row for row in before if row[3] == "hold"]
missing = [row for row in before if row not in after]
assert len(after) == len(before) and not missing, (len(before), len(after), missing[:5], [row for row in after if row not in before][:5])
names = [dict(db.execute("SELECT tid, threads.name FROM threads JOIN processes ON processes.id = process_id WHERE run_id = ? AND tid < 4294967296", (run,))) for run in (4, last)]
assert names[0].items() <= names[1].items(), names
PYTHON
done

# Broken files.
refused() { # refused WHAT REGEX: refused.file is refused, and nothing of it is stored
    local before
    before=$(sql t.db 'SELECT count(*) FROM runs')
    expect_status 1 "$CLEAR" ingest refused.file 2>err.txt >/dev/null
    expect_match "$(cat err.txt)" "$2" "$1"
    expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" "$before" "$1: runs"
}
head -c 300 made/chrome/object.json >refused.file; refused 'JSON cut in the middle' 'not a whole JSON text'
echo '{"traceEvents":[]}' >refused.file; refused 'no slice' 'the trace has no slices'
echo '[{"ph":"X","name":"a"}]' >refused.file; refused 'no time' 'event 1 has no time'
echo '[{"ph":"X","name":"a","ts":1e300,"dur":1}]' >refused.file; refused 'a large time' 'event 1 has no time'
echo '[{"ph":"X","name":"a","ts":1,"dur":-1}]' >refused.file; refused 'a negative length' 'event 1 has no time'
head -c 150 made/perfetto/events.perfetto-trace >refused.file; refused 'a packet cut in the middle' 'byte [0-9]+: the message is truncated'
echo '[{"ph":"X","name":"a"},{"ph":"X","ts":3,"dur":4,"name":"b"}]' >lenient.json
expect_status 0 "$CLEAR" ingest --lenient lenient.json >out.txt
expect_equal "$(rows "$(sql t.db 'SELECT max(id) FROM runs')")" ' 0  0 4000 region b' 'what is left'
check_db t.db

processor=$(trace_processor)
[ -n "$processor" ] || skip "all but the trace processor was tested: $(trace_processor why)"
for file in made/chrome/object.json:1 made/chrome/cut_array.json:2 made/perfetto/events.perfetto-trace:3; do
    timeout 120 python3 "$ROOT/tests/trace_ingest.py" t.db "${file##*:}" "$processor" "${file%:*}" || fail "$file: the lines above"
done
