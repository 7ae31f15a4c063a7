-- The versioned cells of one run, as in lock.sql. cow_bytes: bytes that its writes copied.
SELECT
    iif(cells.trace_id <> 0, cells.trace_id, objects.trace_id) AS trace_id,
    objects.identity,
    objects.name,
    sum(cells.retries) AS retries,
    sum(cells.commits) AS commits,
    sum(cells.reads) AS reads,
    sum(cells.struct_size * (cells.commits + cells.retries)) AS cow_bytes
FROM profiles
JOIN cells ON cells.profile_id = profiles.id
JOIN objects ON objects.id = cells.object_id
WHERE profiles.run_id = :run
GROUP BY cells.object_id, 1
