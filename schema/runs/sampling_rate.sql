-- How the heap of the run :run was sampled, the coarsest of its processes and windows: every how many events one was recorded, and every how
-- many bytes; 1 and 0: not at all.
SELECT
    coalesce(max(max(sample_n, 1)), 1) AS sample_n,
    coalesce(max(iif(period_type = 'space' AND sample_n <= 1 AND period > 1, period, 0)), 0) AS period
FROM profiles
WHERE run_id = :run AND kind = 'heap'
