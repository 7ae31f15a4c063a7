# What waits without blocking, by a program that counts itself: yields, short sleeps, tries that fail.
# build: plain
. "$(dirname "$0")/lib.sh"

"$FIXTURES/spins" >alone.txt || fail 'the program alone'
expect_status 0 profile -q --interval=0.02 -- "$FIXTURES/spins" >out.txt
expect_equal "$(grep -c '^spins ' out.txt)" 4 'what the program counted'
while read -r _ name yields sleeps tries; do
    got=$(sql t.db "SELECT sum(yields), sum(short_sleeps), sum(failed_tries) FROM spin_use WHERE function = '$name'" | tr '|' ' ')
    if [ "$name" = polls ]; then # an estimate: 256, and one in 16 of the others, 3 % at three standard deviations
        read -r yields_got sleeps_got tries_got <<<"$got"
        expect_equal "$yields_got $sleeps_got" '0 0' "other spins of $name"
        expect_between "$tries_got" $((tries * 97 / 100)) $((tries * 103 / 100)) "failed tries of $name"
    else
        expect_equal "$got" "$yields $sleeps $tries" "spins of $name"
    fi
done < <(grep '^spins ' out.txt)
read -r _ name least most < <(grep '^slept ' out.txt)
expect_between "$(sql t.db "SELECT sum(sleep_ns) FROM spin_use WHERE function = '$name'")" $((least - least / 1000)) $((most + most / 1000)) "ns of $name"
expect_equal "$(sql t.db "SELECT sum(naps), sum(nap_ns) BETWEEN 3000000 AND 10000000000 FROM spin_use WHERE function = 'sleeps'")" '2|1' 'sleeps of 1 ms and more'
expect_equal "$(sql t.db "SELECT count(*) FROM spin_use WHERE line = 0")" 0 'stacks without a line'
# The lock counts each try.
expect_equal "$(sql t.db "SELECT sum(failed_tries) FROM lock_use WHERE object GLOB '*:mutex'")" 200040 'failed tries of the mutex'

total() { "$CLEAR" top --db t.db --kind spin --sample_index="$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["total"])'; }
expect_equal "$(total short_sleeps) $(total slept) $(total calls)" "$(sql t.db "SELECT sum(short_sleeps) || ' ' || sum(sleep_ns) || ' ' || sum(yields + short_sleeps + failed_tries) FROM spin_use")" 'the kind spin'

# With locks off nothing of it is recorded.
expect_status 0 profile -q --no-locks -- "$FIXTURES/spins" >out.txt
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE kind = 'spin' AND run_id = (SELECT max(id) FROM runs)")" 0 'spins with --no-locks'
check_db t.db
