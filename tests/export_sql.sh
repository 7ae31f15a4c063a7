# Any query as pprof: what each column becomes, what is refused, and that a refusal leaves no file.
. "$(dirname "$0")/lib.sh"

cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" | sqlite3 t.db || fail "no database"

samples() { # samples SQL: the export as sorted text: values {labels} stack
    "$CLEAR" export --db t.db --sql "$1" -o q.pb.gz || fail "$1"
    pprof -raw q.pb.gz >/dev/null 2>pprof.err || fail "go tool pprof: $(cat pprof.err)"
    python3 "$ROOT/tests/profile_diff.py" q.pb.gz | grep -Ev '^(period|time|default|map) '
}
stack() { sed -E 's/\[[^|]* ([^][| ]+)\|[^]]*\]/\1/g'; } # only function names

# trace_id and TYPE/UNIT; equal stacks are summed, whatever process they came from.
text=$(samples 'SELECT trace_id, alloc_bytes AS "alloc_space/bytes", alloc_count AS "n/count" FROM sites')
expect_match "$text" '^types alloc_space/bytes n/count$' types
expect_match "$text" '^comments SELECT trace_id, alloc_bytes AS ' "the SQL in the comments"
expect_equal "$(awk '/^[0-9]+ [0-9]+ \{/ { a += $1; b += $2; n++ } END { print a "|" b "|" n }' <<<"$text")" \
    "$(sql t.db 'SELECT sum(alloc_bytes), sum(alloc_count), count(DISTINCT trace_id) FROM sites')" "totals and samples"
expect_equal "$(pprof -raw q.pb.gz 2>/dev/null | sed -n '/^Mappings/{n;s,.* \(/opt/[a-z]*\) .*,\1,p}')" /opt/server "main binary"

# label:KEY, label:KEY/UNIT, label_set_id
text=$(samples "SELECT trace_id, label_set_id, 'x y' AS \"label:host\", 7 AS \"label:shard\", 4096 AS \"label:size/bytes\",
    NULL AS \"label:none\", free_count AS f FROM sites WHERE label_set_id = 1")
expect_match "$text" '^10 \{bytes=512/bytes,host=x y,shard=7,size=4096/bytes,thread=worker "1"\} ' labels

# stack, and text left and right of it; NULL is no frame and the value 0; reals are rounded.
text=$(samples "SELECT 'l1' AS a, 'l2' AS b, 'root;mid;leaf' AS stack, 'r1' AS c, NULL AS d, 'r2' AS e, 2.5 AS total_ns
    UNION ALL SELECT 'l1', 'l2', 'root;mid;leaf', 'r1', NULL, 'r2', 1.5 UNION ALL SELECT 'only', NULL, NULL, NULL, NULL, NULL, NULL" | stack)
expect_match "$text" '^types d/count total_ns/nanoseconds$' "units by name"
expect_match "$text" '^0 5 \{\} r2 r1 leaf mid root l2 l1$' "order of frames"
expect_match "$text" '^0 0 \{\} only$' "NULL is 0"

# function with file and line is one frame; no value at all counts rows.
text=$(samples "SELECT 'top' AS thread, function, file, line FROM heap WHERE function = 'serve' OR function = 'main'")
expect_match "$text" '^types rows/count$' "rows are counted"
expect_match "$text" '^2 \{\} \[0 - main\|main\|/src/server.cc\|0:12:0\] \[0 - top\|' "frame of function, file and line"
text=$(samples 'SELECT function, sum(alloc_bytes) FROM heap GROUP BY 1')
expect_match "$text" '^types sum\(alloc_bytes\)/bytes$' "unit of a sum"
text=$(samples 'SELECT trace_id, sum(alloc_bytes) AS n FROM sites JOIN profiles ON id = profile_id WHERE run_id = :run GROUP BY 1')
expect_equal "$(grep -c '^[0-9]' <<<"$text")" 1 ":run is the latest run"
text=$(samples 'SELECT trace_id, 1 AS n FROM sites WHERE false')
expect_equal "$(grep -c '^[0-9]' <<<"$text")" 0 "a query without rows"

refused() { # refused STATUS REGEX SQL
    rm -f no.pb.gz
    expect_status "$1" "$CLEAR" export --db t.db --sql "$3" -o no.pb.gz 2>err.txt
    expect_match "$(cat err.txt)" "$2" "message of $3"
    expect_equal "$(wc -l <err.txt)" 1 "lines of the message of $3"
    [ -z "$(ls -A | grep '^no')" ] || fail "left behind: $(ls -A)"
}
refused 1 'row 2, column n/count: .*"many"' "SELECT 1 AS trace_id, 1 AS \"n/count\" UNION ALL SELECT 1, 'many'"
refused 1 'row 2, column n: ' "SELECT 1 AS trace_id, 1 AS n UNION ALL SELECT 1, 'many'"
refused 1 'row 1: trace 99 ' 'SELECT 99 AS trace_id'
refused 1 'row 1, column trace_id' "SELECT 'x' AS trace_id"
refused 1 'row 2: the sum of n/count is larger' 'SELECT trace_id, 9223372036854775807 AS n FROM sites WHERE trace_id = 1'
refused 1 'row 1, column n: .*too large' 'SELECT trace_id, 1e19 AS n FROM sites'
refused 2 'two columns are named trace_id' 'SELECT 1 AS trace_id, 2 AS trace_id'
refused 2 'only reading' 'DELETE FROM sites'
refused 2 'only reading' 'COMMIT'
refused 2 'one statement' 'SELECT 1; DELETE FROM sites'
refused 2 'syntax error' 'SELEC'
expect_equal "$(sql t.db 'SELECT count(*) FROM sites')" 7 "rows afterwards"

# What the command line refuses.
expect_status 2 "$CLEAR" export --db t.db --kind heap 2>err.txt
expect_match "$(cat err.txt)" '-o FILE' "no -o"
expect_status 2 "$CLEAR" export --db t.db 1 -o no.pb.gz 2>err.txt
expect_match "$(cat err.txt)" 'heap, cpu, lock.*choose with --kind heap.*--sql' "neither --kind nor --sql"
expect_status 2 "$CLEAR" export --db t.db --kind goat -o no.pb.gz 2>err.txt
expect_match "$(cat err.txt)" "'goat'.* heap, cpu, lock" "kinds there are"
expect_status 2 "$CLEAR" export --db t.db 2 --kind lock -o no.pb.gz 2>err.txt
expect_match "$(cat err.txt)" 'run 2 has no lock profile; it has: heap' "kinds the run has"
expect_status 2 "$CLEAR" export --db t.db --kind heap --sql 'SELECT 1' -o no.pb.gz 2>/dev/null
expect_status 1 "$CLEAR" export --db t.db --kind heap -o missing/no.pb.gz 2>/dev/null
expect_status 1 "$CLEAR" export --db t.db --kind heap -o /dev/full 2>/dev/null
expect_status 1 "$CLEAR" export --db none.db --kind heap -o no.pb.gz 2>/dev/null
if has_terminals; then
    expect_status 2 script -qec "$CLEAR export --db t.db --kind heap -o -" /dev/null >err.txt
    expect_match "$(cat err.txt)" 'terminal' "binary on a terminal"
fi
[ -z "$(ls -A | grep '^no')" ] || fail "left behind: $(ls -A)"
