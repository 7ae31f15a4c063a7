#!/bin/bash
# A program that dumps by itself: what it is told, and what becomes of its dumps. It counts what it does itself. $PLAIN_CLEAR records where
# the options and the program are the subject, $CLEAR each sort of dump and of what is broken in it.
. "$(dirname "$0")/lib.sh"
program=$FIXTURES/self_dumps
last='run_id = (SELECT max(id) FROM runs)'
dumped="'heap', 'lock', 'mvcc', 'channels', 'fibers'"
record() { # record STATUS OPTION... PROGRAM...: into t.db; output in out.txt, err.txt
    local got=0 want=$1
    shift
    "${recorder:-$CLEAR}" profile --db t.db -o t.profile "$@" >out.txt 2>err.txt || got=$?
    expect_equal "$got" "$want" "status of $*: $(cat err.txt)"
}
told() { sed -n "s/^env $1 //p" out.txt; } # told VARIABLE: what the program found in its environment
profiles() { sql t.db "SELECT kind, count(*) FROM profiles WHERE $last AND kind IN ($dumped) GROUP BY kind ORDER BY kind" | xargs; }
all_once='channels|1 fibers|1 heap|1 lock|1 mvcc|1'

# ---- all of it: every figure is the program's own, and once there
record 4 "$program"
expect_tables out.txt t.db
expect_equal "$(profiles)" "$all_once" "profiles"
expect_equal "$(sql t.db "SELECT total_fibers FROM fibers JOIN profiles ON profiles.id = profile_id WHERE $last")" 12 "fibers"
expect_equal "$(sql t.db "SELECT DISTINCT executable FROM profiles JOIN processes ON processes.id = process_id WHERE profiles.$last AND kind IN ($dumped)")" \
    "$program" "process of the dumps"
line() { grep -n "$1" "$ROOT/fixtures/self_dumps.c" | cut -d: -f1; }
expect_equal "$(sql t.db "SELECT function, file, line FROM heap WHERE $last ORDER BY 1")" \
    "leaks|$ROOT/fixtures/self_dumps.c|$(line 'kept = self_alloc(24)')"$'\n'"makes|$ROOT/fixtures/self_dumps.c|$(line 'made = self_alloc(size)')" "names of a program that is loaded anywhere"
expect_equal "$(sql t.db "SELECT count(*) FROM counters JOIN profiles ON profiles.id = profile_id WHERE $last AND name = 'recorder.events'")" 1 "the recorder's own costs"
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE $last AND (time_ns < 1e18 OR duration_ns = 0)")" 0 "profiles without a time"
expect_match "$(cat err.txt)" '340 allocations' "the closing words count what was dumped"
expect_match "$(cat err.txt)" 'as the program itself dumped them: alloc.txt, locks.txt, mvcc.txt, channels.txt, fibers.txt' "whose figures they are"
expect_equal "$(grep -c '^0x' t.profile/alloc.txt)" 2 "rows of alloc.txt in the run's directory"
check_db t.db

# ---- what it is told
recorder=$PLAIN_CLEAR
expect_equal "$(told CLEAR_PROFILE_SAMPLE) $(told CLEAR_PROFILE_SYNC_CALLSTACKS)" "1 -" "rates by default"
expect_match "$(told CLEAR_FIBER_PROFILE)" '^/.*/clear-[0-9]+-[0-9]+-[0-9a-f]+/[0-9]{10}-[0-9]{20}\.fibers\.txt$' "where it dumps"
expect_equal "$(told CLEAR_FIBER_PROFILE | sed 's|.*/0*||; s|-.*||')" "$(sql t.db "SELECT pid FROM processes WHERE $last")" "the process in its name"
record 4 --sample=10 "$program"
expect_equal "$(told CLEAR_PROFILE_SAMPLE)" 10 "--sample=10"
expect_equal "$(sql t.db "SELECT sample_n FROM profiles WHERE $last AND kind = 'heap'")" 10 "the rate that the dump says"
expect_equal "$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE $last")" 340 "estimate of 340 by each tenth"
record 4 --sample=64KiB "$program"
expect_equal "$(told CLEAR_PROFILE_SAMPLE)" 1 "a size is no rate that it knows"
CLEAR_PROFILE_SYNC_CALLSTACKS=1 record 4 "$program"
expect_equal "$(told CLEAR_PROFILE_SYNC_CALLSTACKS)" - "the user's own wish is not ours"
record 4 --sync-callstacks --sample=1 "$program"
expect_equal "$(told CLEAR_PROFILE_SYNC_CALLSTACKS)" 1 "--sync-callstacks"
expect_equal "$(sql t.db "SELECT DISTINCT function, acquires FROM lock_use WHERE $last AND object = 'self_dumps:global_lock'")" "count_all|70" "the lock's caller"

