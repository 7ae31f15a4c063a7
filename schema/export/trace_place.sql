-- The place that stands for a :trace.
SELECT function, file, line
FROM places
WHERE trace_id = :trace;
