-- The statements of schema/inspect.c.

-- @computed_column: An ordinary table of the file that has a computed column.
SELECT t.name
FROM main.sqlite_schema AS t
JOIN pragma_table_xinfo(t.name) AS c
WHERE t.type = 'table' AND t.rootpage > 0 AND c.hidden IN (2, 3)
LIMIT 1

-- @indexes: The indexes that somebody defined: table, index, definition.
SELECT tbl_name, name, sql
FROM main.sqlite_schema
WHERE type = 'index' AND sql IS NOT NULL

-- @not_a_table: What has the name :name in the file and is no ordinary table.
SELECT name
FROM main.sqlite_schema
WHERE name = :name COLLATE NOCASE AND (type <> 'table' OR rootpage = 0)

-- @table: The text of the table :name, if the file has an ordinary table of that name.
SELECT sql
FROM main.sqlite_schema
WHERE type = 'table' AND name = :name AND rootpage > 0
