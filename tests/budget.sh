#!/usr/bin/env bash
# --budget: within it each allocation is recorded; beyond it they are sampled at rates that change while the program runs, and then all are still
# counted, and a block's free weighs as much as its allocation. Windows and the doctor say what was done.
# timeout: 240
# build: plain
. "$(dirname "$0")/lib.sh"

newest='run_id = (SELECT max(id) FROM runs)'
counter() { sql t.db "SELECT CAST(value AS INTEGER) FROM counters JOIN profiles ON profiles.id = profile_id WHERE $newest AND name = 'recorder.budget_$1'"; }
record() { # record OPTION...: the fixture's books are in counts.txt
    "$CLEAR" profile --db t.db -o t.profile "$@" -- "$FIXTURES/sampled" 1 >counts.txt 2>said.txt || fail "clear profile $*: $(cat said.txt)"
}

# Ten times the program's own time is more than recording everything takes.
record --budget=1000%
allocations=$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE $newest")
for site in site_tiny site_small site_medium site_large site_huge; do
    expect_equal "heap $site $(sql t.db "SELECT sum(alloc_count) || ' ' || sum(alloc_bytes) || ' ' || sum(free_count) || ' ' || sum(free_bytes) FROM heap WHERE $newest AND function = '$site'")" \
        "$(grep "^heap $site " counts.txt)" "$site within the budget"
done
expect_equal "$(counter allocations)" "$allocations" 'allocations that the hooks counted'
expect_equal "$(sql t.db "SELECT max(period) FROM profiles WHERE $newest AND kind = 'heap'")" 1 'the period within the budget'
expect_equal "$(sql t.db "SELECT max(sample_bytes) FROM run_summary WHERE $newest")" 1 'the rate of the run'
expect_equal "$(sql t.db "SELECT count(*) FROM counters JOIN profiles ON profiles.id = profile_id WHERE $newest AND name LIKE '%variance'")" 0 'variances of exact figures'
"$CLEAR" doctor --db t.db >doctor.txt || fail 'clear doctor'
expect_match "$(grep -A1 '  budget' doctor.txt | paste -sd ' ')" '  budget 1,000 %: each allocation was recorded; cost estimated at [0-9.,]+ % of' 'what the doctor says of it'
expect_match "$(cat said.txt)" 'clear: heap: .*; budget 1,000 %, cost estimated at [0-9.,]+ %$' 'what the summary says of it'

# A thousandth is less than any of it. A recorder that gets no processor while the program runs looks too late: then once more.
for try in 1 2 3 4 5 6 7 8; do
    record --budget=0.1%
    # Also those that were passed over: the same number, whatever was sampled.
    expect_equal "$(counter allocations)" "$allocations" "allocations beyond the budget ($try)"
    # Of these sites all blocks are given back, so their estimates are the same.
    expect_equal "$(sql t.db "SELECT (sum(alloc_count) - sum(free_count)) || ' ' || (sum(alloc_bytes) - sum(free_bytes)) FROM heap WHERE $newest AND function = 'site_huge'")" \
        '0 0' "live blocks beyond the budget ($try)"
    expect_equal "$(sql t.db "SELECT sum(alloc_count) - sum(free_count) FROM heap WHERE $newest AND function = 'site_large'")" 0 "live blocks of site_large ($try)"
    [ "$(sql t.db "SELECT max(period) > 1 FROM profiles WHERE $newest AND kind = 'heap'")" = 0 ] || break
done
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE $newest AND kind = 'heap' AND period > 1 AND (period < 1024 OR period > 16777216 OR period & (period - 1))")" 0 'periods'
expect_equal "$(sql t.db "SELECT max(period) = (SELECT sample_bytes FROM run_summary WHERE $newest) FROM profiles WHERE $newest AND kind = 'heap'")" 1 'the rate of the run is the coarsest'
expect_equal "$(sql t.db "SELECT count(*) FROM counters JOIN profiles ON profiles.id = profile_id WHERE $newest AND name LIKE '%\_variance' ESCAPE '\\'")" 4 'variances'
"$CLEAR" doctor --db t.db >doctor.txt || fail 'clear doctor'
expect_match "$(grep -A3 '  budget' doctor.txt | tr -s ' \n' ' ')" \
    '^ budget 0.1 %: exact until [0-9.]+ m?s, then allocations sampled every [0-9.]+ [KM]iB( to [0-9.]+ [KM]iB)?; cost estimated at [0-9.,]+ % of the program.s CPU time \(not held: only allocations are sampled\)' 'what the doctor says of a sampled run'
expect_match "$(cat said.txt)" 'clear: heap: .*; budget 0.1 %, cost estimated at [0-9.,]+ % \(not held\), sampled up to every [0-9.]+ [KM]iB$' 'the summary of a sampled run'

# Locks are not sampled, and count with 10 ns each to the end of the run, or with what a storm of them spends in their hooks at most. (A recorder that
# gets no processor knows of no CPU time.)
printf '#include <pthread.h>\n#include <stdio.h>\n#include <time.h>\nint main(void) {\npthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
for (int i = 0; i < 5000000; i++) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); }
printf("%%.0f\\n", 1e6 * (double)clock() / CLOCKS_PER_SEC);\n}\n' >locks.c
"${CC:-gcc}" -O1 -o locks locks.c -lpthread || fail 'locks.c'
for try in 1 2 3 4 5 6 7 8; do
    "$CLEAR" profile --db t.db --no-files --budget=3% -- ./locks >cpu_us.txt 2>said.txt || fail "clear profile: $(cat said.txt)"
    cost=$(sql t.db "SELECT value FROM counters JOIN profiles ON profiles.id = profile_id WHERE $newest AND name = 'recorder.budget_cost_percent'")
    [ "$cost" = 0.0 ] || break
done
expect_equal "$(sql t.db "SELECT $cost > min(50, 100.0 * 5000000 * 0.010 / $(cat cpu_us.txt) / 2)")" 1 "$cost % in a storm of locks of $(cat cpu_us.txt) us"
expect_match "$(cat said.txt)" 'budget 3 %, cost estimated at [0-9.,]+ % \(not held\)' 'the summary of a storm of locks'

# What cannot be asked for.
refused() { # refused TEXT ARGUMENT...
    local text=$1
    shift
    expect_status 2 "$@" 2>err.txt
    expect_match "$(cat err.txt)" "$text" "$*"
}
for budget in 3 0% 0.01% 1001% -1% x% %; do
    refused '--budget must be a percentage from 0.1% to 1000%' profile "--budget=$budget" true
done
refused 'leave out --sample' profile --budget=3% --sample=100 true
refused 'leave out --sample' profile --budget=3% --sample=512KiB true
refused 'leave out --sample' profile --budget=3% --sync-callstacks true
refused 'exclude each other' profile --budget=3% --no-heap true
refused 'leave out --budget' profile --budget=3% --leaks true
"$CLEAR" env --budget=3% 2>err.txt && fail 'clear env --budget'
expect_match "$(cat err.txt)" '--budget needs clear profile' 'clear env --budget'
