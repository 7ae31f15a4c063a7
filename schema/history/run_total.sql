-- The figure :figure of the whole run :run. NULL or no row: the run did not record it.
SELECT value
FROM series
WHERE run_id = :run AND figure = :figure AND scope = 'run';
