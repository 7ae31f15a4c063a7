# Each format of clear export, held against what reads it: XML and JSON parsers, callgrind_annotate, graphviz, the sums of the
# tables; speedscope's published constraints; the csv goes back in.
# quick
# build: plain
. "$(dirname "$0")/lib.sh"

cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" | sqlite3 t.db || fail "no database"
out() { "$CLEAR" export --db t.db "$@" || fail "clear export $*"; }
heap() { out first --kind heap --type alloc_space --format "$@"; }
space=$(sql t.db "SELECT sum(alloc_bytes) FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = 1")

# folded: one line a stack, names as in the tables, the sum theirs.
heap folded >a.folded
expect_equal "$(sort a.folded)" "__libc_start_main;main 1048676
__libc_start_main;main;serve 4096
__libc_start_main;main;serve;Table::insert(int);grow 96640" "folded stacks, without the frames that the profile drops"
out --sql "SELECT 'a;b;c' AS stack, 3 AS n UNION ALL SELECT 'a;b', 4 UNION ALL SELECT 'a', 0 UNION ALL SELECT NULL, 7" --format folded >b.folded
expect_equal "$(cat b.folded)" "[no stack] 7
a;b 4
a;b;c 3" "folded, a stack of text"
out --sql "SELECT 'one;two' AS function, 'x' || char(10) || 'y' AS leaf, 5 AS n" --format folded >c.folded
expect_equal "$(cat c.folded)" "one:two;x y 5" "a semicolon and a newline in names"

# csv: its own columns are roles, so what comes out goes in again as the same profile.
out first --kind heap -o a.csv
expect_match "$(head -n 1 a.csv)" '^stack,label:.*,alloc_objects/count,alloc_space/bytes,inuse_objects/count,inuse_space/bytes' "csv header: the stack first, the values last"
expect_equal "$(head -n 1 a.csv | tr , '\n' | grep '^label:' | sort | xargs)" 'label:addr label:bytes/bytes label:thread' "csv header: labels, in the order of first use"
cp t.db back.db
sqlite3 back.db -cmd '.mode csv' '.import a.csv csv' || fail "sqlite3 cannot import the csv"
columns='nullif("label:addr", '"''"') AS "label:addr", nullif("label:thread", '"''"') AS "label:thread"'
"$CLEAR" export --db back.db --format folded --sql "SELECT stack, $columns, CAST(\"alloc_space/bytes\" AS INTEGER) AS \"alloc_space/bytes\" FROM csv" >back.folded || fail "export of the csv"
expect_equal "$(sort back.folded)" "$(sort a.folded)" "csv and back"

# What parsers and viewers say.
for format in samples json speedscope flamegraph callgrind dot; do out first --kind heap --format $format --type alloc_space -o "a.$format"; done
out first --kind heap --base "SELECT trace_id, 2 AS \"alloc_objects/count\", 4096 AS \"alloc_space/bytes\", 0 AS \"inuse_objects/count\",
    0 AS \"inuse_space/bytes\" FROM sites WHERE trace_id = 2 LIMIT 1" --format speedscope --type alloc_space -o d.speedscope
python3 - "$space" <<'END' || fail "what python says of the formats"
import json, sys, xml.etree.ElementTree as xml
space = int(sys.argv[1])
profile = json.load(open("a.samples"))
place = [t["type"] for t in profile["sample_types"]].index("alloc_space")
assert sum(s["values"][place] for s in profile["samples"]) == space
assert all(0 <= f < len(profile["frames"]) for s in profile["samples"] for f in s["stack"])
assert {"function": "grow", "file": "/src/table.h", "line": 5, "module": "/opt/server", "address": "0x3000", "inlined": True} in profile["frames"]
assert any(s["labels"] == {"addr": "0x3000", "bytes": 512, "thread": 'worker "1"'} for s in profile["samples"]), "labels"
assert "label: first" in profile["comments"] and profile["default_type"] == "inuse_space"

