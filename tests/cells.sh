# Cells agree with the program's own counts to the last retry, by what a person would call the cell; and mean the same in the next run.
# quick
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -o t.profile -- "$FIXTURES/mvcc" 4 20000 >out.txt
expect_tables out.txt
expect_exact
awk '$1 == "cell" && $2 == "hot" && ($5 == 0 || $6 == 0) {exit 1}' out.txt || fail "the load had no retries or no failures: $(cat out.txt)"

# bytes copied = struct_size * (commits + retries), in the view and in the profile.
copied=$(sql t.db "SELECT sum(cow_bytes) FROM cell_use")
expect_equal "$copied" "$(awk '$1 == "cell" {sum += $3 * ($5 + $6)} END {print sum}' out.txt)" 'cow_bytes'
total_of() { # total_of SAMPLE-TYPE: what Go's viewer makes of the file
    pprof -sample_index="$1" -unit=B -top -nodecount=1000 t.profile/mvcc.pb.gz 2>/dev/null | sed -n 's/.* of \([0-9]*\)[A-Z]* total.*/\1/p'
}
expect_equal "$(total_of commits)" "$(awk '$1 == "cell" {sum += $5} END {print sum}' out.txt)" 'commits in mvcc.pb.gz'
expect_equal "$(total_of retries)" "$(awk '$1 == "cell" {sum += $6} END {print sum}' out.txt)" 'retries in mvcc.pb.gz'
expect_equal "$(total_of cow_bytes)" "$copied" 'cow_bytes in mvcc.pb.gz'

# mvcc.txt: addr struct_size reads commits retries update_failures multi_commits
expect_equal "$(grep -v '^#' t.profile/mvcc.txt | cut -f2-7 | sort)" \
    "$(awk -v OFS='\t' '$1 == "cell" {print $3, $4, $5, $6, $7, $8}' out.txt | sort)" 'mvcc.txt'

# Another run, other addresses, the same cells.
expect_status 0 profile -- "$FIXTURES/mvcc" 2 2000 >out2.txt
expect_tables out2.txt
expect_equal "$(sql t.db 'SELECT count(*) FROM objects WHERE kind = "cell"')" 5 'cells known after two runs'
expect_equal "$(sql t.db 'SELECT count(DISTINCT object_id) FROM cell_use')" 5 'cells used in two runs'
[ "$(sql t.db "SELECT count(DISTINCT address) FROM cell_use WHERE object = 'mvcc:hot'")" = 2 ] ||
    [ "$(cat /proc/sys/kernel/randomize_va_space)" = 0 ] || fail 'two runs at one address: the test proves nothing'

# The session lives in the heap: known by who allocated it.
expect_equal "$(sql t.db "SELECT DISTINCT function, stack_of FROM cell_use WHERE object = 'site_session+24'")" 'site_session|allocation' 'the cell in the heap'
check_db t.db
