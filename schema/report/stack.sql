-- The top of the stack :trace: from the frame of the function :subject on, or, if the subject is a lock or a cell, from the first
-- frame that is not a wrapper of an allocator or lock, as in the view places. Not by the column depth, as in diff/callers.sql.
WITH frame AS MATERIALIZED (
    SELECT row_number() OVER () AS place, function, file, line, module
    FROM frames
    WHERE trace_id = :trace)
SELECT function, file, line, module
FROM frame
WHERE place >= coalesce((SELECT min(place) FROM frame WHERE function = :subject),
                        (SELECT min(place) FROM frame
                             WHERE function = (SELECT function FROM places WHERE trace_id = :trace)),
                        1)
ORDER BY place
LIMIT :count
