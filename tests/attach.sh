#!/usr/bin/env bash
# clear profile --pid: a program that counts itself is recorded from one moment to another, again and again, and goes on as if nothing had been;
# what cannot be entered is recorded from outside where the kernel allows that, and every process that cannot be recorded is refused with the reason.
# plain: a program is entered by ptrace, and its figures are compared
# timeout: 300
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/attaching.sh"

start() { # start THREADS
    rm -f program.txt
    "$FIXTURES/counts_itself" "$1" >program.txt &
    program=$!
    wait_for 'the program' grep -qs ready program.txt
}
rounds=0
do_round() { # do_round SIGNAL
    rounds=$((rounds + 1))
    kill "-$1" "$program"
    wait_for "round $rounds" grep -q "^round $rounds\$" program.txt
}
figures() { # figures RUN [DB]: allocations and frees of the function, acquisitions of the mutex
    sql "${2:-t.db}" "SELECT (SELECT sum(alloc_count) || '|' || sum(free_count) FROM heap WHERE run_id = $1 AND function = 'counted_allocation') || '|' ||
        (SELECT sum(acquires) FROM lock_use WHERE run_id = $1 AND object GLOB '*:mutex')"
}

refused() { # refused STATUS PID REGEX
    local status=0
    if [ "${4:-}" ]; then
        sh -c 'exec "$0" profile --pid $$ --db r.db --no-files' "$CLEAR" 2>refused.txt || status=$?
    else
        "$CLEAR" profile --pid "$2" --db r.db --no-files 2>refused.txt || status=$?
    fi
    expect_equal "$status" "$1" "the status for: $3"
    expect_match "$(cat refused.txt)" "$3" 'the reason'
    [ ! -e r.db ] || fail "a refused process left a warehouse: $3"
}
# By the kernel's events: as root always, else where kernel.perf_event_paranoid allows it.
from_outside() { # from_outside PID REGEX [COMMAND...]: recorded so, because of that; COMMAND goes before clear
    local pid=$1 reason=$2 status=0
    shift 2
    rm -f o.db*
    "$@" "$CLEAR" profile --pid "$pid" --duration 300ms --db o.db --no-files 2>outside.txt || status=$?
    expect_match "$(cat outside.txt)" "$reason" 'the reason'
    [ "$status" = 0 ] || grep -q perf_event_open outside.txt || fail "from outside: $status, $(cat outside.txt)"
    [ "$status" != 0 ] || expect_match "$(cat outside.txt)" 'it is recorded from outside: CPU time' 'what is recorded'
    [ "$status" = 0 ] || [ "$(id -u)" != 0 ] || fail "root may not: $(cat outside.txt)"
    kill -0 "$pid" || fail "process $pid has ended: $reason"
    [ "$status" = 0 ]
}

# What was recorded is what was done between the two moments, by all threads and a forked child; what came before is no leak and no loss.
start 3
do_round USR1
attach
do_round USR1
do_round USR1
do_round USR2
detach
do_round USR1
expect_equal "$(figures 1)" '9000|9000|9000' 'two rounds of four threads, and a child'
expect_match "$(cat err.txt)" 'run 1 in t.db: .*, detached, 2 processes' 'the summary'
expect_equal "$(sql t.db 'SELECT count(*) FROM runs WHERE exit_status IS NULL AND exit_signal IS NULL')" 1 'no exit status'
expect_match "$("$CLEAR" doctor --db t.db 1)" 'attached to a program that had run for .*: nothing from before is here' 'the head'
expect_equal "$(sql t.db "SELECT section, severity, subject FROM doctor WHERE run_id = 1 AND code = 'attached'")" 'saturation|note|recorder' 'a note'
expect_match "$("$CLEAR" doctor --db t.db 1)" 'nothing from before is here .[0-9.]+ KiB allocated' 'what was there before, in the head'
expect_match "$("$CLEAR" doctor --overview --db t.db 1)" '"is_recording":false' 'its end was seen'
expect_match "$("$CLEAR" top --db t.db --kind lock 1 2>&1)" 'attached: nothing from before is recorded; process [0-9]+ had run for .* and had [0-9.]+ KiB allocated' 'in the head of a report'

expect_equal "$(cat /proc/"$program"/task/*/stat | sed 's/.*) //' | cut -d' ' -f39 | sort -u)" 0 'no thread is left with a real-time priority'

