#!/usr/bin/env bash
# Daemons that fork away are recorded to their end: with --wait the command waits for them, with --detach it ends with the target and a
# process in the background records on. The status is that of the target.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >daemonized.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) static void *grows(void) { void *volatile block = malloc(100); return block; }
int main(int argc, char **argv) { /* daemonized COUNT [FILE]: in the background, COUNT blocks in as many centiseconds;
    or until there is a file stop. With FILE it goes to the background when the first block is there. */
    long count = 0, most = atol(argv[1]);
    pid_t child = fork();
    if (child < 0) return 70;
    while (child && argc > 2 && access(argv[2], F_OK)) usleep(10000);
    if (child) return 6;
    setsid();
    for (; count < most && access("stop", F_OK); count++) {
        grows();
        if (count == 0 && argc > 2) fclose(fopen(argv[2], "w"));
        usleep(10000);
    }
    FILE *said = fopen("said.new", "w");
    fprintf(said, "%ld\n", count);
    fclose(said);
    rename("said.new", "said");
    return 5;
}
C
gcc -O1 -g -fno-builtin -o daemonized daemonized.c || fail 'no program'
grown() { sql t.db "SELECT coalesce(sum(alloc_count), 0) FROM heap WHERE function = 'grows' AND run_id = (SELECT max(id) FROM runs)"; }
ended() { [ "$(sql t.db "SELECT count(*) FROM runs WHERE flags = '' AND id = $1")" = 1 ]; }
status=0
profile --wait ./daemonized 60 2>err.txt || status=$?
expect_equal "$status" 6 'status with --wait'
expect_equal "$(grown)" "$(cat said)" 'blocks of the daemon with --wait'
expect_equal "$(cat said)" 60 'blocks'
expect_match "$(cat err.txt)" 'what it started is recorded until the last process has ended' 'what --wait says'
expect_between "$(sql t.db 'SELECT duration_ns / 1000000 FROM runs')" 600 600000 'duration: to the end of the daemon, in ms'

rm said
status=0
profile --detach -o out ./daemonized 100000 >said.out 2>err.txt || status=$?
expect_equal "$status" 6 'status with --detach'
expect_match "$(cat err.txt)" '^clear: process [0-9]+ goes on recording what runs; it prints to out.log' 'what --detach says'
[ ! -e said ] || fail 'the command waited for the daemon'
wait_for 'five blocks of the daemon' eval '[ "$(grown)" -gt 5 ]'
touch stop
wait_for 'the end of run 2' ended 2
expect_equal "$(grown)" "$(cat said)" 'blocks of the daemon with --detach'
wait_for_text '^clear: run 2 in ' out.log
expect_match "$(cat out.log)" "^clear: run 2 in $TMP/t.db: .*exit status 6, 2 processes" 'what the process in the background says'
[ -s out/heap.pb.gz ] || fail 'no profile of the detached run'

# Who does not want to wait longer ends the recording, and not the daemon.
rm -f said stop
profile --detach -o out ./daemonized 100000 2>err.txt
recorder=$(sed -n 's/^clear: process \([0-9]*\) goes on.*/\1/p' err.txt)
wait_for 'five blocks of the daemon' eval '[ "$(grown)" -gt 5 ]'
kill "$recorder"
wait_for 'the end of run 3' ended 3
[ ! -e said ] || fail 'the daemon ended with its recorder'
touch stop
wait_for 'the end of the daemon' test -e said
expect_between "$(grown)" 6 "$(cat said)" 'blocks until the recording ended'

# Without either, the warning names them.
rm -f said stop
status=0
profile ./daemonized 100000 begun 2>err.txt || status=$?
touch stop
expect_equal "$status" 6 'status without --wait'
expect_match "$(cat err.txt)" '1 process still ran when the target ended; .*\(--wait or --detach records it\)' 'what is said without --wait'
wait_for 'the end of the daemon' test -e said

# Errors before the target runs are those of the command; nothing is waited for where nothing is left.
expect_status 2 profile --detach ./no-such-program 2>/dev/null
expect_status 2 profile --wait --follow=none ./daemonized 1 2>/dev/null
expect_status 3 profile --detach sh -c 'exit 3' 2>/dev/null
expect_status 3 profile --wait sh -c 'exit 3' 2>/dev/null
check_db t.db

# Real ones.
if command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then
    mkdir redis
    profile --detach -o redis.profile redis-server --daemonize yes --port 0 --unixsocket "$TMP/redis/socket" --dir "$TMP/redis" \
        --logfile "$TMP/redis/log" --save '' 2>err.txt || fail "redis-server: $(cat err.txt redis/log)"
    run=$(sql t.db 'SELECT max(id) FROM runs')
    wait_for redis eval '[ "$(redis-cli -s redis/socket ping 2>/dev/null)" = PONG ]'
    redis-cli -s redis/socket eval 'for i = 1, 3000 do redis.call("set", "k" .. i, string.rep("x", 100)) end' 0 >/dev/null
    redis-cli -s redis/socket shutdown nosave
    wait_for "the end of run $run" ended "$run"
    expect_between "$(sql t.db "SELECT count(*) FROM processes WHERE run_id = $run")" 2 10 'processes of redis'
    expect_between "$(sql t.db "SELECT sum(acquires) > 0 OR (SELECT sum(alloc_count) FROM heap WHERE run_id = $run) > 1000 FROM lock_use WHERE run_id = $run")" 1 1 'what redis did'
fi

# Recorders in the background write their profiles after the end of their runs, to the directory that is removed next.
echo "$TMP/t.db" >warehouse.txt
recorders() { grep -alsFf warehouse.txt /proc/[0-9]*/cmdline; }
wait_for 'the end of the recorders' eval '[ -z "$(recorders)" ]'
