-- The stack :trace from where a person would point: from the frame that the finding is named by, else (a lock, a cell) from
-- the first one that is no wrapper of an allocator or lock, as in the view places.
SELECT function, file, line, module
FROM frames
WHERE trace_id = :trace
  AND depth >= coalesce((SELECT min(depth) FROM frames WHERE trace_id = :trace AND function = :subject),
                        (SELECT min(depth) FROM frames WHERE trace_id = :trace
                             AND function = (SELECT function FROM places WHERE trace_id = :trace)),
                        0)
ORDER BY depth
LIMIT :count
