-- Location :id of a file, with the functions, lines and columns of it as JSON arrays, the innermost first.
SELECT
    mapping_id,
    address,
    is_folded,
    (SELECT json_group_array(function_id)
     FROM (SELECT function_id FROM main.location_lines WHERE location_id = :id ORDER BY position)),
    (SELECT json_group_array(line) FROM (SELECT line FROM main.location_lines WHERE location_id = :id ORDER BY position)),
    (SELECT json_group_array("column")
     FROM (SELECT "column" FROM main.location_lines WHERE location_id = :id ORDER BY position))
FROM main.locations
WHERE id = :id
