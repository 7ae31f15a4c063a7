-- The lock samples of the windows of run :run that end after :from and up to :to, in the columns of `clear export --sql`.
-- Contentions, delay and acquisitions count shared and exclusive operations, hold is exclusive. Contentions are also waits
-- that ended without the lock. Where no caller was recorded, the lock itself is the only frame.
SELECT
    locks.trace_id,
    CASE WHEN locks.trace_id = 0 THEN objects.name END AS function,
    objects.name AS "label:object",
    sum(locks.contended + locks.read_contended + locks.timeouts + locks.unfinished) AS "contentions/count",
    sum(locks.wait_ns + locks.read_wait_ns) AS "delay/nanoseconds",
    sum(locks.hold_ns) AS "hold/nanoseconds",
    sum(locks.acquires + locks.read_acquires) AS "acquisitions/count"
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
JOIN objects ON objects.id = locks.object_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), locks.trace_id, locks.object_id
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = locks.trace_id), locks.trace_id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = locks.object_id), locks.object_id);
