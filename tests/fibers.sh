# Fibers, told through clear.h: spawns, runs and exits by task site and scheduler, lifetimes between bounds; and what they allocate on
# stacks of their own has stacks that end where the fiber began.
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -o t.profile -- "$FIXTURES/fibers" >out.txt
expect_tables out.txt
read -r _ total under least most < <(grep '^fibers ' out.txt)
IFS='|' read -r -a got <<<"$(sql t.db 'SELECT sum(total_fibers), sum(short_fibers), sum(very_short_fibers), max(max_lifetime_ns), sum(total_lifetime_ns) FROM fibers')"
expect_equal "${got[0]}" "$total" 'fibers'
# The program took its times outside of the recorder's: who is under 1 ms for it is so for the recorder.
expect_between "${got[1]}" "$under" "$total" 'fibers under 1 ms'
expect_between "${got[2]}" 0 "${got[1]}" 'fibers under 10 us'
expect_between "${got[3]}" $((least - least / 1000)) $((most + most / 1000)) 'longest life'
expect_equal "$(sql t.db "SELECT 'task ' || site || ' ' || sum(spawns) || ' ' || sum(runs) || ' ' || sum(exits) FROM task_sites GROUP BY site ORDER BY site")" "$(grep '^task ' out.txt)" 'task sites'
expect_equal "$(sql t.db "SELECT 'scheduler ' || scheduler || ' ' || sum(fibers) FROM schedulers GROUP BY scheduler ORDER BY scheduler")" "$(grep '^scheduler ' out.txt)" 'schedulers'
expect_equal "$(sql t.db "SELECT sum(value) FROM task_sites, json_each(schedulers)")" "$(awk '$1 == "scheduler" {sum += $3} END {print sum}' out.txt)" 'runs by site and scheduler'

while read -r _ site frames; do
    sql t.db "SELECT group_concat(function, ';') FROM (SELECT trace_id, function FROM frames
        WHERE trace_id IN (SELECT trace_id FROM heap WHERE function = '$site') ORDER BY trace_id, depth) GROUP BY trace_id" >stacks.txt
    [ -s stacks.txt ] || fail "no stack of $site"
    while read -r got; do # what called fiber_main is the C library's, nothing, or makecontext's start
        [[ $got == "$frames" || $got == "$frames;"* && $got != *schedule* ]] || fail "stack of $site: $got, not $frames"
    done <stacks.txt
done < <(grep '^stack ' out.txt)

grep -q "^# *total_fibers: $total\|^total_fibers: $total" t.profile/fibers.txt || fail "fibers.txt: $(head t.profile/fibers.txt)"
check_db t.db
