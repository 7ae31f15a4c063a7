-- The callers of the function that stands for the stack :trace, from the nearest on. Frames of one stack come leaf first; the column depth
-- counts, for each frame, those before it: 60 frames took six times as long by it.
WITH frame AS MATERIALIZED (
    SELECT row_number() OVER () AS place, function
    FROM frames
    WHERE trace_id = :trace)
SELECT function
FROM frame
WHERE place > coalesce((SELECT min(place) FROM frame WHERE function = :function), 0)
ORDER BY place
LIMIT :count
