-- The text of the table :name, if the file has an ordinary table of that name.
SELECT sql
FROM main.sqlite_schema
WHERE type = 'table' AND name = :name AND rootpage > 0
