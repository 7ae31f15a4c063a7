-- The statements of ingest/read/warehouse/source_names.c.

-- @label_set: Label set :id of a warehouse that is merged, and whether it is a list of labels.
SELECT
    labels,
    json_valid(labels) AND json_type(labels) = 'array'
FROM main.label_sets
WHERE id = :id

-- @lines: The functions and lines of location :location of a warehouse that is merged, the innermost first.
SELECT
    function_id,
    line,
    "column"
FROM main.location_lines
WHERE location_id = :location
ORDER BY position
