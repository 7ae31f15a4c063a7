# clear profile --leaks: what nothing points at when a process ends. Equal to what a program lost on purpose, in every way that a
# block may still be reached; equal to memcheck's "definitely" and "indirectly lost" of real programs; silent on healthy ones.
# build: plain
. "$(dirname "$0")/lib.sh"

newest='run_id = (SELECT max(id) FROM runs)'
said() {
    sql t.db "SELECT 'lost ' || function || ' ' || sum(lost_count) || ' ' || sum(lost_bytes) FROM lost WHERE $newest GROUP BY function HAVING sum(lost_count)
              UNION ALL SELECT 'indirect ' || function || ' ' || sum(indirect_count) || ' ' || sum(indirect_bytes) FROM lost WHERE $newest GROUP BY function
              HAVING sum(indirect_count)" | sort
}
for mode in exit _exit threads; do
    expect_status 0 profile -q --leaks -- "$FIXTURES/leaks" $mode >out.txt
    said >got.txt
    # Beside threads one or two of the 200 pointers may be left on a stack.
    [ $mode != threads ] || sed -i 's/^lost lost_plain 199 9950$/lost lost_plain 200 10000/; s/^lost lost_plain 198 9900$/lost lost_plain 200 10000/' got.txt
    sort out.txt >wanted.txt
    expect_same_file got.txt wanted.txt "lost blocks ($mode)"
    expect_equal "$(sql t.db "SELECT sum(lost_count + indirect_count + reachable_count) = (SELECT sum(inuse_count) FROM heap WHERE $newest) FROM lost WHERE $newest")" 1 \
        "live blocks of $mode, by fate"
done
expect_equal "$(sql t.db "SELECT count(DISTINCT function) FROM lost WHERE $newest AND function GLOB 'kept_*' AND reachable_count > 0")" 10 "reachable sites"

# Each process is searched at its own end; in the child nothing of the parent's is its own.
expect_status 0 profile -q --leaks -- "$FIXTURES/leaks" fork
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE $newest AND kind = 'leak'")" 2 "processes searched"
# An old value may be left on a stack.
expect_between "$(sql t.db "SELECT sum(lost_count) FROM lost WHERE $newest AND function = 'lost_plain'")" 198 200 "what the child lost"

# A process that ends by a signal was not searched, and says so by having no profile of the kind; nor was one with --no-leaks, or of a sample.
expect_status 134 profile -q --leaks -- "$FIXTURES/leaks" abort >out.txt
expect_status 0 profile -q --no-leaks -- "$FIXTURES/leaks" exit >out.txt
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE kind = 'leak' AND run_id > (SELECT max(id) - 2 FROM runs)")" 0 "profiles of what was not searched"
"$CLEAR" top --db t.db --kind leak latest~3 >top.txt || fail "top"
expect_match "$(cat top.txt)" 'lost_plain$' "the kind leak"
# The doctor blames what is lost, and not what is kept although it has more bytes.
expect_status 0 profile -q --leaks -- "$FIXTURES/leaks" much
expect_equal "$(sql t.db "SELECT subject || ' ' || severity || ' ' || (evidence ->> 'lost_count' > 2990) FROM doctor_heap WHERE $newest AND code = 'leak'
    AND inuse_count > 100 ORDER BY subject")" "kept_global note 0
lost_plain_much critical 1" "what the doctor says of it"
expect_status 0 profile -q --no-leaks -- "$FIXTURES/leaks" much
expect_equal "$(sql t.db "SELECT count(*) FROM doctor_heap WHERE $newest AND (lost_count IS NOT NULL OR lost_bytes IS NOT NULL)")" 0 "what is not known"
# By itself a process is searched if it has 100 live blocks or more, and not 65,536 for each second that it lived. Of the others nothing is known, but that those
# with few blocks have no leak.
cat >blocks.c <<'C'
#include <stdlib.h>
#include <unistd.h>
static void *kept[80000];
int main(int count, char **words) {
    for (long i = 0; i < atol(words[1]); i++) kept[i] = malloc(16);
    for (long i = 0; count > 2 && i < 2000; i++) *(char *volatile *)&words[2] = malloc(16);
    if (count > 2 && fork() == 0) _exit(0);
    return 0;
}
C
$CC -g -o blocks blocks.c || fail "cc"
searched() { sql t.db "SELECT (SELECT count(*) FROM profiles WHERE $newest AND kind = 'leak') || ' ' || is_searched FROM heap_facts WHERE $newest"; }
for case in '50 - 0 0' '500 - 1 1' '70000 - 0 0' '500 lost 1 1'; do
    read -r count lost want_profiles want_searched <<<"$case"
    expect_status 0 profile -q -- ./blocks "$count" $([ "$lost" = - ] || echo "$lost")
    expect_equal "$(searched)" "$want_profiles $want_searched" "searched by itself with $count blocks"
