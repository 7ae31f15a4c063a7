# A run's directory away from its binary, as of a program that the toolchain built and removed: its locks and cells, and the functions that used
# them, have the names that they have in the run, for clear doctor too. Here of its dumps and profiles alone, as an older clear wrote them: what
# run.txt.gz adds is in directory_run.
. "$(dirname "$0")/lib.sh"
mkdir away
record() { # PROGRAM OPTION...
    local program=$1
    shift
    cp "$FIXTURES/$program" .
    "$CLEAR" profile -q --db "$program.db" "$@" "./$program" >/dev/null || fail "$program"
    rm "$program.profile/run.txt.gz" && mv "$program.profile" away/ && rm "$program"
    (cd away && "$CLEAR" ingest -q --db "../read-$program.db" "$program.profile") || fail "ingest $program"
}
names() { # DB TABLE KIND: objects and the functions that used them
    sql "$1" "SELECT DISTINCT objects.name, coalesce(function, ''), coalesce(line, 0)
        FROM $2 JOIN profiles ON profiles.id = profile_id JOIN objects ON objects.id = object_id LEFT JOIN frames ON frames.trace_id = $2.trace_id
        WHERE profiles.kind = '$3' AND objects.identity NOT GLOB 'address:*' ORDER BY 1, 2, 3"
}
record mvcc --sync-callstacks
record lock_contended
for of in 'mvcc cells mvcc' 'lock_contended locks lock'; do
    set -- $of
    names "$1.db" "$2" "$3" >want && names "read-$1.db" "$2" "$3" >got || fail "$1"
    grep -q '|[a-z_]*|[1-9]' want || fail "no names in the run of $1: $(cat want)"
    cmp -s want got || fail "$1: $(diff want got)"
done
# A directory lasted as long as its profiles say, so waits have a share of the run.
expect_equal "$(sql read-lock_contended.db "SELECT duration_ns > 0 AND duration_ns = (SELECT max(duration_ns) FROM profiles) FROM runs")" 1 "how long the run of a directory lasted"
expect_equal "$(sql read-lock_contended.db "SELECT count(*) FROM lock_facts WHERE wait_percent > 0")" 2 "locks with a share of the run"
grep -q '^# object: 0x[0-9a-f]*	cell	symbol:mvcc:hot+0	mvcc:hot$' away/mvcc.profile/mvcc.txt || fail "mvcc.txt: $(head -5 away/mvcc.profile/mvcc.txt)"

# What only looks like a name is a comment, as everything that is not known.
printf '# mvcc-profile v2\n# frame: 0x12\tbroken\n# frame: 0x13\tf\tf\tx.c\t-1\t0\n# frame: 0x14\tnamed\tnamed\tx.c\t7\t5\n0x40 8 1 1 1 0 0 0x12,0x13,0x14\n' >frames.txt
"$CLEAR" ingest -q --db frames.db frames.txt || fail frames
expect_equal "$(sql frames.db "SELECT group_concat(function || ':' || line) FROM (SELECT function, line FROM frames JOIN cells USING(trace_id) ORDER BY depth)")" \
    '0x12:0,0x13:0,named:7' 'frames'

# Calls of input and output, waits that burn a processor, and threads: their profiles in the directory are read into the tables of the run.
cat >busy.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
static void *work(void *none) {
    for (int i = 0; i < 50; i++) sched_yield();
    return none;
}
int main(void) {
    char bytes[7];
    pthread_t threads[3];
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 5; i++) {
        int file = open("busy.c", O_RDONLY);
        if (read(file, bytes, sizeof bytes) != sizeof bytes) return 1;
        close(file);
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 4; i++) pthread_mutex_trylock(&lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 6; i++) usleep(10);
    return 0;
}
C
${CC:-cc} -g -pthread -o busy busy.c || fail "busy.c"
"$CLEAR" profile -q --db busy.db ./busy >/dev/null || fail busy
rm busy.profile/run.txt.gz && "$CLEAR" ingest -q --db read-busy.db busy.profile || fail "ingest busy.profile"
figures() { # DB
    sql "$1" "SELECT call, sum(calls), sum(bytes), sum(time_ns) FROM io GROUP BY call;
        SELECT sum(yields), sum(short_sleeps), sum(sleep_ns), sum(failed_tries) FROM spins; SELECT sum(started), sum(life_ns) FROM thread_starts"
}
expect_equal "$(figures read-busy.db)" "$(figures busy.db)" "io, spin and threads of a directory"
expect_equal "$(figures busy.db | sed 's/|[0-9]*$//' | sed 's/^150|6|.*/150|6/')" "close|5|0
open|5|0
read|5|35
150|6
3" "figures of busy"
for kind in io spin threads; do
    "$CLEAR" export --db read-busy.db --kind $kind -o $kind.pb.gz || fail "export $kind"
    cmp -s $kind.pb.gz busy.profile/$kind.pb.gz || fail "$kind.pb.gz came in and goes out as another one"
done
"$CLEAR" doctor --db read-busy.db >/dev/null || fail "doctor of busy.profile"

