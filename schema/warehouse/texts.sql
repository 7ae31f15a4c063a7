-- The text of everything in the file: tables and indexes, views, triggers.
SELECT sql
FROM main.sqlite_schema
WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'
ORDER BY CASE type WHEN 'view' THEN 1 WHEN 'trigger' THEN 2 ELSE 0 END, rowid
