# A server that forbids itself new privileges and no system call, as haproxy does, is recorded as any other, its later threads and its CPU time too, once the recorder
# has seen that there is no filter. A filter that is installed after that kills no program for a call of the runtime.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >locked_in.h <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
/* All system calls but those kill. */
#define LOCK_IN(...) lock_in((const int[]){__VA_ARGS__}, sizeof (int[]){__VA_ARGS__} / sizeof(int))
static int lock_in(const int *allowed, unsigned count) {
    struct sock_filter filter[100] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (unsigned i = 0; i < count; i++)
        filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], count - i, 0);
    filter[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    filter[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){count + 3, filter});
}
END
cat >careful.c <<'END'
#define _GNU_SOURCE
#include "locked_in.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
enum { COUNTED = 5000 };
static void early(void) { free(malloc(10)); }
static void counted(void) { free(malloc(20)); }
static void burns(void) { clock_t end = clock() + CLOCKS_PER_SEC / 5; while (clock() < end) continue; }
static void wait_for(const char *name) {
    for (int i = 0; access(name, F_OK); i++) {
        if (i == 60000) exit(9);
        early();
        usleep(1000);
    }
}
static void *late(void *unused) {
    wait_for("go");
    for (int i = 0; i < COUNTED; i++) counted();
    burns();
    return unused;
}
int main(int count, char **words) {
    pthread_t thread;
    (void)words;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || pthread_create(&thread, NULL, late, NULL)) return 8;
    wait_for("go");
    if (count > 1 && LOCK_IN(SYS_write, SYS_brk, SYS_mmap, SYS_munmap, SYS_futex, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_newfstatat)) return 7;
    for (int i = 0; i < COUNTED; i++) counted();
    if (count == 1) burns();
    pthread_join(thread, NULL);
    puts("done");
    return 3;
}
END
"$CC" -O1 -g -fno-inline -fno-builtin -o careful careful.c -pthread || fail 'no program'

run() { # run ARGUMENT...: of careful; from the moment on at which its thread is recorded
    rm -f go t.db*
    "$CLEAR" profile --no-files --db t.db --interval 0.02 -- ./careful "$@" >out.txt 2>err.txt &
    local pid=$!
    wait_for 'the thread' sh -c "sqlite3 -batch -cmd '.timeout 5000' t.db \"SELECT count(*) FROM frames JOIN heap USING (trace_id) WHERE frames.function = 'late'\" 2>/dev/null | grep -qx '[1-9][0-9]*'"
    touch go
    wait "$pid" && status=0 || status=$?
    expect_equal "$status" 3 "status: $(cat out.txt err.txt)"
    expect_equal "$(cat out.txt)" done output
    check_db t.db
    expect_equal "$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'counted'")" 10000 'allocations of both threads'
}
run
sampled=$(sql t.db "SELECT sum(cpu_ns) / 1000000 FROM cpu WHERE trace_id IN (SELECT trace_id FROM frames WHERE function = 'burns')")
[ "${sampled:-0}" -ge 100 ] || fail "$sampled ms of CPU time are sampled, of 200 and more"
run filter

# A child of a program that is locked in has its filter from the start: a recording of its own would begin with system calls that kill it.
cat >forks.c <<'END'
#define _GNU_SOURCE
#include "locked_in.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void counted(void) { free(malloc(20)); }
int main(void) {
    int status, wrong = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        LOCK_IN(SYS_write, SYS_brk, SYS_mmap, SYS_munmap, SYS_futex, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_newfstatat, SYS_clone, SYS_wait4,
                SYS_set_robust_list, SYS_rseq, SYS_rt_sigprocmask, SYS_getpid, SYS_gettid, SYS_set_tid_address, SYS_getrandom)) return 9;
    for (int child = 0; child < 2; child++) {
        pid_t pid = fork();
        for (int i = 0; i < 100; i++) counted();
        if (pid == 0 && child == 0) exit(4);
        if (pid == 0) _exit(4);
        wrong += waitpid(pid, &status, 0) != pid || status != 4 << 8;
    }
    exit(wrong);
}
END
"$CC" -O1 -g -fno-inline -fno-builtin -o forks forks.c || fail 'no program (forks)'
expect_status 0 ./forks
expect_status 0 "$CLEAR" profile --no-files --db f.db ./forks 2>err.txt
check_db f.db
expect_equal "$(sql f.db "SELECT sum(alloc_count) FROM heap WHERE function = 'counted'")" 200 'allocations of the parent'
expect_match "$(cat err.txt)" '2 processes could not be recorded' 'what is said'

# Threads that begin when a program is locked in are recorded to the last allocation, by memory that was set aside, with their stacks, and not one system call of
# the runtime: each would kill the program.
for how in errno kill; do
    "$CLEAR" profile --no-files --db s.db -- "$FIXTURES/sandboxed" $how threads 2>err.txt | cat >out.txt
    expect_equal "${PIPESTATUS[0]}" 0 "status of a program that is locked in ($how): $(cat err.txt)"
    expect_equal "$(sql s.db "SELECT sum(alloc_count), sum(alloc_bytes) FROM heap WHERE function = 'site_inside' AND run_id = (SELECT max(id) FROM runs)")" \
        "$(awk '$2 == "site_inside" { print $3 "|" $4 }' out.txt)" "allocations of five threads ($how)"
    expect_equal "$(sql s.db "SELECT count(DISTINCT trace_id) >= 50 FROM heap JOIN frames USING (trace_id) WHERE frames.function = 'start_thread'")" 1 'stacks of threads'
done
expect_equal "$(sql s.db 'SELECT sum(dropped) FROM profiles')" 0 'events that were dropped'
check_db s.db

# A service records itself, and nobody looks at it meanwhile: its threads are recorded as those behind a filter.
cat >service.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
static void counted(void) { free(malloc(20)); }
static void *works(void *unused) {
    for (int i = 0; i < 5000; i++) counted();
    return unused;
}
int main(void) {
    pthread_t threads[2];
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 9;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, works, NULL);
    works(NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
END
"$CC" -O1 -g -fno-inline -fno-builtin -o service service.c -pthread || fail 'no program (service)'
mkdir -m 1777 recordings
"$CLEAR" env --dir "$TMP/recordings" --budget=off >variables.sh 2>err.txt || fail "env: $(cat err.txt)"
# shellcheck disable=SC1091
(. ./variables.sh && exec ./service) || fail "the service ends with $?"
expect_status 0 "$CLEAR" collect --once --quiet --dir "$TMP/recordings" --db c.db
expect_equal "$(sql c.db "SELECT sum(alloc_count) FROM heap WHERE function = 'counted'")" 15000 'allocations of three threads of a service'
