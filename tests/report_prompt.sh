#!/usr/bin/env bash
# The prompt of clear report: scripts on standard input against pprof's interactive mode, byte for byte; and what pprof's has not:
# sql, runs, use, kinds, the lines and statuses of errors, a reader that goes away.
# timeout: 240
. "$(dirname "$0")/lib.sh"
export TZ=UTC CLEAR_DB=$TMP/t.db

profile -q --label first -o first.profile --cpu off "$FIXTURES/heap_counts" >/dev/null || fail "heap_counts"
profile -q --label second -o second.profile --cpu off --sync-callstacks --sample 1 "$FIXTURES/lock_contended" >/dev/null || fail "lock_contended"

# ---- as pprof ----
if command -v go >/dev/null; then
    binary=$(go tool -n pprof) || fail "there is no go tool pprof"
    HOME=$TMP python3 "$ROOT/tests/report_prompt.py" "$CLEAR" "$binary" "$TMP" "$TMP/t.db#1#heap" "$TMP/t.db#2#lock" \
        "$ROOT"/fixtures/corpus/pprof/{after_go_cpu,before_go_heap,before_go_mutex}.pb.gz "$ROOT/fixtures/corpus/legacy/gobench.cpu" ||
        fail "sessions differ from pprof's"
fi