# ---- the user's own files: replaced where we record that kind, else left alone
CLEAR_ALLOC_PROFILE=$TMP/mine.txt CLEAR_PROFILE_SAMPLE=7 record 4 "$program"
expect_match "$(told CLEAR_ALLOC_PROFILE)" '/clear-.*\.alloc\.txt$' "ours goes before the user's"
expect_equal "$(told CLEAR_PROFILE_SAMPLE)" 1 "so does the rate"
[ ! -e mine.txt ] || fail "the user's file was written all the same"
expect_match "$(cat err.txt)" '^clear: CLEAR_ALLOC_PROFILE was set and is replaced' "a word on it"
CLEAR_ALLOC_PROFILE=$TMP/mine.txt record 4 --no-heap "$program"
expect_equal "$(told CLEAR_ALLOC_PROFILE)" "$TMP/mine.txt" "--no-heap leaves the variable alone"
expect_equal "$(profiles)" 'channels|1 fibers|1 lock|1 mvcc|1' "profiles with --no-heap"
record 4 --no-heap --no-locks "$program"
expect_equal "$(told CLEAR_ALLOC_PROFILE) $(told CLEAR_LOCK_PROFILE)" "- -" "neither heap nor locks"

# ---- a dump that is broken loses nothing else: it is said where, and the hooks' profile of that kind stays
recorder=$CLEAR
while read -r how words; do
    record 4 --interval 1h "$program" "$how" # one window, however slow the machine is
    expect_match "$(cat err.txt)" "^clear: warning: the program's own dump \\(CLEAR_ALLOC_PROFILE\\) is not stored: alloc.txt$words" "a dump that is $how"
    expect_equal "$(sql t.db "SELECT sum(alloc_count) >= 340 FROM heap WHERE $last AND function IN ('makes', 'leaks', 'self_alloc')")" 1 "the hooks' heap with a dump that is $how"
    [ "$how" = other ] || expect_equal "$(profiles)" "$all_once" "profiles with a dump that is $how"
    expect_equal "$(sql t.db "SELECT sum(acquires) FROM lock_use WHERE $last AND object = 'self_dumps:global_lock'")" 70 "another dump beside one that is $how"
    expect_match "$("$CLEAR" doctor --db t.db)" "the program's own dump is not stored: alloc.txt" "doctor on a dump that is $how"
done <<'CASES'
broken :[0-9]+:[0-9]+: expected
empty : is empty
pipe : is not a regular file
other : is a dump of another kind
CASES
record 137 --interval 1h "$program" killed # one window, however slow the machine is
expect_equal "$(profiles)" 'heap|1 lock|1' "profiles of a program that was killed before it dumped"
expect_equal "$(grep -c warning err.txt)" 0 "warnings about it"
check_db t.db

