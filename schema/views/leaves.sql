DROP VIEW IF EXISTS leaves;
CREATE VIEW leaves AS
-- Question: which function and line was running, of a stack of CPU samples?
-- Rows: one per trace; trace 0, "no stack", has an empty one.
-- Columns:
--   trace_id [id]: the stack
--   function [text]: the innermost function of the first frame, wrappers of allocators included. Without symbols as in the view places
--   file [text]: source file of the function; empty: unknown
--   line [line]: in that file; 0: unknown
--   module [text]: as in the view places
SELECT
    traces.id AS trace_id,
    coalesce(functions.name,
             CASE WHEN locations.mapping_id <> 0 AND mappings.filename <> ''
                  THEN substr(mappings.filename, 1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', ''))))
                       || printf('+0x%x', locations.address - mappings.memory_start + mappings.file_offset) END,
             CASE WHEN locations.id IS NOT NULL THEN printf('0x%x', locations.address) END,
             '') AS function,
    coalesce(functions.filename, '') AS file,
    coalesce(location_lines.line, 0) AS line,
    coalesce(substr(mappings.filename,
                    1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', '')))), '') AS module
FROM traces
-- The first id of the JSON array, as a text: SQLite 3.40 refuses ->> in a view where the schema is not trusted.
LEFT JOIN locations ON locations.id = CAST(nullif(rtrim(substr(traces.stack, 2, instr(traces.stack || ',', ',') - 2), ']'), '') AS BIGINT)
LEFT JOIN location_lines ON location_lines.location_id = locations.id AND location_lines.position = 0
LEFT JOIN functions ON functions.id = location_lines.function_id
LEFT JOIN mappings ON mappings.id = locations.mapping_id;
