# A known leak is found, and nothing is said of the site that frees all.
# quick
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/leak" >out.txt
expect_equal "$(sql t.db "SELECT function, inuse_count, inuse_bytes FROM heap WHERE function GLOB 'leaks_*' OR function = 'frees_all' ORDER BY 1")" \
    $'frees_all|0|0\nleaks_all|1000|64000\nleaks_some|100|10000' 'what is still there'
expect_equal "$(sql t.db "SELECT code FROM doctor WHERE section = 'heap' AND subject = 'leaks_some' AND code = 'leak'")" leak 'a leak of a tenth'
expect_equal "$(sql t.db "SELECT count(*) FROM doctor WHERE section = 'heap' AND subject = 'frees_all' AND severity <> 'ok'")" 0 'a site without fault'
expect_equal "$(sql t.db "SELECT count(*) FROM doctor WHERE section = 'saturation' AND code <> 'slow-flush'")" 0 'losses' # a busy machine is slow
# What doctor points at can be exported: its trace ids are traces of that function.
expect_equal "$(sql t.db "SELECT DISTINCT heap.function FROM doctor, json_each(doctor.trace_ids) AS id JOIN heap ON heap.trace_id = id.value
    WHERE doctor.section = 'heap' AND subject = 'leaks_some'")" leaks_some 'the stacks behind the finding'
"$CLEAR" doctor --db t.db --top 0 >doctor.txt || fail "clear doctor: $?"
grep -q leaks_some doctor.txt || fail "doctor does not print leaks_some"
"$CLEAR" doctor --db t.db --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert any(row["subject"] == "leaks_some" and row["code"] == "leak" for row in rows), rows' || fail 'doctor --json'
