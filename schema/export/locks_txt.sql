-- Lines of locks.txt of run :run: one a process, lock and caller, because an address means something in its process only; over
-- the windows that end after :from and up to :to.
SELECT
    printf('0x%x', locks.address),
    traces.stack,
    sum(locks.acquires),
    sum(locks.contended),
    sum(locks.wait_ns),
    max(locks.max_wait_ns),
    sum(locks.hold_ns),
    max(locks.max_hold_ns),
    sum(locks.read_acquires),
    sum(locks.read_contended),
    sum(locks.read_wait_ns),
    max(locks.read_max_wait_ns)
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
JOIN traces ON traces.id = locks.trace_id
WHERE profiles.run_id = :run AND profiles.kind = 'lock' AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), locks.address, locks.object_id, locks.trace_id
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    locks.address,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = locks.object_id), locks.object_id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = locks.trace_id), locks.trace_id);
