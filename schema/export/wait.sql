-- The samples of waits for what is no lock, of the windows of run :run that end after :from and up to :to, in the columns of
-- `clear export --sql`. Where no caller was recorded, the object itself is the only frame. What nobody waited for is left out.
SELECT
    locks.trace_id,
    CASE WHEN locks.trace_id = 0 THEN objects.name END AS function,
    objects.name AS "label:object",
    locks.kind AS "label:kind",
    sum(locks.contended + locks.timeouts + locks.unfinished) AS "waits/count",
    sum(locks.wait_ns) AS "delay/nanoseconds"
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
JOIN objects ON objects.id = locks.object_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), locks.trace_id, locks.object_id, locks.kind
HAVING sum(locks.contended + locks.timeouts + locks.unfinished) > 0 OR sum(locks.wait_ns) > 0
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = locks.trace_id), locks.trace_id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = locks.object_id), locks.object_id),
    locks.kind;
