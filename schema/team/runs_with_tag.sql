-- The $2 newest runs of project $1 with tag $3 = $4; NULL: all.
SELECT runs.run, runs.month, runs.started_ns
FROM clear.tags
JOIN clear.runs ON runs.project = tags.project AND runs.month = tags.month AND runs.run = tags.run
WHERE tags.project = $1 AND tags.key = $3 AND md5(tags.value) = md5($4) AND tags.value = $4
ORDER BY runs.started_ns DESC, runs.run DESC
LIMIT $2::bigint
