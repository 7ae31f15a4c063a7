-- Every figure of the whole run :run.
SELECT figure, value
FROM series
WHERE run_id = :run AND scope = 'run' AND value IS NOT NULL;
