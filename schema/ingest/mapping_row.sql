-- A mapping that is new. Its parameters are those of mapping_find.sql.
INSERT INTO mappings(filename, build_id, memory_start, memory_limit, file_offset, has_functions, has_filenames,
                     has_line_numbers, has_inline_frames)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);
