# The kind io: equal to what a program counted itself, by every call, with one thread and with several, over windows that are folded, also
# by the functions of _FORTIFY_SOURCE; a program's own calls as strace counts them; children, cancellation and signals; reports.
# build: plain
. "$(dirname "$0")/lib.sh"

newest='run_id = (SELECT max(id) FROM runs)'
recorded() {
    sql t.db "SELECT 'io ' || call || ' ' || sum(calls) || ' ' || sum(bytes) || ' ' || sum(errors) || ' ' || sum(would_block) || ' ' ||
                     sum(small_calls) || ' ' || sum(small_bytes) || ' ' || sum(short_calls)
              FROM io_use WHERE $newest GROUP BY call ORDER BY call"
}
for program in io_calls "io_calls 4" io_calls_fortified; do
    for options in "" "--interval 10ms --windows=2"; do
        # shellcheck disable=SC2086 # words
        expect_status 0 profile -q $options -- $FIXTURES/$program >out.txt
        recorded >got.txt
        LC_ALL=C sort -k2,2 out.txt >want.txt
        expect_same_file got.txt want.txt "calls of $program ($options)"
        expect_exact
    done
done
expect_equal "$(sql t.db "SELECT group_concat(call) FROM (SELECT DISTINCT call FROM io_use WHERE $newest AND function = 'do_reads' ORDER BY call)")" pread,preadv,read,readv "where it reads"
expect_equal "$(sql t.db "SELECT count(*) FROM io_use WHERE line = 0 AND module LIKE '%io_calls%' OR timed_calls NOT BETWEEN 1 AND calls OR max_time_ns > time_ns OR time_ns = 0")" 0 \
    "rows without a line, or without a time"

# The system calls of a program are those that it makes by itself, and those of the C library.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    dd if=/dev/zero of=zeros bs=1000 count=300 2>/dev/null
    expect_status 0 profile -q -- dd if=zeros of=copy bs=100 2>/dev/null
    strace -o strace.txt -e trace=read,write dd if=zeros of=copy bs=100 2>/dev/null
    for call in read write; do
        theirs=$(grep -Ec "^$call\((0|1), " strace.txt)
        ours=$(sql t.db "SELECT sum(calls) FROM io_use WHERE $newest AND call = '$call'")
        echo "dd, $call: strace $theirs, clear $ours"
        expect_between "$ours" "$theirs" $((theirs + 20)) "$call of dd"
    done
    expect_equal "$(sql t.db "SELECT count(*) FROM io_use WHERE $newest AND call = 'write' AND calls = small_calls AND bytes = 300000")" 1 "what dd copied"
    moved() { # moved CALL COMMAND...: as many calls as strace sees, and their bytes
        local call=$1
        shift
        strace -o strace.txt -e trace="$call" "$@" || fail "$*"
        theirs=$(grep -Ec "^$call\(.* = [0-9]+$" strace.txt)
        expect_status 0 profile -q -- "$@"
        expect_equal "$(sql t.db "SELECT sum(calls - errors), sum(bytes), sum(small_calls), sum(short_calls) FROM io_use WHERE $newest AND call = '$call'")" \
            "$theirs|300000|0|0" "$call of $1"
    }
    moved copy_file_range cp zeros copied
    moved sendfile python3 -c 'import shutil; shutil.copyfile("zeros", "sent")'
fi

# Nothing is changed for children, a thread that is cancelled while it reads, or a signal handler.
expect_status 0 profile -q -- "$FIXTURES/io_children" >out.txt
expect_equal "$(cat out.txt)" "" "children, cancellation, errno"
expect_equal "$(sql t.db "SELECT sum(calls) FROM io_use WHERE $newest AND function = 'only_writes'")" 25 "writes of a child"
expect_equal "$(sql t.db "SELECT sum(calls) FROM io_use WHERE $newest AND function = 'reads_forever'")" 2 "reads before the cancellation"
expect_equal "$(sql t.db "SELECT sum(calls) FROM io_use WHERE $newest AND function = 'on_signal'")" 50 "writes of a signal handler"

# Reports, and the way to switch it off.
expect_status 0 profile -q -- "$FIXTURES/io_calls" >/dev/null
expect_match "$("$CLEAR" top --db t.db --kind io --sample_index=bytes)" 'do_reads' "top of bytes"
expect_match "$("$CLEAR" top --db t.db --kind io --tagfocus call=fsync)" 'do_others' "top of a call"
python3 "$ROOT/tests/oracle.py" t.db want.pb.gz --kind io && "$CLEAR" export --db t.db --kind io -o got.pb.gz || fail "export"
python3 "$ROOT/tests/profile_diff.py" want.pb.gz got.pb.gz >diff.txt && [ ! -s diff.txt ] || fail "the export is not what the tables say: $(head -3 diff.txt)"
expect_status 0 profile -q --no-io -- "$FIXTURES/io_calls" >/dev/null
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE $newest AND kind = 'io'")" 0 "--no-io"

# A comparison has a table of it, and the line to quote says what changed: a call for each number, and a buffer.
expect_status 0 profile -q --label each -- "$FIXTURES/fault_tiny_io" >/dev/null
expect_status 0 profile -q --label buffered -- "$FIXTURES/fault_tiny_io" --mended >/dev/null
id_of() { sql t.db "SELECT max(id) FROM runs WHERE label = '$1'"; }
"$CLEAR" doctor --db t.db "$(id_of buffered)" --diff "$(id_of each)" >diff.txt || fail "doctor --diff: $(tail -n 3 diff.txt)"
expect_match "$(cat diff.txt)" 'io by function, calls' 'the table'
expect_match "$(tail -n 1 diff.txt)" 'io write_number new' 'the line to quote'
expect_match "$(cat diff.txt)" '200,000 +[+]200,000' 'the calls'
"$CLEAR" doctor --db t.db "$(id_of buffered)" --diff "$(id_of each)" --json | python3 -c '
import json, sys
rows = [row for row in json.load(sys.stdin)["rows"] if row["section"] == "io" and row["subject"] == "write_number"]
assert [row["figures"]["calls"]["new"]["mean"] for row in rows] == [200000], rows' || fail 'doctor --diff --json'
