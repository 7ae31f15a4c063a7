#!/usr/bin/env bash
# --cpu=perf records programs that nothing can be preloaded into: static, Go, built with a sanitizer. Their CPU time has the program's own
# proportions, and the run says that nothing else is recorded. Without it they are refused, with that way out.
# build: plain
# timeout: 300
. "$(dirname "$0")/lib.sh"

cat >burns.c <<'C'
#include <stdio.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
#define BURN(name) __attribute__((noinline)) static void name(double s) { double end = now() + s; while (now() < end) for (volatile int i = 0; i < 10000; i++); }
BURN(much)
BURN(little)
int main(void) { much(0.9); little(0.3); puts("done"); return 4; }
C
gcc -O1 -g -static -fno-omit-frame-pointer -o static burns.c || fail 'no static program'
status=0
profile ./static 2>err.txt || status=$?
expect_equal "$status" 2 'status without --cpu=perf'
expect_match "$(cat err.txt)" '^clear: ./static: statically linked.*--cpu=perf records its CPU time alone' 'the refusal'
perf_records cpu-clock || skip 'perf may not record here'

expect_proportions() { # expect_proportions WHAT [PREFIX]: of the last run, much() took three times as long as little()
    expect_equal "$(sql t.db "SELECT 1.0 * much / (much + little) BETWEEN 0.6 AND 0.9 FROM (SELECT
        sum(cpu_ns) FILTER (WHERE stack LIKE '%${2:-}much%') AS much, sum(cpu_ns) FILTER (WHERE stack LIKE '%${2:-}little%') AS little
        FROM cpu JOIN stacks USING (trace_id) JOIN profiles ON profiles.id = profile_id WHERE run_id = (SELECT max(id) FROM runs))")" 1 "$1"
}
checks() { # checks PROGRAM WHAT STATUS
    local status=0
    profile --cpu=perf -- "$1" >out.txt 2>err.txt || status=$?
    expect_equal "$status" "$3" "status of $1: $(cat err.txt)"
    expect_equal "$(cat out.txt)" done "output of $1"
    expect_match "$(cat err.txt)" "^clear: $1 is $2: perf samples its CPU time, and nothing else of it is recorded" "what clear says of $1"
    expect_proportions "proportions of $1"
    expect_match "$("$CLEAR" doctor --db t.db --json)" 'only CPU time is recorded, by perf' "what doctor says of $1"
}
checks ./static 'statically linked' 4
# The same where perf is not installed: clear does it itself.
status=0
PATH=/nowhere profile --cpu=perf -- ./static >out.txt 2>err.txt || status=$?
expect_equal "$status $(cat out.txt)" '4 done' "without perf: $(cat err.txt)"
expect_match "$(cat err.txt)" '^clear: ./static is statically linked: its CPU time is sampled from outside' 'what clear says without perf'
expect_proportions 'proportions without perf'
if gcc -O1 -g -fsanitize=address -fno-omit-frame-pointer -o sanitized burns.c 2>/dev/null; then checks ./sanitized 'built with a sanitizer' 4; fi
if command -v go >/dev/null; then
    cat >burns.go <<'GO'
package main

import ("fmt"; "syscall")

func now() int64 { var u syscall.Rusage; syscall.Getrusage(0, &u); return u.Utime.Nano() + u.Stime.Nano() }
//go:noinline
func much(ns int64) (s int) { for end := now() + ns; now() < end; { for i := 0; i < 100000; i++ { s += i * s } }; return }
//go:noinline
func little(ns int64) (s int) { for end := now() + ns; now() < end; { for i := 0; i < 100000; i++ { s += i * s } }; return }
func main() { x := much(900000000) + little(300000000); if x == 1 { fmt.Println(x) }; fmt.Println("done") }
GO
    CGO_ENABLED=0 HOME=$TMP go build -o goes burns.go && checks ./goes 'a statically linked Go program' 0
    # Without perf clear samples it itself, with the same proportions.
    profile ./goes >out.txt 2>err.txt || fail "from outside: $?: $(cat err.txt)"
    expect_equal "$(cat out.txt)" done 'output of what is sampled from outside'
    expect_match "$(cat err.txt)" '^clear: ./goes is a statically linked Go program: its CPU time is sampled from outside' 'what clear says'
    expect_proportions 'proportions from outside' main.
    expect_match "$("$CLEAR" doctor --db t.db --json)" 'only CPU time is recorded, from outside' 'what doctor says of it'
fi
# What a static program starts is recorded as always.
printf '#include <unistd.h>\nint main(void) { execl("%s", "heap_counts", (char *)0); return 1; }\n' "$FIXTURES/leak" >starts.c
gcc -static -o starts starts.c && profile --cpu=perf -q ./starts >/dev/null
expect_between "$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE run_id = (SELECT max(id) FROM runs)")" 1 1000000 'allocations of what a static program starts'
check_db t.db
