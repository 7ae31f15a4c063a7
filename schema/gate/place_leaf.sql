-- File and line where the newest stack with that signature was running.
SELECT leaves.file, leaves.line
FROM traces
JOIN leaves ON leaves.trace_id = traces.id
WHERE traces.signature = :signature AND leaves.file <> ''
ORDER BY traces.id DESC
LIMIT 1
