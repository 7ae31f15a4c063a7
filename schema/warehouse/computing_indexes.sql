-- The indexes of the file that compute an expression, or are of some rows only: table, index, definition.
SELECT t.name, i.name, own.sql
FROM main.sqlite_schema AS t
JOIN pragma_index_list(t.name) AS i
JOIN main.sqlite_schema AS own ON own.type = 'index' AND own.name = i.name
WHERE t.type = 'table' AND t.rootpage > 0
  AND (i.partial OR EXISTS (SELECT 1 FROM pragma_index_xinfo(i.name) WHERE cid = -2))
