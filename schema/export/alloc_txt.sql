-- Lines of alloc.txt of run :run: all processes together, one a stack. Of windows that end up to :from only what they left in
-- use counts.
SELECT
    traces.stack,
    coalesce(sum(sites.alloc_count) FILTER (WHERE profiles.time_ns > :from), 0),
    coalesce(sum(sites.alloc_bytes) FILTER (WHERE profiles.time_ns > :from), 0),
    coalesce(sum(sites.free_count) FILTER (WHERE profiles.time_ns > :from), 0),
    coalesce(sum(sites.free_bytes) FILTER (WHERE profiles.time_ns > :from), 0),
    sum(sites.alloc_bytes) - sum(sites.free_bytes)
FROM sites
JOIN profiles ON profiles.id = sites.profile_id
JOIN traces ON traces.id = sites.trace_id
WHERE profiles.run_id = :run AND profiles.kind = 'heap' AND profiles.time_ns <= :to
GROUP BY sites.trace_id
HAVING max(profiles.time_ns) > :from OR sum(sites.alloc_count) <> sum(sites.free_count)
ORDER BY
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = sites.trace_id), sites.trace_id);
