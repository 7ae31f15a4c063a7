-- The totals of the runs :runs (a JSON array of ids), those of :figure or, where it is NULL, all: run, figure, subject, value.
SELECT run_id, figure, subject, value
FROM series
WHERE scope = 'run' AND (:figure IS NULL OR figure = :figure) AND value IS NOT NULL
  AND run_id IN (SELECT value FROM json_each(:runs));
