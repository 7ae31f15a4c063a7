#!/usr/bin/env bash
# clear report prints what go tool pprof does, byte for byte, for options in all pairs: on pprof's own kinds of files, old and
# new, and on what was recorded here. What may differ stands in report_parity.md with the reason.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go tool pprof is not installed"
binary=$(go tool -n pprof) || fail "there is no go tool pprof"
export TZ=UTC HOME=$TMP PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none

python3 "$ROOT/tests/report_parity.py" "$CLEAR" "$binary" "$TMP" "$ROOT"/fixtures/corpus/pprof/* "$ROOT"/fixtures/corpus/legacy/* ||
    fail "reports differ from pprof's"
