# What the limits of a control group take from a recorded program. Where memory runs out, the kernel ends the recorder and not the program, which has its
# status; what it did is stored once it has ended. A program that goes on until it is ended itself is stored as well, and the doctor says why it ended. For
# how long threads were stopped, because the group had used its share of the processors, is a counter of the run, and the doctor says it.
# alone: where no group counts memory, others would see what is ended here
# build: plain
. "$(dirname "$0")/lib.sh"

groups=()
leave() { for group in "${groups[@]}"; do rmdir "$group" 2>/dev/null; done; }
trap leave EXIT
make_group() { # make_group CONTROLLER COUNTER WORD: sets $group, a new one that counts WORD in the file COUNTER
    group=/sys/fs/cgroup/clear-test-$$-$1
    [ ! -d "/sys/fs/cgroup/$1" ] || group=/sys/fs/cgroup/$1/clear-test-$$
    mkdir "$group" 2>/dev/null || skip 'no control group can be made here'
    groups+=("$group")
    grep -Eqs "^$3 " "$group/$2" || skip "control groups do not say $3 here"
}
within() { # within COMMAND...: in the group, of which the shell is no process
    bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

# ---- processors ----

cat >spins.c <<'END'
#include <stdlib.h>
#include <time.h>
int main(int count, char **words) { /* N ms of CPU time */
    while (clock() < atoi(words[count - 1]) * (CLOCKS_PER_SEC / 1000)) free(malloc(10));
    return 0;
}
END
"$CC" -O1 -fno-builtin-malloc -o spins spins.c || fail 'no program'
make_group cpu cpu.stat 'throttled_(time|usec)'
if [ -e "$group/cpu.max" ]; then
    echo '10000 100000' >"$group/cpu.max"
else
    echo 100000 >"$group/cpu.cfs_period_us" && echo 10000 >"$group/cpu.cfs_quota_us"
fi || skip 'no limit of processors can be set here'
throttled_ms() { awk '$1 == "throttled_time" { print int($2 / 1e6) } $1 == "throttled_usec" { print int($2 / 1e3) }' "$group/cpu.stat"; }
within "$CLEAR" profile --db p.db -o p.profile -- ./spins 100 2>err.txt || fail "spins: $(cat err.txt)"
seen=$(sql p.db "SELECT CAST(value AS INTEGER) FROM counters WHERE name = 'recorder.throttled_ms'") all=$(throttled_ms)
[ "$all" -ge 100 ] || fail "the group was hardly stopped: $all ms"
[ "$seen" -ge 100 ] && [ "$seen" -le "$all" ] || fail "$seen ms are stored, and the kernel counted $all ms in the life of the group"
expect_equal "$(sql p.db "SELECT value FROM counters WHERE name = 'recorder.group_processors'")" 0.1 'processors of the group'
expect_match "$("$CLEAR" doctor --db p.db | tr -s ' \n' ' ')" 'its control group may use 0.1 processors: threads that were ready were stopped for [0-9.]+ m?s in all' 'what the doctor says'

# ---- memory ----

limit=$((40 << 20)) file=memory.max counter=memory.events
[ ! -d /sys/fs/cgroup/memory ] || file=memory.limit_in_bytes counter=memory.oom_control
make_group memory $counter oom_kill
{ echo $limit >"$group/$file"; } 2>/dev/null || skip 'no limit of memory can be set here'
[ ! -e "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"

# Keeps blocks of 1 KB until the kernel has ended a process of its group (`once`), or until it is ended itself.
cat >grows.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long kills(const char *path) {
    char line[100];
    long count = -1;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "oom_kill %ld", &count);
    if (file) fclose(file);
    return count;
}
static void keep(void) { memset(malloc(1000), 1, 1000); }
int main(int count, char **words) {
    long before = kills(words[1]), blocks = 0;
    while (count < 3 || kills(words[1]) == before)
        for (int i = 0; i < 50; i++, blocks++) keep();
    printf("kept %ld\n", blocks);
    return 5;
}
END
"$CC" -O1 -g -fno-inline -fno-builtin-malloc -o grows grows.c || fail 'no program'

# The kernel may end a second process before the memory of the first one is free: then once more.
for _ in 1 2 3 4 5 6 7 8; do
    rm -f t.db
    within "$CLEAR" profile --db t.db --interval 0.02 -o t.profile -- ./grows "$group/$counter" once >out.txt 2>err.txt && status=0 || status=$?
    expect_match "$(cat err.txt)" 'memory ran out, and the kernel ended the recorder; the program runs on' 'what is said'
    [ $status = 137 ] || break
done
expect_equal "$status" 5 "status of the program: $(cat out.txt err.txt)"
kept=$(sed -n 's/^kept //p' out.txt)
expect_match "$(cat err.txt)" ': run 1, ' 'that it is stored'
check_db t.db
expect_equal "$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'keep'")" "$kept" 'allocations that are stored'
expect_equal "$(sql t.db "SELECT exit_status, flags FROM runs")" '5|' 'the run'

within "$CLEAR" profile --db t.db --interval 0.02 -o t.profile -- ./grows "$group/$counter" >out.txt 2>err.txt && status=0 || status=$?
expect_equal "$status" 137 "status of the program that is ended: $(cat out.txt err.txt)"
expect_equal "$(sql t.db 'SELECT exit_signal FROM runs WHERE id = 2')" 9 "signal of the run: $(cat err.txt)"
[ "$(sql t.db "SELECT sum(inuse_bytes) FROM heap WHERE run_id = 2 AND function = 'keep'")" -gt $((limit / 3)) ] || fail 'what was live is not stored'
expect_match "$("$CLEAR" doctor --db t.db 2)" 'out of memory at 40.0 MiB: the kernel ended 1 process of its control group' 'what the doctor says'
expect_equal "$(cat "$group/cgroup.procs")" '' 'processes that are left'
