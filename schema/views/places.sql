DROP VIEW IF EXISTS places;
CREATE VIEW places AS
-- Question: which function and line stand for a stack?
-- Rows: one per trace; trace 0, "no stack", has an empty one.
-- Columns:
--   trace_id [id]: the stack
--   function [text]: of the first frame from the leaf that is not a wrapper of an allocator or lock (table wrappers). Without
--     symbols it is module+0xoffset, and 0xaddress where not even the module is known
--   file [text]: source file of the function; empty: unknown
--   line [line]: in that file; 0: unknown
--   module [text]: file name of the executable or library without its directories; its path is in mappings
SELECT
    traces.id AS trace_id,
    coalesce(functions.name,
             CASE WHEN locations.mapping_id <> 0 AND mappings.filename <> ''
                  THEN substr(mappings.filename, 1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', ''))))
                       || printf('+0x%x', locations.address - mappings.memory_start + mappings.file_offset) END,
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
