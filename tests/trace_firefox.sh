# Events for the Firefox Profiler: its tables fit each other, and markers, samples and stacks are those of the warehouse.
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

expect_status 0 profile --quiet -o none.profile --trace=all "$FIXTURES/wait_books" 5 >books.txt
"$CLEAR" export --format firefox -o events.firefox.json
python3 - t.db events.firefox.json <<'PYTHON' || fail 'the profile'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
profile = json.load(open(sys.argv[2], encoding="utf-8"))
started, = db.execute("SELECT started_ns FROM runs").fetchone()
assert round(profile["meta"]["startTime"] * 1e6) // 1000 == started // 1000
markers, samples = [], []
def stack_of(thread, stack):
    """Functions, leaf first."""
    names, strings = [], thread["stringArray"]
    while stack is not None:
        function = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
        names.append(strings[thread["funcTable"]["name"][function]])
        prefix = thread["stackTable"]["prefix"][stack]
        assert prefix is None or prefix < stack
        stack = prefix
    return tuple(names)
for thread in profile["threads"]:
    for table in ("stackTable", "frameTable", "funcTable", "markers", "samples", "resourceTable", "nativeSymbols"):
        for name, column in thread[table].items():
            assert not isinstance(column, list) or len(column) == thread[table]["length"], (table, name)
    of = thread["markers"]
    for name, start, end, phase, category, data in zip(of["name"], of["startTime"], of["endTime"], of["phase"], of["category"], of["data"]):
        assert phase == (0 if end is None else 1) and 0 <= category < len(profile["meta"]["categories"])
        assert data["type"] in {schema["name"] for schema in profile["meta"]["markerSchema"]}
        stack = stack_of(thread, data["cause"]["stack"]) if "cause" in data else ()
        start = round(start * 1e6)
        markers.append((thread["tid"], thread["name"], start, round(end * 1e6) - start if end is not None else 0, data["kind"],
                        data.get("owner"), stack))
    samples += [(thread["tid"], round(time * 1e6), stack_of(thread, stack)) for time, stack in zip(thread["samples"]["time"], thread["samples"]["stack"])]
stacks = {trace: tuple(row[0] for row in db.execute("SELECT function FROM frames WHERE trace_id = ? ORDER BY depth", (trace,)))
          for trace, in db.execute("SELECT DISTINCT trace_id FROM events")}
wanted = [(*row[:6], stacks[row[6]]) for row in db.execute("""SELECT events.tid, coalesce(nullif(threads.name, ''), '(no name)'), start_ns, duration_ns, kind,
    iif(owner_tid IS NULL, NULL, coalesce(owners.name, '')), trace_id FROM events JOIN threads USING (process_id, tid)
    LEFT JOIN threads AS owners ON owners.process_id = events.process_id AND owners.tid = owner_tid WHERE kind <> 'cpu'""")]
key = lambda row: tuple(map(repr, row))
assert sorted(markers, key=key) == sorted(wanted, key=key), ([row for row in markers if row not in wanted][:3], [row for row in wanted if row not in markers][:3])
assert sorted(samples) == sorted((row[0], row[1], stacks[row[2]]) for row in db.execute("SELECT tid, start_ns, trace_id FROM events WHERE kind = 'cpu'"))
assert len(markers) >= 5 * 5
PYTHON
