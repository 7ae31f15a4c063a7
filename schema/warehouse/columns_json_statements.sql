-- The statements of schema/columns_json.c.

-- @columns: The columns of the table or view :name.
SELECT name
FROM pragma_table_info(:name)
ORDER BY cid

-- @objects: Tables and views by name, with their SQL.
SELECT name, type, sql
FROM main.sqlite_schema
WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'
ORDER BY name
