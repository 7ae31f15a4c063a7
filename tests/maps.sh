# The kind mmap: mappings in whole and in part, equal to what a program counted itself, with one thread and with several, over windows that
# are folded; what is mapped at the end is what /proc/self/maps has; reports; calls that fail; strace.
# build: plain
. "$(dirname "$0")/lib.sh"

newest='run_id = (SELECT max(id) FROM runs)'
for arguments in "" 4; do
    for options in "" "--interval 10ms --windows=2"; do
        # shellcheck disable=SC2086 # words
        expect_status 0 profile -q $options -- "$FIXTURES/maps" $arguments >out.txt
        sql t.db "SELECT 'map ' || use || ' ' || sum(map_count) || ' ' || sum(map_bytes) || ' ' || sum(unmap_bytes) FROM map_use
                  WHERE $newest AND module LIKE '%maps' GROUP BY use" | sort >got.txt
        sort out.txt >want.txt
        expect_same_file got.txt want.txt "mappings ($arguments) ($options)"
        expect_exact
    done
done
expect_equal "$(sql t.db "SELECT count(*) FROM map_use WHERE inuse_bytes < 0 OR inuse_count < 0 OR inuse_count > 0 AND inuse_bytes = 0")" 0 "what is left"
expect_equal "$(sql t.db "SELECT group_concat(DISTINCT function) FROM map_use WHERE $newest AND use = 'break'")" moves_break "who moves the break"

# The newest state of each use over any span of windows.
expect_match "$("$CLEAR" top --db t.db --kind mmap --sample_index=mapped_space)" '[0-9]% +map$' "top of what was mapped"
expect_match "$("$CLEAR" report tags --db t.db --kind mmap)" 'reserved' "tags"
python3 "$ROOT/tests/oracle.py" t.db want.pb.gz --kind mmap && "$CLEAR" export --db t.db --kind mmap -o got.pb.gz || fail "export"
python3 "$ROOT/tests/profile_diff.py" want.pb.gz got.pb.gz >diff.txt && [ ! -s diff.txt ] || fail "the export is not what the tables say: $(head -3 diff.txt)"

# As strace sees them, of a program of others: python3 maps a file and memory, and closes one of the two.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    cat >maps.py <<'P'
import mmap, os
file = open("data", "w+b")
file.truncate(1 << 20)
kept, closed = mmap.mmap(file.fileno(), 1 << 20), mmap.mmap(-1, 12345678)
closed.close()
os._exit(0)
P
    strace -o strace.txt -e trace=mmap,munmap python3 -S maps.py >/dev/null
    expect_equal "$(grep -Ec 'mmap\(NULL, (1048576, .*MAP_SHARED|12345678, )' strace.txt)" 2 "what strace sees"
    expect_status 0 profile -q -- python3 -S maps.py >/dev/null
    expect_equal "$(sql t.db "SELECT sum(inuse_bytes) FROM map_use WHERE $newest AND use = 'shared'")" 1048576 "what python3 keeps"
    expect_equal "$(sql t.db "SELECT sum(map_bytes) FROM map_use WHERE $newest AND use = 'shared'")" $(((12345678 + 4095) / 4096 * 4096 + 1048576)) "what python3 maps"
fi
expect_status 0 profile -q --no-heap -- "$FIXTURES/maps" >/dev/null
expect_equal "$(sql t.db "SELECT count(*) FROM map_use WHERE $newest")" 0 "--no-heap"

