-- The figure :figure of the subjects that :of (GLOB) matches, in the runs :runs (a JSON array of ids), but no findings: run, figure,
-- subject, value. :scope is the first word of :of, or NULL where that is a pattern.
SELECT run_id, figure, subject, value
FROM series
WHERE figure = :figure AND (:scope IS NULL OR scope = :scope) AND scope <> 'run' AND scope <> 'finding' AND value IS NOT NULL
  AND subject GLOB :of AND run_id IN (SELECT value FROM json_each(:runs));