def speedscope(path):
    """What https://www.speedscope.app/file-format-schema.json demands of a file of sampled profiles."""
    file = json.load(open(path))
    assert set(file) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = file["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line", "col"} and isinstance(frame["name"], str)
    assert isinstance(file["activeProfileIndex"], int) and file["activeProfileIndex"] < len(file["profiles"])
    for p in file["profiles"]:
        assert set(p) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"} and p["type"] == "sampled"
        assert p["unit"] in ("bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds")
        assert len(p["samples"]) == len(p["weights"]) and p["endValue"] - p["startValue"] == sum(p["weights"])
        assert all(isinstance(f, int) and 0 <= f < len(frames) for s in p["samples"] for f in s)
        assert all(w > 0 for w in p["weights"])
    return file

file = speedscope("a.speedscope")
shown = file["profiles"][file["activeProfileIndex"]]
assert shown["name"] == "alloc_space" and shown["endValue"] == space and shown["unit"] == "bytes"
names = [file["shared"]["frames"][f]["name"] for f in shown["samples"][0]]
assert names == ["__libc_start_main", "main", "serve", "Table::insert(int)", "grow"], names
file = speedscope("d.speedscope")
sums = {p["name"]: p["endValue"] for p in file["profiles"]}
assert sums["alloc_space before"] == 4096 and sums["alloc_space after"] == space, sums

S = "{http://www.w3.org/2000/svg}"
graph = xml.parse("a.flamegraph").getroot()
boxes = {b.get("data-n"): b for b in graph.iter(S + "svg") if b.get("class") == "f"}
assert set(boxes) == {"all", "__libc_start_main", "main", "serve", "Table::insert(int)", "grow"}
share = lambda name: float(boxes[name].get("width").rstrip("%"))
assert share("all") == 100 and abs(share("serve") - 100 * (96640 + 4096) / space) < 1e-3
assert float(boxes["all"].get("y")) < float(boxes["main"].get("y")), "the root is on top"
details = boxes["grow"].find(S + "title").text
assert "94.4 KiB" in details and "/src/table.h:5 (inlined)" in details, details
END
# Every sample type is in the file: the tree of each is what --format folded makes of that type, and of a difference both sides.
python3 - "$CLEAR" <<'END' || fail "the types in the flame graph"
import collections, json, subprocess, sys, xml.etree.ElementTree as xml

def export(*words):
    return subprocess.run([sys.argv[1], "export", "--db", "t.db", "first", "--kind", "heap", "-o", "-", *words], check=True, capture_output=True, text=True).stdout

def own(type, frames, value):
    """Own values of the stacks, from the values with all below; columns: 2 after, 3 before."""
    step, path, sums = 5 if type["differs"] else 3, [], collections.Counter()
    for at in range(0, len(type["nodes"]), step):
        depth, index = type["nodes"][at:at + 2]
        path[depth:] = [frames[index].split("\n")[0]] if depth else ["all"]
        sums[tuple(path[1:])] += type["nodes"][at + value]
        if depth:
            sums[tuple(path[1:-1])] -= type["nodes"][at + value]
    return {stack: sum for stack, sum in sums.items() if sum}

def folded(text):
    return {tuple(line.rpartition(" ")[0].split(";")): int(line.rpartition(" ")[2]) for line in text.splitlines()}

data = json.loads(next(e.text for e in xml.fromstring(export("--format", "flamegraph")).iter() if e.get("id") == "data"))
assert [type["name"] for type in data["types"]] == ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"], data["types"]
assert data["types"][data["shown"]]["name"] == "inuse_space"
for type in data["types"]:
    want = folded(export("--format", "folded", "--type", type["name"]))
    assert want and own(type, data["frames"], 2) == want, (type["name"], own(type, data["frames"], 2), want)
text = export("--format", "flamegraph", "--base", "first", "--type", "alloc_space")
data = json.loads(next(e.text for e in xml.fromstring(text).iter() if e.get("id") == "data"))
for type in data["types"]:
    assert type["differs"] and own(type, data["frames"], 2) == own(type, data["frames"], 3) == folded(export("--format", "folded", "--type", type["name"])), type