# ---- memory in RAM: at each flush that of the process, and where its heap may be full of holes, that of the heap, which folded windows keep ----
cat >holes.c <<'C'
#include <poll.h>
#include <stdlib.h>
#include <string.h>
enum { TURNS = 1500, AT_ONCE = 16, ROOM = 4096, KEPT = 64 };
int main(void) {
    char *blocks[AT_ONCE];
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < AT_ONCE; i++) memset(blocks[i] = malloc(ROOM), 'a', ROOM);
        for (int i = 0; i < AT_ONCE; i++) blocks[i] = realloc(blocks[i], KEPT);
    }
    for (struct pollfd input = {.events = POLLIN}; poll(&input, 1, 20) == 0;) free(strdup(blocks[0])); /* a window has what changed */
    return 0;
}
C
"$CC" -O1 -g -fno-builtin -fno-omit-frame-pointer -o holes holes.c || fail 'compiling holes.c'
mkfifo go
"$CLEAR" profile --db t.db -q --interval=0.03 --windows=3 -- ./holes <go & recorder=$!
exec 8>go
full() { # what is kept lies on 1,500 times 15 pages and more
    [ "$(sql t.db "SELECT coalesce(max(value), 0) >= 85000000 FROM counters JOIN profiles ON profiles.id = profile_id WHERE $newest AND name = 'process.heap_bytes'")" = 1 ]
}
wait_for 'a look at the full heap' full
echo >&8
exec 8>&-
wait $recorder || fail "profile of holes exits $?"
full || fail 'the heap of folded windows'
expect_equal "$(sql t.db "SELECT count(*) <= 4, min(rss.value >= heap.value), min(rss.unit) FROM profiles JOIN counters AS heap ON heap.profile_id = profiles.id AND heap.name = 'process.heap_bytes'
    JOIN counters AS rss ON rss.profile_id = profiles.id AND rss.name = 'process.rss_bytes' WHERE $newest AND kind = 'heap'")" '1|1|bytes' 'the memory of the process in each window'
expect_equal "$(sql t.db "SELECT code, severity, subject, live_count <= 24100, heap_bytes - unused_bytes = need_bytes, classes GLOB '* of up to 72 B in main (holes.c:9)*' FROM doctor_memory
    WHERE $newest")" 'fragmentation|warning|main|1|1|1' 'what the doctor says of the holes'
expect_equal "$(sql t.db "SELECT value >= 85000000 FROM series WHERE $newest AND subject = 'counter process.heap_bytes'")" 1 'the heap in the view series'
# A process that has its number in a container only: what has that number here is another one.
if unshare --pid --fork true 2>err.txt; then
    expect_status 0 profile -q --interval=0.03 -- unshare --pid --fork -- ./holes < <(sleep 1) >/dev/null
    expect_equal "$(sql t.db "SELECT count(DISTINCT processes.id), count(counters.name) FROM processes JOIN profiles ON profiles.process_id = processes.id AND kind = 'heap'
        LEFT JOIN counters ON counters.profile_id = profiles.id AND counters.name GLOB 'process.*'
        WHERE processes.$newest AND executable GLOB '*/holes'")" '1|0' 'the memory of a process of a container'
fi
# Memory that is explained is no finding: all of it is live, or freed at once, and given back or not; that of a file, of the stack, of static data, of the parent of a child.
cat >explained.c <<'C'
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { COUNT = 25000, ROOM = 4000, BYTES = COUNT * ROOM };
static char *blocks[COUNT], data[BYTES];
static void fill(void) { for (int i = 0; i < COUNT; i++) memset(blocks[i] = malloc(ROOM), 'a', ROOM); }
static void empty(void) { for (int i = 0; i < COUNT; i++) free(blocks[i]); }
static void stay(void) { for (int i = 0; i < 20; i++, poll(0, 0, 20)) free(strdup("what changed")); }
static int deep(int left) { volatile char room[8192]; memset((char *)room, left, sizeof room); if (left) return deep(left - 1) + room[7]; stay(); return room[7]; }
static void map_file(void) {
    int file = open("explained.c", O_RDONLY);
    for (int i = 0; i < 5000; i++) ((volatile char *)mmap(0, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0))[1] = 'a';
    memset(mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 'a', BYTES);
}
int main(int argc, char **argv) {
    char mode = argc > 1 ? argv[1][0] : 'l';
    if (mode == 'm') map_file();
    if (mode == 'd') memset(data, 'a', sizeof data);
    if (mode == 's') return deep(800) & 1;
    if (strchr("lftc", mode)) fill();
    if (strchr("ft", mode)) empty();
    if (mode == 't') malloc_trim(0);
    if (mode == 'c' && fork()) return wait(0) < 0;
    stay();
    return 0;
}
C
"$CC" -O0 -g -fno-omit-frame-pointer -o explained explained.c || fail 'compiling explained.c'
for mode in live freed trimmed child maps data stack; do
    expect_status 0 profile -q --interval=0.03 -- ./explained $mode >/dev/null
    expect_equal "$(sql t.db "SELECT count(*) FROM doctor_memory WHERE $newest")" 0 "memory that is explained: $mode"
done
