# Events for the Firefox Profiler: the profile has what the format asks for (a processed profile, version 48), its tables fit each other, and
# markers, samples and stacks are those of the warehouse.
. "$(dirname "$0")/lib.sh"
cat >check.py <<'PYTHON'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
profile = json.load(open(sys.argv[2], encoding="utf-8"))
started, = db.execute("SELECT started_ns FROM runs").fetchone()
# The fields that the importer reads without asking whether they are there, and of columns what their numbers are: an index of a table
# (in brackets: or null), or a plain value.
def has(thing, fields, where):
    for name, kind in fields.items():
        assert name in thing and (kind is None or isinstance(thing[name], kind)), (where, name, thing.get(name))
number = (int, float)
has(profile, {"meta": dict, "libs": list, "threads": list}, "profile")
has(profile["meta"], {"interval": number, "startTime": number, "processType": int, "stackwalk": int, "product": str, "version": int, "categories": list,
                      "preprocessedProfileVersion": int, "markerSchema": list}, "meta")
assert profile["meta"]["preprocessedProfileVersion"] == 48
for category in profile["meta"]["categories"]:
    has(category, {"name": str, "color": str, "subcategories": list}, "category")
for schema in profile["meta"]["markerSchema"]:
    has(schema, {"name": str, "display": list, "data": list}, "markerSchema")
categories = len(profile["meta"]["categories"])
tables = {"samples": {"stack": "[stackTable]", "time": "time", "weightType": None},
          "markers": {"data": None, "name": "stringArray", "startTime": "time", "endTime": None, "phase": None, "category": "categories"},
          "stackTable": {"frame": "frameTable", "prefix": "[stackTable]", "category": "categories", "subcategory": None},
          "frameTable": {"address": None, "inlineDepth": None, "category": "[categories]", "subcategory": None, "func": "funcTable",
                         "nativeSymbol": "[nativeSymbols]", "innerWindowID": None, "line": None, "column": None},
          "funcTable": {"isJS": None, "relevantForJS": None, "name": "stringArray", "resource": None, "fileName": "[stringArray]", "lineNumber": None,
                        "columnNumber": None},
          "resourceTable": {"lib": None, "name": "stringArray", "host": None, "type": None},
          "nativeSymbols": {"libIndex": None, "address": None, "name": "stringArray", "functionSize": None}}
for thread in profile["threads"]:
    has(thread, {"processType": str, "processStartupTime": number, "processShutdownTime": None, "registerTime": number, "unregisterTime": None,
                 "pausedRanges": list, "name": str, "isMainThread": bool, "pid": None, "tid": None, "stringArray": list}, "thread")
    sizes = {"categories": categories, "stringArray": len(thread["stringArray"])} | {name: thread[name]["length"] for name in tables}
    for table, columns in tables.items():
        has(thread[table], dict.fromkeys(columns) | {"length": int}, table)
        for name, target in columns.items():
            values = thread[table][name]
            if target == "time":
                assert all(isinstance(value, number) and value >= 0 for value in values), (table, name)
            elif target:
                assert all(value is None and target[0] == "[" or isinstance(value, int) and 0 <= value < sizes[target.strip("[]")] for value in values), (table, name)
    assert thread["samples"]["time"] == sorted(thread["samples"]["time"])
assert abs(round(profile["meta"]["startTime"] * 1e6) - started) < 1000  # a number of milliseconds has no more digits
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
assert len(markers) >= 5 * 5 and len(samples) >= int(sys.argv[3])
PYTHON
# wait_books waits; trace_books also runs, and starts other processes.
check() { # check PROGRAM SAMPLES: at least so many
    local program=$1
    expect_status 0 profile --quiet --db "$program.db" -o none.profile --cpu=999 --trace=all "$FIXTURES/$program" 5 >books.txt
    "$CLEAR" export --db "$program.db" --format firefox -o "$program.firefox.json"
    python3 check.py "$program.db" "$program.firefox.json" "$2" || fail "the profile of $program"
}
check wait_books 0
check trace_books 1
