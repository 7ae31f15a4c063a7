-- At most $2 runs of project $1 from uuid $3 to $4.
SELECT run, month, started_ns
FROM clear.runs
WHERE project = $1 AND run BETWEEN $3::uuid AND $4::uuid
ORDER BY run
LIMIT $2::bigint
