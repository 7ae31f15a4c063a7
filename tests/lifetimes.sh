# --lifetimes: histograms of the sizes and lifetimes of blocks are those that a program counted itself, with one thread and with several,
# over windows that are folded; times lie between what its own clock read; blocks that another thread freed have no count of allocations.
# build: plain
. "$(dirname "$0")/lib.sh"

newest='run_id = (SELECT max(id) FROM runs)'
for arguments in "" 4; do
    for options in "" "--interval 10ms --windows=2"; do
        # shellcheck disable=SC2086 # words
        expect_status 0 profile -q --lifetimes $options -- "$FIXTURES/lifetimes" $arguments >out.txt
        sql t.db "SELECT 'block ' || function || ' ' || histogram || ' ' || from_value || ' ' || sum(count) FROM site_histograms
                  WHERE $newest AND function IN ('small_site', 'resized_site') AND histogram <> 'lifetime'
                  GROUP BY function, histogram, from_value" | sort >got.txt
        grep '^block' out.txt | sort >want.txt
        expect_same_file got.txt want.txt "histograms ($arguments) ($options)"
        expect_exact
    done
done

# Each time is in a bucket between those of the shortest and the longest that it can have been: as many are at most in the lowest, and
# at least in the highest, for every limit.
for limit in $(awk '$1 == "time" { print $3; print $4 }' out.txt | sort -un); do
    most=$(awk -v limit="$limit" '$1 == "time" && $3 <= limit' out.txt | wc -l)
    least=$(awk -v limit="$limit" '$1 == "time" && $4 <= limit' out.txt | wc -l)
    expect_between "$(sql t.db "SELECT coalesce(sum(count), 0) FROM site_histograms WHERE $newest AND function = 'slow_site' AND histogram = 'lifetime' AND from_value <= $limit")" \
        "$least" "$most" "lifetimes up to $limit ns"
done
expect_equal "$(sql t.db "SELECT count(*) FROM (SELECT sum(count) FILTER (WHERE histogram = 'lifetime') AS ended, sum(free_count) / count(*) AS freed
                          FROM site_histograms JOIN (SELECT trace_id AS trace, sum(free_count) AS free_count FROM heap WHERE $newest GROUP BY trace_id) ON trace = trace_id
                          WHERE $newest GROUP BY trace_id) WHERE ended <> freed")" 0 "as many lifetimes as frees"
expect_equal "$(sql t.db "SELECT group_concat(histogram || ' ' || n) FROM (SELECT histogram, sum(count) AS n FROM site_histograms WHERE $newest AND function = 'handed_site' GROUP BY 1)")" \
    "lifetime 100,size 100" "blocks that another thread freed"

# Reports: the buckets are labels.
expect_match "$("$CLEAR" report tags --db t.db --kind lifetimes)" 'lifetime' "tags"
expect_match "$("$CLEAR" top --db t.db --kind lifetimes --sample_index=allocated --tagfocus bytes=1kb:)" 'small_site' "top of a size"
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE $newest AND kind = 'lifetimes' AND sample_types = '[[\"allocated\",\"count\"],[\"freed\",\"count\"],[\"freed_same_thread\",\"count\"]]'" | grep -c '^[1-9]')" 1 "the kind"

python3 "$ROOT/tests/oracle.py" t.db want.pb.gz --kind lifetimes && "$CLEAR" export --db t.db --kind lifetimes -o got.pb.gz || fail "export"
python3 "$ROOT/tests/profile_diff.py" want.pb.gz got.pb.gz >diff.txt && [ ! -s diff.txt ] || fail "the export is not what the tables say: $(head -3 diff.txt)"
# One of three blocks, counted three times: the same shape.
expect_status 0 profile -q --lifetimes --sample=3 -- "$FIXTURES/lifetimes" 4 >out.txt
allocated=$(sql t.db "SELECT sum(count) FROM site_histograms WHERE $newest AND histogram = 'size' AND function GLOB '*_site'")
expect_between "$allocated" 9600 15600 "sampled blocks of 12,000 and a few"
expect_status 2 profile -q --lifetimes --no-heap -- true 2>err.txt
expect_match "$(cat err.txt)" '--lifetimes and --no-heap exclude each other' "refused"
expect_status 0 profile -q -- "$FIXTURES/lifetimes" >/dev/null
expect_equal "$(sql t.db "SELECT count(*) FROM site_histograms WHERE $newest")" 0 "without --lifetimes"
