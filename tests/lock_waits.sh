# What threads wait for, by a program that counts and times its own waits: condition variables, semaphores, barriers, threads, futexes
# and C11's; waits that end at a time limit; and a deadlock that ends with the program.
# build: plain
. "$(dirname "$0")/lib.sh"

of_run='run_id = (SELECT max(id) FROM runs)'
# Many flushes meet open waits, which must come out once.
expect_status 0 profile --interval=0.02 -- "$FIXTURES/wait_counts" >out.txt
named() { # named NAME: the object of that name
    [ "$1" = join ] && echo "object = 'thread join'" || echo "object GLOB '*:$1'"
}
while read -r _ name counts; do
    # polls for four threads besides, without a wait
    [ "$name" = join ] && counts=$(echo "$counts" | awk '{print $1 + 4, $2, $3, $4, $5}')
    expect_equal "$(sql t.db "SELECT sum(passes), sum(waited), sum(timeouts), sum(signals), sum(broadcasts) FROM wait_use WHERE $of_run AND $(named "$name")" | tr '|' ' ')" \
        "$counts" "waits for $name"
done < <(grep '^wait ' out.txt)
# 0.1 % for the rate of the time stamp counter, which is measured, not known.
while read -r _ name least most; do
    expect_between "$(sql t.db "SELECT sum(wait_ns) FROM wait_use WHERE $of_run AND $(named "$name")")" \
        $((least - least / 1000)) $((most + most / 1000)) "wait_ns of $name"
done < <(grep '^wait_ns ' out.txt)
while read -r _ name timeouts tries least most; do
    expect_equal "$(sql t.db "SELECT sum(timeouts), sum(failed_tries) FROM lock_use WHERE $of_run AND $(named "$name")")" \
        "$timeouts|$tries" "timeouts and failed tries of $name"
    expect_between "$(sql t.db "SELECT sum(wait_ns + read_wait_ns) FROM lock_use WHERE $of_run AND $(named "$name")")" \
        $((least - least / 1000)) $((most + most / 1000)) "wait_ns of $name"
done < <(grep '^lock_ns ' out.txt)
[ "$(grep -c '^wait_ns ' out.txt)" -eq 10 ] && [ "$(grep -c '^lock_ns ' out.txt)" -eq 3 ] || fail "the program counted less: $(cat out.txt)"

# A condition wait is neither contention nor a hold of its mutex, and the mutex knows that it guards one.
expect_equal "$(sql t.db "SELECT sum(condition_waits), sum(contended + timeouts) FROM lock_use WHERE $of_run AND object GLOB '*:guard'")" '10|0' 'guard'
expect_equal "$(sql t.db "SELECT DISTINCT kind FROM wait_use WHERE $of_run ORDER BY 1" | tr '\n' ' ')" 'barrier cond futex join sem ' 'kinds'
# Whoever waited has a stack with a file and a line, without --sync-callstacks.
expect_equal "$(sql t.db "SELECT count(*) FROM wait_use WHERE $of_run AND wait_ns > 0 AND (line = 0 OR stack_of <> 'caller')")" 0 'waits without a line'
expect_equal "$(sql t.db "SELECT count(*) FROM lock_use WHERE $of_run AND wait_ns + read_wait_ns > 0 AND (line = 0 OR stack_of <> 'caller')")" 0 'locks without a line'
# A lock that nobody waited for has the line that took it first.
expect_equal "$(sql t.db "SELECT count(*) FROM lock_use WHERE $of_run AND object GLOB 'wait_counts:*' AND line = 0")" 0 'locks without a place'
expect_equal "$(sql t.db "SELECT DISTINCT function, stack_of FROM lock_use WHERE $of_run AND acquires > 0 AND object GLOB '*:guard'")" 'wait_cond|first' 'who took guard first'
expect_equal "$(sql t.db "SELECT function FROM wait_use WHERE $of_run AND $(named the_sem) AND wait_ns > 0")" wait_sem 'who waits for the_sem'
expect_exact

# The kinds wait and block show them, with the locks' timeouts in the kind lock.
total() { "$CLEAR" top --db t.db --kind "$1" --sample_index="$2" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["total"])'; }
waits=$(sql t.db "SELECT sum(waited + timeouts + unfinished) FROM wait_use WHERE $of_run")
locks=$(sql t.db "SELECT sum(contended + read_contended + timeouts + unfinished) FROM lock_use WHERE $of_run")
[ "$locks" -ge 3 ] || fail "$locks waits for locks"
expect_equal "$(total wait waits) $(total lock contentions) $(total block contentions)" "$waits $locks $((waits + locks))" 'the kinds'