assert data["before"].startswith("heap of run ") and "before " in text and "(" + data["before"] + ")" in text, data["before"]
END
# In a browser: another type and direction by address, and the search.
if command -v chromium >/dev/null && [ -z "${SANITIZED:-}" ]; then
    out first --kind heap --format flamegraph -o browser.svg
    timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$TMP/browser" --dump-dom \
        "file://$TMP/browser.svg?type=alloc_space&callers=1&search=grow" >dom.txt 2>/dev/null || fail "the browser"
    expect_match "$(grep -o 'alloc_space: [^<]*from the leaves[^<]*' dom.txt)" 'callers' 'the type and the direction of the address'
    share=$(awk -v all="$space" '{ split($0, at, " "); if ($0 ~ /;grow /) sum += $NF } END { printf "%.1f", 100 * sum / all }' <("$CLEAR" export --db t.db first --kind heap --type alloc_space --format folded -o -))
    expect_match "$(grep -o 'matched: [0-9.]* %' dom.txt)" "^matched: $share %" 'what matched'
fi
grep -Eq 'src=|href=|url\(|@import' a.flamegraph && fail "the flame graph needs other files"
if command -v node >/dev/null; then
    sed -n '/CDATA/,/\]\]>/p' a.flamegraph | sed '1d;$d' >script.js
    node --check script.js || fail "the script does not parse"
fi

# With all types callgrind_annotate adds up: the totals, and what is main's own and inclusive.
out first --kind heap --format callgrind --all_types -o all.callgrind
callgrind_annotate --threshold=100 all.callgrind >self.txt || fail "callgrind_annotate"
callgrind_annotate --threshold=100 --inclusive=yes all.callgrind >cum.txt || fail "callgrind_annotate --inclusive"
commas() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }
expect_match "$(cat self.txt)" "^Events recorded: +alloc_objects\(count\) alloc_space\(bytes\) inuse_objects\(count\) inuse_space\(bytes\)$" "events"
expect_match "$(cat self.txt)" " $(commas "$space") .*PROGRAM TOTALS$" "callgrind totals"
expect_match "$(cat self.txt)" "1,048,676 .*/src/server.cc:main" "callgrind, main itself"
expect_match "$(cat cum.txt)" "100,736 .*/src/server.cc:serve" "callgrind, serve with callees"
expect_match "$(cat cum.txt)" " $(commas "$space") .*/src/server.cc:main" "callgrind, main with callees"
out --sql "SELECT 'f;f;f' AS stack, 10 AS n" --format callgrind --all_types -o r.callgrind
expect_match "$(callgrind_annotate --threshold=100 --inclusive=yes r.callgrind)" '^10 \(100.*:f' "recursion counts once"
out --sql "SELECT 'f' AS stack, 10 AS n" --base "SELECT 'f' AS stack, 4 AS n UNION ALL SELECT 'g', 3" --before_after --format callgrind -o d.callgrind
expect_match "$(callgrind_annotate --threshold=100 d.callgrind)" '^Events recorded: +n_before\(count\) n_after\(count\)$' "events of a difference"
expect_match "$(callgrind_annotate --threshold=100 d.callgrind)" '^ *7 \(100.0%\) +10 \(100.0%\) +PROGRAM TOTALS$' "before and after"
expect_match "$(callgrind_annotate --threshold=100 d.callgrind)" '^ *4 \(57.14%\) +10 \(100.0%\) .*:f$' "before and after of a function"

dot -Tsvg a.dot >dot.svg || fail "graphviz does not take the graph"
expect_equal "$(grep -Ec '<g id="node[0-9]+"' dot.svg)" 6 "the legend and five functions"

