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
check_db t.db
