# Each stack is what glibc's backtrace() saw at the same place: through code without frame pointers whose %rbp is rubbish, a decoy
# or the caller's, realigned frames, callbacks out of libc, signal handlers on either stack, calls that never return.
# quick
. "$(dirname "$0")/lib.sh"

# Leaf first, as the fixture prints them: others' libraries by their file's name. Frames that only debug information knows
# (inlined ones, in libc if its symbols are installed) are not backtrace()'s business.
names_of() { # names_of SITE
    sql t.db "SELECT group_concat(name, ';') FROM (
        SELECT CASE WHEN module = 'stacks' OR module GLOB 'lib_*' THEN function ELSE module END AS name
        FROM frames
        WHERE trace_id IN (SELECT trace_id FROM heap WHERE run_id = (SELECT max(id) FROM runs) AND function = '$1') AND NOT inlined
        ORDER BY trace_id, depth)"
}

compare() { # compare DEPTH: each `stack SITE FRAMES` line; no more than DEPTH frames are recorded
    local site frames got count=0
    while read -r site frames; do
        got=$(names_of "$site")
        # What lies behind main is the C library's; backtrace's list stops there, and a cut stack before it.
        got=$(sed -E 's/(^|;)(main|thread_main);.*/\1\2/' <<<"$got")
        expect_equal "$got" "$(cut -d';' -f"1-$1" <<<"$frames")" "stack of $site at depth $1"
        count=$((count + 1))
    done < <(sed -n 's/^stack //p' out.txt)
    [ "$count" -ge 19 ] || fail "only $count stacks were compared"
}

# A CPU sample may fall where no stack is whole: only those of blocks are exact.
expect_status 0 profile --depth 200 -- "$FIXTURES/stacks" >out.txt
compare 200
expect_equal "$(sql t.db 'SELECT sum(truncated) FROM profiles WHERE kind = '\''heap'\'' AND run_id = (SELECT max(id) FROM runs)')" 0 'cut stacks at depth 200'

expect_status 0 profile -- "$FIXTURES/stacks" >out.txt
compare 64
expect_between "$(sql t.db 'SELECT sum(truncated) FROM profiles WHERE run_id = (SELECT max(id) FROM runs)')" 1 5 'cut stacks at depth 64'
expect_equal "$(sql t.db "SELECT code FROM doctor WHERE section = 'saturation' AND code <> 'slow-flush' AND run_id = (SELECT max(id) FROM runs)")" truncated 'what doctor says of it'
check_db t.db
