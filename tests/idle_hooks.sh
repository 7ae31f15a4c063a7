# What is not recorded costs a call nothing: the program calls the C library's own functions, past the hooks, however it is linked. Its own allocator stays its own.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >whose.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef OWN /* an allocator of the program's own, which never gives a block back */
static char memory[1 << 20];
static size_t used;
void *malloc(size_t size) { used = (used + 15) / 16 * 16; void *block = memory + used; used += size; return block; }
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) { void *copy = malloc(size); if (block) memcpy(copy, block, size); return copy; }
#endif
static const char *owner(void *function) {
    Dl_info info;
    if (!dladdr(function, &info)) return "nobody";
    const char *name = strrchr(info.dli_fname, '/');
    return name ? name + 1 : info.dli_fname;
}
int main(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    void *volatile block = malloc(100);
    free(block); /* through the slots, whether they were bound or not */
    if (pthread_mutex_lock(&mutex) || pthread_mutex_unlock(&mutex)) return 1;
    printf("%s %s\n", owner((void *)malloc), owner((void *)pthread_mutex_lock));
    return 0;
}
END
rt=libclear_rt.so libc=libc.so.6
expect_owners() { # expect_owners PROGRAM OWNERS OPTION...: of malloc and of pthread_mutex_lock
    local program=$1 owners=$2
    shift 2
    expect_equal "$("$CLEAR" profile -q --no-files --db t.db "$@" -- "./$program")" "$owners" "whose functions $program calls with $*"
}
for link in now lazy; do
    "$CC" -O1 -fno-builtin -Wl,-z,$link -o $link whose.c -ldl -pthread || fail "no program ($link)"
    expect_owners $link "$rt $rt"
    expect_owners $link "$libc $rt" --no-heap
    expect_owners $link "$rt $libc" --no-locks
    expect_owners $link "$libc $libc" --no-heap --no-locks --cpu=99
    expect_owners $link "$rt $rt" --start=off
done
"$CC" -O1 -fno-builtin -DOWN -o own whose.c -ldl -pthread || fail 'no program (own)'
expect_owners own "own $libc" --no-heap --no-locks --cpu=99
check_db t.db

# The children of a program go past them as well, and are recorded from the first moment.
cat >children.c <<'END'
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void burns(void) { while (clock() < CLOCKS_PER_SEC / 5) continue; }
int main(void) {
    if (fork() == 0) burns(), _exit(0);
    return wait(NULL) < 0;
}
END
"$CC" -O1 -g -fno-inline -o children children.c || fail 'no program (children)'
"$CLEAR" profile -q --no-files --db c.db --no-heap --no-locks --cpu=99 ./children || fail 'children'
expect_equal "$(sql c.db 'SELECT count(*) FROM processes')" 2 'processes'
[ "$(sql c.db 'SELECT sum(cpu_ns) FROM cpu')" -ge 150000000 ] || fail "CPU time of the child: $(sql c.db 'SELECT sum(cpu_ns) FROM cpu')"
