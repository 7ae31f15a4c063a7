DROP VIEW IF EXISTS leaf_subjects;
CREATE VIEW leaf_subjects AS
-- Question: what is a stack of CPU samples called in the view series, so that it has the same name in the next build?
-- Rows: one per trace.
-- Columns:
--   trace_id [id]: the stack
--   function [text]: as in the view leaves, named as in the view plain_functions
--   site [text]: FUNCTION FILE SIGNATURE, as in the view place_subjects, with that function
SELECT
    leaves.trace_id,
    coalesce(plain_functions.name, leaves.function) AS function,
    coalesce(plain_functions.name, leaves.function)
    || rtrim(' ' || substr(leaves.file, 1 + length(rtrim(leaves.file, replace(leaves.file, '/', '')))))
    || printf(' %016x', traces.signature) AS site
FROM traces
JOIN leaves ON leaves.trace_id = traces.id
LEFT JOIN location_lines ON location_lines.location_id = CAST(nullif(rtrim(substr(traces.stack, 2, instr(traces.stack || ',', ',') - 2), ']'), '') AS BIGINT)
                        AND location_lines.position = 0
LEFT JOIN plain_functions ON plain_functions.function_id = location_lines.function_id;
