DROP VIEW IF EXISTS trace_languages;
CREATE VIEW trace_languages AS
-- Question: which language is the line written in that stands for a stack?
-- Rows: one per trace.
-- Columns:
--   trace_id [id]: the stack
--   language [text]: c, c++, rust or clear, by the mangled name and the source file of its function (view places); empty: another one,
--     or unknown
SELECT
    traces.id AS trace_id,
    CASE WHEN filename LIKE '%.cht' THEN 'clear'
         WHEN filename LIKE '%.rs' OR substr(system_name, 1, 2) = '_R' THEN 'rust'
         WHEN substr(system_name, 1, 3) = '_ZN' AND system_name LIKE '%17h________________E%' THEN 'rust'
         WHEN substr(system_name, 1, 2) = '_Z' OR filename LIKE '%.cc' OR filename LIKE '%.cpp' OR filename LIKE '%.cxx' OR filename LIKE '%.c++'
              OR filename LIKE '%.hpp' OR filename LIKE '%.hh' OR filename LIKE '%.hxx' OR filename LIKE '%/c++/%' THEN 'c++'
         WHEN filename LIKE '%.c' OR filename LIKE '%.h' THEN 'c'
         ELSE '' END AS language
FROM traces
LEFT JOIN functions ON functions.id = traces.function_id;
