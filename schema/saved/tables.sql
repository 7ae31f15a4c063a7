-- The tables and views that a query can name.
SELECT name
FROM pragma_table_list
WHERE schema IN ('main', 'temp')
  AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
GROUP BY name
ORDER BY name
