-- Whether the peak of one run is exact: each of its processes is known to have had one thread only, and no heap profile is a sample.
SELECT
    count(*) > 0
    AND min(threads_most) = 1
    AND max(threads_most) = 1
    AND NOT EXISTS (
        SELECT 1
        FROM profiles
        WHERE profiles.run_id = :run AND kind = 'heap' AND (sample_n > 1 OR period_type = 'space' AND period > 1)
    ) AS is_exact
FROM processes
WHERE run_id = :run
