# CPU time by thread: samples have the name and the number of their thread as labels, and the reports take them as they take any tag. What the
# threads used is what their own clocks say.
# build: plain
# long: times against clocks; cpu_kept has what is counted
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -q --cpu=499 --no-heap --no-locks -- "$FIXTURES/named_threads" 250 >out.txt
of() { awk -v name="$1" '$2 == name { print $3 }' out.txt; }
tid() { awk -v name="$1" '$2 == name { print $4 }' out.txt; }
for name in reader writer; do
    got=$(sql t.db "SELECT sum(cpu_ns) FROM cpu JOIN label_sets ON label_sets.id = label_set_id WHERE labels = '[[\"thread\",\"$name\"],[\"tid\",$(tid $name)]]'")
    expect_between "$got" $(($(of $name) * 98 / 100 - 2000000)) $(($(of $name) * 102 / 100 + 2000000)) "CPU time of the thread $name, $(of $name) by its clock"
    focused=$("$CLEAR" export --db t.db --kind cpu --tagfocus "thread=$name" --format folded -o - | awk '{ sum += $NF } END { print sum }')
    expect_equal "$focused" "$got" "--tagfocus thread=$name"
    numbered=$("$CLEAR" export --db t.db --kind cpu --tagfocus "tid=$(tid $name)" --format folded -o - | awk '{ sum += $NF } END { print sum }')
    expect_equal "$numbered" "$got" "--tagfocus tid of $name"
done
"$CLEAR" export --db t.db --kind cpu --tagroot thread --format folded -o - >folded.txt
for name in reader writer; do
    expect_equal "$(awk -v name="$name" 'index($0, name ";") == 1 { sum += $NF } END { print sum }' folded.txt)" \
        "$(sql t.db "SELECT sum(cpu_ns) FROM cpu JOIN label_sets ON label_sets.id = label_set_id WHERE labels LIKE '%\"$name\"%'")" "--tagroot thread: $name"
done
"$CLEAR" top --db t.db --kind cpu --by-tag thread >by.txt || fail "--by-tag thread"
for name in reader writer; do expect_match "$(cat by.txt)" "$name" "--by-tag thread"; done
"$CLEAR" export --db t.db --kind cpu -o cpu.pb.gz || fail export
expect_match "$(pprof -tags cpu.pb.gz 2>/dev/null)" 'thread: Total' "pprof's tags"

# --cpu=perf: the same labels, how much was sampled in the summary, and the kernel's time apart from the program's where perf may see it.
perf_records cpu-clock:u || { echo "perf is not permitted: the rest is not compared"; exit 0; }
"$CLEAR" profile --db perf.db --cpu=perf -- "$FIXTURES/named_threads" 250 >out.txt 2>summary.txt || fail '--cpu=perf'
expect_match "$(cat summary.txt)" 'cpu: ([0-9.]+ s|[0-9]{3}\.[0-9] ms) sampled' 'what the summary says of --cpu=perf'
for name in reader writer; do
    got=$(sql perf.db "SELECT sum(cpu_ns) FROM cpu JOIN label_sets ON label_sets.id = label_set_id
        WHERE labels LIKE '%[\"thread\",\"$name\"],[\"tid\",$(tid $name)]]'")
    expect_between "$got" $(($(of $name) * 85 / 100)) $(($(of $name) * 115 / 100)) "CPU time of the thread $name by perf, $(of $name) by its clock"
done
# What perf cannot sample is said: threads that end before their first sample.
"$CLEAR" profile --db brief.db --cpu=perf --no-heap -- "$FIXTURES/short_lives" threads 1 500 >brief.txt 2>summary.txt || fail '--cpu=perf of short threads'
expect_match "$(cat summary.txt)" '^clear: perf sampled [0-9.]+ [mun]?s of CPU time, and the program used [0-9.]+ m?s: threads and processes that end' \
    'what the summary says of threads that perf missed'
expect_match "$(sql brief.db "SELECT group_concat(subject) FROM doctor_saturation WHERE code = 'warning'")" 'perf sampled ' 'what doctor says of them'
expect_equal "$(sql perf.db "SELECT count(*) FROM doctor_saturation WHERE code = 'warning'")" 0 'a warning of threads that perf did not miss'
perf_records cpu-clock:k || { echo "perf may not see the kernel: the rest is not compared"; exit 0; }
# At 999 Hz perf meets threads of 1 ms and more, and says so by its interval.
"$CLEAR" profile -q --db often.db --cpu=perf,999 --no-heap -- "$FIXTURES/short_lives" threads 5 100 >/dev/null || fail '--cpu=perf,999'
expect_equal "$(sql often.db "SELECT DISTINCT period FROM profiles WHERE kind = 'cpu' AND period > 1")" 1001001 'the interval of --cpu=perf,999'
"$CLEAR" profile -q --db mode.db --cpu=perf --no-heap --no-locks -- dd if=/dev/zero of=/dev/null bs=1M count=20000 2>dd.txt || fail "dd: $(cat dd.txt)"
expect_between "$(sql mode.db "SELECT 100 * sum(cpu_ns) FILTER (WHERE labels LIKE '%[\"mode\",\"kernel\"]%') / sum(cpu_ns) FROM cpu JOIN label_sets ON label_sets.id = label_set_id")" \
    80 100 'per cent of dd in the kernel, which fills its buffers'
"$CLEAR" top --db mode.db --kind cpu --by_tag mode >by.txt || fail '--by_tag mode'
expect_match "$(cat by.txt)" '^ +kernel ' '--by_tag mode'
