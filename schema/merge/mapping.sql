-- Mapping :id of a warehouse that is merged.
SELECT
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
