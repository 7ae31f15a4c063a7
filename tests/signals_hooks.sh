# Every hook from a signal handler, while the threads that it interrupts are in the same hooks: nothing hangs, nothing crashes, and what
# happened outside of handlers is exact.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"

for options in '' '--cpu=1000' '--sync-callstacks' '--sample=64KiB'; do
    # shellcheck disable=SC2086 # none or one option
    expect_status 0 profile $options -- timeout 60 "$FIXTURES/signals_hooks" >out.txt 2>err.txt
    grep -q '^handlers [0-9]' err.txt || fail "no handler ran: $(cat err.txt)"
    [ -z "$options" ] || continue
    expect_tables out.txt # the heap, outside of handlers
    normal=$(sed -n 's/^normal_reads //p' out.txt)
    expect_equal "$(sql t.db "SELECT reads FROM cell_use WHERE object GLOB '*:channel'")" "$normal" 'reads outside of handlers'
    # Inside of them an event is recorded, or, where the recorder itself was interrupted, counted as dropped.
    handled=$(sed -n 's/^handled_reads //p' err.txt)
    IFS='|' read -r reads dropped <<<"$(sql t.db "SELECT sum(reads), (SELECT sum(dropped) FROM profiles WHERE kind = 'mvcc') FROM cell_use WHERE object GLOB '*:cell'")"
    loops=$(sql t.db "SELECT sum(commits) + (SELECT sum(dropped) FROM profiles WHERE kind = 'mvcc') FROM cell_use WHERE object GLOB '*:cell'")
    expect_between "$reads" $((loops - 4 * dropped - handled)) $((loops + 4 * dropped)) 'reads of the cell that both use'
    expect_between "$reads" "$handled" 100000000 'reads of the cell that both use'
    expect_equal "$(sql t.db "SELECT count(*) FROM heap WHERE inuse_count < 0")" 0 'sites below zero'
    got=$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'site_handled'")
    expect_between "${got:-0}" 1 "$(awk '$2 == "site_handled" {print $3}' err.txt)" 'allocations of handlers'
done
check_db t.db