# A second time the runtime that is there is used again.
maps=$(grep -c libclear_rt "/proc/$program/maps")
attach --duration 1h
do_round USR1
detach
expect_equal "$(figures 2)" '4000|4000|4000' 'the second recording'
expect_equal "$(grep -c libclear_rt "/proc/$program/maps")" "$maps" 'mappings of the runtime'
attach --no-heap
expect_status 1 "$CLEAR" profile --pid "$program" --db t.db --no-files 2>refused.txt
expect_match "$(cat refused.txt)" "process $program is recorded already; clear detach $program ends that" 'recorded twice'
do_round USR1
detach
expect_equal "$(figures 3)" "" "no heap is no figure"

# However often that is, it takes no more addresses than what was used (a segment may grow to 16 GiB).
room() { sed -n 's/^VmSize: *\([0-9]*\) kB/\1/p' "/proc/$program/status"; }
before=$(room)
for _ in 1 2 3; do
    attach --duration 10ms
    wait "$clear" || fail "clear profile ended with $?"
done
[ $(($(room) - before)) -lt 100000 ] || fail "three recordings take $(($(room) - before)) KiB of addresses"
kill -TERM "$program"
wait "$program" || fail "the program ended with $?"
expect_equal "$(tail -1 program.txt)" "shared $((6 * 4000))" 'the sum of the program'

# A recording that ends with its process, and one whose recorder is killed.
start 0
rounds=0
attach
do_round USR1
kill -TERM "$program"
wait "$clear" || fail "clear profile ended with $?"
expect_match "$(cat err.txt)" 'until its end' 'the end of the process'
wait "$program"
start 1
rounds=0
attach
do_round USR1
# What enters a process for a recorder keeps its files for some moments more, as this does: clear detach waits for that.
python3 - "$clear" >held.txt <<'END' &
import ctypes, os, sys, time
recorder = int(sys.argv[1])
handle = os.pidfd_open(recorder)
for file in os.listdir(f"/proc/{recorder}/fd"):
    ctypes.CDLL(None).syscall(438, handle, int(file), 0)  # pidfd_getfd
print("held", flush=True)
time.sleep(60)
END
holder=$!
wait_for 'the holder' grep -q held held.txt
kill -KILL "$clear"
wait "$clear"
do_round USR1
expect_status 124 timeout 1 "$CLEAR" detach "$program"
kill "$holder"
wait "$holder"
"$CLEAR" detach "$program" 2>out.txt || fail 'clear detach after a kill'
expect_match "$(cat out.txt)" 'has no hooks any more' 'what detach says'
do_round USR1
"$CLEAR" recover --db t.db >/dev/null || fail 'clear recover'
expect_equal "$(figures 8)" '4000|4000|4000' 'up to detach'
attach
do_round USR1
detach
expect_equal "$(figures 9)" '2000|2000|2000' 'after a killed recorder'
kill -TERM "$program"
wait "$program" || fail "the program ended with $?"

# By the name of the link that started it, as redis-server, which is a link to redis-check-rdb.
ln -s "$FIXTURES/counts_itself" linked_count
rm -f program.txt
./linked_count 0 >program.txt &
program=$!
wait_for 'the program' grep -qs ready program.txt
rm -f err.txt
"$CLEAR" profile --name linked_count --db linked.db --no-files --budget=off 2>err.txt &
clear=$!
wait_for 'the attachment' grep -qs 'is recorded from now on' err.txt
detach
kill -TERM "$program"
wait "$program"

# A library that was loaded with an allocator of its own (RTLD_DEEPBIND) has slots that hold that one's functions: they stay, and are named.
printf '%s\n' '#include <stddef.h>' 'static char room[1 << 17]; static size_t used;' \
    'void *malloc(size_t size) { used += (size + 15) & ~15UL; return room + used % 100000; }' 'void free(void *block) { (void)block; }' >own.c
printf '%s\n' '#include <stdlib.h>' 'void *plug(void) { void *block = malloc(10); free(block); return block; }' >plug.c
cat >host.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    void *plug = dlopen("./libplug.so", RTLD_NOW | RTLD_DEEPBIND);
    void *(*call)(void) = plug ? (void *(*)(void))dlsym(plug, "plug") : NULL;
    if (!call) return 1;
    puts("ready"), fflush(stdout);
    for (;;) call(), usleep(10000);
}
END
"${CC:-gcc}" -shared -fPIC -fno-builtin -o libown.so own.c && "${CC:-gcc}" -shared -fPIC -fno-builtin -o libplug.so plug.c -L. -lown -Wl,-rpath,'$ORIGIN' &&
    "${CC:-gcc}" -o host host.c || fail 'a library with an allocator of its own'
