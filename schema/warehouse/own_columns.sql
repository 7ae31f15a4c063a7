-- Every column of every table of an empty warehouse, in order, its type, and the table of which it names a row by its id: '' for none. The build asks
-- it (schema/empty_file.h).
SELECT
    tables.name,
    columns.name,
    columns.type,
    coalesce(reference."table", '')
FROM main.sqlite_schema AS tables
JOIN pragma_table_info(tables.name) AS columns
LEFT JOIN pragma_foreign_key_list(tables.name) AS reference
    ON reference."from" = columns.name AND coalesce(reference."to", 'id') = 'id'
WHERE tables.type = 'table'
ORDER BY tables.name, columns.cid
