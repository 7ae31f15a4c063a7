# The totals that a run keeps are the sums of its rows: what the view run_summary says without them. They go when rows of the run change.
. "$(dirname "$0")/lib.sh"

summary() { sqlite3 t.db "SELECT run_id, alloc_count, alloc_bytes, inuse_count, inuse_bytes, lock_acquires, lock_contended, lock_wait_ns, cpu_ns, recorder_cpu_ns, dropped, truncated, sample_n, sample_bytes FROM run_summary ORDER BY 1"; }
kept() { sqlite3 t.db "SELECT group_concat(run_id) FROM (SELECT run_id FROM run_totals ORDER BY 1)"; }

# ---- recorded runs, with several windows and processes; files of other tools, one of them twice ----
"$CLEAR" profile -q --db t.db --interval 20ms --cpu 999 -o a.profile "$FIXTURES/phases" >/dev/null 2>err || fail "profile: $(cat err)"
"$CLEAR" profile -q --db t.db -o b.profile "$FIXTURES/forks" >/dev/null 2>err || fail "profile: $(cat err)"
"$CLEAR" profile -q --db t.db --sample=64KiB --depth=3 -o b.profile "$FIXTURES/forks" >/dev/null 2>err || fail "profile: $(cat err)"
"$CLEAR" profile -q --db t.db -o c.profile "$FIXTURES/lock_contended" >/dev/null 2>err || fail "profile: $(cat err)"
"$CLEAR" ingest -q --db t.db a.profile/heap.pb.gz c.profile/lock.pb.gz a.profile/heap.pb.gz || fail "ingest: $?"
expect_equal "$(kept)" "1,2,3,4,5,6" "runs with totals"
expect_equal "$(sqlite3 t.db "SELECT sample_bytes, truncated > 0 FROM run_summary WHERE run_id = 3")" "65536|1" "what limits run 3"
summary >with.txt
# Of run 3 sampling may have met nothing.
expect_equal "$(sqlite3 t.db "SELECT count(*) FROM run_summary WHERE alloc_count > 0 AND run_id <> 3")" 4 "runs that allocate"
expect_equal "$(sqlite3 t.db "SELECT lock_wait_ns > 0 AND lock_contended > 0 FROM run_summary WHERE run_id = 4")" 1 "waits of run 4"
expect_equal "$(sqlite3 t.db "SELECT alloc_bytes = (SELECT sum(alloc_bytes) FROM heap WHERE run_id = 1) FROM run_totals WHERE run_id = 1")" 1 "the view heap"
sqlite3 t.db "DELETE FROM run_totals"
summary >without.txt
expect_same_file with.txt without.txt "the sums without the totals"

# ---- a change of the rows ----
"$CLEAR" ingest -q --db s.db a.profile/heap.pb.gz a.profile/heap-peak.pb.gz || fail "ingest: $?"
for change in "DELETE FROM profiles WHERE run_id = 1" "DELETE FROM sites WHERE trace_id = (SELECT min(trace_id) FROM sites)" \
    "UPDATE sites SET alloc_count = alloc_count + 1 WHERE trace_id = (SELECT min(trace_id) FROM sites)" \
    "INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count) VALUES ((SELECT id FROM profiles WHERE run_id = 1), 0, 0, 5)"; do
    cp s.db t.db
    sqlite3 t.db "$change" || fail "$change"
    expect_equal "$(kept)" 2 "totals after: $change"
    expect_equal "$(sqlite3 t.db "SELECT alloc_count - (SELECT coalesce(sum(alloc_count), 0) FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = 1)
        FROM run_summary WHERE run_id = 1")" 0 "the sum after: $change"
done

# Rows of recorded runs, in the tables themselves.
"$CLEAR" profile -q --db u.db --cpu 999 -o d.profile "$FIXTURES/lock_contended" >/dev/null 2>err || fail "profile: $(cat err)"
"$CLEAR" ingest -q --db u.db a.profile/heap.pb.gz || fail "ingest: $?"
for change in "UPDATE locks SET wait_ns = wait_ns + 5" "DELETE FROM locks" \
    "INSERT INTO locks(profile_id, object_id, address, trace_id, acquires) SELECT profile_id, object_id, 5, 0, 77 FROM locks JOIN profiles ON profiles.id = profile_id WHERE profiles.kind = 'lock' LIMIT 1" \
    "UPDATE cpu SET cpu_ns = cpu_ns + 1" "DELETE FROM cpu" "INSERT INTO cpu(profile_id, trace_id, cpu_ns) SELECT id, 0, 9 FROM profiles WHERE kind = 'cpu' LIMIT 1" \
    "UPDATE site_rows SET alloc_count = alloc_count + 1 WHERE profile_id IN (SELECT id FROM profiles WHERE run_id = 1)" \
    "UPDATE profiles SET dropped = dropped + 7 WHERE kind = 'lock'" "INSERT INTO profiles(run_id, kind, truncated) VALUES (1, 'own', 3)" \
    "UPDATE profiles SET kind = 'wait' WHERE kind = 'lock'" "UPDATE profiles SET run_id = 2 WHERE kind = 'lock'"; do
    cp u.db t.db
    sqlite3 t.db "$change" || fail "$change"
    summary >after.txt
    sqlite3 t.db "DELETE FROM run_totals"
    summary >sums.txt
    expect_same_file after.txt sums.txt "the summary after: $change"
    cp u.db t.db
    [ "$change" = "DELETE FROM cpu" ] || { summary >before.txt && ! cmp -s before.txt after.txt || fail "no change: $change"; }
done

# ---- sums beyond 64 bits: the file is stored, and the sum is an error where it is asked for ----
python3 - >large.pb <<'PYTHON' || fail "making large.pb"
import sys
from wire import block, number, varint
out = block(1, number(1, 1) + number(2, 2)) + block(1, number(1, 3) + number(2, 4))
for i in (1, 2):
    out += block(2, block(1, varint(i)) + block(2, varint(1) + varint(2**63 - 1)))
    out += block(4, number(1, i) + block(4, number(1, i) + number(2, 1))) + block(5, number(1, i) + number(2, 4 + i))
for text in "", "alloc_objects", "count", "alloc_space", "bytes", "f", "g":
    out += block(6, text.encode())
sys.stdout.buffer.write(out)
PYTHON
cp s.db t.db
"$CLEAR" ingest -q --db t.db large.pb || fail "ingest of large values: $?"
expect_equal "$(kept)" "1,2" "totals beside the run with large values"
expect_equal "$(sqlite3 t.db "SELECT sum(alloc_count) FROM run_summary")" "$(sqlite3 t.db "SELECT sum(alloc_count) FROM sites")" "counts of all runs"
expect_match "$(sqlite3 t.db "SELECT alloc_bytes FROM run_summary WHERE run_id = 3" 2>&1)" 'integer overflow' "the sum of the large values"
expect_equal "$(sqlite3 t.db "PRAGMA integrity_check")" ok "integrity"
