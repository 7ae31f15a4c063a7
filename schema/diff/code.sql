-- What one run ran: its command line and the build ids of its programs.
SELECT runs.command || char(10) || coalesce(group_concat(build_id), '') AS code
FROM runs
LEFT JOIN (SELECT DISTINCT run_id, build_id FROM processes WHERE run_id = :run ORDER BY build_id) ON run_id = runs.id
WHERE runs.id = :run
GROUP BY runs.id
