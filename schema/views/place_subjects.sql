DROP VIEW IF EXISTS place_subjects;
CREATE VIEW place_subjects AS
-- Question: what is a stack that allocates called in the view series, so that it has the same name in the next build?
-- Rows: one per trace.
-- Columns:
--   trace_id [id]: the stack
--   function [text]: as in the view places, named as in the view plain_functions
--   site [text]: FUNCTION FILE SIGNATURE: the file without its directories, the signature (traces.signature) in hex. No line: an edit
--     above the call would change it
SELECT
    places.trace_id,
    coalesce(plain_functions.name, places.function) AS function,
    coalesce(plain_functions.name, places.function)
    || rtrim(' ' || substr(places.file, 1 + length(rtrim(places.file, replace(places.file, '/', '')))))
    || printf(' %016x', traces.signature) AS site
FROM traces
JOIN places ON places.trace_id = traces.id
LEFT JOIN plain_functions ON plain_functions.function_id = traces.function_id;