# ---- several processes, one environment: each has a file of its own, and all are kept
record 4 "$program" twice
expect_equal "$(profiles)" 'channels|2 fibers|2 heap|2 lock|2 mvcc|2' "profiles of a process and its child that both dump"
of_processes() { # of each process of the last run, in the order in which they began: allocations, bytes, lock operations, figures of the kinds it has
    sql t.db "SELECT (SELECT sum(alloc_count) || ' ' || sum(alloc_bytes) FROM heap JOIN profiles ON profiles.id = profile_id WHERE process_id = processes.id),
        coalesce((SELECT sum(acquires) FROM locks JOIN profiles ON profiles.id = profile_id WHERE process_id = processes.id), 0),
        (SELECT group_concat(kind, ' ') FROM (SELECT kind FROM profiles WHERE process_id = processes.id AND kind IN ($dumped) ORDER BY kind))
        FROM processes WHERE processes.$last ORDER BY started_ns, id"
}
kinds='channels fibers heap lock mvcc'
expect_equal "$(of_processes)" "340 30960|70|$kinds
1 5000|0|$kinds" "figures of a process and its child"
expect_equal "$(sql t.db "SELECT count(DISTINCT function || file || line) FROM heap WHERE $last AND function IN ('makes', 'leaks')")" 2 "names of a forked child's stacks"
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE $last AND comments LIKE '%WARNING%'")" 0 "warnings: nothing was lost"
recorder=$PLAIN_CLEAR
# At once, each an image of its own under a shell that does not dump: what the hooks recorded of the shell stays.
printf '#!/bin/bash\nfor i in 1 2 3 4 5; do %s >/dev/null & done\nwait\nexit 6\n' "$program" >many.sh && chmod +x many.sh
record 6 --interval 1h ./many.sh # one window, however slow the machine is
expect_equal "$(of_processes | grep -cx "340 30960|70|$kinds")" 5 "five of them at once: $(of_processes)"
expect_equal "$(sql t.db "SELECT sum(acquires) FROM lock_use WHERE $last AND object = 'self_dumps:global_lock'")" 350 "their locks are one lock"
expect_equal "$(sql t.db "SELECT count(DISTINCT process_id) FROM profiles JOIN processes ON processes.id = process_id WHERE profiles.$last AND kind = 'heap' AND process_id = (SELECT id FROM processes WHERE $last ORDER BY started_ns LIMIT 1)") \
$(sql t.db "SELECT count(*) FROM counters JOIN profiles ON profiles.id = profile_id WHERE $last AND name = 'recorder.events'")" "1 1" "the shell's own heap, and the recorder's costs"
# A dump that is broken among several costs that one alone; a child that is not followed leaves its parent's file alone.
printf '#!/bin/bash\n%s broken >/dev/null\n%s >/dev/null\nexit 6\n' "$program" "$program" >mixed.sh && chmod +x mixed.sh
record 6 ./mixed.sh
expect_equal "$(grep -c '^clear: warning: the program.s own dump (CLEAR_ALLOC_PROFILE) is not stored: alloc.txt:' err.txt)" 1 "a word on the broken one"
expect_equal "$(of_processes | grep -cx "340 30960|70|$kinds")" 1 "the other one: $(of_processes)"
record 4 --follow=none "$program" twice
expect_tables out.txt t.db
expect_equal "$(profiles)" "$all_once" "profiles with --follow=none"
check_db t.db
# Nobody switches the program's own counting: where recording was off, that is said.
record 4 --start=off "$program"
expect_equal "$(profiles)" "$all_once" "profiles with --start=off"
expect_match "$("$CLEAR" doctor --db t.db)" 'recording was paused for a time; the dump of the program includes' "doctor on --start=off"
# A shell around it does not dump: what the hooks recorded of the shell stays.
printf '#!/bin/bash\nx=$(echo a)\n%s\nexit 6\n' "$program" >around.sh && chmod +x around.sh
record 6 --interval 1h ./around.sh # one window, however slow the machine is
expect_tables out.txt t.db
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE $last AND kind = 'heap' AND process_id = (SELECT min(id) FROM processes WHERE $last)")" 1 "the shell's own heap"
expect_equal "$(sql t.db "SELECT count(*) FROM profiles JOIN processes ON processes.id = process_id WHERE profiles.$last AND kind = 'heap' AND executable LIKE '%self_dumps'")" 1 "heaps of the program"
check_db t.db

# ---- fixed addresses, and a static program, which no hook sees
recorder=$CLEAR
for kind in no-pie static; do
    "${CC:-gcc}" -g -O1 -fno-omit-frame-pointer "-$kind" -D_GNU_SOURCE -I "$ROOT/fixtures" -o "self_$kind" "$ROOT/fixtures/self_dumps.c" -pthread || fail "building self_$kind"
    record 4 "./self_$kind"
    expect_tables out.txt t.db
    expect_equal "$(profiles)" "$all_once" "profiles of a program that is $kind"
    expect_equal "$(sql t.db "SELECT object FROM lock_use WHERE $last AND acquires = 70")" "self_$kind:global_lock" "a lock's name"
done
expect_match "$(cat err.txt)" '340 allocations' "closing words of a static program"
check_db t.db