./host >program.txt &
program=$!
wait_for 'the program' grep -qs ready program.txt
"$CLEAR" profile --pid "$program" --duration 100ms --db own.db --no-files 2>err.txt || fail "a foreign allocator: $(cat err.txt)"
kill "$program"
expect_match "$(cat err.txt)" "calls of malloc .malloc of libown.so., free .free of libown.so. are not seen" 'slots that hold another function'

# Two at once: one records it, the other is refused, and there is one runtime in it.
start 2
rounds=0
for name in one other; do
    : >"$name.txt"
    "$CLEAR" profile --pid "$program" --db "$name.db" --no-files --budget=off 2>"$name.txt" &
done
wait_for 'one' grep -q . one.txt
wait_for 'the other' grep -q . other.txt
expect_equal "$(cat one.txt other.txt | grep -c 'is recorded already')" 1 "two at once, $(cat one.txt other.txt)"
expect_equal "$(grep -c 'r-xp.*libclear_rt' "/proc/$program/maps")" 1 'runtimes'
do_round USR1
"$CLEAR" detach "$program" || fail 'clear detach of one of two'
kill -TERM "$program"
wait "$program" || fail "the program ended with $?"
wait

# Locks that are held when it is entered: the acquisition is not told, and of a mutex the hold is, when it ends, since the recording began. The waits for
# them are, those from before (tests/attach_waits.sh) and later ones.
cat >held.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, of_cond = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int is_over;
void *je_malloc(unsigned long size) { return size ? 0 : (void *)1; } /* as of an allocator that is built in */
static void *locks(void *same) { pthread_mutex_lock(&held); pthread_mutex_unlock(&held); return same; }
static void *writes(void *same) { pthread_rwlock_wrlock(&table); pthread_rwlock_unlock(&table); return same; }
static void *waits(void *same) {
    pthread_mutex_lock(&of_cond);
    while (!is_over) pthread_cond_wait(&cond, &of_cond);
    pthread_mutex_unlock(&of_cond);
    sem_wait(&semaphore);
    return same;
}
int main(void) {
    pthread_t threads[4];
    char byte;
    pthread_mutex_lock(&held);
    pthread_rwlock_rdlock(&table);
    pthread_create(&threads[0], 0, locks, 0);
    pthread_create(&threads[1], 0, writes, 0);
    pthread_create(&threads[2], 0, waits, 0);
    usleep(200000);
    puts("ready");
    fflush(stdout);
    if (read(0, &byte, 1) != 1) return 1;
    pthread_create(&threads[3], 0, locks, 0);
    usleep(200000);
    pthread_mutex_unlock(&held);
    pthread_rwlock_unlock(&table);
    sem_post(&semaphore); /* first, so that nobody waits for it */
    pthread_mutex_lock(&of_cond);
    is_over = 1;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&of_cond);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < 2; i++) locks(0), writes(0);
    puts("done");
    fflush(stdout);
    return read(0, &byte, 1) != 1;
}
END
"${CC:-gcc}" -O1 -g -pthread -o held held.c || fail 'held.c'
mkfifo lines
rm -f program.txt t.db*
./held <lines >program.txt &
program=$!
exec 9>lines
wait_for 'the program' grep -qs ready program.txt
attach --trace=lock,wait
sleep 0.5
echo >&9
wait_for 'the end of what was held' grep -qs done program.txt
detach
echo >&9
wait "$program" || fail "the program ended with $?"
exec 9>&-
expect_match "$(cat err.txt)" "process $program: calls of je_malloc of held are not seen" 'what has no slot'
expect_match "$("$CLEAR" top --db t.db --kind lock 2>&1)" 'its calls of je_malloc of held are not seen' 'in the head of a report'
expect_equal "$(sql t.db "SELECT object, sum(acquires), sum(contended), sum(wait_ns) > 100000000, max(max_hold_ns) BETWEEN 690000000 AND (SELECT duration_ns FROM runs), max(unfinished)
    FROM lock_use GROUP BY object ORDER BY object")" 'held:held|4|2|1|1|0
