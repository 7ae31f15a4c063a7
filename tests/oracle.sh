# clear export and clear report proto against tests/oracle.py, which makes the profile of the tables alone: every kind that was
# recorded and every file of the corpus, one run, sets, less a base, windows.
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
    "$CLEAR" profile --db recorded.db -q -o x.profile --no-heap --no-locks --interval 0.1 "$FIXTURES/cpu_burn" >out.txt || fail "cpu_burn $run"
    "$CLEAR" profile --db recorded.db -q -o x.profile "$FIXTURES/fibers" >out.txt || fail "fibers $run"
    "$CLEAR" profile --db recorded.db -q -o x.profile --label sampled --sample=8KiB "$FIXTURES/cxx" >out.txt || fail "cxx $run"
done

# ---- ingested: pprof's, with sample types of their own; older formats; perf.data; CLEAR's dumps; folded stacks ----
python3 "$ROOT/fixtures/make_profile.py" made || fail "make_profile.py"
corpus=$ROOT/fixtures/corpus
"$CLEAR" ingest -q --lenient --db ingested.db "$corpus"/pprof/* "$corpus"/legacy/* "$corpus"/perf/perf.data.* "$corpus"/perf/*.perf.data \
    "$corpus"/dumps/* "$corpus"/folded/* made/*.pb made/*.pb.gz || fail ingest

python3 "$ROOT/tests/oracle_compare.py" "$CLEAR" "$binary" "$TMP" hand.db recorded.db ingested.db || fail "see above"

# ---- the oracle's own bytes: the same twice, and pprof reads them ----
for time in 1 2; do python3 "$ROOT/tests/oracle.py" hand.db $time.pb.gz --kind heap --runs 1..4 || fail "oracle.py"; done
expect_same_file 2.pb.gz 1.pb.gz "the same profile twice"
expect_equal "$(pprof -raw 1.pb.gz 2>/dev/null | sed -n '/^Mappings/{n;s,.* \(/opt/[a-z]*\) .*,\1,p}')" /opt/server "main binary"
