# Channels agree with the program's own counts: every push, pop, wait and nanosecond that it told, and the greatest depth.
# quick
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -o t.profile -- "$FIXTURES/channels" >out.txt
expect_tables out.txt
expect_exact
awk '$1 == "channel" && $2 == "orders" && $6 == 0 || $1 == "channel" && $2 == "results" && $7 == 0 {exit 1}' out.txt || fail "the load made nobody wait: $(cat out.txt)"
while read -r _ name pushed popped; do
    expect_equal "$(sql t.db "SELECT push_blocked_ns, pop_blocked_ns FROM channel_use WHERE object GLOB '*$name'")" "$pushed|$popped" "waits of $name"
done < <(grep '^channel_ns ' out.txt)
expect_equal "$(sql t.db "SELECT count(DISTINCT channel) FROM channel_use")" 3 'numbers of the channels'

# The same in channels.txt (id pushes pops push_blocked pop_blocked max_depth capacity) and for Go's viewer.
expect_equal "$(grep -v '^#' t.profile/channels.txt | cut -f2-7 | sort)" \
    "$(awk -v OFS='\t' '$1 == "channel" {print $4, $5, $6, $7, $8, $3}' out.txt | sort)" 'channels.txt'
expect_equal "$(pprof -sample_index=push_blocked -top t.profile/channels.pb.gz 2>/dev/null | sed -n 's/.* of \([0-9]*\) total.*/\1/p')" \
    "$(awk '$1 == "channel" {sum += $6} END {print sum}' out.txt)" 'push_blocked in channels.pb.gz'
pprof -tags t.profile/channels.pb.gz >tags.txt 2>/dev/null
grep -q capacity tags.txt || fail "no label capacity: $(cat tags.txt)"

# The channel's own mutex is a lock, and its waits on conditions are none of the lock's.
expect_equal "$(sql t.db "SELECT count(*) FROM lock_use WHERE hold_ns > 2e9")" 0 'holds longer than the run: condition waits were counted as holds'

expect_status 0 profile -- "$FIXTURES/channels" >out2.txt
expect_equal "$(sql t.db "SELECT count(*) FROM objects WHERE kind = 'channel'")" 3 'channels known after two runs'
check_db t.db
