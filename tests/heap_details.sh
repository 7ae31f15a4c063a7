# Temporary allocations, the calls that allocated, what realloc moved, its small steps, and those of copies by hand: equal to what a program counted itself, with one thread and
# with several, over windows that are folded; temporary ones equal to heaptrack's; estimates when sampled.
# build: plain
. "$(dirname "$0")/lib.sh"

newest='run_id = (SELECT max(id) FROM runs)'
recorded() {
    sql t.db "SELECT 'details ' || function || ' ' || sum(alloc_count) || ' ' || sum(temporary_count) || ' ' || sum(calloc_count) || ' ' ||
                     sum(aligned_count) || ' ' || sum(realloc_count) || ' ' || sum(moved_count) || ' ' || sum(moved_bytes) || ' ' ||
                     sum(realloc_bytes) || ' ' || sum(resized_count) || ' ' || sum(resized_bytes) || ' ' || sum(step_count) || ' ' || sum(step_bytes) || ' ' ||
                     sum(replaced_count) || ' ' || sum(copy_step_count) || ' ' || sum(copy_step_bytes) || ' ' || sum(copy_growth_bytes)
              FROM heap_details WHERE $newest AND function GLOB '*_site' GROUP BY function
              ORDER BY instr('plain_site,cleared_site,aligned_site,grown_site,copied_site', function)"
}
for arguments in "" 4; do
    for options in "" "--interval 10ms --windows=2"; do
        # shellcheck disable=SC2086 # words
        expect_status 0 profile -q $options -- "$FIXTURES/heap_details" $arguments >out.txt
        recorded >got.txt
        expect_same_file got.txt out.txt "details ($arguments) ($options)"
        expect_exact
    done
done
expect_equal "$(sql t.db "SELECT count(*) FROM site_details WHERE temporary_count + calloc_count + aligned_count + realloc_count + resized_count + replaced_count = 0")" 0 "empty rows"
expect_equal "$(sql t.db "SELECT count(*) FROM heap_details WHERE malloc_count < 0 OR (function IN ('plain_site', 'copied_site')) <> (malloc_count > 0) AND function GLOB '*_site'")" 0 \
    "what is left for malloc"

# One of five: estimates of each, within a quarter of what is large enough to be estimated; and of what is copied, which needs two of them, no more.
expect_status 0 profile -q --sample 5 -- "$FIXTURES/heap_details" >out.txt
recorded >got.txt
paste -d' ' got.txt out.txt | awk '{ for (i = 3; i <= 18; i++) if ($(i + 18) > 1500 && (i <= 14 && $i < 0.75 * $(i + 18) || $i > 1.25 * $(i + 18))) print $2, i, $i, $(i + 18) }' >wrong.txt
[ ! -s wrong.txt ] || fail "estimates: function, column, estimated, true: $(cat wrong.txt)"

command -v heaptrack >/dev/null || skip "heaptrack is not installed; all else passed"
# heaptrack calls a block temporary where its free is the very next call. Every block of plain_site is freed so with these arguments; of
# the others some are freed after other frees, which ours are too.
heaptrack -o ht "$FIXTURES/heap_details" 0 3 >/dev/null 2>&1 || fail heaptrack
heaptrack_print -T 1 -f ht.* 2>/dev/null >ht.txt
expect_status 0 profile -q -- "$FIXTURES/heap_details" 0 3 >/dev/null
for site in plain_site cleared_site aligned_site; do
    theirs=$(awk -v site="$site" '/temporary allocations of .* from$/ { count = $1 } $1 == site && count { sum += count; count = 0 } END { print sum + 0 }' ht.txt)
    ours=$(sql t.db "SELECT sum(temporary_count) FROM heap_details WHERE $newest AND function = '$site'")
    echo "$site: heaptrack $theirs, clear $ours"
    expect_between "$theirs" 1 "$ours" "temporary of $site, heaptrack's"
    [ "$site" != plain_site ] || expect_equal "$ours" "$theirs" "temporary of $site against heaptrack"
done
