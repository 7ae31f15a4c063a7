-- The indexes that somebody defined: table, index, definition.
SELECT tbl_name, name, sql
FROM main.sqlite_schema
WHERE type = 'index' AND sql IS NOT NULL
