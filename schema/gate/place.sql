-- The statements of query/gate/place.c.

-- @finding: File and line of the first stack that a finding of the doctor names.
SELECT places.file, places.line
FROM doctor
JOIN places ON places.trace_id = json_extract(doctor.trace_ids, '$[0]')
WHERE doctor.run_id = :run AND 'finding ' || doctor.section || '-' || doctor.code || ' ' || doctor.subject = :subject
      AND places.file <> ''
LIMIT 1

-- @function: File and line of a function: where it begins, else the first of its lines that was seen.
SELECT
    functions.filename,
    coalesce(nullif(functions.start_line, 0),
             (SELECT min(line) FROM location_lines WHERE function_id = functions.id AND line > 0), 0) AS line
FROM functions
JOIN plain_functions ON plain_functions.function_id = functions.id
WHERE plain_functions.name = :name AND functions.filename <> ''
ORDER BY functions.id DESC
LIMIT 1

-- @leaf: File and line where the newest stack with that signature was running.
SELECT leaves.file, leaves.line
FROM traces
JOIN leaves ON leaves.trace_id = traces.id
WHERE traces.signature = :signature AND leaves.file <> ''
ORDER BY traces.id DESC
LIMIT 1

-- @site: File and line of the newest stack with that signature, as the view places shows it.
SELECT places.file, places.line
FROM traces
JOIN places ON places.trace_id = traces.id
WHERE traces.signature = :signature AND places.file <> ''
ORDER BY traces.id DESC
LIMIT 1
