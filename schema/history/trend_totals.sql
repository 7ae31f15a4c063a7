-- The totals of the runs :runs (a JSON array of ids), those of :figure or, where it is NULL, all: run, figure, subject, value; in the order of
-- the catalogue.
SELECT run_id, series.figure, subject, value
FROM series
LEFT JOIN figure_kinds ON figure_kinds.figure = series.figure
WHERE scope = 'run' AND (:figure IS NULL OR series.figure = :figure) AND value IS NOT NULL
  AND run_id IN (SELECT value FROM json_each(:runs))
ORDER BY place;
