-- The names and texts of the file's views that have no temporary view of the same name.
SELECT name, sql
FROM main.sqlite_schema
WHERE type = 'view' AND name NOT IN (SELECT name FROM temp.sqlite_schema)
