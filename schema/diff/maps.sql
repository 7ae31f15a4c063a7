-- The stacks of one run that map memory themselves, its processes, windows and uses summed.
SELECT
    maps.trace_id,
    sum(maps.map_bytes) AS map_bytes,
    sum(maps.map_count) AS map_count
FROM profiles
JOIN maps ON maps.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY maps.trace_id
