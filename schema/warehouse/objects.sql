-- Tables and views by name, with their SQL.
SELECT name, type, sql
FROM main.sqlite_schema
WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'
ORDER BY name
