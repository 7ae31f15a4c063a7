-- Stack :id of a file: its locations, its signature, and the frame to show.
SELECT
    stack,
    signature,
    coalesce(location_id, 0),
    coalesce(function_id, 0),
    line
FROM main.traces
WHERE id = :id
