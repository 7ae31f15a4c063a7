-- The value of one figure of one run for one subject; the empty subject is the whole run.
SELECT subject, value
FROM series
WHERE run_id = :run AND figure = :figure AND scope = :scope AND subject = :subject
