-- What came in as contention profiles of run :run, row by row: contentions and delay.
SELECT
    locks.trace_id,
    0 AS label_set_id,
    locks.contended + locks.read_contended,
    locks.wait_ns + locks.read_wait_ns
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind
ORDER BY locks.profile_id, locks.trace_id;
