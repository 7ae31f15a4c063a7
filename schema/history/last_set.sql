-- The set of `clear bench` that has the newest run of :command, other than :set.
SELECT tags.value
FROM runs
JOIN tags ON tags.run_id = runs.id AND tags.key = 'bench'
WHERE runs.command = :command AND tags.value <> :set
ORDER BY runs.started_ns DESC, runs.id DESC
LIMIT 1;
