-- The locations of stack :id of a file.
SELECT stack
FROM main.traces
WHERE id = :id
