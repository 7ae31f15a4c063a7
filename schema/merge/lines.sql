-- The functions and lines of location :location of a warehouse that is merged, the innermost first.
SELECT
    function_id,
    line,
    "column"
FROM main.location_lines
WHERE location_id = :location
ORDER BY position
