DROP VIEW IF EXISTS frames;
CREATE VIEW frames AS
-- Question: which functions are in a stack, in which order?
-- Rows: one per frame, inlined functions included.
-- Columns:
--   trace_id [id]: the stack
--   depth [number]: 0 is the leaf. Each inlined function has a depth of its own, so (trace_id, depth) is unique
--   location_id [id]: the location; the same for frames of one machine address
--   function [text]: its name; without symbols as in the view places
--   file [text]: its source file; empty: unknown
--   line [line]: in that file; 0: unknown
--   module [text]: as in the view places
--   inlined [0 or 1]: 1: the function was inlined into the one at depth + 1
SELECT
    traces.id AS trace_id,
    -- The number of frames in locations before this one, and the position in this one. Not a window function: SQLite would unpack
    -- every stack of the file for one trace. This is computed only if depth is used.
    (SELECT count(*)
     FROM json_each(traces.stack) AS before
     LEFT JOIN location_lines AS nearer ON nearer.location_id = CAST(before.value AS BIGINT)
     WHERE CAST(before.key AS BIGINT) < CAST(step.key AS BIGINT)) + coalesce(location_lines.position, 0) AS depth,
    locations.id AS location_id,
    coalesce(functions.name,
             CASE WHEN mappings.filename <> ''
                  THEN substr(mappings.filename, 1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', ''))))
                       || printf('+0x%x', locations.address - mappings.memory_start + mappings.file_offset) END,
             printf('0x%x', locations.address)) AS function,
    coalesce(functions.filename, '') AS file,
    coalesce(location_lines.line, 0) AS line,
    substr(mappings.filename, 1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', '')))) AS module,
    EXISTS (SELECT 1
            FROM location_lines AS outer_line
            WHERE outer_line.location_id = locations.id AND outer_line.position > location_lines.position) AS inlined
FROM traces
JOIN json_each(traces.stack) AS step ON true
JOIN locations ON locations.id = CAST(step.value AS BIGINT)
JOIN mappings ON mappings.id = locations.mapping_id
LEFT JOIN location_lines ON location_lines.location_id = locations.id
LEFT JOIN functions ON functions.id = location_lines.function_id;
