-- The stacks of one run that allocated, its processes and windows summed. inuse: allocated and not freed.
SELECT
    sites.trace_id,
    sum(sites.alloc_bytes) AS alloc_bytes,
    sum(sites.alloc_count) AS alloc_count,
    sum(sites.alloc_bytes - sites.free_bytes) AS inuse_bytes,
    sum(sites.alloc_count - sites.free_count) AS inuse_count
FROM profiles
JOIN sites ON sites.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY sites.trace_id
