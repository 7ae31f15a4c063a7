-- The $2 newest runs of project $1; NULL: all.
SELECT run, month, started_ns
FROM clear.runs
WHERE project = $1
ORDER BY started_ns DESC, run DESC
LIMIT $2::bigint
