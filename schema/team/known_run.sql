-- Has the store ($1: project) the run with month $2 and uuid $3, or one that was read from the file with hash $4?
SELECT 1
FROM clear.run_names
WHERE project = $1 AND month = $2 AND run = $3
UNION ALL
SELECT 1
FROM clear.runs
WHERE project = $1 AND content_hash = $4
LIMIT 1
