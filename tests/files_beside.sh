#!/usr/bin/env bash
# The directory of a run with many stacks is written while the facts of the run are made. It is that which clear export writes afterwards, the
# facts are those that are made anew, and where it cannot be written, the run is stored all the same.
# build: plain
. "$(dirname "$0")/lib.sh"

profile -o many.profile -- "$FIXTURES/many_stacks" 20000 >out.txt 2>err.txt || fail "status $?: $(cat err.txt)"
expect_between "$(sql t.db 'SELECT count(DISTINCT trace_id) FROM sites')" 10000 30000 'stacks'
"$CLEAR" export --db t.db 1 -o again.profile/ || fail 'exporting the directory'
diff -r many.profile again.profile >difference.txt || fail "$(cat difference.txt)"
expect_equal "$(sql t.db 'SELECT run_id FROM seals')" 1 'the run that is sealed'
facts=$(sql t.db 'SELECT count(*), sum(alloc_count) FROM site_facts; SELECT * FROM heap_facts; SELECT count(*), sum(value) FROM figure_facts')
"$CLEAR" reseal --db t.db >/dev/null 2>&1 || fail 'resealing'
expect_equal "$(sql t.db 'SELECT count(*), sum(alloc_count) FROM site_facts; SELECT * FROM heap_facts; SELECT count(*), sum(value) FROM figure_facts')" "$facts" 'facts'
expect_equal "$(find . -name '*.tmp-*' -o -name 't.db-*')" '' 'files that are left'

# With one processor it is written afterwards, and says the same.
taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')" "$CLEAR" profile --quiet --db one.db -o one.profile -- "$FIXTURES/many_stacks" 20000 >out.txt ||
    fail "status $?"
"$CLEAR" export --db one.db 1 -o again.profile/ || fail 'exporting the directory of one processor'
diff -r one.profile again.profile >difference.txt || fail "$(cat difference.txt)"

# The program takes away the place of the directory.
mkdir gone
profile -o gone/many.profile -- sh -c "'$FIXTURES/many_stacks' 20000 >out.txt; rmdir gone" 2>err.txt || fail "status $?: $(cat err.txt)"
expect_match "$(cat err.txt)" '^clear: warning: gone/many.profile: .*; the run is stored, and clear export --db [^ ]*t.db 2 -o DIR/ writes its files' 'what clear says'
expect_equal "$(sql t.db 'SELECT run_id FROM seals')" $'1\n2' 'the runs that are sealed'
expect_equal "$(sql t.db 'SELECT count(DISTINCT trace_id) > 10000 FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = 2')" 1 'its stacks'
