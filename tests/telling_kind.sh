# What clear top, clear web and the summary open on without --kind: one rule for all (unit_telling_kind has its limits). Figures of a run
# are made by hand here, so that they are the same on every machine; of a program that waits by itself the summary says it too.
. "$(dirname "$0")/lib.sh"
CLEAR_DB=$TMP/t.db "$CLEAR" profile -q --no-files "$FIXTURES/leak" >/dev/null || fail profile
figures() { # DURATION-MS CPU-MS WAIT-MS WAITS ALLOCATIONS
    sql t.db "UPDATE run_facts SET duration_ns = $1 * 1000000, cpu_ns = $2 * 1000000;
        UPDATE run_totals SET lock_wait_ns = $3 * 1000000, lock_contended = $4, alloc_count = $5" || fail figures
}
opens() { # KIND WHY COMMAND...
    local kind=$1 why=$2
    shift 2
    "$CLEAR" "$@" --db t.db 1 >out 2>err || fail "$*: $(cat err)"
    grep -q "^clear: $kind of run 1$why; --kind shows another: " err || fail "$* opens on: $(cat err)"
}
page() { # the overview, whatever has most to say: it has all kinds
    "$CLEAR" web --no-browser --db t.db 1 >url 2>err &
    local server=$!
    for _ in $(seq 1200); do [ -s url ] && break || sleep 0.05; done
    kill "$server" && wait "$server"
    expect_equal "$(sed 's/.*?//' url)" runs=1 "the page of clear web: $(cat url err)"
}
figures 1000 930 0 0 100
opens cpu ', because it computed for 930.0 ms, in a run of 1.0 s' top
opens cpu ', because it computed for 930.0 ms, in a run of 1.0 s' tree
opens heap '' report top
opens heap '' top --sample_index=inuse_space
page
figures 1000 50 800 40 100
opens lock ', because it waited for locks for 800.0 ms in all, in a run of 1.0 s' top
page
figures 1000 50 0 0 100
opens heap '' top
page
# A heap of which next to nothing is live at the end opens on what was allocated: else there would be a buffer of libc, or no line at all.
live() { sql t.db "UPDATE run_totals SET alloc_bytes = 100000000, inuse_bytes = $1" || fail live; }
live 4096
opens 'heap' ' by alloc_space, because 4.0 KiB of 95.4 MiB are live at the end; --sample_index=inuse_space shows those' top
grep -qx 'Type: alloc_space' out || fail "what is shown: $(cat out)"
opens 'heap' ' by alloc_space, because 4.0 KiB of 95.4 MiB are live at the end; --sample_index=inuse_space shows those' tree
opens 'heap' '' top --from 0 --to 1h
opens 'heap' '' top --base latest
opens 'heap' '' report top
grep -qx 'Type: inuse_space' out || fail "what is shown: $(cat out)"
live 1000000
opens 'heap' '' top
grep -qx 'Type: inuse_space' out || fail "what is shown: $(cat out)"
live 0
cp t.db read.db && sql read.db "UPDATE runs SET source = 'heap.pb.gz'"
"$CLEAR" top --db read.db 1 2>err | grep -qx 'Type: inuse_space' || fail "a file that was ingested: $(cat err)"
live 1000000
"$CLEAR" top --db t.db --kind cpu 1 >/dev/null 2>err && ! grep -q because err || fail "--kind: $(cat err)"

"$CLEAR" profile --no-files --db waits.db "$FIXTURES/fault_slow_producer" >/dev/null 2>err || fail "$(cat err)"
grep -q '^clear: most to say: wait, because it waited for .*; clear top opens on it, --kind shows another$' err || fail "the summary: $(cat err)"
"$CLEAR" profile --no-files --db waits.db "$FIXTURES/leak" >/dev/null 2>err || fail "$(cat err)"
! grep -q 'most to say' err || fail "a short program: $(cat err)"
