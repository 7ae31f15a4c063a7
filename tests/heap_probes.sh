# The probes otel_memory:alloc and otel_memory:free, as a reader of USDT finds them (gdb, which counts up their semaphores too): the note in the
# library, each sampled block with its unbiased weight, and the free of each that was told and of no other. Where nobody reads, nothing is told.
# build: plain
. "$(dirname "$0")/lib.sh"
command -v gdb >/dev/null || skip 'gdb is not installed: it reads the probes'
library=$(dirname "$CLEAR")/libclear_rt.so
notes=$(readelf -n "$library")
expect_match "$notes" 'Provider: otel_memory' 'the provider'
expect_match "$(grep -A2 'Name: alloc' <<<"$notes" | tr '\n' ' ')" 'Semaphore: 0x0*[1-9a-f][0-9a-f]* +Arguments: 8@%rdi 8@%rsi 8@%rdx' 'alloc'
expect_match "$(grep -A2 'Name: free' <<<"$notes" | tr '\n' ' ')" 'Semaphore: 0x0*[1-9a-f][0-9a-f]* +Arguments: 8@%rdi ' 'free'

cat >blocks.c <<'C'
#include <stdio.h>
#include <stdlib.h>
enum { BLOCKS = 400, SIZE = 256 << 10, FREED = 300 };
static void *blocks[BLOCKS];
int main(void) {
    for (int i = 0; i < BLOCKS; i++) blocks[i] = malloc(SIZE);
    blocks[0] = realloc(blocks[0], 2 * SIZE);
    for (int i = 0; i < FREED; i++) free(blocks[i]);
    for (int i = FREED; i < BLOCKS; i++) fprintf(stderr, "lives %p\n", blocks[i]);
    return 0;
}
C
gcc -O1 -g -o blocks blocks.c || fail 'no program'
mkdir recorded

reads() { # reads OPTION...: what gdb reads of ./blocks recorded so, in read.txt: `alloc PTR SIZE WEIGHT` and `free PTR`
    "$CLEAR" env --dir "$TMP/recorded" --runtime "$library" --cpu=off --no-locks --no-io "$@" >env.sh 2>/dev/null || fail "env $*"
    sed -n 's/^export \([A-Z_]*\)=\([^$]*\).*/\1=\2/p' env.sh >words
    cat >script <<GDB
set confirm off
set pagination off
set breakpoint pending off
set disable-randomization off
set exec-wrapper env $(tr '\n' ' ' <words)
break main
run
break -probe-stap otel_memory:alloc
commands
silent
printf "alloc %#lx %lu %lu\n", \$_probe_arg0, \$_probe_arg1, \$_probe_arg2
continue
end
break -probe-stap otel_memory:free
commands
silent
printf "free %#lx\n", \$_probe_arg0
continue
end
continue
GDB
    gdb -nx -batch -x script ./blocks >gdb.txt 2>&1
    ! grep -Eq 'ptrace: Operation not permitted|Cannot trace' gdb.txt || skip 'this machine does not let gdb trace a process'
    grep -E '^(alloc|free) ' gdb.txt >read.txt || fail "gdb read nothing: $(tail -n 20 gdb.txt)"
    grep -o 'lives 0x[0-9a-f]*' gdb.txt | cut -d' ' -f2 >lives.txt
}

holds() { # holds WHAT WEIGHTS LEAST MOST: the weights that a block of 256 KiB may have, and the sum of all, in KiB
    python3 - "$@" <<'PYTHON' || fail "$1: $(head -n 5 read.txt)"
import sys
weights, least, most = set(map(int, sys.argv[2].split(","))), int(sys.argv[3]), int(sys.argv[4])
live, total = {}, 0
for line in open("read.txt"):
    what, pointer, *rest = line.split()
    if what == "alloc":
        size, weight = map(int, rest)
        assert size != 262144 or weight in weights, line
        assert pointer not in live, "told twice: " + line
        live[pointer] = size
        total += weight
    else:
        assert live.pop(pointer, None), "a free of what was not told: " + line
left = set(open("lives.txt").read().split())
assert len(left) == 100 and {pointer for pointer, size in live.items() if size >= 262144} <= left, "a free is missing"
assert least <= total // 1024 <= most, total // 1024
PYTHON
}
# 100 MiB. One in 512 KiB: 262144 / (1 - exp(-1/2)) for each; 157 of 400 are told, give or take 10.
reads --budget=off
holds 'every block is recorded' 666237 70000 140000
# By bytes: each recorded block is told, and counts once or twice, as in the run itself.
reads --sample=64KiB
holds '--sample=64KiB' 262144,524288 95000 115000
