# A run directory with two large profiles, into an empty warehouse: both are stored whole, the indexes of the stacks are there
# afterwards, and a second ingest of the same profiles adds no stack.
. "$(dirname "$0")/lib.sh"

mkdir both.profile alone
python3 "$ROOT/bench/make_pprof.py" both.profile/heap.pb.gz 12000 400 12 7 || fail "make_pprof"
python3 "$ROOT/bench/make_pprof.py" both.profile/cpu.pb.gz 11000 500 12 8 || fail "make_pprof"
"$CLEAR" ingest -q --db t.db both.profile || fail ingest
check_db t.db
expect_equal "$(sql t.db "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'traces' ORDER BY 1)")" \
    traces_hash,traces_signature "indexes of traces"
expect_equal "$(sql t.db "SELECT count(*) FROM traces WHERE hash = 0 AND id > 0 OR NOT json_valid(stack)")" 0 "stacks that are no stacks"
stacks=$(sql t.db "SELECT count(*) FROM traces")
cp both.profile/*.pb.gz alone/
"$CLEAR" ingest -q --db t.db alone || fail "ingest of the files alone"
expect_equal "$(sql t.db "SELECT count(*) FROM traces")" "$stacks" "stacks after a second ingest"
expect_equal "$(sql t.db "SELECT count(DISTINCT profiles.id) = 4 AND count(DISTINCT total) = 2 FROM profiles
    JOIN (SELECT profile_id, sum(alloc_count) AS total FROM sites GROUP BY 1) ON profile_id = profiles.id")" 1 "each profile twice"
