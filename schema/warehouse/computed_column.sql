-- An ordinary table of the file that has a computed column.
SELECT t.name
FROM main.sqlite_schema AS t
JOIN pragma_table_xinfo(t.name) AS c
WHERE t.type = 'table' AND t.rootpage > 0 AND c.hidden IN (2, 3)
LIMIT 1
