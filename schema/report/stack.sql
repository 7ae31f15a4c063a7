-- The top of the stack :trace: from the frame of the function :subject on, or, if the subject is a lock or a cell, from the first
-- frame that is not a wrapper of an allocator or lock, as in the view places.
SELECT function, file, line, module
FROM frames
WHERE trace_id = :trace
  AND depth >= coalesce((SELECT min(depth) FROM frames WHERE trace_id = :trace AND function = :subject),
                        (SELECT min(depth) FROM frames WHERE trace_id = :trace
                             AND function = (SELECT function FROM places WHERE trace_id = :trace)),
                        0)
ORDER BY depth
LIMIT :count
