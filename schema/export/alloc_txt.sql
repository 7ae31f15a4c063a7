-- Lines of alloc.txt of run :run: all processes together, one a stack.
SELECT
    traces.stack,
    sum(sites.alloc_count),
    sum(sites.alloc_bytes),
    sum(sites.free_count),
    sum(sites.free_bytes),
    sum(sites.alloc_bytes) - sum(sites.free_bytes)
FROM sites
JOIN profiles ON profiles.id = sites.profile_id
JOIN traces ON traces.id = sites.trace_id
WHERE profiles.run_id = :run AND profiles.kind = 'heap'
GROUP BY sites.trace_id
ORDER BY sites.trace_id;
