-- The mapping with these columns, if it is stored already.
SELECT id
FROM mappings
WHERE filename = ?1 AND build_id = ?2 AND memory_start = ?3 AND memory_limit = ?4 AND file_offset = ?5
  AND has_functions = ?6 AND has_filenames = ?7 AND has_line_numbers = ?8 AND has_inline_frames = ?9;
