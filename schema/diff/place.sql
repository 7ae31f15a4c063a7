-- The signature of the stack :trace, which is the same in another file or build, and the function and line that stand for it.
SELECT
    traces.signature,
    iif(places.function = '', '(no stack)', places.function) AS function,
    places.file,
    places.line,
    places.module
FROM traces
JOIN places ON places.trace_id = traces.id
WHERE traces.id = :trace
