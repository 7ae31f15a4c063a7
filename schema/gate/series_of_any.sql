-- The same for the subjects of every scope but the whole run.
SELECT subject, value
FROM series
WHERE run_id = :run AND figure = :figure AND scope <> 'run' AND subject GLOB :subject