# dump: as in the run's directory. The suffix of the file tells the format; text goes to standard output without -o.
out first --kind heap --format dump >alloc.txt
expect_match "$(head -1 alloc.txt)" '^# alloc-profile v2' "dump"
expect_equal "$(awk '!/^#/ { sum += $3 } END { print sum }' alloc.txt)" "$space" "bytes of the dump"
out first --kind lock --format dump | grep -q '^# lock-profile v3' || fail "dump of the locks"
out first --kind heap --type alloc_space -o suffix.folded
expect_same_file suffix.folded a.folded "format by suffix"
out first --kind heap -o s.speedscope.json
grep -q 'file-format-schema' s.speedscope.json || fail "the longest suffix counts"
out first -o dir.profile/
expect_equal "$(ls dir.profile | tr '\n' ' ')" "alloc.txt channels.pb.gz channels.txt cpu.pb.gz heap.pb.gz lock.pb.gz locks.txt mvcc.pb.gz mvcc.txt run.txt.gz " "a directory"
out first --kind heap --title 'A <title> & more' --format flamegraph | grep -q 'A &lt;title&gt; &amp; more' || fail "--title"

# Datasette: saved queries and the comments of the schema.
sql t.db "INSERT OR REPLACE INTO queries(name, description, sql) VALUES ('mine', 'what I \"ask\"', 'SELECT 1')"
out --format datasette-metadata -o meta.json
python3 - <<'END' || fail "datasette metadata"
import json
about = json.load(open("meta.json"))["databases"]["t"]
assert about["queries"]["mine"] == {"title": "mine", "description": 'what I "ask"', "sql": "SELECT 1"}
assert about["tables"]["locks"]["columns"]["acquires"].startswith("[count] exclusive acquisitions; ")
assert about["tables"]["locks"]["description"].startswith("The figures of one lock in one profile"), about["tables"]["locks"]
assert about["tables"]["meta"]["columns"]["key"].endswith("diagnoses of users that fail"), about["tables"]["meta"]
assert about["tables"]["heap"]["columns"]["alloc_bytes"] == "[bytes] bytes allocated"
assert about["tables"]["doctor_heap"]["description"].endswith("are therefore notes."), about["tables"]["doctor_heap"]["description"]
assert "WITH" not in about["tables"]["doctor_heap"]["description"]
assert about["tables"]["sites"]["description"].startswith("Question: which stack allocated and freed how much?"), about["tables"]["sites"]
assert about["tables"]["runs"]["columns"]["started_ns"] == "[ns since epoch] start of the run"
END

# The same bytes again, for every format.
for format in pprof proto topproto folded flamegraph callgrind speedscope dot svg csv json samples dump datasette-metadata; do
    case $format in datasette*) what= ;; *) what="first --kind heap" ;; esac
    # shellcheck disable=SC2086 # words
    { out $what --format $format -o one; out $what --format $format -o two; }
    expect_same_file one two "$format twice"
done

refused() { # refused REGEX ARGUMENTS...
    local regex=$1
    shift
    expect_status 2 "$CLEAR" export --db t.db "$@" 2>err.txt >out.txt
    expect_match "$(cat err.txt)" "$regex" "message of $*"
    [ ! -s out.txt ] || fail "$* wrote something"
}
refused "no format is called 'goat': pprof, proto, topproto, folded, flamegraph" first --kind heap --format goat
refused 'sample_index goat: it must be 0 to 3, or one of: alloc_objects alloc_space' first --kind heap --format folded --type goat
refused 'no text dump of kind cpu: heap, lock' first --kind cpu --format dump
refused 'needs a run' --sql 'SELECT 1' --format dump
refused 'for the whole warehouse' first --format datasette-metadata
refused 'all_types is for callgrind, not folded' first --kind heap --format folded --all_types
refused 'before_after is for callgrind, not csv' first --kind heap --format csv --before_after
refused 'call_tree excludes all_types' first --kind heap --format callgrind --all_types --call_tree
refused '--focus is not an option of pprof: --format proto writes a filtered profile' first --kind heap -o x.pb.gz --focus main
refused '--title is not an option of dump' first --kind heap --format dump --title x
refused '--level' first --kind heap -o x.pb.gz --level 10
refused 'exclude' --sql 'SELECT 1' --query mine -o x.pb.gz
refused 'only one run' first 2 -o dir.profile/
