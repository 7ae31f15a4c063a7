-- The newest run with the tag :key=:value.
SELECT runs.id
FROM tags
JOIN runs ON runs.id = tags.run_id
WHERE tags.key = :key AND tags.value = :value
ORDER BY runs.started_ns DESC, runs.id DESC
LIMIT 1
