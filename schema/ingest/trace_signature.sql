-- The signature of trace :trace, and the function that it is attributed to.
SELECT traces.signature, functions.name
FROM traces
LEFT JOIN functions ON functions.id = traces.function_id
WHERE traces.id = :trace;