# The same sample types with something that these tables do not hold stay what they are.
foreign() { # NAME SQL
    "$CLEAR" export --db busy.db --sql "$2" -o "$1.pb.gz" && "$CLEAR" ingest -q --db foreign.db "$1.pb.gz" || fail "$1"
}
foreign no-call "SELECT trace_id, 1 AS 'calls/count', 2 AS 'bytes/bytes', 3 AS 'time/nanoseconds' FROM io LIMIT 1"
foreign other-call "SELECT trace_id, 'ioctl' AS 'label:call', 1 AS 'calls/count', 2 AS 'bytes/bytes', 3 AS 'time/nanoseconds' FROM io LIMIT 1"
foreign no-sum "SELECT trace_id, 1 AS 'yields/count', 1 AS 'short_sleeps/count', 1 AS 'slept/nanoseconds', 1 AS 'failed_tries/count', 4 AS 'calls/count' FROM spins LIMIT 1"
foreign labelled "SELECT trace_id, 'x' AS 'label:pool', 1 AS 'started/count', 3 AS 'lifetime/nanoseconds' FROM thread_starts LIMIT 1"
expect_equal "$(sql foreign.db "SELECT group_concat(kind, ' ') FROM (SELECT kind FROM profiles ORDER BY id); SELECT count(*) FROM samples")" "calls calls yields started
4" "kinds of foreign profiles"

# Live blocks at the peak, lost ones, mappings and histograms likewise: what is kept is no leak for the directory either, and what is lost is one.
cat >blocks.c <<'C'
#include <stdlib.h>
#include <sys/mman.h>
static void *kept[200];
static char *lose(void) { return malloc(100); }
static void *keep(void) { return malloc(10000); }
static void *map(int flags) { return mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0); }
int main(void) {
    for (int i = 0; i < 300; i++) lose()[0] = 1;
    for (int i = 0; i < 200; i++) kept[i] = keep();
    for (int i = 100; i < 200; i++) free(kept[i]), kept[i] = NULL;
    void **one = malloc(16), **other = malloc(16);
    *one = other, *other = one;
    munmap(map(MAP_SHARED), 1 << 20);
    return map(MAP_PRIVATE) == MAP_FAILED;
}
C
${CC:-cc} -g -O0 -o blocks blocks.c || fail "blocks.c"
"$CLEAR" profile -q --db blocks.db --leaks --lifetimes ./blocks >/dev/null || fail blocks
rm blocks.profile/run.txt.gz && "$CLEAR" ingest -q --db read-blocks.db blocks.profile || fail "ingest blocks.profile"
figures() { # DB
    sql "$1" "SELECT sum(peak_count), sum(peak_bytes) FROM heap_peaks; SELECT sum(lost_count), sum(lost_bytes), sum(indirect_count), sum(indirect_bytes) FROM leaks;
        SELECT use, sum(map_count), sum(map_bytes), sum(unmap_count), sum(unmap_bytes) FROM maps GROUP BY use;
        SELECT histogram, from_value, sum(count) FROM histograms GROUP BY 1, 2;
        SELECT function, lost_count, indirect_count, reachable_count FROM lost JOIN runs ON runs.id = run_id ORDER BY 1, 2, 3"
}
expect_equal "$(figures read-blocks.db)" "$(figures blocks.db)" "peak, lost blocks, mappings and histograms of a directory"
expect_equal "$(sql read-blocks.db "SELECT function, lost_count, reachable_count FROM lost WHERE function IN ('keep', 'lose') ORDER BY 1")" "keep|0|100
lose|300|0" "what is lost in blocks"
expect_equal "$(sql read-blocks.db "SELECT use, map_count, unmap_count FROM maps WHERE map_bytes = 1048576 ORDER BY 1")" "anonymous|1|0
shared|1|1" "what blocks maps"
for kind in heap-peak leak mmap lifetimes; do
    "$CLEAR" export --db read-blocks.db --kind $kind -o $kind.pb.gz || fail "export $kind"
    cmp -s $kind.pb.gz blocks.profile/$kind.pb.gz || fail "$kind.pb.gz came in and goes out as another one"
done
found() { sql "$1" "SELECT severity, code, subject, evidence ->> 'lost_count' FROM doctor WHERE section = 'heap' AND severity <> 'note' ORDER BY 3"; }
expect_equal "$(found read-blocks.db)" "warning|leak|lose|300" "findings of blocks.profile"
expect_equal "$(found blocks.db)" "warning|leak|lose|300" "findings of blocks"
for db in blocks.db read-blocks.db; do
    "$CLEAR" doctor --db $db | grep '^  peak: \|% of it by' | sed 's/ live at .*//' >$db.peak || fail "no peak in the doctor's report of $db"
done
cmp -s blocks.db.peak read-blocks.db.peak || fail "the peak of a directory: $(diff blocks.db.peak read-blocks.db.peak)"
check_db read-blocks.db

rm foreign.db
foreign no-site "SELECT trace_id, 1 AS 'peak_objects/count', 2 AS 'peak_space/bytes' FROM spins LIMIT 1"
foreign no-address "SELECT trace_id, 'x' AS 'label:addr', 1 AS 'peak_objects/count', 2 AS 'peak_space/bytes' FROM spins LIMIT 1"
foreign other-use "SELECT trace_id, 'x' AS 'label:use', 1 AS 'mapped_objects/count', 2 AS 'mapped_space/bytes', 1 AS 'inuse_objects/count', 1 AS 'inuse_space/bytes' FROM spins LIMIT 1"
foreign two-buckets "SELECT trace_id, 8 AS 'label:bytes/bytes', 1 AS 'allocated/count', 2 AS 'freed/count', 0 AS 'freed_same_thread/count' FROM spins LIMIT 1"
foreign other-bucket "SELECT trace_id, 8 AS 'label:bytes/bytes', 0 AS 'allocated/count', 2 AS 'freed/count', 0 AS 'freed_same_thread/count' FROM spins LIMIT 1"
expect_equal "$(sql foreign.db "SELECT group_concat(kind, ' ') FROM (SELECT kind FROM profiles ORDER BY id); SELECT count(*) FROM samples")" \
    "peak_objects peak_objects mapped_objects allocated allocated
5" "kinds of other foreign profiles"
