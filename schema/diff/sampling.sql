-- How the heap of one run was sampled: one event in `sample_n`, or by size with a mean of `period` bytes between samples (0: not by size).
SELECT
    coalesce(max(sample_n), 1) AS sample_n,
    coalesce(max(CASE WHEN period_type = 'space' AND period > 1 THEN period END), 0) AS period
FROM profiles
WHERE run_id = :run AND kind = 'heap'
