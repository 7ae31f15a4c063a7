# A program that replaces itself is one process row an image, each with its own figures.
# quick
. "$(dirname "$0")/lib.sh"

expect_status 7 profile -- "$FIXTURES/execs" 4 >out.txt
awk '$1 == "image" {print $2 "|" $5 "|" $6}' out.txt >want.txt
sql t.db "SELECT pid, sum(alloc_count), sum(alloc_bytes) FROM heap JOIN profiles ON profiles.id = heap.profile_id
    JOIN processes ON processes.id = profiles.process_id
    WHERE function = 'before_exec' GROUP BY processes.id ORDER BY processes.started_ns" >got.txt
expect_same_file got.txt want.txt 'images'
expect_equal "$(wc -l <want.txt)" 5 'images'
expect_exact
check_db t.db
