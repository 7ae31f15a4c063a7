# The heap table agrees with the programs' own counts: every function of the family, frees in other threads, threads that come
# and go, the smallest stacks, a recorder that grows after its descriptors were closed, a storm of signals.
# quick
. "$(dirname "$0")/lib.sh"

for program in heap_counts heap_threads leak thread_churn tiny_stacks closes_fds "signals storm"; do
    read -ra words <<<"$program"
    expect_status 0 profile -o "$TMP/t.profile" -- "$FIXTURES/${words[0]}" "${words[@]:1}" >out.txt
    expect_tables out.txt
    expect_exact
    # What the C library frees of a thread that is joined is seen too.
    [ "$program" != thread_churn ] ||
        expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE run_id = (SELECT max(id) FROM runs) AND comments LIKE '%no hook saw%'")" 0 "frees of joins"
    echo "$program agrees"
done
check_db t.db

# Every distinct stack of closes_fds is a row: 2^13 paths.
expect_equal "$(sql t.db "SELECT count(*) FROM heap WHERE function = 'after_close'")" 8192 'stacks of closes_fds'
