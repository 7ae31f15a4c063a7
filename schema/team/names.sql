-- The names of a file, one by its id, as a store has them.

-- @function: Function :id of a file.
SELECT name, system_name, filename, start_line
FROM main.functions
WHERE id = :id

-- @location: Location :id of a file, with the functions, lines and columns of it as JSON arrays, the innermost first.
SELECT mapping_id, address, is_folded, (SELECT json_group_array(function_id)
     FROM (SELECT function_id FROM main.location_lines WHERE location_id = :id ORDER BY position)),
    (SELECT json_group_array(line) FROM (SELECT line FROM main.location_lines WHERE location_id = :id ORDER BY position)),
    (SELECT json_group_array("column")
     FROM (SELECT "column" FROM main.location_lines WHERE location_id = :id ORDER BY position))
FROM main.locations
WHERE id = :id

-- @trace: Stack :id of a file: its locations, its signature, and the frame to show.
SELECT stack, signature, coalesce(location_id, 0), coalesce(function_id, 0), line
FROM main.traces
WHERE id = :id

-- @label_set: Label set :id of a file.
SELECT labels
FROM main.label_sets
WHERE id = :id

-- @object: Lock, cell or channel :id of a file.
SELECT kind, identity, name, trace_id, "offset"
FROM main.objects
WHERE id = :id

-- @source_text: Source text :id of a file.
SELECT hash, text
FROM main.source_texts
WHERE id = :id

-- @subject: Subject :id of a file.
SELECT name
FROM main.subjects
WHERE id = :id

-- @is_label_set: Is :labels a list of labels?
SELECT json_valid(:labels) AND json_type(:labels) = 'array'