held:of_cond|1|0|0|0|0
held:table|3|1|1|0|0' 'locks that were held'
expect_equal "$(sql t.db "SELECT object, count(*) FROM lock_waits WHERE object GLOB 'held:*' GROUP BY object")" 'held:held|1' 'the wait that began later'

# A process that calls exec meanwhile is another program then, and nothing is left of the first.
mkfifo pipe
rm program.txt
python3 -c 'import os
print("ready", flush=True)
open("pipe").read()
os.execvp("sleep", ["sleep", "60"])' >program.txt &
program=$!
wait_for 'the program' grep -qs ready program.txt
attach
: >pipe
wait_for 'exec' grep -q '^Name:.sleep' "/proc/$program/status"
kill -INT "$clear"
wait "$clear" || fail "clear profile ended with $?: $(cat err.txt)"
grep -q warning err.txt && fail "an exec meanwhile: $(cat err.txt)"
kill "$program"
wait "$program"

# One that drops its rights meanwhile is left as any other; one that has dropped them before is recorded from outside.
if [ "$(id -u)" = 0 ]; then
    mkfifo drop
    rm program.txt
    python3 -c 'import json, os
print("ready", flush=True)
open("drop").read()
os.setgroups([]), os.setgid(65534), os.setuid(65534)
print("dropped", flush=True)
while True: json.dumps(list(range(2000)))' >program.txt &
    program=$!
    wait_for 'the program' grep -qs ready program.txt
    rm -f t.db*
    attach
    : >drop
    wait_for 'other rights' grep -q dropped program.txt
    detach
    expect_match "$(cat err.txt)" 'run 1 in t.db: .*, detached' 'the end of one with other rights'
    kill -0 "$program" || fail 'a program with other rights was harmed'
    from_outside "$program" "has changed its user to 65534"
    kill "$program"
    wait "$program"
fi

# Its only thread is inside the kernel (vfork), where it does not stop when it is asked to: when it does at last, it is let go at once, and entered.
printf '#include <sys/wait.h>\n#include <unistd.h>\nint main(void) {\nchar byte;\nif (vfork() == 0) { read(0, &byte, 1); _exit(0); }
wait(NULL);\nfor (;;) usleep(10000);\n}\n' >stays.c
"${CC:-gcc}" -o stays stays.c || fail 'stays.c'
mkfifo until
./stays <until &
program=$!
exec 9>until
wait_for 'vfork' grep -q '^State:.D' "/proc/$program/status"
rm -f err.txt
goes_first() { grep -qs '^Max realtime timeout  *50000 ' "/proc/$(sed -n 's/^TracerPid:.//p' "/proc/$program/status")/limits"; }
"$CLEAR" profile --pid "$program" --db t.db --no-files --budget=off 2>err.txt &
clear=$!
wait_for 'the one who enters' grep -q '^TracerPid:.[1-9]' "/proc/$program/status"
wait_for 'a bound of how long it goes first' goes_first # it lets go, and tries again
sleep 0.3 # in which it is given up for now
refused 1 "$(pgrep -P "$program")" "shares the memory of process $program"
echo >&9
wait_for 'the attachment' grep -qs 'is recorded from now on' err.txt
detach
exec 9>&-
kill "$program"
wait "$program"

# With mounts of its own over the same files, as services of systemd have, it is recorded as any other.
start_in() { # start_in COMMAND...: the program, by what makes namespaces
    rm -f program.txt
    "$@" sh -euc 'mount -t tmpfs none /mnt; '"${with:-}"' exec "$0" 1' "$FIXTURES/counts_itself" >program.txt &
    outer=$!
    wait_for 'the program' grep -qs ready program.txt
    program=$(pgrep -P "$outer") || program=$outer
    rounds=0
}
stop() {
    kill -TERM "$program"
    wait "$outer" || fail "the program ended with $?"
}
if unshare --mount true 2>/dev/null; then
    start_in unshare --mount
    rm -f t.db
    attach
    do_round USR1
    detach
    expect_equal "$(figures 1)" '2000|2000|2000' 'mounts of its own'
    stop
fi

