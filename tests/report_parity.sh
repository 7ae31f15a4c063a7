#!/usr/bin/env bash
# clear report prints what go tool pprof does, byte for byte, for options in all pairs: on pprof's own kinds of files, old and
# new, and on what was recorded here (each combination on one of them; on all with make parity). What may differ stands in report_parity.known with the reason.
# timeout: 900
# build: plain
# longer: PARITY=whole
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go tool pprof is not installed"
binary=$(go tool -n pprof) || fail "there is no go tool pprof"
export TZ=UTC HOME=$TMP PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none

record() { # two runs of each, so that there is a base: every kind of our own recording
    local run CLEAR=$PLAIN_CLEAR
    for run in 1 2; do
        profile -q -o "$TMP/leak$run.profile" --cpu off "$FIXTURES/leak" >/dev/null || fail "run $run"
        profile -q -o "$TMP/lock$run.profile" --cpu off --sync-callstacks --sample 1 "$FIXTURES/lock_contended" >/dev/null || fail "run $run"
        profile -q -o "$TMP/burn$run.profile" --no-heap --no-locks "$FIXTURES/cpu_burn" threads 100 >/dev/null || fail "run $run"
        profile -q -o "$TMP/phases$run.profile" --cpu off --interval 0.03 "$FIXTURES/phases" 60 fork >/dev/null || fail "run $run"
    done
}
record
# By hand: inlined frames, a label with quotation marks. Losses of two runs and the number of processes whose CPU time is added up are
# sums in their header, where pprof has a line of each file.
cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" "$ROOT/tests/oracle_data.sql" | sqlite3 hand.db || fail "no database"
"$CLEAR" runs --db hand.db >/dev/null || fail "clear runs" # brings views and wrappers into it
sql hand.db "UPDATE profiles SET dropped = 0, truncated = 0, sample_n = 1, doc_url = 'https://example.org/' || run_id;
    UPDATE profiles SET process_id = (SELECT min(process_id) FROM profiles AS one WHERE one.run_id = profiles.run_id) WHERE kind = 'cpu'"
recorded=("$TMP/hand.db#3#cpu#1" "$TMP/t.db#1#heap#5" "$TMP/t.db#2#lock#6" "$TMP/t.db#3#cpu#7" "$TMP/t.db#4#heap#8"
    "$TMP/t.db#4#mvcc#8" "$TMP/t.db#4#channels#8" "$TMP/t.db#4#fibers#8")

python3 "$ROOT/tests/report_parity.py" "$CLEAR" "$binary" "$TMP" "${recorded[@]}" "$ROOT"/fixtures/corpus/pprof/* \
    "$ROOT"/fixtures/corpus/legacy/* || fail "reports differ from pprof's"
