# shellcheck shell=bash
# Recordings of `perf c2c record`: HITM and stores of each cache line are those of `perf c2c report` and those of the file's writer; the
# doctor names the line that two threads share for nothing, and neither the one that they must share nor the ones of their own.
. "$(dirname "$0")/lib.sh"
command -v perf >/dev/null || skip 'no perf'
export HOME=$TMP

build() { gcc -O1 -g -pthread "$@" "$ROOT/fixtures/shared_lines.c" || fail "gcc $*"; }
hitm_of() { # of the newest run: each line, its HITM and its sampled stores
    sql t.db "WITH access AS (SELECT samples.v0 AS accesses, samples.v1 AS hitm, label_sets.labels,
                  (SELECT json_extract(value, '\$[1]') FROM json_each(labels) WHERE json_extract(value, '\$[0]') = 'line') AS line
                  FROM samples JOIN label_sets ON label_sets.id = label_set_id JOIN profiles ON profiles.id = profile_id
                  WHERE kind = 'c2c' AND run_id = (SELECT max(id) FROM runs))
              SELECT line || ' ' || sum(hitm) || ' ' || sum(iif(labels LIKE '%\"store\"%', accesses, 0)) FROM access GROUP BY line ORDER BY line"
}

for form in -pie -no-pie; do
    build $form -o shared_lines
    python3 "$ROOT/fixtures/make_c2c.py" "$TMP/shared_lines" c2c.data >truth.txt || fail make_c2c.py
    # Its table of lines has index, address, node, physical addresses, percent, HITM, local, remote, records, loads, stores.
    perf c2c report --stdio -i c2c.data 2>/dev/null | sed -n '/Shared Data Cache Line Table/,/Shared Cache Line Distribution/p' |
        awk '$2 ~ /^0x/ { print $2, $6, $11 }' | sort >perf.txt
    [ "$(wc -l <perf.txt)" = 3 ] || fail "perf c2c report has other lines: $(cat perf.txt)"
    "$CLEAR" ingest --db t.db c2c.data || fail "ingest $form"
    hitm_of >clear.txt
    expect_same_file clear.txt perf.txt "$form: perf c2c report"
    awk '$2' truth.txt | sort >want.txt
    expect_same_file clear.txt want.txt "$form: what the file's writer says"
    line=$(nm shared_lines | awk '$3 == "counters" { print $1 }')
    [ $form = -no-pie ] || line=$(printf '%x' $((0x$line + 0x555555554000)))
    expect_equal "$(sql t.db "SELECT code, severity, subject, hitm, false_percent, stores, threads, addresses, latency_cycles
                              FROM doctor_sharing WHERE run_id = (SELECT max(id) FROM runs) AND code = 'false-sharing'")" \
        "false-sharing|warning|counters 0x$(printf '%x' 0x"$line")|75|100|100|2|2|200" "$form: the line of counters"
    expect_equal "$(sql t.db "SELECT code, severity, substr(subject, 1, 5), hitm, false_percent FROM doctor_sharing
                              WHERE run_id = (SELECT max(id) FROM runs) AND code <> 'false-sharing'")" 'true-sharing|note|total|25|0' "$form: the others"
    [ $form = -no-pie ] || expect_equal "$(sql t.db "SELECT group_concat(places.function, ' ') FROM doctor_sharing JOIN json_each(trace_ids) AS stack
        JOIN places ON places.trace_id = stack.value WHERE code = 'false-sharing'" | tr ' ' '\n' | sort | xargs)" 'count_first count_second' 'both sides'
done
"$CLEAR" doctor --db t.db >report.txt || fail doctor
expect_match "$(sed -n '/^sharing/,/^ *counters/p' report.txt)" 'warning +false-sharing +75 +74 % +100 %' 'the report'
"$CLEAR" top --kind c2c --by_tag line --db t.db >top.txt || fail 'top --kind c2c'
expect_match "$(cat top.txt)" '^ +75 +25 +2 +102 ' 'lines as columns of top'

# Without a HITM there is nothing to say.
sed 's/^SNOOP_NONE, SNOOP_HITM = .*/SNOOP_NONE, SNOOP_HITM = 1 << 20, 1 << 20/' "$ROOT/fixtures/make_c2c.py" >quiet.py
cmp -s quiet.py "$ROOT/fixtures/make_c2c.py" && fail 'the writer has changed'
python3 quiet.py "$TMP/shared_lines" quiet.data >/dev/null || fail quiet.py
"$CLEAR" ingest --db quiet.db quiet.data || fail 'ingest quiet.data'
expect_equal "$(sql quiet.db "SELECT count(*) FILTER (WHERE kind = 'c2c'), (SELECT count(*) FROM doctor_sharing) FROM profiles")" '0|0' 'without HITM'
for size in 200 4000 9000; do
    head -c $size c2c.data >cut.data
    expect_status 1 "$CLEAR" ingest --db cut.db cut.data 2>cut.err
    expect_match "$(cat cut.err)" 'cut.data: ' "the message for $size bytes"
done
