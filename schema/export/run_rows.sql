-- The statements of export/run_rows.c: a row of names that a run uses. What follows from other columns (hashes, signatures) is left out.

-- @function: Function :id.
SELECT id, name, system_name, filename, start_line
FROM main.functions
WHERE id = :id

-- @label_set: Label set :id.
SELECT id, labels
FROM main.label_sets
WHERE id = :id

-- @lines: The lines of location :id.
SELECT location_id, position, function_id, line, "column"
FROM main.location_lines
WHERE location_id = :id
ORDER BY position

-- @location: Location :id.
SELECT id, mapping_id, address, is_folded
FROM main.locations
WHERE id = :id

-- @mapping: Mapping :id.
SELECT
    id,
    filename,
    build_id,
    memory_start,
    memory_limit,
    file_offset,
    has_functions,
    has_filenames,
    has_line_numbers,
    has_inline_frames
FROM main.mappings
WHERE id = :id

-- @object: Object :id.
SELECT id, kind, identity, name, trace_id, "offset"
FROM main.objects
WHERE id = :id

-- @source_text: Source text :id.
SELECT id, text
FROM main.source_texts
WHERE id = :id

-- @trace: Stack :id.
SELECT id, stack
FROM main.traces
WHERE id = :id
