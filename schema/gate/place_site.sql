-- File and line of the newest stack with that signature, as the view places shows it.
SELECT places.file, places.line
FROM traces
JOIN places ON places.trace_id = traces.id
WHERE traces.signature = :signature AND places.file <> ''
ORDER BY traces.id DESC
LIMIT 1
