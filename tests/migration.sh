# A warehouse of the first release opens: its rows stay, and afterwards it is made like a new one.
# quick
. "$(dirname "$0")/lib.sh"

make_first_release old.sqlite u
sql old.sqlite "INSERT INTO sites VALUES (3, 0, 0, -5, -7, 0, 123456789012)"
before=$(sql old.sqlite "SELECT * FROM sites ORDER BY profile_id, trace_id, label_set_id")
"$CLEAR" runs --db old.sqlite > out.txt || fail "clear runs refused an older file"
expect_match "$(cat out.txt)" 'kept' "the run of the older file"
expect_equal "$(sql old.sqlite "SELECT * FROM sites ORDER BY profile_id, trace_id, label_set_id")" "$before" "the rows of sites"
expect_equal "$(sql old.sqlite "SELECT block_bytes, alloc_count, ifnull(alloc_bytes, '-'), free_count, ifnull(free_bytes, '-')
    FROM site_rows JOIN site_keys ON id = site_key_id ORDER BY trace_id, label_set_id")" \
    "$(printf '%s\n' '0|-5|-7|0|123456789012' '100|9|-|4|-' '0|8|-|0|-')" "how they are stored"
expect_equal "$(sql old.sqlite "SELECT symbolize_ns, write_ns FROM run_summary")" "0|0" "what was not measured"
expect_equal "$(sql old.sqlite "SELECT function, alloc_bytes FROM heap WHERE alloc_count = 9")" "make_thing|900" "the view heap"
"$CLEAR" schema --db new.sqlite > /dev/null 2>&1 || true
"$CLEAR" ingest --db new.sqlite "$ROOT"/fixtures/corpus/pprof/$(ls "$ROOT"/fixtures/corpus/pprof | head -1) > /dev/null 2>&1 ||
    fail "no new warehouse"
# Comments of tables that stay are those of the clear which made the file; all else is the same.
for file in old new; do
    sql $file.sqlite "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name" > $file.all
    sed 's/--.*//' $file.all | tr -s ' \n' ' ' | sed 's/ \([,)]\)/\1/g' | tr '|;' '\n\n' > $file.txt
    sql $file.sqlite "SELECT name, sql FROM sqlite_schema WHERE type = 'view' OR name IN ('sources', 'site_keys', 'site_rows')
        ORDER BY name" > $file.made
done
diff old.made new.made > diff.txt || fail "what is made anew in an older file is not as in a new one: $(head -20 diff.txt)"
diff old.txt new.txt > diff.txt || fail "an older file is not made like a new one: $(head -20 diff.txt)"
expect_equal "$(sql old.sqlite 'PRAGMA user_version')" "$(sql new.sqlite 'PRAGMA user_version')" "the version"
expect_equal "$(sql old.sqlite 'PRAGMA foreign_key_check')" "" "foreign keys"
expect_equal "$(sql old.sqlite 'PRAGMA integrity_check')" "ok" "integrity"

# So does one of each later version: rules of gates stay, totals are computed again, events keep what they have.
for version in 2 3 4 5 6 7 8 9; do
    { cat "$ROOT/fixtures/warehouse_v1.sql"; for step in $(seq 2 $version); do cat "$ROOT/schema/migrations/$step.sql"; done; } | sqlite3 v$version.sqlite
    sql v$version.sqlite "INSERT INTO runs(id, uuid, started_ns, source, label) VALUES (7, 'u', 5, 'profile', 'kept')"
    [ $version != 4 ] || sql v4.sqlite "INSERT INTO gates(name, place, figure, limit_percent) VALUES ('mine', 1, 'heap.allocations', 7);
        INSERT INTO objects(id, kind, identity, name, trace_id) VALUES (1, 'lock', 'l', 'l', 0); INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (1, 7, 9, 1, 'p', 5);
        INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id) VALUES (1, 9, 1, 2, 'mutex', 1, 16, 0);
        INSERT INTO run_totals SELECT 7, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0"
    expect_match "$("$CLEAR" runs --db v$version.sqlite)" 'kept' "the run of a file of version $version"
    sql v$version.sqlite "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name" | sed 's/--.*//' | tr -s ' \n' ' ' | sed 's/ \([,)]\)/\1/g' |
        tr '|;' '\n\n' >v.txt
    diff v.txt new.txt >diff.txt || fail "a file of version $version is not made like a new one: $(head -20 diff.txt)"
    check_db v$version.sqlite
done
expect_equal "$(sql v4.sqlite "SELECT name, limit_percent, base FROM gates WHERE name = 'mine'")" 'mine|7.0|' 'a rule of version 4'
expect_equal "$(sql v4.sqlite 'SELECT kind, duration_ns, value IS NULL FROM events')" 'mutex|2|1' 'an event of version 4'
expect_equal "$(sql v4.sqlite 'SELECT coalesce(alloc_count, 0) FROM run_summary')" 0 'totals of version 4, which were wrong'
