# Names of code that is in no file: the kernel's in every process (the vdso), and what a JIT compiler made, by perf's map of it or by the
# region that it is in. No function is called by a bare address. Most of the time is in that code; how much of it depends on what the machine
# does meanwhile (what begins and ends a program took 15 % of it beside other work), so no more than half is asked for.
# build: plain
. "$(dirname "$0")/lib.sh"

share() { # share FUNCTION: per cent of the CPU time of the newest run that is the function's own
    sql t.db "SELECT coalesce(sum(cpu_ns) FILTER (WHERE function = '$1'), 0) * 100 / sum(cpu_ns) FROM cpu_use WHERE run_id = (SELECT max(id) FROM runs)"
}
bare() { sql t.db "SELECT DISTINCT function FROM cpu_use WHERE run_id = (SELECT max(id) FROM runs) AND (function GLOB '0x*' OR function GLOB '[[]vdso]+*')"; }
run() { expect_status 0 profile -q --cpu=499 --no-heap --no-locks --interval 0.2 -- "$FIXTURES/nameless_code" "$@" >out.txt; }

run vdso 600
expect_between "$(sql t.db "SELECT sum(cpu_ns) FILTER (WHERE module = '[vdso]' AND function GLOB '*clock_gettime') * 100 / sum(cpu_ns) FROM cpu_use")" 50 100 "per cent of clock_gettime in the vdso"
expect_equal "$(bare)" '' 'addresses instead of names, vdso'
run jit 600
expect_between "$(share '[anon]')" 50 100 'per cent in the anonymous region'
expect_equal "$(bare)" '' 'addresses instead of names, jit'
run called 600 # by a frame pointer, where that is one
expect_between "$(sql t.db "SELECT sum(cpu_ns) FILTER (WHERE stack LIKE '%main;call_made;[anon]') * 100 / sum(cpu_ns) FROM cpu_use JOIN stacks USING (trace_id)
    WHERE run_id = (SELECT max(id) FROM runs) AND function = '[anon]'")" 90 100 'per cent of the code that was made, below its caller'
run map 600
expect_between "$(share made_at_run_time)" 50 100 "per cent in what perf's map names"
rm -f "$(cat out.txt)"
expect_equal "$(bare)" '' 'addresses instead of names, map'
"$CLEAR" top --db t.db --kind cpu >top.txt || fail top
expect_match "$(cat top.txt)" 'made_at_run_time' 'top'
# By jitdump, which the process has mapped.
mkdir dumps
run dump 600
expect_between "$(share made_at_run_time)" 50 100 'per cent in what the jitdump names'
expect_equal "$(bare)" '' 'addresses instead of names, jitdump'
# Another user's file is not believed, also where clear may read all files.
if [ "$(id -u)" = 0 ]; then
    expect_status 0 profile -q --cpu=499 --no-heap --no-locks -- /bin/sh -c 'map=/tmp/perf-$$.map && echo $map >map.txt && echo "1000 7fffffff0000 planted" >$map &&
        chown 12345 $map && exec "$0" jit 300' "$FIXTURES/nameless_code"
    rm -f "$(cat map.txt)"
    expect_equal "$(share planted)" 0 "per cent in what another user's file names"
    expect_between "$(share '[anon]')" 50 100 "per cent in the region beside another user's file"
fi
