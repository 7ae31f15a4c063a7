# CPU time by thread: samples have the name and the number of their thread as labels, and the reports take them as they take any tag. What the
# threads used is what their own clocks say.
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
