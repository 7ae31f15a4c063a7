-- The values of one figure of one run, for the subjects of one scope that match.
SELECT subject, value
FROM series
WHERE run_id = :run AND figure = :figure AND scope = :scope AND subject GLOB :subject
