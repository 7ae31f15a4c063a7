DROP VIEW IF EXISTS places;
CREATE VIEW places AS
-- Question: where would a person point, for one stack? One row a trace, also one (empty) for trace 0, "no stack".
-- function, file, line: the first frame from the leaf that is no wrapper of an allocator or lock (table wrappers). Without
--   symbols the function is 'module+0xoffset', or '0xaddress' where not even the module is known; file '' and line 0 are
--   unknown.
-- module: file name, without its directories, of the executable or library. Its path is in mappings.
SELECT
    traces.id AS trace_id,
    coalesce(functions.name,
             CASE WHEN locations.mapping_id <> 0 AND mappings.filename <> ''
                  THEN printf('%s+0x%x',
                              substr(mappings.filename,
                                     1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', '')))),
                              locations.address - mappings.memory_start + mappings.file_offset) END,
             CASE WHEN locations.id IS NOT NULL THEN printf('0x%x', locations.address) END,
             '') AS function,
    coalesce(functions.filename, '') AS file,
    traces.line AS line,
    coalesce(substr(mappings.filename,
                    1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', '')))), '') AS module
FROM traces
LEFT JOIN functions ON functions.id = traces.function_id
LEFT JOIN locations ON locations.id = traces.location_id
LEFT JOIN mappings ON mappings.id = locations.mapping_id;
