-- What makes a stack the same one in another file or build, and where a person would point in it.
SELECT
    traces.signature,
    iif(places.function = '', '(no stack)', places.function) AS function,
    places.file,
    places.line,
    places.module
FROM traces
JOIN places ON places.trace_id = traces.id
WHERE traces.id = :trace
