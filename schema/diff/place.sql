-- The signature of the stack :trace, which is the same in another file or build, the function and line that stand for it, and those that
-- were running.
SELECT
    traces.signature,
    iif(places.function = '', '(no stack)', places.function) AS function,
    places.file,
    places.line,
    places.module,
    iif(leaves.function = '', '(no stack)', leaves.function) AS leaf_function,
    leaves.file AS leaf_file,
    leaves.line AS leaf_line,
    leaves.module AS leaf_module
FROM traces
JOIN places ON places.trace_id = traces.id
JOIN leaves ON leaves.trace_id = traces.id
WHERE traces.id = :trace
