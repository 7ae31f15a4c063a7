#!/usr/bin/env bash
# Many locks in one heap block: each is named by its offset, also far from the start of the block, and to find the block costs as little as
# for a lock in a block of its own (it took 100 times as long).
# build: plain
. "$(dirname "$0")/lib.sh"

profile --cpu=off -- "$FIXTURES/many_locks" 30000 >out.txt 2>err.txt || fail "status $?: $(cat err.txt)"
awk '{ exit !($1 == "ratio" && $2 < 10) }' out.txt || fail "cost of a lock in a large block, as a multiple: $(cat out.txt)"
# The order is that of i * 7919 modulo N: also those that are met more than 1 MiB from the start before any in the first MiB.
expect_equal "$(sql t.db "SELECT count(DISTINCT object) FROM lock_use WHERE object GLOB 'one_block+*'")" 30000 'locks with a name'
expect_equal "$(sql t.db "SELECT sum(object = 'one_block+0') > 0, sum(object = 'one_block+1199960') > 0 FROM lock_use")" '1|1' 'the first and the last lock'

# The limit of ids holds when many threads come to it at once: those that wait for their turn have all asked before it. (Without this, 61 of
# 64 threads got an id beyond the limit in five rounds of eight.)
for round in 1 2 3 4 5 6; do
    rm -f t.db
    profile -q --cpu=off --no-heap --profile-max=2000 -- "$FIXTURES/many_locks" 4000 64 2>err.txt || fail "status $?: $(cat err.txt)"
    expect_equal "$(sql t.db 'SELECT count(*) FROM (SELECT DISTINCT object_id, trace_id FROM locks)')" 2000 "locks, and who holds them long, in round $round"
done
