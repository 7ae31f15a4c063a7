-- The runs of project $1 with the command of its newest run.
SELECT run, month, started_ns
FROM clear.runs
WHERE project = $1
  AND command = (SELECT command FROM clear.runs WHERE project = $1 ORDER BY started_ns DESC, run DESC LIMIT 1)
ORDER BY started_ns DESC, run DESC
LIMIT $2::bigint
