-- The tags of that object, of which the run :id may have some.
INSERT INTO tags(run_id, key, value)
SELECT :id, key, value
FROM json_each(:run, '$.tags')
WHERE true
ON CONFLICT (run_id, key) DO NOTHING
