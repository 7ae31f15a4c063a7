-- The findings of the run :run whose subject :of (GLOB) matches: run, figure, subject, number.
SELECT run_id, figure, subject, value
FROM series
WHERE figure = 'findings' AND scope = 'finding' AND subject GLOB :of AND run_id = :run;
