-- The frames of a :trace, leaf first.
SELECT function, file, line, module
FROM frames
WHERE trace_id = :trace
ORDER BY depth;
