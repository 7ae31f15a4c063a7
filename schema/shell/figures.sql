-- The figures that the latest run has of the whole run, for completion.
SELECT figure
FROM series_runs
WHERE run_id IN (SELECT run_id FROM run_order WHERE place = 1) AND value IS NOT NULL
ORDER BY figure;
