# Profiles older than profile.proto: what `go tool pprof -raw` says of each file, it says of our export of the ingested file,
# word for word but for the ids. Twice the same bytes are one run; a broken file leaves nothing.
# The sanitizers see each file read, and in the gate a third of the exports.
. "$(dirname "$0")/lib.sh"

# raw FILE: as pprof reads it, with ids replaced by what they stand for, so that their order does not matter. Samples of one stack and
# label set are summed, as a warehouse does, and as pprof itself did up to Go 1.19; what sums to nothing is left out.
raw() {
    pprof -raw "$1" 2>/dev/null | awk '
        /^Samples:/ { part = "samples"; getline; print "types " $0; next }
        /^Locations/ { part = "locations"; next }
        /^Mappings/ { part = "mappings"; next }
        part == "" { print; next }
        part == "samples" && /^ *-?[0-9]/ { sample[++n] = $0; next }
        part == "samples" { sample[n] = sample[n] " {" $0 "}"; next }
        part == "locations" { if ($1 ~ /^[0-9]+:$/) { id = $1 + 0; $1 = "" } location[id] = location[id] $0; next }
        part == "mappings" { id = $1 + 0; $1 = ""; mapping[id] = $0; if (id == 1) print "main" $0 }
        END {
            for (i in location) if (match(location[i], /M=[0-9]+/)) {
                id = substr(location[i], RSTART + 2, RLENGTH - 2) + 0
                sub(/M=[0-9]+/, "in" mapping[id], location[i])
            }
            for (i = 1; i <= n; i++) {
                colon = index(sample[i], ":"); rest = substr(sample[i], colon + 1); labels = ""
                if (brace = index(rest, " {")) { labels = substr(rest, brace); rest = substr(rest, 1, brace - 1) }
                line = labels
                count = split(rest, ids, " ")
                for (k = 1; k <= count; k++) line = line " [" location[ids[k]] "]"
                width = split(substr(sample[i], 1, colon - 1), values, " ")
                for (k = 1; k <= width; k++) sum[line, k] += values[k]
                lines[line]
            }
            for (line in lines) {
                text = ""; any = 0
                for (k = 1; k <= width; k++) { text = text sprintf(" %.0f", sum[line, k]); any = any || sum[line, k] != 0 }
                if (any) print text ":" line | "sort"
            }
        }'
}

kind_of() { sql "$1" "SELECT kind FROM profiles WHERE run_id = (SELECT max(id) FROM runs)"; }

python3 "$ROOT/fixtures/make_legacy.py" made || fail "no inputs"
files=0
for file in "$ROOT"/fixtures/corpus/legacy/* made/*; do
    name=$(basename "$file")
    "$CLEAR" ingest --db t.db --label "$name" "$file" >/dev/null || fail "ingest of $name"
    [ $((files % 3)) = 0 ] && clear=$CLEAR || clear=$PLAIN_CLEAR
    "$clear" export --db t.db "$name" --kind "$(kind_of t.db)" -o "$name.pb.gz" || fail "export of $name"
    raw "$file" >want.txt
    raw "$name.pb.gz" >got.txt
    [ "$(wc -l <want.txt)" -gt 5 ] || fail "pprof does not read $name"
    expect_same_file got.txt want.txt "$name"
    files=$((files + 1))
done
expect_between "$files" 30 99 "files compared"
check_db t.db

# The kinds, and the figures of one row by hand: 27 contentions sampled 1 in 100, 19490304 cycles at 3.201 GHz.
expect_equal "$(sql t.db "SELECT contended, wait_ns FROM locks JOIN profiles ON profiles.id = profile_id JOIN runs ON runs.id = run_id
    WHERE label = 'cppbench.contention' ORDER BY wait_ns DESC LIMIT 1")" "2700|608881724" "contention"
expect_equal "$(sql t.db "SELECT kind FROM profiles JOIN runs ON runs.id = run_id WHERE label IN ('gobench.heap', 'gobench.cpu')
    ORDER BY kind")" "$(printf 'cpu\nheap')" "kinds"

# Known bytes are a no-op; our export of them adds no stack.
traces=$(sql t.db 'SELECT count(*) FROM traces')
"$CLEAR" ingest --db t.db "$ROOT/fixtures/corpus/legacy/gobench.heap" >again.txt || fail "again"
expect_match "$(cat again.txt)" 'already in the warehouse as run [0-9]+' "the same bytes"
"$CLEAR" ingest --db t.db gobench.heap.pb.gz cppbench.cpu.pb.gz >/dev/null || fail "our own exports"
expect_equal "$(sql t.db 'SELECT count(*) FROM traces')" "$traces" "stacks after our own exports"

# Broken files name the place and leave nothing.
expect_broken() { # expect_broken NAME REGEX [FORMAT]: the file as printf writes it, else as it is there
    local before
    # shellcheck disable=SC2059
    [ $# -lt 3 ] || printf -- "$3" >"$1"
    before=$(sqlite3 t.db .dump | sha256sum)
    expect_status 1 "$CLEAR" ingest --db t.db "$1" 2>err.txt >/dev/null
    expect_match "$(cat err.txt)" "$2" "$1"
    expect_equal "$(sqlite3 t.db .dump | sha256sum)" "$before" "the database after $1"
}
expect_broken heap 'heap:3:4: expected a number' 'heap profile: 1: 8 [1: 8] @ heap_v2/10\n1: 8 [1: 8] @ 0x1\n1: x [1: 8] @ 0x1\n'
expect_broken big 'big:2:1: .*64 bits' 'heap profile: 1: 8 [1: 8] @ heap_v2/10\n99999999999999999999: 8 [1: 8] @ 0x1\n'
expect_broken none 'none:2:.* 8 bytes' 'heap profile: 1: 8 [1: 8] @ heap_v2/10\n0: 8 [1: 8] @ 0x1\n'
expect_broken wide 'wide:2:5: .*64 bits' 'goroutine profile: total 1\n1 @ 0x11111111111111111\n'
expect_broken delay 'delay:3:.*64 bits' '--- contentionz 1 ---\ncycles/second = 1\n9223372036854775807 1 @ 0x1\n'
expect_broken thread 'thread:2:1: expected .--- Thread' '--- threadz 1 ---\n--- Thread zz stack\n'
head -c 1003 "$ROOT/fixtures/corpus/legacy/cppbench.cpu" >cut
expect_broken cut 'cut: byte [0-9]+: .*(ends|frames)'

# --lenient skips and counts.
printf 'heap profile: 1: 8 [1: 8] @ heap_v2/1\n1: 8 [1: 8] @ 0x11\n1: x [1: 8] @ 0x1\n2: 8 [2: 8] @ 0x21\n' >lenient
"$CLEAR" ingest --db t.db --lenient --label lenient lenient >out.txt 2>&1 || fail "--lenient"
expect_match "$(cat out.txt)" '1 .*skipped|skipped.* 1' "what --lenient says"
expect_equal "$(sql t.db "SELECT count(*) FROM sites JOIN profiles ON profiles.id = profile_id JOIN runs ON runs.id = run_id
    WHERE label = 'lenient'")" 2 "rows that are whole"
