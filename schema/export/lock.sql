-- The lock samples of profile :profile, in the columns of `clear export --sql`. Contentions, delay and acquisitions count
-- shared and exclusive operations, hold is exclusive. Where no caller was recorded, the lock itself is the only frame.
SELECT
    locks.trace_id,
    CASE WHEN locks.trace_id = 0 THEN objects.name END AS function,
    objects.name AS "label:object",
    locks.contended + locks.read_contended AS "contentions/count",
    locks.wait_ns + locks.read_wait_ns AS "delay/nanoseconds",
    locks.hold_ns AS "hold/nanoseconds",
    locks.acquires + locks.read_acquires AS "acquisitions/count"
FROM locks
JOIN objects ON objects.id = locks.object_id
WHERE locks.profile_id = :profile
ORDER BY locks.trace_id, locks.object_id;
