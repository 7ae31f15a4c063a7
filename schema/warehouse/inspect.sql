-- The statements of schema/inspect.c.

-- @all: What the file has, but for the places of its pages.
SELECT type, name, tbl_name, rootpage > 0, sql
FROM main.sqlite_schema
ORDER BY rowid

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

-- @schema: What the file has under each name: whether it is an ordinary table, and its definition.
SELECT name, type = 'table' AND rootpage > 0, sql
FROM main.sqlite_schema
