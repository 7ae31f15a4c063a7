# clear export and clear report proto against tests/oracle.py, which makes the profile of the tables alone: every kind that was
# recorded and every file of the corpus, one run, sets, less a base, windows. What other formats say is held by tests/formats.sh.
# A fixed 24th of them, and the first of each kind and way; all in make long.
# timeout: 900
# longer: ORACLE=whole
# plain: what it holds are figures; the code that writes them runs in export_property and ingest_roundtrip too
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go tool pprof is not installed"
binary=$(go tool -n pprof) || fail "there is no go tool pprof"
export TZ=UTC HOME=$TMP PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none

# ---- by hand: two processes, inlined frames, labels, windows whose sums the oracle must not only copy ----
cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" "$ROOT/tests/oracle_data.sql" | sqlite3 hand.db || fail "no database"
"$CLEAR" runs --db hand.db >/dev/null || fail "clear runs" # brings views and wrappers into it

# ---- recorded, twice each so that there is a base: every kind of our own; the last one sampled ----
for run in 1 2; do
    "$CLEAR" profile --db recorded.db -q -o x.profile --interval 0.03 --windows=all -- "$FIXTURES/phases" 60 fork >out.txt || fail "phases $run"
    "$CLEAR" profile --db recorded.db -q -o x.profile --sync-callstacks --sample 1 "$FIXTURES/lock_contended" >out.txt || fail "lock_contended $run"
    "$CLEAR" profile --db recorded.db -q -o x.profile --no-heap --no-locks --interval 0.1 "$FIXTURES/cpu_burn" threads 120 >out.txt || fail "cpu_burn $run"
    "$CLEAR" profile --db recorded.db -q -o x.profile "$FIXTURES/fibers" >out.txt || fail "fibers $run"
    "$CLEAR" profile --db recorded.db -q -o x.profile --label sampled --sample=8KiB "$FIXTURES/cxx" >out.txt || fail "cxx $run"
done
# Where the last thing that happens is a wait, the last window has waits alone: what block, which is made of locks, channels and waits, says of itself
# goes to its end.
sql recorded.db "UPDATE profiles SET time_ns = time_ns + 1000000, duration_ns = duration_ns + 1000000 WHERE kind = 'wait'"

# ---- ingested: pprof's, with sample types of their own; older formats; perf.data; CLEAR's dumps; folded stacks ----
python3 "$ROOT/fixtures/make_profile.py" made good || fail "make_profile.py"
corpus=$ROOT/fixtures/corpus
"$CLEAR" ingest -q --lenient --db ingested.db "$corpus"/pprof/* "$corpus"/legacy/* "$corpus"/perf/perf.data.* "$corpus"/perf/*.perf.data \
    "$corpus"/dumps/* "$corpus"/folded/* made/*.pb made/*.pb.gz || fail ingest

python3 "$ROOT/tests/oracle_compare.py" "$CLEAR" "$binary" "$TMP" hand.db recorded.db ingested.db || fail "see above"

# ---- the oracle's own bytes: the same twice, and pprof reads them ----
for time in 1 2; do python3 "$ROOT/tests/oracle.py" hand.db $time.pb.gz --kind heap --runs 1..4 || fail "oracle.py"; done
expect_same_file 2.pb.gz 1.pb.gz "the same profile twice"
expect_equal "$(pprof -raw 1.pb.gz 2>/dev/null | sed -n '/^Mappings/{n;s,.* \(/opt/[a-z]*\) .*,\1,p}')" /opt/server "main binary"

# ---- that a comparison can fail: of a warehouse with one thing changed, the export is not the oracle's of the first ----
sees() { # sees KIND SQL: into bent.kinds and bent/, for what compares them at the end
    local at
    at=$(wc -l <bent.kinds)
    cp hand.db bent.db
    sqlite3 bent.db "$2" || fail "$2"
    "$CLEAR" export --db bent.db --kind "$1" 3 -o "bent/$at.pb.gz" || fail "export after $2"
    [ -f "bent/$1.pb.gz" ] || "$CLEAR" export --db hand.db --kind "$1" 3 -o "bent/$1.pb.gz" || fail "export of $1"
    printf '%s\t%s\n' "$1" "$2" >>bent.kinds
}
mkdir bent && : >bent.kinds
sees heap 'UPDATE site_rows SET alloc_count = alloc_count + 1 WHERE profile_id = 11 AND site_key_id = 1'
sees heap 'UPDATE site_rows SET free_bytes = 1 WHERE profile_id = 14 AND site_key_id = 3'
sees leak 'UPDATE leaks SET indirect_bytes = 11 WHERE profile_id = 73 AND trace_id = 3'
sees spin 'UPDATE spins SET failed_tries = 8 WHERE profile_id = 76 AND trace_id = 1'
sees threads 'UPDATE thread_starts SET life_ns = 7 WHERE profile_id = 74 AND trace_id = 1'
sees heap-peak 'UPDATE heap_peaks SET peak_count = 7 WHERE profile_id = 71 AND trace_id = 1'
sees cpu 'UPDATE cpu SET label_set_id = 0 WHERE profile_id = 64'
sees cpu 'DELETE FROM location_lines WHERE location_id = 3 AND position = 0'
sees cpu 'UPDATE location_lines SET "column" = 6 WHERE location_id = 1'
sees cpu "UPDATE mappings SET build_id = '' WHERE id = 2"
sees cpu "UPDATE mappings SET has_inline_frames = 1 WHERE id = 1"
sees cpu "UPDATE functions SET system_name = 'main' WHERE id = 3"
sees cpu "UPDATE traces SET stack = '[4,3,1,2,5]' WHERE id = 1"
sees lock "UPDATE objects SET name = 'server:g_other' WHERE id = 1"
sees lock "UPDATE profiles SET comments = '[\"first\",\"note\"]' WHERE id = 21"
sees mvcc 'UPDATE cells SET struct_size = 255 WHERE profile_id = 33 AND address = 5246976'
sees channels 'UPDATE channels SET max_depth = 9 WHERE profile_id = 43'
sees fibers 'UPDATE task_sites SET line = 13 WHERE profile_id = 53'
sees heap 'UPDATE profiles SET duration_ns = 1 WHERE id = 11'
sees heap 'UPDATE profiles SET dropped = 7 WHERE id = 13'
sees heap 'UPDATE profiles SET sample_n = 8 WHERE id = 13'
(cd "$ROOT/tests" && python3 - "$TMP") <<'END' || fail 'a comparison that cannot fail, see above'
import contextlib, io, sys
import oracle, profile_diff

directory, wanted = sys.argv[1], set()
for at, line in enumerate(open(f"{directory}/bent.kinds", encoding="utf-8")):
    kind, change = line.rstrip("\n").split("\t")
    want = f"{directory}/bent/{kind}.want.pb.gz"
    if kind not in wanted:
        wanted.add(kind)
        oracle.write(f"{directory}/hand.db", want, kind, "3")
        if profile_diff.compare(want, f"{directory}/bent/{kind}.pb.gz", "comments"): sys.exit(f"{kind} differs without a reason")
    with contextlib.redirect_stdout(io.StringIO()):
        differs = profile_diff.compare(want, f"{directory}/bent/{at}.pb.gz", "comments")
    if not differs: sys.exit(f"not seen: {change}")
END
