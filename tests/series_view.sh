# The view series: every figure of every subject is the sum that plain Python makes of the tables; conditions reach the rows.
# build: plain
. "$(dirname "$0")/lib.sh"

"$CLEAR" profile -q --db t.db --interval 20ms --cpu 999 "$FIXTURES/phases" >/dev/null 2>err || fail "profile: $(cat err)"
for program in forks lock_contended mvcc channels io_calls queue_waits; do
    "$CLEAR" profile -q --db t.db -o "$program.profile" "$FIXTURES/$program" >/dev/null 2>err || fail "profile of $program: $(cat err)"
done
"$CLEAR" ingest -q --db t.db forks.profile/heap.pb.gz mvcc.profile/mvcc.pb.gz || fail "ingest: $?"
printf 'main;parse.isra.0 7\nmain;parse 5\n' >stacks.folded
"$CLEAR" ingest -q --db t.db stacks.folded || fail "ingest of stacks: $?"
check_db t.db
python3 "$ROOT/tests/series_view.py" t.db || fail 'the view is not what the tables say'
