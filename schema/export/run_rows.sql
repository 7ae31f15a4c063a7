-- The statements of export/run_rows.c: rows of names that a run uses, from id :first on, for schema/walk.h. What follows from other columns
-- (hashes, signatures) is left out.

-- @function: Functions.
SELECT id, name, system_name, filename, start_line
FROM main.functions
WHERE id >= :first
ORDER BY id

-- @label_set: Label sets.
SELECT id, labels
FROM main.label_sets
WHERE id >= :first
ORDER BY id

-- @lines: The lines of location :id.
SELECT location_id, position, function_id, line, "column"
FROM main.location_lines
WHERE location_id = :id
ORDER BY position

-- @location: Locations.
SELECT id, mapping_id, address, is_folded
FROM main.locations
WHERE id >= :first
ORDER BY id

-- @mapping: Mappings.
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
WHERE id >= :first
ORDER BY id

-- @object: Objects.
SELECT id, kind, identity, name, trace_id, "offset"
FROM main.objects
WHERE id >= :first
ORDER BY id

-- @source_text: Source texts.
SELECT id, text
FROM main.source_texts
WHERE id >= :first
ORDER BY id

-- @trace: Stacks.
SELECT id, stack
FROM main.traces
WHERE id >= :first
ORDER BY id
