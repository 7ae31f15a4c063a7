-- Every figure of the whole run :run, in the order of the catalogue.
SELECT series.figure, value
FROM series
LEFT JOIN figure_kinds ON figure_kinds.figure = series.figure
WHERE run_id = :run AND scope = 'run' AND value IS NOT NULL
ORDER BY place;
