-- The statements of cli/sql/schema.c.

-- @text: The text of the table :name with its indexes, or of the view :name with its triggers.
SELECT sql
FROM main.sqlite_schema
WHERE sql IS NOT NULL AND tbl_name = :name COLLATE NOCASE
ORDER BY rowid

-- @texts: The text of everything in the file: tables and indexes, views, triggers.
SELECT sql
FROM main.sqlite_schema
WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'
ORDER BY CASE type WHEN 'view' THEN 1 WHEN 'trigger' THEN 2 ELSE 0 END, rowid
