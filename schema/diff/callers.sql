-- The callers of the function that stands for the stack :trace, from the nearest on.
SELECT function
FROM frames
WHERE trace_id = :trace
  AND depth > coalesce((SELECT min(depth) FROM frames WHERE trace_id = :trace AND function = :function), -1)
ORDER BY depth
LIMIT :count
