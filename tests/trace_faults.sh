# The diagnoses over single events, of programs with one known fault that are recorded with --trace, and of their mended twins: the fault is
# found with the lines that make it, and nothing in the section trace is said of the twin.
# timeout: 300
# alone: it judges waits, and on a busy machine there are others
# plain: the judgement, with code that the tests of doctor run
# long: judges waits; trace_doctor has each threshold
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

of_trace() { sql t.db "SELECT coalesce(group_concat(code || ' ' || subject, ', '), '') FROM (SELECT * FROM doctor_trace WHERE run_id = (SELECT max(id) FROM runs) AND severity IN ('warning', 'critical') ORDER BY code)"; }
record() { expect_status 0 profile --quiet -o none.profile --trace=all -- "$FIXTURES/$@" >>"$1.out"; }

# The owner of the lock waits for the file server, eight times 60 ms; three threads wait for the lock meanwhile.
record fault_locked_save
expect_equal "$(of_trace)" 'io-under-lock fault_locked_save:prices_lock' 'a call under a lock'
expect_between "$(sql t.db "SELECT evidence ->> 'time_ns' FROM doctor_trace WHERE code = 'io-under-lock'")" 480000000 10000000000 'how long the others waited'
expect_match "$(sql t.db "SELECT advice FROM doctor_trace WHERE code = 'io-under-lock'")" 'send_copy \(fault_locked_save\.c:[0-9]+\) blocks\. read_price ' 'who blocks, and who waits'
record fault_locked_save --mended
expect_equal "$(of_trace)" '' 'the call after the lock'

# Four workers queue behind each other, because one of them writes under the lock.
record fault_convoy
expect_equal "$(of_trace)" 'convoy fault_convoy:journal, io-under-lock fault_convoy:journal' 'a convoy'
record fault_convoy --mended
expect_equal "$(of_trace)" '' 'no convoy'

# One request in forty waits itself; what it waited in is named.
record fault_slow_request
expect_equal "$(of_trace)" 'long-region request' 'a slow request'
expect_match "$(sql t.db "SELECT advice FROM doctor_trace WHERE code = 'long-region'")" 'fetch_rates ' 'what it waited for'
record fault_slow_request --mended
expect_equal "$(of_trace)" '' 'no slow request'

for program in fault_locked_save fault_convoy fault_slow_request; do # both did the same
    expect_equal "$(sort -u "$program.out" | wc -l)" 1 "what $program prints"
done
check_db t.db