# ---- what is recorded from outside, or refused
sleep 0 &
gone=$!
wait "$gone"
refused 2 "$gone" "there is no process $gone"
refused 2 "$BASHPID" 'is this clear itself' exec
python3 -c 'import os, time
child = os.fork()
if child == 0: os._exit(0)
print(child, flush=True)
time.sleep(60)' >zombie.txt &
parent=$!
wait_for 'a zombie' test -s zombie.txt
refused 1 "$(cat zombie.txt)" 'has ended \(a zombie\)'
kill "$parent"
sleep 60 &
sleeper=$!
kill -STOP "$sleeper"
wait_for 'a stop' grep -q '^State:.*T' "/proc/$sleeper/status"
refused 1 "$sleeper" "is stopped: kill -CONT $sleeper first"
kill -CONT "$sleeper"
strace -q -o /dev/null -p "$sleeper" &
tracer=$!
wait_for 'a tracer' grep -q "^TracerPid:.$tracer" "/proc/$sleeper/status"
from_outside "$sleeper" "is traced by process $tracer" || true
kill "$tracer"
wait "$tracer"
kill "$sleeper"
kernel=$(ps -eo pid,ppid --no-headers | awk '$2 == 2 {print $1; exit}')
[ -z "$kernel" ] || refused 1 "$kernel" 'is a thread of the kernel'
cat >waits.c <<'END'
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) static void computes(void) { for (volatile unsigned i = 0; i < 2000000; i++) continue; }
__attribute__((noinline)) static void sleeps(void) { usleep(5000); }
__attribute__((noinline)) static void touches(void) {
    char *pages = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 1 << 16; i += 4096) pages[i] = 1;
    munmap(pages, 1 << 16);
}
int main(void) { for (;;) { computes(); sleeps(); touches(); } }
END
outside_figures() { # a function and its caller, in the stacks of each kind
    sql o.db "SELECT group_concat(found, ' ') FROM (SELECT DISTINCT kind || ':' || name AS found FROM profiles
        JOIN (SELECT profile_id, trace_id FROM cpu UNION SELECT profile_id, trace_id FROM samples) rows ON rows.profile_id = profiles.id
        JOIN frames leaf ON leaf.trace_id = rows.trace_id JOIN frames caller ON caller.trace_id = leaf.trace_id AND caller.depth > leaf.depth
        JOIN functions ON functions.name = leaf.function WHERE name IN ('computes', 'sleeps', 'touches') AND caller.function = 'main'
        AND (kind, name) IN (('cpu', 'computes'), ('off-cpu', 'sleeps'), ('page-faults', 'touches')) ORDER BY found)"
}
"${CC:-gcc}" -O1 -fomit-frame-pointer -g -static -o waits_static waits.c && {
    ./waits_static &
    static=$!
    wait_for 'a static program' grep -q waits_static "/proc/$static/comm"
    if from_outside "$static" 'is statically linked'; then
        expected='cpu:computes off-cpu:sleeps page-faults:touches'
        grep -q 'times off the processor' outside.txt || expected='cpu:computes page-faults:touches'
        expect_equal "$(outside_figures)" "$expected" 'what the kernel told'
        expect_match "$("$CLEAR" top --db o.db --kind cpu 2>&1)" '^File: waits_static' 'the program'
        "$CLEAR" doctor --db o.db >doctor.txt
        expect_match "$(cat doctor.txt)" 'attached to a program that had run' 'the head'
        expect_match "$(cat doctor.txt)" 'WARNING: recorded from outside alone' 'the warning'
    fi
    kill "$static"
}
"$CLEAR" profile -q --db p.db --no-files sleep 60 &
clear=$!
wait_for 'a recorded sleep' pgrep -P "$clear" -x sleep
refused 1 "$(pgrep -P "$clear" -x sleep)" 'was started by clear profile'
kill "$(pgrep -P "$clear" -x sleep)"
wait "$clear"
python3 -c 'import ctypes, time
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
filter = (ctypes.c_uint64 * 1)(0x7fff000000000006)
class Program(ctypes.Structure): _fields_ = [("size", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
assert libc.prctl(22, 2, ctypes.byref(Program(1, ctypes.addressof(filter)))) == 0
print("sealed", flush=True)
time.sleep(60)' >sealed.txt &
sealed=$!
wait_for 'a filter' test -s sealed.txt
from_outside "$sealed" 'has a filter of system calls \(seccomp\)' || true
kill "$sealed"

# In a container, of which processes, mounts, /proc and 64 KiB of shared memory are its own, and where it is process 1. The refusal has the
# command that records it.
container=(unshare --mount --pid --fork --kill-child)
own='mount -t proc proc /proc; mount -t tmpfs -o size=64k none /dev/shm;'
"${container[@]}" sh -euc "$own" 2>/dev/null || container=(unshare --user --map-root-user "${container[@]:1}")
if "${container[@]}" sh -euc "$own" 2>/dev/null; then
    with=$own start_in "${container[@]}"
    refused 1 "$program" "is in a container .*: nsenter --target $program .*--mount --pid clear profile --pid 1\$"
    read -ra inside <<<"$(sed 's/.*can record it: //; s/ clear profile .*//' refused.txt)"
    inside+=(env "TMPDIR=$TMP" "$CLEAR")
    rm -f err.txt
    "${inside[@]}" profile --pid 1 --db "$TMP/inside.db" --no-files --budget=off 2>err.txt &
    clear=$!
    wait_for 'the attachment inside' grep -qs 'is recorded from now on' err.txt
    do_round USR1
    "${inside[@]}" detach 1 || fail 'clear detach inside'
    wait "$clear" || fail "clear profile inside ended with $?"
    expect_equal "$(figures 1 inside.db)" '2000|2000|2000' 'in a container'
    stop
fi
hidden='mount -t proc -o hidepid=2 proc /proc; sleep 60 & sleeper=$!; setpriv --reuid 65534 --regid 65534 --clear-groups "$0" profile --pid $sleeper; kill $sleeper'
if [ "$(id -u)" = 0 ] && unshare --mount --pid --fork sh -euc 'mount -t proc -o hidepid=2 proc /proc' 2>/dev/null; then
    expect_match "$(unshare --mount --pid --fork sh -c "$hidden" "$CLEAR" 2>&1)" 'is hidden: /proc is mounted with hidepid' 'a hidden process'
fi
expect_status 2 "$CLEAR" profile --pid 1 true 2>/dev/null
expect_status 2 "$CLEAR" profile --duration 1s true 2>/dev/null
expect_status 2 "$CLEAR" profile --name no_such_program_of_mine 2>err.txt
expect_equal "$(grep 'no process' err.txt)" 'clear: no process of yours has the name no_such_program_of_mine (see clear profile --help)' 'a name that no process has'
if [ "$(id -u)" = 0 ]; then # anybody may call a process of his so
    cp "$(command -v sleep)" a_sleep_of_nobody
    chmod 755 a_sleep_of_nobody .
    setpriv --reuid 65534 --regid 65534 --clear-groups ./a_sleep_of_nobody 60 &
    one=$!
    is_nobodys() { [ "$(stat -c %u "/proc/$one")" = 65534 ] && grep -q a_sleep_of_no "/proc/$one/comm"; }
    wait_for 'a process of nobody' is_nobodys
    expect_status 2 "$CLEAR" profile --name a_sleep_of_nobody 2>err.txt
    expect_match "$(cat err.txt)" "no process of yours has the name a_sleep_of_nobody; process $one of another user has it: --pid $one" 'a name of another user'
    kill "$one"
fi
sleep 60 &
one=$!
sleep 60 &
other=$!
"$CLEAR" profile -p "$one,$other" --duration 100ms --db two.db --no-files 2>err.txt || fail "two processes: $(cat err.txt)"
expect_match "$(cat err.txt)" ': run 1 in two.db: .*, detached, 2 processes' 'two processes with a comma'
kill "$one" "$other"
expect_status 2 "$CLEAR" profile --pid 1, 2>/dev/null
expect_status 2 "$CLEAR" detach "$$" 2>/dev/null

# A process that ends while clear tries to enter it: its thread is in vfork, where no stop reaches it.
cat >vforks.c <<'C'
#include <unistd.h>
int main(void) { if (vfork() == 0) pause(); }
C
"${CC:-gcc}" -w -o vforks vforks.c || fail vforks.c
./vforks &
one=$!
wait_for 'its child' pgrep -P "$one" >/dev/null
"$CLEAR" profile --pid "$one" --db t.db --no-files 2>err.txt &
clear=$!
is_traced() { grep -Eqs 'TracerPid:.*[1-9]' "/proc/$one/status"; }
wait_for 'clear' is_traced
other=$(pgrep -P "$one")
kill -KILL "$one"
wait "$clear" && fail 'a process that was killed was recorded'
expect_match "$(cat err.txt)" "process $one ended before it was entered" 'a process that ends meanwhile'
kill -KILL "$other"
exit 0
