-- The heap samples of run :run, all its processes together, in the columns of `clear export --sql`.
-- addr is the place that a person would point at. A profile that came in with its own sample types goes out with the labels
-- it had, and no more.
SELECT
    sites.trace_id,
    sites.label_set_id,
    CASE WHEN max(profiles.process_id) IS NOT NULL OR min(profiles.sample_types) = '[]'
        THEN printf('0x%x', locations.address)
    END AS "label:addr",
    sum(sites.alloc_count) AS "alloc_objects/count",
    sum(sites.alloc_bytes) AS "alloc_space/bytes",
    sum(sites.alloc_count) - sum(sites.free_count) AS "inuse_objects/count",
    sum(sites.alloc_bytes) - sum(sites.free_bytes) AS "inuse_space/bytes"
FROM sites
JOIN profiles ON profiles.id = sites.profile_id
JOIN traces ON traces.id = sites.trace_id
LEFT JOIN locations ON locations.id = traces.location_id
WHERE profiles.run_id = :run AND profiles.kind = 'heap'
GROUP BY sites.trace_id, sites.label_set_id
ORDER BY sites.trace_id, sites.label_set_id;
