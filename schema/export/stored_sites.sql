-- What came in as heap profiles of run :run, row by row: allocated and in use, as objects and bytes.
SELECT
    sites.trace_id,
    sites.label_set_id,
    sites.alloc_count,
    sites.alloc_bytes,
    sites.alloc_count - sites.free_count,
    sites.alloc_bytes - sites.free_bytes
FROM sites
JOIN profiles ON profiles.id = sites.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind
ORDER BY sites.profile_id, sites.trace_id, sites.label_set_id;
