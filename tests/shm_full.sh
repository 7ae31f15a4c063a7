# A /dev/shm that is full, and no other place for a recording, as in a container with a read-only root: the program runs on, is not slowed by looking for room again and
# again, and what was not recorded is counted.
# build: plain
. "$(dirname "$0")/lib.sh"
command -v strace >/dev/null || skip 'strace is not installed: it counts system calls'

names=(--mount)
[ "$(id -u)" = 0 ] || names=(--user --map-root-user --mount)
unshare "${names[@]}" sh -c 'mount -t tmpfs -o size=2m tmpfs /dev/shm' 2>/dev/null || skip 'this machine allows no mounts of our own'

cat >paths.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static void leaf(void) { free(malloc(24)); }
static void one(int depth, unsigned path);
static void other(int depth, unsigned path);
static void step(int depth, unsigned path) {
    if (depth == 0) leaf();
    else if (path & 1) one(depth - 1, path >> 1);
    else other(depth - 1, path >> 1);
}
static void one(int depth, unsigned path) { step(depth, path); __asm__ volatile(""); }
static void other(int depth, unsigned path) { step(depth, path); __asm__ volatile(""); }
int main(void) { /* 16,384 stacks, four times each */
    for (unsigned i = 0; i < 4 << 14; i++) step(14, i);
    puts("done");
    return 3;
}
END
"$CC" -O1 -g -fno-builtin -fno-inline -fno-optimize-sibling-calls -o paths paths.c || fail 'no program'
# /tmp is hidden, which may have this directory and clear in it.
cp "$CLEAR" "$(dirname "$CLEAR")/libclear_rt.so" . || fail 'no copy of clear'
cat >within.sh <<'END'
mount --bind . /mnt && mount -t tmpfs -o size=2m tmpfs /dev/shm && mount -t tmpfs -o ro tmpfs /tmp && cd /mnt && unset TMPDIR || exit 9
exec ./clear profile --no-files --db t.db --cpu=off -- strace -f -c -U calls,name -e trace=madvise -o calls.txt ./paths
END
unshare "${names[@]}" bash within.sh >out.txt 2>err.txt && status=0 || status=$?
expect_equal "$status" 3 "status: $(cat out.txt err.txt)"
expect_equal "$(tail -n 1 out.txt)" done 'output'
expect_match "$(cat err.txt)" 'warning: [0-9,]+ events could not be recorded' 'what is said'
check_db t.db
known=$(sql t.db "SELECT sum(alloc_count) FROM sites") lost=$(sql t.db "SELECT sum(dropped) FROM profiles WHERE kind = 'heap'")
[ "$lost" -gt 20000 ] || fail "only $lost events were lost: the test tries nothing"
calls=$(awk '$2 == "madvise" { print $1 }' calls.txt)
[ "${calls:-0}" -lt 2000 ] || fail "$calls calls of madvise, with $lost events lost and $known allocations recorded"
