DROP VIEW IF EXISTS place_names;
CREATE VIEW place_names AS
-- Question: how is the place of a stack named in a sentence?
-- Rows: one per trace, as in the view places.
-- Columns:
--   trace_id [id]: the stack
--   name [text]: its function, and behind that the file without directories and the line where they are known: read_all (in.c:12)
SELECT
    trace_id,
    function || CASE WHEN line > 0
                     THEN ' (' || substr(file, 1 + length(rtrim(file, replace(file, '/', '')))) || ':' || line || ')'
                     ELSE '' END AS name
FROM places;
