-- The statements of cli/history/bench.c.

-- @last_set: The set of `clear bench` that has the newest run of :command, other than :set.
SELECT tags.value
FROM runs
JOIN tags ON tags.run_id = runs.id AND tags.key = 'bench'
WHERE runs.command = :command AND tags.value <> :set
ORDER BY runs.started_ns DESC, runs.id DESC
LIMIT 1;

-- @set_runs: The runs of :command in the set :set of `clear bench`, oldest first.
SELECT runs.id
FROM tags
JOIN runs ON runs.id = tags.run_id
WHERE tags.key = 'bench' AND tags.value = :set AND runs.command = :command
ORDER BY runs.started_ns, runs.id;
