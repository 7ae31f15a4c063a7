-- The runs of the JSON array :ids are to be deleted.
INSERT OR IGNORE INTO temp.doomed_runs(id)
SELECT id
FROM main.runs
WHERE id IN (SELECT value FROM json_each(:ids))
