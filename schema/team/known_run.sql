-- Has the store ($1: project) the run with month $2 and uuid $3, or one that was read from the file with hash $4? Of a run that its owner removed
-- the answer is the same. The column says whether the store lacks names of it.
SELECT EXISTS (SELECT 1
               FROM clear.wanting
               WHERE wanting.project = run_names.project AND wanting.month = run_names.month AND wanting.run = run_names.run)
FROM clear.run_names
WHERE project = $1 AND month = $2 AND run = $3
UNION ALL
SELECT false
FROM clear.runs
WHERE project = $1 AND content_hash = $4
UNION ALL
SELECT false
FROM clear.removed
WHERE project = $1 AND (run = $3 OR content_hash = $4)
LIMIT 1
