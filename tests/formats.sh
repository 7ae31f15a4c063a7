# clear export --format X and clear report X give the same bytes, and what they say is what pprof says of the oracle's profile.
# Of a fixed twelfth of the profiles, and the first of each kind and way; of all in make long.
# timeout: 900
# longer: ORACLE=whole
# build: plain
. "$(dirname "$0")/lib.sh"
command -v callgrind_annotate >/dev/null || skip "callgrind_annotate is not installed"
command -v go >/dev/null || skip "go tool pprof is not installed"
binary=$(go tool -n pprof) || fail "there is no go tool pprof"
export TZ=UTC HOME=$TMP PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none

cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" "$ROOT/tests/oracle_data.sql" | sqlite3 hand.db || fail "no database"
"$CLEAR" runs --db hand.db >/dev/null || fail "clear runs" # brings views and wrappers into it
corpus=$ROOT/fixtures/corpus
"$CLEAR" ingest -q --db ingested.db "$corpus"/pprof/*_go_{cpu,heap,goroutine}.pb.gz "$corpus"/folded/* || fail ingest

python3 "$ROOT/tests/formats.py" "$CLEAR" "$binary" "$TMP" hand.db ingested.db || fail "see above"

# A sum that 64 bits do not hold is an error, whoever is asked and whatever for.
printf 'a 9223372036854775807\nb 1\n' >large.folded
"$CLEAR" ingest -q --db large.db ./large.folded || fail "ingest of large values"
kind=$(sql large.db "SELECT kind FROM profiles")
for format in folded flamegraph speedscope callgrind dot json; do
    expect_status 1 "$CLEAR" export --db large.db --kind "$kind" --format $format latest 2>err.txt >out.txt
    expect_match "$(cat err.txt)" 'samples: the sum is larger than 2\^63 - 1' "export --format $format of a sum beyond 64 bits"
    expect_status 1 "$CLEAR" report $format --db large.db latest 2>err.txt >out.txt
    expect_match "$(cat err.txt)" 'samples: the sum is larger than 2\^63 - 1' "report $format of a sum beyond 64 bits"
done
expect_status 1 "$CLEAR" top --db large.db latest 2>err.txt >out.txt
