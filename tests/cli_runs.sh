#!/bin/bash
# clear runs: a line a run, the newest first, with what must be known before the row is believed.
# quick
. "$(dirname "$0")/lib.sh"
cat "$ROOT/schema/tables.sql" "$ROOT/tests/query_data.sql" | sqlite3 t.db || fail "making t.db"
export TZ=UTC
"$CLEAR" runs --db t.db >list || fail "runs exits $?"
expect_equal "$(wc -l <list)" 5 "lines"
expect_match "$(sed -n 3p list)" '^  2  2023-11-14 22:15:00 +1m 05s  base +10 +100 B +0 B +0 ns  signal 9  \./server "x y" +unfinished$' "run 2"
expect_match "$(sed -n 4p list)" '^  1  2023-11-14 22:13:20 +1\.3 s  base +20,505  2\.9 MiB  2\.9 MiB +404\.0 ms  exit 0 +\./server --port 0  dropped 1,234$' "run 1"
expect_match "$(sed -n 5p list)" '^  3  2020-09-13 12:26:40 .* prod/x\.pb\.gz$' "run 3"
"$CLEAR" runs --db t.db --json | python3 -c 'import json, sys
rows = json.load(sys.stdin)
assert [row["run_id"] for row in rows] == [2, 1, 3], rows
assert rows[1]["alloc_bytes"] == 3050050 and rows[1]["lock_wait_ns"] == 404000000, rows[1]' || fail "--json"
CLEAR_DB=t.db "$CLEAR" runs | cmp - list || fail "\$CLEAR_DB"
cp t.db runs.sqlite
"$CLEAR" runs | cmp - list || fail "runs.sqlite"
CLEAR_DB=none.db "$CLEAR" runs --db t.db | cmp - list || fail "--db before \$CLEAR_DB"
days() { "$CLEAR" runs --db t.db --json "$@" | python3 -c 'import json, sys; print(*[row["run_id"] for row in json.load(sys.stdin)])'; }
expect_equal "$(days --since 2023-11-14)" "2 1" "since the day itself"
expect_equal "$(days --since 2023-11-15)" "" "since the day after"
expect_equal "$(days --until 2023-11-14)" "2 1 3" "until the day itself"
expect_equal "$(days --until 2023-11-13)" "3" "until the day before"
expect_equal "$(days --since 2020-09-13 --until 2020-09-13)" "3" "one day"
for day in 2023-02-29 2023-1-01 ' 2023-1-1' 2023-13-01 yesterday ''; do
    "$CLEAR" runs --db t.db --until "$day" >out 2>err && fail "--until '$day' is taken"
    grep -qF "clear: --until '$day' is not a day; write it as 2026-01-31" err || fail "--until '$day': $(cat err)"
done
