-- The number of fibers of one run.
SELECT coalesce(sum(total_fibers), 0) AS fibers
FROM profiles
JOIN fibers ON fibers.profile_id = profiles.id
WHERE profiles.run_id = :run
