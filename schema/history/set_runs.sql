-- The runs of :command in the set :set of `clear bench`, oldest first.
SELECT runs.id
FROM tags
JOIN runs ON runs.id = tags.run_id
WHERE tags.key = 'bench' AND tags.value = :set AND runs.command = :command
ORDER BY runs.started_ns, runs.id;
