-- What has the name :name in the file and is no ordinary table.
SELECT name
FROM main.sqlite_schema
WHERE name = :name COLLATE NOCASE AND (type <> 'table' OR rootpage = 0)