# What the kernel says was woken: one each time.
expect_equal "$(sql t.db "SELECT sum(woken), sum(signals) FROM wait_use WHERE $of_run AND $(named the_futex)")" '4|4' 'threads that were woken'

# The two sides of a queue made of a mutex and condition variables: who waits on which, who wakes them, and whose mutex it is. Wakes in vain.
expect_status 0 profile --interval=0.02 -- "$FIXTURES/queue_waits" >out.txt
while read -r _ name counts; do
    expect_equal "$(sql t.db "SELECT sum(passes), sum(futile_wakes), sum(signals), sum(broadcasts) FROM wait_use WHERE $of_run AND $(named "$name")" | tr '|' ' ')" \
        "$counts" "waits on $name"
done < <(grep '^cond ' out.txt)
while read -r _ name waiter waker; do
    expect_equal "$(sql t.db "SELECT DISTINCT wait_use.function, places.function FROM wait_use JOIN places ON places.trace_id = waker_trace_id
        WHERE $of_run AND $(named "$name") AND stack_of = 'caller'")" "$waiter|$waker" "who waits on $name, and who wakes them"
done < <(grep '^side ' out.txt)
expect_equal "$(sql t.db "SELECT DISTINCT wait_use.object, lock_use.object FROM wait_use JOIN lock_use ON lock_use.run_id = wait_use.run_id AND lock_use.address = mutex_address
    WHERE wait_use.$of_run AND wait_use.kind = 'cond' ORDER BY 1" | sed 's/queue_waits://g' | tr '\n' ' ')" \
    'not_empty|queue_mutex not_full|queue_mutex shouted|crowd_mutex ' 'the mutexes of condition variables'
[ "$(sql t.db "SELECT sum(futile_wakes) FROM wait_use WHERE $of_run AND $(named shouted)")" -ge 40 ] || fail 'the crowd proved nothing'

# Two threads wait for each other until the program dies: waits, on both locks, with their lines, and no lock that is well.
expect_status 137 profile -- "$FIXTURES/wait_counts" deadlock >out.txt
read -r _ least < <(grep '^deadlock ' out.txt)
[ "$least" -ge 400000000 ] || fail "the program waited for $least ns only"
ran=$(sql t.db "SELECT max(duration_ns) FROM runs WHERE id = (SELECT max(id) FROM runs)")
for name in first_mutex second_mutex; do
    expect_equal "$(sql t.db "SELECT unfinished, acquires, line > 0 FROM lock_use WHERE $of_run AND $(named $name) AND wait_ns > 0")" '1|0|1' "$name of the deadlock"
    expect_between "$(sql t.db "SELECT sum(wait_ns) FROM lock_use WHERE $of_run AND $(named $name)")" $((least - least / 1000)) $((ran + ran / 1000)) "wait_ns of $name"
done
expect_equal "$(sql t.db "SELECT count(*) FROM doctor_lock WHERE $of_run AND code = 'ok' AND wait_ns > 0")" 0 'deadlocked locks that are ok'
# It is the first finding, and its advice names both locks with the lines where their threads wait. Nothing else is one.
expect_equal "$(sql t.db "SELECT severity, subject FROM doctor WHERE $of_run AND code = 'deadlock' ORDER BY 2" | tr '\n' ' ')" \
    'critical|wait_counts:first_mutex critical|wait_counts:second_mutex ' 'the deadlock'
expect_equal "$(sql t.db "SELECT code FROM doctor WHERE $of_run AND section <> 'saturation' LIMIT 1")" deadlock 'the first finding'
advice=$(sql t.db "SELECT min(advice) FROM doctor_lock_deadlock WHERE $of_run")
for mutex in first second; do
    line=$(awk "/pthread_mutex_lock\\(&${mutex}_mutex\\)/ {line = FNR} /^static void \\*kills/ && \"$mutex\" == \"first\" {exit} END {print line}" "$ROOT/fixtures/wait_counts.c")
    expect_match "$advice" "wait_counts:${mutex}_mutex in [a-z_]* \\([^ ]*wait_counts.c:$line\\)" "the line that waits for the $mutex"
done
expect_equal "$(sql t.db "SELECT count(*) FROM doctor_lock_deadlock WHERE NOT ($of_run)")" 0 'deadlocks of the run before'

