-- Every column of a table in the file that names a row of table :target, by the foreign keys of the schema, those of users' tables
-- included.
SELECT
    tables.name,
    reference."from"
FROM main.sqlite_schema AS tables
JOIN pragma_foreign_key_list(tables.name) AS reference
WHERE tables.type = 'table'
  AND reference."table" = :target COLLATE NOCASE
  AND coalesce(reference."to", 'id') = 'id'
ORDER BY tables.name, reference."from"
