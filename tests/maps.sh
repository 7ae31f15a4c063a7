# The kind mmap: mappings in whole and in part, equal to what a program counted itself, with one thread and with several, over windows that
# are folded; what is mapped at the end is what /proc/self/maps has; reports; calls that fail; strace.
# build: plain
. "$(dirname "$0")/lib.sh"

newest='run_id = (SELECT max(id) FROM runs)'
for arguments in "" 4; do
    for options in "" "--interval 10ms --windows=2"; do
        # shellcheck disable=SC2086 # words
        expect_status 0 profile -q $options -- "$FIXTURES/maps" $arguments >out.txt
        sql t.db "SELECT 'map ' || use || ' ' || sum(map_count) || ' ' || sum(map_bytes) || ' ' || sum(unmap_bytes) FROM map_use
                  WHERE $newest AND module LIKE '%maps' GROUP BY use" | sort >got.txt
        sort out.txt >want.txt
        expect_same_file got.txt want.txt "mappings ($arguments) ($options)"
        expect_exact
    done
done
expect_equal "$(sql t.db "SELECT count(*) FROM map_use WHERE inuse_bytes < 0 OR inuse_count < 0 OR inuse_count > 0 AND inuse_bytes = 0")" 0 "what is left"
expect_equal "$(sql t.db "SELECT group_concat(DISTINCT function) FROM map_use WHERE $newest AND use = 'break'")" moves_break "who moves the break"

# The newest state of each use over any span of windows.
expect_match "$("$CLEAR" top --db t.db --kind mmap --sample_index=mapped_space)" '[0-9]% +map$' "top of what was mapped"
expect_match "$("$CLEAR" report tags --db t.db --kind mmap)" 'reserved' "tags"
python3 "$ROOT/tests/oracle.py" t.db want.pb.gz --kind mmap && "$CLEAR" export --db t.db --kind mmap -o got.pb.gz || fail "export"
python3 "$ROOT/tests/profile_diff.py" want.pb.gz got.pb.gz >diff.txt && [ ! -s diff.txt ] || fail "the export is not what the tables say: $(head -3 diff.txt)"

# As strace sees them, of a program of others: python3 maps a file and memory, and closes one of the two.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    cat >maps.py <<'P'
import mmap, os
file = open("data", "w+b")
file.truncate(1 << 20)
kept, closed = mmap.mmap(file.fileno(), 1 << 20), mmap.mmap(-1, 12345678)
closed.close()
os._exit(0)
P
    strace -o strace.txt -e trace=mmap,munmap python3 -S maps.py >/dev/null
    expect_equal "$(grep -Ec 'mmap\(NULL, (1048576, .*MAP_SHARED|12345678, )' strace.txt)" 2 "what strace sees"
    expect_status 0 profile -q -- python3 -S maps.py >/dev/null
    expect_equal "$(sql t.db "SELECT sum(inuse_bytes) FROM map_use WHERE $newest AND use = 'shared'")" 1048576 "what python3 keeps"
    expect_equal "$(sql t.db "SELECT sum(map_bytes) FROM map_use WHERE $newest AND use = 'shared'")" $(((12345678 + 4095) / 4096 * 4096 + 1048576)) "what python3 maps"
fi
expect_status 0 profile -q --no-heap -- "$FIXTURES/maps" >/dev/null
expect_equal "$(sql t.db "SELECT count(*) FROM map_use WHERE $newest")" 0 "--no-heap"
