-- Every figure of the whole run :run, in the order of the catalogue.
SELECT series_runs.figure, value
FROM series_runs
LEFT JOIN figure_kinds ON figure_kinds.figure = series_runs.figure
WHERE run_id = :run AND value IS NOT NULL
ORDER BY place;
