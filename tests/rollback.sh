# A warehouse on a file system without memory that processes share (folders that a virtual machine has of its host, some of FUSE and 9p): SQLite cannot
# keep the index of a -wal there. The file stays in rollback mode; recordings, reports, readers meanwhile and a kill lose nothing.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >unshared.c <<'END'
/* mmap(2) of such a file system, which is the directory $UNSHARED. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int is_there(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path);
    size_t most = strlen(getenv("UNSHARED"));
    return size > (ssize_t)most && memcmp(path, getenv("UNSHARED"), most) == 0 && path[most] == '/';
}
void *mmap(void *at, size_t size, int allowed, int flags, int file, off_t offset) {
    static void *(*next)(void *, size_t, int, int, int, off_t);
    if (!next) next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    if (flags & MAP_SHARED && file >= 0 && is_there(file)) return errno = ENODEV, MAP_FAILED;
    return next(at, size, allowed, flags, file, offset);
}
void *mmap64(void *at, size_t size, int allowed, int flags, int file, off_t offset) { return mmap(at, size, allowed, flags, file, offset); }
END
"$CC" -O1 -shared -fPIC -o unshared.so unshared.c -ldl || fail 'no library'
cat >counts.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *volatile block;
static void counts(void) { free(block = malloc(10)); }
int main(int count, char **words) { /* calls N, of which half after a line of input */
    int calls = count > 1 ? atoi(words[1]) : 0;
    for (int i = 0; i < calls; i++) {
        if (i == calls / 2) puts("half"), fflush(stdout), getchar();
        counts();
    }
    return 3;
}
END
"$CC" -O1 -g -fno-inline -o counts counts.c || fail 'no program'
export UNSHARED=$TMP
there() { LD_PRELOAD=$TMP/unshared.so "$@"; } # there COMMAND...: on such a file system
is_one_file() {
    expect_equal "$(echo t.db*)" t.db "files $*"
    expect_equal "$(sql t.db 'PRAGMA journal_mode')" delete "mode $*"
    check_db t.db
}
recorded() { sql t.db "SELECT run_id, sum(alloc_count) FROM heap WHERE function = 'counts' GROUP BY 1 ORDER BY 1" | tr '\n' ' '; }
start() { # start COMMAND...: in the background, reading from descriptor 9
    rm -f input && mkfifo input
    exec 9<>input
    LD_PRELOAD=$TMP/unshared.so "$CLEAR" "$@" <input >out.txt 2>err.txt 9>&- &
    pid=$!
    wait_for_text half out.txt
}
finish() { # finish WHAT: the program goes on
    echo >&9
    wait "$pid" && status=0 || status=$?
    exec 9>&-
    expect_equal "$status" 3 "status $*: $(cat err.txt)"
}

expect_status 3 there "$CLEAR" profile --no-files --db t.db -- ./counts 0 </dev/null
is_one_file 'after the first run'

start profile --no-files --db t.db --interval 0.02 -- ./counts 1000
wait_for 'the first half' sh -c "sqlite3 -batch -cmd '.timeout 5000' t.db 'SELECT sum(alloc_count) >= 500 FROM heap WHERE run_id = 2' | grep -qx 1"
expect_equal "$(echo t.db-wal*)" 't.db-wal*' 'a -wal'
expect_match "$(there "$CLEAR" doctor --db t.db 2 2>&1)" 'run 2: ' 'a report meanwhile'
expect_match "$(there "$CLEAR" query --db t.db "SELECT 'calls', alloc_count FROM heap WHERE function = 'counts'" 2>&1)" 'calls +500' 'a query meanwhile'
finish 'of the second run'
is_one_file 'after it'
expect_equal "$(recorded)" '2|1000 ' 'allocations'

# A reader keeps the recorder waiting, and nothing is lost.
start profile --no-files --db t.db --interval 0.02 -- ./counts 2000
python3 -c "
import os, sqlite3, time
db = sqlite3.connect('t.db', isolation_level=None)
db.execute('BEGIN'), db.execute('SELECT * FROM runs').fetchall()
open('held', 'w').close()
while not os.path.exists('release'): time.sleep(0.02)" &
reader=$!
wait_for 'the reader' test -e held
echo >&9
wait_for_text 't.db is locked by another process' err.txt
touch release
wait "$reader" || fail 'the reader'
finish 'of the third run'
is_one_file 'after a reader'
expect_equal "$(recorded)" '2|1000 3|2000 ' 'allocations beside a reader'

# The recorder is killed; clear recover stores the rest there.
start profile --no-files --db t.db --interval 0.02 -- ./counts 3000
pkill -KILL -P "$pid" -x clear-recorder || fail 'no recorder'
finish 'of the program without a recorder'
expect_status 0 there "$CLEAR" recover --db t.db
is_one_file 'after a kill'
expect_equal "$(recorded)" '2|1000 3|2000 4|3000 ' 'allocations after a kill'

# Recorders that come and go at the same time: none changes the mode under another.
for i in 1 2 3 4 5 6; do there "$CLEAR" profile -q --no-files --db t.db --interval 0.02 -- ./counts $((i * 100)) <<<'' >"out.$i" 2>"err.$i" & done
wait
is_one_file 'after six recorders'
expect_equal "$(recorded | wc -w)" 9 "runs with allocations: $(cat err.?)"
expect_equal "$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'counts' AND run_id > 4")" 2100 'allocations of six recorders'
expect_equal "$(cat err.?)" '' 'what six recorders say'

# A file that a recorder elsewhere has in WAL mode, copied with its -wal.
rm -f input && mkfifo input
exec 9<>input
"$CLEAR" profile --no-files --db u.db --interval 0.02 -- ./counts 4000 <input >out.txt 2>err.txt 9>&- &
pid=$!
wait_for_text half out.txt
wait_for 'a flush' sh -c "sqlite3 -batch u.db 'SELECT sum(alloc_count) >= 2000 FROM heap' | grep -qx 1"
for suffix in '' -wal; do cp u.db$suffix t.db$suffix || fail "no copy$suffix"; done
finish 'of the recorder elsewhere'
[ -s t.db-wal ] || fail 'the copy has no -wal'
expect_match "$(there "$CLEAR" query --db t.db "SELECT 'calls', alloc_count FROM heap WHERE function = 'counts'" 2>&1)" 'calls +2,?000' 'a query of the copy'
expect_status 3 there "$CLEAR" profile --no-files --db t.db -- ./counts 10 <<<''
is_one_file 'after a run in the copy'
expect_equal "$(recorded)" '1|2000 2|10 ' 'allocations in the copy'