# What no hook sees is said, with the number that the kernel counts; and only where it is most.
expect_equal "$(sql t.db "SELECT count(*) FROM doctor_saturation WHERE code = 'unseen-waits'")" 0 'unseen waits where waits were seen'
expect_status 0 profile -- "$FIXTURES/wait_counts" pipes >out.txt
read -r _ switches < <(grep '^pipes ' out.txt)
expect_between "$(sql t.db "SELECT count FROM doctor_saturation WHERE $of_run AND code = 'unseen-waits' AND percent > 95")" $((switches - 20)) $((switches + 20)) \
    'unseen waits'
expect_match "$("$CLEAR" doctor --db t.db)" 'unseen-waits: most waits were in no lock' 'what clear doctor says'

# Short holds of a busy lock are sampled, and its acquisitions counted one by one. 16,384 are timed first, then one in 32; if the
# machine stopped the program while it held the lock, the mean may be long, and then all of them are.
check_holds() {
    expect_status 0 profile -- "$FIXTURES/wait_counts" holds >out.txt
    read -r _ times took < <(grep '^holds ' out.txt)
    IFS='|' read -r acquires timed held < <(sql t.db "SELECT sum(acquires), sum(timed_holds), sum(hold_ns) FROM lock_use WHERE $of_run AND object GLOB '*:guard'")
    expect_equal "$acquires" "$times" 'acquisitions that are sampled'
    expect_between "$timed" 21000 "$times" 'holds that were timed'
    # A hold that is timed has a reading of the clock in it, which takes longer than the hold; on a busy machine twice as long.
    expect_between "$held" 1 $((took * 4)) "hold_ns of a sample"
}
try_often check_holds

# One long hold among brief ones is not missed: one in which the thread sleeps is seen from there on, and one that computes from the next
# sample of the CPU time on, 10 ms of it later at most.
check_longs() {
    expect_status 0 profile --cpu=99 -- "$FIXTURES/wait_counts" longs >out.txt
    while read -r _ name acquires longest most; do
        slack=$((longest / 100))
        [ "$name" = guard ] || slack=$((longest / 2))
        IFS='|' read -r got sum max < <(sql t.db "SELECT sum(acquires), sum(hold_ns), max(max_hold_ns) FROM lock_use WHERE $of_run AND $(named "$name")")
        expect_equal "$got" "$acquires" "acquisitions of $name"
        expect_between "$max" $((longest - slack)) $((most + most / 1000)) "the longest hold of $name"
        expect_between "$sum" "$max" $((most * 2)) "hold_ns of $name"
    done < <(grep '^long ' out.txt)
}
try_often check_longs

# A hold of some length is of who released the lock, not of who took it first: the saves of this program sleep for 60 ms each with the lock,
# which its readers take first.
expect_status 0 profile -- "$FIXTURES/fault_locked_save"
save=$(sql t.db "SELECT sum(hold_ns) FROM lock_use WHERE $of_run AND object GLOB '*:prices_lock' AND function = 'save_prices' AND stack_of = 'caller'")
expect_between "${save:-0}" 480000000 20000000000 'holds of who saves'
expect_equal "$(sql t.db "SELECT group_concat(DISTINCT function) FROM lock_use WHERE $of_run AND object GLOB '*:prices_lock' AND max_hold_ns >= 60000000")" \
    save_prices 'who has long holds'
expect_equal "$(sql t.db "SELECT count(*) FROM lock_use WHERE $of_run AND stack_of = 'caller' AND acquires + contended = 0 AND function <> 'save_prices'
    AND object GLOB '*:prices_lock' AND hold_ns >= 60000000")" 0 'rows of long holds of others'

# Mutexes of which most holds are not timed, one inside the other, in every order, given back by another thread, and with a condition variable.
check_nested() {
    expect_status 0 profile --cpu=999 -- "$FIXTURES/wait_counts" nested >out.txt
    while read -r _ name acquires waits most; do
        expect_equal "$(sql t.db "SELECT sum(acquires), sum(condition_waits), sum(contended + timeouts) FROM lock_use WHERE $of_run AND $(named "$name")")" \
            "$acquires|$waits|0" "acquisitions of $name, which is nested"
        expect_between "$(sql t.db "SELECT sum(hold_ns) FROM lock_use WHERE $of_run AND $(named "$name")")" 1 $((most * 2)) "hold_ns of $name"
    done < <(grep '^nested ' out.txt)
    expect_equal "$(grep -c '^nested ' out.txt)" 2 'nested mutexes'
}
try_often check_nested
check_db t.db
