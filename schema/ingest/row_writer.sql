-- The statements of ingest/writer/row_writer.c.

-- @mapping_find: The mapping with these columns, if it is stored already.
SELECT id
FROM mappings
WHERE filename = ?1 AND build_id = ?2 AND memory_start = ?3 AND memory_limit = ?4 AND file_offset = ?5
  AND has_functions = ?6 AND has_filenames = ?7 AND has_line_numbers = ?8 AND has_inline_frames = ?9;

-- @mapping_row: A mapping that is new. Its parameters are those of mapping_find.
INSERT INTO mappings(filename, build_id, memory_start, memory_limit, file_offset, has_functions, has_filenames,
                     has_line_numbers, has_inline_frames)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);
