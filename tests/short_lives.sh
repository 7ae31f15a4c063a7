# Of many processes each is judged for itself: a block that each of 40 loses is no leak, steps that 40 make together are no quadratic growth, and one that
# was killed says nothing of the blocks of the others.
# quick
. "$(dirname "$0")/lib.sh"

judged() { # judged DB: what is said of each site
    sql "$1" "SELECT subject, code, severity, json_extract(evidence, '\$.lost_count'), json_extract(evidence, '\$.step_count') FROM doctor
        WHERE section = 'heap' AND subject IN ('table_entry', 'dying_entry', 'lost_block', 'grown_block') ORDER BY 1, 2"
}

"$CLEAR" profile -q --no-files --db many.db -- sh -c "for i in \$(seq 40); do '$FIXTURES/short_lives' lose 1 grow 1100; done; '$FIXTURES/short_lives' die; true" 2>err.txt ||
    fail "many: $(cat err.txt)"
expect_equal "$(sql many.db "SELECT sum(alloc_count), sum(inuse_count) FROM heap WHERE function IN ('table_entry', 'dying_entry', 'lost_block', 'grown_block') GROUP BY function ORDER BY function")" \
    $'600|600\n44040|0\n40|40\n24000|24000' 'what 41 processes allocated and kept'
expect_equal "$(judged many.db)" $'dying_entry|leak|note||\nlost_block|leak|note|1|\ntable_entry|leak|note|0|' '41 processes'

"$CLEAR" profile -q --no-files --db one.db -- "$FIXTURES/short_lives" lose 40 grow 4000 2>err.txt || fail "one: $(cat err.txt)"
expect_equal "$(judged one.db)" $'grown_block|quadratic-growth|warning|0|4000\nlost_block|leak|warning|40|\ntable_entry|leak|note|0|' 'one process'

# What it lost it gave back at once, where the run went on without it.
"$CLEAR" profile -q --no-files --db short.db -- sh -c "'$FIXTURES/short_lives' lose 40; sleep 1" 2>err.txt || fail "short: $(cat err.txt)"
expect_equal "$(judged short.db)" $'lost_block|leak|note|40|\ntable_entry|leak|note|0|' 'a part of a run'
sql short.db "UPDATE rules SET value = 0 WHERE name = 'leak_short_percent'"
expect_equal "$(judged short.db)" $'lost_block|leak|warning|40|\ntable_entry|leak|note|0|' 'where that does not count'

# What a helper lost for a moment does not hide what the process lost that stayed.
"$CLEAR" profile -q --no-files --db both.db -- sh -c "'$FIXTURES/short_lives' lose 60; '$FIXTURES/short_lives' lose 40 stay 1000" 2>err.txt || fail "both: $(cat err.txt)"
expect_equal "$(judged both.db)" $'lost_block|leak|warning|40|\ntable_entry|leak|note|0|' 'a helper and one that stays'
check_db many.db
