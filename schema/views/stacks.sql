DROP VIEW IF EXISTS stacks;
CREATE VIEW stacks AS
-- Question: how does a stack look in one line, as flame graph tools read it?
-- Rows: one per trace.
-- Columns:
--   trace_id [id]: the stack
--   stack [text]: function names as in the view frames, root first, joined by ';'. A ';' in a name is written ':'. Empty for
--     trace 0
SELECT
    traces.id AS trace_id,
    coalesce((SELECT group_concat(function, ';')
              FROM (SELECT replace(coalesce(functions.name,
                                            CASE WHEN mappings.filename <> ''
                                                 THEN substr(mappings.filename,
                                                             1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', ''))))
                                                      || printf('+0x%x', locations.address - mappings.memory_start
                                                                         + mappings.file_offset) END,
                                            printf('0x%x', locations.address)), ';', ':') AS function
                    FROM json_each(traces.stack) AS step
                    JOIN locations ON locations.id = CAST(step.value AS BIGINT)
                    JOIN mappings ON mappings.id = locations.mapping_id
                    LEFT JOIN location_lines ON location_lines.location_id = locations.id
                    LEFT JOIN functions ON functions.id = location_lines.function_id
                    ORDER BY CAST(step.key AS BIGINT) DESC, location_lines.position DESC) AS frames), '') AS stack
FROM traces;