done
expect_equal "$(sql t.db "SELECT severity || ' ' || (evidence ->> 'lost_count' > 1990) FROM doctor_heap WHERE $newest AND code = 'leak' AND severity <> 'note'")" "warning 1" \
    "what the doctor says of lost blocks that it was not asked to search for"
# A shell that becomes the program keeps more than 100 blocks, which are gone with it.
expect_status 0 profile -q -- bash -c 'exec ./blocks 500'
expect_equal "$(searched)" '1 1' 'a program that a shell became'
expect_status 0 profile -q --sample 10 -- ./blocks 500
expect_equal "$(searched)" "0 0" "searched in a sample"
# Another allocator's blocks have any word before them. Where it looks like a mark of glibc's malloc, what lies around them is searched all the same:
# here a page in the same 64 MiB, which alone points at a block.
cat >own.c <<'C'
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
static char *next, *end;
void **own_page;
void *malloc(size_t size) {
    if (!next) {
        char *region = mmap(NULL, 128 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        region = (char *)(((size_t)region + (64 << 20) - 1) & ~(size_t)((64 << 20) - 1));
        next = mmap(region, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        own_page = mmap(region + (32 << 20), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        end = next + (16 << 20);
    }
    char *block = next + 16;
    next += 16 + ((size + 15) & ~(size_t)15);
    if (next > end) return NULL;
    ((size_t *)block)[-2] = size;
    ((size_t *)block)[-1] = 0x1234005;
    return block;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) {
    void *larger = malloc(size);
    if (block && larger) memcpy(larger, block, ((size_t *)block)[-2] < size ? ((size_t *)block)[-2] : size);
    return larger;
}
C
cat >owner.c <<'C'
#include <stdlib.h>
extern void **own_page;
static __attribute__((noinline)) void make(void) { for (int i = 0; i < 200; i++) own_page[i] = malloc(32); }
int main(void) { free(malloc(1)); make(); return 0; }
C
$CC -g -O1 -fPIC -shared -o libown.so own.c && $CC -g -o owner owner.c ./libown.so || fail "cc"
expect_status 0 profile -q -- ./owner
expect_equal "$(sql t.db "SELECT function, sum(reachable_count), sum(lost_count) FROM lost WHERE $newest AND function = 'make'")" 'make|200|0' \
    "blocks of another allocator"

# The kernel joins a page of the program's to the runtime's variables where it lies right behind them.
cat >behind.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static __attribute__((noinline)) void make(void **page) { for (int i = 0; i < 200; i++) page[i] = malloc(32); }
int main(void) {
    char line[600];
    unsigned long low = 0, high, end = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx", &low, &high) == 2 && (strstr(line, "libclear_rt.so") || low == end)) end = high;
    }
    fclose(maps);
    void **page = mmap((void *)end, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED) page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    make(page);
    return 0;
}
C
$CC -g -O1 -o behind behind.c || fail "cc"
expect_status 0 profile -q -- ./behind
expect_equal "$(sql t.db "SELECT function, sum(reachable_count), sum(lost_count) FROM lost WHERE $newest AND function = 'make'")" 'make|200|0' \
    "blocks that only a page behind the runtime's variables points at"

# A heap of the program's own that is unmapped right before the end takes the pointers with it: by itself such a process is not searched, nor
# is it one that unmaps little, or has done so all the time.
cat >givesback.c <<'C'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static void *kept[200];
static char *map(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static void unmap(size_t size) { munmap(map(size), size); }
int main(int count, char **words) {
    size_t early = strtoul(words[1], NULL, 0), late = strtoul(words[count - 1], NULL, 0);
    for (int i = 0; i < 200; i++) kept[i] = malloc(32);
    if (early) unmap(early), usleep(400000);
    char *aligned = map(64 << 20);
    munmap(aligned, 32 << 20);
    if (late) unmap(late);
    return 0;
}
C
$CC -g -o givesback givesback.c || fail "cc"
for case in '0 0x100000 0 0' '0 0xff000 1 1' '0x101000 0x100000 1 1' '0x100000 0 1 1'; do
    read -r early late want <<<"$case"
    expect_status 0 profile -q -- ./givesback "$early" "$late"
    expect_equal "$(searched)" "$want" "searched by itself where $early bytes are given back early and $late at the end"
done
expect_status 0 profile -q --leaks -- ./givesback 0 0x100000
expect_equal "$(searched)" '1 1' 'searched because it was asked for'
# A search needs every block.
expect_status 2 profile -q --leaks --sample 10 -- true 2>err.txt
expect_status 2 profile -q --leaks --no-heap -- true 2>err.txt

# Output and status are the program's own.
"$FIXTURES/leaks" threads >alone.out
expect_status 0 profile -q --leaks -- "$FIXTURES/leaks" threads >under.out 2>under.err
expect_same_file under.out alone.out "output under --leaks"
expect_equal "$(cat under.err)" "" "what the search prints"

command -v valgrind >/dev/null || skip "valgrind is not installed; all else passed"
cat >hash.pl <<'END'
my %h; for my $i (1..3000) { $h{"key$i"} = [1..5]; } print scalar(keys %h), "\n";
END
same_as_memcheck() { # same_as_memcheck COMMAND...
    valgrind --leak-check=full "$@" >/dev/null 2>memcheck.txt </dev/null
    local theirs ours
    theirs=$(sed 's/,//g' memcheck.txt | awk '/All heap blocks were freed/ { print "0 0 0 0"; exit }
        / definitely lost:/ { printf "%d %d ", $7, $4 } / indirectly lost:/ { print $7, $4 }')
    expect_status 0 profile -q --leaks -- "$@" >/dev/null </dev/null
    ours=$(sql t.db "SELECT printf('%d %d %d %d', total(lost_count), total(lost_bytes), total(indirect_count), total(indirect_bytes)) FROM lost WHERE $newest")
    # A value that is left on a stack may reach a block or two, with what they lead to; nothing is lost that memcheck reaches.
    # shellcheck disable=SC2086 # words
    set -- "$1" $ours $theirs
    expect_between "$2" $(($6 > 2 ? $6 - 2 : $6)) "$6" "blocks that $1 lost ($ours), against memcheck ($theirs)"
    expect_between "$(($2 + $4))" 0 $(($6 + $8)) "all blocks that $1 lost"
    echo "$1: clear $ours, memcheck $theirs"
}
same_as_memcheck perl hash.pl
same_as_memcheck sqlite3 :memory: 'CREATE TABLE t(x); INSERT INTO t VALUES (1), (2); SELECT sum(x) FROM t'
same_as_memcheck xz --version
same_as_memcheck bash -c 'x=1; echo $x'

# Memory is read by the page and not by the block: 420,000 blocks of 48 bytes with their headers are 4,922 pages, each of which is read for
# the allocator's marks and for what is in it, in whatever order its blocks are found.
READS=$PWD/reads.bin expect_status 0 profile -q --leaks -- "$FIXTURES/leaks_many" 200000 >out.txt
expect_equal "lost $(sql t.db "SELECT sum(lost_count) FROM lost WHERE $newest AND function = 'lost'")" "$(cat out.txt)" 'lost blocks of many'
expect_equal "$(sql t.db "SELECT sum(reachable_count) FROM lost WHERE $newest AND function IN ('kept', 'listed')")" 400000 'reachable blocks of many'
reads=$(od -An -tu8 reads.bin | tr -d ' ')
expect_between "$reads" 4000 40000 'calls that read memory'
