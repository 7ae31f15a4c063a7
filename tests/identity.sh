# Locks, cells and channels are the same things in the next run, at other addresses: by the symbol of a global, by who allocated what lives in the heap,
# by the name that a channel was opened with. The doctor and the views say those, no addresses.
. "$(dirname "$0")/lib.sh"

for program in mvcc channels own_locks lock_contended; do
    for i in 1 2; do expect_status 0 profile -q -o "$program.profile" --label "$program.$i" -- "$FIXTURES/$program" >out.txt; done
done
seen_twice() { # seen_twice VIEW: every object was used in two runs, and each run used objects that the other did
    expect_equal "$(sql t.db "SELECT DISTINCT object FROM $1 JOIN runs ON runs.id = run_id GROUP BY object, substr(label, 1, length(label) - 2) HAVING count(DISTINCT run_id) <> 2")" '' \
        "objects of $1 that only one run knows"
    [ "$(sql t.db "SELECT count(DISTINCT object) FROM $1")" -gt 0 ] || fail "$1 is empty"
    expect_equal "$(sql t.db "SELECT DISTINCT object FROM $1 WHERE object GLOB '0x*'")" '' "objects of $1 that are but an address"
}
seen_twice lock_use
seen_twice cell_use
seen_twice channel_use
for object in own_locks:queue_lock channels:orders site_results+0 lock_contended:hot_mutex; do
    expect_equal "$(sql t.db "SELECT count(DISTINCT run_id) FROM lock_use WHERE object GLOB '$object*'")" 2 "runs that know the lock $object"
done
[ "$(cat /proc/sys/kernel/randomize_va_space)" = 0 ] ||
    [ "$(sql t.db "SELECT count(DISTINCT address) FROM lock_use WHERE object = 'own_locks:queue_lock'")" = 2 ] ||
    fail 'both runs had it at one address: the test proves nothing'
sql t.db "SELECT DISTINCT subject FROM doctor WHERE section IN ('lock', 'cell', 'channel')" >subjects.txt
[ -s subjects.txt ] || fail 'the doctor found nothing in contended locks'
grep '0x' subjects.txt && fail 'the doctor names addresses'

# Two locks in blocks of one function are two locks, and so are the condition variables beside them, also in the next run; many are a crowd.
for i in 1 2; do expect_status 0 profile -q --interval=0.01 -- "$FIXTURES/heap_locks" >out.txt; done
for run in latest latest~1; do
    queues() { "$CLEAR" query --db t.db --format csv "$1" run=$run | tail -n +2 | tr -d '\r' | tr '\n' ' '; }
    expect_equal "$(queues "SELECT sum(acquires) FROM lock_use WHERE run_id = :run AND object GLOB 'queue+*' GROUP BY object ORDER BY object")" \
        "$(awk '$1 == "lock" { printf "%s ", $3 }' out.txt)" "acquisitions of both locks in $run"
    expect_equal "$(queues "SELECT sum(timeouts) FROM wait_use WHERE run_id = :run AND object GLOB 'queue+*' GROUP BY object ORDER BY object")" \
        "$(awk '$1 == "lock" { printf "%s ", $4 }' out.txt)" "waits on both condition variables in $run"
    expect_equal "$(queues "SELECT count(DISTINCT object), sum(acquires) FROM lock_use WHERE run_id = :run AND object GLOB 'crowd+0*'")" \
        "65,$(awk '$1 == "crowd" { print $3 }' out.txt) " "the crowd in $run"
done
expect_equal "$(sql t.db "SELECT DISTINCT object FROM lock_use WHERE object GLOB 'queue+*' ORDER BY object" | tr '\n' ' ')" 'queue+0 queue+0#2 ' 'their names'
# A comparison takes the blocks of one function together, because threads may use them in another order. Nothing has changed.
"$CLEAR" doctor --db t.db --diff latest~1 latest --json >diff.json || [ $? -le 1 ] || fail 'diff'
grep -q '"queue+0"' diff.json || fail "no lock: $(cat diff.json)"
grep -q '#2' diff.json && fail "a comparison tells them apart: $(cat diff.json)"
check_db t.db
