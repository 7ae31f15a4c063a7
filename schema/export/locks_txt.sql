-- Lines of locks.txt of run :run: one a process, lock and caller, because an address means something in its process only.
SELECT
    printf('0x%x', locks.address),
    traces.stack,
    locks.acquires,
    locks.contended,
    locks.wait_ns,
    locks.max_wait_ns,
    locks.hold_ns,
    locks.max_hold_ns,
    locks.read_acquires,
    locks.read_contended,
    locks.read_wait_ns,
    locks.read_max_wait_ns
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
JOIN traces ON traces.id = locks.trace_id
WHERE profiles.run_id = :run AND profiles.kind = 'lock'
ORDER BY locks.profile_id, locks.address, locks.object_id, locks.trace_id;
